//! Messages that are being asked just now, so that an event that is sent twice at once is worked on once.

use std::collections::HashSet;

use parking_lot::Mutex;

/// The names of such messages; as many as there are places for events.
#[derive(Default)]
pub(crate) struct MessagesInHand(Mutex<HashSet<String>>);

/// One of them, until it is dropped.
pub(crate) struct MessageInHand<'a> {
    all: &'a MessagesInHand,
    name: &'a str,
}

impl MessagesInHand {
    /// `None` while it is in hand already.
    pub(crate) fn take<'a>(&'a self, name: &'a str) -> Option<MessageInHand<'a>> {
        // Not in one expression: what is dropped within it would wait for the lock.
        let is_new = self.0.lock().insert(name.to_owned());
        is_new.then(|| MessageInHand { all: self, name })
    }
}

impl Drop for MessageInHand<'_> {
    fn drop(&mut self) {
        self.all.0.lock().remove(self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_in_hand_once_until_it_is_done() {
        let all = MessagesInHand::default();
        let first = all.take("a");
        assert!(first.is_some() && all.take("a").is_none() && all.take("b").is_some());
        drop(first);
        assert!(all.take("a").is_some());
    }
}
