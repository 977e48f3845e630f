//! This module answers calls of tools that need nothing of a session: a client of 2026-07-28 that wants the answer
//! and nothing on the way. The SDK would read each twice more, and run it on four tasks between channels.
//!
//! Everything else is left to the SDK: what this module does not recognise at first sight is none of its calls.

use std::borrow::Cow;

use forecourt_core::Handle;
use forecourt_surface::answer::HttpAnswer;
use forecourt_telemetry::RemoteParent;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ErrorCode, InputResponses, JsonObject, RequestId,
    ServerJsonRpcMessage, ServerResult,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use tracing::{Instrument, Span};

use crate::call::{self, Client};
use crate::caller::Caller;
use crate::finding::{CALL, ToolRequest};
use crate::offer::Offer;
use crate::{call_trace, requirements};

/// The revision whose calls are known here. MCP 2026-07-28, transports: a request says all of itself.
const VERSION: &str = "2026-07-28";
const METHOD: &str = "tools/call";
static PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
static MCP_METHOD: HeaderName = HeaderName::from_static("mcp-method");
static MCP_NAME: HeaderName = HeaderName::from_static("mcp-name");
static SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// A call, ready to be made.
pub(crate) struct DirectCall {
    pub(crate) id: RequestId,
    params: CallToolRequestParams,
    capabilities: ClientCapabilities,
    /// The span of the client.
    parent: Option<RemoteParent>,
}

/// The message, each field read once and into its type.
#[derive(Deserialize)]
struct WireCall<'a> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    id: RequestId,
    #[serde(borrow)]
    method: Cow<'a, str>,
    params: WireParams,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireParams {
    #[serde(rename = "_meta")]
    meta: WireMeta,
    name: String,
    arguments: Option<JsonObject>,
    input_responses: Option<InputResponses>,
    request_state: Option<String>,
}

#[derive(Deserialize)]
struct WireMeta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    version: String,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: ClientCapabilities,
    /// Who names one is told of the progress.
    #[serde(rename = "progressToken")]
    progress_token: Option<IgnoredAny>,
    /// Who names one is told what is logged.
    #[serde(rename = "io.modelcontextprotocol/logLevel")]
    log_level: Option<IgnoredAny>,
    /// Who pays is rare.
    #[serde(rename = "x402/payment")]
    payment: Option<IgnoredAny>,
    /// The span of the client, and what tracing systems say to each other.
    traceparent: Option<String>,
    tracestate: Option<String>,
}

impl DirectCall {
    /// Reads a call of this kind. `None` for anything else, and for what is wrong in any way: the SDK has the
    /// words for that.
    pub(crate) fn read(head: &Parts, body: &[u8]) -> Option<Self> {
        let headers = &head.headers;
        let is_one = head.method == Method::POST
            && only(headers, &PROTOCOL_VERSION) == Some(VERSION)
            && only(headers, &MCP_METHOD) == Some(METHOD)
            && !headers.contains_key(&SESSION)
            && accepts_both(headers);
        let named = is_one.then(|| only(headers, &MCP_NAME)).flatten()?;
        let WireCall { jsonrpc, id, method, params } = serde_json::from_slice(body).ok()?;
        let WireParams { meta, name, arguments, input_responses, request_state } = params;
        // A body that contradicts its headers is for the SDK to refuse, with -32020.
        let fits = jsonrpc == "2.0" && method == METHOD && meta.version == VERSION && name == named;
        let is_quiet = meta.progress_token.is_none() && meta.log_level.is_none() && meta.payment.is_none();
        (fits && is_quiet).then_some(())?;
        let mut params = CallToolRequestParams::new(name);
        params.arguments = arguments;
        params.input_responses = input_responses;
        params.request_state = request_state;
        let parent = meta.traceparent.and_then(|text| RemoteParent::parse(&text, meta.tracestate.as_deref()));
        Some(Self { id, params, capabilities: meta.capabilities, parent })
    }

    /// Whether the SDK has nothing to do with it: a tool of this host that wants no arguments to be named in headers,
    /// which the SDK compares. A server behind the host may tell and ask something on the way.
    pub(crate) fn is_plain(&self, offer: &Offer, agent: Option<&Handle>) -> bool {
        let name = &self.params.name;
        let names_arguments = offer.find(None, name).is_some_and(|offered| offered.has_header_arguments());
        // Whose tool `call_tool` calls is read later.
        let leads_to_server = name == CALL && !offer.servers.is_empty();
        !names_arguments && !leads_to_server && offer.server_tool(agent, name).is_none()
    }

    /// Makes the call, and writes what came of it.
    pub(crate) async fn answer(self, offer: &Offer, caller: &Caller) -> HttpAnswer {
        let Self { id, params, capabilities, parent } = self;
        let params = match offer.tool_request(caller, params) {
            Ok(ToolRequest::Call(params)) => params,
            Ok(ToolRequest::Answered(result)) => return answered(Ok((*result).into()), id),
            Err(error) => return answered(Err(error), id),
        };
        let span = call_trace::tool_span(&Span::current(), offer, caller, &params.name, parent);
        let called = async {
            let offered = call::callable(offer, caller, &params.name)?;
            requirements::check(offer.required(&params.name), Some(&capabilities))?;
            call::call(offer, offered, caller, params, &Client::waiting(&capabilities)).await
        };
        answered(called.instrument(span).await, id)
    }
}

/// What came of a call, as an answer to its request.
fn answered(called: Result<CallToolResponse, ErrorData>, id: RequestId) -> HttpAnswer {
    match called {
        Ok(response) => written(StatusCode::OK, &ServerJsonRpcMessage::response(ServerResult::from(response), id)),
        Err(error) => written(status(&error), &ServerJsonRpcMessage::error(error, Some(id))),
    }
}

/// The one value of a header. `None` too where there are two, or one that is not of visible ASCII characters.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let (first, second) = (values.next()?, values.next());
    second.is_none().then(|| first.to_str().ok()).flatten()
}

/// Whether both forms of an answer are accepted, as the protocol wants it, in words that leave no doubt.
fn accepts_both(headers: &HeaderMap) -> bool {
    let Some(accepted) = only(headers, &ACCEPT) else { return false };
    let both = accepted.contains("application/json") && accepted.contains("text/event-stream");
    both && !accepted.contains("q=")
}

/// The status of an error that a call ends with, as the SDK has it for this revision.
fn status(error: &ErrorData) -> StatusCode {
    match error.code {
        ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

fn written(status: StatusCode, message: &ServerJsonRpcMessage) -> HttpAnswer {
    let mut head = HeaderMap::with_capacity(8);
    head.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    head.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Types with text keys: writing them can't fail.
    HttpAnswer::whole(status, head, serde_json::to_vec(message).unwrap_or_default())
}
