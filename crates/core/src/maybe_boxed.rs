//! What one crate gives another to wait for.

use futures::future::{BoxFuture, Either, Ready, ready};

use crate::in_place::in_place;

/// An answer that is mostly there at once, or the work for it on the heap.
///
/// The body of an `async fn` is compiled in every crate that polls it, with everything below it. What crates wait for
/// of each other is therefore boxed where it is written, and this is for what most callers need no work for: they pay
/// for no allocation.
pub type MaybeBoxed<'a, T> = Either<Ready<T>, BoxFuture<'a, T>>;

/// The answer that is there.
pub fn at_once<'a, T>(answer: T) -> MaybeBoxed<'a, T> {
    Either::Left(ready(answer))
}

/// The work that `make` makes for an answer.
pub fn in_time<'a, T, F>(make: impl FnOnce() -> F) -> MaybeBoxed<'a, T>
where
    F: Future<Output = T> + Send + 'a,
{
    Either::Right(in_place(make))
}
