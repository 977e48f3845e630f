//! This module has the trait by which nodes of one deployment notify each other. Nothing on it is durable.

use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt};

/// Publish and subscribe between nodes. The store is the truth and the bus is a hint: a node that misses a message
/// finds the change in the store at its next poll, so that a bus that is away delays for seconds and loses nothing.
///
/// A message reaches the node that published it too. Messages of other deployments never arrive.
pub trait Bus: Send + Sync + 'static {
    /// Publishes `message` under `topic` without waiting. A message that finds the queue full, or is longer than
    /// [`BUS_MESSAGE_BYTES_MAX`], is dropped and counted.
    fn publish(&self, topic: &str, message: Bytes);

    /// The messages published under `topic` from now on. The stream ends with the bus. A subscriber that is too slow
    /// misses the oldest ones.
    fn subscribe(&self, topic: &str) -> BoxStream<'static, Bytes>;

    /// Why no other node can be reached at the moment, for readiness and logs; `None` when the bus is connected.
    fn fault(&self) -> Option<String>;
}

/// Bytes of one message on the bus. It names what changed (a task, a stream), and does not carry the change.
pub const BUS_MESSAGE_BYTES_MAX: usize = 16 * 1024;

/// The bus of a single node: publishing does nothing, and a subscription never yields.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoBus;

impl Bus for NoBus {
    fn publish(&self, _: &str, _: Bytes) {}

    fn subscribe(&self, _: &str) -> BoxStream<'static, Bytes> {
        stream::pending().boxed()
    }

    fn fault(&self) -> Option<String> {
        None
    }
}
