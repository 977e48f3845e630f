//! This module has the type of future that one crate returns to another.

use futures::future::{BoxFuture, Either, Ready, ready};

use crate::in_place::in_place;

/// A future that is usually ready, or a boxed one that has to wait.
///
/// The body of an `async fn` is compiled again in every crate that polls it, with everything below it, so futures that
/// cross a crate's border are boxed in the crate that owns the body. Where most calls have nothing to wait for, this
/// saves them the allocation.
pub type MaybeBoxed<'a, T> = Either<Ready<T>, BoxFuture<'a, T>>;

/// A future that is ready with `answer`.
pub fn at_once<'a, T>(answer: T) -> MaybeBoxed<'a, T> {
    Either::Left(ready(answer))
}

/// The future that `make` returns, made in its box: see [`in_place()`](crate::in_place()).
pub fn in_time<'a, T, F>(make: impl FnOnce() -> F) -> MaybeBoxed<'a, T>
where
    F: Future<Output = T> + Send + 'a,
{
    Either::Right(in_place(make))
}
