//! One file per chapter of the specification or per matter, one test per rule.
#![allow(missing_docs)]

mod bounds;
mod contradictions;
mod deployments;
mod gate_plans;
mod hostile;
mod interleavings;
mod judged;
mod planning;
mod proposals;
mod recipes;
mod s10_1_2_gate;
mod s10_1_4_lifecycle;
mod s10_3_propose;
mod schemas;
mod shared_store;
mod support;
mod watched_store;
mod wirings;
