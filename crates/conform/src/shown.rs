//! This module makes what was sent and what came fit for a report: within bounds, on any terminal, and without
//! the secrets that were sent.

use forecourt_client::printable::printable;

use crate::limits::{SHOWN_BODY_CHARS_MAX, SHOWN_HEAD_LINE_CHARS_MAX, SHOWN_HEAD_LINES_MAX};

/// What must not be shown, wherever it turns up.
#[derive(Clone, Default)]
pub struct Secrets(Vec<String>);

impl Secrets {
    /// The words that must not be shown. Empty ones are none.
    pub fn new(words: impl IntoIterator<Item = String>) -> Self {
        Self(words.into_iter().filter(|word| !word.is_empty()).collect())
    }

    /// A message without secrets and without what a terminal would obey: its head with long lines cut, and its body
    /// within its bound. Where something is cut, it says so.
    pub fn shown(&self, head: &str, body: &[u8]) -> String {
        let mut text = self.shown_head(head);
        if !body.is_empty() {
            text.push_str(if text.is_empty() { "" } else { "\n\n" });
            text.push_str(&self.shown_body(body));
        }
        text
    }

    fn shown_head(&self, head: &str) -> String {
        let mut head = head.trim_end().replace("\r\n", "\n");
        // Before lines are cut: half a secret would not be found.
        for secret in &self.0 {
            head = head.replace(secret.as_str(), "[secret]");
        }
        let head = printable(&head);
        let mut lines: Vec<String> = head.lines().take(SHOWN_HEAD_LINES_MAX).map(cut_line).collect();
        if let Some(more @ 1..) = head.lines().count().checked_sub(SHOWN_HEAD_LINES_MAX) {
            lines.push(format!("… ({more} more lines)"));
        }
        lines.join("\n")
    }

    fn shown_body(&self, body: &[u8]) -> String {
        const MAX: usize = SHOWN_BODY_CHARS_MAX;
        // Cut before it is searched: an answer may have megabytes. A secret that the cut goes through is left out
        // too, since the rest of the text is dropped from its longest known beginning on.
        let start = body.get(..MAX.saturating_mul(4)).unwrap_or(body);
        let mut text = String::from_utf8_lossy(start).replace("\r\n", "\n");
        for secret in &self.0 {
            text = text.replace(secret.as_str(), "[secret]");
            if start.len() < body.len() {
                cut_beginning_of(secret, &mut text);
            }
        }
        let mut text = printable(text.trim_end());
        match text.char_indices().nth(MAX) {
            Some((at, _)) => text.truncate(at),
            None if start.len() == body.len() => return text,
            None => {}
        }
        text.push_str(&format!("… (cut here: the body has {} bytes, and {MAX} characters are shown)", body.len()));
        text
    }
}

fn cut_line(line: &str) -> String {
    match line.char_indices().nth(SHOWN_HEAD_LINE_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
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
        assert_eq!(secrets.shown("Authorization: tokentokentoken\r\n\r\n", b"a"), "Authorization: [secret]\n\na");
        for before in 0..40 {
            let body = "é".repeat(2 * SHOWN_BODY_CHARS_MAX - before) + "tokentokentoken and more and more";
            let text = secrets.shown("", body.as_bytes());
            assert!(!text.contains("toke"), "{before}");
            let head = "a".repeat(SHOWN_HEAD_LINE_CHARS_MAX - before) + "tokentokentoken";
            assert!(!secrets.shown(&head, b"").contains("toke"), "{before}");
        }
        assert_eq!(format!("{secrets:?}"), "Secrets { count: 1 }");
    }

    #[test]
    fn long_lines_of_a_head_are_cut_and_a_body_at_its_bound_alone() {
        let shown = |head: &str, body: &[u8]| Secrets::default().shown(head, body);
        assert_eq!(shown("GET /\r\n", b"a\x1b[31m\r\nb\n"), "GET /\n\na[31m\nb");
        let line = "a".repeat(SHOWN_HEAD_LINE_CHARS_MAX);
        assert_eq!(shown(&line, b""), line);
        assert_eq!(shown(&format!("{line}a\nb"), b""), format!("{line}…\nb"));
        let lines = "a\n".repeat(SHOWN_HEAD_LINES_MAX);
        assert_eq!(shown(&lines, b""), lines.trim_end());
        assert!(shown(&format!("{lines}b"), b"").ends_with("… (1 more lines)"));
        let body = "b".repeat(SHOWN_BODY_CHARS_MAX);
        assert!(shown("", body.as_bytes()).ends_with(&body));
        let cut = shown("", format!("{body}b").as_bytes());
        assert!(cut.ends_with("… (cut here: the body has 8193 bytes, and 8192 characters are shown)"), "{cut}");
        assert!(shown("", &[0xff; 100_000]).chars().count() < SHOWN_BODY_CHARS_MAX + 100);
    }
}
