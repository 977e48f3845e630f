//! The sentence that says why a hit is one.

use unicode_segmentation::UnicodeSegmentation;

use crate::analysis::{LanguageAnalyzer, Words};
use crate::limits::{SNIPPET_BYTES_READ, SNIPPET_CHARS_MAX};

/// The sentence of `text` with the most distinct stems of the query; the first one if none has
/// any. Cut at a word when it is too long.
pub(super) fn snippet(text: &str, stems: &[&str], tongue: LanguageAnalyzer) -> String {
    let mut end = text.len().min(SNIPPET_BYTES_READ);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = &text[..end];
    if text.len() <= SNIPPET_CHARS_MAX && !text.contains('\n') {
        return text.trim().to_owned();
    }
    let mut words = Words::default();
    let mut best = (0, "");
    for sentence in text.unicode_sentences().map(str::trim).filter(|sentence| !sentence.is_empty()) {
        words.read(sentence, tongue);
        let found = stems.iter().filter(|stem| words.iter().any(|word| word == **stem)).count();
        if best.1.is_empty() || found > best.0 {
            best = (found, sentence);
        }
        // No later sentence has more.
        if found == stems.len() {
            break;
        }
    }
    shorten(best.1)
}

/// At most [`SNIPPET_CHARS_MAX`] characters, white space collapsed, with an ellipsis if cut.
fn shorten(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count() + usize::from(chars > 0);
        if chars + length > SNIPPET_CHARS_MAX - 1 {
            if chars == 0 {
                out.extend(word.chars().take(SNIPPET_CHARS_MAX - 1));
            }
            out.push('…');
            return out;
        }
        if chars > 0 {
            out.push(' ');
        }
        out.push_str(word);
        chars += length;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_sentence_with_most_of_the_query_wins() {
        let text =
            format!("{} It opens slowly. A chickpea stew with lemon follows. The end.", "Intro words. ".repeat(20));
        let words = Words::of("lemon chickpeas", LanguageAnalyzer::ENGLISH);
        let stems: Vec<&str> = words.iter().collect();
        assert_eq!(snippet(&text, &stems, LanguageAnalyzer::ENGLISH), "A chickpea stew with lemon follows.");
        assert_eq!(snippet(&text, &[], LanguageAnalyzer::ENGLISH), "Intro words.");
    }

    #[test]
    fn a_snippet_ends_at_the_bound() {
        let exact = "x".repeat(SNIPPET_CHARS_MAX);
        assert_eq!(snippet(&exact, &[], LanguageAnalyzer::ENGLISH), exact);
        let longer = snippet(&format!("{exact}x"), &[], LanguageAnalyzer::ENGLISH);
        assert_eq!(longer.chars().count(), SNIPPET_CHARS_MAX);
        assert!(longer.ends_with('…'));
    }

    proptest! {
        #[test]
        fn any_text_has_a_bounded_snippet(text in ".{0,600}", stem in "[a-z]{1,3}") {
            prop_assert!(snippet(&text, &[&stem], LanguageAnalyzer::ENGLISH).chars().count() <= SNIPPET_CHARS_MAX);
        }
    }
}
