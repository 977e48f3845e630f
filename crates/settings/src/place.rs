//! Where something stands in a settings file.

/// A place in a file, counted from 1, with the line that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) excerpt: String,
}
