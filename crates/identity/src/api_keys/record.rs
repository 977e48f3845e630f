//! This module has the stored form of an API key, and the request for a new one.

use forecourt_core::Timestamp;
use forecourt_core::scope::ScopeSet;
use serde::{Deserialize, Serialize};

use super::SUBJECT_PREFIX;
use super::limit::ApiKeyLimit;
use crate::limits::API_KEY_NAME_CHARS_MAX;

/// The operator's request for a new key.
#[derive(Debug, Clone)]
pub struct ApiKeyRequest {
    /// Its name, unique among the keys in force: 1 to 64 of `a-z`, `0-9`, `-`, `_` and `.`.
    pub name: String,
    /// The scopes that its bearer has.
    pub scopes: ScopeSet,
    /// How often it may be used; `None`: as often as any caller.
    pub limit: Option<ApiKeyLimit>,
    /// When it ends; `None`: when it is revoked.
    pub expires_at: Option<Timestamp>,
}

/// A key as it is stored: everything but its secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApiKey {
    /// Its id, never used again: 12 hexadecimal digits.
    pub id: String,
    /// Its name, unique among the keys in force.
    pub name: String,
    /// The scopes that its bearer has.
    pub scopes: ScopeSet,
    /// How often it may be used; `None`: as often as any caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<ApiKeyLimit>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends; `None`: when it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

impl ApiKey {
    /// The subject of its bearer's evidence: `key:` and the name.
    pub fn subject(&self) -> String {
        format!("{SUBJECT_PREFIX}{}", self.name)
    }

    pub(super) fn is_over(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }
}

/// A key in the list of all.
#[derive(Debug, Clone, Serialize)]
pub struct ApiKeyListing {
    /// The key.
    #[serde(flatten)]
    pub key: ApiKey,
    /// When it was revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
    /// When it was used last: to the minute for an hour, then to the day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
}

/// Whether a text fits the grammar of a key's name.
pub(super) fn is_name(text: &str) -> bool {
    let known = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.');
    (1..=API_KEY_NAME_CHARS_MAX).contains(&text.len()) && text.bytes().all(known)
}

/// An entry of the index.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum IndexEntry {
    Created { key: ApiKey, hash: String },
    Revoked { id: String },
}

/// An entry of the stream of one key.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KeyEntry {
    Created { key: ApiKey },
    Revoked {},
}
