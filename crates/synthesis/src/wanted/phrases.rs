//! Noun phrases: what they are about, and whose a property is. Of "the email of a product's supplier" it is the
//! supplier's, and that one the product's.

use super::sentences::Sentence;
use crate::limits::PHRASE_WORDS_MAX;
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
    pub(crate) fn owners(&self, property: &str, properties: &[String], nouns: &Nouns) -> Vec<Vec<String>> {
        let wanted: Vec<&str> = property.split('_').filter(|word| !matches!(*word, "at" | "on")).collect();
        let texts = self.texts();
        if wanted.is_empty() {
            return Vec::new();
        }
        let mentions = (0..texts.len()).filter(|at| {
            let here = texts.get(*at..*at + wanted.len()).unwrap_or_default();
            here.len() == wanted.len() && here.iter().zip(&wanted).all(|(word, wanted)| is_same_word(word, wanted))
        });
        let is_row = |at: usize| {
            let word = &self.words[at];
            JOINING.contains(&word.written.as_str()) || properties.contains(&word.text)
        };
        let mut found = Vec::new();
        for start in mentions.filter(|at| !self.words[*at].is_denied) {
            let mut behind = start + wanted.len();
            // "The name and the date of birth of the patient" goes on behind its first "of".
            let goes_on = |at: usize| {
                let is_inside = texts.get(at + 1).is_some_and(|word| properties.contains(word));
                is_row(at) || (OF.contains(&self.words[at].written.as_str()) && is_inside)
            };
            while behind < texts.len() && behind < start + PHRASE_WORDS_MAX && goes_on(behind) {
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
        loop {
            let Phrase { chain, end, is_headless } = self.phrase(at, nouns);
            let is_first = found.is_empty();
            if chain.is_empty() || is_headless {
                // Whoever owns something else there is no owner of what is asked for.
                return if is_first { self.unknown(at, end, nouns).into_iter().collect() } else { found };
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
    fn unknown(&self, from: usize, end: usize, nouns: &Nouns) -> Option<Vec<String>> {
        if end <= from || self.words.get(end).is_some_and(|word| word.written.ends_with("ing")) {
            return None;
        }
        let beside = self.words.get(end).filter(|word| word.begins).map(|_| self.phrase(end, nouns).chain);
        Some(beside.filter(|chain| !chain.is_empty()).unwrap_or_else(|| vec![UNKNOWN.to_owned()]))
    }

    /// What the noun phrase at a place is about.
    pub(super) fn phrase(&self, from: usize, nouns: &Nouns) -> Phrase {
        let texts = self.texts();
        let mut phrase = Phrase { end: from, ..Phrase::default() };
        let mut skipped = 0;
        while phrase.end < texts.len() && phrase.end < from + PHRASE_WORDS_MAX {
            let word = &self.words[phrase.end];
            if word.begins && phrase.end > from {
                break;
            }
            let here = nouns.named(&texts[phrase.end..]).into_iter().next().filter(|(first, ..)| *first == 0);
            match here {
                Some((_, length, entity)) => {
                    // What owns, or stands right before, is further out than what it owns.
                    phrase.chain.insert(0, entity);
                    phrase.end += length;
                    phrase.is_headless = self.words[phrase.end - 1].owns;
                    let follows = self.words.get(phrase.end).map_or("", |word| word.written.as_str());
                    if matches!(follows, "of" | "for") {
                        let further = self.phrase(phrase.end + 1, nouns);
                        phrase.chain.extend(further.chain);
                        return Phrase { end: further.end, ..phrase };
                    }
                    let next = nouns.named(&texts[phrase.end..]);
                    if !phrase.is_headless && next.first().is_none_or(|(first, ..)| *first > 0) {
                        break;
                    }
                }
                None if BEFORE_NOUNS.contains(&word.written.as_str()) => phrase.end += 1,
                // "The cost of sending a product" is no product's.
                None if word.written.ends_with("ing") || ENDING.contains(&word.written.as_str()) => break,
                // An adjective or two.
                None if skipped < 2 => {
                    skipped += 1;
                    phrase.end += 1;
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
        let texts = self.texts();
        let mut chain = Vec::new();
        // Backwards over owners: a product's supplier's email.
        while at > 0 {
            let owned = chain.is_empty() && at == start;
            if !(self.words[at - 1].owns || owned) {
                break;
            }
            let Some((first, entity)) = (at.saturating_sub(3)..at).find_map(|first| {
                let named = nouns.named(&texts[first..at]).into_iter().next();
                named.filter(|(begin, end, _)| *begin == 0 && first + end == at).map(|(.., entity)| (first, entity))
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
