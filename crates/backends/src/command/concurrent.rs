//! Workers that speak version 2 of the protocol: one process answers several messages at once.
//!
//! Every line of it is read as it comes, whoever is slow to take it, and goes to the turn that it names and to no
//! other. A turn that nobody wants any more is cancelled and not killed, so that the others go on.

mod calls;
mod queue;
mod reader;
#[cfg(test)]
mod tests;
mod turn;
mod turns;
mod worker;

pub(super) use turn::{ConcurrentTurn, TurnTimes};
pub(super) use worker::{ConcurrentWorker, TurnSource, WorkerHome};
