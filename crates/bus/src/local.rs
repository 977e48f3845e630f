//! A bus within one process: for hosts that share a store in one program, for tests, and behind every other bus.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use bytes::Bytes;
use forecourt_core::Bus;
use forecourt_core::bus::BUS_MESSAGE_BYTES_MAX;
use futures::stream::{self, BoxStream, StreamExt};
use parking_lot::Mutex;
use tokio::sync::broadcast::{self, Receiver, Sender, error::RecvError};

/// Messages that a listener may be behind; the oldest are dropped. Each listener is told that something is new, so
/// that one message would do.
const BEHIND_MAX: usize = 64;

/// Tells every listener within this process.
#[derive(Default)]
pub struct LocalBus {
    topics: Arc<Topics>,
}

/// Who listens to what.
#[derive(Default)]
struct Topics {
    /// A topic is here for as long as somebody listens.
    listened: Mutex<HashMap<String, Topic>>,
    /// Told of each topic that has its first listener, `true`, or lost its last one, in that order.
    watcher: Option<TopicWatcher>,
}

/// One topic.
struct Topic {
    sender: Sender<Bytes>,
    /// Counted here, since a receiver is gone only some time after its end.
    listeners: usize,
}

type TopicWatcher = Box<dyn Fn(&str, bool) + Send + Sync>;

impl Topics {
    fn tell_watcher(&self, topic: &str, is_listened: bool) {
        if let Some(watcher) = &self.watcher {
            watcher(topic, is_listened);
        }
    }
}

impl LocalBus {
    /// A bus whose `watcher` is told of each topic that has its first listener, `true`, or lost its last one. It must
    /// not wait, nor ask this bus anything.
    pub(crate) fn watched(watcher: impl Fn(&str, bool) + Send + Sync + 'static) -> Self {
        Self { topics: Arc::new(Topics { listened: Mutex::default(), watcher: Some(Box::new(watcher)) }) }
    }

    /// How many topics somebody listens to.
    pub fn topics(&self) -> usize {
        self.topics.listened.lock().len()
    }

    /// Tells whoever listens here, and says whether anybody does.
    pub(crate) fn tell(&self, topic: &str, message: Bytes) -> bool {
        self.topics.listened.lock().get(topic).is_some_and(|topic| topic.sender.send(message).is_ok())
    }
}

impl Bus for LocalBus {
    fn publish(&self, topic: &str, message: Bytes) {
        if fits(topic, &message) {
            self.tell(topic, message);
        }
    }

    fn subscribe(&self, topic: &str) -> BoxStream<'static, Bytes> {
        let mut listened = self.topics.listened.lock();
        let there = listened.entry(topic.to_owned()).or_insert_with(|| {
            // Under the lock, so that comings and goings are told in their order.
            self.topics.tell_watcher(topic, true);
            Topic { sender: broadcast::channel(BEHIND_MAX).0, listeners: 0 }
        });
        there.listeners += 1;
        let (receiver, topics) = (there.sender.subscribe(), Arc::downgrade(&self.topics));
        stream::unfold(Listener { receiver, topics, topic: topic.to_owned() }, Listener::next).boxed()
    }

    fn fault(&self) -> Option<String> {
        None
    }
}

/// Whether a message is short enough to be told.
pub(crate) fn fits(topic: &str, message: &Bytes) -> bool {
    let fits = message.len() <= BUS_MESSAGE_BYTES_MAX;
    if !fits {
        tracing::warn!(topic, bytes = message.len(), "a message that is too long for the bus was dropped");
    }
    fits
}

/// One who listens; the last one takes the topic along.
struct Listener {
    receiver: Receiver<Bytes>,
    topics: Weak<Topics>,
    topic: String,
}

impl Listener {
    async fn next(mut self) -> Option<(Bytes, Self)> {
        loop {
            match self.receiver.recv().await {
                Ok(message) => return Some((message, self)),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // Weak, so that streams end with the bus: each would otherwise keep its own sender alive.
        let Some(topics) = self.topics.upgrade() else { return };
        let mut listened = topics.listened.lock();
        let Some(topic) = listened.get_mut(&self.topic) else { return };
        topic.listeners -= 1;
        if topic.listeners == 0 {
            listened.remove(&self.topic);
            topics.tell_watcher(&self.topic, false);
        }
    }
}
