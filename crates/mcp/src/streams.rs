//! What was sent in the sessions of older clients, kept for a while: who lost a stream comes back with
//! the id of the last event seen and has the rest, the answer too if it came meanwhile. MCP 2025-11-25,
//! transports, resumability.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use rmcp::model::ServerJsonRpcMessage;
use rmcp::transport::common::server_side_http::ServerSseMessage;
use rmcp::transport::streamable_http_server::session::{EventId, EventStore, EventStoreError, EventStream};
use tokio::sync::watch;

use crate::limits::{EVENT_BYTES_KEPT_MAX, EVENTS_KEPT_MAX};

/// The events of all sessions, oldest first. The oldest make room.
#[derive(Default)]
pub(crate) struct Log {
    kept: Mutex<EventBuffer>,
    sessions: AtomicU64,
}

#[derive(Default)]
struct EventBuffer {
    events: VecDeque<LoggedEvent>,
    bytes: usize,
}

struct LoggedEvent {
    session: u64,
    /// The stream of a request; empty for the one that belongs to none.
    stream: String,
    /// Rises within a session.
    number: u64,
    bytes: usize,
    event: ServerSseMessage,
}

/// The events of one session. When it is dropped, they are gone, and streams that wait for more end.
pub(crate) struct Streams {
    log: Arc<Log>,
    session: u64,
    last: AtomicU64,
    told: watch::Sender<()>,
}

impl Streams {
    /// For a session that begins.
    pub(crate) fn new(log: Arc<Log>) -> Self {
        let session = log.sessions.fetch_add(1, Ordering::Relaxed);
        Self { log, session, last: AtomicU64::new(0), told: watch::Sender::new(()) }
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        self.log.kept.lock().forget(self.session);
    }
}

#[async_trait::async_trait]
impl EventStore for Streams {
    async fn store_event(&self, stream: &str, event: &ServerSseMessage) -> Result<EventId, EventStoreError> {
        // The SDK's name for the stream that belongs to no request.
        let stream = if stream.ends_with(":common") { "" } else { stream };
        let bytes = size(event)?;
        let id = {
            // Under the lock, so that events stand in the order of their numbers.
            let mut kept = self.log.kept.lock();
            let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
            let id = if stream.is_empty() { number.to_string() } else { format!("{number}/{stream}") };
            let mut event = event.clone();
            event.event_id = Some(id.clone());
            kept.push(LoggedEvent { session: self.session, stream: stream.to_owned(), number, bytes, event });
            id
        };
        self.told.send_replace(());
        Ok(id)
    }

    /// What came behind an event on its stream, and what is still to come.
    async fn replay_events_after(&self, seen: &str) -> Result<EventStream, EventStoreError> {
        let (number, stream) = seen.split_once('/').unwrap_or((seen, ""));
        let (mut after, stream) = (number.parse::<u64>()?, stream.to_owned());
        let (log, session, mut told) = (self.log.clone(), self.session, self.told.subscribe());
        Ok(Box::pin(async_stream::stream! {
            loop {
                // Seen before the look: what comes between the look and the wait still wakes that.
                told.borrow_and_update();
                let (behind, goes_on) = log.kept.lock().behind(session, &stream, after);
                for (number, event) in behind {
                    after = number;
                    yield event;
                }
                if !goes_on || told.changed().await.is_err() {
                    return;
                }
            }
        }))
    }
}

impl EventBuffer {
    fn push(&mut self, entry: LoggedEvent) {
        self.bytes += entry.bytes;
        self.events.push_back(entry);
        while self.events.len() > EVENTS_KEPT_MAX || self.bytes > EVENT_BYTES_KEPT_MAX {
            let Some(oldest) = self.events.pop_front() else { return };
            self.bytes -= oldest.bytes;
        }
    }

    fn forget(&mut self, session: u64) {
        self.events.retain(|entry| entry.session != session);
        self.bytes = self.events.iter().map(|entry| entry.bytes).sum();
    }

    /// The events of a stream behind `after`, and whether more may come: not behind the answer, and not on
    /// a stream of which nothing is known.
    fn behind(&self, session: u64, stream: &str, after: u64) -> (Vec<(u64, ServerSseMessage)>, bool) {
        let of_stream = |entry: &&LoggedEvent| entry.session == session && entry.stream == stream;
        let behind = self.events.iter().filter(of_stream).filter(|entry| entry.number > after);
        let behind = behind.map(|entry| (entry.number, entry.event.clone())).collect();
        let last = self.events.iter().rev().find(of_stream);
        (behind, stream.is_empty() || last.is_some_and(|last| !answers(&last.event)))
    }
}

/// Whether an event is the last of its stream.
fn answers(event: &ServerSseMessage) -> bool {
    matches!(event.message.as_deref(), Some(ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_)))
}

/// Bytes of an event as it is sent.
fn size(event: &ServerSseMessage) -> Result<usize, serde_json::Error> {
    let mut counted = ByteCounter(0);
    event.message.as_deref().map_or(Ok(()), |message| serde_json::to_writer(&mut counted, message))?;
    Ok(counted.0)
}

/// Counts what is written and keeps nothing.
struct ByteCounter(usize);

impl io::Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::StreamExt;
    use serde_json::{Value, json};

    use super::*;

    fn event(message: Value) -> ServerSseMessage {
        ServerSseMessage::from_message(serde_json::from_value(message).expect("a message"))
    }

    fn told(note: &str) -> ServerSseMessage {
        let params = json!({"progressToken": 1, "progress": 0.5, "message": note});
        event(json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))
    }

    fn answer() -> ServerSseMessage {
        event(json!({"jsonrpc": "2.0", "id": 1, "result": {}}))
    }

    async fn behind(streams: &Streams, seen: &str) -> Vec<String> {
        let stream = streams.replay_events_after(seen).await.expect("an id");
        stream.filter_map(async |event| event.event_id).collect().await
    }

    #[tokio::test]
    async fn a_stream_has_its_own_events_up_to_the_answer() {
        let streams = Streams::new(Arc::default());
        let first = streams.store_event("a", &ServerSseMessage::retry(Duration::ZERO)).await.expect("kept");
        streams.store_event("b", &told("of another")).await.expect("kept");
        let second = streams.store_event("a", &told("half")).await.expect("kept");
        let last = streams.store_event("a", &answer()).await.expect("kept");
        assert_eq!(behind(&streams, &first).await, [second.clone(), last.clone()]);
        assert_eq!(behind(&streams, &second).await, [last.as_str()]);
        assert_eq!(behind(&streams, &last).await, [""; 0], "who has the answer waits for nothing");
        assert_eq!(behind(&streams, "1/never").await, [""; 0]);
        assert!(streams.replay_events_after("nonsense").await.is_err());
    }

    #[tokio::test]
    async fn a_session_sees_nothing_of_another_and_leaves_nothing_behind() {
        let log = Arc::new(Log::default());
        let (one, other) = (Streams::new(log.clone()), Streams::new(log.clone()));
        one.store_event("a", &answer()).await.expect("kept");
        assert_eq!(behind(&other, "0/a").await, [""; 0]);
        let mut waits = other.replay_events_after("0").await.expect("an id");
        drop(other);
        assert!(waits.next().await.is_none(), "a session that is over ends its streams");
        drop(one);
        let kept = log.kept.lock();
        assert_eq!((kept.events.len(), kept.bytes), (0, 0));
    }

    #[test]
    fn so_many_events_are_kept_and_no_more() {
        let fill = |count: usize, bytes: usize| {
            let mut kept = EventBuffer::default();
            for number in 1..=count as u64 {
                kept.push(LoggedEvent { session: 0, stream: "a".into(), number, bytes, event: answer() });
            }
            (kept.events.len(), kept.events.front().map(|oldest| oldest.number))
        };
        assert_eq!(fill(EVENTS_KEPT_MAX, 1), (EVENTS_KEPT_MAX, Some(1)));
        assert_eq!(fill(EVENTS_KEPT_MAX + 1, 1), (EVENTS_KEPT_MAX, Some(2)));
        assert_eq!(fill(2, EVENT_BYTES_KEPT_MAX / 2), (2, Some(1)));
        assert_eq!(fill(3, EVENT_BYTES_KEPT_MAX / 2), (2, Some(2)));
        assert_eq!(fill(1, EVENT_BYTES_KEPT_MAX + 1), (0, None), "what is too large for all of it is not kept");
    }
}
