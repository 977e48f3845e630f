//! Identifiers. Task and thread ids are capabilities: 256 random bits, never printed.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use crate::clock::Entropy;
use crate::limits::{CLIENT_ID_BYTES_MAX, TOKEN_BYTES};

/// A fresh bearer token: [`TOKEN_BYTES`] random bytes in base64url, 43 characters.
pub fn mint(entropy: &dyn Entropy) -> String {
    let mut bytes = [0u8; TOKEN_BYTES];
    entropy.fill(&mut bytes);
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Whether `text` has the shape of a token from [`mint`]. Anything else can be refused unread.
pub fn is_token(text: &str) -> bool {
    text.len() == TOKEN_BYTES.div_ceil(3) * 4 - 1
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

macro_rules! capability {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// A fresh id from `entropy`.
            pub fn mint(entropy: &dyn Entropy) -> Self {
                Self(mint(entropy))
            }

            /// Reads an id that a caller sent. `None` when it can't be one of ours.
            pub fn parse(text: &str) -> Option<Self> {
                is_token(text).then(|| Self(text.to_owned()))
            }

            /// The id itself, for the wire and for nothing else.
            pub fn expose(&self) -> &str {
                &self.0
            }
        }

        /// Never prints the id: it opens what it names.
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(concat!(stringify!($name), "([redacted])"))
            }
        }
    };
}

capability! {
    /// Names a task. Whoever knows it may read the task where the protocol makes it a capability.
    TaskId
}

capability! {
    /// Names a conversation: Mentionable's session, A2A's `contextId`. Never an authorization.
    ThreadId
}

/// Names a message, as its sender did or as we did for it. At most 256 bytes, printable.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageId(String);

impl MessageId {
    /// A fresh id from `entropy`.
    pub fn mint(entropy: &dyn Entropy) -> Self {
        Self(mint(entropy))
    }

    /// A caller's own id. `None` when it is empty, too long or holds control characters.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = !text.is_empty() && text.len() <= CLIENT_ID_BYTES_MAX;
        (fits && !text.chars().any(char::is_control)).then(|| Self(text.to_owned()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
