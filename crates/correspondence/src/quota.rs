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

impl Window {
    /// Whether it does not hold at `now`, in seconds since 1970.
    fn is_over(self, now: i64) -> bool {
        !(self.begins_at..self.begins_at + HOUR).contains(&now)
    }
}

impl SenderQuota {
    /// At most so many messages of one sender.
    pub fn new(per_hour: u32) -> Self {
        Self { per_hour, senders: Mutex::default() }
    }

    /// Whether one more message of `sender` would be within its bound. Counts nothing.
    pub fn has_room(&self, sender: &str, now: Timestamp) -> bool {
        let senders = self.senders.lock();
        senders.get(sender).is_none_or(|window| window.is_over(now.as_second()) || window.messages < self.per_hour)
    }

    /// Counts one more message of `sender`; whether it is within the bound. While [`SENDERS_MAX`] others have
    /// written within the hour, somebody new has to wait: nobody who is counted is forgotten.
    pub fn admit(&self, sender: &str, now: Timestamp) -> bool {
        let now = now.as_second();
        let is_over = |window: &Window| window.is_over(now);
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
    fn there_is_room_for_as_many_as_allowed_and_looking_counts_nothing() {
        let quota = SenderQuota::new(2);
        let at = |seconds| Timestamp::from_second(1_000_000 + seconds).unwrap();
        for _ in 0..2 {
            assert!((0..3).all(|_| quota.has_room("ann", at(0))) && quota.admit("ann", at(0)));
        }
        assert!(
            !quota.has_room("ann", at(HOUR - 1)) && quota.has_room("bob", at(0)) && quota.has_room("ann", at(HOUR))
        );
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
