//! What an item has to keep to be a candidate.

use std::collections::BTreeMap;

/// The lists of terms of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TermField {
    /// Stems of all words.
    Words,
    /// Words of the name that stand side by side, and short names as a whole.
    Pairs,
    /// Words as they are written.
    Spelled,
    /// Values of properties and their words, and what the vocabulary says of the item.
    Facts,
}

/// A test of one document.
#[derive(Debug, Clone, PartialEq)]
pub enum Predicate {
    /// All of them hold; with none, every document passes.
    All(Vec<Predicate>),
    /// One of them holds; with none, no document passes.
    Any(Vec<Predicate>),
    /// It does not hold.
    Not(Box<Predicate>),
    /// The document has the term.
    Term(TermField, String),
    /// The document has a fact that begins so.
    FactBegins(String),
    /// The key is this one.
    Key(u64),
    /// A number at this path lies between both ends, themselves included. An end that is open still asks for a number.
    Within {
        /// The dot path of the property.
        path: String,
        /// The least.
        from: Option<f64>,
        /// The greatest.
        to: Option<f64>,
    },
}

impl Predicate {
    /// What every document passes.
    pub fn everything() -> Self {
        Self::All(Vec::new())
    }

    /// What no document passes.
    pub fn nothing() -> Self {
        Self::Any(Vec::new())
    }

    /// What this one lets not through.
    #[must_use]
    pub fn negated(self) -> Self {
        Self::Not(Box::new(self))
    }

    /// Whether a document passes: what every engine has to answer.
    pub fn passes(&self, key: u64, has: &dyn Fn(TermField, &str) -> bool, facts: &[String], numbers: &Numbers) -> bool {
        let one = |predicate: &Self| predicate.passes(key, has, facts, numbers);
        match self {
            Self::All(all) => all.iter().all(one),
            Self::Any(any) => any.iter().any(one),
            Self::Not(not) => !one(not),
            Self::Term(field, term) => has(*field, term),
            Self::FactBegins(beginning) => facts.iter().any(|fact| fact.starts_with(beginning.as_str())),
            Self::Key(asked) => *asked == key,
            Self::Within { path, from, to } => numbers.get(path).is_some_and(|numbers| {
                let fits = |number: &f64| from.is_none_or(|from| *number >= from) && to.is_none_or(|to| *number <= to);
                numbers.iter().any(fits)
            }),
        }
    }
}

/// The numbers of a document, by the dot paths of their properties.
pub type Numbers = BTreeMap<String, Vec<f64>>;
