//! Words that items spell in two ways: "colour" and "color".

use std::collections::{BTreeMap, BTreeSet};

use forecourt_vocabulary::{ProposedEntry, WordProposal};

use crate::analysis::{LanguageAnalyzer, Words, without_doubles};
use crate::error::Result;
use crate::index::Snapshot;
use crate::limits::SPELLINGS_READ;

/// Items that have each of the spellings, at least.
const ITEMS_MIN: u64 = 2;
/// Letters of such a word, at least.
const LETTERS_MIN: usize = 5;
/// What is one sound in two spellings: the first becomes the second.
const SOUNDS: &[(&str, &str)] = &[
    ("our", "or"),
    ("ae", "e"),
    ("oe", "e"),
    ("ph", "f"),
    ("th", "t"),
    ("gh", "g"),
    ("rh", "r"),
    ("ck", "k"),
    ("y", "i"),
    ("z", "s"),
];

/// Pairs of spellings that search does not take for one word, those that most items have first.
pub(super) fn proposals(snapshot: &Snapshot, tongue: LanguageAnalyzer) -> Result<Vec<WordProposal>> {
    let words = frequent(snapshot)?;
    let mut groups: BTreeMap<String, Vec<(&str, u64)>> = BTreeMap::new();
    for (word, items) in &words {
        groups.entry(sound(word)).or_default().push((word, *items));
    }
    let mut found: Vec<(u64, WordProposal)> = Vec::new();
    for mut group in groups.into_values().filter(|group| group.len() > 1) {
        group.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let mut stems = BTreeSet::new();
        // Forms of one word, such as "knives" and "knife", are one already.
        group.retain(|(word, _)| Words::of(word, tongue).get(0).is_some_and(|stem| stems.insert(stem.to_owned())));
        let known = group.first().map(|(word, _)| snapshot.vocabulary.synonyms_of(word)).unwrap_or_default();
        group.retain(|(word, _)| !known.contains(word));
        let evidence = group.iter().map(|(word, items)| format!("`{word}` is in {items} items"));
        let evidence = vec![evidence.collect::<Vec<_>>().join(", ")];
        let entry = ProposedEntry::Synonym { words: group.iter().map(|(word, _)| (*word).to_owned()).collect() };
        let rarest = group.iter().map(|(_, items)| *items).min().unwrap_or_default();
        found.extend(WordProposal::new(entry, tongue.code(), evidence).map(|proposal| (rarest, proposal)));
    }
    found.sort_by_key(|(items, _)| std::cmp::Reverse(*items));
    Ok(found.into_iter().map(|(_, proposal)| proposal).collect())
}

/// Words of the items, of each first letter at most [`SPELLINGS_READ`], each with how many have it. Two spellings of a word
/// mostly begin alike, and what begins with a digit is none.
fn frequent(snapshot: &Snapshot) -> Result<BTreeMap<String, u64>> {
    let mut items: BTreeMap<String, u64> = BTreeMap::new();
    for segment in snapshot.searcher.segment_readers() {
        let words = segment.inverted_index(snapshot.fields.spelled)?;
        // Behind the last Latin letter are those of all other scripts.
        for first in b'a'..=b'z' + 1 {
            let from = words.terms().range().ge([first]);
            let of_letter = if first > b'z' { from } else { from.lt([first + 1]) };
            let mut stream = of_letter.into_stream().map_err(tantivy::TantivyError::from)?;
            for _ in 0..SPELLINGS_READ {
                let Some((word, info)) = stream.next() else { break };
                if let Ok(word) = std::str::from_utf8(word)
                    && word.chars().count() >= LETTERS_MIN
                {
                    *items.entry(word.to_owned()).or_default() += u64::from(info.doc_freq);
                }
            }
        }
    }
    items.retain(|_, items| *items >= ITEMS_MIN);
    Ok(items)
}

/// A word as it sounds: what is spelled in two ways is spelled in one, and doubled letters are one.
fn sound(word: &str) -> String {
    let plain = SOUNDS.iter().fold(word.to_owned(), |word, (from, to)| word.replace(from, to));
    let plain = plain.strip_suffix("tre").map_or(plain.clone(), |stem| format!("{stem}ter"));
    without_doubles(plain.chars())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_spellings_sound_alike_and_two_words_do_not() {
        for (one, other) in [
            ("colour", "color"),
            ("yoghurt", "yogurt"),
            ("fibre", "fibrre"),
            ("theatre", "theater"),
            ("jewellery", "jewelery"),
        ] {
            assert_eq!(sound(one), sound(other));
        }
        for (one, other) in [("black", "block"), ("night", "light"), ("cable", "table")] {
            assert_ne!(sound(one), sound(other));
        }
    }
}
