//! This module lets an agent note how far its work has come, so that it goes on from there after its node was lost.

use std::fmt;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;

/// Keeps the notes of one piece of work with its task.
pub trait JournalKeeper: Send + Sync {
    /// Names the piece of work, the same in every try: a UUID.
    fn work(&self) -> &str;

    /// What earlier tries have left.
    fn earlier(&self) -> EarlierTry;

    /// Has a note written behind the earlier ones. Does not wait for it.
    fn note(&self, note: Value);

    /// Waits until all that was noted is where whoever goes on with the work finds it.
    ///
    /// # Errors
    /// It can't be written, or somebody else goes on with the work already.
    fn written(&self) -> BoxFuture<'_, Result<(), NotWritten>>;

    /// Whether another node goes on with the work.
    fn is_handed_over(&self) -> bool;
}

/// What earlier tries of the same work have left.
#[derive(Debug, Clone, PartialEq)]
pub enum EarlierTry {
    /// There was none.
    None,
    /// Their notes, oldest first. Where there are none, nothing was begun that is noted first.
    Left(Vec<Value>),
}

/// What work is about to do can't be noted, so that it must not be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a note of work can't be written")]
pub struct NotWritten;

/// The notes of one piece of work, from which it goes on after its node was lost; without a keeper nothing is kept, and
/// the work ends with its node. Clones are of the same work.
///
/// What must not happen twice is noted and [`WorkJournal::written`] before it is begun.
#[derive(Clone, Default)]
pub struct WorkJournal(Option<Arc<dyn JournalKeeper>>);

impl WorkJournal {
    /// A journal in the hands of `keeper`.
    pub fn new(keeper: Arc<dyn JournalKeeper>) -> Self {
        Self(Some(keeper))
    }

    /// Whether anything is kept.
    pub fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Names the piece of work, the same in every try: a UUID. `None` where nothing is kept.
    pub fn work(&self) -> Option<&str> {
        self.0.as_ref().map(|keeper| keeper.work())
    }

    /// What earlier tries have left.
    pub fn earlier(&self) -> EarlierTry {
        self.0.as_ref().map_or(EarlierTry::None, |keeper| keeper.earlier())
    }

    /// Has a note written behind the earlier ones, as soon as the work has a task. Does not wait for it. Over the bounds
    /// of its keeper nothing is noted any more, and the work ends with its node.
    pub fn note(&self, note: Value) {
        if let Some(keeper) = &self.0 {
            keeper.note(note);
        }
    }

    /// Waits until all that was noted is where whoever goes on with the work finds it; not at all as long as nobody
    /// could, since there is no task yet or nothing is kept.
    ///
    /// # Errors
    /// It can't be written, or somebody else goes on with the work already: what was to be done next must not be.
    pub fn written(&self) -> BoxFuture<'_, Result<(), NotWritten>> {
        match &self.0 {
            Some(keeper) => keeper.written(),
            None => std::future::ready(Ok(())).boxed(),
        }
    }

    /// Whether another node goes on with the work: whoever stops then leaves what lives elsewhere as it is.
    pub fn is_handed_over(&self) -> bool {
        self.0.as_ref().is_some_and(|keeper| keeper.is_handed_over())
    }
}

/// Tells whether there is a keeper, and no note.
impl fmt::Debug for WorkJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WorkJournal").field(&self.0.is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_keeper_it_is_the_first_try_of_work_that_ends_with_its_node() {
        let journal = WorkJournal::default();
        assert_eq!((journal.work(), journal.earlier(), journal.is_handed_over()), (None, EarlierTry::None, false));
        journal.note(Value::Null);
        assert_eq!((journal.written().now_or_never(), journal.is_kept()), (Some(Ok(())), false));
    }
}
