//! This module offers endpoints with a contract as tools and skills of other protocols. A call goes through
//! [`Host::invoke`], like every other one: no check is made here.

mod details;
mod sign_in;

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use forecourt_contract::call::CallTrail;
use forecourt_contract::endpoint::{Binding, EndpointOffer};
use forecourt_contract::path::{RequestPath, segment};
use forecourt_contract::semantic::Impact;
use forecourt_contract::{Call, CallOutcome, Dispatcher, Endpoint};
use forecourt_core::{Error, PolicyPart, Sender, in_place};
use forecourt_host::{Host, InvokeOutcome};
use futures::future::BoxFuture;
use futures::stream::{BoxStream, StreamExt};
use serde_json::{Value, json};

use crate::server::SERVER_FUNCTIONS;
use crate::tool::{Tool, ToolCall, ToolEvent, ToolOutput};

/// Characters of a tool's name. Models are trained on names as short as this.
pub const NAME_CHARS_MAX: usize = 64;

/// Characters of a tool's title.
pub const TITLE_CHARS_MAX: usize = 80;

/// The key of [`ToolOutput::meta`] for a deprecation notice.
pub const DEPRECATION: &str = "deprecation";

/// The endpoints that are offered as tools or skills, each with its tool's name. Those whose method the host's policy
/// refuses are left out: no call of them would pass.
pub fn offered(contract: &Dispatcher) -> Vec<(String, Arc<Endpoint>)> {
    let mut taken = HashSet::new();
    let endpoints = contract.registry.iter().map(|registered| &registered.endpoint);
    let passes = |endpoint: &Endpoint| contract.policy.admits(&endpoint.method, &endpoint.method);
    let offered = endpoints.filter(|endpoint| !endpoint.offers.is_empty() && passes(endpoint));
    offered.map(|endpoint| (name(endpoint, &mut taken), endpoint.clone())).collect()
}

/// The endpoints of a host as tools and skills.
pub fn tools(host: &Arc<Host>) -> Vec<Tool> {
    offered(host.contract()).into_iter().map(|(name, endpoint)| tool(host, endpoint, name)).collect()
}

/// The scopes that all offered tools together need, sorted: what a client may ask an issuer of tokens for.
pub fn scopes(contract: &Dispatcher) -> Vec<String> {
    let offered = offered(contract).into_iter().filter(|(_, endpoint)| endpoint.is_offered_as(EndpointOffer::Tool));
    let needed = offered.flat_map(|(_, endpoint)| endpoint.required_scopes.clone());
    needed.map(|scope| scope.to_string()).collect::<BTreeSet<_>>().into_iter().collect()
}

/// A description of the endpoint for models, with its deprecation notice.
pub fn description(endpoint: &Endpoint) -> String {
    let words = format!("{} {} {}", endpoint.description, endpoint.semantic.intent, endpoint.semantic.outcome);
    match endpoint.notice() {
        Some(notice) => format!("{words} ({notice})"),
        None => words,
    }
}

/// The first sentence of a description, of at most [`TITLE_CHARS_MAX`] characters: of a longer one, the words that fit.
fn title(description: &str) -> String {
    let line = description.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let ends = |(at, _): &(usize, char)| line[at + 1..].starts_with(char::is_whitespace);
    let end = line.char_indices().filter(|(_, c)| matches!(c, '.' | '!' | '?')).find(ends);
    let sentence = end.map_or(line, |(at, _)| &line[..=at]);
    match sentence.char_indices().nth(TITLE_CHARS_MAX) {
        None => sentence.trim_end_matches('.').to_owned(),
        Some(_) => {
            let fitting =
                sentence.char_indices().nth(TITLE_CHARS_MAX - 1).map_or(sentence, |(end, _)| &sentence[..end]);
            let end = fitting.rfind(char::is_whitespace).unwrap_or(fitting.len());
            format!("{}…", fitting[..end].trim_end_matches([' ', ',', ';', ':', '(']))
        }
    }
}

fn tool(host: &Arc<Host>, endpoint: Arc<Endpoint>, name: String) -> Tool {
    let (host, called) = (host.clone(), endpoint.clone());
    Tool {
        name,
        title: title(&endpoint.description),
        description: description(&endpoint),
        input: endpoint.input.shared_source().clone(),
        // MCP wants an output schema to be of an object; for others the value is put under `result`, without a schema.
        output: endpoint.output.is_object().then(|| endpoint.output.shared_source().clone()),
        agent: None,
        reads_only: endpoint.semantic.impact == Impact::Informational,
        is_idempotent: endpoint.semantic.is_idempotent,
        as_tool: endpoint.is_offered_as(EndpointOffer::Tool) && !is_servers_tool(&endpoint),
        as_skill: endpoint.is_offered_as(EndpointOffer::Skill),
        call: Arc::new(move |given| in_one(host.clone(), called.clone(), given)),
        outcome: None,
    }
}

/// Whether a tool of a server behind the host answers it: that one is shown to models as it is.
fn is_servers_tool(endpoint: &Endpoint) -> bool {
    matches!(&endpoint.binding, Binding::RegisteredFunction { function, .. } if function.starts_with(SERVER_FUNCTIONS))
}

/// A name out of method and path: `BOOK /rooms/{id}` is `book_rooms_id`, unless that is taken.
fn name(endpoint: &Endpoint, taken: &mut HashSet<String>) -> String {
    let words = format!("{}{}", endpoint.method, endpoint.path).to_lowercase();
    let words = words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut plain = words.collect::<Vec<_>>().join("_");
    // Bytes are characters here: only ASCII letters and digits were kept.
    plain.truncate(NAME_CHARS_MAX);
    let mut name = plain.clone();
    for n in 2.. {
        if taken.insert(name.clone()) {
            break;
        }
        let suffix = format!("_{n}");
        name = format!("{}{suffix}", &plain[..plain.len().min(NAME_CHARS_MAX - suffix.len())]);
    }
    name
}

fn in_one(host: Arc<Host>, endpoint: Arc<Endpoint>, given: ToolCall) -> BoxStream<'static, ToolEvent> {
    let answer = async move { ToolEvent::Done(Box::new(called(&host, &endpoint, given).await)) };
    futures::stream::once(answer).boxed()
}

/// Calls an endpoint with the arguments of a tool, on behalf of whoever called that.
pub fn call<'a>(host: &'a Host, endpoint: &'a Endpoint, given: ToolCall) -> BoxFuture<'a, ToolOutput> {
    in_place(|| called(host, endpoint, given))
}

async fn called(host: &Host, endpoint: &Endpoint, given: ToolCall) -> ToolOutput {
    let (path, body) = match filled(endpoint, given.arguments) {
        Ok(filled) => filled,
        Err(fault) => return failed("input-validation-failed", &fault, Value::Null),
    };
    // `BOOK /rooms/{id}` with the id `all` would be `BOOK /rooms/all`, an endpoint that is perhaps offered to nobody.
    if leads_elsewhere(host.contract(), endpoint, &path) {
        let words = "a value for the path leads to something else than this";
        return failed("input-validation-failed", words, Value::Null);
    }
    let caller = match host.caller(given.sender).await {
        Ok(caller) => caller,
        Err(error) => return told(Err(error), host, endpoint, &Sender::anonymous()),
    };
    let sender = Arc::clone(&caller.sender);
    let method = endpoint.method.to_string();
    // Hops count as depth, so that agents and endpoints that call each other in a loop come to an end.
    let ask = Call { method, path, body, caller, depth: given.hop, ..Call::default() };
    told(host.invoke(ask, given.via).await, host, endpoint, &sender)
}

/// Whether a value for a path makes it that of another endpoint, which may be offered as nothing.
fn leads_elsewhere(contract: &Dispatcher, endpoint: &Endpoint, path: &str) -> bool {
    let path = RequestPath::parse(path, &contract.catalog).ok();
    let found = path.and_then(|path| contract.registry.find(&endpoint.method, &path));
    found.is_some_and(|found| found.registered.endpoint.path != endpoint.path)
}

/// The path with its parameters, and the input that is left. Fails with what is wrong with the arguments.
fn filled(endpoint: &Endpoint, arguments: Value) -> Result<(String, serde_json::Map<String, Value>), String> {
    let mut body = match arguments {
        Value::Object(body) => body,
        _ => return Err("the input is an object".to_owned()),
    };
    let value = |name: &str| body.get(name).and_then(segment);
    // Found before filling, which only says that something is missing, so that the message can name the parameter.
    let missing = endpoint.path.parameters().find(|name| value(name).is_none()).unwrap_or_default().to_owned();
    let path = endpoint.path.fill(value).ok_or_else(|| format!("the path takes `{missing}`, a single word"))?;
    // They are in the path now, from which dispatch puts them back into the input.
    endpoint.path.parameters().for_each(|name| drop(body.remove(name)));
    Ok((path, body))
}

/// The result of the call, for programs and for models.
fn told(invoked: Result<InvokeOutcome, Error>, host: &Host, endpoint: &Endpoint, sender: &Sender) -> ToolOutput {
    match invoked {
        Ok(InvokeOutcome::Answered(outcome)) => answered(*outcome, host, endpoint, sender),
        Ok(InvokeOutcome::Refused(part)) => refused(part),
        Err(Error::Full { bound }) => refused(Box::new(bound.refusal())),
        Err(Error::Internal(cause)) => {
            tracing::error!(%cause, "a call of an endpoint failed");
            failed("internal", "the host failed, through no fault of the call", Value::Null)
        }
        Err(error) => failed("unavailable", &error.to_string(), Value::Null),
    }
}

fn refused(part: Box<PolicyPart>) -> ToolOutput {
    let called = failed(part.kind(), &part.message, Value::Null);
    ToolOutput { refusal: Some(part), ..called }
}

fn answered(outcome: CallOutcome, host: &Host, endpoint: &Endpoint, sender: &Sender) -> ToolOutput {
    let mut called = match outcome.answer {
        Ok(value) => {
            let text = serde_json::to_string_pretty(&value).unwrap_or_default();
            let structured = if value.is_object() { value } else { json!({ "result": value }) };
            ToolOutput { structured, text: vec![text], ..ToolOutput::default() }
        }
        Err(refusal) => {
            let mut called = failed(refusal.code(), &refusal.to_string(), details::of(&refusal));
            if let Some(recovery) = refusal.recovery() {
                called.structured["error"]["hint"] = recovery.to_string().into();
            }
            let scopes = &endpoint.required_scopes;
            ToolOutput { refusal: sign_in::part(&refusal, scopes, host.site(), sender), ..called }
        }
    };
    if let Some(notice) = notice(&outcome.trail) {
        called.meta.insert(DEPRECATION.to_owned(), notice.into());
    }
    called
}

/// The deprecation notice of the endpoint, else of its method.
fn notice(trail: &CallTrail) -> Option<String> {
    trail.endpoint_notice.clone().or_else(|| trail.method_notice.clone())
}

/// A failure with its name, its words and what helps to recover, if anything does.
fn failed(code: &str, message: &str, details: Value) -> ToolOutput {
    let mut error = json!({ "code": code, "message": message });
    let mut text = vec![message.to_owned()];
    if !details.is_null() {
        text.push(details.to_string());
        error["details"] = details;
    }
    ToolOutput { structured: json!({ "error": error }), text, is_error: true, ..ToolOutput::default() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_title_is_one_sentence() {
        assert_eq!(title("Books a room. It is paid later."), "Books a room");
        assert_eq!(title("Lists v1.2 rooms! And more."), "Lists v1.2 rooms!");
        assert_eq!(title("\n  A line\nand another"), "A line");
        assert_eq!(title(""), "");
    }

    #[test]
    fn a_title_is_cut_between_words() {
        let of = |chars: usize| format!("{} {}", "é".repeat(9), "x".repeat(chars - 10));
        assert_eq!(title(&of(TITLE_CHARS_MAX)), of(TITLE_CHARS_MAX));
        assert_eq!(title(&of(TITLE_CHARS_MAX + 1)), format!("{}…", "é".repeat(9)));
        assert_eq!(title(&"y".repeat(TITLE_CHARS_MAX + 1)).chars().count(), TITLE_CHARS_MAX);
    }

    proptest! {
        #[test]
        fn any_description_has_a_title(text in any::<String>()) {
            prop_assert!(title(&text).chars().count() <= TITLE_CHARS_MAX);
        }
    }
}
