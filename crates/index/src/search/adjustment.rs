//! A rule for the places of items.

use std::sync::Arc;

use forecourt_understanding::Filter;

/// A rule that gives some items another place than they have by how well they fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Adjustment {
    /// What it is called, for explanations.
    pub name: String,
    /// The items that it is about: those that pass all filters of one of these lists. Shared, since every question has
    /// them.
    pub items: Arc<[Vec<Filter>]>,
    /// What it does to them.
    pub effect: Effect,
}

/// What a rule does to its items.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Effect {
    /// They come first if they keep the limits of the question, at most [`crate::limits::PINNED_ITEMS_MAX`] of them, in
    /// the order of their keys.
    Pin {
        /// Whether they are found even where nothing else is.
        even_alone: bool,
    },
    /// Their scores count this many times, among the first [`crate::limits::ADJUSTED_ITEMS_MAX`]. With 0, they come
    /// behind the others of these.
    Worth(f32),
}
