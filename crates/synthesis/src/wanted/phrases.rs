//! Noun phrases: what they are about, and whose a property is. Of "the email of a product's supplier" it is the
//! supplier's, and that one the product's.

use std::collections::BTreeSet;
use std::ops::Range;

use super::sentences::Sentence;
use crate::limits::{MENTIONS_MAX, PHRASE_WORDS_MAX};
use crate::meaning::Nouns;

/// Words between which properties stand in a row.
const JOINING: [&str; 12] = ["and", "or", "the", "a", "an", "its", "their", "his", "her", "as", "well", "both"];
/// Words that belong a property to what follows.
const OF: [&str; 4] = ["of", "for", "from", "belonging"];
/// Words that end a noun phrase.
const ENDING: [&str; 24] = [
    "out",
    "off",
    "of",
    "for",
    "from",
    "belonging",
    "to",
    "with",
    "in",
    "on",
    "at",
    "by",
    "about",
    "into",
    "and",
    "or",
    "but",
    "that",
    "which",
    "who",
    "whom",
    "whose",
    "as",
    "is",
];
/// Words before a noun that say nothing of what it is.
const BEFORE_NOUNS: [&str; 14] =
    ["the", "a", "an", "its", "their", "this", "these", "one", "each", "every", "some", "any", "given", "named"];
/// Stands for what is named by a word that the host does not know.
const UNKNOWN: &str = "?";

/// What a noun phrase is about.
#[derive(Default)]
pub(super) struct Phrase {
    /// From its head outwards.
    pub(super) chain: Vec<String>,
    /// The place behind it.
    end: usize,
    /// Whether its head is owned by what it begins with, and is nothing that the host knows.
    is_headless: bool,
}

impl Sentence {
    /// Whose a property is, from what owns it outwards: of "the email of a product's supplier" supplier and product.
    /// `properties`: the words of all properties that are asked for, which may stand in a row.
    pub(crate) fn owners(&self, property: &str, properties: &BTreeSet<String>, nouns: &Nouns) -> Vec<Vec<String>> {
        let wanted: Vec<&str> = property.split('_').filter(|word| !matches!(*word, "at" | "on")).collect();
        if wanted.is_empty() {
            return Vec::new();
        }
        let mentions = (0..self.words.len()).filter(|at| {
            let here = self.words.get(*at..*at + wanted.len()).unwrap_or_default();
            here.len() == wanted.len()
                && here.iter().zip(&wanted).all(|(word, wanted)| is_same_word(&word.text, wanted))
        });
        let mentions = mentions.filter(|at| !self.words[*at].is_denied).take(MENTIONS_MAX);
        let is_row = |at: usize| {
            let word = &self.words[at];
            JOINING.contains(&word.written.as_str()) || properties.contains(&word.text)
        };
        let mut found = Vec::new();
        for start in mentions {
            let mut behind = start + wanted.len();
            // "The name and the date of birth of the patient" goes on behind its first "of".
            let goes_on = |at: usize| {
                let is_inside = self.words.get(at + 1).is_some_and(|word| properties.contains(&word.text));
                is_row(at) || (OF.contains(&self.words[at].written.as_str()) && is_inside)
            };
            while behind < self.words.len() && behind < start + PHRASE_WORDS_MAX && goes_on(behind) {
                behind += 1;
            }
            let is_owned = self.words.get(behind).is_some_and(|word| OF.contains(&word.written.as_str()));
            let before = self.before(start, &is_row, nouns);
            let after = if is_owned { self.alternatives(behind + 1, nouns) } else { Vec::new() };
            // The supplier's email of a product is the email of a product's supplier.
            let chains: Vec<Vec<String>> = match (before.is_empty(), after.is_empty()) {
                (true, _) => after,
                (false, true) => vec![before],
                (false, false) => after.into_iter().map(|rest| before.iter().cloned().chain(rest).collect()).collect(),
            };
            for chain in chains {
                if !chain.is_empty() && !found.contains(&chain) {
                    found.push(chain);
                }
            }
        }
        found
    }

    /// What noun phrases are about that stand for one another: of a patient or of the insurer.
    fn alternatives(&self, from: usize, nouns: &Nouns) -> Vec<Vec<String>> {
        let mut found = Vec::new();
        let mut at = from;
        let mut left = PHRASE_WORDS_MAX;
        loop {
            let Phrase { chain, end, is_headless } = self.phrase_within(&mut left, at, nouns);
            let is_first = found.is_empty();
            if chain.is_empty() || is_headless {
                // Whoever owns something else there is no owner of what is asked for.
                return if is_first { self.unknown(left, at..end, nouns).into_iter().collect() } else { found };
            }
            found.push(chain);
            let written = |at: usize| self.words.get(at).map_or("", |word| word.written.as_str());
            if !matches!(written(end), "and" | "or") {
                return found;
            }
            at = if OF.contains(&written(end + 1)) { end + 2 } else { end + 1 };
        }
    }

    /// What a phrase is about whose head nobody here knows: what stands beside it (a bike's owner, the customer), else
    /// nothing that could be found. `None`: it is no thing at all, but what somebody does.
    fn unknown(&self, mut left: usize, words: Range<usize>, nouns: &Nouns) -> Option<Vec<String>> {
        let end = words.end;
        if words.is_empty() || self.words.get(end).is_some_and(|word| word.written.ends_with("ing")) {
            return None;
        }
        let beside =
            self.words.get(end).filter(|word| word.begins).map(|_| self.phrase_within(&mut left, end, nouns).chain);
        Some(beside.filter(|chain| !chain.is_empty()).unwrap_or_else(|| vec![UNKNOWN.to_owned()]))
    }

    /// What the noun phrase at a place is about.
    pub(super) fn phrase(&self, from: usize, nouns: &Nouns) -> Phrase {
        let mut left = PHRASE_WORDS_MAX;
        self.phrase_within(&mut left, from, nouns)
    }

    /// The same, within so many words, of which what is read is taken.
    fn phrase_within(&self, left: &mut usize, from: usize, nouns: &Nouns) -> Phrase {
        let mut phrase = Phrase { end: from, ..Phrase::default() };
        let mut skipped = 0;
        while phrase.end < self.words.len() && *left > 0 {
            let word = &self.words[phrase.end];
            if word.begins && phrase.end > from {
                break;
            }
            match nouns.at_start(&self.words[phrase.end..]) {
                Some((length, entity)) => {
                    // What owns, or stands right before, is further out than what it owns.
                    phrase.chain.insert(0, entity);
                    phrase.end += length;
                    *left = left.saturating_sub(length);
                    phrase.is_headless = self.words[phrase.end - 1].owns;
                    let follows = self.words.get(phrase.end).map_or("", |word| word.written.as_str());
                    if matches!(follows, "of" | "for") {
                        *left = left.saturating_sub(1);
                        let further = self.phrase_within(left, phrase.end + 1, nouns);
                        phrase.chain.extend(further.chain);
                        return Phrase { end: further.end, ..phrase };
                    }
                    if !phrase.is_headless && nouns.at_start(&self.words[phrase.end..]).is_none() {
                        break;
                    }
                }
                None if BEFORE_NOUNS.contains(&word.written.as_str()) => {
                    phrase.end += 1;
                    *left -= 1;
                }
                // "The cost of sending a product" is no product's.
                None if word.written.ends_with("ing") || ENDING.contains(&word.written.as_str()) => break,
                // An adjective or two.
                None if skipped < 2 => {
                    skipped += 1;
                    phrase.end += 1;
                    *left -= 1;
                }
                None => break,
            }
        }
        phrase
    }

    /// What stands before a property and owns it: the supplier's email, the supplier email.
    fn before(&self, start: usize, is_row: &dyn Fn(usize) -> bool, nouns: &Nouns) -> Vec<String> {
        let mut at = start;
        while at > 0 && start - at < PHRASE_WORDS_MAX && is_row(at - 1) {
            at -= 1;
        }
        let mut chain = Vec::new();
        // Backwards over owners: a product's supplier's email.
        while at > 0 && start - at < PHRASE_WORDS_MAX {
            let owned = chain.is_empty() && at == start;
            if !(self.words[at - 1].owns || owned) {
                break;
            }
            let Some((first, entity)) = (at.saturating_sub(3)..at).find_map(|first| {
                let named = nouns.at_start(&self.words[first..at]);
                named.filter(|(length, _)| first + length == at).map(|(_, entity)| (first, entity))
            }) else {
                break;
            };
            chain.push(entity);
            at = first;
        }
        chain
    }
}

/// Whether a word says what the word of a property says.
fn is_same_word(word: &str, wanted: &str) -> bool {
    const SAME: [[&str; 2]; 2] = [["state", "status"], ["mail", "email"]];
    word == wanted || SAME.iter().any(|pair| pair.contains(&word) && pair.contains(&wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTITIES: [&str; 2] = ["order", "customer"];

    /// So many characters as a sentence may have, of a text over and over.
    fn long(text: &str) -> Sentence {
        Sentence::read(&text.repeat(crate::limits::SENTENCE_CHARS_MAX / text.len()))
    }

    #[test]
    fn phrases_in_one_another_have_one_bound_together() {
        let nouns = Nouns::named_only(ENTITIES);
        for text in ["order of the ", "customer's ", "order for ", "the good order "] {
            let sentence = long(text);
            let mut left = PHRASE_WORDS_MAX;
            let phrase = sentence.phrase_within(&mut left, 0, &nouns);
            assert!(phrase.end <= PHRASE_WORDS_MAX + 1, "{text}: {}", phrase.end);
        }
        let of = |orders: usize| Sentence::read(&format!("{}order", "order of ".repeat(orders - 1)));
        let chain = |orders: usize| of(orders).phrase(0, &nouns).chain.len();
        assert_eq!(PHRASE_WORDS_MAX, 16);
        assert_eq!((chain(8), chain(9)), (8, 8), "15 words, and 17");
    }

    #[test]
    fn what_stands_for_one_another_has_that_bound_too() {
        let nouns = Nouns::named_only(ENTITIES);
        let owners = |text: &str| Sentence::read(text).owners("email", &BTreeSet::new(), &nouns);
        assert_eq!(owners("the email of the order or of the customer"), [["order"], ["customer"]]);
        let many: Vec<String> = (0..=PHRASE_WORDS_MAX).map(|at| format!("thing{at}")).collect();
        let nouns = Nouns::named_only(many.iter().map(String::as_str));
        let owners = |text: &str| Sentence::read(text).owners("email", &BTreeSet::new(), &nouns);
        let many = format!("the email of {}", many.join(" or "));
        assert_eq!(owners(&many).len(), PHRASE_WORDS_MAX);
    }

    #[test]
    fn so_many_mentions_of_a_property_are_looked_at() {
        let nouns = Nouns::named_only(ENTITIES);
        let owners = |before: usize| {
            let text = format!("{}email of an order", "email of a customer here ".repeat(before));
            Sentence::read(&text).owners("email", &BTreeSet::new(), &nouns).len()
        };
        assert_eq!((owners(MENTIONS_MAX - 1), owners(MENTIONS_MAX)), (2, 1));
    }
}
