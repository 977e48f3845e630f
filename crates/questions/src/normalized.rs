//! A question as it is kept: nobody's own.

use crate::limits::{DIGITS_MAX, QUESTION_BYTES_MAX};

/// A question in lower case with single spaces, without addresses of mail and of the web, and without numbers that
/// look like those of a telephone, a card or an account; at most [`QUESTION_BYTES_MAX`] bytes. `None`: nothing is
/// left.
pub fn normalized(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut kept: Vec<String> = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let run = words[at..].iter().take_while(|word| is_numeric(word)).count();
        match run {
            0 => kept.extend(word(words[at])),
            // Blocks of digits are one number, however they are cut: 4111 1111 1111 1111.
            _ if digits(&words[at..at + run]) > DIGITS_MAX => kept.push("[number]".to_owned()),
            _ => kept.extend(words[at..at + run].iter().map(|word| word.to_lowercase())),
        }
        at += run.max(1);
    }
    let text = kept.join(" ");
    // Cut last, when all that is personal is out: a cut number would be too short to be recognised.
    let mut end = text.len().min(QUESTION_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = text[..end].trim_matches(|c: char| c.is_whitespace() || matches!(c, '?' | '!' | '.' | ',')).to_owned();
    text.chars().any(char::is_alphanumeric).then_some(text)
}

/// A word that is kept, or what stands for it.
fn word(word: &str) -> Option<String> {
    // A mention names an agent, and has nothing before its sign.
    if word.find('@').is_some_and(|at| at > 0) {
        return Some("[address]".to_owned());
    }
    if word.contains("://") || word.starts_with("www.") {
        return Some("[link]".to_owned());
    }
    // Also with letters around it: an IBAN or an order number is somebody's too.
    if digits(&[word]) > DIGITS_MAX {
        return Some("[number]".to_owned());
    }
    let word: String = word.to_lowercase().chars().filter(|c| !c.is_control()).collect();
    (!word.is_empty()).then_some(word)
}

fn digits(words: &[&str]) -> usize {
    words.iter().flat_map(|word| word.chars()).filter(|c| c.is_numeric()).count()
}

/// Whether a word is digits and what stands between and around them.
fn is_numeric(word: &str) -> bool {
    let is_part = |c: char| c.is_numeric() || matches!(c, '-' | '/' | '(' | ')' | '+' | '.' | ',' | ':');
    word.chars().any(char::is_numeric) && word.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_somebodys_own_is_taken_out() {
        for (asked, kept) in [
            ("  Soup   under 30 MINUTES? ", "soup under 30 minutes"),
            ("call me at +49 (0)170 1234567 please", "call me at [number] please"),
            ("my card 4111 1111 1111 1111", "my card [number]"),
            ("4111-1111-1111-1111!", "[number]"),
            ("mail ann@example.com about it", "mail [address] about it"),
            ("DE89370400440532013000", "[number]"),
            ("what is https://e.org/?token=secret", "what is [link]"),
            ("films from 1999 under 20 €", "films from 1999 under 20 €"),
        ] {
            assert_eq!(normalized(asked).as_deref(), Some(kept), "{asked}");
        }
        assert_eq!(normalized(" ?! "), None);
        assert_eq!(normalized(""), None);
    }

    #[test]
    fn questions_and_numbers_end_at_their_bounds() {
        let long = |bytes: usize| normalized(&"x".repeat(bytes)).unwrap().len();
        assert_eq!((long(QUESTION_BYTES_MAX), long(QUESTION_BYTES_MAX + 1)), (QUESTION_BYTES_MAX, QUESTION_BYTES_MAX));
        let number = |digits: usize| normalized(&format!("a {}", "7".repeat(digits))).unwrap();
        assert!(!number(DIGITS_MAX).contains('[') && number(DIGITS_MAX + 1).contains('['));
    }

    proptest! {
        #[test]
        fn no_text_keeps_a_long_number(text in ".{0,80}", number in "[0-9]{7,20}") {
            let kept = normalized(&format!("{text} {number} {text}")).unwrap_or_default();
            prop_assert!(!kept.contains(&number));
            prop_assert!(kept.len() <= QUESTION_BYTES_MAX);
        }
    }
}
