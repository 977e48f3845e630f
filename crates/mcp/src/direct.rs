//! This module answers calls of tools that need nothing of a session: a client of 2026-07-28 that wants the answer
//! and nothing on the way, from a tool of this host or of a server behind it. The SDK would read each twice more, and
//! run it on four tasks between channels.
//!
//! Everything else is left to the SDK: what this module does not recognise at first sight is none of its calls.

use std::borrow::Cow;
use std::fmt;

use forecourt_core::Handle;
use forecourt_surface::answer::HttpAnswer;
use forecourt_telemetry::{RemoteParent, TRACEPARENT, TRACESTATE};
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ErrorCode, InputResponses, JsonObject, RequestId,
    RequestMetaObject, ServerJsonRpcMessage, ServerResult,
};
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use tracing::{Instrument, Span};

use crate::call::{self, Client};
use crate::caller::Caller;
use crate::fields::{self, CALL_TOOL};
use crate::finding::ToolRequest;
use crate::offer::Offer;
use crate::{call_trace, forward, payment, requirements};

/// The revision whose calls are known here. MCP 2026-07-28, transports: a request says all of itself.
const VERSION: &str = "2026-07-28";

/// A call, ready to be made.
pub(crate) struct DirectCall {
    pub(crate) id: RequestId,
    params: CallToolRequestParams,
    capabilities: ClientCapabilities,
    /// What it says beside its parameters that is not of the protocol.
    meta: RequestMetaObject,
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

/// What is said beside a call.
#[derive(Default)]
struct WireMeta {
    version: Option<String>,
    capabilities: Option<ClientCapabilities>,
    /// Who names a token is told of the progress, and who names a level what is logged. Who pays is rare.
    wants_more: bool,
    /// All but that, and but what is of the protocol.
    said: RequestMetaObject,
}

impl<'de> Deserialize<'de> for WireMeta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MetaVisitor)
    }
}

struct MetaVisitor;

impl<'de> Visitor<'de> for MetaVisitor {
    type Value = WireMeta;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<WireMeta, A::Error> {
        let mut meta = WireMeta::default();
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            let is_second = match &*key {
                "io.modelcontextprotocol/protocolVersion" => meta.version.replace(map.next_value()?).is_some(),
                "io.modelcontextprotocol/clientCapabilities" => meta.capabilities.replace(map.next_value()?).is_some(),
                "progressToken" | "io.modelcontextprotocol/logLevel" | payment::PAYMENT => {
                    meta.wants_more |= map.next_value::<Option<IgnoredAny>>()?.is_some();
                    false
                }
                key if key.starts_with("io.modelcontextprotocol/") => {
                    map.next_value::<IgnoredAny>()?;
                    false
                }
                _ => meta.said.insert(key.into_owned(), map.next_value()?).is_some(),
            };
            if is_second {
                return Err(A::Error::custom("a key stands there twice"));
            }
        }
        Ok(meta)
    }
}

impl DirectCall {
    /// Reads a call of this kind. `None` for anything else, and for what is wrong in any way: the SDK has the
    /// words for that.
    pub(crate) fn read(head: &Parts, body: &[u8]) -> Option<Self> {
        let headers = &head.headers;
        let is_one = head.method == Method::POST
            && only(headers, &fields::PROTOCOL_VERSION) == Some(VERSION)
            && only(headers, &fields::METHOD) == Some(CALL_TOOL)
            && !headers.contains_key(&fields::SESSION)
            && accepts_both(headers);
        let named = is_one.then(|| only(headers, &fields::NAME)).flatten()?;
        let WireCall { jsonrpc, id, method, params } = serde_json::from_slice(body).ok()?;
        let WireParams { meta, name, arguments, input_responses, request_state } = params;
        let WireMeta { version, capabilities, wants_more, said } = meta;
        // A body that contradicts its headers is for the SDK to refuse, with -32020.
        let fits = jsonrpc == "2.0" && method == CALL_TOOL && version? == VERSION && name == named;
        (fits && !wants_more).then_some(())?;
        let mut params = CallToolRequestParams::new(name);
        params.arguments = arguments;
        params.input_responses = input_responses;
        params.request_state = request_state;
        Some(Self { id, params, capabilities: capabilities?, meta: said })
    }

    /// Whether the SDK has nothing to do with it: a tool that wants no arguments to be named in headers, which the SDK
    /// compares.
    pub(crate) fn is_plain(&self, offer: &Offer, agent: Option<&Handle>) -> bool {
        let name = &self.params.name;
        // The SDK knows a tool by its name alone, whichever endpoint is called.
        !offer.has_header_arguments(None, name) && (agent.is_none() || !offer.has_header_arguments(agent, name))
    }

    /// Makes the call, and writes what came of it.
    pub(crate) async fn answer(self, offer: &Offer, caller: &Caller) -> HttpAnswer {
        let Self { id, params, capabilities, meta } = self;
        let params = match offer.tool_request(caller, params) {
            Ok(ToolRequest::Call(params)) => params,
            Ok(ToolRequest::Answered(result)) => return answered(Ok((*result).into()), id),
            Err(error) => return answered(Err(error), id),
        };
        let (name, client) = (params.name.clone(), Client::waiting(&capabilities, &meta));
        let span = call_trace::tool_span(&Span::current(), offer, caller, &name, parent(&meta));
        let called = async {
            if let Some(found) = offer.server_tool(caller.agent.as_ref(), &name) {
                return forward::call(offer, &found, caller, params, &client).await;
            }
            let offered = call::callable(offer, caller, &name)?;
            requirements::check(offer.required(&name), Some(&capabilities))?;
            call::call(offer, offered, caller, params, &client).await
        };
        answered(called.instrument(span).await, id)
    }
}

/// The span of the client.
fn parent(meta: &RequestMetaObject) -> Option<RemoteParent> {
    let text = |name: &HeaderName| meta.get(name.as_str()).and_then(Value::as_str);
    RemoteParent::parse(text(&TRACEPARENT)?, text(&TRACESTATE))
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
        ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
        | ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
        | ErrorCode::HEADER_MISMATCH => StatusCode::BAD_REQUEST,
        ErrorCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(meta: &Value) -> Option<WireMeta> {
        serde_json::from_str(&meta.to_string()).ok()
    }

    #[test]
    fn of_what_is_said_beside_a_call_the_protocols_own_is_read_and_the_rest_is_kept() {
        let meta = read(&json!({
            "io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "x"}, "progressToken": null, "vendor/x": {"y": [1]},
            "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        }));
        let meta = meta.expect("it is well");
        assert_eq!(meta.version.as_deref(), Some(VERSION));
        assert!(meta.capabilities.is_some() && !meta.wants_more && parent(&meta.said).is_some());
        assert_eq!(meta.said.keys().collect::<Vec<_>>(), ["traceparent", "vendor/x"]);
        for more in ["progressToken", "io.modelcontextprotocol/logLevel", "x402/payment"] {
            assert!(read(&json!({more: 1})).expect("it is well").wants_more, "{more}");
        }
        assert!(serde_json::from_str::<WireMeta>(r#"{"a": 1, "a": 2}"#).is_err(), "which of two counts is not said");
        assert!(read(&json!([])).is_none() && read(&json!(null)).is_none());
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_call_or_none(body in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = serde_json::from_slice::<WireCall<'_>>(&body);
        }

        #[test]
        fn keys_that_are_nobodys_are_kept(keys in prop::collection::btree_set("[a-z/.]{1,12}", 0..6)) {
            let meta: serde_json::Map<String, Value> = keys.iter().map(|key| (key.clone(), json!(7))).collect();
            let said = read(&Value::Object(meta)).expect("it is well").said;
            prop_assert!(said.keys().eq(keys.iter()));
        }
    }
}
