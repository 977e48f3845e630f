//! What an item states in a property that a question asks for: by its name ("how big is the boot?"), by a word for it
//! ("how loud is it?"), or by a limit that the question says ("do they take dogs?").

use forecourt_index::Hit;
use forecourt_understanding::{Filter, name_in_words, unit::Dimension};
use forecourt_vocabulary::folded;

use crate::asked_words::{AskedKind, AskedWords, MEANT_MIN};
use crate::equal_amounts;
use crate::fact_context::FactContext;
use crate::fact_data;
use crate::fact_words::asks_nothing;
use crate::limits::COMPARED_VALUES_MAX;
use crate::markdown::{link, plain};
use crate::name_role::is_same;
use crate::phrases::content_words;
use crate::stated_fact::StatedFact;
use crate::stated_values::{self, StatedValue};
use crate::values::text_of;
use crate::yes_or_no::asks_whether;

/// Words of a question that may be values.
const VALUE_WORDS_MAX: usize = 6;
/// Properties that fit a question alike and are told together. Of more, nobody knows which is meant.
const ALIKE_MAX: usize = 3;

/// The properties of an item that a question names best, with their values: in markdown, with a link to the item. `None`: it
/// names none.
pub(crate) fn answer(tell: &FactContext<'_>, hit: &Hit, question: &str, limits: &[Filter]) -> Option<String> {
    let stated = stated_values::all(&hit.item, tell.say, tell.vocabulary);
    let meant = meant(tell, &without_kind(question, hit), limits, &stated);
    (!meant.is_empty()).then(|| told(tell, hit, &meant))
}

/// A question without the word for what the item is: "who made the wine?" asks for no "wine category".
fn without_kind(question: &str, hit: &Hit) -> String {
    let kind = hit.item.get("@type").and_then(text_of).map(|kind| folded(&name_in_words(kind)));
    let is_kind = |word: &&str| {
        let word = folded(word.trim_matches(|c: char| !c.is_alphanumeric()));
        let is_known = fact_data::questions().iter().any(|language| language.kinds.contains(&word));
        is_known || kind.as_ref().is_some_and(|kind| is_same(kind, &word))
    };
    question.split_whitespace().filter(|word| !is_kind(word)).collect::<Vec<_>>().join(" ")
}

/// The only property of an item that is of the kind which a question asks for: a person for "who", a day for "when".
/// `None`: it asks for neither, or the item states none or several.
pub(crate) fn of_kind(tell: &FactContext<'_>, hit: &Hit, question: &str) -> Option<String> {
    let is_kind: fn(&StatedValue) -> bool = match AskedKind::of(question)? {
        AskedKind::Person => |one| one.is_person,
        AskedKind::Day => StatedValue::is_date,
    };
    let stated = stated_values::all(&hit.item, tell.say, tell.vocabulary);
    let fits: Vec<&StatedValue> = stated.iter().filter(|one| is_kind(one)).take(2).collect();
    (fits.len() == 1).then(|| told(tell, hit, &fits))
}

/// The limits by which a question about an item names a property: those that it is understood to say, else the values that
/// other items state where this one states another: "is it built-in?" of what is freestanding.
pub(crate) fn limits(
    tell: &FactContext<'_>,
    hit: &Hit,
    question: &str,
    said: Vec<Filter>,
    has_items: &dyn Fn(&[Filter]) -> bool,
) -> Vec<Filter> {
    let stated = stated_values::all(&hit.item, tell.say, tell.vocabulary);
    if stated.iter().any(|one| said.iter().any(|limit| is_of(limit, one))) {
        return said;
    }
    let is_text = |one: &&StatedValue| match &one.value {
        StatedFact::Text(text) => !text.starts_with(|c: char| c.is_ascii_digit()),
        StatedFact::Truth(_) => false,
    };
    let words: Vec<&str> = content_words(question).filter(|word| !asks_nothing(&word.to_lowercase())).collect();
    let words = || words.iter().take(VALUE_WORDS_MAX);
    let texts = || stated.iter().filter(is_text).take(COMPARED_VALUES_MAX);
    let values = |value: fn(&str, &str) -> Filter| {
        let mut all = texts().flat_map(|one| words().map(move |word| value(&one.path, word)));
        all.find(|filter| has_items(std::slice::from_ref(filter)))
    };
    // "Is it rechargeable?" of what has "USB rechargeable" or "AAA batteries" as its power.
    let mentioned = || values(|path, word| Filter::mentions(path, word)).filter(|_| asks_of_it(question));
    let value = values(|path, word| Filter::is(path, word)).or_else(mentioned);
    said.iter().cloned().chain(value).collect()
}

/// How questions begin that ask for whatever there is, folded.
const EXISTS: &[&str] = &[
    "is there ",
    "are there ",
    "do you ",
    "have you ",
    "gibt es ",
    "habt ihr ",
    "haben sie ",
    "y a-t-il ",
    "il y a ",
    "avez-vous ",
    "hay ",
    "tienes ",
    "tienen ",
];

/// Whether a text asks whether an item is so, and not whether there is one.
fn asks_of_it(question: &str) -> bool {
    let text = folded(question);
    let text = text.trim_start_matches(['¿', ' ']);
    asks_whether(question) && !EXISTS.iter().any(|exists| text.starts_with(exists))
}

/// Whether an item says yes or no of exactly what is asked: "is it vegan?".
pub(crate) fn is_so(tell: &FactContext<'_>, hit: &Hit, what: &str) -> Option<String> {
    let stated = stated_values::all(&hit.item, tell.say, tell.vocabulary);
    let is_truth = |one: &&StatedValue| matches!(one.value, StatedFact::Truth(_)) && folded(&one.words) == folded(what);
    let exact: Vec<&StatedValue> = stated.iter().filter(is_truth).take(1).collect();
    (!exact.is_empty()).then(|| told(tell, hit, &exact))
}

/// The properties that are meant: those that limits of the question are of, where it says no other one better.
fn meant<'s>(
    tell: &FactContext<'_>,
    question: &str,
    limits: &[Filter],
    stated: &'s [StatedValue],
) -> Vec<&'s StatedValue> {
    let words = AskedWords::read(question, tell.vocabulary);
    let is_limited = |one: &StatedValue| limits.iter().any(|limit| is_of(limit, one));
    // What the words name goes before what a limit of theirs is of.
    let fit = |one: &StatedValue| match (words.fit(one), is_limited(one)) {
        (fit, is_limited) if fit >= MEANT_MIN => 2 * fit + usize::from(is_limited),
        (fit, true) => 1 + fit,
        (_, false) => 0,
    };
    let fits: Vec<(usize, &StatedValue)> =
        stated.iter().map(|one| (fit(one), one)).filter(|(fit, _)| *fit > 0).collect();
    let Some(best) = fits.iter().map(|(fit, _)| *fit).max() else { return Vec::new() };
    let mut best: Vec<&StatedValue> = fits.into_iter().filter(|(fit, _)| *fit == best).map(|(_, one)| one).collect();
    // "Noise level" is nearer to what is asked than "noise level while spinning".
    let fewest = best.iter().map(|one| one.words.split(' ').count()).min().unwrap_or_default();
    if best.len() > ALIKE_MAX {
        best.retain(|one| one.words.split(' ').count() == fewest);
    }
    if best.len() > ALIKE_MAX { Vec::new() } else { best }
}

/// Whether a limit is of a property.
pub(crate) fn is_of(limit: &Filter, stated: &StatedValue) -> bool {
    limit.alternatives().iter().flat_map(|one| &one.fields).any(|field| property_name(field) == stated.words)
}

/// What the property at a path calls itself, without the unit that its values are kept in.
pub(crate) fn property_name(field: &str) -> String {
    name_in_words(Dimension::of_path(field).map_or(field, |(_, path)| path))
}

fn told(tell: &FactContext<'_>, hit: &Hit, stated: &[&StatedValue]) -> String {
    let one = |stated: &&StatedValue| plain(&format!("{}: {}", stated.name, stated.told(tell.say)));
    let told: Vec<String> = stated.iter().map(one).map(equal_amounts::with_equal).collect();
    format!("{}: {}.", link(&hit.name, hit.url.as_deref()), told.join("; "))
}

#[cfg(test)]
mod tests;
