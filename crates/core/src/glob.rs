//! Names as operators write them in lists of what they mean by many.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Bytes of a pattern.
pub const GLOB_BYTES_MAX: usize = 256;

/// A pattern for names: `*` stands for any characters, or none, and everything else for itself. At most
/// [`GLOB_BYTES_MAX`] bytes, and not empty.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Glob(String);

/// The text is no pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a pattern has 1 to {GLOB_BYTES_MAX} bytes")]
pub struct GlobError;

impl Glob {
    /// Whether it means `name`.
    pub fn matches(&self, name: &str) -> bool {
        let mut pieces = self.0.split('*');
        let first = pieces.next().unwrap_or_default();
        let Some(mut rest) = name.strip_prefix(first) else { return false };
        // The last piece stands at the end; with no `*` at all the first one is the whole.
        let Some(last) = pieces.next_back() else { return rest.is_empty() };
        for piece in pieces {
            // The leftmost place leaves the most for what follows.
            let Some(at) = rest.find(piece) else { return false };
            rest = &rest[at + piece.len()..];
        }
        rest.ends_with(last)
    }

    /// The pattern as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Glob {
    type Err = GlobError;

    fn from_str(text: &str) -> Result<Self, GlobError> {
        Self::try_from(text.to_owned())
    }
}

impl TryFrom<String> for Glob {
    type Error = GlobError;

    fn try_from(text: String) -> Result<Self, GlobError> {
        if (1..=GLOB_BYTES_MAX).contains(&text.len()) { Ok(Self(text)) } else { Err(GlobError) }
    }
}

impl From<Glob> for String {
    fn from(glob: Glob) -> Self {
        glob.0
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fits(pattern: &str, name: &str) -> bool {
        pattern.parse::<Glob>().expect("a pattern").matches(name)
    }

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, name) in [
            ("*", ""),
            ("*", "a"),
            ("get_*", "get_"),
            ("*_all", "drop_all"),
            ("a*b*c", "a-b-bc"),
            ("a", "a"),
            ("**", "x"),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("get_*", "set_"), ("a", "ab"), ("a*a", "a"), ("a*b*c", "acb"), ("*b", "ba")] {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn patterns_are_bounded() {
        assert!("x".repeat(GLOB_BYTES_MAX).parse::<Glob>().is_ok());
        assert!("x".repeat(GLOB_BYTES_MAX + 1).parse::<Glob>().is_err());
        assert!("".parse::<Glob>().is_err());
    }

    proptest! {
        #[test]
        fn what_stands_between_the_stars_is_found(pieces in prop::collection::vec("[abö]{0,3}", 1..5), more in "[abö]{0,3}") {
            let pattern = pieces.join("*");
            prop_assume!(!pattern.is_empty());
            let name = pieces.join(if pieces.len() > 1 { more.as_str() } else { "" });
            prop_assert!(fits(&pattern, &name));
        }
    }
}
