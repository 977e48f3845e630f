//! Patterns that some rules are made of.

use regex::Regex;

/// A pattern of a rule, without regard to case.
pub(crate) fn pattern(text: &str) -> Regex {
    Regex::new(&format!("(?i){text}")).expect("a pattern of our own")
}
