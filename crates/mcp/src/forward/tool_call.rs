//! A client's call of a server's tool: the gate, what is asked of the person on the way, and the result as it came.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use forecourt_core::policy::Submission;
use forecourt_core::{Ending, Handle, Message, MessageId, Part, PolicyPart, Sender, ThreadId, ids};
use forecourt_host::{ForwardPermit, ForwardRefusal, Target};
use forecourt_surface::ending::put_code;
use forecourt_surface::tool::{ToolEvent, ToolOutput};
use forecourt_telemetry::{RemoteParent, TRACEPARENT};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResponse, ClientRequest, ElicitRequest, ElicitResult, InputRequest,
    InputRequiredResult, InputResponses, ProgressNotificationParam, RequestMetaObject, ResultType, ServerResult,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::NAME;
use crate::call::{CallState, Client, Rounds};
use crate::caller::Caller;
use crate::client::HOPS;
use crate::content::failed;
use crate::elicit::Modes;
use crate::limits::{ANSWER_TIME_MAX, CALLS_PARKED_MAX, CALLS_PARKED_PER_CALLER_MAX};
use crate::offer::Offer;
use crate::person::WhoAsks;
use crate::servers::FoundTool;
use crate::servers::call::{CallFailure, CallStep, OpenQuestion, ServerCall, ServerRequest};
use crate::servers::parked::ParkedCall;
use crate::servers::sessions::SessionOwner;
use crate::servers::upstream::Asker;
use crate::upstream::call_error::CallError;
use crate::waiting::Seal;
use crate::{answer, log, payment, trace};

/// What the state of a call begins with that waits in a server's call.
const PARKED: &str = "server.";
/// Keys of the metadata of a request that are between a client and this host.
const OWN_META: [&str; 4] = ["progressToken", HOPS, "x402/payment", "mentionable"];
/// What keys begin with that say how a request is to be read; each hop says that itself.
const PROTOCOL_META: &str = "io.modelcontextprotocol/";

/// What a call remembers that waits in a server's call.
#[derive(Serialize, Deserialize)]
struct ParkedState {
    parked: String,
}

/// What a call came to.
enum CallOutcome {
    /// Its client is told this.
    Answered(CallToolResponse),
    /// The server was not asked. The client may be asked for what it takes, and the call go on.
    Refused(ToolOutput),
}

/// Carries out a call of a server's tool.
pub(crate) async fn call(
    offer: &Offer,
    found: &FoundTool<'_>,
    caller: &Caller,
    params: CallToolRequestParams,
    client: &Client<'_>,
) -> Result<CallToolResponse, ErrorData> {
    let call = ClientCall { offer, found, caller, client, rounds: Rounds::of_server(offer, found, caller, client) };
    call.run(params).await
}

/// One call of one client.
struct ClientCall<'a> {
    offer: &'a Offer,
    found: &'a FoundTool<'a>,
    caller: &'a Caller,
    client: &'a Client<'a>,
    rounds: Rounds<'a>,
}

impl ClientCall<'_> {
    async fn run(&self, mut params: CallToolRequestParams) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(params.arguments.take().unwrap_or_default());
        if let Some(sealed) = params.request_state.as_deref().and_then(|state| state.strip_prefix(PARKED)) {
            let parked = self.unpark(sealed, &arguments, params.input_responses.unwrap_or_default())?;
            return Ok(match self.drive(parked, &arguments).await? {
                CallOutcome::Answered(response) => response,
                CallOutcome::Refused(output) => {
                    self.caller.verdict.tell(&ToolEvent::Done(Box::new(output.clone())));
                    self.response(output)
                }
            });
        }
        if let Err(violation) = self.found.tool.check(&arguments) {
            let words = match violation.field.trim_start_matches('/') {
                "" => violation.detail,
                field => format!("`{field}`: {}", violation.detail),
            };
            return Ok(self.response(failed(format!("The arguments do not fit this tool: {words}"))));
        }
        let meta = own_meta(self.caller, Some(self.client.meta));
        let mut state = match self.rounds.begin(params, arguments)? {
            ControlFlow::Continue(state) => state,
            ControlFlow::Break(response) => return Ok(response),
        };
        loop {
            let (visited, payment) = (state.visited.clone(), state.payment.clone());
            let output = match self.pass(&mut state).await {
                Ok(permit) => {
                    let arguments = Arc::new(std::mem::take(&mut state.arguments));
                    let call = self.server_call(permit, arguments.clone(), meta.clone());
                    match self.drive(call, &arguments).await? {
                        CallOutcome::Answered(response) => return Ok(response),
                        CallOutcome::Refused(output) => {
                            // The server heard of nothing, so that what let the call through does so once more.
                            state.arguments = Arc::unwrap_or_clone(arguments);
                            (state.visited, state.payment) = (visited, payment);
                            output
                        }
                    }
                }
                Err(output) => output,
            };
            self.caller.verdict.tell(&ToolEvent::Done(Box::new(output.clone())));
            if !self.client.asking.may_ask() {
                return Ok(self.response(output));
            }
            if let ControlFlow::Break(response) = self.rounds.ask(&mut state, output).await? {
                return Ok(response);
            }
        }
    }

    /// Leave to call the tool, or what its caller is told instead.
    async fn pass(&self, state: &mut CallState) -> Result<ForwardPermit, ToolOutput> {
        let (host, server) = (&self.offer.host, self.found.server);
        let message = self.message(&server.upstream.name, state);
        let target = Target::Tool(&self.found.tool.own_name);
        match host.forward(&server.gate, target, message).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(refusal)) => Err(refused(refusal)),
            Err(error) => Err(answer::error_output(&error)),
        }
    }

    /// The call as the gate judges it.
    fn message(&self, server: &Handle, state: &mut CallState) -> Message {
        let host = &self.offer.host;
        let visited = state.visited.take();
        let thread = visited.as_ref().and_then(|visited| visited["context_id"].as_str()).and_then(ThreadId::parse);
        let met = visited.as_ref().and_then(|visited| visited["refusal"].as_object().cloned());
        let met = met.and_then(|refusal| PolicyPart::from_json(refusal).ok()?.state());
        let payment = state.payment.take();
        let brings = met.is_some() || payment.is_some();
        let id = MessageId::mint(&**host.entropy());
        let said = json!({"tool": self.found.tool.own_name, "arguments": state.arguments});
        let said = said_to_server(said, self.client.meta);
        Message {
            submission: brings.then(|| Box::new(Submission { state: met, payment })),
            thread,
            sender: self.caller.sender.clone(),
            hop: self.caller.hop,
            language: self.caller.language.clone(),
            ..Message::new(id, server.clone(), vec![said], NAME, host.clock().now())
        }
    }

    fn server_call(&self, permit: ForwardPermit, arguments: Arc<Value>, meta: RequestMetaObject) -> ServerCall {
        let asker = asker(self.caller, self.client.asking.modes, self.client.session());
        let tool = self.found.tool.own_name.clone();
        let make = move |responses: Option<InputResponses>, state: Option<String>| {
            let mut params = CallToolRequestParams::new(tool.clone());
            params.arguments = arguments.as_object().cloned();
            (params.input_responses, params.request_state) = (responses, state);
            params.meta = Some(meta.clone());
            ClientRequest::CallToolRequest(CallToolRequest::new(params))
        };
        let is_plain = !self.client.hears_progress() && !self.found.tool.names_headers;
        let request = ServerRequest { make: Box::new(make), is_plain };
        ServerCall::new(self.found.server.upstream.clone(), permit, asker, request)
    }

    /// Goes on with a call to its end, or to a question that the client answers by calling again.
    async fn drive(&self, mut call: ServerCall, arguments: &Value) -> Result<CallOutcome, ErrorData> {
        loop {
            let step = match self.client.context {
                Some(context) => tokio::select! {
                    step = call.step() => step,
                    () = context.ct.cancelled() => return Err(ErrorData::internal_error("the call was cancelled", None)),
                },
                None => call.step().await,
            };
            match step {
                CallStep::Told(told) => self.tell(told).await,
                CallStep::Logged(message) => {
                    let Some(context) = self.client.context else { continue };
                    log::pass_on(message, self.found.server.upstream.name.as_str(), self.caller.log, context).await;
                }
                CallStep::Asks(asked) if self.client.asking.in_rounds => {
                    return self.park(call, asked, arguments).map(CallOutcome::Answered);
                }
                CallStep::Asks(asked) => self.put(asked).await,
                CallStep::Ended(result) => return self.ended(*result, call.receipt()),
            }
        }
    }

    /// Tells the client how far the server is, as it said it.
    async fn tell(&self, mut told: ProgressNotificationParam) {
        // Who is told of work was not refused.
        let progress = forecourt_core::Progress { fraction: None, note: None };
        self.caller.verdict.tell(&ToolEvent::Progress(progress));
        let Some(context) = self.client.context else { return };
        let Some(token) = context.meta.get_progress_token() else { return };
        told.progress_token = token;
        // A client that is gone is found out by the call itself.
        let _ = context.peer.notify_progress(told).await;
    }

    /// Asks the person in the middle of the call, as revisions before 2026-07-28 do.
    async fn put(&self, asked: OpenQuestion) {
        let Some(context) = self.client.context else { return };
        let mut answers = BTreeMap::new();
        for (key, request) in &asked.requests {
            let answer = context.peer.create_elicitation_with_timeout(request.clone(), Some(ANSWER_TIME_MAX)).await;
            // Who does not answer declines what was asked.
            let Ok(answer) = answer else { return };
            answers.insert(key.clone(), answer);
        }
        asked.answered(answers);
    }

    /// Lets the call wait until the client calls again with the answers.
    fn park(&self, call: ServerCall, asked: OpenQuestion, arguments: &Value) -> Result<CallToolResponse, ErrorData> {
        let request = |(key, params): &(String, _)| {
            (key.clone(), InputRequest::Elicitation(ElicitRequest::new(Clone::clone(params))))
        };
        let requests = asked.requests.iter().map(request).collect();
        let name = ids::mint(&**self.offer.host.entropy());
        let state = ParkedState { parked: name.clone() };
        let sealed = self.seal(arguments).close(&state);
        let sealed = sealed.ok_or_else(|| ErrorData::internal_error("the call could not be kept", None))?;
        let parked = ParkedCall { pause: self.offer.host.pause(), call, asked };
        if !self.offer.servers.parked.keep(&name, &counted_by(&self.caller.sender), parked) {
            let words = format!(
                "At most {CALLS_PARKED_PER_CALLER_MAX} calls of one caller wait for an answer, and {CALLS_PARKED_MAX} in \
                 all. Please answer one, or call again later."
            );
            return Ok(self.response(failed(words)));
        }
        Ok(InputRequiredResult::new(Some(requests), Some(format!("{PARKED}{sealed}"))).into())
    }

    /// The call that waits, with the answers that its client brings.
    fn unpark(&self, sealed: &str, arguments: &Value, said: InputResponses) -> Result<ServerCall, ErrorData> {
        let wrong = |words: String| ErrorData::invalid_params(words, None);
        let state: ParkedState = self.seal(arguments).open(sealed)?;
        // What else a client sends is none of ours. A call whose answers can't be read goes on waiting for them.
        let answers = |parked: &ParkedCall| {
            let answer = |(key, _): &(String, _)| {
                let value = said.get(key).ok_or_else(|| wrong(format!("inputResponses lacks `{key}`")))?.clone();
                let read = serde_json::from_value::<ElicitResult>(value);
                Ok((key.clone(), read.map_err(|_| wrong(format!("`{key}` must be an answer with an `action`")))?))
            };
            parked.asked.requests.iter().map(answer).collect::<Result<BTreeMap<_, _>, ErrorData>>()
        };
        let gone =
            || wrong("nothing waits for this answer any more, or it waits at another node: call again".to_owned());
        let taken = self.offer.servers.parked.take(&state.parked, answers);
        let (ParkedCall { pause, call, asked }, answers) = taken.ok_or_else(gone)??;
        drop(pause);
        asked.answered(answers);
        Ok(call)
    }

    fn seal(&self, arguments: &Value) -> Seal<'_> {
        Seal::new(self.offer, self.found.name, self.caller, arguments)
    }

    /// What the client is given at the end.
    fn ended(
        &self,
        result: Result<ServerResult, CallFailure>,
        receipt: Option<Map<String, Value>>,
    ) -> Result<CallOutcome, ErrorData> {
        let output = match result {
            Ok(ServerResult::CallToolResult(mut result)) => {
                result.result_type = Some(ResultType::COMPLETE);
                if let Some(receipt) = receipt {
                    payment::tell(&mut result.meta.get_or_insert_default().0, receipt);
                }
                return Ok(CallOutcome::Answered(result.into()));
            }
            Ok(_) => failed("The server answered something that is no result of a tool."),
            Err(CallFailure { error: CallError::Said(said), .. }) => return Err(said),
            // What the server never heard of may be called again, once its person has done what it takes.
            Err(CallFailure { error: CallError::Unasked(Ending::Refused(part)), .. }) => {
                return Ok(CallOutcome::Refused(ToolOutput { refusal: Some(part), ..ToolOutput::default() }));
            }
            Err(CallFailure { ending, .. }) => failure(&ending),
        };
        self.caller.verdict.tell(&ToolEvent::Done(Box::new(output.clone())));
        Ok(CallOutcome::Answered(self.response(output)))
    }

    /// What this host says instead of the server, as the client is told.
    fn response(&self, output: ToolOutput) -> CallToolResponse {
        self.rounds.response(output)
    }
}

/// A refusal of the gate, with what its caller brings when the condition is met.
fn refused(refusal: ForwardRefusal) -> ToolOutput {
    let ForwardRefusal { part, thread } = refusal;
    let mut structured = json!({"refusal": part});
    if let Some(thread) = thread {
        structured["context_id"] = thread.expose().into();
    }
    payment::offer(&mut structured, &part);
    ToolOutput { structured, refusal: Some(part), ..ToolOutput::default() }
}

/// An ending without a result.
pub(super) fn failure(ending: &Ending) -> ToolOutput {
    if let Ending::Refused(part) = ending {
        return ToolOutput { refusal: Some(part.clone()), ..ToolOutput::default() };
    }
    let mut output = failed(ending.reason().unwrap_or_default());
    put_code(&mut output.meta, ending);
    output
}

/// Who asks a server, by what is known of the caller and of its client's session with this host.
pub(super) fn asker(caller: &Caller, modes: Modes, session: Option<String>) -> Asker {
    let sender = &caller.sender;
    let counted_by = counted_by(sender);
    let key = match (sender.owner(), session) {
        (Some(_), _) => Some(counted_by.clone()),
        (None, Some(session)) => Some(format!("session {session}")),
        // Over a pipe there is one client.
        (None, None) => sender.peer.is_none().then(|| counted_by.clone()),
    };
    let owner = key.map(|key| SessionOwner { key, counted_by: counted_by.clone() });
    let who = match (&caller.person, sender.owner()) {
        (Some(person), _) => WhoAsks::Person(person.clone()),
        (None, Some(_)) => WhoAsks::Other,
        (None, None) => WhoAsks::Stranger,
    };
    Asker { owner, counted_by, modes, token: sender.token.clone(), who }
}

/// What the calls and sessions of a caller are counted by: an identity, else its network.
fn counted_by(sender: &Sender) -> String {
    match (sender.owner(), sender.network()) {
        (Some(owner), _) => format!("owner {owner}"),
        (None, Some(network)) => format!("network {network}"),
        (None, None) => "here".to_owned(),
    }
}

/// The metadata of a request to a server: what its caller sent that is for it, and what this host says.
pub(super) fn own_meta(caller: &Caller, meta: Option<&RequestMetaObject>) -> RequestMetaObject {
    let mut own = passed_on(meta);
    own.insert(HOPS.to_owned(), caller.hop.saturating_add(1).into());
    // In the newest revision a server logs for requests that say so; older ones pass it over.
    if let Some(level) = caller.log {
        own.set_log_level(level);
    }
    trace::tell(&mut own);
    own
}

/// What a request says to the server, as the gate judges it: with the metadata that goes on.
pub(super) fn said_to_server(mut said: Value, meta: &RequestMetaObject) -> Part {
    let mut passed = passed_on(Some(meta));
    // The ids of a trace are no words, though any pattern for numbers fits some of them.
    let is_trace = |value: &Value| value.as_str().is_some_and(|text| RemoteParent::parse(text, None).is_some());
    if passed.get(TRACEPARENT.as_str()).is_some_and(is_trace) {
        passed.remove(TRACEPARENT.as_str());
    }
    if !passed.is_empty() {
        said["_meta"] = passed.iter().map(|(key, value)| (key.clone(), value.clone())).collect::<Map<_, _>>().into();
    }
    Part::data(said)
}

/// What of a request's metadata is for the server.
fn passed_on(meta: Option<&RequestMetaObject>) -> RequestMetaObject {
    let mut passed = RequestMetaObject::new();
    for (key, value) in meta.into_iter().flat_map(|meta| meta.iter()) {
        if !OWN_META.contains(&key.as_str()) && !key.starts_with(PROTOCOL_META) {
            passed.insert(key.clone(), value.clone());
        }
    }
    passed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_between_a_client_and_this_host_stays_here() {
        let meta = json!({"progressToken": 1, "x402/payment": {}, "io.modelcontextprotocol/clientInfo": {},
            "forecourt/hops": 1, "mentionable": {}, "vendor/x": 1});
        let meta: RequestMetaObject = serde_json::from_value(meta).expect("metadata");
        let passed = serde_json::to_value(passed_on(Some(&meta))).expect("JSON");
        assert_eq!(passed, json!({"vendor/x": 1}));
    }

    #[test]
    fn the_metadata_that_goes_on_is_judged_but_for_the_ids_of_a_trace() {
        let judged = |meta: Value| {
            let meta: RequestMetaObject = serde_json::from_value(meta).expect("metadata");
            let Part::Data(said) = said_to_server(json!({"tool": "x"}), &meta) else { panic!("it is data") };
            said.data.into_value()
        };
        let ids = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let said = judged(json!({"progressToken": 1, "vendor/x": "y", "traceparent": ids, "tracestate": "a=z"}));
        assert_eq!(said, json!({"tool": "x", "_meta": {"vendor/x": "y", "tracestate": "a=z"}}));
        assert_eq!(judged(json!({"traceparent": ids})), json!({"tool": "x"}));
        let words = judged(json!({"traceparent": "call 13"}));
        assert_eq!(words["_meta"]["traceparent"], "call 13");
    }
}
