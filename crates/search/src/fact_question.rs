//! Questions for one fact of one item: "how long does borscht take?" in the terms of the data.

use std::collections::BTreeSet;

use forecourt_vocabulary::folded;
use regex::Captures;

use crate::fact_data::{self, Ask, QuestionData};
use crate::limits::{FACT_QUESTION_BYTES_MAX, FACT_READINGS_MAX};

/// One way to read a question: a fact, and the words that may name the item.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FactReading<'q> {
    /// The question's words for it.
    pub(crate) ask: &'static Ask,
    pub(crate) language: &'static QuestionData,
    /// The words that may be the item's name, folded.
    pub(crate) item: &'q str,
    /// The ingredient or diet that is asked about, folded. `None`: the question has none.
    pub(crate) what: Option<&'q str>,
}

/// Whether a text asks something, rather than naming what is looked for.
pub(crate) fn is_question(text: &str) -> bool {
    text.contains(['?', '？']) || FactQuestion::read(text).is_some()
}

/// What stands for an item that is left out of a question, in the languages that leave it out.
const ELIDED: &str = "eso";

/// Whether a text asks for a fact and says nothing of which item: "¿cuándo empieza?".
pub(crate) fn leaves_item_out(text: &str) -> bool {
    let is_bare = |question: &FactQuestion| question.readings().is_empty();
    FactQuestion::read(text).filter(is_bare).is_some()
        && FactQuestion::elided(text).is_some_and(|question| question.readings().iter().any(|one| one.item == ELIDED))
}

/// A text that may be a question for a fact, folded and without what stands at its ends.
pub(crate) struct FactQuestion(String);

impl FactQuestion {
    /// Reads a text. `None` for one that is plainly no such question.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() || text.len() > FACT_QUESTION_BYTES_MAX || text.contains('\n') {
            return None;
        }
        let text =
            folded(text).replace(['“', '”', '„', '«', '»', '"'], "").replace('’', "'").replace("what's", "whats");
        let text = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '?' | '!' | '.' | ',' | '¿' | '¡'));
        let first = text.split(|c: char| c.is_whitespace() || c == ',').next().unwrap_or_default();
        // Cheap, and decides for nearly all texts: the two hundred patterns are compiled for the others alone.
        let may_ask = fact_data::questions().iter().any(|language| language.begins.contains(first));
        may_ask.then(|| Self(text.split_whitespace().collect::<Vec<_>>().join(" ")))
    }

    /// Reads a text that may leave out which item it is for.
    pub(crate) fn elided(text: &str) -> Option<Self> {
        Self::read(&format!("{} {ELIDED}", text.trim().trim_end_matches(['?', '!', '.', ' '])))
    }

    /// The ways in which it can be read, the likeliest first, at most [`FACT_READINGS_MAX`]: those that name an
    /// item, and those in which a pronoun stands for one.
    pub(crate) fn readings(&self) -> Vec<FactReading<'_>> {
        let mut found: Vec<FactReading<'_>> = Vec::new();
        let mut seen = BTreeSet::new();
        for language in fact_data::questions() {
            let text = &self.0[language.polite.find(&self.0).map_or(0, |polite| polite.end())..];
            for ask in &language.asks {
                for captures in ask.patterns.iter().filter_map(|pattern| pattern.captures(text)) {
                    for (item, what) in values(&captures) {
                        if found.len() < FACT_READINGS_MAX && seen.insert((&ask.fact, item, what)) {
                            let what = what.map(|what| bare(what, language));
                            found.push(FactReading { ask, language, item, what });
                        }
                    }
                }
            }
        }
        found
    }
}

impl FactReading<'_> {
    /// Whether a pronoun stands for the item.
    pub(crate) fn has_pronoun(&self) -> bool {
        self.language.pronouns.contains(self.item)
    }

    /// The names that the words may be: as they are, without an article, without the word for the kind of item.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names = vec![self.item];
        let bare = without_article(self.item, self.language);
        for name in [bare, without_kind(bare, self.language)] {
            if !names.contains(&name) && !name.is_empty() {
                names.push(name);
            }
        }
        names
    }
}

/// The item and what is asked about it, of each way to cut what matched.
fn values<'q>(captures: &Captures<'q>) -> Vec<(&'q str, Option<&'q str>)> {
    let group = |name: &str| captures.name(name).map(|found| found.as_str().trim());
    if let Some(item) = group("item") {
        return vec![(item, group("what"))];
    }
    let cuts = |both: &'q str| both.char_indices().filter(|(_, c)| *c == ' ').map(move |(at, _)| both.split_at(at));
    match (group("itemwhat"), group("whatitem")) {
        // The latest cut first: the name of an item is usually longer than what is asked of it.
        (Some(both), _) => {
            cuts(both).map(|(item, what)| (item, Some(what.trim()))).collect::<Vec<_>>().into_iter().rev().collect()
        }
        (_, Some(both)) => cuts(both).map(|(what, item)| (item.trim(), Some(what))).collect(),
        _ => Vec::new(),
    }
}

/// What is asked for without "any" and the like.
fn bare<'q>(what: &'q str, language: &QuestionData) -> &'q str {
    what[language.quantity.find(what).map_or(0, |quantity| quantity.end())..].trim()
}

fn without_article<'q>(name: &'q str, language: &QuestionData) -> &'q str {
    let mut articles: Vec<&String> = language.articles.iter().collect();
    articles.sort_by_key(|article| std::cmp::Reverse(article.len()));
    let rest = articles.into_iter().find_map(|article| {
        let rest = name.strip_prefix(article.as_str())?;
        (article.ends_with('\'') || rest.starts_with(' ')).then(|| rest.trim_start())
    });
    rest.unwrap_or(name)
}

fn without_kind<'q>(name: &'q str, language: &QuestionData) -> &'q str {
    let is_kind = |word: &str| language.kinds.iter().any(|kind| kind == word);
    match (name.split_once(' '), name.rsplit_once(' ')) {
        (Some((first, rest)), _) if is_kind(first) => rest,
        (_, Some((rest, last))) if is_kind(last) => rest,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The first reading: the fact, the shortest name, what is asked about it.
    fn read(text: &str) -> Option<(String, String, Option<String>)> {
        let question = FactQuestion::read(text)?;
        let reading = *question.readings().first()?;
        let name = reading.names().last()?.to_string();
        Some((reading.ask.fact.clone(), name, reading.what.map(str::to_owned)))
    }

    #[test]
    fn questions_of_every_language_name_a_fact_and_an_item() {
        for (text, fact, item, what) in [
            ("How long does Borscht take?", "time", "borscht", None),
            ("how long is the movie Alien", "time", "alien", None),
            ("Please, how many calories does the apple pie recipe have?", "calories", "apple pie", None),
            ("does the Hummus contain sesame?", "contains", "hummus", Some("sesame")),
            ("Is there any milk in the pancakes?", "contains", "pancakes", Some("milk")),
            ("who directed “Alien”?", "director", "alien", None),
            ("What year was Alien released?", "year", "alien", None),
            ("how much is the blue lamp?", "price", "blue lamp", None),
            ("What's the price of the blue lamp", "price", "blue lamp", None),
            ("Is the blue lamp in stock?", "availability", "blue lamp", None),
            ("Wie lange dauert Borschtsch?", "time", "borschtsch", None),
            ("Was kostet die blaue Lampe?", "price", "blaue lampe", None),
            ("Enthält der Hummus Sesam?", "contains", "hummus", Some("sesam")),
            ("Für wie viele Personen ist die Gulaschsuppe?", "yield", "gulaschsuppe", None),
            ("Combien de temps faut-il pour préparer le bortsch ?", "time", "bortsch", None),
            ("Qui a réalisé Alien ?", "director", "alien", None),
            ("¿Cuánto tarda el borscht?", "time", "borscht", None),
            ("¿Cuánto cuesta la lámpara azul?", "price", "lampara azul", None),
        ] {
            let read = read(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((read.0.as_str(), read.1.as_str(), read.2.as_deref()), (fact, item, what), "{text}");
        }
    }

    #[test]
    fn what_asks_for_something_to_be_found_is_no_such_question() {
        for text in ["", "chickpea soup", "borscht", "something quick", "how\nlong does borscht take?", "vegan stew"] {
            assert!(read(text).is_none(), "{text}");
        }
        let long = |bytes: usize| format!("how long does {} take", "x".repeat(bytes - 19));
        assert!(read(&long(FACT_QUESTION_BYTES_MAX)).is_some());
        assert!(read(&long(FACT_QUESTION_BYTES_MAX + 1)).is_none());
    }

    #[test]
    fn a_question_may_leave_its_item_out() {
        for text in ["¿cuánto cuesta?", "¿Cuándo empieza?", "cuanto dura"] {
            assert!(leaves_item_out(text), "{text}");
        }
        for text in ["¿cuánto cuesta la lámpara?", "lámparas", "is it blue?", ""] {
            assert!(!leaves_item_out(text), "{text}");
        }
    }

    #[test]
    fn a_pronoun_names_no_item() {
        let question = FactQuestion::read("how long does it take?").unwrap();
        assert!(question.readings().iter().any(FactReading::has_pronoun));
    }

    proptest! {
        #[test]
        fn any_text_is_read_somehow(text in "(how|does|is|wie|est|de|la|it|the|contain|[a-zé'?]{0,6}| ){0,30}") {
            if let Some(question) = FactQuestion::read(&text) {
                prop_assert!(question.readings().len() <= FACT_READINGS_MAX);
            }
        }
    }
}
