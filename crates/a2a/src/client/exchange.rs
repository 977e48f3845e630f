//! One request and its answer as it comes, within the patience of whoever asks.

use std::time::Duration;

use async_stream::stream;
use bytes::{Bytes, BytesMut};
use forecourt_agents::sse_reader::{SseEvent, SseReader};
use forecourt_core::json;
use forecourt_egress::{BodyStream, Deadlines, Egress, Purpose, UpstreamRequest, UpstreamResponse};
use futures::{Stream, StreamExt};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};
use serde_json::Value;
use tokio::time::timeout;

use super::error::PeerError;
use super::limits::{ANSWER_BYTES_MAX, CONNECTS_MAX, FRAME_BYTES_MAX, RESUME_PAUSE};

/// How long a remote agent may take for each step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientTimeouts {
    /// From a request to the head of its answer, the connection included.
    pub first: Duration,
    /// From one piece of an answer to the next; comments that keep a stream alive count.
    pub idle: Duration,
    /// For a whole answer, over however many connections.
    pub total: Duration,
}

/// An answer that has begun.
pub(super) struct PeerResponse {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    body: BodyStream,
    idle: Duration,
}

/// Sends `request`. Tried again only when no connection could be made: nothing was sent then, so
/// nothing can happen twice.
pub(super) async fn send(
    egress: &Egress,
    purpose: Purpose,
    request: UpstreamRequest,
    patience: ClientTimeouts,
) -> Result<PeerResponse, PeerError> {
    let request = request.within(backstop(patience));
    let mut tries = 1;
    loop {
        let sent = timeout(patience.first, egress.send(purpose, request.clone())).await;
        let fault = match sent {
            Ok(Ok(UpstreamResponse { status, headers, body, .. })) => {
                return Ok(PeerResponse { status, headers, body, idle: patience.idle });
            }
            Ok(Err(error)) => PeerError::of_egress(&error),
            Err(_) => PeerError::Slow,
        };
        if !matches!(fault, PeerError::Unreachable(_)) || tries >= CONNECTS_MAX {
            return Err(fault);
        }
        tokio::time::sleep(RESUME_PAUSE * tries).await;
        tries += 1;
    }
}

/// Our own waits come first, as they say which one it was; the bounds of the way out stand behind.
fn backstop(patience: ClientTimeouts) -> Deadlines {
    let margin = Duration::from_secs(5);
    Deadlines {
        connect: forecourt_egress::limits::CONNECT_TIME_MAX,
        first_byte: patience.first + margin,
        total: patience.total + margin,
        body_bytes_max: ANSWER_BYTES_MAX,
    }
}

/// A body as JSON, `null` when it is empty. A body that is no JSON is unreadable, or with a status other
/// than success that status.
pub(super) fn read_json(status: StatusCode, bytes: &[u8]) -> Result<Value, PeerError> {
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    json::parse(bytes).map_err(|error| match status.is_success() {
        true => PeerError::unreadable(error),
        false => PeerError::Status(status.as_u16()),
    })
}

impl PeerResponse {
    /// Whether the answer is a stream of events.
    pub(super) fn is_stream(&self) -> bool {
        self.mime() == "text/event-stream"
    }

    /// The essence of the media type, in lower case.
    fn mime(&self) -> String {
        let text = self.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        text.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// The next bytes. `None`: the answer ended in good order.
    async fn chunk(&mut self) -> Option<Result<Bytes, PeerError>> {
        match timeout(self.idle, self.body.next()).await {
            Ok(chunk) => Some(chunk?.map_err(|error| PeerError::of_egress(&error))),
            Err(_) => Some(Err(PeerError::Stalled)),
        }
    }

    /// The whole body.
    pub(super) async fn bytes(mut self) -> Result<Bytes, PeerError> {
        let mut bytes = BytesMut::new();
        let mut first = Bytes::new();
        while let Some(chunk) = self.chunk().await {
            let chunk = chunk?;
            if first.len() + bytes.len() + chunk.len() > FRAME_BYTES_MAX {
                return Err(PeerError::TooLarge);
            }
            // Most answers come in one piece, which is not copied.
            if first.is_empty() && bytes.is_empty() {
                first = chunk;
                continue;
            }
            bytes.extend_from_slice(&std::mem::take(&mut first));
            bytes.extend_from_slice(&chunk);
        }
        Ok(if bytes.is_empty() { first } else { bytes.freeze() })
    }

    /// The body as server-sent events. Ends after the first fault.
    pub(super) fn events(mut self) -> impl Stream<Item = Result<SseEvent, PeerError>> + Send {
        stream! {
            let mut reader = SseReader::new(FRAME_BYTES_MAX);
            while let Some(chunk) = self.chunk().await {
                let pushed = chunk.and_then(|chunk| reader.push(&chunk).map_err(|_| PeerError::TooLarge));
                // Events that were whole before the fault come first: the last one may be the ending.
                while let Some(event) = reader.next_event() {
                    yield Ok(event);
                }
                if let Err(fault) = pushed {
                    yield Err(fault);
                    return;
                }
            }
        }
    }
}
