//! A text as words that can be compared: folded, in the singular, with the places where it pauses.

use crate::fold::{fold_char, is_plain};
use crate::limits::JUDGED_WORDS_MAX;

/// The languages that words can be given in.
pub const LANGUAGES: [&str; 4] = ["en", "de", "fr", "es"];

/// The words of one text. A buffer that is used again for the next one.
#[derive(Debug, Default)]
pub(crate) struct TextWords {
    letters: String,
    words: Vec<TextWord>,
}

/// One word of a text.
#[derive(Debug, Clone, Copy)]
struct TextWord {
    start: usize,
    end: usize,
    /// Counted from 0: commas, brackets and the like begin another one.
    segment: u32,
    /// Counted from 0: full stops and lines begin another one.
    sentence: u32,
}

impl TextWords {
    /// Replaces what is here by the words of a text, at most [`JUDGED_WORDS_MAX`].
    pub(crate) fn read(&mut self, text: &str, language: &str) {
        self.letters.clear();
        self.words.clear();
        let (mut segment, mut sentence) = (0, 0);
        let mut rest = text.char_indices().peekable();
        while let Some((at, first)) = rest.next() {
            if !is_word_char(first) {
                let ends_sentence = matches!(first, '\n' | '!' | '?')
                    || (first == '.' && rest.peek().is_none_or(|(_, next)| next.is_whitespace()));
                sentence += u32::from(ends_sentence);
                segment += u32::from(ends_sentence || is_pause(first));
                continue;
            }
            if self.words.len() >= JUDGED_WORDS_MAX {
                return;
            }
            let mut end = at + first.len_utf8();
            while let Some((at, next)) = rest.next_if(|(_, next)| is_word_char(*next)) {
                end = at + next.len_utf8();
            }
            let word = &text[at..end];
            // What is left of "chef's" after its word.
            let is_genitive = text[..at].ends_with(['\'', '’']) && word.eq_ignore_ascii_case("s");
            if !is_genitive {
                self.push(word, language, segment, sentence);
            }
        }
    }

    fn push(&mut self, word: &str, language: &str, segment: u32, sentence: u32) {
        let start = self.letters.len();
        match is_plain(word) {
            true => {
                self.letters.push_str(word);
                self.letters[start..].make_ascii_lowercase();
            }
            false => word.chars().for_each(|c| fold_char(c, &mut self.letters)),
        }
        singular(&mut self.letters, start, language);
        let end = self.letters.len();
        if end > start {
            self.words.push(TextWord { start, end, segment, sentence });
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    pub(crate) fn get(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| &self.letters[word.start..word.end])
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|at| self.get(at))
    }

    pub(crate) fn segment(&self, at: usize) -> u32 {
        self.words.get(at).map_or(u32::MAX, |word| word.segment)
    }

    pub(crate) fn sentence(&self, at: usize) -> u32 {
        self.words.get(at).map_or(u32::MAX, |word| word.sentence)
    }
}

/// The words of a phrase with a space between them, as they are compared: folded, in the singular of one of
/// [`LANGUAGES`].
pub fn compared(phrase: &str, language: &str) -> String {
    let mut words = TextWords::default();
    words.read(phrase, language);
    words.iter().collect::<Vec<_>>().join(" ")
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || (!c.is_ascii() && unicode_normalization::char::is_combining_mark(c))
}

fn is_pause(c: char) -> bool {
    matches!(c, ',' | ';' | ':' | '(' | ')' | '[' | ']' | '/' | '|' | '–' | '—' | '•' | '+')
}

/// Cuts the plural off the word that begins at `start`. Not a word of the language need be left: what counts is
/// that both forms become the same. German plurals are too manifold; its words are given in all forms.
fn singular(letters: &mut String, start: usize, language: &str) {
    let cut = |letters: &mut String, bytes: usize| letters.truncate(letters.len() - bytes);
    let word = &letters[start..];
    // Short words lose too much: "gas" and "bus" are no plurals.
    if !word.is_ascii() || word.len() < 4 {
        return;
    }
    match language {
        "en" => match word {
            _ if word.len() > 4 && word.ends_with("ies") => {
                cut(letters, 3);
                letters.push('y');
            }
            // Not a plural: "cookie" must become what "cookies" became, which is "cooky".
            _ if word.len() > 4 && word.ends_with("ie") => {
                cut(letters, 2);
                letters.push('y');
            }
            _ if ["ches", "shes", "xes", "zes", "sses", "oes"].iter().any(|end| word.ends_with(end)) => cut(letters, 2),
            // Singulars that end like cut plurals: "quiche" must become what "quiches" became.
            _ if ["che", "she", "xe", "ze", "sse"].iter().any(|end| word.ends_with(end)) => cut(letters, 1),
            _ if word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end)) => cut(letters, 1),
            _ => {}
        },
        "fr" if word.ends_with(['s', 'x']) => cut(letters, 1),
        "es" => {
            if word.ends_with('s') {
                cut(letters, 1);
            }
            if letters.ends_with('e') {
                cut(letters, 1);
            }
            if letters.ends_with('c') {
                cut(letters, 1);
                letters.push('z');
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_numbers_of_a_word_are_the_same() {
        let pairs = [
            ("en", "egg eggs"),
            ("en", "cookie cookies"),
            ("en", "anchovy anchovies"),
            ("en", "tomato tomatoes"),
            ("en", "quiche quiches"),
            ("en", "radish radishes"),
            ("en", "pie pies"),
            ("en", "olive olives"),
            ("en", "sauce sauces"),
            ("fr", "œuf oeufs"),
            ("fr", "gâteau gâteaux"),
            ("es", "nuez nueces"),
            ("es", "leche leches"),
            ("es", "limón limones"),
            ("es", "huevo huevos"),
        ];
        for (language, pair) in pairs {
            let (one, many) = pair.split_once(' ').unwrap();
            assert_eq!(compared(one, language), compared(many, language), "{pair}");
        }
        for word in ["hummus", "molasses", "swiss", "asparagus"] {
            assert_ne!(compared(word, "en"), word.trim_end_matches(['s', 'u']), "{word}");
        }
    }

    #[test]
    fn a_text_pauses_at_brackets_and_ends_at_full_stops() {
        let mut words = TextWords::default();
        words.read("Chef's mix (1.5 oz., no nuts). Stir", "en");
        assert_eq!(words.iter().collect::<Vec<_>>(), ["chef", "mix", "1", "5", "oz", "no", "nut", "stir"]);
        assert_ne!(words.segment(1), words.segment(2));
        assert_eq!((words.sentence(2), words.segment(5)), (words.sentence(3), words.segment(6)));
        assert_ne!(words.sentence(6), words.sentence(7));
    }

    #[test]
    fn words_are_read_up_to_the_bound() {
        let mut words = TextWords::default();
        words.read(&"x ".repeat(JUDGED_WORDS_MAX), "en");
        assert_eq!(words.len(), JUDGED_WORDS_MAX);
        words.read(&"x ".repeat(JUDGED_WORDS_MAX + 1), "en");
        assert_eq!(words.len(), JUDGED_WORDS_MAX);
    }

    proptest! {
        #[test]
        fn any_text_has_words_that_are_compared_as_they_are(text in any::<String>(), at in 0..4usize) {
            let once = compared(&text, LANGUAGES[at]);
            prop_assert!(!once.contains("  ") && once.trim() == once);
        }
    }
}
