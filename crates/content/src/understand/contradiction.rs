//! Limits that no item can keep together: "vegan beef stew", "soup without soup", "under 5 but over 20".

use forecourt_vocabulary::{LANGUAGES, Vocabulary};

use super::ReadingAids;
use crate::search::{Filter, Test};

/// Two parts of a question of which one rules out the other, each with the question as it is without the other
/// part.
#[derive(Debug, Clone, PartialEq)]
pub struct Contradiction {
    /// What rules something out.
    pub limit: QuestionReading,
    /// What is asked for all the same.
    pub demand: QuestionReading,
}

/// One way to read a question.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionReading {
    /// The part that counts in it, in words.
    pub words: String,
    /// What is left to search for by words.
    pub text: String,
    /// The constraints that hold.
    pub filters: Vec<Filter>,
}

/// What contradicts itself in a question that was taken apart.
pub(super) fn contradictions(text: &str, filters: &[Filter], aids: ReadingAids<'_>) -> Vec<Contradiction> {
    let mut found = empty_ranges(text, filters);
    found.extend(ruled_out(text, filters, aids));
    found
}

/// Limits of one property that leave nothing between them.
fn empty_ranges(text: &str, filters: &[Filter]) -> Vec<Contradiction> {
    let mut found = Vec::new();
    for (at, one) in filters.iter().enumerate() {
        for other in &filters[at + 1..] {
            if one.fields == other.fields && exclude_each_other(&one.test, &other.test) {
                let reading = |kept: &Filter, left: &Filter| QuestionReading {
                    words: kept.words.clone(),
                    text: text.to_owned(),
                    filters: filters.iter().filter(|filter| *filter != left).cloned().collect(),
                };
                found.push(Contradiction { limit: reading(one, other), demand: reading(other, one) });
            }
        }
    }
    found
}

fn exclude_each_other(one: &Test, other: &Test) -> bool {
    match (one, other) {
        (Test::Within { from: a, to: b }, Test::Within { from: c, to: d }) => {
            let is_above = |from: &Option<f64>, to: &Option<f64>| from.zip(*to).is_some_and(|(from, to)| from > to);
            is_above(a, d) || is_above(c, b)
        }
        _ => false,
    }
}

/// What is asked for and must be absent. "Vegan sausages" are none of that where there are some.
fn ruled_out(text: &str, filters: &[Filter], aids: ReadingAids<'_>) -> Option<Contradiction> {
    let limits = || filters.iter().filter(|filter| matches!(filter.test, Test::Without { .. }));
    limits().next()?;
    let words: Vec<&str> = text.split_whitespace().map(trimmed).filter(|word| !word.is_empty()).collect();
    let pairs = words.windows(2).map(|pair| pair.join(" "));
    let phrases: Vec<String> = pairs.chain(words.iter().map(|word| (*word).to_owned())).collect();
    for limit in limits() {
        let by_word = phrases.iter().find(|phrase| rules_out(limit, phrase, aids.vocabulary));
        let by_filter = || filters.iter().find(|filter| excludes(limit, filter));
        let without_limit = || filters.iter().filter(|filter| *filter != limit).cloned().collect::<Vec<_>>();
        let (words, limited) = match by_word {
            Some(phrase) => (phrase.clone(), (without(text, phrase), filters.to_vec())),
            None => {
                let Some(filter) = by_filter() else { continue };
                let others = filters.iter().filter(|other| *other != filter).cloned().collect();
                (filter.words.clone(), (text.to_owned(), others))
            }
        };
        if aids.known.finds(text, filters) {
            return None;
        }
        let limited = QuestionReading { words: limit.words.clone(), text: limited.0, filters: limited.1 };
        let demand = QuestionReading { words, text: text.to_owned(), filters: without_limit() };
        return Some(Contradiction { limit: limited, demand });
    }
    None
}

fn trimmed(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

/// A text without the words of a phrase.
fn without(text: &str, phrase: &str) -> String {
    let unwanted: Vec<&str> = phrase.split(' ').collect();
    text.split_whitespace().filter(|word| !unwanted.contains(&trimmed(word))).collect::<Vec<_>>().join(" ")
}

/// Whether what a phrase names is ruled out.
fn rules_out(limit: &Filter, phrase: &str, vocabulary: &Vocabulary) -> bool {
    let Test::Without { classes, words } = &limit.test else { return false };
    if words.iter().any(|word| word.eq_ignore_ascii_case(phrase)) {
        return true;
    }
    let is_of = |language: &&str| {
        let found = vocabulary.classes_in(phrase, language);
        classes.iter().any(|limit| found.of.contains(&limit.class) && !found.free_of.contains(&limit.class))
    };
    !classes.is_empty() && LANGUAGES.iter().any(is_of)
}

/// Whether a limit rules out all that another filter asks for.
fn excludes(limit: &Filter, demand: &Filter) -> bool {
    let Test::Without { classes, words } = &limit.test else { return false };
    match &demand.test {
        Test::OfClass(ids) => ids.iter().all(|id| classes.iter().any(|limit| limit.class == *id)),
        Test::Mentions(text) => words.iter().any(|word| word == text),
        _ => false,
    }
}
