//! This module makes, lists and revokes API keys, by any process that has the store, also while another one serves.

use std::collections::BTreeMap;

use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Entropy, Store, StoreError, Timestamp};
use futures::future::BoxFuture;
use serde_json::Value;

use super::record::{IndexEntry, KeyEntry, is_name};
use super::secret::ApiKeySecret;
use super::{ApiKey, ApiKeyListing, ApiKeyRequest, ApiKeys};
use crate::limits::{API_KEY_NAME_CHARS_MAX, API_KEY_RECORDS_MAX, API_KEYS_MAX};

/// The stream of all keys.
const INDEX: &str = "identity:api-keys";
/// Entries that are read at once.
const PAGE: usize = 500;
/// How often a change is tried again because another process made one in between.
const TRIES: usize = 8;

/// The stream of the key whose secret has this hash.
pub(super) fn stream_of(hash: &str) -> String {
    format!("identity:api-key:{hash}")
}

/// A key that was just made.
#[derive(Debug)]
pub struct CreatedApiKey {
    /// Its record in the store.
    pub key: ApiKey,
    /// The text that its bearer sends. It is stored nowhere.
    pub secret: ApiKeySecret,
}

/// Why a key was not made or revoked. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum ApiKeyError {
    /// The name breaks the grammar.
    #[error("`{0}` is not a name for a key: use 1 to {API_KEY_NAME_CHARS_MAX} of a-z, 0-9, `-`, `_` and `.`")]
    InvalidName(String),
    /// A key of this name is in force.
    #[error("a key named `{0}` is in force: revoke it first, or choose another name")]
    NameTaken(String),
    /// Its expiry is not in the future.
    #[error("the key would have expired already")]
    AlreadyExpired,
    /// [`API_KEYS_MAX`] are in force.
    #[error("{API_KEYS_MAX} API keys are in force, which is as many as a deployment has: revoke one first")]
    TooMany,
    /// As many are remembered as may be, revoked ones included.
    #[error(
        "{API_KEY_RECORDS_MAX} API keys were made and revoked, which is as many as are remembered: give keys an \
         expiry, after which they are forgotten"
    )]
    TooManyRecords,
    /// No key in force has this name or id.
    #[error("no API key in force has the name or id `{0}`")]
    Unknown(String),
    /// Others kept changing the keys.
    #[error("the API keys are being changed by others: try again")]
    Busy,
    /// The store failed, or an entry in it can't be read as a key.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// One key as the index has it.
struct Record {
    key: ApiKey,
    hash: String,
    revoked_at: Option<Timestamp>,
}

impl Record {
    fn is_in_force(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && !self.key.is_over(now)
    }
}

/// All keys by their ids, and the number of the last entry.
struct Index {
    records: BTreeMap<String, Record>,
    entries: u64,
    last: u64,
}

impl ApiKeys {
    /// Makes a key. Its secret is in what is given back, and nowhere else.
    ///
    /// # Errors
    /// The name is taken or no name, a bound is met, or the store fails.
    pub fn create<'a>(
        &'a self,
        wish: ApiKeyRequest,
        entropy: &'a dyn Entropy,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<CreatedApiKey, ApiKeyError>> {
        Box::pin(async move {
            if !is_name(&wish.name) {
                return Err(ApiKeyError::InvalidName(wish.name.chars().take(API_KEY_NAME_CHARS_MAX).collect()));
            }
            if wish.expires_at.is_some_and(|end| end <= now) {
                return Err(ApiKeyError::AlreadyExpired);
            }
            let secret = ApiKeySecret::mint(entropy);
            let hash = secret.hash();
            let ApiKeyRequest { name, scopes, limit, expires_at } = wish;
            let key = ApiKey { id: hash[..12].to_owned(), name, scopes, limit, created_at: now, expires_at };
            let entry = entry(&IndexEntry::Created { key: key.clone(), hash: hash.clone() }, &key, now)?;
            for _ in 0..TRIES {
                let index = read(self.store.as_ref(), now).await?;
                check_room(&index, &key, now)?;
                // Behind the entry that was read last: of two processes that take one name at once, one has to read
                // again.
                if self.store.append_entry(INDEX, entry.clone(), Some(index.last)).await?.is_some() {
                    // The name is taken now, and the key opens something from the next entry on. A crash between the
                    // two leaves a key that opens nothing.
                    self.append(&hash, &KeyEntry::Created { key: key.clone() }, &key, now, 0).await?;
                    return Ok(CreatedApiKey { key, secret });
                }
            }
            Err(ApiKeyError::Busy)
        })
    }

    /// All keys that are remembered, the oldest first.
    ///
    /// # Errors
    /// The store fails.
    pub fn list(&self, now: Timestamp) -> BoxFuture<'_, Result<Vec<ApiKeyListing>, ApiKeyError>> {
        Box::pin(async move {
            let mut all = Vec::new();
            for Record { key, revoked_at, .. } in read(self.store.as_ref(), now).await?.records.into_values() {
                let last_used_at = super::usage::last_used(self.store.as_ref(), &key, now).await?;
                all.push(ApiKeyListing { key, revoked_at, last_used_at });
            }
            all.sort_by_key(|listing| listing.key.created_at);
            Ok(all)
        })
    }

    /// Ends the key in force with this name or id. Every server on this store refuses it from then on.
    ///
    /// # Errors
    /// There is no such key, or the store fails.
    pub fn revoke<'a>(&'a self, name_or_id: &'a str, now: Timestamp) -> BoxFuture<'a, Result<ApiKey, ApiKeyError>> {
        Box::pin(async move {
            let index = read(self.store.as_ref(), now).await?;
            let is_meant = |record: &&Record| record.key.id == name_or_id || record.key.name == name_or_id;
            let in_force = index.records.into_values().filter(|record| record.is_in_force(now));
            let unknown = || ApiKeyError::Unknown(name_or_id.chars().take(API_KEY_NAME_CHARS_MAX).collect());
            let record = in_force.into_iter().find(|record| is_meant(&record)).ok_or_else(unknown)?;
            // The key's own stream first, since it decides: after a crash in between the key is dead, and revoking
            // again completes the index.
            self.append(&record.hash, &KeyEntry::Revoked {}, &record.key, now, 1).await?;
            let entry = entry(&IndexEntry::Revoked { id: record.key.id.clone() }, &record.key, now)?;
            self.store.append_entry(INDEX, entry, None).await?;
            Ok(record.key)
        })
    }

    /// Writes an entry of one key after `last`. One that is there already is left as it is.
    async fn append(
        &self,
        hash: &str,
        what: &KeyEntry,
        key: &ApiKey,
        now: Timestamp,
        last: u64,
    ) -> Result<(), ApiKeyError> {
        self.store.append_entry(&stream_of(hash), entry(what, key, now)?, Some(last)).await?;
        Ok(())
    }
}

/// An entry that is there for as long as the key is.
fn entry(body: &impl serde::Serialize, key: &ApiKey, now: Timestamp) -> Result<LedgerEntry, StoreError> {
    let body = serde_json::to_value(body).map_err(|error| StoreError::Corrupt(error.to_string()))?;
    let entry = LedgerEntry::new(body, now);
    Ok(match key.expires_at {
        Some(end) => entry.until(end),
        None => entry,
    })
}

fn check_room(index: &Index, key: &ApiKey, now: Timestamp) -> Result<(), ApiKeyError> {
    let in_force = || index.records.values().filter(|record| record.is_in_force(now));
    if in_force().any(|record| record.key.name == key.name) {
        return Err(ApiKeyError::NameTaken(key.name.clone()));
    }
    if in_force().count() >= API_KEYS_MAX {
        return Err(ApiKeyError::TooMany);
    }
    // Two entries for each key: one when it is made, one when it is revoked.
    if index.entries >= 2 * API_KEY_RECORDS_MAX {
        return Err(ApiKeyError::TooManyRecords);
    }
    Ok(())
}

async fn read(store: &dyn Store, now: Timestamp) -> Result<Index, StoreError> {
    let mut index = Index { records: BTreeMap::new(), entries: 0, last: 0 };
    loop {
        let page = store.entries(INDEX, Span::After(index.last), PAGE, now).await?;
        let is_last = page.len() < PAGE;
        for (number, entry) in page {
            index.last = number;
            index.entries += 1;
            index.take(entry.body, entry.at)?;
        }
        if is_last {
            return Ok(index);
        }
    }
}

impl Index {
    fn take(&mut self, body: Value, at: Timestamp) -> Result<(), StoreError> {
        let read = serde_json::from_value(body);
        match read.map_err(|_| StoreError::Corrupt("an entry about API keys can't be read".to_owned()))? {
            IndexEntry::Created { key, hash } => {
                self.records.insert(key.id.clone(), Record { key, hash, revoked_at: None });
            }
            IndexEntry::Revoked { id } => {
                if let Some(record) = self.records.get_mut(&id) {
                    record.revoked_at.get_or_insert(at);
                }
            }
        }
        Ok(())
    }
}
