//! The provider of a model behind a chat completions API: one request, and its reply as it comes in.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use forecourt_core::{Clock, Ending, json};
use forecourt_egress::{Egress, UpstreamRequest, hops};
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use serde_json::{Map, Value};
use tokio::time::Instant;
use tracing::Instrument;

use crate::draft::ModelReplyDraft;
use crate::error::{self, ProviderError};
use crate::limits::MODEL_BODY_BYTES_MAX;
use crate::preset::Quirks;
use crate::reply_trace::ReplyTrace;
use crate::service::Service;
use forecourt_agents::sse_reader::SseEvent;
use forecourt_agents::upstream::{self, CallTimeouts, TimedResponse, UpstreamFailure};

/// Bytes of an error that are read, for the log.
const ERROR_BYTES_MAX: usize = 4 * 1024;
/// How often a request is tried again when no connection could be made.
const RETRIES: usize = 1;

/// Where the model is, and how it is asked.
pub struct Provider {
    /// The way out.
    pub egress: Egress,
    /// Where chats are completed.
    pub url: String,
    /// What traces call it.
    pub service: Service,
    /// The key among them.
    pub headers: HeaderMap,
    /// The fields of each request that the settings decide.
    pub fields: Map<String, Value>,
    /// In what the API differs from the common form.
    pub quirks: Quirks,
    /// `first` is the wait for the head of an answer, of which a request may name a shorter one, `idle` that for its
    /// first piece.
    pub timeouts: CallTimeouts,
    /// The wait from one piece to the next.
    pub stall: Duration,
    /// The time, for `Retry-After`.
    pub clock: Arc<dyn Clock>,
}

/// Until when a reply is waited for.
#[derive(Debug, Clone, Copy)]
pub struct ReplyWait {
    /// When it must have begun.
    pub beginning: Instant,
    /// When it must be whole.
    pub end: Instant,
}

impl ReplyWait {
    /// One moment for both.
    pub fn until(end: Instant) -> Self {
        Self { beginning: end, end }
    }
}

/// A reply as it comes in.
pub struct ModelReply {
    source: ReplySource,
    /// What it is traced by, to its end.
    trace: ReplyTrace,
    /// The part of the reply that has come so far.
    pub draft: ModelReplyDraft,
}

/// The next piece of a streamed reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// The next words of the answer.
    Text(String),
    /// The model thinks, which takes a while and is no answer.
    Thought,
}

enum ReplySource {
    Events(BoxStream<'static, Result<SseEvent, UpstreamFailure>>),
    /// An answer in one piece.
    Whole(Value),
    Ended,
}

impl Provider {
    /// Asks, and waits for the reply to begin, for as long as `wait` says.
    pub fn ask<'a>(
        &'a self,
        body: &'a Map<String, Value>,
        hop: u32,
        wait: ReplyWait,
    ) -> BoxFuture<'a, Result<ModelReply, ProviderError>> {
        Box::pin(async move {
            let mut headers = self.headers.clone();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
            hops::write(&mut headers, hop);
            let request = UpstreamRequest { headers, ..UpstreamRequest::post(&self.url, Bytes::from(json_text(body))) };
            let now = Instant::now();
            let total = wait.end.saturating_duration_since(now);
            let first = self.timeouts.first.min(wait.beginning.saturating_duration_since(now));
            let mut trace = ReplyTrace::of_request(&self.service, body);
            let response =
                upstream::send(&self.egress, request, CallTimeouts { first, total, ..self.timeouts }, RETRIES);
            let response = response.instrument(trace.span().clone()).await;
            let response = response.map_err(|error| self.unanswered(error, &mut trace))?;
            if !response.status.is_success() {
                trace.failed(response.status.as_str());
                return Err(self.declined(response).await);
            }
            let source = match response.mime().as_str() {
                "application/json" => ReplySource::Whole(whole(response, &mut trace).await?),
                // The first piece may take `timeouts.idle`, later ones `stall`.
                _ => ReplySource::Events(response.events(self.stall)),
            };
            Ok(ModelReply { source, trace, draft: ModelReplyDraft::new(self.quirks.starts_thinking) })
        })
    }

    /// The error for a request to which no answer began; tells the log when the provider can't be reached.
    fn unanswered(&self, error: UpstreamFailure, trace: &mut ReplyTrace) -> ProviderError {
        trace.failed(error.name());
        if error == UpstreamFailure::Unreachable {
            let provider = &self.url;
            tracing::warn!(
                provider,
                "the model provider can't be reached: is it running? With Ollama: `ollama serve`, then `ollama pull MODEL`"
            );
        }
        ProviderError::from(error)
    }

    /// The error for a status other than 2xx, from the beginning of the body.
    async fn declined(&self, response: TimedResponse) -> ProviderError {
        let (status, headers) = (response.status, response.headers.clone());
        let said = response.bytes(ERROR_BYTES_MAX).await.unwrap_or_default();
        error::declined(status, &headers, &said, &*self.clock)
    }
}

fn json_text(body: &Map<String, Value>) -> String {
    serde_json::to_string(body).unwrap_or_default()
}

async fn whole(response: TimedResponse, trace: &mut ReplyTrace) -> Result<Value, ProviderError> {
    let bytes = response.bytes(MODEL_BODY_BYTES_MAX).await.inspect_err(|error| trace.failed(error.name()))?;
    json::parse(&bytes).map_err(|error| unreadable(&error, trace))
}

impl ModelReply {
    /// A reply of which nothing more comes.
    pub fn ended(draft: ModelReplyDraft) -> Self {
        Self { source: ReplySource::Ended, trace: ReplyTrace::none(), draft }
    }

    /// What comes next. `None` when the reply has ended; [`ModelReplyDraft::finish`] knows how.
    pub fn next_piece(&mut self) -> impl Future<Output = Result<Option<Piece>, ProviderError>> + Send {
        poll_fn(|cx| self.poll_piece(cx))
    }

    /// The next words of the answer, whatever is thought in between.
    pub fn next_text(&mut self) -> impl Future<Output = Result<Option<String>, ProviderError>> + Send {
        poll_fn(|cx| self.poll_text(cx))
    }

    fn poll_text(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<String>, ProviderError>> {
        loop {
            match ready!(self.poll_piece(cx))? {
                Some(Piece::Text(text)) => return Poll::Ready(Ok(Some(text))),
                Some(Piece::Thought) => {}
                None => return Poll::Ready(Ok(None)),
            }
        }
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Piece>, ProviderError>> {
        loop {
            let Some(chunk) = ready!(self.poll_chunk(cx))? else { return Poll::Ready(Ok(self.rest())) };
            // An error in the reply counts as one, whatever else comes with it.
            let taken = self.draft.take(&chunk).inspect_err(|_| self.trace.failed("reported"))?;
            if !taken.text.is_empty() {
                return Poll::Ready(Ok(Some(Piece::Text(taken.text))));
            }
            if taken.is_thought {
                return Poll::Ready(Ok(Some(Piece::Thought)));
            }
        }
    }

    /// The next chunk of the reply. `None`: nothing follows.
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Value>, ProviderError>> {
        let (event, is_streamed) = match &mut self.source {
            ReplySource::Ended => {
                self.trace.ended();
                return Poll::Ready(Ok(None));
            }
            ReplySource::Whole(value) => (Some(Ok(Some(std::mem::take(value)))), false),
            ReplySource::Events(events) => {
                let event = ready!(events.poll_next_unpin(cx));
                (event.map(|event| chunk(event, &mut self.trace)), true)
            }
        };
        let chunk = event.transpose()?;
        // A server may say that nothing follows, or just end.
        if !is_streamed || matches!(chunk, Some(None)) {
            self.draft.done();
        }
        let Some(chunk) = chunk.flatten() else {
            self.source = ReplySource::Ended;
            match self.draft.has_ended() {
                true => self.trace.ended(),
                false => self.trace.failed(UpstreamFailure::Broken.name()),
            }
            return Poll::Ready(Ok(None));
        };
        self.trace.take(&chunk, is_streamed);
        if !is_streamed {
            self.source = ReplySource::Ended;
        }
        Poll::Ready(Ok(Some(chunk)))
    }

    fn rest(&mut self) -> Option<Piece> {
        let rest = self.draft.rest();
        (!rest.is_empty()).then_some(Piece::Text(rest))
    }
}

/// The chunk in an event. `None`: nothing follows.
fn chunk(event: Result<SseEvent, UpstreamFailure>, trace: &mut ReplyTrace) -> Result<Option<Value>, ProviderError> {
    let event = event.inspect_err(|error| trace.failed(error.name()))?;
    match event.data.trim() {
        "[DONE]" => Ok(None),
        // An empty `data` line holds no chunk, and must not end the reply.
        "" => Ok(Some(Value::Null)),
        data => json::parse(data.as_bytes()).map(Some).map_err(|error| unreadable(&error, trace)),
    }
}

fn unreadable(reason: &str, trace: &mut ReplyTrace) -> ProviderError {
    trace.failed("unreadable");
    tracing::warn!(reason, "the model provider answered something unreadable");
    ProviderError::Away(Ending::failed("The model provider gave an answer that could not be read."))
}
