//! This module mints and reads identifiers. Ids of tasks and threads are capabilities: 256 random bits, never printed.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use crate::Timestamp;
use crate::caller::CallerKey;
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
    // 32 bytes are 44 characters of base64, the last of which is padding that base64url leaves out.
    text.len() == TOKEN_BYTES.div_ceil(3) * 4 - 1
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// A fresh UUID of version 7 (RFC 9562 5.7): the milliseconds of `now`, then 74 random bits. Sorts by time,
/// and is no secret.
pub fn uuid7(now: Timestamp, entropy: &dyn Entropy) -> String {
    let mut bytes = [0u8; 16];
    entropy.fill(&mut bytes);
    // Before 1970 there is no such number.
    let millis = u64::try_from(now.as_millisecond()).unwrap_or_default();
    // 48 bits of milliseconds, then the version (7) and the variant (0b10) over random bits: RFC 9562 4.1, 4.2, 5.7.
    bytes[..6].copy_from_slice(&millis.to_be_bytes()[2..]);
    bytes[6] = bytes[6] & 0x0f | 0x70;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut text = String::with_capacity(36);
    for (at, byte) in bytes.into_iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        for digit in [byte >> 4, byte & 0x0f] {
            text.push(char::from(DIGITS[usize::from(digit)]));
        }
    }
    text
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
                // What we can't have minted needs no lookup, and is not told apart from an unknown id.
                is_token(text).then(|| Self(text.to_owned()))
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

impl TaskId {
    /// The id that follows from a name which nobody else can make: a keyed hash, say. Made twice, it is the same id.
    pub fn of(hash: &[u8; TOKEN_BYTES]) -> Self {
        Self(URL_SAFE_NO_PAD.encode(hash))
    }

    /// The id itself, for the wire and for nothing else.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

capability! {
    /// Names a task. Whoever knows it may read the task where the protocol makes it a capability.
    TaskId
}

capability! {
    /// Names a conversation: Mentionable's session, A2A's `contextId`. Never an authorization.
    ///
    /// Either a token of ours or a name that a client made up ([`ThreadId::adopt`]). The two never
    /// meet, so that nobody can plant a name where only tokens of ours are taken.
    ThreadId
}

capability! {
    /// Names what a refusal asks for: a consent or a payment, good for one use. PolicyPart 3.3.4.
    StateToken
}

capability! {
    /// Names the consents that one browser without an account gave; that browser keeps it in a cookie. It proves that
    /// they were given there, and is no identity.
    ConsentToken
}

impl ConsentToken {
    /// The token itself, for the cookie and for nothing else.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl StateToken {
    /// The token itself, for the wire and for nothing else.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// Stands before each name that a client made up. Not in the alphabet of base64url, so that no token begins with it.
const ADOPTED: char = '~';
/// Separates the owner or network of a name from the name, which can't hold it (no control characters).
const NAMED: char = '\0';
/// Begins a conversation name that the host minted for wires whose clients keep names; a token follows.
const CONTEXT: &str = "ctx-";

impl ThreadId {
    /// The conversation that `caller` calls `name`. One that the host named ([`Self::mint_context`]) is a
    /// capability: the same for all who know it. Any other name may be guessed, so that it stands for one
    /// conversation of each owner, and of each network of callers who proved nothing.
    ///
    /// `None` when the name is empty, longer than [`CLIENT_ID_BYTES_MAX`] bytes or holds control
    /// characters.
    pub fn adopt(name: &str, caller: &CallerKey<'_>) -> Option<Self> {
        match caller {
            _ if is_context(name) => Self::of("", name),
            CallerKey::Subject(owner) => Self::adopt_for(owner, name),
            CallerKey::Network(network) | CallerKey::Conversation { network: Some(network), .. } => {
                Self::of(&format!("@{network}"), name)
            }
            CallerKey::Conversation { network: None, .. } | CallerKey::Local => Self::of("", name),
        }
    }

    /// The conversation that whoever is known as `owner` calls `name`. `None` as with [`Self::adopt`].
    pub fn adopt_for(owner: &str, name: &str) -> Option<Self> {
        Self::of(&format!(":{owner}"), name)
    }

    fn of(whose: &str, name: &str) -> Option<Self> {
        // Without the last test, the name `b\0c` of an owner `a` would be the name `c` of an owner `a\0b`.
        let fits = !name.is_empty() && name.len() <= CLIENT_ID_BYTES_MAX && !name.chars().any(char::is_control);
        fits.then(|| Self(format!("{ADOPTED}{whose}{NAMED}{name}")))
    }

    /// A conversation with a name that clients may keep: longer than a token of ours, so that it is adopted
    /// when it comes back, and as hard to guess.
    pub fn mint_context(entropy: &dyn Entropy) -> Self {
        Self(format!("{ADOPTED}{NAMED}{CONTEXT}{}", mint(entropy)))
    }

    /// A fresh conversation of the same kind (token or name), for a caller who may not continue this one.
    #[must_use]
    pub fn anew(&self, entropy: &dyn Entropy) -> Self {
        if self.is_adopted() { Self::mint_context(entropy) } else { Self::mint(entropy) }
    }

    /// Whether a wire's client names the conversation (A2A's `contextId`), instead of holding a token of ours.
    pub fn is_adopted(&self) -> bool {
        self.0.starts_with(ADOPTED)
    }

    /// Whether the host made up the id, as a token or as a name: then nobody can have chosen or guessed it.
    pub fn is_minted(&self) -> bool {
        !self.is_adopted() || is_context(self.expose())
    }

    /// The name, for the wire and for nothing else. Two conversations may share it.
    pub fn expose(&self) -> &str {
        match self.is_adopted() {
            // From the end, as only the name is sure to hold no separator: the subject before it is a provider's text.
            true => self.0.rsplit(NAMED).next().unwrap_or_default(),
            false => &self.0,
        }
    }

    /// The key that is unique among all conversations, for lookups, counters and hashes. Never for the wire: it may
    /// hold the owner's subject.
    pub fn key(&self) -> &str {
        &self.0
    }
}

/// Whether `name` has the shape of [`ThreadId::mint_context`].
fn is_context(name: &str) -> bool {
    name.strip_prefix(CONTEXT).is_some_and(is_token)
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

    /// This id with `-{number}` after it, for wires that make several messages of one request.
    #[must_use]
    pub fn numbered(&self, number: u64) -> Self {
        Self(format!("{}-{number}", self.0))
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
