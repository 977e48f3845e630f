//! The server from bytes to bytes: a host in memory, and streams in place of sockets.

mod bodies;
mod certificates;
mod connections;
mod gateway;
mod hostile;
mod identity;
mod native;
mod negotiation;
mod oauth;
mod order;
mod paths;
mod published;
mod records;
mod responses;
mod statuses;
pub(crate) mod support;
mod vectors;
