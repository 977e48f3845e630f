//! How many messages one sender may write within an hour.

use std::collections::HashMap;

use forecourt_core::Timestamp;
use parking_lot::Mutex;

use crate::limits::SENDERS_MAX;

/// Seconds of a window.
const HOUR: i64 = 60 * 60;

/// Counts messages by sender, an hour from the first one on.
pub struct SenderQuota {
    per_hour: u32,
    senders: Mutex<HashMap<String, Window>>,
}

#[derive(Clone, Copy)]
struct Window {
    /// In seconds since 1970.
    begins_at: i64,
    messages: u32,
}

impl SenderQuota {
    /// At most so many messages of one sender.
    pub fn new(per_hour: u32) -> Self {
        Self { per_hour, senders: Mutex::default() }
    }

    /// Counts one more message of `sender`; whether it is within the bound. While [`SENDERS_MAX`] others have
    /// written within the hour, somebody new has to wait: nobody who is counted is forgotten.
    pub fn admit(&self, sender: &str, now: Timestamp) -> bool {
        let now = now.as_second();
        let is_over = |window: &Window| !(window.begins_at..window.begins_at + HOUR).contains(&now);
        let mut senders = self.senders.lock();
        if senders.len() >= SENDERS_MAX && !senders.contains_key(sender) {
            senders.retain(|_, window| !is_over(window));
            if senders.len() >= SENDERS_MAX {
                return false;
            }
        }
        let window = senders.entry(sender.to_owned()).or_insert(Window { begins_at: now, messages: 0 });
        if is_over(window) {
            *window = Window { begins_at: now, messages: 0 };
        }
        window.messages = window.messages.saturating_add(1);
        window.messages <= self.per_hour
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_messages_as_allowed_pass_and_the_next_one_waits_for_the_hour_to_end() {
        let quota = SenderQuota::new(3);
        let at = |seconds| Timestamp::from_second(1_000_000 + seconds).unwrap();
        assert!((0..3).all(|second| quota.admit("ann", at(second))));
        assert!(!quota.admit("ann", at(HOUR - 1)) && quota.admit("bob", at(HOUR - 1)));
        assert!(quota.admit("ann", at(HOUR)));
        // A clock that was set back begins anew.
        assert!(quota.admit("ann", at(-5)));
    }

    #[test]
    fn only_so_many_senders_are_counted_and_none_of_them_is_forgotten() {
        let quota = SenderQuota::new(1);
        let at = |seconds| Timestamp::from_second(1_000_000 + seconds).unwrap();
        assert!((0..SENDERS_MAX).all(|n| quota.admit(&n.to_string(), at(0))));
        assert!(!quota.admit("one more", at(1)) && !quota.admit("0", at(1)));
        assert!(quota.admit("one more", at(HOUR)));
    }
}
