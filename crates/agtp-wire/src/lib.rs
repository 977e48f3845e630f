//! The wire of the Agent Transfer Protocol, AGTP/1.0: what a server and a client of it share. Knows neither a host nor
//! a socket.
//!
//! | module | holds | serves |
//! |---|---|---|
//! | [`message`] | requests and responses as they are on the wire | base 2.1, 2.4, 2.5 |
//! | [`codec`] | bytes to messages and back | base 2.1 |
//! | [`status`] | status codes, each with its reason phrase | base 4; AGTP-API 11 |
//! | [`uri`] | `agtp://` and what it names | base 1 |
//! | [`media_types`] | media types that both sides name | AGTP-API 17.2 |
//! | [`limits`] | every bound of messages, with its unit | |

pub mod codec;
pub mod limits;
pub mod media_types;
pub mod message;
pub mod status;
pub mod uri;

/// The protocol's name: its section, its messages, its requests in metrics, and its listener for TLS, under which a
/// running daemon writes down the port.
pub const NAME: &str = "agtp";
