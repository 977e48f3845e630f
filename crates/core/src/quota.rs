//! This module has the bounds on the bytes that a store keeps: a caller's own, and those of the whole store.

use std::fmt;

use crate::limits::{
    ANSWER_BYTES_RESERVED, ANSWERS_RESERVED_MIN, FULL_RETRY, NETWORK_CALLERS, ROW_BYTES, STORED_BYTES_PER_CALLER,
    STORED_PAGE_BYTES,
};
use crate::policy::{PolicyPart, RefusalKind};

/// The bounds on the bytes that a store keeps for callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallerBounds {
    /// Bytes that are kept for one caller.
    pub caller: u64,
    /// Bytes of them that are wanted for the answer of each task at work: [`CallerBounds::answer`].
    pub answer_wanted: u64,
    /// Bytes that are kept for all callers together who proved nothing; `None` where the store as a whole has no bound.
    pub strangers: Option<u64>,
}

impl Default for CallerBounds {
    fn default() -> Self {
        Self { caller: STORED_BYTES_PER_CALLER, answer_wanted: ANSWER_BYTES_RESERVED, strangers: None }
    }
}

impl CallerBounds {
    /// With so many bytes for one caller, and what is usual of everything else.
    pub fn of_caller(caller: u64) -> Self {
        Self { caller, ..Self::default() }
    }

    /// Bytes that are kept for callers together who proved nothing and come from one of the networks of
    /// [`crate::network::Network::around`]: the narrow one at level 0, the wide one at level 1.
    pub fn network(&self, level: usize) -> u64 {
        NETWORK_CALLERS.get(level).map_or(u64::MAX, |callers| self.caller.saturating_mul(*callers))
    }

    /// Bytes that are reserved for the answer of a task as work on it begins: what is wanted, and no more than a
    /// quarter of what is kept for one caller, so that a small bound leaves room for tasks at all.
    pub fn answer(&self) -> u64 {
        self.answer_wanted.min(self.caller / ANSWERS_RESERVED_MIN)
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
    /// The bytes stored for all callers together who proved nothing and come from one network.
    Network {
        /// Bits of an address that all of that network have alike.
        prefix: u8,
        /// The bound in bytes.
        max: u64,
    },
    /// The bytes stored for all callers together who proved nothing.
    Strangers {
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
            Self::Caller { .. } | Self::Network { .. } => Some("limits.stored_bytes_per_caller"),
            Self::Strangers { .. } => Some("limits.strangers_percent"),
            Self::Store { .. } => Some("store.size_max"),
            Self::Disk => None,
        }
    }

    /// Whether it is the caller, or those it counts with, who used up what is theirs, and not the host that is full: a
    /// caller who proves who it is has room of its own.
    pub fn is_callers(self) -> bool {
        matches!(self, Self::Caller { .. } | Self::Network { .. } | Self::Strangers { .. })
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
            Self::Network { prefix, max } => write!(
                f,
                "this host keeps at most {max} bytes for all callers of your network (a /{prefix}) who have not proven \
                 who they are (a multiple of limits.stored_bytes_per_caller), and they are used up"
            ),
            Self::Strangers { max } => write!(
                f,
                "this host keeps at most {max} bytes for callers who have not proven who they are \
                 (limits.strangers_percent), and they are used up"
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
        let network = QuotaBound::Network { prefix: 56, max: 7 };
        for bound in
            [QuotaBound::Caller { max: 7 }, network, QuotaBound::Strangers { max: 7 }, QuotaBound::Store { max: 7 }]
        {
            assert!(bound.to_string().contains(bound.key().unwrap()) && bound.to_string().contains('7'));
            assert_eq!(bound.refusal().message, bound.to_string());
        }
    }

    #[test]
    fn an_answer_reserves_no_more_than_a_quarter_of_what_is_its_callers() {
        let answer = |caller, answer_wanted| CallerBounds { answer_wanted, ..CallerBounds::of_caller(caller) }.answer();
        assert_eq!([answer(400, 100), answer(399, 100), answer(0, 100)], [100, 99, 0]);
        assert_eq!(CallerBounds::default().answer(), ANSWER_BYTES_RESERVED);
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
