//! The text of a key: `fck_` and 256 random bits. What is kept is its SHA-256, by which it is also found, so that
//! nothing is ever compared with a secret.

use forecourt_core::Entropy;
use forecourt_jose::encoding::{from_base64url, sha256, to_base64url};

/// The prefix of every key, by which scanners for leaked secrets find it.
const PREFIX: &str = "fck_";
/// Random bytes of a key.
const BYTES: usize = 32;

/// The text of a key. Shown once, when it is made; never printed by `Debug`.
pub struct ApiKeySecret(String);

impl ApiKeySecret {
    pub(super) fn mint(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0; BYTES];
        entropy.fill(&mut bytes);
        Self(format!("{PREFIX}{}", to_base64url(&bytes)))
    }

    /// The text, for whoever made it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    pub(super) fn hash(&self) -> String {
        hash(&self.0)
    }
}

impl std::fmt::Debug for ApiKeySecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ApiKeySecret([redacted])")
    }
}

/// Whether a bearer token has the form of an API key of this program.
pub(crate) fn is_api_key(token: &str) -> bool {
    token.starts_with(PREFIX)
}

/// The hash under which a key is kept; `None` for what can't be a key, which is not looked for.
pub(super) fn hash_of(token: &str) -> Option<String> {
    let bytes = from_base64url(token.strip_prefix(PREFIX)?)?;
    (bytes.len() == BYTES).then(|| hash(token))
}

fn hash(token: &str) -> String {
    sha256(token.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
