//! One file per matter, one test per rule.
#![allow(missing_docs)]

mod gate_plans;
mod hostile;
mod proposals;
mod recipes;
mod support;
