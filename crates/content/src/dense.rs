//! Meaning as vectors: an optional model, the vectors of all items, and an exact scan over them.

mod collect;
mod file;
mod model;
mod vectors;

pub(crate) use collect::Collector;
pub(crate) use model::Model;
pub(crate) use vectors::{Near, Vectors};
