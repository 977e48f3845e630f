//! Tokens that were given out and still hold, by the hash of the token that each was given for.

use std::collections::HashMap;
use std::time::Duration;

use forecourt_core::SubjectToken;
use http::HeaderValue;
use jiff::Timestamp;

use super::MARGIN;
use crate::limits::{EXCHANGED_TOKEN_TIME_MAX, EXCHANGED_TOKENS_MAX};

/// SHA-256 of a caller's token.
pub(super) type Key = [u8; 32];

/// The key under which what was given for a token is found.
pub(super) fn key(token: &SubjectToken) -> Key {
    // A hash as key: the cache must not become a place where callers' own tokens lie.
    sha256(token.expose_for_exchange().as_bytes())
}

pub(super) fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, bytes).as_ref());
    hash
}

/// At most [`EXCHANGED_TOKENS_MAX`]; the one that ends first makes room.
#[derive(Default)]
pub(super) struct TokenCache(HashMap<Key, CachedToken>);

struct CachedToken {
    authorization: HeaderValue,
    since: Timestamp,
    until: Timestamp,
}

impl TokenCache {
    pub(super) fn get(&self, key: &Key, now: Timestamp) -> Option<HeaderValue> {
        // A clock that was set back says nothing of how old it is.
        let held = self.0.get(key).filter(|held| (held.since..held.until).contains(&now))?;
        Some(held.authorization.clone())
    }

    /// Keeps a token for its lifetime, less a margin, at most for [`EXCHANGED_TOKEN_TIME_MAX`].
    pub(super) fn put(&mut self, key: Key, authorization: HeaderValue, lifetime: Duration, now: Timestamp) {
        let lifetime = lifetime.saturating_sub(MARGIN).min(EXCHANGED_TOKEN_TIME_MAX);
        let Ok(until) = now.checked_add(lifetime) else { return };
        if lifetime.is_zero() {
            return;
        }
        if self.0.len() >= EXCHANGED_TOKENS_MAX && !self.0.contains_key(&key) {
            self.0.retain(|_, held| held.until > now);
        }
        if self.0.len() >= EXCHANGED_TOKENS_MAX && !self.0.contains_key(&key) {
            let first = self.0.iter().min_by_key(|(_, held)| held.until).map(|(key, _)| *key);
            first.and_then(|first| self.0.remove(&first));
        }
        self.0.insert(key, CachedToken { authorization, since: now, until });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_767_225_600 + seconds).unwrap()
    }

    fn numbered(number: usize) -> Key {
        key(&SubjectToken::new(&number.to_string()))
    }

    #[test]
    fn rfc8693_a_token_is_kept_until_shortly_before_its_end() {
        let (mut cache, value) = (TokenCache::default(), HeaderValue::from_static("Bearer x"));
        cache.put(numbered(1), value.clone(), Duration::from_secs(90), at(0));
        assert_eq!(cache.get(&numbered(1), at(59)), Some(value.clone()));
        assert_eq!(cache.get(&numbered(1), at(60)), None);
        assert_eq!(cache.get(&numbered(1), at(-1)), None, "the clock was set back");
        assert_eq!(cache.get(&numbered(2), at(0)), None);
        cache.put(numbered(3), value.clone(), MARGIN, at(0));
        assert_eq!(cache.get(&numbered(3), at(0)), None, "as good as over");
        cache.put(numbered(4), value.clone(), Duration::MAX, at(0));
        let longest = EXCHANGED_TOKEN_TIME_MAX.as_secs().cast_signed();
        assert_eq!(cache.get(&numbered(4), at(longest - 1)), Some(value));
        assert_eq!(cache.get(&numbered(4), at(longest)), None);
    }

    #[test]
    fn s0_the_cache_holds_a_thousand_tokens_and_not_one_more() {
        let (mut cache, value) = (TokenCache::default(), HeaderValue::from_static("Bearer x"));
        for number in 0..EXCHANGED_TOKENS_MAX {
            cache.put(numbered(number), value.clone(), Duration::from_secs(100 + number as u64), at(0));
        }
        assert!(cache.get(&numbered(0), at(0)).is_some());
        cache.put(numbered(usize::MAX), value, Duration::from_secs(100), at(0));
        assert_eq!(cache.0.len(), EXCHANGED_TOKENS_MAX);
        assert!(cache.get(&numbered(0), at(0)).is_none(), "the one that ends first made room");
        assert!(cache.get(&numbered(usize::MAX), at(0)).is_some());
    }
}
