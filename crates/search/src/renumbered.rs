//! Another number in the place of one that was said: "and for 14?", after books for a child of 9.

use super::held_limits::narrow;
use super::phrase::Phrase;
use super::phrases::phrases;
use super::request::{ItemLookup, SearchRequest, TurnReading, push_new};
use crate::limits::PHRASES_MAX;

/// Words in front of the number of such a turn, beside those that go on.
const FRONT_WORDS_MAX: usize = 3;
/// Bytes of a number.
const NUMBER_BYTES_MAX: usize = 12;

/// The question with the number of a turn in the place of the one that the newest phrase with a number says. `None`: the
/// turn says more than a number, or no limit goes by one.
pub(super) fn renumbered(before: &SearchRequest, text: &str, reads: &dyn ItemLookup) -> Option<SearchRequest> {
    let rest = phrases().behind_addition(text).trim_end_matches(['?', '!', '.', ' ']);
    let number = last_number(rest)?;
    // "Under 60" says by itself what it is of.
    if !reads.understand(rest).filters.is_empty() {
        return None;
    }
    let numbered = before.phrases.iter().enumerate().rev().take(PHRASES_MAX);
    let (at, wording) = numbered.filter_map(|(at, phrase)| Some((at, with_number(&phrase.wording, number)?))).next()?;
    let parsed = reads.understand(&wording);
    let is_held = |fields: &[String]| before.filters.iter().any(|held| held.fields == fields);
    if parsed.filters.is_empty() || !parsed.filters.iter().all(|filter| is_held(&filter.fields)) {
        return None;
    }
    let mut asked = SearchRequest { offset: 0, not_understood: parsed.not_understood, ..before.clone() };
    let phrase = &mut asked.phrases[at];
    let limits = parsed.filters.iter().map(|filter| filter.words.clone()).collect();
    *phrase = Phrase { wording, limits, ..phrase.clone() };
    parsed.filters.into_iter().for_each(|filter| narrow(&mut asked.filters, filter, true, reads));
    parsed.notes.into_iter().for_each(|note| push_new(&mut asked.notes, note));
    asked.reading = TurnReading::default();
    Some(asked)
}

/// The number at the end of a text that says nothing else but words in front of one.
fn last_number(rest: &str) -> Option<&str> {
    let (front, number) = rest.rsplit_once(' ').unwrap_or(("", rest));
    let is_front = front.split_whitespace().count() <= FRONT_WORDS_MAX;
    let says_little =
        front.is_empty() || phrases().begins_with_limit(front) || phrases().behind_addition(front).is_empty();
    (is_front && says_little && is_number(number) && !front.contains(char::is_numeric)).then_some(number)
}

/// A text with another number in the place of its only one. `None`: it has none or several.
fn with_number(text: &str, number: &str) -> Option<String> {
    let mut count = 0;
    let words = text.split(' ').map(|word| match is_number(word) {
        true => {
            count += 1;
            number
        }
        false => word,
    });
    let changed = words.collect::<Vec<_>>().join(" ");
    (count == 1).then_some(changed)
}

fn is_number(word: &str) -> bool {
    let mut chars = word.chars();
    word.len() <= NUMBER_BYTES_MAX
        && chars.next().is_some_and(|first| first.is_ascii_digit())
        && chars.all(|c| c.is_ascii_digit() || matches!(c, '.' | ','))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_turn_that_says_a_number_alone_is_known() {
        for (rest, number) in [
            ("for 14", Some("14")),
            ("14", Some("14")),
            ("für 6", Some("6")),
            ("pour 2,5", Some("2,5")),
            ("red 14", None),
            ("between 3 and 14", None),
            ("for my friends from school 14", None),
            ("for 14 people", None),
            ("", None),
        ] {
            assert_eq!(last_number(rest), number, "{rest}");
        }
    }

    #[test]
    fn the_only_number_is_changed() {
        assert_eq!(with_number("books for a 9 year old", "14").as_deref(), Some("books for a 14 year old"));
        assert_eq!(with_number("between 3 and 9", "14"), None);
        assert_eq!(with_number("books", "14"), None);
    }

    proptest! {
        #[test]
        fn any_text_has_a_number_or_none(text in "[0-9a-zé., ]{0,40}") {
            if let Some(number) = last_number(&text) {
                prop_assert!(text.ends_with(number));
            }
        }
    }
}
