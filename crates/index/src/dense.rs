//! Meaning as vectors: an optional model, the vectors of all items, and the search for the nearest.

mod collect;
mod file;
mod graph;
mod links;
mod nearest;
mod quantized;
#[cfg(test)]
mod tests;
mod vectors;
mod write;

pub(crate) use collect::{Collector, tidy};
pub(crate) use forecourt_embed::Model;
pub(crate) use nearest::{FilteredVisit, Near};
pub(crate) use vectors::{Vectors, drop_damaged};
