//! This module says why the work on a message is stopped before its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Why work is stopped that somebody may still have wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// Its task was cancelled.
    Canceled,
    /// This node stops, or another one has the work.
    Shutdown,
}

/// Tells an agent why its stream is dropped before its end. Without a word of the host's, its caller went away. Clones
/// are one and the same.
#[derive(Debug, Clone, Default)]
pub struct StopSign(Option<Arc<AtomicU8>>);

impl StopSign {
    /// A sign that says nothing yet.
    pub fn new() -> Self {
        Self(Some(Arc::default()))
    }

    /// Says why. The first word stands.
    pub fn set(&self, reason: StopReason) {
        let number = match reason {
            StopReason::Canceled => 1,
            StopReason::Shutdown => 2,
        };
        if let Some(sign) = &self.0 {
            let _ = sign.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// Why the work is stopped, where the host said it.
    pub fn reason(&self) -> Option<StopReason> {
        match self.0.as_ref().map_or(0, |sign| sign.load(Ordering::Relaxed)) {
            1 => Some(StopReason::Canceled),
            2 => Some(StopReason::Shutdown),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_stands_and_a_sign_of_nobody_says_nothing() {
        let sign = StopSign::new();
        assert_eq!(sign.reason(), None);
        sign.clone().set(StopReason::Shutdown);
        sign.set(StopReason::Canceled);
        assert_eq!(sign.reason(), Some(StopReason::Shutdown));
        let nobodys = StopSign::default();
        nobodys.set(StopReason::Canceled);
        assert_eq!(nobodys.reason(), None);
    }
}
