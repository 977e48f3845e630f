//! Addresses as others write them.

use forecourt_core::{Address, Domain};

use super::limits::LOCAL_BYTES_MAX;

/// The address of an agent anywhere. WebFinger 2.1.
///
/// Wider than [`Address`], the grammar of what we give out ourselves: the local part is 1 to
/// [`LOCAL_BYTES_MAX`] of `a-z`, `0-9`, `.`, `_` and `-`, but not `.` or `..`. Capitals are folded.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Acct {
    local: String,
    domain: Domain,
}

/// The text is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("that is not an address like @agent@example.com")]
pub struct NotAnAddress;

impl Acct {
    /// Reads `@l@d`, `l@d` or `acct:l@d`.
    pub fn parse(text: &str) -> Result<Self, NotAnAddress> {
        let bare = strip_scheme(text).unwrap_or_else(|| text.strip_prefix('@').unwrap_or(text));
        let (local, domain) = bare.split_once('@').ok_or(NotAnAddress)?;
        Self::new(local, Domain::parse(domain).map_err(|_| NotAnAddress)?)
    }

    /// Reads the lookup form only: the scheme must be there.
    pub(crate) fn parse_uri(text: &str) -> Option<Self> {
        strip_scheme(text).and_then(|_| Self::parse(text).ok())
    }

    /// Joins a local part and a domain.
    pub(crate) fn new(local: &str, domain: Domain) -> Result<Self, NotAnAddress> {
        let known = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
        let fits = (1..=LOCAL_BYTES_MAX).contains(&local.len()) && local.bytes().all(known);
        match fits && local != "." && local != ".." {
            true => Ok(Self { local: local.to_ascii_lowercase(), domain }),
            false => Err(NotAnAddress),
        }
    }

    /// The part before the domain.
    pub fn local(&self) -> &str {
        &self.local
    }

    /// The domain it lives on.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// The lookup form, `acct:local@domain`.
    pub fn to_uri(&self) -> String {
        format!("acct:{}@{}", self.local, self.domain)
    }

    /// The same by the grammar of our own addresses, if it fits that.
    pub fn to_address(&self) -> Option<Address> {
        Address::parse(&self.to_string()).ok()
    }
}

impl From<&Address> for Acct {
    fn from(address: &Address) -> Self {
        Self { local: address.local().as_str().to_owned(), domain: address.domain().clone() }
    }
}

/// The canonical form, `@local@domain`.
impl std::fmt::Display for Acct {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "@{}@{}", self.local, self.domain)
    }
}

fn strip_scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_at_checked("acct:".len())?;
    scheme.eq_ignore_ascii_case("acct:").then_some(rest)
}
