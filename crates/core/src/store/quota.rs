//! This module has the accounts that stored bytes count towards, and the bounds on them.

use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::limits::{FULL_RETRY, ROW_BYTES, STORED_PAGE_BYTES};
use crate::network::Network;
use crate::policy::{PolicyPart, RefusalKind};

/// The account that stored bytes are charged to: a caller's, or the host's.
///
/// A proven subject has its own account, whichever address it comes from. Whoever proves nothing has
/// that of its network address (an IPv6 /64 is one), since anything else that it names it could name
/// anew with every request. What the host writes on its own behalf belongs to nobody and counts towards
/// the whole store alone.
#[derive(Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Account(Option<String>);

impl Account {
    /// The account of what the host writes on its own behalf: no caller's.
    pub const HOST: Self = Self(None);

    /// The account of a caller: of its proven subject if there is one, else of its address; that of
    /// the host for who has neither, which is a caller within this process.
    pub fn of(subject: Option<&str>, peer: Option<IpAddr>) -> Self {
        Self::within(subject, peer.map(Network::of))
    }

    /// The same, where the network of the address is known.
    pub fn within(subject: Option<&str>, network: Option<Network>) -> Self {
        match (subject, network) {
            // Prefixed, so that a subject named `network:192.0.2.1` does not spend that address's bytes.
            (Some(subject), _) => Self(Some(format!("subject:{subject}"))),
            (None, Some(network)) => Self(Some(format!("network:{network}"))),
            (None, None) => Self::HOST,
        }
    }

    /// The key in the store's table of accounts; `None` for the host's own.
    pub fn key(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

/// Tells the kind alone: a subject or an address is personal.
impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.key().map_or("host", |key| key.split(':').next().unwrap_or_default());
        f.debug_tuple("Account").field(&kind).finish()
    }
}

/// Which bound on stored bytes was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuotaBound {
    /// The bytes stored for one caller.
    Caller {
        /// The bound in bytes.
        max: u64,
    },
    /// The store as a whole.
    Store {
        /// The bound in bytes.
        max: u64,
    },
    /// The disk on which the store is.
    Disk,
}

impl QuotaBound {
    /// The key under which an operator sets it; `None` for the disk.
    pub fn key(self) -> Option<&'static str> {
        match self {
            Self::Caller { .. } => Some("limits.stored_bytes_per_caller"),
            Self::Store { .. } => Some("store.size_max"),
            Self::Disk => None,
        }
    }

    /// Whether it is the caller who has used up what is its own, and not the host that is full.
    pub fn is_callers(self) -> bool {
        matches!(self, Self::Caller { .. })
    }

    /// The same as a refusal, for wires whose answer to a message is never an error: too many requests when
    /// the bound is the caller's own, not available when it is the host's.
    pub fn refusal(self) -> PolicyPart {
        let retry_after_seconds = Some(FULL_RETRY.as_secs());
        let kind = match self.is_callers() {
            // The caller's own bound is the caller's to mend; the host's is nobody's fault who asks.
            true => RefusalKind::TooManyRequests { retry_after_seconds },
            false => RefusalKind::ServiceUnavailable { retry_after_seconds },
        };
        PolicyPart::new(kind, self.to_string())
    }
}

/// A sentence for the caller.
impl fmt::Display for QuotaBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Caller { max } => write!(
                f,
                "this host keeps at most {max} bytes for one caller (limits.stored_bytes_per_caller), and they are used up"
            ),
            Self::Store { max } => {
                write!(f, "this host stores at most {max} bytes (store.size_max), and they are used up")
            }
            Self::Disk => f.write_str("the disk of this host is full"),
        }
    }
}

/// The bytes that a row with `len` bytes of content is counted as, [`ROW_BYTES`] included: short rows share pages, long
/// ones take whole pages.
pub fn cost(len: usize) -> u64 {
    let page = STORED_PAGE_BYTES;
    let len = len as u64;
    ROW_BYTES
        + if len <= page / 8 {
            len
        } else if len <= page / 4 {
            page / 3
        } else {
            len.next_multiple_of(page)
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(text: &str) -> Account {
        Account::of(None, Some(text.parse().unwrap()))
    }

    #[test]
    fn design_36_a_subject_has_one_account_wherever_it_comes_from() {
        let ada = |address: &str| Account::of(Some("ada"), Some(address.parse().unwrap()));
        assert_eq!(ada("192.0.2.1"), ada("2001:db8::1"));
        assert_ne!(ada("192.0.2.1"), peer("192.0.2.1"));
        assert_ne!(ada("192.0.2.1"), Account::of(Some("bob"), None));
    }

    #[test]
    fn design_36_whoever_proves_nothing_has_the_account_of_its_network() {
        assert_eq!(peer("2001:db8:0:1::1"), peer("2001:db8:0:1:ffff::2"));
        assert_ne!(peer("2001:db8:0:1::1"), peer("2001:db8:0:2::1"));
        assert_ne!(peer("192.0.2.1"), peer("192.0.2.2"));
        assert_eq!(peer("::ffff:192.0.2.1"), peer("192.0.2.1"));
        assert_eq!(Account::of(None, None), Account::HOST);
    }

    #[test]
    fn no_subject_is_spelled_like_an_address() {
        assert_ne!(Account::of(Some("network:192.0.2.1"), None), peer("192.0.2.1"));
    }

    #[test]
    fn an_account_tells_nobody_whose_it_is() {
        assert_eq!(format!("{:?}", peer("192.0.2.1")), "Account(\"network\")");
    }

    #[test]
    fn a_bound_names_its_key() {
        for bound in [QuotaBound::Caller { max: 7 }, QuotaBound::Store { max: 7 }] {
            assert!(bound.to_string().contains(bound.key().unwrap()) && bound.to_string().contains('7'));
            assert_eq!(bound.refusal().message, bound.to_string());
        }
    }

    #[test]
    fn only_a_bound_of_the_caller_is_the_callers_to_mend() {
        let retry_after_seconds = Some(FULL_RETRY.as_secs());
        assert_eq!(QuotaBound::Caller { max: 7 }.refusal().kind, RefusalKind::TooManyRequests { retry_after_seconds });
        for bound in [QuotaBound::Store { max: 7 }, QuotaBound::Disk] {
            assert_eq!(bound.refusal().kind, RefusalKind::ServiceUnavailable { retry_after_seconds });
        }
    }
}
