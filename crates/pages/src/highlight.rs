//! Which words of an item are those of a question.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::escape;
use crate::limits::HIGHLIGHTED_WORDS_MAX;

/// Words that say how the others belong together, in the languages of this program: they match everywhere.
pub const FUNCTION_WORDS: &str = include_str!("../assets/function_words.txt");

static FUNCTION: LazyLock<HashSet<String>> = LazyLock::new(|| FUNCTION_WORDS.split_whitespace().map(fold).collect());

/// Letters of a word that is worth marking; shorter ones are, where they are numbers.
const LETTERS_MIN: usize = 3;
/// Letters in which two forms of one word begin alike, at least.
const ALIKE_MIN: usize = 4;
/// Letters in which their endings differ, at most.
const ENDING_MAX: usize = 3;

/// The words of a question, as they are looked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Words(Vec<Vec<char>>);

impl Words {
    /// The words of these texts, at most [`HIGHLIGHTED_WORDS_MAX`].
    pub(crate) fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let pieces = texts.into_iter().flat_map(pieces).filter(|(_, is_word)| *is_word).map(|(piece, _)| fold(piece));
        let telling = pieces.filter(|word| tells(word));
        Self(telling.take(HIGHLIGHTED_WORDS_MAX).map(|word| word.chars().collect()).collect())
    }

    /// Text as HTML in which the words are marked.
    pub(crate) fn marked(&self, text: &str) -> String {
        let mut html = String::with_capacity(text.len() + 16);
        for (piece, is_word) in pieces(text) {
            match is_word && self.knows(piece) {
                true => html.extend(["<mark>", &escape::text(piece), "</mark>"]),
                false => html.push_str(&escape::text(piece)),
            }
        }
        html
    }

    /// Whether one of the words is in a text.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        pieces(text).any(|(piece, is_word)| is_word && self.knows(piece))
    }

    /// Whether this word is one of them.
    pub(crate) fn knows(&self, piece: &str) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let word: Vec<char> = fold(piece).chars().collect();
        self.0.iter().any(|asked| is_form(asked, &word))
    }
}

/// Whether a word says something by itself: a number, or a word that does not only join others.
pub(crate) fn is_telling(word: &str) -> bool {
    tells(&fold(word))
}

fn tells(folded: &str) -> bool {
    let is_number = folded.chars().all(char::is_numeric);
    is_number || (folded.chars().count() >= LETTERS_MIN && !FUNCTION.contains(folded))
}

/// Whether two words are forms of one, as far as can be seen without a dictionary.
fn is_form(a: &[char], b: &[char]) -> bool {
    let alike = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (short, long) = (a.len().min(b.len()) - alike, a.len().max(b.len()) - alike);
    // One is the other with an ending, or both have one of their own: `berry` and `berries`. A short word has one
    // form beside it, its plural.
    (short == 0 && long == 0)
        || (alike >= ALIKE_MIN && short <= 1 && long <= ENDING_MAX)
        || (alike >= LETTERS_MIN && short == 0 && long == 1)
}

/// Lower case, and without the accents of Latin letters.
fn fold(word: &str) -> String {
    word.chars().flat_map(char::to_lowercase).map(bare).collect()
}

fn bare(letter: char) -> char {
    match letter {
        'à'..='å' => 'a',
        'ç' => 'c',
        'è'..='ë' => 'e',
        'ì'..='ï' => 'i',
        'ñ' => 'n',
        'ò'..='ö' => 'o',
        'ù'..='ü' => 'u',
        other => other,
    }
}

/// A text in pieces: words, and what is between them.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let is_word = first.is_alphanumeric();
        let end = rest.find(|c: char| c.is_alphanumeric() != is_word).unwrap_or(rest.len());
        let (piece, behind) = rest.split_at(end);
        rest = behind;
        Some((piece, is_word))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marked(question: &str, text: &str) -> String {
        Words::of([question]).marked(text)
    }

    #[test]
    fn words_are_marked_in_their_forms() {
        for (question, text, html) in [
            ("chickpea soup", "Chickpeas in a soup", "<mark>Chickpeas</mark> in a <mark>soup</mark>"),
            ("pies", "One pie", "One <mark>pie</mark>"),
            ("Crème", "creme brûlée", "<mark>creme</mark> brûlée"),
            ("a rain jacket under 60", "60 rain jackets", "<mark>60</mark> <mark>rain</mark> <mark>jackets</mark>"),
            ("something with that", "something with that", "something with that"),
            ("ohne Nüsse", "ohne Nusse", "ohne <mark>Nusse</mark>"),
            ("car", "carpet", "carpet"),
            ("chickpea", "chicken", "chicken"),
            ("berry", "berries", "<mark>berries</mark>"),
            ("a jacket for the school", "for the", "for the"),
            ("", "anything", "anything"),
            ("b", "<b>&", "&lt;b&gt;&amp;"),
        ] {
            assert_eq!(marked(question, text), html, "{question}");
        }
    }

    #[test]
    fn words_that_are_looked_for_are_bounded() {
        let of = |count: usize| (0..count).map(|n| format!("word{n:05}x")).collect::<Vec<_>>().join(" ");
        assert_eq!(Words::of([of(HIGHLIGHTED_WORDS_MAX + 1).as_str()]).0.len(), HIGHLIGHTED_WORDS_MAX);
        assert_eq!(Words::of([of(HIGHLIGHTED_WORDS_MAX).as_str()]).0.len(), HIGHLIGHTED_WORDS_MAX);
    }

    proptest! {
        #[test]
        fn nothing_but_marks_becomes_markup(question in "\\PC{0,40}", text in "\\PC{0,80}|[<>&\"'a-c ]{0,30}") {
            let html = marked(&question, &text);
            prop_assert_eq!(html.replace("<mark>", "").replace("</mark>", ""), escape::text(&text));
        }
    }
}
