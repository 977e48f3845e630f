//! Mentionable REST v0.1 from the outside: the real routes over a host in memory, one test for each
//! MUST, named after its section.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used)]

mod artifacts;
mod background;
mod decisions;
mod discovery;
mod fields;
mod get;
mod identity;
mod negotiation;
mod once;
mod pages;
mod payments;
mod post;
mod problems;
mod refusals;
mod search;
mod security;
mod sessions;
mod several;
mod streaming;
mod support;
mod vectors;
mod webhooks;
