//! This module has the bounds on the bytes that a store keeps: a caller's own, and those of the whole store.

use std::fmt;

use crate::limits::{FULL_RETRY, ROW_BYTES, STORED_PAGE_BYTES};
use crate::policy::{PolicyPart, RefusalKind};

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
