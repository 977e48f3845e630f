//! How words are compared.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A text in lower case, without accents, its words one space apart.
pub fn folded(text: &str) -> String {
    let plain: String = text.nfd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).collect();
    let plain = plain.replace('œ', "oe").replace('æ', "ae").replace('ß', "ss");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_without_case_accents_and_width_of_gaps() {
        assert_eq!(folded("  Crème\tFraîche "), "creme fraiche");
        assert_eq!((folded("ŒUFS"), folded("Nüsse"), folded("weiß")), ("oeufs".into(), "nusse".into(), "weiss".into()));
    }
}
