//! Limits as tests of documents: what an item has to keep, in terms and numbers. Whoever holds the documents answers
//! them, the index here or an engine outside.

use std::collections::BTreeSet;

use forecourt_loaders::item::hash;
use forecourt_retrieval::{Predicate, TermField};
use forecourt_understanding::{ClassLimit, FORBIDDING, Filter, PERMITTING, Test};

use crate::analysis::{LanguageAnalyzer, Words, fact_word, whole_fact};
use crate::classes::{CLASS, FREE_OF, STATED};
use crate::limits::WHOLE_FACT_BYTES_MAX;

/// The property that sorts items in.
const CATEGORY: &str = "category";
/// Kilometres from one degree of latitude to the next.
const DEGREE_KM: f64 = 111.0;

/// What one limit asks of an item: all of it. `numbers` are the paths that are quantities.
pub(super) fn predicates(numbers: &BTreeSet<String>, filter: &Filter, tongues: &[LanguageAnalyzer]) -> Vec<Predicate> {
    let fields = || filter.fields.iter();
    match &filter.test {
        Test::Is(value) if value.len() <= WHOLE_FACT_BYTES_MAX || fields().any(|field| is_key(field)) => {
            vec![any(fields().map(|field| whole(field, value)))]
        }
        // A long value is not kept whole; what has all its words is taken for it.
        Test::Is(words) | Test::Mentions(words) => {
            vec![any(fields().flat_map(|field| tongues.iter().map(|tongue| mentions(field, words, *tongue))))]
        }
        Test::OneOf(texts) => vec![mention_any(&filter.fields, texts, tongues)],
        Test::IsOneOf { values, or_sorted_as } => {
            vec![is_one_of(numbers, &filter.fields, values, or_sorted_as, tongues)]
        }
        // It warns with a word that permits, and with none that does not.
        Test::Permits => {
            let has = |words: &[&str]| mention_any(&filter.fields, words, tongues);
            vec![has(PERMITTING), has(FORBIDDING).negated()]
        }
        Test::NoneOf(values) => {
            let stated = any(fields().map(|field| states(numbers, field)));
            vec![stated, mention_any(&filter.fields, values, tongues).negated()]
        }
        Test::Overlaps { from, to, or_unstated } => overlaps(&filter.fields, (*from, *to), *or_unstated),
        Test::Without { classes, words } => without(classes, words, tongues),
        Test::Unstated(classes) => vec![match classes.is_empty() {
            true => Predicate::nothing(),
            false => Predicate::All(classes.iter().map(stating).collect()).negated(),
        }],
        // The band of latitudes that has all of a circle: how far away each is, is for who reads it.
        Test::Near { latitude, km, .. } => {
            let degrees = km / DEGREE_KM;
            vec![any(fields().map(|field| within(field, Some(latitude - degrees), Some(latitude + degrees))))]
        }
        Test::OfClass(classes) => vec![any(classes.iter().map(|class| fact(whole_fact(CLASS, class))))],
        Test::Within { from, to } => vec![any(fields().map(|field| within(field, *from, *to)))],
        Test::AnyOf(all) => {
            vec![any(all.iter().map(|one| Predicate::All(predicates(numbers, one, tongues))))]
        }
    }
}

fn any(all: impl Iterator<Item = Predicate>) -> Predicate {
    Predicate::Any(all.collect())
}

fn fact(term: String) -> Predicate {
    Predicate::Term(TermField::Facts, term)
}

fn within(path: &str, from: Option<f64>, to: Option<f64>) -> Predicate {
    Predicate::Within { path: path.to_owned(), from, to }
}

/// A whole value. Ids and links are found by the item's key: they are its id.
fn whole(field: &str, value: &str) -> Predicate {
    match is_key(field) {
        true => Predicate::Key(hash(&[value.as_bytes()])),
        false => fact(whole_fact(field, value)),
    }
}

fn is_key(field: &str) -> bool {
    matches!(field, "@id" | "url")
}

/// A property that has all these words.
fn mentions(field: &str, words: &str, tongue: LanguageAnalyzer) -> Predicate {
    let words = Words::of(words, tongue);
    match words.len() {
        0 => Predicate::nothing(),
        _ => Predicate::All(words.iter().map(|word| fact(fact_word(field, word))).collect()),
    }
}

/// What mentions one of some texts in one of some properties.
fn mention_any<T: AsRef<str>>(fields: &[String], texts: &[T], tongues: &[LanguageAnalyzer]) -> Predicate {
    let each = fields.iter().flat_map(|field| texts.iter().map(move |text| (field, text.as_ref())));
    any(each.flat_map(|(field, text)| tongues.iter().map(move |tongue| mentions(field, text, *tongue))))
}

/// What states one of some values, or states none and is sorted in as one of some words.
fn is_one_of(
    numbers: &BTreeSet<String>,
    fields: &[String],
    values: &[String],
    or_sorted_as: &[String],
    tongues: &[LanguageAnalyzer],
) -> Predicate {
    let mentioned = mention_any(fields, values, tongues);
    if or_sorted_as.is_empty() {
        return mentioned;
    }
    // What it states counts before where it lies.
    let is_stated = any(fields.iter().map(|field| states(numbers, field)));
    let sorted = mention_any(&[CATEGORY.to_owned()], or_sorted_as, tongues);
    Predicate::Any(vec![mentioned, Predicate::All(vec![sorted, is_stated.negated()])])
}

/// What states a property, as a text or as a number.
fn states(numbers: &BTreeSet<String>, field: &str) -> Predicate {
    match numbers.contains(field) {
        true => within(field, None, None),
        // Terms of a property begin with its code, whole values and words alike.
        false => Predicate::FactBegins(fact_word(field, "")),
    }
}

/// What lies between two properties and has something of a range. Where neither end is stated it passes if it may.
fn overlaps(fields: &[String], (from, to): (Option<f64>, Option<f64>), or_unstated: bool) -> Vec<Predicate> {
    let [lower, upper] = fields else { return vec![Predicate::nothing()] };
    if !or_unstated {
        return vec![within(lower, None, to), within(upper, from, None)];
    }
    // An end that is next to a limit is outside of it: ages are whole years.
    let beyond = to.map(|to| within(lower, Some(to + 1.0), None));
    let below = from.map(|from| within(upper, None, Some(from - 1.0)));
    [beyond, below].into_iter().flatten().map(Predicate::negated).collect()
}

/// What has no such class and states as much, and none of the words.
fn without(classes: &[ClassLimit], words: &[String], tongues: &[LanguageAnalyzer]) -> Vec<Predicate> {
    let mut all: Vec<Predicate> = classes.iter().map(stating).collect();
    all.extend(classes.iter().map(|limit| fact(whole_fact(CLASS, &limit.class)).negated()));
    let each = words.iter().flat_map(|phrase| tongues.iter().map(move |tongue| Words::of(phrase, *tongue)));
    let unwanted = each.filter(|words| words.len() > 0);
    // All words of a phrase, in any order: no engine keeps positions.
    all.extend(unwanted.map(|words| {
        let terms = words.iter().map(|word| Predicate::Term(TermField::Words, word.to_owned()));
        Predicate::All(terms.collect()).negated()
    }));
    all
}

/// What says whether it keeps a limit: it states what it is made of, or promises that it does.
fn stating(limit: &ClassLimit) -> Predicate {
    any([fact(whole_fact(STATED, &limit.area)), fact(whole_fact(FREE_OF, &limit.class))].into_iter())
}
