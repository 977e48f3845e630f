//! This module checks and writes auth challenges, so that no value can break out of its header. PolicyPart 3.3.1.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::malformed::PolicyPartError;
use crate::limits::{CHALLENGES_BYTES_MAX, CHALLENGES_MAX};

/// One challenge: a scheme and its parameters, stored unquoted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthChallenge {
    /// Such as `Bearer`.
    pub scheme: String,
    /// Values per RFC 9110 11.5, unquoted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, String>,
}

impl AuthChallenge {
    /// A challenge without parameters.
    pub fn new(scheme: impl Into<String>) -> Self {
        Self { scheme: scheme.into(), params: BTreeMap::new() }
    }

    /// The same challenge with one more parameter.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.params.insert(name.into(), value.into());
        self
    }

    /// Whether scheme and names are tokens, every value fits a quoted string, and no name occurs
    /// twice but for case. PolicyPart 3.3.1 wants this of encoders and decoders.
    pub fn is_valid(&self) -> bool {
        is_token(&self.scheme)
            && self.params.iter().all(|(name, value)| is_token(name) && is_quotable(value))
            && self.names_are_unique()
    }

    fn names_are_unique(&self) -> bool {
        // Names have no case in a header (RFC 9110 11.2), keys of JSON have: `Realm` and `realm` would be one parameter
        // twice.
        let names: BTreeSet<String> = self.params.keys().map(|name| name.to_ascii_lowercase()).collect();
        names.len() == self.params.len()
    }

    /// The OAuth error that a Bearer challenge states. RFC 6750 3.
    fn oauth_error(&self) -> Option<&str> {
        let bearer = self.scheme.eq_ignore_ascii_case("bearer");
        bearer
            .then(|| self.params.iter().find(|(name, _)| name.eq_ignore_ascii_case("error")))?
            .map(|(_, e)| e.as_str())
    }

    /// The challenge as it stands in a header, values as quoted strings (RFC 9110 5.6.4). `None`
    /// when it is not valid.
    pub fn encode(&self) -> Option<String> {
        if !self.is_valid() {
            return None;
        }
        let params: Vec<String> = self.params.iter().map(|(k, v)| format!("{k}={}", quote(v))).collect();
        Some(match params.is_empty() {
            true => self.scheme.clone(),
            false => format!("{} {}", self.scheme, params.join(", ")),
        })
    }
}

/// Checks the challenges of a refusal: one at least, few and small enough for a header, each valid,
/// and none that contradicts `code`. PolicyPart 3.3.1.
pub(super) fn check_challenges(challenges: &[AuthChallenge], code: Option<&str>) -> Result<(), PolicyPartError> {
    let wrong = |must: &'static str| Err(PolicyPartError::Wrong("auth_challenges", must));
    if challenges.is_empty() {
        return wrong("one challenge at least");
    }
    if challenges.len() > CHALLENGES_MAX {
        return wrong("16 challenges at most");
    }
    // Measured as they stand in the header, as quoting can double a value.
    let encoded: Option<Vec<String>> = challenges.iter().map(AuthChallenge::encode).collect();
    match encoded {
        None => wrong("schemes and names that are tokens, each name once, with values of printable ASCII"),
        Some(encoded) if encoded.iter().map(String::len).sum::<usize>() > CHALLENGES_BYTES_MAX => {
            wrong("8 KiB in all at most")
        }
        Some(_) if contradicts(challenges, code) => {
            Err(PolicyPartError::Wrong("code", "the error that the challenge states"))
        }
        Some(_) => Ok(()),
    }
}

/// Whether an `oauth:` code names another error than a Bearer challenge does.
fn contradicts(challenges: &[AuthChallenge], code: Option<&str>) -> bool {
    let Some(code) = code.and_then(|code| code.strip_prefix("oauth:")) else {
        return false;
    };
    // PolicyPart 3.3.1: `params.error` is where the error is, `code` repeats it as `oauth:<error>`, and the two must
    // agree. Codes of other namespaces are opaque (3.2).
    challenges.iter().filter_map(AuthChallenge::oauth_error).any(|error| error != code)
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

fn is_quotable(text: &str) -> bool {
    // RFC 9110 5.6.4 without obs-text: a CR or LF would end the header, and another host may have written the value.
    text.bytes().all(|b| b == b'\t' || (0x20..=0x7e).contains(&b))
}

fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    quoted
}
