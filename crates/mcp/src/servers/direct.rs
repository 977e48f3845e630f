//! The way of a call that wants nothing but its answer: one post, written once, whose answer is the result. The SDK
//! would send it through a task and three channels, and read the answer several times.
//!
//! Whatever else the server answers, the SDK goes on with: see [`EarlyAnswer`].

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use bytes::Bytes;
use forecourt_egress::{CheckedUrl, UpstreamResponse};
use futures::StreamExt;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, StatusCode};
use rmcp::ClientHandler;
use rmcp::model::{CallToolRequestParams, CallToolResult, JsonObject, ProtocolVersion, RequestMetaObject};
use serde::de::IgnoredAny;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::first_event::{FirstEvent, StreamBeginning};
use super::guest::Guest;
use crate::client::{self, EarlyAnswer, Out, PostOutcome};
use crate::fields::{self, CALL_TOOL};

/// The first number of a request that is posted here: the SDK counts from 0, and numbers of one session must differ.
const FIRST_NUMBER: i64 = 1_000_000_000;
/// What begins a name that is written otherwise in a field. MCP 2026-07-28, transports.
const ENCODED: &str = "=?base64?";

/// The way from one session.
pub(super) struct DirectWay {
    out: Out,
    url: CheckedUrl,
    /// The fields of each call.
    fields: HeaderMap,
    /// Whether a call says in fields what it is.
    names_itself: bool,
    /// What each call says of this host as a client.
    context: Vec<(String, Box<RawValue>)>,
    next: AtomicI64,
}

/// A call, written.
pub(super) struct WrittenCall {
    /// The number by which the server knows it.
    pub(super) number: i64,
    session: Option<Arc<str>>,
    fields: HeaderMap,
    message: Vec<u8>,
}

/// The message of a call.
#[derive(Serialize)]
struct WireCall<'a> {
    jsonrpc: &'static str,
    id: i64,
    method: &'static str,
    params: WireParams<'a>,
}

#[derive(Serialize)]
struct WireParams<'a> {
    #[serde(rename = "_meta")]
    meta: WireMeta<'a>,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'a JsonObject>,
}

/// What is said beside a call: of the call, and of this host.
struct WireMeta<'a> {
    said: Option<&'a RequestMetaObject>,
    context: &'a [(String, Box<RawValue>)],
}

impl Serialize for WireMeta<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in self.said.into_iter().flat_map(|said| said.iter()) {
            map.serialize_entry(key, value)?;
        }
        for (key, value) in self.context {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// An answer that is a result of a tool and nothing else.
#[derive(Deserialize)]
struct WireAnswer {
    jsonrpc: String,
    id: i64,
    result: CallToolResult,
    error: Option<IgnoredAny>,
    method: Option<IgnoredAny>,
}

impl DirectWay {
    /// The way of a session in which this version is spoken. `None` where its address or version is none that can be
    /// asked: the SDK has the words for that.
    pub(super) fn new(out: Out, url: &str, version: &ProtocolVersion, guest: &Guest) -> Option<Self> {
        let names_itself = *version >= ProtocolVersion::STANDARD_HEADERS;
        let mut fields = HeaderMap::new();
        fields.insert(&fields::PROTOCOL_VERSION, HeaderValue::from_str(version.as_str()).ok()?);
        let mut context = RequestMetaObject::new();
        if names_itself {
            fields.insert(&fields::METHOD, HeaderValue::from_static(CALL_TOOL));
        }
        if !version.has_initialize() {
            let about = guest.get_info();
            context.set_protocol_version(version.clone());
            context.set_client_info(about.client_info);
            context.set_client_capabilities(about.capabilities);
        }
        let written = |(key, value): (&String, _)| Some((key.clone(), serde_json::value::to_raw_value(value).ok()?));
        Some(Self {
            out,
            url: CheckedUrl::parse(url).ok()?,
            fields,
            names_itself,
            context: context.iter().filter_map(written).collect(),
            next: AtomicI64::new(FIRST_NUMBER),
        })
    }

    /// Writes a call in `session`. `None` for one that is not told in plain fields, or goes on with an earlier one.
    pub(super) fn write(&self, params: &CallToolRequestParams, session: Option<Arc<str>>) -> Option<WrittenCall> {
        if params.input_responses.is_some() || params.request_state.is_some() {
            return None;
        }
        let mut fields = self.fields.clone();
        if let Some(meta) = &params.meta {
            client::repeat(meta, &mut fields);
        }
        if let Some(session) = &session {
            fields.insert(&fields::SESSION, HeaderValue::from_str(session).ok()?);
        }
        if self.names_itself {
            fields.insert(&fields::NAME, plain_field(&params.name)?);
        }
        let meta = WireMeta { said: params.meta.as_ref(), context: &self.context };
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let params = WireParams { meta, name: &params.name, arguments: params.arguments.as_ref() };
        let call = WireCall { jsonrpc: "2.0", id: number, method: CALL_TOOL, params };
        Some(WrittenCall { number, session, fields, message: serde_json::to_vec(&call).ok()? })
    }

    /// Posts a call, once.
    ///
    /// # Errors
    /// The answer is something else than a result.
    pub(super) async fn post(&self, call: WrittenCall) -> Result<CallToolResult, EarlyAnswer> {
        let WrittenCall { number, session, fields, message } = call;
        let early = |outcome| EarlyAnswer::new(number, session, outcome);
        let mut answer = match self.out.post(&self.url, fields, message).await {
            Ok(answer) => answer,
            Err(error) => return Err(early(PostOutcome::Failed(error))),
        };
        match form(&answer) {
            Form::Json => match answer.body.collect().await {
                Ok(body) => result(&body, number).ok_or_else(|| early(PostOutcome::Whole(body))),
                Err(error) => Err(early(PostOutcome::Failed(error))),
            },
            Form::Events => match first_result(&mut answer, number).await {
                Some(result) => {
                    answer.body.finish();
                    Ok(result)
                }
                None => Err(early(PostOutcome::Begun(Box::new(answer)))),
            },
            Form::Other => Err(early(PostOutcome::Begun(Box::new(answer)))),
        }
    }
}

/// How an answer comes.
enum Form {
    Json,
    Events,
    Other,
}

fn form(answer: &UpstreamResponse) -> Form {
    let kind = answer.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    match answer.status {
        StatusCode::OK if kind.starts_with(b"application/json") => Form::Json,
        StatusCode::OK if kind.starts_with(b"text/event-stream") => Form::Events,
        _ => Form::Other,
    }
}

/// A text as a field, where it stands there as it is.
fn plain_field(text: &str) -> Option<HeaderValue> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic()) && !text.starts_with(ENCODED);
    is_plain.then(|| HeaderValue::from_str(text).ok()).flatten()
}

/// The result that answers the request of a number.
fn result(message: &[u8], number: i64) -> Option<CallToolResult> {
    let WireAnswer { jsonrpc, id, result, error, method } = serde_json::from_slice(message).ok()?;
    (jsonrpc == "2.0" && id == number && error.is_none() && method.is_none()).then_some(result)
}

/// The result, where it is the first that a stream says. Else the stream is as it was.
async fn first_result(answer: &mut UpstreamResponse, number: i64) -> Option<CallToolResult> {
    let mut beginning = StreamBeginning::default();
    loop {
        let (found, end) = match answer.body.next().await {
            Some(Ok(chunk)) => match beginning.add(&chunk) {
                FirstEvent::Data(data) => (result(data, number), None),
                FirstEvent::Unfinished => continue,
                FirstEvent::Other => (None, None),
            },
            other => (None, other),
        };
        if found.is_none() {
            answer.body.put_back(Ok(Bytes::from(beginning.into_bytes())));
            end.into_iter().for_each(|end| answer.body.put_back(end));
        }
        return found;
    }
}
