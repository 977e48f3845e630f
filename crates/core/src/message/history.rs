//! This module holds the earlier turns of a conversation, shared by all messages of it.

use std::ops::Deref;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::Turn;

/// Earlier turns, oldest first. Reads like a slice; copying it copies no turn, so that a long conversation
/// costs a message no more than a short one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    turns: Arc<Vec<Turn>>,
    /// How many of the oldest are left out.
    skipped: usize,
}

impl History {
    /// Leaves out the oldest turns but `count`.
    pub fn keep_newest(&mut self, count: usize) {
        // The turns are shared with other messages of the conversation, so the oldest are skipped and not removed.
        self.skipped += self.len().saturating_sub(count);
    }

    /// Changes the turns that are there. Copies them only while somebody else holds them.
    pub fn for_each_mut(&mut self, change: impl FnMut(&mut Turn)) {
        Arc::make_mut(&mut self.turns).iter_mut().for_each(change);
    }

    /// Adds turns at the end. Copies those there are only while somebody else holds them.
    pub fn extend(&mut self, turns: impl IntoIterator<Item = Turn>) {
        let all = Arc::make_mut(&mut self.turns);
        // What was skipped is dropped here: the copy, or the sole owner, must not carry turns that nobody can read.
        all.drain(..std::mem::take(&mut self.skipped));
        all.extend(turns);
    }
}

impl Deref for History {
    type Target = [Turn];

    fn deref(&self) -> &[Turn] {
        &self.turns[self.skipped..]
    }
}

impl Serialize for History {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self[..].serialize(serializer)
    }
}

impl From<Vec<Turn>> for History {
    fn from(turns: Vec<Turn>) -> Self {
        Self { turns: Arc::new(turns), skipped: 0 }
    }
}

impl FromIterator<Turn> for History {
    fn from_iter<I: IntoIterator<Item = Turn>>(turns: I) -> Self {
        turns.into_iter().collect::<Vec<_>>().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Role, text_of};

    fn texts(history: &History) -> Vec<String> {
        history.iter().map(|turn| text_of(&turn.parts)).collect()
    }

    #[test]
    fn a_copy_stays_as_it_was_when_the_conversation_goes_on() {
        let mut all: History = ["a", "b", "c"].map(|word| Turn::text(Role::User, word)).into_iter().collect();
        let copy = all.clone();
        all.keep_newest(2);
        assert_eq!(texts(&all), ["b", "c"]);
        all.extend([Turn::text(Role::User, "d")]);
        assert_eq!(
            (texts(&all), texts(&copy)),
            (vec!["b".into(), "c".into(), "d".into()], vec!["a".into(), "b".into(), "c".into()])
        );
        all.keep_newest(3);
        assert_eq!(all.len(), 3);
        all.keep_newest(0);
        assert!(all.is_empty());
    }
}
