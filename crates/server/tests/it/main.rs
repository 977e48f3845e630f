//! The listeners, seen from the other end of a socket.
#![allow(missing_docs, clippy::unwrap_used)]

mod authority;
mod caps;
mod client_certificates;
mod drain;
mod durations;
mod framing;
mod front;
mod http2;
mod streams;
mod support;
mod tls;
