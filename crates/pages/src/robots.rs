//! What a page tells search engines about itself.

/// The content of `robots` for a page that may be found, or must not be.
pub(crate) fn of(is_indexed: bool) -> &'static str {
    if is_indexed { "index, follow" } else { "noindex, nofollow, noarchive" }
}
