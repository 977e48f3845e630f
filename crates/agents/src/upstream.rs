//! Talking to services that the operator named: one place for their deadlines and their failures.

use std::time::Duration;

use async_stream::stream;
use bytes::Bytes;
use forecourt_core::{Ending, FailureCause};
use forecourt_egress::{BodyStream, Deadlines, Egress, EgressError, UpstreamRequest, UpstreamResponse};
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use http::{HeaderMap, StatusCode};
use tokio::time::{Instant, timeout, timeout_at};

use crate::declined::unavailable;
use crate::limits::{ANSWER_BYTES_MAX, FRAME_BYTES_MAX};
use crate::sse_reader::{SseEvent, SseReader};

/// How long a service may take for each step.
#[derive(Debug, Clone, Copy)]
pub struct CallTimeouts {
    /// From the request to the head of the answer, the connection included.
    pub first: Duration,
    /// From one piece of the answer to the next.
    pub idle: Duration,
    /// For all of it.
    pub total: Duration,
}

/// Why a service gave no whole answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpstreamFailure {
    /// No connection was made; nothing was sent.
    Unreachable,
    /// No head of an answer came within `CallTimeouts::first`.
    Slow,
    /// The answer began, then nothing came for `CallTimeouts::idle`.
    Stalled,
    /// The answer was not whole within `CallTimeouts::total`.
    Overtime,
    /// The connection broke.
    Broken,
    /// The answer has more bytes than its bound.
    TooLarge,
    /// The egress client has too many requests under way; nothing was sent.
    Busy,
}

impl UpstreamFailure {
    /// What traces call it: the `error.type`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Slow | Self::Overtime => "timeout",
            Self::Stalled => "stalled",
            Self::Broken => "broken",
            Self::TooLarge => "too_large",
            Self::Busy => "busy",
        }
    }

    /// The ending that says so, for a service called `who`.
    pub fn ending(self, who: &str) -> Ending {
        let (cause, what) = match self {
            Self::Unreachable => (FailureCause::Unreachable, "can't be reached at the moment"),
            Self::Slow => (FailureCause::TimedOut, "did not begin to answer in time"),
            Self::Stalled => (FailureCause::CutOff, "stopped in the middle of its answer"),
            Self::Overtime => (FailureCause::TimedOut, "took too long for its answer"),
            Self::Broken => (FailureCause::CutOff, "broke off in the middle of its answer"),
            Self::TooLarge => (FailureCause::OverBound, "gave an answer that is too large"),
            Self::Busy => return unavailable("This agent is busy. Please try again in a moment.", Some(1)),
        };
        cause.ending(format!("{who} {what}."))
    }
}

/// An answer that has begun, with the moment by which it must have ended.
pub struct TimedResponse {
    /// The status of the answer.
    pub status: StatusCode,
    /// Its HTTP headers.
    pub headers: HeaderMap,
    body: BodyStream,
    timeouts: CallTimeouts,
    deadline: Instant,
}

/// Sends `request` and waits for the head of the answer. Tried again, at most `retries` times, only
/// when no connection could be made: nothing was sent then, so nothing can happen twice.
pub fn send(
    egress: &Egress,
    request: UpstreamRequest,
    timeouts: CallTimeouts,
    retries: usize,
) -> BoxFuture<'_, Result<TimedResponse, UpstreamFailure>> {
    Box::pin(async move {
        let deadline = Instant::now() + timeouts.total;
        let request = request.within(backstop(timeouts));
        let mut left = retries;
        loop {
            // Two timers, so that the failure tells which bound was hit: `first` (Slow) or `total` (Overtime).
            let sent = timeout_at(deadline, timeout(timeouts.first, egress.send_upstream(request.clone())));
            let failure = match sent.await {
                Ok(Ok(Ok(incoming))) => return Ok(TimedResponse::new(incoming, timeouts, deadline)),
                Ok(Ok(Err(error))) => failure_of(&error),
                Ok(Err(_)) => UpstreamFailure::Slow,
                Err(_) => UpstreamFailure::Overtime,
            };
            match left.checked_sub(1).filter(|_| failure == UpstreamFailure::Unreachable) {
                Some(rest) => left = rest,
                None => return Err(failure),
            }
            let pause = RETRY_PAUSE * u32::try_from(retries - left).unwrap_or(1);
            if timeout_at(deadline, tokio::time::sleep(pause)).await.is_err() {
                return Err(UpstreamFailure::Overtime);
            }
        }
    })
}

/// The wait before the second attempt; each further one waits as much longer.
const RETRY_PAUSE: Duration = Duration::from_millis(200);

/// Our own waits come first, as they say which one it was; the client's bounds stand behind them.
fn backstop(timeouts: CallTimeouts) -> Deadlines {
    let margin = Duration::from_secs(5);
    Deadlines {
        connect: forecourt_egress::limits::CONNECT_TIME_MAX,
        first_byte: timeouts.first + margin,
        total: timeouts.total + margin,
        body_bytes_max: ANSWER_BYTES_MAX,
    }
}

/// The cause goes to the log: it tells of the inside.
fn failure_of(error: &EgressError) -> UpstreamFailure {
    tracing::warn!(reason = error.log_reason(), "a backend's service failed");
    match error {
        EgressError::Unconnected(_) | EgressError::Refused(_) => UpstreamFailure::Unreachable,
        EgressError::Failed(_) | EgressError::Status(_) => UpstreamFailure::Broken,
        EgressError::TooLarge { .. } => UpstreamFailure::TooLarge,
        EgressError::Busy => UpstreamFailure::Busy,
    }
}

impl TimedResponse {
    fn new(incoming: UpstreamResponse, timeouts: CallTimeouts, deadline: Instant) -> Self {
        let UpstreamResponse { status, headers, body, .. } = incoming;
        Self { status, headers, body, timeouts, deadline }
    }

    /// The essence of the media type, in lower case, without parameters.
    pub fn mime(&self) -> String {
        let text = self.headers.get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        text.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// The next bytes. `None`: the answer ended in good order.
    async fn chunk(&mut self) -> Option<Result<Bytes, UpstreamFailure>> {
        match timeout_at(self.deadline, timeout(self.timeouts.idle, self.body.next())).await {
            Ok(Ok(chunk)) => Some(chunk?.map_err(|error| failure_of(&error))),
            Ok(Err(_)) => Some(Err(UpstreamFailure::Stalled)),
            Err(_) => Some(Err(UpstreamFailure::Overtime)),
        }
    }

    /// The whole body.
    pub fn bytes(mut self, bytes_max: usize) -> BoxFuture<'static, Result<Vec<u8>, UpstreamFailure>> {
        Box::pin(async move {
            let mut bytes = Vec::new();
            while let Some(chunk) = self.chunk().await {
                let chunk = chunk?;
                if bytes.len() + chunk.len() > bytes_max {
                    return Err(UpstreamFailure::TooLarge);
                }
                bytes.extend_from_slice(&chunk);
            }
            Ok(bytes)
        })
    }

    /// The body as lines without their ends; empty ones are left out. Ends after the first failure. Once a line has come,
    /// the service may be silent for `idle_later`.
    pub fn lines(mut self, idle_later: Duration) -> BoxStream<'static, Result<Vec<u8>, UpstreamFailure>> {
        Box::pin(stream! {
            let mut line = Vec::new();
            while let Some(chunk) = self.chunk().await {
                let chunk = match chunk {
                    Ok(chunk) => chunk,
                    Err(failure) => {
                        yield Err(failure);
                        return;
                    }
                };
                let mut pieces = chunk.split(|byte| *byte == b'\n').peekable();
                while let Some(piece) = pieces.next() {
                    if line.len() + piece.len() > FRAME_BYTES_MAX {
                        yield Err(UpstreamFailure::TooLarge);
                        return;
                    }
                    line.extend_from_slice(piece);
                    // Behind the last piece there was no end yet.
                    if pieces.peek().is_some() && !line.trim_ascii().is_empty() {
                        self.timeouts.idle = idle_later;
                        yield Ok(std::mem::take(&mut line));
                    } else if pieces.peek().is_some() {
                        line.clear();
                    }
                }
            }
            if !line.trim_ascii().is_empty() {
                yield Ok(line);
            }
        })
    }

    /// The body as server-sent events. Ends after the first failure. Once an event has come, the
    /// service may be silent for `idle_later`.
    pub fn events(mut self, idle_later: Duration) -> BoxStream<'static, Result<SseEvent, UpstreamFailure>> {
        Box::pin(stream! {
            let mut reader = SseReader::new(FRAME_BYTES_MAX);
            while let Some(chunk) = self.chunk().await {
                let pushed = chunk.and_then(|chunk| reader.push(&chunk).map_err(|_| UpstreamFailure::TooLarge));
                // Events that were complete before a failure in the same chunk are still handed on.
                while let Some(event) = reader.next_event() {
                    // A model may think for minutes before its first event; a pause of that length behind it means that
                    // it is stuck.
                    self.timeouts.idle = idle_later;
                    yield Ok(event);
                }
                if let Err(failure) = pushed {
                    yield Err(failure);
                    return;
                }
            }
        })
    }
}
