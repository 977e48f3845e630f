//! Constraints on items, and an order of them: what a question comes to, and what an index is asked.

use crate::limits::ALTERNATIVES_MAX;

/// An order by a quantity: "the cheapest".
#[derive(Debug, Clone, PartialEq)]
pub struct SortOrder {
    /// Dot paths of properties, of which an item's first counts.
    pub fields: Vec<String>,
    /// Whether the greatest comes first.
    pub descending: bool,
    /// The order in words, for answers: `cheapest first`.
    pub words: String,
}

/// One constraint on the facts of an item.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    /// Dot paths of properties, such as `offers.price`; one of them has to pass the test. Not
    /// asked for by [`Test::Without`], [`Test::Unstated`] and [`Test::OfClass`].
    pub fields: Vec<String>,
    /// The test that their values have to pass.
    pub test: Test,
    /// The constraint in words, for answers: `at most 30 minutes`.
    pub words: String,
}

/// A class of the vocabulary that an item must not be of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassLimit {
    /// The id of the class.
    pub class: String,
    /// The id of the area in which an item has to state what it is made of.
    pub area: String,
}

/// A test of the values of an item.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// The whole value, apart from case, accents and white space.
    Is(String),
    /// All words of this text, in one value or over several of them.
    Mentions(String),
    /// One of these texts, each as by [`Test::Mentions`].
    OneOf(Vec<String>),
    /// The item states what it is made of, and is of none of these classes; none of these words is
    /// anywhere in it.
    Without {
        /// Classes of the vocabulary. An item that promises to be free of one, and says nothing against
        /// that, needs to state nothing more.
        classes: Vec<ClassLimit>,
        /// Words, or several that are there together.
        words: Vec<String>,
    },
    /// The item does not state what a limit of these classes needs, so that nobody can say whether it keeps it.
    Unstated(Vec<ClassLimit>),
    /// The item is of one of these classes (their ids).
    OfClass(Vec<String>),
    /// One of these texts, each as by [`Test::Mentions`]. An item that does not state the property passes if its category
    /// says one of the other words: a nasal spray is a spray.
    IsOneOf {
        /// The texts.
        values: Vec<String>,
        /// Words of the category of an item that states none.
        or_sorted_as: Vec<String>,
    },
    /// The item states the property, and every warning in it permits: it has a word of [`crate::PERMITTING`] and none of
    /// [`crate::FORBIDDING`].
    Permits,
    /// The item states the property, and nothing in it mentions one of these texts.
    NoneOf(Vec<String>),
    /// What lies between the first of the fields and the second has something of this range, ends included: ages that
    /// something is for.
    Overlaps {
        /// The least, if there is one.
        from: Option<f64>,
        /// The most, if there is one.
        to: Option<f64>,
        /// Whether an item that states neither end passes.
        or_unstated: bool,
    },
    /// Some position of the item lies within so many kilometres of a point. The fields are the paths of latitudes; the
    /// longitude lies beside each.
    Near {
        /// In degrees, north of the equator.
        latitude: f64,
        /// In degrees, east of Greenwich.
        longitude: f64,
        /// How far away it may be.
        km: f64,
    },
    /// A number, duration (minutes), date (days since 1970) or price in this range, ends
    /// included. An item without such a value does not pass.
    Within {
        /// The least, if there is one.
        from: Option<f64>,
        /// The most, if there is one.
        to: Option<f64>,
    },
    /// One of these constraints, at most [`crate::limits::ALTERNATIVES_MAX`]: "on Friday or on Sunday". The fields are
    /// those of all of them.
    AnyOf(Vec<Filter>),
}

impl Filter {
    /// `field` is `value`.
    pub fn is(field: impl Into<String>, value: impl Into<String>) -> Self {
        let (field, value) = (field.into(), value.into());
        let words = format!("{field}: {value}");
        Self { fields: vec![field], test: Test::Is(value), words }
    }

    /// `field` mentions `words`.
    pub fn mentions(field: impl Into<String>, words: impl Into<String>) -> Self {
        let (field, value) = (field.into(), words.into());
        let words = format!("{field}: {value}");
        Self { fields: vec![field], test: Test::Mentions(value), words }
    }

    /// `field` lies between two ends, both included.
    pub fn within(field: impl Into<String>, from: Option<f64>, to: Option<f64>) -> Self {
        let field = field.into();
        let words = match (from, to) {
            (Some(from), Some(to)) => format!("{field} from {from} to {to}"),
            (Some(from), None) => format!("{field} at least {from}"),
            (None, Some(to)) => format!("{field} at most {to}"),
            (None, None) => format!("{field} known"),
        };
        Self { fields: vec![field], test: Test::Within { from, to }, words }
    }

    /// One of some constraints, said in these words. One alone is that one.
    pub(crate) fn any_of(mut all: Vec<Self>, words: String) -> Self {
        all.truncate(ALTERNATIVES_MAX);
        if all.len() == 1 {
            return Self { words, ..all.swap_remove(0) };
        }
        let mut fields: Vec<String> = Vec::new();
        for field in all.iter().flat_map(|one| &one.fields) {
            if !fields.contains(field) {
                fields.push(field.clone());
            }
        }
        Self { fields, test: Test::AnyOf(all), words }
    }

    /// The constraints of which one has to be kept: itself, where it names no others.
    pub fn alternatives(&self) -> &[Self] {
        match &self.test {
            Test::AnyOf(all) => all,
            _ => std::slice::from_ref(self),
        }
    }

    /// What is passed by the items that don't state what this limit needs, so that they can be counted. `None`:
    /// every item states it.
    pub fn unstated(&self) -> Option<Self> {
        match &self.test {
            // An exclusion of words alone needs nothing stated: an item that does not have them keeps it.
            Test::Without { classes, .. } if !classes.is_empty() => {
                Some(Self { test: Test::Unstated(classes.clone()), ..self.clone() })
            }
            _ => None,
        }
    }

    /// What is of one of some classes (their ids), such as everything that counts as blue.
    pub fn of_class(classes: &[&str], words: impl Into<String>) -> Self {
        let classes = classes.iter().map(|id| (*id).to_owned()).collect();
        Self { fields: Vec::new(), test: Test::OfClass(classes), words: words.into() }
    }
}
