//! Words brought to their stems, by which the words of questions and of groups of synonyms are compared: "Jacken" and
//! "Jacke" are one word.

use std::cell::RefCell;

use frostem::{Algorithm, Stemmer};

use crate::fold::folded;
use crate::words::LANGUAGES;

/// By the places of [`LANGUAGES`].
const STEMMERS: [Algorithm; LANGUAGES.len()] =
    [Algorithm::English, Algorithm::German, Algorithm::French, Algorithm::Spanish];

/// Words that only tie others together, by the places of [`LANGUAGES`]: questions have them or leave them out.
const TIES: [&[&str]; LANGUAGES.len()] = [
    &["a", "an", "and", "by", "for", "in", "of", "on", "or", "the", "to", "with"],
    &["am", "an", "auf", "aus", "das", "der", "die", "fur", "im", "in", "mit", "und", "von", "zu", "zum", "zur"],
    &["a", "au", "aux", "d", "de", "des", "du", "en", "et", "l", "la", "le", "les", "pour", "sur", "un", "une"],
    &["a", "al", "con", "de", "del", "el", "en", "la", "las", "lo", "los", "para", "por", "un", "una", "y"],
];

/// The stem of a word in lower case and without accents, in the language at this place. `None`: it only ties others
/// together.
pub(crate) fn stem(word: &str, language: usize) -> Option<String> {
    if TIES[language].contains(&word) {
        return None;
    }
    if word.len() > KEPT_BYTES_MAX {
        return Some(work_out(word, language));
    }
    KEPT.with_borrow_mut(|kept| {
        kept.resize_with(KEPT_MAX, KeptStem::default);
        let KeptStem { word: known, language: of, stem } = &mut kept[place(word, language)];
        if known != word || *of != language {
            *stem = work_out(word, language);
            known.clear();
            known.push_str(word);
            *of = language;
        }
        Some(stem.clone())
    })
}

/// Stems that a thread remembers, a place for each hash of a word: a question is read several times in each language, and
/// each part of each of its words is looked at for a German compound.
const KEPT_MAX: usize = 512;
/// Bytes of a word whose stem is remembered.
const KEPT_BYTES_MAX: usize = 32;

thread_local! {
    static KEPT: RefCell<Vec<KeptStem>> = const { RefCell::new(Vec::new()) };
}

/// The last word of a place, and its stem.
#[derive(Default)]
struct KeptStem {
    /// Empty: there was none. The empty word is its own stem.
    word: String,
    language: usize,
    stem: String,
}

/// FNV-1a, of which the high bits are mixed best.
fn place(word: &str, language: usize) -> usize {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = word.bytes().fold(0x811c_9dc5 ^ language as u32, step);
    (hash ^ (hash >> 15)) as usize % KEPT_MAX
}

fn work_out(word: &str, language: usize) -> String {
    let stemmer = Stemmer::new(STEMMERS[language]);
    let mut stem = stemmer.stem(word).into_owned();
    let is_german = LANGUAGES[language] == "de";
    if is_german && stem != word && ends_in_plural_s(&stem) {
        // It takes the `s` of "Kurs" for an ending, and of "Kurse" the `e` alone: what is left of that has it again.
        stem = stemmer.stem(&stem).into_owned();
    }
    // The stemmer keeps the `s` of "Autos" and "Sofas".
    if is_german
        && stem.len() >= LETTERS_MIN
        && stem.ends_with("as") | stem.ends_with("os") | stem.ends_with("is") | stem.ends_with("ys")
    {
        stem.pop();
    }
    stem
}

/// Whether a German stem, behind which an ending was taken away, ends in an `s` that the stemmer takes for one too: that of
/// "Kurse", but not that of "Preise".
pub fn ends_in_plural_s(stem: &str) -> bool {
    let mut letters = stem.chars().rev();
    letters.next() == Some('s') && letters.next().is_some_and(|letter| !"aeiouys".contains(letter))
}

/// Letters of a German word whose last `s` may be that of a plural.
const LETTERS_MIN: usize = 5;

/// A number that phrases share whose words have the same stems. `None`: it has no words.
pub(crate) fn phrase_key(phrase: &str, language: usize) -> Option<PhraseKey> {
    let mut key = PhraseKey::default();
    words_of(&folded(phrase)).filter_map(|word| stem(word, language)).for_each(|stem| key = key.then(&stem));
    (key != PhraseKey::default()).then_some(key)
}

/// The number of two words that are written as one: "suncream" is sun cream. `None`: the phrase has not two words, or
/// one of them is too short to be seen in the other.
pub(crate) fn joined_key(phrase: &str, language: usize) -> Option<PhraseKey> {
    let folded = folded(phrase);
    let mut words = words_of(&folded);
    let (first, second) = (words.next()?, words.next()?);
    let is_joined = words.next().is_none() && first.len().min(second.len()) >= JOINED_LETTERS_MIN;
    is_joined.then(|| phrase_key(&format!("{first}{second}"), language)).flatten()
}

/// Letters of each of two words that may be written as one.
const JOINED_LETTERS_MIN: usize = 3;

/// The bytes of the words of a phrase that do more than tie others together, without accents.
pub(crate) fn phrase_letters(phrase: &str, language: usize) -> usize {
    words_of(&folded(phrase)).filter(|word| !TIES[language].contains(word)).map(str::len).sum()
}

fn words_of(folded: &str) -> impl Iterator<Item = &str> {
    folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty() && *word != "s")
}

/// A phrase as a number: 32 bits of a hash of its stems. Two phrases of some ten thousand hardly ever meet, and where
/// they do, a word of a question has one more group of words beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(crate) struct PhraseKey(pub(crate) u32);

impl PhraseKey {
    /// The phrase with one stem more.
    #[must_use]
    pub(crate) fn then(self, stem: &str) -> Self {
        // FNV-1a, which is the same in every process: the table of the program is made by another one.
        let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        let start = if self == Self::default() { 0x811c_9dc5 } else { step(self.0, b' ') };
        Self(stem.bytes().fold(start, step))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_stem_that_is_remembered_is_that_of_its_word_and_language() {
        let words: Vec<String> = (0..=KEPT_MAX).map(|n| format!("jacken{n}es")).collect();
        for _ in 0..2 {
            for (word, language) in words.iter().flat_map(|word| (0..LANGUAGES.len()).map(move |of| (word, of))) {
                assert_eq!(stem(word, language), Some(work_out(word, language)), "{word} {language}");
            }
        }
        assert_eq!(KEPT.with_borrow(Vec::len), KEPT_MAX);
        for bytes in [KEPT_BYTES_MAX, KEPT_BYTES_MAX + 1] {
            let word = "x".repeat(bytes);
            stem(&word, 0);
            let is_kept = KEPT.with_borrow(|kept| kept[place(&word, 0)].word == word);
            assert_eq!(is_kept, bytes == KEPT_BYTES_MAX);
        }
        assert_eq!((stem("", 0), stem("the", 0)), (Some(String::new()), None));
    }

    #[test]
    fn forms_of_a_word_are_one_phrase() {
        for (language, forms) in [
            (0, &["sleeping bag", "Sleeping bags", "sleeping-bags"][..]),
            (1, &["Schlafsack", "Schlafsäcke", "Schlafsäcken"]),
            (1, &["Auto", "Autos"]),
            (1, &["Töpferkurs", "Töpferkurse", "Töpferkursen"]),
            (1, &["Gans", "Gänse"]),
            (1, &["wasserdicht", "wasserdichte", "wasserdichten"]),
            (2, &["veste imperméable", "vestes imperméables", "veste impermeable"]),
            (2, &["maux de tête", "maux tête"]),
            (3, &["tienda de campaña", "tiendas de campaña"]),
            (3, &["inalámbrico", "inalámbricas"]),
        ] {
            let first = phrase_key(forms[0], language);
            assert!(first.is_some());
            forms.iter().for_each(|form| assert_eq!(phrase_key(form, language), first, "{form}"));
        }
        assert_eq!(phrase_key("für die", 1), None);
        assert_ne!(phrase_key("night", 0), phrase_key("light", 0));
    }

    #[test]
    fn two_words_are_one_where_they_are_written_so() {
        assert_eq!(joined_key("sun cream", 0), phrase_key("suncreams", 0));
        assert_eq!(joined_key("in-ear", 0), None);
        for phrase in ["cream", "hand and foot", ""] {
            assert_eq!(joined_key(phrase, 0), None, "{phrase}");
        }
    }

    proptest! {
        #[test]
        fn any_phrase_has_one_key_or_none(text in any::<String>(), language in 0..LANGUAGES.len()) {
            prop_assert_eq!(phrase_key(&text, language), phrase_key(&folded(&text), language));
        }
    }
}
