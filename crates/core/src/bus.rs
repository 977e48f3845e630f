//! How the nodes of one deployment tell each other what is new.

use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt};

/// Tells every node that listens. The store is the truth and the bus is a hint: a node that misses a message finds
/// out from the store within the time that its user names, so that a bus that is away delays and loses nothing.
///
/// What is said reaches this node too. Messages of other deployments never arrive.
pub trait Bus: Send + Sync + 'static {
    /// Tells whoever listens to `topic`, without waiting: what finds no room in the queue, or is more than
    /// [`BUS_MESSAGE_BYTES_MAX`], is dropped and counted.
    fn publish(&self, topic: &str, message: Bytes);

    /// What is said under `topic` from here on. It ends when the bus does. A listener that is too slow misses the
    /// oldest.
    fn subscribe(&self, topic: &str) -> BoxStream<'static, Bytes>;

    /// Why nobody else can be told at the moment; `None` when all is well.
    fn fault(&self) -> Option<String>;
}

/// Bytes of one message on the bus: it says that something is new, and where, not what.
pub const BUS_MESSAGE_BYTES_MAX: usize = 16 * 1024;

/// For a host without others beside it.
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
