//! Words that mean the same, and how those of a question are found: its own language first.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::file::SynonymGroup;
use crate::fold::folded;
use crate::limits::{COMPOUND_BYTES_MAX, NARROWER_MAX, PART_LETTERS_MIN, SYNONYM_SPAN_MAX};
use crate::stem::{PhraseKey, joined_key, phrase_key, phrase_letters, stem};
use crate::synonym_table::{ShippedGroup, SynonymTable};
use crate::words::LANGUAGES;

/// Words of a question that name something, and the other words for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedSubject<'v> {
    /// Which of the words.
    pub words: Range<usize>,
    /// The place among [`LANGUAGES`] of the language in which they name it.
    pub language: usize,
    /// Whether they are one of its names as they are written, and not only by their stems.
    pub is_written: bool,
    /// The other words, those that mean the same first.
    pub synonyms: Vec<Synonym<'v>>,
}

/// Another word for something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synonym<'v> {
    /// The word, or the phrase; of a compound word one for each of its parts, which belong together.
    pub parts: Vec<&'v str>,
    /// Its language, by the place among [`LANGUAGES`].
    pub language: usize,
    /// Whether it is something narrower: a rain jacket, where a jacket was asked for.
    pub is_narrower: bool,
}

/// The groups of a deployment, by their words.
#[derive(Debug, Default)]
pub(crate) struct OwnSynonyms {
    groups: Vec<SynonymGroup>,
    /// Places of groups by their words, with the place of the language.
    by_word: HashMap<(usize, PhraseKey), Vec<usize>>,
    /// The same by words that they have from the program.
    by_completed: HashMap<(usize, PhraseKey), Vec<usize>>,
    /// Places of groups by the English words of wider ones.
    by_broader: HashMap<PhraseKey, Vec<usize>>,
}

/// A group that was found, of the program or of the deployment.
#[derive(Clone, Copy)]
enum FoundGroup<'v> {
    Own(&'v SynonymGroup),
    Shipped(ShippedGroup),
}

impl<'v> FoundGroup<'v> {
    fn is_same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Own(one), Self::Own(other)) => std::ptr::eq(one, other),
            (Self::Shipped(one), Self::Shipped(other)) => one.is_same(other),
            _ => false,
        }
    }

    /// Whether a phrase of so many letters is one of its words, and not the beginning of one that has the same stem: who
    /// has typed `langu` does not speak of a `langue`.
    fn is_named(self, key: PhraseKey, language: usize, letters: usize) -> bool {
        let words = self.words().into_iter().filter(|(of, _)| *of == language);
        let is_it = |word: &str| phrase_key(word, language) == Some(key) || joined_key(word, language) == Some(key);
        words.map(|(_, word)| word).any(|word| is_it(word) && letters >= phrase_letters(singular(word), language))
    }

    /// Whether one of its words is written like a phrase, but for the ending of a plural.
    fn has_written(self, phrase: &str, language: usize) -> bool {
        let phrase = folded(phrase);
        let mut words = self.words().into_iter().filter(|(of, _)| *of == language).map(|(_, word)| folded(word));
        words.any(|word| are_forms(&word, &phrase))
    }

    /// Its words, each with the place of its language.
    fn words(self) -> Vec<(usize, &'v str)> {
        let of = |language: usize| -> Vec<&'v str> {
            match self {
                Self::Own(group) => {
                    group.words.get(LANGUAGES[language]).into_iter().flatten().map(String::as_str).collect()
                }
                Self::Shipped(group) => group.words(language).collect(),
            }
        };
        (0..LANGUAGES.len()).flat_map(|language| of(language).into_iter().map(move |word| (language, word))).collect()
    }
}

impl OwnSynonyms {
    /// Makes groups ready to be asked. A list of theirs takes the place of the program's for the same words; languages
    /// that a group leaves out keep the program's words.
    pub(crate) fn of(mut groups: Vec<SynonymGroup>) -> Self {
        let mut own = Self::default();
        for (at, group) in groups.iter_mut().enumerate() {
            let declared: Vec<(usize, PhraseKey)> = keys(group).collect();
            complete(group);
            let completed = keys(group).filter(|key| !declared.contains(key)).collect::<Vec<_>>();
            declared.into_iter().for_each(|key| own.by_word.entry(key).or_default().push(at));
            completed.into_iter().for_each(|key| own.by_completed.entry(key).or_default().push(at));
            for key in group.broader.iter().filter_map(|word| phrase_key(word, 0)) {
                own.by_broader.entry(key).or_default().push(at);
            }
        }
        own.groups = groups;
        own
    }

    /// The groups that have a phrase: those of the deployment, else those of the program, and those of the deployment
    /// that have it from there.
    fn find(&self, key: PhraseKey, language: usize) -> Vec<FoundGroup<'_>> {
        let own = |places: &Vec<usize>| places.iter().map(|at| FoundGroup::Own(&self.groups[*at])).collect::<Vec<_>>();
        if let Some(places) = self.by_word.get(&(language, key)) {
            return own(places);
        }
        let completed = self.by_completed.get(&(language, key)).map(own).unwrap_or_default();
        let shipped = SynonymTable::shipped().find(key, language).map(FoundGroup::Shipped);
        completed.into_iter().chain(shipped).collect()
    }

    /// The groups that are narrower than one, at most [`NARROWER_MAX`], each once; those below these too.
    fn narrower<'v>(&'v self, group: FoundGroup<'v>) -> Vec<FoundGroup<'v>> {
        let mut found = vec![group];
        let mut at = 0;
        while at < found.len() && found.len() <= NARROWER_MAX {
            let inner = self.next_narrower(found[at]);
            let is_new = |one: &FoundGroup<'v>| !found.iter().any(|other| other.is_same(*one));
            let fresh: Vec<_> = inner.into_iter().filter(is_new).collect();
            found.extend(fresh);
            at += 1;
        }
        found.truncate(NARROWER_MAX + 1);
        found.split_off(1)
    }

    fn next_narrower<'v>(&'v self, group: FoundGroup<'v>) -> Vec<FoundGroup<'v>> {
        let english = group.words().into_iter().filter(|(language, _)| *language == 0);
        let keys: Vec<PhraseKey> = english.filter_map(|(_, word)| phrase_key(word, 0)).collect();
        let own = keys.iter().filter_map(|key| self.by_broader.get(key)).flatten();
        let own = own.map(|at| FoundGroup::Own(&self.groups[*at]));
        // A group of the deployment is as wide as those of the program that have its words.
        let shipped: Vec<ShippedGroup> = match group {
            FoundGroup::Shipped(group) => vec![group],
            FoundGroup::Own(_) => keys.iter().flat_map(|key| SynonymTable::shipped().find(*key, 0)).collect(),
        };
        let inner = shipped.into_iter().flat_map(|group| SynonymTable::shipped().narrower(group));
        own.chain(inner.map(FoundGroup::Shipped)).collect()
    }

    /// The groups of which the things of one are, one step up.
    fn broader<'v>(&'v self, group: FoundGroup<'v>) -> Vec<FoundGroup<'v>> {
        match group {
            FoundGroup::Shipped(group) => SynonymTable::shipped().broader(group).map(FoundGroup::Shipped).collect(),
            FoundGroup::Own(group) => {
                let keys = group.broader.iter().filter_map(|word| phrase_key(word, 0));
                keys.flat_map(|key| self.find(key, 0)).collect()
            }
        }
    }

    /// What the words of a question name, each with the words for the broader things that it is one of, one step up.
    pub(crate) fn broader_in(&self, words: &[&str]) -> Vec<(Range<usize>, Vec<Synonym<'_>>)> {
        let of = |subject: NamedSubject<'_>| {
            let key = phrase_key(&words[subject.words.clone()].join(" "), subject.language)?;
            let groups = self.find(key, subject.language);
            let broader = groups.into_iter().flat_map(|group| self.broader(group)).flat_map(FoundGroup::words);
            let broader = each_once(broader.map(|word| (word, false)));
            (!broader.is_empty()).then_some((subject.words, broader))
        };
        self.subjects_in(words).into_iter().filter_map(of).collect()
    }

    /// The other words for what a phrase names in a language. Empty: it names nothing.
    pub(crate) fn synonyms(&self, key: PhraseKey, language: usize) -> Vec<Synonym<'_>> {
        self.synonyms_of(&self.find(key, language))
    }

    fn synonyms_of<'v>(&'v self, groups: &[FoundGroup<'v>]) -> Vec<Synonym<'v>> {
        let same = groups.iter().flat_map(|group| group.words()).map(|word| (word, false));
        let narrower = groups.iter().flat_map(|group| self.narrower(*group)).flat_map(FoundGroup::words);
        each_once(same.chain(narrower.map(|word| (word, true))))
    }

    /// The other words for the same that a phrase names in a language, and for nothing narrower.
    pub(crate) fn same(&self, key: PhraseKey, language: usize) -> Vec<Synonym<'_>> {
        each_once(self.find(key, language).into_iter().flat_map(FoundGroup::words).map(|word| (word, false)))
    }

    /// What the words of a question name, in each language, the longest phrases and each word once. Words are in lower
    /// case and without accents.
    pub(crate) fn subjects_in(&self, words: &[&str]) -> Vec<NamedSubject<'_>> {
        (0..LANGUAGES.len()).flat_map(|language| self.subjects_of(words, language)).collect()
    }

    fn subjects_of(&self, words: &[&str], language: usize) -> Vec<NamedSubject<'_>> {
        let stems: Vec<Option<String>> = words.iter().map(|word| stem(word, language)).collect();
        let (mut found, mut at) = (Vec::new(), 0);
        while at < stems.len() {
            let named = if stems[at].is_some() { self.longest(words, &stems, at, language) } else { None };
            let named =
                named.or_else(|| self.joined(words, at, language).map(|(end, synonyms)| (end, synonyms, false)));
            let named = named.or_else(|| Some((at + 1, self.compound(words[at], language)?, false)));
            match named {
                Some((end, synonyms, is_written)) => {
                    found.push(NamedSubject { words: at..end, language, is_written, synonyms });
                    at = end;
                }
                None => at += 1,
            }
        }
        found
    }

    /// The longest phrase that begins at a word and names something: where it ends, the other words for it, and whether it
    /// is a name as it is written.
    fn longest(
        &self,
        words: &[&str],
        stems: &[Option<String>],
        start: usize,
        language: usize,
    ) -> Option<(usize, Vec<Synonym<'_>>, bool)> {
        let (mut key, mut letters, mut found) = (PhraseKey::default(), 0, None);
        for (at, stem) in stems.iter().enumerate().skip(start).take(SYNONYM_SPAN_MAX) {
            let Some(stem) = stem else { continue };
            key = key.then(stem);
            letters += words[at].len();
            if self.find(key, language).iter().any(|group| group.is_named(key, language, letters)) {
                found = Some((at + 1, key));
            }
        }
        found.map(|(end, key)| {
            let (synonyms, is_written) = self.written(key, language, &words[start..end].join(" "));
            (end, synonyms, is_written)
        })
    }

    /// The other words for what a phrase names as it is written: where words of several groups have its stem, those of
    /// the groups that have it itself, and whether any has. An "étagère" is a shelf, and no "étage".
    fn written(&self, key: PhraseKey, language: usize, phrase: &str) -> (Vec<Synonym<'_>>, bool) {
        let groups = self.find(key, language);
        let exact: Vec<FoundGroup<'_>> =
            groups.iter().filter(|group| group.has_written(phrase, language)).copied().collect();
        (self.synonyms_of(if exact.is_empty() { &groups } else { &exact }), !exact.is_empty())
    }

    /// What two words name that are written as one: a rain coat is a raincoat.
    fn joined(&self, words: &[&str], at: usize, language: usize) -> Option<(usize, Vec<Synonym<'_>>)> {
        let key = joined_key(&words.get(at..at + 2)?.join(" "), language)?;
        let letters = words[at].len() + words[at + 1].len();
        let is_named = self.find(key, language).iter().any(|group| group.is_named(key, language, letters));
        is_named.then(|| (at + 2, self.synonyms(key, language)))
    }

    /// What a German compound is made of, in other words: "Fahrradjacke" is a jacket and of a bicycle.
    fn compound(&self, word: &str, language: usize) -> Option<Vec<Synonym<'_>>> {
        if LANGUAGES[language] != "de" || word.len() > COMPOUND_BYTES_MAX || !word.is_ascii() {
            return None;
        }
        let cuts = PART_LETTERS_MIN..(word.len() + 1).saturating_sub(PART_LETTERS_MIN);
        let known = |part: &str| {
            let same = self.same(stem(part, language).map(|stem| PhraseKey::default().then(&stem))?, language);
            (!same.is_empty()).then_some(same)
        };
        // The longest end: what a compound is, its end says.
        let parts = cuts.into_iter().find_map(|at| {
            let end = known(&word[at..])?;
            let begin = &word[..at];
            let bare = LINKS.iter().filter_map(|link| begin.strip_suffix(link)).filter(|bare| bare.len() > 2);
            Some((std::iter::once(begin).chain(bare).find_map(known)?, end))
        });
        let (begin, end) = parts?;
        let pairs = end.iter().flat_map(|end| {
            let same = begin.iter().filter(move |begin| begin.language == end.language);
            same.map(move |begin| Synonym {
                parts: begin.parts.iter().chain(&end.parts).copied().collect(),
                language: end.language,
                is_narrower: false,
            })
        });
        Some(pairs.collect())
    }
}

/// Words with the place of their language, and whether they are narrower, as synonyms: each of them once.
fn each_once<'v>(words: impl Iterator<Item = ((usize, &'v str), bool)>) -> Vec<Synonym<'v>> {
    let mut seen = HashSet::new();
    let words = words.filter(|(word, _)| seen.insert(*word));
    words.map(|((language, word), is_narrower)| Synonym { parts: vec![word], language, is_narrower }).collect()
}

/// A word without what may be the ending of a plural.
fn singular(word: &str) -> &str {
    PLURALS.iter().find_map(|plural| word.strip_suffix(plural)).unwrap_or(word)
}

/// Whether one of two words is the other with the ending of a plural.
fn are_forms(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    long.strip_prefix(short).is_some_and(|ending| ending.is_empty() || ending == "e" || PLURALS.contains(&ending))
}

/// Endings of plurals, the longest first.
const PLURALS: &[&str] = &["en", "es", "n", "s"];

/// What German puts between the parts of a compound.
const LINKS: &[&str] = &["s", "n", "en", "es", "er", "e"];

/// The words of a group, each with the place of its language.
fn words_of(group: &SynonymGroup) -> impl Iterator<Item = (usize, &String)> {
    let languages = LANGUAGES.iter().enumerate();
    languages.flat_map(|(at, code)| group.words.get(*code).into_iter().flatten().map(move |word| (at, word)))
}

/// Adds the program's words in the languages that a group leaves out.
fn complete(group: &mut SynonymGroup) {
    let own: Vec<(usize, PhraseKey)> = keys(group).collect();
    for (language, code) in LANGUAGES.into_iter().enumerate() {
        if group.words.contains_key(code) {
            continue;
        }
        let found = own.iter().flat_map(|(of, key)| SynonymTable::shipped().find(*key, *of));
        let mut words: Vec<String> = found.flat_map(|found| found.words(language)).map(str::to_owned).collect();
        words.sort_unstable();
        words.dedup();
        if !words.is_empty() {
            group.words.insert(code.to_owned(), words);
        }
    }
}

/// The keys of the words of a group, each with the place of its language.
fn keys(group: &SynonymGroup) -> impl Iterator<Item = (usize, PhraseKey)> {
    words_of(group).filter_map(|(language, word)| Some((language, phrase_key(word, language)?)))
}

/// A word for which a deployment's list takes the place of the program's.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReplacedList {
    /// The language of both lists.
    pub(crate) language: &'static str,
    pub(crate) word: String,
    /// The file of the program, without its ending.
    pub(crate) file: &'static str,
    /// What the program's list has and the deployment's lacks.
    pub(crate) lost: Vec<&'static str>,
}

/// The lists of the program that a deployment's group takes the place of, where that loses words.
pub(crate) fn replaced_lists(group: &SynonymGroup) -> Vec<ReplacedList> {
    let own: Vec<(usize, PhraseKey)> = keys(group).collect();
    let lost_by = |(language, word): (usize, &String)| {
        let shipped = SynonymTable::shipped().find(phrase_key(word, language)?, language).next()?;
        let is_lost = |other: &&str| phrase_key(other, language).is_some_and(|key| !own.contains(&(language, key)));
        let lost: Vec<&str> = shipped.words(language).filter(is_lost).collect();
        let list = ReplacedList { language: LANGUAGES[language], word: word.clone(), file: shipped.file(), lost };
        (!list.lost.is_empty()).then_some(list)
    };
    words_of(group).filter_map(lost_by).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_words_may_be_one() {
        let own = OwnSynonyms::default();
        let names = |words: &[&str]| own.subjects_in(words).iter().any(|subject| subject.words == (0..2));
        assert!(names(&["rain", "coat"]) && names(&["lap", "top"]));
        assert!(!names(&["green", "coat"]) && !names(&["rain"]));
    }

    #[test]
    fn a_word_names_what_is_written_so_and_not_what_only_has_its_stem() {
        let own = OwnSynonyms::default();
        let names = |word: &str, other: &str| {
            let subjects = own.subjects_in(&[word]);
            let french =
                subjects.into_iter().filter(|subject| LANGUAGES[subject.language] == "fr" && subject.is_written);
            french.flat_map(|subject| subject.synonyms).any(|synonym| synonym.parts == [other])
        };
        for word in ["etagere", "etageres"] {
            assert!(names(word, "shelf") && !names(word, "floor"), "{word}");
        }
        assert!(names("etage", "floor") && !names("etages", "shelf"));
        // German has the stem alone.
        assert!(own.subjects_in(&["etagere"]).iter().all(|subject| subject.is_written == (subject.language == 2)));
    }

    #[test]
    fn the_beginning_of_a_word_names_nothing() {
        let own = OwnSynonyms::default();
        let names = |word: &str, code: &str| {
            let subjects = own.subjects_in(&[word]);
            subjects.iter().any(|subject| LANGUAGES[subject.language] == code)
        };
        for (whole, begun, code) in [("langue", "langu", "fr"), ("ordinateur", "ordin", "fr")] {
            assert!(names(whole, code) && !names(begun, code), "{whole}");
        }
        // One thing of what is usually named as many, and many of one.
        assert!(names("suncream", "en") && names("suncreams", "en") && !names("suncre", "en"));
        assert!(names("trouser", "en") && names("jackets", "en") && names("jacken", "de"));
    }
}
