//! What a row of a graph is joined to, wherever that is kept.

/// The links of a graph, in a file or in memory.
pub(super) trait Links {
    /// The rows that a row is joined to.
    fn of(&self, row: u32) -> impl Iterator<Item = u32>;
}
