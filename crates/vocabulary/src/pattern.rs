//! Patterns that are compiled when a text comes that they may match.
//!
//! There are some sixty, of all languages, and compiling them takes longer than everything else that a start does; most
//! of what is asked matches none. What each begins or ends with is written down beside it: a text that has nothing of
//! that needs no pattern.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use regex::{Captures, Match, Regex};
use serde::Deserialize;

#[cfg(test)]
pub(crate) mod required_words;

/// What a text must have, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
pub(crate) enum RequiredWord {
    /// The first word, or how it begins.
    Beginning(String),
    /// The last one, or how it ends.
    End(String),
}

/// What texts must have, by the patterns that could match them then. Without an entry: nothing.
pub(crate) type RequiredWords = BTreeMap<String, Vec<RequiredWord>>;

/// That of the patterns that are shipped, from when they are read on.
pub(crate) static SHIPPED_REQUIRED: OnceLock<RequiredWords> = OnceLock::new();

/// What a text must have that a shipped pattern matches; `None`: nothing.
fn required(pattern: &str) -> Option<&'static [RequiredWord]> {
    SHIPPED_REQUIRED.get()?.get(pattern).map(Vec::as_slice)
}

/// What a pattern of ours is put together from: one of `alternatives`, between `before` and `after`.
#[derive(Debug)]
pub(crate) struct Pattern {
    before: &'static str,
    alternatives: Vec<String>,
    after: &'static str,
    /// For each of `alternatives`, any of these. `None`: a text may have anything.
    required: OnceLock<Option<Vec<&'static [RequiredWord]>>>,
    compiled: OnceLock<Regex>,
}

impl Pattern {
    /// A pattern of texts that have one of `alternatives` between `before` and `after`. `before` is the beginning of a
    /// text, with white space and marks behind it; the beginning of a word; or nothing.
    pub(crate) fn of(before: &'static str, alternatives: Vec<String>, after: &'static str) -> Self {
        Self { before, alternatives, after, required: OnceLock::new(), compiled: OnceLock::new() }
    }

    /// A pattern for a whole message.
    pub(crate) fn whole(alternatives: Vec<String>) -> Self {
        Self::of(r"^[\s¡¿]*(?:", alternatives, r")[\s!.?,]*$")
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.regex_for(text).is_some_and(|regex| regex.is_match(text))
    }

    pub(crate) fn find<'t>(&self, text: &'t str) -> Option<Match<'t>> {
        self.regex_for(text)?.find(text)
    }

    pub(crate) fn captures<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        self.regex_for(text)?.captures(text)
    }

    /// A text with something else in every place that it matches.
    pub(crate) fn replace_all<'t>(&self, text: &'t str, with: &str) -> Cow<'t, str> {
        self.regex_for(text).map_or(Cow::Borrowed(text), |regex| regex.replace_all(text, with))
    }

    /// What is between the places that it matches.
    pub(crate) fn split<'p, 't>(&'p self, text: &'t str) -> impl Iterator<Item = &'t str> + use<'p, 't> {
        self.regex().split(text)
    }

    /// The pattern, unless this text can't match it.
    fn regex_for(&self, text: &str) -> Option<&Regex> {
        if let Some(compiled) = self.compiled.get() {
            return Some(compiled);
        }
        let required = self.required.get_or_init(|| self.alternatives.iter().map(|one| required(one)).collect());
        let may_match = required.as_ref().is_none_or(|required| {
            let text = lower(text);
            required.iter().copied().flatten().any(|one| self.has(&text, one))
        });
        may_match.then(|| self.regex())
    }

    /// Whether a text in lower case has it where it can be.
    fn has(&self, text: &str, required: &RequiredWord) -> bool {
        let beginning = match required {
            RequiredWord::Beginning(beginning) => beginning,
            RequiredWord::End(end) => return text.contains(end),
        };
        if self.before.starts_with('^') {
            return text
                .trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '¡' | '¿'))
                .starts_with(beginning);
        }
        let begins_word = !self.before.is_empty() && beginning.starts_with(char::is_alphanumeric);
        let mut places = text.match_indices(beginning);
        places.any(|(at, _)| !begins_word || !text[..at].ends_with(char::is_alphanumeric))
    }

    fn regex(&self) -> &Regex {
        self.compiled.get_or_init(|| {
            let text = format!("(?i){}{}{}", self.before, self.alternatives.join("|"), self.after);
            Regex::new(&plain(&text)).unwrap_or_else(|error| panic!("{error}"))
        })
    }
}

/// Whichever apostrophe is written. The classes of all of Unicode would make the patterns ten times as large.
fn plain(text: &str) -> String {
    let text = text.replace('\'', "['’]").replace(r"[\w+", r"[a-z0-9+").replace(r"\s", r"[ \t\r\n\u{a0}]");
    text.replace(r"[\d", "[0-9").replace(r"\d", "[0-9]").replace(r"\w", "[a-z0-9ß-ÿ_]")
}

/// A text in lower case, by the letters that patterns take for the same, with spaces for all white space.
fn lower(text: &str) -> String {
    let same = |c: char| match c {
        'ſ' => 's',
        c if c.is_whitespace() => ' ',
        c => c,
    };
    text.chars().flat_map(char::to_lowercase).map(same).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(alternatives: &[&str]) -> Pattern {
        let required = alternatives.iter().map(|one| required_words::of(one).map(|all| &*all.leak()));
        let required = OnceLock::from(required.collect::<Option<Vec<_>>>());
        let alternatives = alternatives.iter().map(|text| (*text).to_owned()).collect();
        Pattern { required, ..Pattern::of(r"\b(?:", alternatives, r")\b") }
    }

    #[test]
    fn a_text_without_anything_that_it_must_have_compiles_nothing() {
        let greeting = || pattern(&["(?:good )?day", r"hell?o\b.*", "l'été", "Tschüss"]);
        let plain = greeting();
        assert!(!plain.is_match("rhubarb") && !plain.is_match("holiday") && plain.compiled.get().is_none());
        for text in ["Good DAY", "daY", "HELO you", "l’été", "L'ÉTÉ", "tschüſs"] {
            assert!(greeting().is_match(text), "{text}");
        }
    }

    #[test]
    fn what_can_begin_with_anything_is_compiled_at_once() {
        let open = pattern(&["day", r"(?:so)*\w+ there.*"]);
        assert!(!open.is_match("rhubarb") && open.compiled.get().is_some());
        assert!(open.is_match("who is there"));
    }
}
