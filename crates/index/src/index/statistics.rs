//! What is counted over all items, where a snapshot has some of them.

use std::collections::HashMap;

use tantivy::Term;
use tantivy::schema::Field;

/// The numbers of all items, which rank some of them as they are ranked among all.
#[derive(Debug, Clone, Default)]
pub(crate) struct Statistics {
    /// Items that there are.
    pub(crate) documents: u64,
    /// Terms of each field in all of them together, about.
    pub(crate) tokens: HashMap<Field, u64>,
    /// Items that have a term, of those that were asked for.
    pub(crate) frequencies: HashMap<Term, u64>,
}
