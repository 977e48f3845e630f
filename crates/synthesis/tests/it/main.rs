//! One file per chapter of the specification, one test per rule.
#![allow(missing_docs)]

mod bounds;
mod interleavings;
mod s10_1_2_gate;
mod s10_1_4_lifecycle;
mod s10_3_propose;
mod shared_store;
mod support;
mod watched_store;
