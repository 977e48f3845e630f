//! Limits that no item can keep together: "vegan beef stew", "soup without soup", "under 5 but over 20".

use forecourt_vocabulary::{LANGUAGES, Vocabulary};

use crate::filter::{Filter, Test};
use crate::limits::QUERY_WORDS_MAX;
use crate::scope::ReadingAids;

/// Two parts of a question of which one rules out the other, each with the question as it is without the other
/// part.
#[derive(Debug, Clone, PartialEq)]
pub struct Contradiction {
    /// The reading that keeps the limit and gives up the demand.
    pub limit: QuestionReading,
    /// The reading that keeps the demand and gives up the limit.
    pub demand: QuestionReading,
}

/// One way to read a question.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionReading {
    /// The part that counts in it, in words.
    pub words: String,
    /// The text that is left to search for.
    pub text: String,
    /// The constraints that hold.
    pub filters: Vec<Filter>,
}

/// The contradictions in a question that was taken apart.
pub(crate) fn contradictions(text: &str, filters: &[Filter], aids: ReadingAids<'_>) -> Vec<Contradiction> {
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

/// Something asked for that a limit excludes. Vegan sausages are no contradiction where some item keeps both.
fn ruled_out(text: &str, filters: &[Filter], aids: ReadingAids<'_>) -> Option<Contradiction> {
    let limits = || filters.iter().filter(|filter| matches!(filter.test, Test::Without { .. }));
    limits().next()?;
    let named = phrases(text, aids.vocabulary);
    let (limit, demanded) = limits().find_map(|limit| Some((limit, demanded(limit, &named, filters)?)))?;
    // Some item keeps both, such as vegan sausages: then nothing contradicts itself.
    if aids.known.finds(text, filters) {
        return None;
    }
    let all_but = |left: &Filter| -> Vec<Filter> { filters.iter().filter(|filter| *filter != left).cloned().collect() };
    let (words, limited) = match demanded {
        Demand::Words(phrase) => (phrase.to_owned(), (without(text, phrase), filters.to_vec())),
        Demand::Filter(filter) => (filter.words.clone(), (text.to_owned(), all_but(filter))),
    };
    let limited = QuestionReading { words: limit.words.clone(), text: limited.0, filters: limited.1 };
    let demand = QuestionReading { words, text: text.to_owned(), filters: all_but(limit) };
    Some(Contradiction { limit: limited, demand })
}

/// The part of a question that a limit excludes: words of its text, or another filter.
enum Demand<'a> {
    Words(&'a str),
    Filter(&'a Filter),
}

fn demanded<'a>(limit: &Filter, named: &'a [Phrase], filters: &'a [Filter]) -> Option<Demand<'a>> {
    let by_word = named.iter().find(|phrase| rules_out(limit, phrase));
    let by_filter = || filters.iter().find(|filter| excludes(limit, filter));
    by_word.map(|phrase| Demand::Words(&phrase.words)).or_else(|| by_filter().map(Demand::Filter))
}

/// One word or two of a question, and the classes that things of that name are of.
struct Phrase {
    words: String,
    classes: Vec<String>,
}

/// The phrases of a text, those of one word first. Beside another word, one may be something else: coconut milk
/// is no milk. Reads at most [`QUERY_WORDS_MAX`] words.
fn phrases(text: &str, vocabulary: &Vocabulary) -> Vec<Phrase> {
    let words = text.split_whitespace().map(trimmed).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.take(QUERY_WORDS_MAX).collect();
    let classes = |words: &str| -> Vec<String> {
        let found = LANGUAGES.iter().map(|language| vocabulary.classes_in(words, language));
        found.flat_map(|found| found.of.into_iter().filter(move |id| !found.free_of.contains(id))).collect()
    };
    let pairs: Vec<Phrase> =
        words.windows(2).map(|pair| pair.join(" ")).map(|words| Phrase { classes: classes(&words), words }).collect();
    let single = |(at, word): (usize, &&str)| {
        let mut own = classes(word);
        let beside = [at.checked_sub(1), Some(at)].into_iter().flatten().filter_map(|at| pairs.get(at));
        beside.for_each(|pair| own.retain(|class| pair.classes.contains(class)));
        Phrase { words: (*word).to_owned(), classes: own }
    };
    let singles: Vec<Phrase> = words.iter().enumerate().map(single).collect();
    singles.into_iter().chain(pairs).collect()
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
fn rules_out(limit: &Filter, phrase: &Phrase) -> bool {
    let Test::Without { classes, words } = &limit.test else { return false };
    words.iter().any(|word| word.eq_ignore_ascii_case(&phrase.words))
        || classes.iter().any(|limit| phrase.classes.contains(&limit.class))
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
