//! Messages that are being asked just now, so that an event that is sent twice at once is worked on once, and one that
//! is deleted meanwhile is not answered.

use std::collections::HashMap;

use parking_lot::Mutex;

/// Such messages, by the name of what is asked; as many as there are places for events.
#[derive(Default)]
pub(crate) struct MessagesInHand(Mutex<HashMap<String, MessageState>>);

struct MessageState {
    /// The name of the message, which is the same for each edit of it.
    message: String,
    is_taken_back: bool,
}

/// One of them, until it is dropped.
pub(crate) struct MessageInHand<'a> {
    all: &'a MessagesInHand,
    name: &'a str,
    is_done: bool,
}

impl MessagesInHand {
    /// Takes what is asked under `name` by a message. `None` while it is in hand already.
    pub(crate) fn take<'a>(&'a self, name: &'a str, message: String) -> Option<MessageInHand<'a>> {
        let mut all = self.0.lock();
        if all.contains_key(name) {
            return None;
        }
        all.insert(name.to_owned(), MessageState { message, is_taken_back: false });
        Some(MessageInHand { all: self, name, is_done: false })
    }

    /// A message was deleted. Whether it is in hand: who has it then takes back what it asked.
    pub(crate) fn take_back(&self, message: &str) -> bool {
        let mut all = self.0.lock();
        let mut of_message = all.values_mut().filter(|state| state.message == message).peekable();
        let is_in_hand = of_message.peek().is_some();
        of_message.for_each(|state| state.is_taken_back = true);
        is_in_hand
    }
}

impl MessageInHand<'_> {
    /// Lets go of it, now that a deletion finds what it asked. Whether it was deleted before that.
    pub(crate) fn done(mut self) -> bool {
        // Whoever takes it after this keeps it.
        self.is_done = true;
        self.all.0.lock().remove(self.name).is_some_and(|state| state.is_taken_back)
    }
}

impl Drop for MessageInHand<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            self.all.0.lock().remove(self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_in_hand_once_until_it_is_done() {
        let all = MessagesInHand::default();
        let take = |name| all.take(name, name.to_owned());
        let first = take("a");
        assert!(first.is_some() && take("a").is_none() && take("b").is_some());
        drop(first);
        assert!(take("a").is_some());
    }

    #[test]
    fn who_has_a_message_hears_that_it_was_deleted_whichever_edit_of_it_that_is() {
        let all = MessagesInHand::default();
        let [first, edit, other] =
            [("a", "a"), ("a/2", "a"), ("b", "b")].map(|(name, of)| all.take(name, of.to_owned()));
        assert!(all.take_back("a") && !all.take_back("c"));
        assert_eq!([first, edit, other].map(|held| held.unwrap().done()), [true, true, false]);
        assert!(!all.take_back("a"), "it is done: what it asked is found now");
    }
}
