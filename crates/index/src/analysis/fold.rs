//! Letters without their accents.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Appends a lower-case character to `out`: Latin letters without accents, others as they are.
pub(crate) fn fold_char(c: char, out: &mut String) {
    match c {
        _ if c.is_ascii() => out.push(c),
        // NFKD leaves these whole: a ligature or a stroke through a letter is no combining mark.
        'ß' => out.push_str("ss"),
        'æ' => out.push_str("ae"),
        'œ' => out.push_str("oe"),
        'ø' => out.push('o'),
        'đ' | 'ð' => out.push('d'),
        'ł' => out.push('l'),
        'ı' => out.push('i'),
        'þ' => out.push_str("th"),
        'ς' => out.push('σ'),
        _ => fold_other(c, out),
    }
}

/// Decomposes; only where an ASCII letter or digit comes first are the marks accents. In other
/// scripts they tell words apart.
fn fold_other(c: char, out: &mut String) {
    let mut parts = std::iter::once(c).nfkd();
    match parts.next() {
        Some(base) if base.is_ascii_alphanumeric() => {
            out.push(base.to_ascii_lowercase());
            // A fraction has several characters in it: of `½` the digits stay, and the stroke between them goes.
            out.extend(parts.filter(char::is_ascii_alphanumeric));
        }
        _ if is_accent(c) => {}
        // The character itself and not its parts: `が` and `か` are different letters.
        _ => out.push(c),
    }
}

/// A mark that stands alone after its letter, as in decomposed text.
fn is_accent(c: char) -> bool {
    ('\u{300}'..='\u{36F}').contains(&c) && is_combining_mark(c)
}

/// A whole text in lower case, without accents, white space collapsed: how two facts are compared.
pub(crate) fn fold_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        if word.is_ascii() {
            let start = out.len();
            out.push_str(word);
            out[start..].make_ascii_lowercase();
            continue;
        }
        word.chars().flat_map(char::to_lowercase).for_each(|c| fold_char(c, &mut out));
    }
    out
}

/// Each run of one letter once: what is doubled by one hand is not by another.
pub(crate) fn without_doubles(letters: impl Iterator<Item = char>) -> String {
    let mut out = String::new();
    for letter in letters {
        if !out.ends_with(letter) {
            out.push(letter);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accents_go_and_other_scripts_stay() {
        assert_eq!(fold_text("  Crème\tBRÛLÉE "), "creme brulee");
        assert_eq!(fold_text("Cre\u{300}me"), "creme");
        assert_eq!(fold_text("Straße Smørrebrød"), "strasse smorrebrod");
        assert_eq!(fold_text("が й"), "が й");
        assert_eq!(fold_text("① ½"), "1 12");
    }
}
