//! The text of one file, and how a place in it is shown without giving a secret away.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::lines::key_of_value;
use crate::moved::KeyMove;
use crate::overrides::EnvironmentOverride;
use crate::place::Place;

/// Words in a key that make its value a secret, compared per part of a `snake_case` name.
const SECRET_WORDS: [&str; 10] = [
    "secret",
    "secrets",
    "token",
    "password",
    "passphrase",
    "credential",
    "credentials",
    "authorization",
    "key",
    "dsn",
];

/// One settings file as it was read.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) file: PathBuf,
    pub(crate) text: String,
    /// Keys that owners of sections took by their old names. Sections are cloned and read apart, so this is
    /// where they all can say so.
    moved: Mutex<Vec<KeyMove>>,
    /// The variables of the environment that go before keys of this file.
    overrides: Mutex<Vec<Arc<EnvironmentOverride>>>,
    /// What there is to say about the secrets that it names, in a sentence each.
    notices: Mutex<Vec<String>>,
}

impl Source {
    pub(crate) fn new(file: &Path, text: &str) -> Source {
        Source {
            file: file.to_path_buf(),
            text: text.to_owned(),
            moved: Mutex::default(),
            overrides: Mutex::default(),
            notices: Mutex::default(),
        }
    }

    /// Remembers a key that has its old name, once however often its section is read.
    pub(crate) fn note(&self, key: KeyMove) {
        let mut moved = held(&self.moved);
        if !moved.iter().any(|known| known.old == key.old) {
            moved.push(key);
        }
    }

    /// The moved keys that were noted.
    pub(crate) fn moved(&self) -> Vec<KeyMove> {
        held(&self.moved).clone()
    }

    /// Remembers a variable that goes before a key.
    pub(crate) fn note_override(&self, by: &Arc<EnvironmentOverride>) {
        held(&self.overrides).push(Arc::clone(by));
    }

    /// The variables that go before keys.
    pub(crate) fn overrides(&self) -> Vec<Arc<EnvironmentOverride>> {
        held(&self.overrides).clone()
    }

    /// Remembers what is to be said about a secret, once.
    pub(crate) fn note_notice(&self, notice: String) {
        let mut notices = held(&self.notices);
        if !notices.contains(&notice) {
            notices.push(notice);
        }
    }

    /// What is to be said about secrets.
    pub(crate) fn notices(&self) -> Vec<String> {
        held(&self.notices).clone()
    }

    /// Where `span` starts. Columns count characters.
    pub(crate) fn place(&self, span: &Range<usize>) -> Place {
        let start = floor_boundary(&self.text, span.start);
        let before = &self.text[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line_text = self.text[line_start..].lines().next().unwrap_or_default();
        Place {
            line: before.matches('\n').count() + 1,
            column: self.text[line_start..start].chars().count() + 1,
            excerpt: match key_of_value(&self.text, line_start) {
                Some(key) if is_secret_key(key) => "…".to_owned(),
                _ => without_secrets(line_text),
            },
        }
    }
}

fn held<T>(noted: &Mutex<T>) -> MutexGuard<'_, T> {
    // Notes are whole at any moment, so one that panicked elsewhere does them no harm.
    noted.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a key's value is never shown, such as `api_key` or `webhook_secret`.
pub(crate) fn is_secret_key(key: &str) -> bool {
    key.split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| SECRET_WORDS.contains(&word.to_ascii_lowercase().as_str()))
}

/// The line up to its first `=` when it may hold a secret: a secret key, or a URL with user information.
pub(crate) fn without_secrets(line: &str) -> String {
    let has_userinfo = |text: &str| text.split_once("://").is_some_and(|(_, rest)| rest.contains('@'));
    let Some((left, right)) = line.split_once('=') else {
        return if has_userinfo(line) { "…".to_owned() } else { line.to_owned() };
    };
    // An inline table has its keys to the right of the first `=`: `store = { token = "…" }`.
    let names_a_secret = is_secret_key(left) || right.rsplit_once('=').is_some_and(|(keys, _)| is_secret_key(keys));
    if names_a_secret || has_userinfo(right) { format!("{}= …", left) } else { line.to_owned() }
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_counts_lines_and_characters_from_one() {
        let source = Source::new(Path::new("a.toml"), "a = 1\nü = 2\nb = 3\n");
        let at = source.text.find("= 2").unwrap_or_default();
        assert_eq!(source.place(&(at..at)), Place { line: 2, column: 3, excerpt: "ü = 2".into() });
        assert_eq!(source.place(&(999..1000)).line, 4);
    }

    #[test]
    fn a_secret_of_several_lines_is_not_shown() {
        let text = "token = [\n  \"abc\",\n]\nurls = [\n  \"postgres://u:p@db/x\",\n  \"plain\",\n]\n";
        let source = Source::new(Path::new("a.toml"), text);
        let shown = |part: &str| {
            let at = source.text.find(part).unwrap_or_default();
            source.place(&(at..at)).excerpt
        };
        assert_eq!([shown("abc"), shown("postgres")], ["…", "…"]);
        assert_eq!(shown("plain"), "  \"plain\",");
    }

    #[test]
    fn lines_with_secrets_end_at_the_equals_sign() {
        assert_eq!(without_secrets("api_key = \"abc\""), "api_key = …");
        assert_eq!(without_secrets("auth = { token = \"abc\" }"), "auth = …");
        assert_eq!(without_secrets("url = \"postgres://u:p@db/x\""), "url = …");
        assert_eq!(without_secrets("keyboard = \"qwerty\""), "keyboard = \"qwerty\"");
    }
}
