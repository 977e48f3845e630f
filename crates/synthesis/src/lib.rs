//! Contracts that are made with single callers while the host serves. Draft-hood-agtp-api-01 section 10.
//!
//! | module | sections | holds |
//! |---|---|---|
//! | [`settings`] | 8.7, 10.1.7 | the operator's switches |
//! | [`synthesis`] | 10.7 | an endpoint that could be made, with the calls that keep its promise |
//! | [`proposal`] | 10.4, 10.6 | what an agent proposes, read and evaluated |
//! | [`explanation`] | | a plan in words |
//! | [`meaning`] | | what members of inputs and outputs mean |
//! | [`plan`] | 10.5, 10.7 | from a recipe or from what is registered to a synthesis |
//! | [`contracts`] | 10.1.1, 10.1.4, 10.5, 10.8 | contracts from their making to their end, in the store |
//! | [`negotiator`] | 10.1, 10.3 | who may have one, and what becomes of a call: the gate, PROPOSE, lifecycle |
//! | [`limits`] | | every bound, with its unit |

pub mod contracts;
pub mod explanation;
pub mod limits;
pub mod meaning;
mod nearby;
pub mod negotiator;
pub mod plan;
pub mod proposal;
mod refusal;
pub mod settings;
mod shape;
pub mod synthesis;
mod wanted;

pub use synthesis::Synthesis;
