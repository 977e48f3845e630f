//! The server from bytes to bytes: a host in memory, and streams in place of sockets.

mod bodies;
mod connections;
mod identity;
mod order;
mod responses;
mod statuses;
pub(crate) mod support;
mod vectors;
