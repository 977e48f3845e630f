//! This module reads and prints handles, domains and addresses of agents (`@agent@domain`). Mentionable WebFinger 2.1,
//! hub card 3.1. It does not look whether such an agent exists.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::limits::{DOMAIN_BYTES_MAX, HANDLE_CHARS_MAX};

/// A text that is not a handle, a domain or an address. Repeats at most 100 characters of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {wanted}")]
pub struct AddressError {
    text: String,
    wanted: &'static str,
}

impl AddressError {
    fn new(text: &str, wanted: &'static str) -> Self {
        // The caller's own text comes back in an error: 100 KB of it would be 100 KB of answer.
        Self { text: text.chars().take(100).collect(), wanted }
    }
}

/// The local name of an agent: `[a-z0-9_-]{1,30}`. Capitals are folded on reading. Cheap to clone: every message and
/// every answer has it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Handle(Arc<str>);

impl Handle {
    /// Reads a handle, with or without its leading `@`.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let bare = text.strip_prefix('@').unwrap_or(text);
        // Bytes stand for characters here, as `known` lets only ASCII pass.
        let fits = (1..=HANDLE_CHARS_MAX).contains(&bare.len());
        let known = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
        if fits && bare.bytes().all(known) {
            Ok(Self(bare.to_ascii_lowercase().into()))
        } else {
            Err(AddressError::new(text, "a handle (1 to 30 of a-z, 0-9, _ and -)"))
        }
    }

    /// The handle without `@`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A domain of at least two labels, in lower-case A-label form, without a trailing dot. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Domain(Arc<str>);

impl Domain {
    /// Reads a domain; Unicode names become punycode. Refuses single labels and IP addresses.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let wrong = || AddressError::new(text, "a domain of two labels or more");
        // Strict: the lenient form does not check the rules of host names (no `_`, no `-` at an edge of a label, labels
        // of at most 63 bytes), and takes `-bar.example`.
        let ascii = idna::domain_to_ascii_strict(text).map_err(|_| wrong())?;
        // A trailing dot is refused, not stripped: an address has one spelling, since it is compared as text.
        let fits = ascii.len() <= DOMAIN_BYTES_MAX && ascii.contains('.') && !ascii.ends_with('.');
        if fits && !ends_in_a_number(&ascii) { Ok(Self(ascii.into())) } else { Err(wrong()) }
    }

    /// The domain as A-labels.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is a name under `.localhost`, which always means this machine (RFC 6761 6.3).
    pub fn is_local(&self) -> bool {
        self.0.ends_with(".localhost")
    }
}

/// Whether the last label is a decimal or hexadecimal number: URL parsers read such a name (`1.2.3.0x7f`) as an IPv4
/// address, so that an agent's domain could stand for an address within our network. WHATWG URL, host parsing.
fn ends_in_a_number(domain: &str) -> bool {
    let last = domain.rsplit('.').next().unwrap_or_default();
    let hexadecimal = last.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
    hexadecimal || last.bytes().all(|b| b.is_ascii_digit())
}

/// `@local@domain`, canonical: lower case, A-labels.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Address {
    local: Handle,
    domain: Domain,
}

impl Address {
    /// The address of the agent `local` on `domain`. Both are canonical already, so that it can't fail.
    pub fn new(local: Handle, domain: Domain) -> Self {
        Self { local, domain }
    }

    /// Reads `@l@d`, `l@d` or `acct:l@d`. Mentionable WebFinger 2.1.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let wrong = || AddressError::new(text, "an address like @agent@example.com");
        // `get`, not an index: byte 5 may lie inside a character, and an index would panic.
        let scheme = text.get(..5).filter(|s| s.eq_ignore_ascii_case("acct:"));
        let bare = match scheme {
            Some(_) => &text[5..],
            None => text.strip_prefix('@').unwrap_or(text),
        };
        let (local, domain) = bare.split_once('@').ok_or_else(wrong)?;
        if local.is_empty() || local.starts_with('@') || domain.contains('@') {
            return Err(wrong());
        }
        Ok(Self { local: Handle::parse(local)?, domain: Domain::parse(domain)? })
    }

    /// The part before the domain: the agent's handle.
    pub fn local(&self) -> &Handle {
        &self.local
    }

    /// The domain that hosts the agent, in A-labels.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// The lookup form, `acct:local@domain`.
    pub fn to_acct(&self) -> String {
        format!("acct:{}@{}", self.local.0, self.domain.0)
    }
}

impl std::fmt::Display for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Display for Domain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "@{}@{}", self.local.0, self.domain.0)
    }
}

macro_rules! text_forms {
    ($($name:ident),*) => {$(
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{self}")
            }
        }

        impl TryFrom<String> for $name {
            type Error = AddressError;

            fn try_from(text: String) -> Result<Self, AddressError> {
                Self::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.to_string()
            }
        }

        impl std::str::FromStr for $name {
            type Err = AddressError;

            fn from_str(text: &str) -> Result<Self, AddressError> {
                Self::parse(text)
            }
        }
    )*};
}
text_forms!(Handle, Domain, Address);
