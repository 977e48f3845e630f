//! Endpoints as operations: tools for carriers of tools, skills for carriers of skills. A call goes
//! through [`Host::invoke`], like every other one.

use std::collections::HashSet;
use std::sync::Arc;

use forecourt_contract::endpoint::Offer;
use forecourt_contract::path::{RequestPath, segment};
use forecourt_contract::refusal::IdentityRefusal;
use forecourt_contract::semantic::Impact;
use forecourt_contract::{Call, Dispatcher, Endpoint, Outcome, Refusal};
use forecourt_core::policy::{AuthChallenge, Kind};
use forecourt_core::{Error, PolicyPart, Sender};
use forecourt_host::{Host, Invoked, caller};
use futures::stream::{BoxStream, StreamExt};
use serde_json::{Value, json};

use crate::tool::{Called, Tool, ToolCall, ToolEvent};

/// Characters of a tool's name. Models are trained on names as short as this.
pub const NAME_CHARS_MAX: usize = 64;

/// The endpoints that are offered as something besides, each under the name of its tool.
pub fn offered(contract: &Dispatcher) -> Vec<(String, Arc<Endpoint>)> {
    let mut taken = HashSet::new();
    let endpoints = contract.registry.iter().map(|registered| &registered.endpoint);
    let offered = endpoints.filter(|endpoint| !endpoint.offers.is_empty());
    offered.map(|endpoint| (name(endpoint, &mut taken), endpoint.clone())).collect()
}

/// The endpoints of a host as tools and skills.
pub fn tools(host: &Arc<Host>) -> Vec<Tool> {
    offered(host.contract()).into_iter().map(|(name, endpoint)| tool(host, endpoint, name)).collect()
}

/// What it does, for a model to read.
pub fn description(endpoint: &Endpoint) -> String {
    format!("{} {} {}", endpoint.description, endpoint.semantic.intent, endpoint.semantic.outcome)
}

fn tool(host: &Arc<Host>, endpoint: Arc<Endpoint>, name: String) -> Tool {
    let (host, called) = (host.clone(), endpoint.clone());
    let is_object = endpoint.output.source().get("type").and_then(Value::as_str) == Some("object");
    Tool {
        name,
        title: endpoint.description.clone(),
        description: description(&endpoint),
        input: endpoint.input.source().clone(),
        output: is_object.then(|| endpoint.output.source().clone()),
        agent: None,
        reads_only: endpoint.semantic.impact == Impact::Informational,
        is_idempotent: endpoint.semantic.is_idempotent,
        as_tool: endpoint.is_offered_as(Offer::Tool),
        as_skill: endpoint.is_offered_as(Offer::Skill),
        call: Arc::new(move |given| in_one(host.clone(), called.clone(), given)),
        outcome: None,
    }
}

/// A name out of method and path: `BOOK /rooms/{id}` is `book_rooms_id`, unless that is taken.
fn name(endpoint: &Endpoint, taken: &mut HashSet<String>) -> String {
    let words = format!("{}{}", endpoint.method, endpoint.path).to_lowercase();
    let words = words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut plain = words.collect::<Vec<_>>().join("_");
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
    let answer = async move { ToolEvent::Done(Box::new(call(&host, &endpoint, given).await)) };
    futures::stream::once(answer).boxed()
}

/// Calls an endpoint with the arguments of a tool, on behalf of whoever called that.
pub async fn call(host: &Host, endpoint: &Endpoint, given: ToolCall) -> Called {
    let (path, body) = match filled(endpoint, given.arguments) {
        Ok(filled) => filled,
        Err(fault) => return failed("input-validation-failed", &fault),
    };
    if leads_elsewhere(host.contract(), endpoint, &path) {
        return failed("input-validation-failed", "a value for the path leads to something else than this");
    }
    let caller = caller(given.sender);
    let sender = Arc::clone(&caller.sender);
    let claimed = Some(caller.declared.clone());
    let method = endpoint.method.to_string();
    // Agents that call endpoints that ask agents come to an end as compositions do.
    let ask = Call { method, path, body, caller, claimed, depth: given.hop, ..Call::default() };
    told(host.invoke(ask, given.via).await, host, &sender)
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
    let missing = endpoint.path.parameters().find(|name| value(name).is_none()).unwrap_or_default().to_owned();
    let path = endpoint.path.fill(value).ok_or_else(|| format!("the path takes `{missing}`, a single word"))?;
    endpoint.path.parameters().for_each(|name| drop(body.remove(name)));
    Ok((path, body))
}

/// What came of it, for programs and for models.
fn told(invoked: Result<Invoked, Error>, host: &Host, sender: &Sender) -> Called {
    match invoked {
        Ok(Invoked::Answered(outcome)) => answered(*outcome, host, sender),
        Ok(Invoked::Refused(part)) => refused(part),
        Err(Error::Full { bound }) => refused(Box::new(bound.refusal())),
        Err(Error::Internal(cause)) => {
            tracing::error!(%cause, "a call of an endpoint failed");
            failed("internal", "the host failed, through no fault of the call")
        }
        Err(error) => failed("unavailable", &error.to_string()),
    }
}

fn refused(part: Box<PolicyPart>) -> Called {
    let called = failed(part.kind(), &part.message);
    Called { refusal: Some(part), ..called }
}

fn answered(outcome: Outcome, host: &Host, sender: &Sender) -> Called {
    match outcome.answer {
        Ok(value) => {
            let text = serde_json::to_string_pretty(&value).unwrap_or_default();
            let structured = if value.is_object() { value } else { json!({ "result": value }) };
            Called { structured, text: vec![text], ..Called::default() }
        }
        Err(refusal) => {
            let called = failed(refusal.code(), &refusal.to_string());
            Called { refusal: needs_name(&refusal, host, sender), ..called }
        }
    }
}

fn failed(code: &str, message: &str) -> Called {
    let structured = json!({ "error": { "code": code, "message": message } });
    Called { structured, text: vec![message.to_owned()], is_error: true, ..Called::default() }
}

/// The challenge of a call whose caller said nothing of itself, or showed no token, and should.
fn needs_name(refusal: &Refusal, host: &Host, sender: &Sender) -> Option<Box<PolicyPart>> {
    let message = match refusal {
        Refusal::Identity(IdentityRefusal::Missing) if !sender.verified => {
            "This endpoint is for callers who say who they are."
        }
        Refusal::Identity(IdentityRefusal::NoToken) => "This endpoint is for callers with a bearer token.",
        _ => return None,
    };
    let challenge = AuthChallenge::new("Bearer").with("realm", host.site().canonical_host());
    let kind = Kind::Unauthorized { auth_challenges: vec![challenge] };
    Some(Box::new(PolicyPart::new(kind, message)))
}
