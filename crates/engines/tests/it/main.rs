//! Both engines: a PostgreSQL, a double of the search API, and a server of somebody else that speaks it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "they are tests")]

mod alike;
mod bulk;
mod suite;
mod wrong;
