//! The provider of a model behind a chat completions API: one request, its reply as it comes in, and the
//! provider's faults in words. Whatever a provider does wrong is an honest failure; the details go to the log.
//!
//! | file | holds |
//! |---|---|
//! | `draft.rs` | chunks of a reply, put together |
//! | `settings.rs` | the keys that every section with a provider has |

pub mod draft;
pub mod settings;

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use forecourt_core::{Clock, Ending, json};
use forecourt_egress::{Egress, UpstreamRequest, hops};
use futures::{Stream, StreamExt};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::declined::{RetryAfter, unavailable};
use crate::limits::MODEL_BODY_BYTES_MAX;
use crate::sse_reader::SseEvent;
use crate::upstream::{self, CallTimeouts, TimedResponse, UpstreamFailure};
use draft::ModelReplyDraft;

/// How our own words call the provider.
pub const WHO: &str = "The model provider";

/// Bytes of an error that are read, for the log.
const ERROR_BYTES_MAX: usize = 4 * 1024;
/// Bytes of an error's code that reaches the log.
const CODE_BYTES_MAX: usize = 64;
/// How often a request is tried again when no connection could be made.
const RETRIES: usize = 1;

/// Where the model is, and how it is asked.
pub struct Provider {
    /// The way out.
    pub egress: Egress,
    /// Where chats are completed.
    pub url: String,
    /// The key among them.
    pub headers: HeaderMap,
    /// The fields of each request that the settings decide.
    pub fields: Map<String, Value>,
    /// `idle` is the wait for the first piece of an answer.
    pub timeouts: CallTimeouts,
    /// The wait from one piece to the next.
    pub stall: Duration,
    /// The time, for `Retry-After`.
    pub clock: Arc<dyn Clock>,
}

/// A reply as it comes in.
pub struct ModelReply {
    source: ReplySource,
    /// What has come of it by now.
    pub draft: ModelReplyDraft,
}

/// Why a request got no reply.
pub enum ProviderError {
    /// The provider does not take a request like this. A plainer one it might.
    Unfit(Ending),
    /// It broke over the request, as some do over what they do not know.
    Broke(Ending),
    /// Anything else.
    Other(Ending),
}

impl ProviderError {
    /// What it comes to, when nothing is tried again.
    pub fn into_ending(self) -> Ending {
        match self {
            Self::Unfit(ending) | Self::Broke(ending) | Self::Other(ending) => ending,
        }
    }
}

enum ReplySource {
    Events(Pin<Box<dyn Stream<Item = Result<SseEvent, UpstreamFailure>> + Send>>),
    /// An answer in one piece.
    Whole(Value),
    Ended,
}

impl Provider {
    /// Asks, and waits for the reply to begin.
    pub async fn ask(
        &self,
        body: &Map<String, Value>,
        hop: u32,
        deadline: Instant,
    ) -> Result<ModelReply, ProviderError> {
        let mut headers = self.headers.clone();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
        hops::write(&mut headers, hop);
        let request = UpstreamRequest { headers, ..UpstreamRequest::post(&self.url, Bytes::from(json_text(body))) };
        let total = deadline.saturating_duration_since(Instant::now());
        let response = upstream::send(&self.egress, request, CallTimeouts { total, ..self.timeouts }, RETRIES).await;
        let response = response.map_err(|fault| ProviderError::Other(fault.ending(WHO)))?;
        if !response.status.is_success() {
            return Err(self.declined(response).await);
        }
        let source = match response.mime().as_str() {
            "application/json" => ReplySource::Whole(whole(response).await.map_err(ProviderError::Other)?),
            _ => ReplySource::Events(Box::pin(response.events(self.stall))),
        };
        Ok(ModelReply { source, draft: ModelReplyDraft::default() })
    }

    /// What a status other than success comes to. The provider's own words may quote what it was asked, so
    /// that the log has its code for them alone.
    async fn declined(&self, response: TimedResponse) -> ProviderError {
        let (status, headers) = (response.status, response.headers.clone());
        let said = response.bytes(ERROR_BYTES_MAX).await.unwrap_or_default();
        let code = serde_json::from_slice(&said).map(|said: Value| code(&said["error"])).unwrap_or_default();
        tracing::warn!(status = status.as_u16(), code, "the model provider declined");
        let seconds = RetryAfter::read(&headers).map(|wait| wait.seconds(&*self.clock));
        let ending = match status {
            StatusCode::TOO_MANY_REQUESTS => {
                unavailable("The model behind this agent is busy. Please try again later.", seconds)
            }
            StatusCode::SERVICE_UNAVAILABLE if seconds.is_some() => {
                unavailable("The model behind this agent is away for a moment. Please try again later.", seconds)
            }
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Ending::failed("The model provider refused our key."),
            status if status.is_server_error() => Ending::failed("The model provider failed."),
            _ => Ending::failed("The model provider did not accept the request."),
        };
        match status {
            StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND | StatusCode::UNPROCESSABLE_ENTITY => {
                ProviderError::Unfit(ending)
            }
            StatusCode::INTERNAL_SERVER_ERROR | StatusCode::NOT_IMPLEMENTED => ProviderError::Broke(ending),
            _ => ProviderError::Other(ending),
        }
    }
}

fn json_text(body: &Map<String, Value>) -> String {
    serde_json::to_string(body).unwrap_or_default()
}

async fn whole(response: TimedResponse) -> Result<Value, Ending> {
    let bytes = response.bytes(MODEL_BODY_BYTES_MAX).await.map_err(|fault| fault.ending(WHO))?;
    json::parse(&bytes).map_err(|error| unreadable(&error))
}

impl ModelReply {
    /// A reply of which nothing more comes.
    pub fn ended(draft: ModelReplyDraft) -> Self {
        Self { source: ReplySource::Ended, draft }
    }

    /// The next text. `None` when the reply has ended; [`ModelReplyDraft::finish`] knows how.
    pub async fn next(&mut self) -> Result<Option<String>, Ending> {
        loop {
            let chunk = match &mut self.source {
                ReplySource::Ended => return Ok(None),
                ReplySource::Whole(value) => {
                    let value = std::mem::take(value);
                    self.draft.done();
                    self.source = ReplySource::Ended;
                    value
                }
                ReplySource::Events(events) => match events.next().await {
                    None => return Ok(None),
                    Some(event) => match chunk(event)? {
                        Some(chunk) => chunk,
                        None => {
                            self.draft.done();
                            self.source = ReplySource::Ended;
                            return Ok(None);
                        }
                    },
                },
            };
            let text = self.draft.take(&chunk)?;
            if !text.is_empty() {
                return Ok(Some(text));
            }
        }
    }
}

/// The chunk in an event. `None`: nothing follows.
fn chunk(event: Result<SseEvent, UpstreamFailure>) -> Result<Option<Value>, Ending> {
    let event = event.map_err(|fault| fault.ending(WHO))?;
    match event.data.trim() {
        "[DONE]" => Ok(None),
        "" => Ok(Some(Value::Null)),
        data => json::parse(data.as_bytes()).map(Some).map_err(|error| unreadable(&error)),
    }
}

/// What a provider calls an error: its code or its type, where these are words of the protocol.
pub fn code(error: &Value) -> String {
    let is_code = |text: &&str| {
        text.len() <= CODE_BYTES_MAX && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
    };
    let mut texts = ["code", "type", "status"].iter().filter_map(|key| error.get(*key)?.as_str());
    texts.find(is_code).unwrap_or("none that is known").to_owned()
}

fn unreadable(reason: &str) -> Ending {
    tracing::warn!(reason, "the model provider answered something unreadable");
    Ending::failed("The model provider gave an answer that could not be read.")
}
