//! What a span tells of a request to a model and of its reply, to the end of that: which model, how many tokens, why it
//! ended. Nothing of what is said. While nothing is recorded, this costs a look at the span.

use forecourt_telemetry::spans::{self, ChatRequest};
use serde_json::{Map, Value};
use tokio::time::Instant;
use tracing::Span;

use crate::metering::Usage;
use crate::service::Service;

/// A reply that nobody read to its end.
const CANCELED: &str = "canceled";

/// The span of a request, until its reply is at its end.
pub(crate) struct ReplyTrace {
    span: Span,
    asked: Instant,
    /// Whether a piece of the reply has come.
    has_begun: bool,
    usage: Option<Usage>,
    reason: Option<String>,
    /// Whether it is at its end, or has failed.
    is_over: bool,
}

impl ReplyTrace {
    /// Of a request with this body, sent now.
    pub(crate) fn of_request(service: &Service, body: &Map<String, Value>) -> Self {
        Self::of(spans::chat(|| request(service, body)))
    }

    /// Of nothing.
    pub(crate) fn none() -> Self {
        Self::of(Span::none())
    }

    fn of(span: Span) -> Self {
        Self { span, asked: Instant::now(), has_begun: false, usage: None, reason: None, is_over: false }
    }

    pub(crate) fn span(&self) -> &Span {
        &self.span
    }

    /// A piece of the reply, or all of it.
    pub(crate) fn take(&mut self, chunk: &Value, is_streamed: bool) {
        if self.span.is_disabled() {
            return;
        }
        if !self.has_begun && !chunk.is_null() {
            self.has_begun = true;
            spans::record_reply_names(&self.span, chunk["id"].as_str(), chunk["model"].as_str());
            if is_streamed {
                spans::record_first_chunk(&self.span, self.asked.elapsed().as_secs_f64());
            }
        }
        // Told at the end: each piece may count anew, and an attribute stands once.
        self.usage = Usage::read(chunk).or(self.usage);
        if let Some(reason) = chunk["choices"][0]["finish_reason"].as_str() {
            self.reason = Some(reason.to_owned());
        }
    }

    /// Nothing follows, and nothing is missing.
    pub(crate) fn ended(&mut self) {
        self.is_over = true;
    }

    /// It failed, in a word of a closed set or a status. What was first counts.
    pub(crate) fn failed(&mut self, kind: &str) {
        spans::record_error(&self.span, kind, !self.is_over);
        self.is_over = true;
    }
}

impl Drop for ReplyTrace {
    fn drop(&mut self) {
        if self.span.is_disabled() {
            return;
        }
        if let Some(usage) = self.usage {
            spans::record_tokens(&self.span, usage.input, usage.cached, usage.output);
        }
        if let Some(reason) = &self.reason {
            spans::record_finish(&self.span, reason);
        }
        self.failed(CANCELED);
    }
}

fn request<'a>(service: &'a Service, body: &'a Map<String, Value>) -> ChatRequest<'a> {
    let (number, whole) = (|key: &str| body.get(key)?.as_f64(), |key: &str| body.get(key)?.as_i64());
    let format = body.get("response_format").and_then(|format| format["type"].as_str());
    ChatRequest {
        provider: service.provider,
        model: body.get("model").and_then(Value::as_str).unwrap_or_default(),
        server: service.server.as_ref().map(|(host, port)| (host.as_str(), *port)),
        is_streamed: body.get("stream").and_then(Value::as_bool).unwrap_or_default(),
        max_tokens: whole("max_completion_tokens").or_else(|| whole("max_tokens")),
        temperature: number("temperature"),
        top_p: number("top_p"),
        frequency_penalty: number("frequency_penalty"),
        presence_penalty: number("presence_penalty"),
        seed: whole("seed"),
        is_json: format.is_some_and(|format| format.starts_with("json")),
    }
}
