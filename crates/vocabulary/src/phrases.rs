//! The phrases of one language, and what each of them says: a tree of words.

use std::collections::HashMap;

use crate::class_set::ClassSet;
use crate::limits::{COMPOUND_BYTES_MAX, PART_LETTERS_MIN};
use crate::words::{TextWords, compared};

/// What a phrase says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PhraseMeaning {
    /// Classes that have it among their members; not those that include them.
    pub(crate) of: ClassSet,
    /// Classes that it mostly is of, where it is part of an item.
    pub(crate) usually: ClassSet,
    /// Classes that it is an exception from.
    pub(crate) not: ClassSet,
    /// Classes that it is the name of, with what their absence says.
    pub(crate) named: ClassSet,
    /// Classes that it promises not to be of: "vegan".
    pub(crate) promised: ClassSet,
    /// What it says about the words beside it.
    pub(crate) sign: Option<Sign>,
    /// Whether it was looked at and says nothing of any class.
    pub(crate) is_neutral: bool,
}

/// A word that says something about those beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    /// "without", in front of what is absent.
    Before,
    /// "free", behind it.
    After,
    /// "any", between "without" and what is absent.
    Between,
    /// "or".
    Joining,
    /// Looks like one of them, and is none.
    Nothing,
}

/// Where phrases begin.
const ROOT: u32 = 0;

/// The phrases of one language.
#[derive(Debug, Default)]
pub(crate) struct Phrases {
    /// Numbers of words, from 0.
    words: HashMap<Box<str>, u32, foldhash::fast::RandomState>,
    /// The node of the phrase that is this word alone or begins with it, by its number. [`ROOT`]: none.
    first: Vec<u32>,
    /// The node that a further word leads to.
    next: HashMap<(u32, u32), u32, foldhash::fast::RandomState>,
    /// By node.
    meanings: Vec<Option<PhraseMeaning>>,
    /// Ends of words that say that the thing in front is absent.
    endings: Vec<String>,
    /// The words of the phrase that is added: a buffer that is used again for the next one.
    added: TextWords,
}

/// A phrase found in a text: words from `start` to `end`, which is not part of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PhraseMatch {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) meaning: PhraseMeaning,
}

impl Phrases {
    /// Adds to what a phrase says.
    pub(crate) fn add(&mut self, phrase: &str, language: &str, change: impl FnOnce(&mut PhraseMeaning)) {
        if self.meanings.is_empty() {
            self.meanings.push(None);
        }
        let mut node = ROOT;
        let mut words = std::mem::take(&mut self.added);
        words.read(phrase, language);
        for (at, word) in words.iter().enumerate() {
            node = self.step(node, word, at == 0);
        }
        self.added = words;
        if let Some(meaning) = self.meanings.get_mut(node as usize).filter(|_| node != ROOT) {
            change(meaning.get_or_insert_default());
        }
    }

    pub(crate) fn add_ending(&mut self, ending: &str, language: &str) {
        self.endings.push(compared(ending, language));
    }

    fn step(&mut self, node: u32, word: &str, is_first: bool) -> u32 {
        let count = self.words.len() as u32;
        // Words are numbers, so that a step of the tree compares integers: texts of whole sites go through here.
        let number = *self.words.entry(word.into()).or_insert(count);
        if number == count {
            self.first.push(ROOT);
        }
        let fresh = self.meanings.len() as u32;
        let slot = match is_first {
            true => &mut self.first[number as usize],
            false => self.next.entry((node, number)).or_insert(ROOT),
        };
        if *slot == ROOT {
            *slot = fresh;
            self.meanings.push(None);
        }
        *slot
    }

    /// Whether there is any phrase.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// All phrases in a text, the shorter before the longer ones that begin at the same word; those that say
    /// nothing too. Where the language builds compounds, the parts of a word count beside it.
    pub(crate) fn find(&self, text: &TextWords, language: &str, out: &mut Vec<PhraseMatch>) {
        out.clear();
        for start in 0..text.len() {
            let first = self.number(text.get(start)).map_or(ROOT, |number| self.first[number as usize]);
            let mut node = first;
            let mut end = start + 1;
            while node != ROOT {
                if let Some(meaning) = self.meanings[node as usize] {
                    out.push(PhraseMatch { start, end, meaning });
                }
                // "Coconut, milk" is no coconut milk.
                let goes_on = end < text.len() && text.segment(end) == text.segment(start);
                let further = if goes_on { self.number(text.get(end)) } else { None };
                node = further.and_then(|number| self.next.get(&(node, number)).copied()).unwrap_or(ROOT);
                end += 1;
            }
            // A word that is known has parts too: the eggs and the flour of "Käsekuchen", the salmon of "Lachsfilet".
            let own = self.meanings.get(first as usize).copied().flatten();
            if language == "de" && own.is_none_or(|own| !own.is_neutral && own.sign.is_none()) {
                self.parts(text.get(start), |meaning| out.push(PhraseMatch { start, end: start + 1, meaning }));
            }
        }
    }

    fn number(&self, word: &str) -> Option<u32> {
        self.words.get(word).copied()
    }

    /// What one word says, as a phrase of its own.
    pub(crate) fn of_word(&self, word: &str) -> Option<PhraseMeaning> {
        let first = self.first[self.number(word)? as usize];
        self.meanings.get(first as usize).copied().flatten()
    }

    /// The longest known beginning and the longest known end of a compound word.
    fn parts(&self, word: &str, mut take: impl FnMut(PhraseMeaning)) {
        // All its cuts are looked up; a "word" of a megabyte would take as many look-ups.
        if word.len() > COMPOUND_BYTES_MAX {
            return;
        }
        let known = |part: &str| if part.len() >= PART_LETTERS_MIN { self.of_word(part) } else { None };
        let cuts = || word.char_indices().map(|(at, _)| at).skip(1);
        // The longest parts: a shorter one that is a word as well would say something else.
        let begin = cuts().collect::<Vec<_>>().into_iter().rev().find_map(|at| known(&word[..at]));
        let end = cuts().find_map(|at| known(&word[at..]));
        [begin, end].into_iter().flatten().for_each(|meaning| take(PhraseMeaning { sign: None, ..meaning }));
    }

    /// The classes whose absence a single word says: "eggless", "glutenfrei".
    pub(crate) fn absent_by_ending(&self, word: &str, language: &str) -> ClassSet {
        for ending in &self.endings {
            let Some(thing) = word.strip_suffix(ending.as_str()).filter(|thing| thing.len() > 1) else { continue };
            if let Some(meaning) = self.of_word(&compared(thing, language)) {
                return meaning.named.with(meaning.promised);
            }
        }
        ClassSet::default()
    }
}
