//! How letters are compared.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A text in lower case, without accents, its words one space apart.
pub fn folded(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    text.chars().for_each(|c| fold_char(c, &mut plain));
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
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
    use super::*;

    #[test]
    fn words_are_compared_without_case_accents_and_width_of_gaps() {
        assert_eq!(folded("  Crème\tFraîche "), "creme fraiche");
        assert_eq!((folded("ŒUFS"), folded("Nüsse"), folded("weiß")), ("oeufs".into(), "nusse".into(), "weiss".into()));
        assert_eq!(folded("Cre\u{300}me"), "creme");
    }
}
