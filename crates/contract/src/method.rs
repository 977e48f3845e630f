//! This module has the method of a call: one word in capitals. Section 3.2.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::limits::{METHOD_CHARS_MAX, METHOD_CHARS_MIN};

/// A method name that keeps the lexical rule: capitals of ASCII only, 3 to 32 of them. Whether it
/// means anything is for the [`crate::Catalog`] to say. Section 3.2.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Method(Arc<str>);

/// A text that is not a method name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a method is {METHOD_CHARS_MIN} to {METHOD_CHARS_MAX} capital letters, A to Z")]
pub struct MethodError;

impl Method {
    /// Reads a name as it was written; nothing is folded. Fails outside the lexical rule.
    pub fn parse(text: &str) -> Result<Method, MethodError> {
        let fits = (METHOD_CHARS_MIN..=METHOD_CHARS_MAX).contains(&text.len());
        let plain = text.bytes().all(|byte| byte.is_ascii_uppercase());
        if fits && plain { Ok(Method(text.into())) } else { Err(MethodError) }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Method> for String {
    fn from(method: Method) -> String {
        method.as_str().to_owned()
    }
}

impl TryFrom<String> for Method {
    type Error = MethodError;

    fn try_from(text: String) -> Result<Method, MethodError> {
        Method::parse(&text)
    }
}

impl Borrow<str> for Method {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s3_2_only_capitals_of_ascii() {
        for wrong in ["", "query", "Query", "QUERY ", "AUDIT_LEGACY", "QU3RY", "QUÉRY", "QUERY\n", "А\u{411}В"] {
            assert_eq!(Method::parse(wrong), Err(MethodError), "{wrong:?}");
        }
    }

    #[test]
    fn s3_2_three_to_thirty_two_letters() {
        let long = |letters: usize| "A".repeat(letters);
        assert!(Method::parse(&long(METHOD_CHARS_MIN - 1)).is_err());
        assert!(Method::parse(&long(METHOD_CHARS_MIN)).is_ok());
        assert!(Method::parse(&long(METHOD_CHARS_MAX)).is_ok());
        assert!(Method::parse(&long(METHOD_CHARS_MAX + 1)).is_err());
    }
}
