//! How letters are compared.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A text in lower case, without accents, its words one space apart.
pub fn folded(text: &str) -> String {
    let plain = folded_letters(text);
    match is_spaced(&plain) {
        true => plain,
        false => plain.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

/// A text in lower case and without accents, with the gaps between its words as they are.
pub fn folded_letters(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    // Nearly all of nearly every text is ASCII, and is taken whole.
    while let Some(at) = rest.bytes().position(|byte| !byte.is_ascii()) {
        push_lower(&rest[..at], &mut plain);
        let mut chars = rest[at..].chars();
        chars.next().into_iter().for_each(|c| fold_char(c, &mut plain));
        rest = chars.as_str();
    }
    push_lower(rest, &mut plain);
    plain
}

/// The same of a word, which mostly is as it is compared.
pub fn folded_word(word: &str) -> Cow<'_, str> {
    let is_compared = |byte: u8| byte.is_ascii_graphic() && !byte.is_ascii_uppercase();
    if word.bytes().all(is_compared) { Cow::Borrowed(word) } else { Cow::Owned(folded(word)) }
}

/// Adds ASCII in lower case.
fn push_lower(text: &str, out: &mut String) {
    let begin = out.len();
    out.push_str(text);
    out[begin..].make_ascii_lowercase();
}

/// Whether there is one space between words, none at the ends, and no other white space.
fn is_spaced(text: &str) -> bool {
    let mut before = b' ';
    let has_gap = text.bytes().any(|byte| {
        let is_gap = matches!(byte, b'\t'..=b'\r') || !byte.is_ascii() || (byte == b' ' && before == b' ');
        before = byte;
        is_gap
    });
    !has_gap && (before != b' ' || text.is_empty())
}

/// Whether a word needs no more than lower case.
pub(crate) fn is_plain(word: &str) -> bool {
    word.is_ascii()
}

/// Adds a letter in lower case, without its accents.
pub(crate) fn fold_char(c: char, out: &mut String) {
    match c {
        _ if c.is_ascii() => out.push(c.to_ascii_lowercase()),
        'œ' | 'Œ' => out.push_str("oe"),
        'æ' | 'Æ' => out.push_str("ae"),
        'ß' | 'ẞ' => out.push_str("ss"),
        // Lower case after the marks are gone: `İ` in lower case is two characters, one of which is a mark.
        _ => out.extend(std::iter::once(c).nfd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_compared_without_case_accents_and_width_of_gaps() {
        assert_eq!(folded("  Crème\tFraîche "), "creme fraiche");
        assert_eq!((folded("ŒUFS"), folded("Nüsse"), folded("weiß")), ("oeufs".into(), "nusse".into(), "weiss".into()));
        assert_eq!(folded("Cre\u{300}me"), "creme");
    }

    proptest! {
        /// Letter by letter, as it is said; what is taken whole comes to the same.
        #[test]
        fn a_text_is_folded_as_its_letters_are(text in "([A-Za-zÄéß½\u{300}\u{a0}\u{2003}東,.\"\\\\-]| |\t|\n|\u{b}|\u{1f}){0,40}") {
            let mut plain = String::new();
            text.chars().for_each(|c| fold_char(c, &mut plain));
            let expected = plain.split_whitespace().collect::<Vec<_>>().join(" ");
            prop_assert_eq!(folded(&text), expected.as_str());
            prop_assert_eq!(folded_word(&text), expected);
        }
    }
}
