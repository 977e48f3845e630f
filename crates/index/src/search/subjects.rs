//! What words of a query name, and other words for it that the index has: "Schlafsack" finds sleeping bags, and a
//! jacket may be an anorak.
//!
//! A word is read in the language of the question. In another one it is read where the index does not have it as it
//! is written, or where the words around it are of that language too: "night" is no light, and who wants to fix a tire
//! speaks English.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use forecourt_vocabulary::{LANGUAGES, NamedSubject, Synonym};

use super::compounds;
use super::other_names::{GERMAN, LINKS, OtherName, compounds as compounds_of_two, stems};
use crate::analysis::{LanguageAnalyzer, Words, bare_word, content_words, fold_text, is_stop_word};
use crate::index::Snapshot;
use crate::limits::{OTHER_NAMES_MAX, SUBJECTS_MAX};
use forecourt_understanding::limits::QUERY_WORDS_MAX;

/// Words of a query that name something.
#[derive(Debug, Clone)]
pub(super) struct Subject {
    /// Which of the query's words.
    pub(super) words: Range<usize>,
    /// Whether the question is in the language in which they name it.
    pub(super) is_spoken: bool,
    /// Whether it is named in the language in which the query is read.
    pub(super) is_read: bool,
    /// Other names of it that items have, those that mean the same first.
    pub(super) others: Vec<OtherName>,
}

/// What the words of a query name.
#[derive(Debug, Default)]
pub(super) struct Subjects {
    /// In the order of the words, none within another.
    pub(super) all: Vec<Subject>,
    /// Words that only tie others together in the language of the question, where that is not the one in which it is
    /// read. In lower case and without accents.
    ties: BTreeSet<String>,
    /// Whether the words are rather of another language than the one in which they are read.
    pub(super) is_foreign: bool,
}

impl Subjects {
    /// What the word at a place is part of.
    pub(super) fn at(&self, word: usize) -> Option<&Subject> {
        self.all.iter().find(|subject| subject.words.contains(&word))
    }

    /// Whether a word only ties others together in the language of the question.
    pub(super) fn is_tie(&self, word: &str) -> bool {
        self.ties.contains(word)
    }
}

/// What the words of a text name. `words` are those that are looked for, in lower case and without accents, `tongues`
/// those of the query and of items, the query's first.
pub(super) fn subjects(snapshot: &Snapshot, tongues: &[LanguageAnalyzer], text: &str, words: &[&str]) -> Subjects {
    let words = &words[..words.len().min(QUERY_WORDS_MAX)];
    let named = snapshot.vocabulary.subjects_in(words);
    let asked = SubjectSearch { snapshot, tongues, words, read: RefCell::default() };
    let is_german = tongues[0].code() == GERMAN && asked.has_german();
    if named.is_empty() && !is_german {
        return Subjects::default();
    }
    let (spoken, mut chosen) = asked.choose(named, text);
    chosen.sort_by_key(|subject| subject.words.start);
    chosen.truncate(SUBJECTS_MAX);
    let tongue = LanguageAnalyzer::of(LANGUAGES[spoken.language]);
    let in_spoken = chosen.iter().filter(|subject| subject.language == spoken.language);
    // One word among others may be of another language by chance.
    let is_sure = tongue == tongues[0]
        || spoken.is_tied
        || in_spoken.map(|subject| subject.words.len()).sum::<usize>() == words.len();
    let spoken = is_sure.then_some(spoken.language);
    let mut subjects: Vec<Subject> = chosen.iter().map(|subject| asked.subject(subject, spoken)).collect();
    for (at, pair) in chosen.windows(2).enumerate() {
        for composed in asked.composed(&pair[0], &pair[1]) {
            subjects[at].others.push(composed.clone());
            subjects[at + 1].others.push(composed);
        }
    }
    if is_german && tongue == tongues[0] {
        asked.add_compounds(&mut subjects);
    }
    let is_meant = tongue != tongues[0] && subjects.iter().any(|subject| subject.is_spoken);
    let is_foreign =
        tongue != tongues[0] && chosen.iter().any(|one| one.is_written && LANGUAGES[one.language] == tongue.code());
    Subjects { all: subjects, is_foreign, ties: if is_meant { ties(text, tongue) } else { BTreeSet::new() } }
}

/// Characters of each part of a compound.
const PART_CHARS_MIN: usize = 4;

/// The words of a text that only tie others together.
fn ties(text: &str, tongue: LanguageAnalyzer) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase);
    words.take(QUERY_WORDS_MAX).filter(|word| is_stop_word(word, tongue)).map(|word| fold_text(&word)).collect()
}

/// The words of a query, and what they are looked for in.
struct SubjectSearch<'s> {
    snapshot: &'s Snapshot,
    /// The query's first.
    tongues: &'s [LanguageAnalyzer],
    words: &'s [&'s str],
    /// Buffers that remember stems, by language.
    read: RefCell<BTreeMap<LanguageAnalyzer, Words>>,
}

impl SubjectSearch<'_> {
    /// The question's language, and what is meant: what is named in that language, and in others what the
    /// index does not know otherwise.
    fn choose<'v>(&self, mut named: Vec<NamedSubject<'v>>, text: &str) -> (QuestionLanguage, Vec<NamedSubject<'v>>) {
        let own = LANGUAGES.iter().position(|code| *code == self.tongues[0].code());
        let spoken = spoken(own, &named, text);
        // What ties words together says that the words around it are of its language, too.
        let is_sure = Some(spoken.language) == own || spoken.is_tied;
        // What is named as it is written goes before what only has the same stem.
        named.sort_by_key(|subject| (subject.language != spoken.language, !subject.is_written, subject.language));
        let mut chosen: Vec<NamedSubject<'v>> = Vec::new();
        for subject in named {
            let is_taken = chosen
                .iter()
                .any(|other| other.words.start < subject.words.end && subject.words.start < other.words.end);
            let is_sure = is_sure && subject.language == spoken.language;
            let is_otherwise = || subject.language == spoken.language && self.is_rather_called_otherwise(&subject);
            if !is_taken && (is_sure || !self.has_as_written(&subject) || is_otherwise()) {
                chosen.push(subject);
            }
        }
        (spoken, chosen)
    }

    /// Whether the index has the words of a subject, read in the language of the query.
    fn has_as_written(&self, subject: &NamedSubject<'_>) -> bool {
        let phrase = self.words[subject.words.clone()].join(" ");
        let content = content_words(&phrase, LanguageAnalyzer::of(LANGUAGES[subject.language]));
        Words::of(&content, self.tongues[0]).iter().all(|stem| self.snapshot.items_with(stem) > 0)
    }

    /// Whether more items have another name of what is meant than have the words, which name nothing in the language of the
    /// query: one jacket of a shop is described in German, and the rest in English.
    fn is_rather_called_otherwise(&self, subject: &NamedSubject<'_>) -> bool {
        let words = &self.words[subject.words.clone()];
        let own = self.tongues[0].code();
        if self.snapshot.vocabulary.subjects_in(words).iter().any(|other| LANGUAGES[other.language] == own) {
            return false;
        }
        let items = |stems: &[String]| stems.iter().map(|stem| self.snapshot.items_with(stem)).min().unwrap_or(0);
        let written = words.join(" ");
        let as_written = self.item_tongues().map(|tongue| items(&self.stems(&written, tongue))).max().unwrap_or(0);
        let same =
            subject.synonyms.iter().filter(|synonym| !synonym.is_narrower && synonym.language != subject.language);
        let known = same.filter_map(|synonym| self.known(&synonym.parts.join(" "), synonym.language));
        known.map(|stems| items(&stems)).sum::<u64>() > as_written
    }

    fn subject(&self, named: &NamedSubject<'_>, spoken: Option<usize>) -> Subject {
        let written = self.words[named.words.clone()].join(" ");
        let asked: Vec<BTreeSet<String>> =
            self.item_tongues().map(|tongue| self.stems(&written, tongue).into_iter().collect()).collect();
        let mut others: Vec<OtherName> = Vec::new();
        for Synonym { parts, language, is_narrower } in &named.synonyms {
            if others.len() >= OTHER_NAMES_MAX {
                break;
            }
            for stems in self.known_in_items(&parts.join(" "), *language, *is_narrower) {
                let has_asked = |asked: &BTreeSet<String>| asked.iter().all(|stem| stems.contains(stem));
                // What has all words of the question in it is found by these.
                if asked.iter().any(has_asked) || others.iter().any(|other| other.stems == stems) {
                    continue;
                }
                others.push(OtherName { stems, is_narrower: *is_narrower });
            }
        }
        if self.has_german() {
            // A lock is a "Schloss", and so is a "Rahmenschloss".
            let german = named.synonyms.iter().filter(|synonym| {
                !synonym.is_narrower && synonym.parts.len() == 1 && LANGUAGES[synonym.language] == GERMAN
            });
            for word in german.filter_map(|synonym| synonym.parts.first()) {
                let mut ends = self.compounds_of(word);
                ends.retain(|end| !others.contains(end));
                others.extend(ends);
            }
        }
        others.truncate(OTHER_NAMES_MAX);
        let is_read = LANGUAGES[named.language] == self.tongues[0].code();
        Subject { words: named.words.clone(), is_spoken: Some(named.language) == spoken, is_read, others }
    }

    /// Whether items are in German.
    fn has_german(&self) -> bool {
        self.item_tongues().any(|tongue| tongue.code() == GERMAN)
    }

    /// What items are called that ends with a German word.
    fn compounds_of(&self, word: &str) -> Vec<OtherName> {
        match self.stems(word, LanguageAnalyzer::of(GERMAN)).as_slice() {
            [stem] => compounds::ending_with(self.snapshot, stem),
            _ => Vec::new(),
        }
    }

    /// The two words of a German compound that no item has, where items have both: a "Gesichtscreme" is a "Creme" sorted in
    /// under "Gesicht".
    fn parts_of(&self, word: &str) -> Option<OtherName> {
        let tongue = LanguageAnalyzer::of(GERMAN);
        let has = |word: &str| match self.stems(word, tongue).as_slice() {
            [stem] => (self.snapshot.items_with(stem) > 0).then(|| stem.clone()),
            _ => None,
        };
        if has(word).is_some() || !word.chars().all(char::is_alphabetic) {
            return None;
        }
        let cuts = word.char_indices().map(|(at, _)| at).filter(|at| {
            word[..*at].chars().count() >= PART_CHARS_MIN && word[*at..].chars().count() >= PART_CHARS_MIN
        });
        cuts.into_iter().find_map(|at| {
            let end = has(&word[at..])?;
            let begins = LINKS.iter().filter_map(|link| word[..at].strip_suffix(link));
            let begin = begins.filter(|begin| begin.chars().count() >= PART_CHARS_MIN).find_map(has)?;
            (begin != end).then(|| OtherName { stems: vec![begin, end], is_narrower: false })
        })
    }

    /// Adds to each word of a German question what ends with it.
    fn add_compounds(&self, subjects: &mut Vec<Subject>) {
        for (at, word) in self.words.iter().enumerate() {
            let mut ends = self.compounds_of(word);
            ends.extend(self.parts_of(word));
            match subjects.iter_mut().find(|subject| subject.words.contains(&at)) {
                _ if ends.is_empty() => {}
                // Of several words together, one names nothing by itself.
                Some(subject) if subject.words.len() == 1 => {
                    let new: Vec<OtherName> = ends.into_iter().filter(|end| !subject.others.contains(end)).collect();
                    subject.others.extend(new);
                    subject.others.truncate(OTHER_NAMES_MAX);
                }
                Some(_) => {}
                None => subjects.push(Subject { words: at..at + 1, is_spoken: false, is_read: true, others: ends }),
            }
        }
        subjects.sort_by_key(|subject| subject.words.start);
    }

    /// The stems of the words that say something, each once.
    fn stems(&self, phrase: &str, tongue: LanguageAnalyzer) -> Vec<String> {
        stems(self.read.borrow_mut().entry(tongue).or_default(), phrase, tongue)
    }

    /// The languages that items are in.
    fn item_tongues(&self) -> impl Iterator<Item = LanguageAnalyzer> {
        self.snapshot.summary.tongues()
    }

    /// The same in each language in which items may write it: what is described in German is sorted in by the words of the
    /// site, which are those of the language that its questions are read in.
    /// Not of narrower things, of which there are many: some word of them means something else in another language.
    fn known_in_items(&self, phrase: &str, language: usize, is_narrower: bool) -> Vec<Vec<String>> {
        let mut all: Vec<Vec<String>> = self.known(phrase, language).into_iter().collect();
        if !is_narrower && LANGUAGES[language] == self.tongues[0].code() {
            let others = (0..LANGUAGES.len()).filter(|other| *other != language);
            for stems in others.filter_map(|other| self.known(phrase, other)) {
                if !all.contains(&stems) {
                    all.push(stems);
                }
            }
        }
        all
    }

    /// The stems of a phrase in the language at a place of [`LANGUAGES`], if items are in that language and have each
    /// of them.
    fn known(&self, phrase: &str, language: usize) -> Option<Vec<String>> {
        let tongue = LanguageAnalyzer::of(LANGUAGES[language]);
        let is_spoken = self.item_tongues().any(|other| other == tongue);
        let stems = if is_spoken { self.stems(phrase, tongue) } else { Vec::new() };
        let is_known = !stems.is_empty() && stems.iter().all(|stem| self.snapshot.items_with(stem) > 0);
        is_known.then_some(stems)
    }

    /// The compounds of what two neighbours name that the index has.
    fn composed(&self, first: &NamedSubject<'_>, second: &NamedSubject<'_>) -> Vec<OtherName> {
        let tongue = LanguageAnalyzer::of(GERMAN);
        if !self.item_tongues().any(|other| other == tongue) {
            return Vec::new();
        }
        let known = compounds_of_two(first, second).into_iter().filter_map(|word| {
            let stems = self.stems(&word, tongue);
            let is_known = stems.len() == 1 && self.snapshot.items_with(&stems[0]) > 0;
            is_known.then_some(OtherName { stems, is_narrower: false })
        });
        known.collect()
    }
}

/// The language of a question.
struct QuestionLanguage {
    /// Its place among [`LANGUAGES`].
    language: usize,
    /// Whether more of its words tie others together in this language than in that of the items.
    is_tied: bool,
}

/// What a word counts that names something in a language, and one that ties others together.
const VOTE: usize = 2;
/// What it counts that the language is the one in which a query is read.
const OWN_VOTE: usize = 1;

/// The language that most words of a text are of. In doubt it is the one in which the query is read.
fn spoken(own: Option<usize>, named: &[NamedSubject<'_>], text: &str) -> QuestionLanguage {
    let words: Vec<String> = text.split_whitespace().take(QUERY_WORDS_MAX).map(bare_word).collect();
    let ties = LANGUAGES.map(|code| {
        let tongue = LanguageAnalyzer::of(code);
        words.iter().filter(|word| !word.is_empty() && is_stop_word(word, tongue)).count()
    });
    let votes = |language: usize| {
        // A stem that two words share says less than the word itself.
        let worth = |subject: &NamedSubject<'_>| subject.words.len() * if subject.is_written { VOTE } else { OWN_VOTE };
        let named = named.iter().filter(|subject| subject.language == language).map(worth);
        let own = if own == Some(language) { OWN_VOTE } else { 0 };
        named.sum::<usize>() + VOTE * ties[language] + own
    };
    // The first of those that have as many votes: `max_by_key` would take the last.
    let language = (0..LANGUAGES.len()).rev().max_by_key(|language| votes(*language)).unwrap_or_default();
    QuestionLanguage { language, is_tied: own.is_none_or(|own| ties[language] > ties[own]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(language: usize, words: Range<usize>) -> NamedSubject<'static> {
        NamedSubject { words, language, is_written: true, synonyms: Vec::new() }
    }

    #[test]
    fn a_question_is_of_the_language_that_most_of_its_words_are_of() {
        let spoken = |named: &[NamedSubject<'_>], text: &str| {
            let QuestionLanguage { language, is_tied } = spoken(Some(0), named, text);
            (LANGUAGES[language], is_tied)
        };
        assert_eq!(spoken(&[named(0, 0..1), named(1, 0..1)], "tire"), ("en", false));
        assert_eq!(spoken(&[named(1, 0..1)], "Schlafsack"), ("de", false));
        assert_eq!(spoken(&[named(1, 3..4)], "how to fix a tire"), ("en", false));
        assert_eq!(spoken(&[named(2, 1..2)], "une veste pour la pluie"), ("fr", true));
        assert_eq!(spoken(&[], "xyz"), ("en", false));
    }
}
