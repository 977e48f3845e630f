//! Which worker had the last turn of a conversation, so that the next one goes to it too.

use std::collections::HashMap;

use crate::limits::STICKY_CONVERSATIONS_MAX;

/// The last worker of conversations, by their names. Those that were not used for longest are forgotten: the newer half
/// of what is kept is found for sure.
#[derive(Debug, Default)]
pub(super) struct LastWorkers {
    young: HashMap<String, u64>,
    old: HashMap<String, u64>,
}

impl LastWorkers {
    /// The number of the worker that had the last turn.
    pub(super) fn of(&self, conversation: &str) -> Option<u64> {
        self.young.get(conversation).or_else(|| self.old.get(conversation)).copied()
    }

    /// Remembers that a worker has a turn of the conversation.
    pub(super) fn note(&mut self, conversation: String, worker: u64) {
        if self.young.len() >= STICKY_CONVERSATIONS_MAX / 2 && !self.young.contains_key(&conversation) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(conversation, worker);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_found_and_all_together_have_a_bound() {
        let mut last = LastWorkers::default();
        last.note("first".to_owned(), 1);
        last.note("first".to_owned(), 2);
        assert_eq!((last.of("first"), last.of("second")), (Some(2), None));
        for number in 0..STICKY_CONVERSATIONS_MAX as u64 {
            last.note(number.to_string(), number);
        }
        assert_eq!(last.of("first"), None);
        for number in STICKY_CONVERSATIONS_MAX as u64 / 2..STICKY_CONVERSATIONS_MAX as u64 {
            assert_eq!(last.of(&number.to_string()), Some(number));
        }
        assert!(last.young.len() + last.old.len() <= STICKY_CONVERSATIONS_MAX);
    }
}
