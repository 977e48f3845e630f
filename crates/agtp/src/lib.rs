//! The Agent Transfer Protocol, AGTP/1.0.
//!
//! | file | holds | serves |
//! |---|---|---|
//! | `wire.rs`, `wire/` | requests and responses as they are on the wire | base 2.1, 2.4, 2.5 |
//! | `codec.rs`, `codec/` | bytes to messages and back, without a socket | base 2.1 |
//! | `client.rs`, `client/` | requests to servers elsewhere, over connections that are kept; URIs | base 1, 2 |
//! | `connection.rs` | requests and answers on one connection, with its deadlines | base 1 |
//! | `limits.rs` | every bound, with its unit | |

mod ask;
pub mod client;
pub mod codec;
pub mod connection;
pub mod limits;
mod reply;
mod service;
mod status;
pub mod wire;
