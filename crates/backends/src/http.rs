//! `http`: somebody else's service answers, over a webhook.
//!
//! Each message is one POST. Its body is Mentionable's normalized message as JSON: `id`,
//! `thread_id`, `sender`, `recipient`, `parts`, `history`, `language`, `received_via`, `received_at`.
//! Fields beside those of the settings: `Idempotency-Key`, the same in all attempts at one message;
//! `X-Hub-Signature-256`, HMAC-SHA-256 over the exact body, when there is a `secret`; and a count of
//! the agents in line, against endless calls.
//!
//! The service answers in one of these ways, each with a 2xx status:
//!
//! - `application/json`: one object, or a list of them, with the keys of [`crate::answer`], such as
//!   `{"text": "Hello."}`.
//! - `text/event-stream`: events as they happen. An event without a name is a fragment of text. Others
//!   are named after the keys of [`crate::answer`] and hold the value in JSON: `event: part`,
//!   `event: tool_call`, `event: progress` and so on. `event: end` ends the answer; a stream that
//!   stops without it, or another ending, was broken off.
//! - `application/x-ndjson`: such objects, one a line, as they happen. As with events, the answer needs an ending.
//! - `text/plain` or `text/markdown`: the answer as it is.
//!
//! - 202 with `Location` (or `Operation-Location`): it works on the message, and tells there how that stands (RFC 9110,
//!   15.3.3). A GET of that address is answered 202 for as long as there is no answer, then in one of the ways above, or
//!   by 303 with the `Location` of the answer. `Retry-After` says when to ask next. The address is of the origin that the
//!   message was posted to, since the same fields are sent there. `monitor.rs`.
//!
//! With another status, a JSON body with `policy` or `error` is taken as the answer; 429 and 503 are
//! passed on as "try again later", with their `Retry-After`; the rest is a failure, which says whether the
//! service refused our credentials (401), did not let us in (403), was not there (404) or broke.

mod monitor;
mod place;
pub(crate) mod settings;

use std::sync::Arc;

use async_stream::stream;
use bytes::Bytes;
use forecourt_core::agent::AddressedFiles;
use forecourt_core::limits::REPLY_TEXT_BYTES_MAX;
use forecourt_core::{
    Admitted, Agent, Clock, Ending, Entropy, EventStream, FailureCause, Message, SubjectToken, WorkJournal, ids, json,
};
use forecourt_egress::{Egress, UpstreamRequest, hops, signature};
use forecourt_settings::{Problems, Section};
use futures::{Stream, StreamExt};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};
use url::Url;

use crate::answer::for_log;
use crate::program::{ProgramContext, play};
use forecourt_agents::backend::{Backend, BuiltAgent, Context};
use forecourt_agents::declined::UpstreamError;
use forecourt_agents::limits::ANSWER_BYTES_MAX;
use forecourt_agents::on_behalf_of::TokenExchange;
use forecourt_agents::sse_reader::SseEvent;
use forecourt_agents::upstream::{self, CallTimeouts, TimedResponse, UpstreamFailure};
use place::{SentMessage, WorkStart};
use settings::{CheckedSettings, HttpSettings};

/// Posts each message to a service.
pub const BACKEND: Backend = Backend {
    kind: "http",
    about: "Posts each message as JSON to a service of yours, which answers JSON, text or server-sent events.",
    schema: || schemars::schema_for!(HttpSettings),
    build,
};

/// How our own words call the service.
const WHO: &str = "The service behind this agent";
/// The media type of lines of JSON.
const NDJSON: &str = "application/x-ndjson";
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Bytes of an answer that says why there is none.
const ERROR_BYTES_MAX: usize = 64 * 1024;

fn build(section: Section, context: &Context) -> Result<BuiltAgent, Problems> {
    let CheckedSettings { settings, url, headers, timeouts, exchange } = settings::read(&section, context)?;
    // The token of a caller is not kept, so nobody could ask for its answer later.
    let attaches = exchange.is_none();
    let webhook = Webhook {
        egress: context.egress.clone(),
        url,
        headers,
        exchange,
        secret: settings.secret,
        timeouts,
        retries: settings.retries,
        knows_repeats: settings.knows_repeats,
        program: ProgramContext::new(context),
        clock: context.clock.clone(),
        entropy: context.entropy.clone(),
    };
    Ok(BuiltAgent {
        uses_tools: true,
        remembers: true,
        composes: true,
        attaches,
        ..BuiltAgent::new(HttpAgent(Arc::new(webhook))).with_files()
    })
}

/// The agent: everything it needs for one exchange goes into the stream.
struct HttpAgent(Arc<Webhook>);

struct Webhook {
    egress: Egress,
    url: Url,
    headers: HeaderMap,
    /// Where tokens of callers come from that the service is asked with.
    exchange: Option<Arc<TokenExchange>>,
    secret: Option<String>,
    timeouts: CallTimeouts,
    retries: usize,
    /// Whether the service does nothing twice for one `Idempotency-Key`.
    knows_repeats: bool,
    program: Arc<ProgramContext>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

/// One message to the service.
struct AskedService {
    request: UpstreamRequest,
    /// Agents in line before this one.
    hop: u32,
    token: Option<SubjectToken>,
    journal: WorkJournal,
}

impl Agent for HttpAgent {
    fn handle(&self, admitted: Admitted) -> EventStream {
        let message = admitted.message();
        let body = self.0.program.fields(&admitted).message(&admitted, self.0.timeouts.total);
        let request = self.0.request(message, body);
        let asked = AskedService {
            request,
            hop: message.hop,
            token: message.sender.token.clone(),
            journal: message.journal.clone(),
        };
        let reader = self.0.program.reader(Arc::new(admitted));
        play(self.0.clone().values(asked), reader)
    }

    /// The service reads bytes, and may reach what this host does not.
    fn addressed_files(&self) -> AddressedFiles {
        AddressedFiles::FetchedIfReachable
    }
}

impl Webhook {
    fn request(&self, message: &Message, body: Value) -> UpstreamRequest {
        let body = Bytes::from(body.to_string());
        let mut headers = self.headers.clone();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(
            ACCEPT,
            HeaderValue::from_static("text/event-stream, application/x-ndjson, application/json, text/plain;q=0.5"),
        );
        // Ours and not the caller's own id: two callers may choose the same one. The same in every try of the work.
        let key = message.journal.work().map_or_else(|| ids::mint(&*self.entropy), str::to_owned);
        insert(&mut headers, IDEMPOTENCY_KEY, &key);
        if let Some(secret) = &self.secret {
            // Over the exact bytes that are sent: a body that is written again could order its keys differently.
            insert(&mut headers, signature::HEADER, &signature::sign(secret.as_bytes(), &body));
        }
        hops::write(&mut headers, message.hop);
        UpstreamRequest { headers, ..UpstreamRequest::post(self.url.as_str(), body) }
    }

    /// The values of the answer; an ending when that is all there is.
    fn values(self: Arc<Self>, asked: AskedService) -> impl Stream<Item = Result<Value, Ending>> + Send + 'static {
        stream! {
            let response = match self.answered(asked).await {
                Ok(response) => response,
                Err(ending) => {
                    yield Err(ending);
                    return;
                }
            };
            if response.status.is_success() && response.mime() == NDJSON {
                let mut lines = response.lines(self.timeouts.idle);
                while let Some(line) = lines.next().await {
                    yield line_value(line);
                }
            } else if response.status.is_success() && response.mime() == "text/event-stream" {
                let mut events = response.events(self.timeouts.idle);
                while let Some(event) = events.next().await {
                    yield event_value(event);
                }
            } else {
                yield self.whole(response).await;
                // A whole answer needs no `end`. Where it has an ending of its own, `play` has stopped before this one.
                yield Err(Ending::Complete);
            }
        }
    }

    /// The answer of the service, waited for where it works on the message first.
    async fn answered(&self, asked: AskedService) -> Result<TimedResponse, Ending> {
        let AskedService { mut request, hop, token, journal } = asked;
        let mut headers = self.headers.clone();
        if let Some(exchange) = &self.exchange {
            let authorization = exchange.authorization(token.as_ref()).await?;
            request.headers.insert(AUTHORIZATION, authorization.clone());
            headers.insert(AUTHORIZATION, authorization);
        }
        hops::write(&mut headers, hop);
        let place = match place::start(&journal, &self.url, self.knows_repeats)? {
            WorkStart::Send => {
                SentMessage::default().note(&journal);
                journal.written().await.map_err(|_| place::unnoted())?;
                None
            }
            WorkStart::SendAgain => None,
            WorkStart::Attach(place) => Some(place),
        };
        if let Some(place) = place {
            return self.monitored(place, None, &headers).await;
        }
        let sent = upstream::send(&self.egress, request, self.timeouts, self.retries).await;
        let response = sent.map_err(|error| error.ending(WHO))?;
        match monitor::place_of(&response, &self.url)? {
            Some(place) => {
                SentMessage::at(&place).note(&journal);
                self.monitored(place, Some(&response.headers), &headers).await
            }
            None => Ok(response),
        }
    }

    /// The answer in one piece.
    async fn whole(&self, response: TimedResponse) -> Result<Value, Ending> {
        if !response.status.is_success() {
            return self.declined(response).await;
        }
        if response.status == StatusCode::NO_CONTENT {
            return Ok(json!({"end": true}));
        }
        let mime = response.mime();
        let is_json = mime == "application/json" || mime.ends_with("+json");
        // JSON may carry files in base64: its bound is larger than that of plain text.
        let bytes_max = if is_json { ANSWER_BYTES_MAX } else { REPLY_TEXT_BYTES_MAX };
        let bytes = response.bytes(bytes_max).await.map_err(|error| error.ending(WHO))?;
        match mime.as_str() {
            _ if is_json => json::parse(&bytes).map_err(|error| unreadable(&error)),
            "text/plain" | "text/markdown" => Ok(Value::String(String::from_utf8_lossy(&bytes).into_owned())),
            other => Err(unreadable(&format!("the media type {other:?}"))),
        }
    }

    /// An answer with another status: in the service's own words if it has them.
    async fn declined(&self, response: TimedResponse) -> Result<Value, Ending> {
        let (status, headers) = (response.status, response.headers.clone());
        tracing::warn!(status = status.as_u16(), "the service of an agent declined");
        let own_words = async {
            let bytes = response.bytes(ERROR_BYTES_MAX).await.ok()?;
            let Ok(Value::Object(mut fields)) = json::parse(&bytes) else { return None };
            // Only what ends an answer counts beside an error status: the `text` of a 500 is not an answer.
            fields.retain(|key, value| matches!(key.as_str(), "policy" | "declined" | "error") && !value.is_null());
            (!fields.is_empty()).then_some(Value::Object(fields))
        };
        if let Some(value) = own_words.await {
            return Ok(value);
        }
        Err(match (UpstreamError::of(status, &headers), status) {
            (Some(declined), _) => declined.ending(WHO, &*self.clock),
            (None, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::GONE) => {
                FailureCause::UpstreamRefused.ending(format!("{WHO} was not found where it should be."))
            }
            (None, StatusCode::REQUEST_TIMEOUT | StatusCode::GATEWAY_TIMEOUT) => {
                FailureCause::TimedOut.ending(format!("{WHO} took too long for its answer."))
            }
            (None, status) if status.is_client_error() => {
                FailureCause::UpstreamRefused.ending(format!("{WHO} did not take the message."))
            }
            (None, _) => Ending::failed(format!("{WHO} failed.")),
        })
    }
}

/// The value that a server-sent event stands for.
fn event_value(event: Result<SseEvent, UpstreamFailure>) -> Result<Value, Ending> {
    let SseEvent { name, data, .. } = event.map_err(|error| error.ending(WHO))?;
    match name.as_str() {
        "message" | "text" => Ok(Value::String(data)),
        "end" => Ok(json!({"end": true})),
        _ => {
            let value = json::parse(data.as_bytes()).map_err(|error| unreadable(&error))?;
            // `event: progress` may hold `{"progress": 0.5, "note": "…"}` or just the value.
            Ok(if value.get(&name).is_some() { value } else { json!({ name: value }) })
        }
    }
}

/// The value of a line.
fn line_value(line: Result<Vec<u8>, UpstreamFailure>) -> Result<Value, Ending> {
    json::parse(&line.map_err(|error| error.ending(WHO))?).map_err(|error| unreadable(&error))
}

fn unreadable(reason: &str) -> Ending {
    let reason = for_log(reason);
    tracing::warn!(reason, "the service of an agent answered something unreadable");
    Ending::failed("The service behind this agent gave an answer that could not be read.")
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}
