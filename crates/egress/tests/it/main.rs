//! The way out: what is refused, what is kept, and what servers may do to it.

mod recordings;
mod s6_connections;
mod s6_data_urls;
mod s6_exchanges;
mod s6_handshakes;
mod s6_revisits;
mod s6_targets;
mod s6_upstreams;
mod s7_webhook_signatures;
mod support;
