//! A client of both versions: for fronting remote agents, and for `forecourt ask`.
//!
//! | what | file |
//! |---|---|
//! | a URL into an agent that can be asked | `discovery.rs` |
//! | which interface | `endpoint.rs` |
//! | one agent: operations and streams | `peer.rs` |
//! | requests and answers in both bindings | `wire.rs`, `exchange.rs`, `error.rs` |
//! | one answer over as many connections as it takes | `follow.rs` |
//! | its items as events, each piece once | `unfold.rs` |
//! | which refusals are believed | `receive.rs`, `demotions.rs` |

mod demotions;
pub(crate) mod discovery;
pub(crate) mod endpoint;
mod error;
mod exchange;
mod follow;
pub mod limits;
mod peer;
mod receive;
mod unfold;
mod wire;

pub use demotions::Demotions;
pub use discovery::{DiscoveredAgent, Discovery, DiscoveryError, Rules};
pub use endpoint::{Binding, Endpoint};
pub use error::PeerError;
pub use exchange::ClientTimeouts;
pub use follow::{Start, follow};
pub use peer::{Arrivals, Peer, PeerConfig, StreamItem};
pub use receive::{RefusalStatus, judge};
pub use unfold::{TaskCursor, Unfolding};
pub use wire::RawAnswer;
