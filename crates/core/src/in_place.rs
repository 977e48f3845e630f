//! Large values that are made where they stay.

use std::pin::Pin;

/// What `make` makes, on the heap, where it is made: `Box::pin(value)` makes it on the stack and copies all of it, since
/// the allocation in between may unwind. For futures of a whole message that is several kilobytes a request.
///
/// Nothing that `make` takes along is copied needlessly if it is small: hand on what is large in a box of its own.
#[inline]
pub fn in_place<T>(make: impl FnOnce() -> T) -> Pin<Box<T>> {
    Box::into_pin(Box::write(Box::new_uninit(), make()))
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn a_future_is_what_it_was() {
        let words = "kept".to_owned();
        assert_eq!(in_place(move || async move { words }).now_or_never().as_deref(), Some("kept"));
    }
}
