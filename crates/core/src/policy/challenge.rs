//! Auth challenges that cannot break out of their header. PolicyPart 3.3.1.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

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

    /// Whether scheme and names are tokens and every value fits a quoted string. PolicyPart 3.3.1
    /// wants this of encoders and decoders.
    pub fn is_valid(&self) -> bool {
        is_token(&self.scheme) && self.params.iter().all(|(name, value)| is_token(name) && is_quotable(value))
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

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

fn is_quotable(text: &str) -> bool {
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
