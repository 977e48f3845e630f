//! Which properties say what, as data: `data/facts.toml`, and the questions of each language about one item.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::{LazyLock, OnceLock};

use regex::Regex;
use serde::Deserialize;

use crate::values::ValueForm;

static FACTS: LazyLock<FactData> = LazyLock::new(|| parsed("facts.toml", include_str!("../data/facts.toml")));
static QUESTIONS: LazyLock<Vec<QuestionData>> = LazyLock::new(|| {
    let files = [
        ("en", include_str!("../data/questions/en.toml")),
        ("de", include_str!("../data/questions/de.toml")),
        ("fr", include_str!("../data/questions/fr.toml")),
        ("es", include_str!("../data/questions/es.toml")),
    ];
    files.iter().map(|(code, text)| QuestionData::read(parsed(code, text))).collect()
});

/// The facts that are told of items, from `data/facts.toml`.
pub(crate) fn facts() -> &'static FactData {
    &FACTS
}

/// The questions of every language.
pub(crate) fn questions() -> &'static [QuestionData] {
    &QUESTIONS
}

/// The properties that are told of items.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FactData {
    /// Facts in lists, the most telling first.
    pub(crate) listed: Vec<FactSource>,
    /// How long an item takes.
    pub(crate) times: Vec<String>,
    /// Lists whose entries a question may mention.
    pub(crate) mentioned: Vec<String>,
    /// Properties that list what an item is made of.
    pub(crate) made_of: Vec<String>,
    /// The diets that an item suits.
    pub(crate) diets: Vec<String>,
    fact: Vec<FactKind>,
}

impl FactData {
    /// The fact of this id.
    pub(crate) fn kind(&self, id: &str) -> Option<&FactKind> {
        self.fact.iter().find(|fact| fact.id == id)
    }
}

/// A fact that questions ask for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FactKind {
    pub(crate) id: String,
    /// Where it is stated: the first one that an item has counts.
    pub(crate) sources: Vec<FactSource>,
}

/// A property, and the form in which its value is worded.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FactSource {
    /// A dot path.
    pub(crate) property: String,
    pub(crate) form: ValueForm,
    /// The sentence that says it, if it is not that of the fact.
    pub(crate) says: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestionFile {
    begins: BTreeSet<String>,
    polite: String,
    articles: Vec<String>,
    kinds: Vec<String>,
    pronouns: BTreeSet<String>,
    quantity: String,
    weak: BTreeSet<String>,
    ask: Vec<AskEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AskEntry {
    fact: String,
    cues: Option<String>,
    patterns: Vec<String>,
}

/// How one language asks about one item.
#[derive(Debug)]
pub(crate) struct QuestionData {
    /// First words of such questions.
    pub(crate) begins: BTreeSet<String>,
    /// Polite words that may come before a question.
    pub(crate) polite: LazyRegex,
    /// Articles that may come before a name.
    pub(crate) articles: Vec<String>,
    /// Words for kinds of items, on either side of a name.
    pub(crate) kinds: Vec<String>,
    /// Pronouns that stand for an item.
    pub(crate) pronouns: BTreeSet<String>,
    /// Words of quantity, such as `any`, that may come before an ingredient.
    pub(crate) quantity: LazyRegex,
    /// Words that say what is done rather than to what.
    pub(crate) weak: BTreeSet<String>,
    pub(crate) asks: Vec<Ask>,
}

/// The questions for one fact.
#[derive(Debug)]
pub(crate) struct Ask {
    /// The id of the fact.
    pub(crate) fact: String,
    /// Words by which a sentence of an item's text states it.
    pub(crate) cues: Option<LazyRegex>,
    pub(crate) patterns: Vec<LazyRegex>,
}

/// A pattern that is compiled when a text is compared with it for the first time: there are some two hundred, and a
/// text that begins like no question is compared with none.
#[derive(Debug)]
pub(crate) struct LazyRegex {
    text: String,
    compiled: OnceLock<Regex>,
}

impl Deref for LazyRegex {
    type Target = Regex;

    fn deref(&self) -> &Regex {
        self.compiled
            .get_or_init(|| Regex::new(&self.text).unwrap_or_else(|error| panic!("a pattern of our own: {error}")))
    }
}

impl QuestionData {
    fn read(file: QuestionFile) -> Self {
        let ask = |entry: AskEntry| Ask {
            fact: entry.fact,
            cues: entry.cues.map(|cues| regex(&cues)),
            patterns: entry.patterns.iter().map(|text| pattern(text)).collect(),
        };
        Self {
            begins: file.begins,
            polite: regex(&format!("^{}", file.polite)),
            articles: file.articles,
            kinds: file.kinds,
            pronouns: file.pronouns,
            quantity: regex(&format!("^(?:{}[ ']*)+\\b", file.quantity)),
            weak: file.weak,
            asks: file.ask.into_iter().map(ask).collect(),
        }
    }
}

/// A pattern over a whole question. Two values side by side are one group, which is cut where one names an item.
fn pattern(text: &str) -> LazyRegex {
    let text = text.replace("{item} {what}", "(?P<itemwhat>.+)").replace("{what} {item}", "(?P<whatitem>.+)");
    regex(&format!("^{}$", text.replace("{item}", "(?P<item>.+?)").replace("{what}", "(?P<what>.+?)")))
}

fn regex(text: &str) -> LazyRegex {
    LazyRegex { text: text.to_owned(), compiled: OnceLock::new() }
}

fn parsed<T: for<'d> Deserialize<'d>>(name: &str, text: &str) -> T {
    toml::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[cfg(test)]
mod tests {
    use forecourt_sentences::{Sentences, SpokenLanguage};

    use super::*;

    /// Facts that are answered by a look at what an item is made of.
    const BY_INGREDIENTS: [&str; 2] = ["contains", "suits"];

    #[test]
    fn every_pattern_compiles() {
        for language in questions() {
            let asks = language.asks.iter().flat_map(|ask| ask.patterns.iter().chain(&ask.cues));
            assert!(asks.chain([&language.polite, &language.quantity]).all(|pattern| !pattern.as_str().is_empty()));
        }
    }

    #[test]
    fn every_question_asks_for_a_fact_that_there_is_in_every_language() {
        let known: BTreeSet<&str> = facts().fact.iter().map(|fact| fact.id.as_str()).chain(BY_INGREDIENTS).collect();
        for language in questions() {
            let asked: BTreeSet<&str> = language.asks.iter().map(|ask| ask.fact.as_str()).collect();
            assert_eq!(asked, known);
        }
    }

    #[test]
    fn every_fact_has_its_sentences() {
        for language in SpokenLanguage::ALL {
            let say = Sentences::in_language(language);
            for fact in &facts().fact {
                assert!(say.fact_name(&fact.id).is_some(), "{language:?} {}", fact.id);
                for source in &fact.sources {
                    let id = source.says.as_deref().unwrap_or(&fact.id);
                    assert!(say.fact(id, "x", "y").is_some(), "{language:?} {id}");
                }
            }
        }
    }
}
