//! Stems that were worked out before. A text repeats its words, and a collection repeats them more.

use std::borrow::Cow;

use forecourt_vocabulary::ends_in_plural_s;

use super::LanguageAnalyzer;
use super::fold::fold_char;

/// Words remembered at once, a place for each hash; a new word takes the place of the old one.
const PLACES: usize = 4_096;
/// Words that are worked out before any is remembered. The places are 188 KB that are written before their first use: a
/// text pays for them, and a question, a name or a word would not.
const REMEMBERED_FROM: usize = 200;
/// Bytes of a word and its stem together; longer ones are worked out each time.
const PLACE_BYTES: usize = 44;

/// A cache of the stems of one language. Asking for another language empties it.
#[derive(Clone, Default)]
pub(super) struct Stems {
    tongue: Option<LanguageAnalyzer>,
    /// Words asked for in this language, until there are [`REMEMBERED_FROM`].
    asked: usize,
    /// Empty until then.
    places: Vec<Place>,
    other: String,
}

/// A word and its stem, side by side: one look into memory finds both.
#[derive(Clone, Copy)]
struct Place {
    word: u8,
    stem: u8,
    bytes: [u8; PLACE_BYTES],
}

const EMPTY: Place = Place { word: 0, stem: 0, bytes: [0; PLACE_BYTES] };

impl Place {
    fn holds(&self, word: &str) -> bool {
        self.bytes.get(..self.word.into()) == Some(word.as_bytes())
    }

    fn stem(&self) -> &str {
        let start = usize::from(self.word);
        let bytes = self.bytes.get(start..start + usize::from(self.stem)).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    /// `None` when the two are too long.
    fn new(word: &str, stem: &str) -> Option<Self> {
        let mut place = Self { word: word.len().try_into().ok()?, stem: stem.len().try_into().ok()?, ..EMPTY };
        place.bytes.get_mut(..word.len())?.copy_from_slice(word.as_bytes());
        place.bytes.get_mut(word.len()..word.len() + stem.len())?.copy_from_slice(stem.as_bytes());
        Some(place)
    }
}

impl Stems {
    /// The stem of a lower-case word, without accents. The word itself in a tongue without stems.
    pub(super) fn stem(&mut self, word: &str, tongue: LanguageAnalyzer) -> &str {
        // A place does not say of which language its stem is: `peas` has another one in English than elsewhere.
        if self.tongue != Some(tongue) {
            self.places.clear();
            (self.tongue, self.asked) = (Some(tongue), 0);
        }
        if self.places.is_empty() {
            if self.asked < REMEMBERED_FROM {
                self.asked += 1;
                self.other = work_out(word, tongue);
                return &self.other;
            }
            self.places.resize(PLACES, EMPTY);
        }
        let at = hash(word) % PLACES;
        if !self.places[at].holds(word) {
            let stem = work_out(word, tongue);
            match Place::new(word, &stem) {
                Some(place) => self.places[at] = place,
                None => {
                    self.other = stem;
                    return &self.other;
                }
            }
        }
        self.places[at].stem()
    }
}

impl std::fmt::Debug for Stems {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stems({:?})", self.tongue)
    }
}

fn work_out(word: &str, tongue: LanguageAnalyzer) -> String {
    let stemmer = tongue.stemmer();
    let mut stem: Cow<'_, str> = stemmer.as_ref().map_or(word.into(), |stemmer| stemmer.stem(word));
    let is_plural_s = tongue.keeps_plural_s() && *stem != *word && ends_in_plural_s(&stem);
    if let Some(stemmer) = stemmer.as_ref().filter(|_| is_plural_s) {
        stem = stemmer.stem(&stem).into_owned().into();
    }
    let mut folded = String::with_capacity(stem.len());
    stem.chars().for_each(|c| fold_char(c, &mut folded));
    // A word of nothing but marks would fold to nothing.
    if folded.is_empty() { word.to_owned() } else { folded }
}

/// FNV-1a: words are short, and nobody gains by making them collide.
fn hash(word: &str) -> usize {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = word.bytes().fold(0x811c_9dc5, step);
    // `% PLACES` takes the low bits, which FNV-1a mixes least: the high ones are folded into them.
    (hash ^ (hash >> 15)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_words_have_their_stems_without_room_for_many() {
        let mut stems = Stems::default();
        for n in 0..REMEMBERED_FROM {
            assert_eq!(stems.stem(&format!("pea{n}s"), LanguageAnalyzer::OTHER), format!("pea{n}s"));
        }
        assert_eq!(stems.stem("peas", LanguageAnalyzer::ENGLISH), "pea");
        assert!(stems.places.is_empty());
        (0..REMEMBERED_FROM).for_each(|_| assert_eq!(stems.stem("beans", LanguageAnalyzer::ENGLISH), "bean"));
        assert_eq!(stems.places.len(), PLACES);
    }

    #[test]
    fn stems_are_remembered_by_tongue_and_never_mixed_up() {
        let mut stems = Stems::default();
        assert_eq!(stems.stem("peas", LanguageAnalyzer::ENGLISH), "pea");
        assert_eq!(stems.stem("peas", LanguageAnalyzer::OTHER), "peas");
        for round in 0..2 {
            for n in 0..2 * PLACES {
                let word = format!("w{n}");
                assert_eq!(stems.stem(&word, LanguageAnalyzer::OTHER), word, "round {round}");
            }
        }
        assert_eq!(stems.stem("peas", LanguageAnalyzer::ENGLISH), "pea");
    }

    #[test]
    fn german_plurals_are_their_singular() {
        let mut stems = Stems::default();
        let german = LanguageAnalyzer::of("de");
        for (one, many) in [("kurs", "kurse"), ("töpferkurs", "töpferkursen"), ("gans", "gänse"), ("preis", "preise")]
        {
            assert_eq!(stems.stem(one, german).to_owned(), stems.stem(many, german), "{one}");
        }
    }

    #[test]
    fn long_words_have_stems_too() {
        for length in [PLACE_BYTES / 2, PLACE_BYTES / 2 + 1, 300] {
            let word = "x".repeat(length);
            assert_eq!(Stems::default().stem(&word, LanguageAnalyzer::OTHER), word);
        }
    }
}
