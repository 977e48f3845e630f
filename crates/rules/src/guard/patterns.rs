//! Texts judged by regular expressions, in a time that grows with the text alone.

use futures::FutureExt;
use futures::future::BoxFuture;
use regex::{Regex, RegexBuilder};

use super::{GuardCase, Judge, JudgeError, Ruling};
use crate::limits::{GUARD_PATTERN_BYTES_MAX, GUARD_PATTERN_SIZE_MAX};

/// Denies what a pattern fits, or puts other words in its place.
#[derive(Debug, Clone)]
pub struct Patterns {
    patterns: Vec<Regex>,
    replacement: Option<String>,
}

impl Patterns {
    /// Reads patterns. Fails with the first that is none, or too large.
    pub fn new(patterns: &[String], replacement: Option<String>) -> Result<Self, String> {
        let read = |pattern: &String| {
            if pattern.is_empty() || pattern.len() > GUARD_PATTERN_BYTES_MAX {
                return Err(format!("a pattern has 1 to {GUARD_PATTERN_BYTES_MAX} bytes"));
            }
            let built = RegexBuilder::new(pattern).size_limit(GUARD_PATTERN_SIZE_MAX).build();
            // What is wrong with one says where, in several lines.
            built.map_err(|error| format!("`{pattern}`: {}", error.to_string().replace('\n', " ")))
        };
        Ok(Self { patterns: patterns.iter().map(read).collect::<Result<_, _>>()?, replacement })
    }

    /// What they say of `text`, which follows `before`.
    pub fn ruling(&self, before: &str, text: &str) -> Ruling {
        let mut whole = format!("{before}{text}");
        let mut is_replaced = false;
        for pattern in &self.patterns {
            // What ended before `text` was judged together with what was shown; an empty match would deny every text.
            let fits = |at: regex::Match<'_>| at.end() > before.len() && !at.is_empty();
            let found: Vec<_> = pattern.find_iter(&whole).filter(|at| fits(*at)).map(|at| at.range()).collect();
            if found.is_empty() {
                continue;
            }
            let Some(replacement) = &self.replacement else { return Ruling::Deny };
            is_replaced = true;
            // From the end, so that the ranges before it stay where they are.
            for range in found.into_iter().rev() {
                whole.replace_range(range.start.max(before.len())..range.end, replacement);
            }
        }
        match is_replaced {
            true => Ruling::Replace(whole.split_off(before.len())),
            false => Ruling::Allow,
        }
    }
}

impl Judge for Patterns {
    fn judge<'a>(&'a self, case: GuardCase<'a>) -> BoxFuture<'a, Result<Ruling, JudgeError>> {
        std::future::ready(Ok(self.ruling(case.before, case.text))).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(list: &[&str], replacement: Option<&str>) -> Patterns {
        let list: Vec<String> = list.iter().map(|one| (*one).to_owned()).collect();
        Patterns::new(&list, replacement.map(str::to_owned)).unwrap()
    }

    #[test]
    fn what_a_pattern_fits_is_denied_or_replaced() {
        let secret = patterns(&[r"\b\d{4}-\d{4}\b", "(?i)secret"], None);
        assert_eq!(secret.ruling("", "nothing here"), Ruling::Allow);
        assert_eq!(secret.ruling("", "it is 1234-5678."), Ruling::Deny);
        assert_eq!(secret.ruling("", "a SECRET"), Ruling::Deny);
        let soft = patterns(&[r"\b\d{4}-\d{4}\b", "(?i)secret"], Some("[…]"));
        let replaced = Ruling::Replace("[…]: […] ä […]".to_owned());
        assert_eq!(soft.ruling("", "Secret: 1234-5678 ä 8765-4321"), replaced);
    }

    #[test]
    fn what_began_in_the_text_before_counts_and_what_ended_there_does_not() {
        let secret = patterns(&["secret word"], None);
        assert_eq!(secret.ruling("the secret ", "word is"), Ruling::Deny);
        assert_eq!(secret.ruling("the secret word", " is out"), Ruling::Allow);
        let soft = patterns(&["secret word"], Some("…"));
        assert_eq!(soft.ruling("the secret ", "word is"), Ruling::Replace("… is".to_owned()));
    }

    #[test]
    fn patterns_are_bounded() {
        let fits = |bytes: usize| Patterns::new(&["x".repeat(bytes)], None).is_ok();
        assert!(fits(GUARD_PATTERN_BYTES_MAX) && !fits(GUARD_PATTERN_BYTES_MAX + 1) && !fits(0));
        assert!(Patterns::new(&["(".to_owned()], None).unwrap_err().contains('('));
        assert!(Patterns::new(&[r"(\w{1000}){1000}".to_owned()], None).is_err());
    }
}
