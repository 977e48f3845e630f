//! Tools of servers as functions of endpoints: `servers.NAME.TOOL` is a handler, so that every protocol reaches the tool
//! with a contract.

use std::collections::BTreeSet;
use std::sync::Arc;

use forecourt_contract::{Failure, Handler, HostHandle, Invocation};
use forecourt_core::{Ending, Handle, Message, MessageId, Part};
use forecourt_host::Target;
use forecourt_surface::SERVER_FUNCTIONS;
use futures::FutureExt;
use futures::future::BoxFuture;
use rmcp::model::{CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, ContentBlock, ServerResult};
use serde_json::{Map, Value, json};

use super::tool_call::{asker, own_meta};
use crate::NAME;
use crate::caller::Caller;
use crate::elicit::Modes;
use crate::log::Level;
use crate::offer::Offer;
use crate::servers::Servers;
use crate::servers::call::{CallFailure, CallStep, ServerCall, ServerRequest};
use crate::verdict::Verdict;

/// A result that is an error.
const FAILED: &str = "tool_failed";
/// A server that gives no result.
const UNAVAILABLE: &str = "tool_unavailable";
/// The errors in which a tool as an endpoint may end, but for refusals of rules that an operator writes.
pub const SERVER_FUNCTION_ERRORS: [&str; 4] = [FAILED, UNAVAILABLE, "service_unavailable", "too_many_requests"];

/// The tools of the servers of these names, found where calls are made.
#[derive(Clone)]
pub struct ServerFunctions {
    names: Arc<BTreeSet<Handle>>,
    host: HostHandle,
}

/// Why a name is not that of a tool of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerFunctionError {
    /// It is none of these names.
    Other,
    /// It names a server that is not there, or no tool. A sentence for the operator.
    Unknown(String),
}

impl ServerFunctions {
    /// Those of the servers of these names, behind the host that `host` leads to.
    pub fn new(names: impl IntoIterator<Item = Handle>, host: HostHandle) -> Self {
        Self { names: Arc::new(names.into_iter().collect()), host }
    }

    /// The tool of a dotted name, `servers.NAME.TOOL`.
    ///
    /// # Errors
    /// It is no such name, or there is no such server. Which tools a server has is known when it is called.
    pub fn find(&self, dotted: &str) -> Result<Arc<dyn Handler>, ServerFunctionError> {
        let rest = dotted.strip_prefix(SERVER_FUNCTIONS).ok_or(ServerFunctionError::Other)?;
        let wrong = |words: String| ServerFunctionError::Unknown(words);
        let (server, tool) = rest.split_once('.').filter(|(_, tool)| !tool.is_empty()).ok_or_else(|| {
            wrong("a tool of a server is named servers.NAME.TOOL, such as servers.weather.get_forecast".to_owned())
        })?;
        let name = Handle::parse(server).ok().filter(|name| self.names.contains(name));
        let server = name.ok_or_else(|| wrong(format!("there is no file servers/{server}.toml")))?;
        Ok(Arc::new(ServerFunction { server, tool: tool.to_owned(), host: self.host.clone() }))
    }
}

/// One tool, as a handler.
struct ServerFunction {
    server: Handle,
    tool: String,
    host: HostHandle,
}

impl Handler for ServerFunction {
    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Result<Value, Failure>> {
        let (endpoint, time_max) = (invocation.endpoint.clone(), invocation.endpoint.binding.timeout());
        let late = move |_| Err(Failure::Late(format!("the tool took more than {time_max:?}")));
        let answer = tokio::time::timeout(time_max, self.answer(invocation));
        let declared = move |failure| match failure {
            Failure::Named { code, message, .. } if !endpoint.declares_error(&code) => {
                Failure::Crashed(format!("`{code}`, which the endpoint does not declare: {message}"))
            }
            failure => failure,
        };
        answer.map(move |ended| ended.unwrap_or_else(late).map_err(declared)).boxed()
    }
}

impl ServerFunction {
    async fn answer(&self, invocation: Invocation) -> Result<Value, Failure> {
        let gone = || Failure::Crashed("there is no way to the servers behind this host".to_owned());
        let offer = self.host.service::<Offer>().ok_or_else(gone)?;
        let host = &offer.host;
        let servers: &Servers = &offer.servers;
        let server = servers.find(&self.server).ok_or_else(gone)?;
        let tool = server.upstream.shelf().by_own_name(&self.tool).cloned();
        let missing = || Failure::Crashed(format!("the server `{}` has no tool `{}`", self.server, self.tool));
        let tool = tool.ok_or_else(missing)?;
        tool.check(&Value::Object(invocation.input.clone())).map_err(Failure::Input)?;
        let caller = caller(&invocation);
        let said = Part::data(json!({"tool": self.tool, "arguments": invocation.input}));
        let message = Message {
            sender: caller.sender.clone(),
            hop: caller.hop,
            ..Message::new(
                MessageId::mint(&**host.entropy()),
                self.server.clone(),
                vec![said],
                NAME,
                host.clock().now(),
            )
        };
        let passed = host.forward(&server.gate, Target::Tool(&self.tool), message).await;
        let permit = match passed {
            Ok(Ok(permit)) => permit,
            Ok(Err(refusal)) => return Err(failed(&Ending::Refused(refusal.part))),
            Err(error) => return Err(Failure::Crashed(error.to_string())),
        };
        let asker = asker(&caller, Modes { form: false, url: false }, None);
        let (name, meta) = (self.tool.clone(), own_meta(&caller, None));
        let arguments: Map<String, Value> = invocation.input;
        let make = move |responses, state| {
            let mut params = CallToolRequestParams::new(name.clone()).with_arguments(arguments.clone());
            (params.input_responses, params.request_state) = (responses, state);
            params.meta = Some(meta.clone());
            ClientRequest::CallToolRequest(CallToolRequest::new(params))
        };
        let request = ServerRequest { make: Box::new(make), is_plain: !tool.names_headers };
        let mut call = ServerCall::new(server.upstream.clone(), permit, asker, request);
        loop {
            // Nobody hears what is told on the way, and nobody is there to be asked.
            if let CallStep::Ended(result) = call.step().await {
                return match *result {
                    Ok(ServerResult::CallToolResult(result)) => output(result),
                    Ok(_) => Err(Failure::Crashed("the server answered no result of a tool".to_owned())),
                    Err(CallFailure { ending, error }) => {
                        tracing::warn!(server = %self.server, tool = self.tool, %error, "a tool gave no result");
                        Err(failed(&ending))
                    }
                };
            }
        }
    }
}

/// Whoever called the endpoint.
fn caller(invocation: &Invocation) -> Caller {
    let none: Option<Level> = None;
    Caller {
        agent: None,
        sender: (*invocation.caller.sender).clone(),
        // Whoever calls an endpoint may do so for somebody else.
        person: None,
        hop: invocation.depth,
        language: None,
        verdict: Verdict::default(),
        log: none,
    }
}

/// The output of an endpoint: the structure of the result, as far as it has one, else its words.
fn output(result: CallToolResult) -> Result<Value, Failure> {
    let words = || {
        let texts = result.content.iter().filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    };
    if result.is_error == Some(true) {
        let details = result.structured_content.clone().unwrap_or_default();
        return Err(Failure::Named { code: FAILED.to_owned(), message: words(), details });
    }
    match &result.structured_content {
        // Also what FastMCP and others wrap as `{"result": …}`: so the tool's own schema of its output has it.
        Some(structured) => Ok(structured.clone()),
        None => {
            let text = words();
            Ok(serde_json::from_str::<Value>(&text)
                .ok()
                .filter(Value::is_object)
                .unwrap_or_else(|| json!({"text": text})))
        }
    }
}

/// What an endpoint ends with whose tool gave no result.
fn failed(ending: &Ending) -> Failure {
    let (code, message) = match ending {
        Ending::Refused(part) => (part.kind().to_owned(), part.message.clone()),
        ending => (UNAVAILABLE.to_owned(), ending.reason().unwrap_or_default().into_owned()),
    };
    Failure::Named { code, message, details: Value::Null }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(result: Value) -> Result<Value, Failure> {
        output(serde_json::from_value(result).expect("a result"))
    }

    #[test]
    fn the_structure_is_the_output_as_the_tools_schema_has_it() {
        let words = json!([{"type": "text", "text": "7"}]);
        assert_eq!(of(json!({"content": words, "structuredContent": {"result": 7}})), Ok(json!({"result": 7})));
        assert_eq!(of(json!({"content": words, "structuredContent": {"a": 1}})), Ok(json!({"a": 1})));
        assert_eq!(of(json!({"content": words})), Ok(json!({"text": "7"})));
        let object = json!([{"type": "text", "text": "{\"a\":1}"}]);
        assert_eq!(of(json!({"content": object})), Ok(json!({"a": 1})));
        let failed = of(json!({"content": words, "isError": true}));
        assert!(matches!(failed, Err(Failure::Named { code, message, .. }) if code == "tool_failed" && message == "7"));
    }

    #[test]
    fn names_lead_to_servers_that_are_there() {
        let functions = ServerFunctions::new([Handle::parse("far").expect("a name")], HostHandle::default());
        assert!(functions.find("servers.far.get.one").is_ok());
        let error = |name: &str| functions.find(name).err();
        assert_eq!(error("rooms.book"), Some(ServerFunctionError::Other));
        assert!(matches!(error("servers.near.get"), Some(ServerFunctionError::Unknown(_))));
        assert!(matches!(error("servers.far"), Some(ServerFunctionError::Unknown(_))));
    }
}
