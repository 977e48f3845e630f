//! What tests share: a hand-set clock, counted entropy, vectors and a scripted agent.

mod ambient;
mod vectors;

pub use ambient::{CountedEntropy, HandClock};
pub use vectors::{vectors, vectors_dir};
