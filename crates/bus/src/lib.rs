//! What carries hints between the nodes of one deployment, behind [`forecourt_core::Bus`].
//!
//! | file | holds |
//! |---|---|
//! | `local.rs` | within one process |
//! | `nats.rs` | over NATS |

mod local;
mod nats;

pub use local::LocalBus;
pub use nats::{BUS_QUEUE_MAX, BUS_SUBSCRIPTIONS_MAX, BusCounts, BusError, NatsBus, NatsOptions, ServerName};
