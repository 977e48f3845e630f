//! What tests share: a hand-set clock, counted entropy, vectors, judged questions and a scripted agent.

mod ambient;
mod dear;
pub mod judged;
mod proven;
mod scripted;
pub mod store_suite;
mod vectors;

pub use ambient::{CountedEntropy, HandClock};
pub use dear::dear;
pub use proven::proven;
pub use scripted::{ScriptedAgent, Step, card};
pub use vectors::{vectors, vectors_dir};
