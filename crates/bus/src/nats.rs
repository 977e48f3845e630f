//! A bus over NATS: what one node says, the others hear.
//!
//! Everything of a deployment is under one subject, `forecourt.ID.…`, each topic under its own; each message names who
//! sent it and its whole topic. A node hears the topics that somebody here listens to, and no others. Listeners of this
//! process are told at once and without the server, so that what its own parts tell each other works while NATS is
//! away. Plain publish and subscribe: nothing is lost that the store does not have.
//!
//! | file | holds |
//! |---|---|
//! | `options.rs` | where the servers are, and who this node is to them |
//! | `message.rs` | messages as they go over the wire, and their subjects |
//! | `subscriptions.rs` | what this node hears |

mod message;
mod options;
mod subscriptions;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_nats::connection::State;
use async_nats::{Client, Event, ServerAddr};
use bytes::Bytes;
use forecourt_core::{Bus, Entropy, ids};
use forecourt_telemetry::spans;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc};

use self::message::{kind_of, sealed, subject_of};
use self::subscriptions::{Hearing, Interest, Open, Subscriptions, Task};
use crate::local::{LocalBus, fits};

pub use self::options::{BusError, NatsOptions, ServerName};
pub use self::subscriptions::BUS_SUBSCRIPTIONS_MAX;

/// Messages that may wait to be sent; what comes then is dropped and counted.
pub const BUS_QUEUE_MAX: usize = 4_096;
/// What the bus is called in traces.
const SYSTEM: &str = "nats";

/// What went over the bus since it was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BusCounts {
    /// Messages that were taken to be sent.
    pub published: u64,
    /// Messages of other nodes.
    pub received: u64,
    /// Messages for which there was no room.
    pub dropped: u64,
    /// Messages on our subject that no node sent.
    pub foreign: u64,
    /// Subscriptions that are open at the moment.
    pub subscriptions: u64,
    /// Times that a server was connected again after the first one.
    pub reconnects: u64,
    /// Messages that wait to be sent, at most [`BUS_QUEUE_MAX`].
    pub waiting: u64,
}

#[derive(Default)]
struct Counters {
    published: AtomicU64,
    received: AtomicU64,
    dropped: AtomicU64,
    foreign: AtomicU64,
    subscriptions: AtomicU64,
}

/// Tells the other nodes over NATS, and reconnects by itself for as long as it lives.
pub struct NatsBus {
    local: Arc<LocalBus>,
    client: Client,
    servers: String,
    subject: String,
    sender: String,
    queue: mpsc::Sender<(String, Bytes)>,
    counters: Arc<Counters>,
    state: Arc<ConnectionNews>,
    _subscriptions: Task,
}

/// What the client said last of its connection.
#[derive(Default)]
struct ConnectionNews {
    error: Mutex<Option<String>>,
    changed: Notify,
    /// How often a server was connected.
    connects: AtomicU64,
}

impl NatsBus {
    /// Opens the bus, and waits for its first connection for at most so long: where no server is there in that time,
    /// it goes on trying, and [`Bus::fault`] says so.
    ///
    /// # Errors
    /// The settings are wrong. That a server is away is no error.
    pub fn open<'a>(
        options: &'a NatsOptions,
        entropy: &'a dyn Entropy,
        wait_max: Duration,
    ) -> BoxFuture<'a, Result<Arc<Self>, BusError>> {
        Box::pin(async move {
            let servers = options.servers()?;
            let names = servers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let state = Arc::new(ConnectionNews::default());
            let told = state.clone();
            let connect = options.connect_options().await?.event_callback(move |event| {
                let told = told.clone();
                async move { told.take(&event) }
            });
            let addresses: Vec<ServerAddr> = servers.into_iter().map(|ServerName(address)| address).collect();
            let client = connect.connect(addresses).await.map_err(|error| BusError::Settings(error.to_string()))?;
            let subject = format!("forecourt.{}", options.deployment);
            let (queue, waiting) = mpsc::channel(BUS_QUEUE_MAX);
            let (interest, counters) = (Arc::new(Interest::default()), Arc::new(Counters::default()));
            let local = Arc::new(LocalBus::watched({
                let interest = interest.clone();
                move |topic, is_listened| interest.note(topic, is_listened)
            }));
            let sender: String = ids::mint(entropy).chars().take(22).collect();
            tokio::spawn(send(client.clone(), waiting, counters.clone()));
            let hearing = Hearing {
                local: Arc::downgrade(&local),
                subject: subject.as_str().into(),
                own: sender.as_str().into(),
                counters: counters.clone(),
            };
            let subscriptions = Subscriptions {
                client: client.clone(),
                subject: subject.clone(),
                interest,
                hearing,
                open: Open::default(),
            };
            let _subscriptions = Task(tokio::spawn(subscriptions.run()).abort_handle());
            let bus = Arc::new(Self {
                local,
                client,
                servers: names,
                subject,
                sender,
                queue,
                counters,
                state,
                _subscriptions,
            });
            // What comes of it is for `fault` to say.
            let _ = tokio::time::timeout(wait_max, bus.connected()).await;
            Ok(bus)
        })
    }

    /// Returns once a server is connected.
    pub fn connected(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            loop {
                let mut changed = std::pin::pin!(self.state.changed.notified());
                // Before the look, so that a connection made in between is noticed.
                changed.as_mut().enable();
                if self.client.connection_state() == State::Connected {
                    return;
                }
                changed.await;
            }
        })
    }

    /// Counts since the bus was opened.
    pub fn counts(&self) -> BusCounts {
        let Counters { published, received, dropped, foreign, subscriptions } = &*self.counters;
        let [published, received, dropped, foreign, subscriptions] =
            [published, received, dropped, foreign, subscriptions].map(|counter| counter.load(Ordering::Relaxed));
        let reconnects = self.state.connects.load(Ordering::Relaxed).saturating_sub(1);
        let waiting = (self.queue.max_capacity() - self.queue.capacity()) as u64;
        BusCounts { published, received, dropped, foreign, subscriptions, reconnects, waiting }
    }
}

impl Bus for NatsBus {
    fn publish(&self, topic: &str, message: Bytes) {
        if !fits(topic, &message) {
            return;
        }
        // First and whatever becomes of the rest: parts of this process work without the server.
        self.local.tell(topic, message.clone());
        let subject = subject_of(&self.subject, topic);
        let _span = spans::publish(SYSTEM, kind_of(topic)).entered();
        // No caller of `publish` waits for a server that is away: what finds no room is counted.
        let counter = match self.queue.try_send((subject, sealed(&self.sender, topic, &message))) {
            Ok(()) => &self.counters.published,
            Err(_) => &self.counters.dropped,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    fn subscribe(&self, topic: &str) -> BoxStream<'static, Bytes> {
        self.local.subscribe(topic)
    }

    fn fault(&self) -> Option<String> {
        if self.client.connection_state() == State::Connected {
            return None;
        }
        let why = self.state.error.lock().clone().map(|error| format!(": {error}")).unwrap_or_default();
        Some(format!("the bus at {} is away{why}", self.servers))
    }
}

impl ConnectionNews {
    fn take(&self, event: &Event) {
        match event {
            Event::Connected => {
                self.connects.fetch_add(1, Ordering::Relaxed);
                if self.error.lock().take().is_some() {
                    tracing::info!("the bus is back");
                }
            }
            Event::ClientError(_) | Event::ServerError(_) | Event::Disconnected => {
                let text = event.to_string();
                // Once for each reason, and not for each attempt.
                if self.error.lock().replace(text.clone()).as_ref() != Some(&text) {
                    tracing::warn!(error = text, "the bus");
                }
            }
            Event::SlowConsumer(_) => tracing::warn!("the bus says more than is read: some of it is dropped"),
            Event::LameDuckMode | Event::Draining | Event::Closed => {}
        }
        self.changed.notify_waiters();
    }
}

/// Sends what waits. While no server is there, it waits.
async fn send(client: Client, mut waiting: mpsc::Receiver<(String, Bytes)>, counters: Arc<Counters>) {
    while let Some((subject, message)) = waiting.recv().await {
        if client.publish(subject, message).await.is_err() {
            counters.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}
