//! What opens a session of the console, and what stands for a secret where it is kept.

use aws_lc_rs::digest::{SHA256, digest};
use forecourt_core::{Entropy, ids};

/// What the cookie of a session holds: 256 random bits. Never printed, and kept as a hash.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SessionSecret(String);

impl SessionSecret {
    /// A new one, whatever a browser had before.
    pub(crate) fn mint(entropy: &dyn Entropy) -> Self {
        Self(ids::mint(entropy))
    }

    /// One that came; `None` for what never was one.
    pub(crate) fn read(text: &str) -> Option<Self> {
        ids::is_token(text).then(|| Self(text.to_owned()))
    }

    /// Its text, for the cookie.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// What names its session in the store.
    pub(crate) fn hash(&self) -> String {
        hashed(&self.0)
    }

    /// What forms of its session carry.
    pub(crate) fn csrf(&self) -> String {
        // Made from the secret, so nothing more is kept. The prefix keeps it from being the hash that names the
        // session.
        hashed(&format!("csrf:{}", self.0))
    }
}

impl std::fmt::Debug for SessionSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[redacted]")
    }
}

/// A hash as text: nobody gets from there to what was hashed.
pub(crate) fn hashed(text: &str) -> String {
    digest(&SHA256, text.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
