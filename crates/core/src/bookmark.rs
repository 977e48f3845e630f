//! This module lets an agent whose work lives elsewhere say where it is, so that it is found again after its node was
//! lost.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::limits::BOOKMARK_BYTES_MAX;

/// Keeps the place of one piece of work with its task.
pub trait BookmarkKeeper: Send + Sync {
    /// Names the piece of work, the same in every try: a UUID.
    fn work(&self) -> &str;

    /// What an earlier try has left.
    fn earlier(&self) -> EarlierTry;

    /// Has the place written, in place of an earlier one. Does not wait for it.
    fn keep(&self, place: Value);

    /// Whether another node goes on with the work.
    fn is_handed_over(&self) -> bool;
}

/// What an earlier try of the same work has left.
#[derive(Debug, Clone, PartialEq)]
pub enum EarlierTry {
    /// There was none.
    None,
    /// There was one, and nobody knows how far it came: it kept no place.
    Unknown,
    /// The place that it kept last.
    At(Value),
}

/// The place of one piece of work that lives elsewhere; without a keeper nothing is kept. Clones are of the same work.
#[derive(Clone, Default)]
pub struct Bookmark(Option<Arc<dyn BookmarkKeeper>>);

/// A place that is not kept, since it has more than [`BOOKMARK_BYTES_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a place of work has at most {BOOKMARK_BYTES_MAX} bytes as JSON")]
pub struct BookmarkTooLarge;

impl Bookmark {
    /// A bookmark in the hands of `keeper`.
    pub fn new(keeper: Arc<dyn BookmarkKeeper>) -> Self {
        Self(Some(keeper))
    }

    /// Names the piece of work, the same in every try: a UUID. `None` where nothing is kept.
    pub fn work(&self) -> Option<&str> {
        self.0.as_ref().map(|keeper| keeper.work())
    }

    /// What an earlier try has left.
    pub fn earlier(&self) -> EarlierTry {
        self.0.as_ref().map_or(EarlierTry::None, |keeper| keeper.earlier())
    }

    /// Has the place written, in place of an earlier one, as soon as the work has a task. Does not wait for it.
    ///
    /// # Errors
    /// It is larger than [`BOOKMARK_BYTES_MAX`] as JSON: then an earlier one stays.
    pub fn keep(&self, place: Value) -> Result<(), BookmarkTooLarge> {
        let Some(keeper) = &self.0 else { return Ok(()) };
        if place.to_string().len() > BOOKMARK_BYTES_MAX {
            return Err(BookmarkTooLarge);
        }
        keeper.keep(place);
        Ok(())
    }

    /// Whether another node goes on with the work: whoever stops then leaves what lives elsewhere as it is.
    pub fn is_handed_over(&self) -> bool {
        self.0.as_ref().is_some_and(|keeper| keeper.is_handed_over())
    }
}

/// Tells whether there is a keeper, and no place.
impl fmt::Debug for Bookmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Bookmark").field(&self.0.is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Kept(Mutex<Vec<Value>>);

    impl BookmarkKeeper for Kept {
        fn work(&self) -> &'static str {
            "work"
        }

        fn earlier(&self) -> EarlierTry {
            EarlierTry::Unknown
        }

        fn keep(&self, place: Value) {
            self.0.lock().unwrap().push(place);
        }

        fn is_handed_over(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_place_is_bounded_in_bytes() {
        let kept = Arc::new(Kept::default());
        let bookmark = Bookmark::new(kept.clone());
        // Two of them are the quotes.
        let of = |bytes: usize| Value::from("x".repeat(bytes - 2));
        assert_eq!(bookmark.keep(of(BOOKMARK_BYTES_MAX)), Ok(()));
        let refused = bookmark.keep(of(BOOKMARK_BYTES_MAX + 1)).unwrap_err();
        assert!(refused.to_string().contains("2048"), "{refused}");
        assert_eq!(kept.0.lock().unwrap().len(), 1);
    }

    #[test]
    fn without_a_keeper_it_is_the_first_try_of_work_that_nobody_finds_again() {
        let bookmark = Bookmark::default();
        assert_eq!((bookmark.work(), bookmark.earlier(), bookmark.is_handed_over()), (None, EarlierTry::None, false));
        assert_eq!(bookmark.keep(Value::Null), Ok(()));
    }
}
