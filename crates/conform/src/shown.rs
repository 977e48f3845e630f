//! This module makes what was sent and what came fit for a report: within bounds, on any terminal, and without
//! the secrets that were sent.

use forecourt_client::printable::printable;

/// What must not be shown, wherever it turns up.
#[derive(Clone, Default)]
pub struct Secrets(Vec<String>);

impl Secrets {
    /// The words that must not be shown. Empty ones are none.
    pub fn new(words: impl IntoIterator<Item = String>) -> Self {
        Self(words.into_iter().filter(|word| !word.is_empty()).collect())
    }

    /// A text without secrets and without what a terminal would obey, cut at `chars_max`.
    pub fn shown(&self, bytes: &[u8], chars_max: usize) -> String {
        // Cut before it is searched: an answer may have megabytes. A secret that the cut goes through is left out
        // too, since the rest of the text is dropped from its longest known beginning on.
        let head = bytes.get(..chars_max.saturating_mul(4)).unwrap_or(bytes);
        let mut text = String::from_utf8_lossy(head).replace("\r\n", "\n");
        for secret in &self.0 {
            text = text.replace(secret.as_str(), "[secret]");
            if head.len() < bytes.len() {
                cut_beginning_of(secret, &mut text);
            }
        }
        let mut text = printable(text.trim_end());
        let is_cut = head.len() < bytes.len();
        match text.char_indices().nth(chars_max) {
            Some((at, _)) => text.truncate(at),
            None if !is_cut => return text,
            None => {}
        }
        text.push('…');
        text
    }
}

/// Takes a beginning of `secret` away from the end of `text`.
fn cut_beginning_of(secret: &str, text: &mut String) {
    let beginnings = secret.char_indices().map(|(at, c)| &secret[..at + c.len_utf8()]);
    let longest = beginnings.filter(|beginning| text.ends_with(beginning)).map(str::len).max();
    text.truncate(text.len() - longest.unwrap_or(0));
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secrets").field("count", &self.0.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_never_shown_not_even_their_beginning_at_a_cut() {
        let secrets = Secrets::new(["tokentokentoken".to_owned(), String::new()]);
        assert_eq!(secrets.shown(b"a tokentokentoken b", 100), "a [secret] b");
        for chars_max in 0..30 {
            let text = secrets.shown("é tokentokentoken and more and more".as_bytes(), chars_max);
            assert!(!text.contains("toke"), "{chars_max}: {text}");
        }
        assert_eq!(format!("{secrets:?}"), "Secrets { count: 1 }");
    }

    #[test]
    fn what_a_terminal_would_obey_is_left_out_and_long_texts_are_cut() {
        let secrets = Secrets::default();
        assert_eq!(secrets.shown(b"a\x1b[31m\r\nb\n", 100), "a[31m\nb");
        assert_eq!(secrets.shown(b"abc", 3), "abc");
        assert_eq!(secrets.shown(b"abcd", 3), "abc…");
        assert_eq!(secrets.shown(&[0xff; 1000], 3).chars().count(), 4);
    }
}
