//! Agents, endpoints and tools, tried out: as an anonymous caller would or as one that is named, so that the operator sees
//! what others see. Nothing is used up in anybody's name, and whose name was taken is written down.

mod caller;
mod values;

use std::sync::Arc;

use bytes::Bytes;
use forecourt_contract::Endpoint;
use forecourt_core::{
    Allowance, Ending, Event, Handle, Language, Message, MessageId, Part, Reply, ThreadId, Transport,
};
use forecourt_host::Run;
use forecourt_surface::tool::{Tool, ToolCall, ToolEvent, ToolOutput};
use forecourt_surface::{endpoint as endpoints, sse};
use futures::StreamExt;
use futures::stream::BoxStream;
use serde_json::{Map, Value, json};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

pub use caller::TrialCaller;
pub use values::{Arguments, Playground, Triable, TriableAgent, TrialAnswer, TrialCall, Words};

use crate::access::Command;
use crate::account::{self, Came};
use crate::api_error::ApiError;
use crate::desk::Ask;
use crate::form::{Field, fields};
use crate::house::PlaygroundTools;
use crate::limits::{EVENTS_MAX, TEXT_CHARS_MAX, TRIAL_CHARS_MAX};
use crate::nouns::shortened;
use crate::nouns::tasks::{TaskEvent, event_of};
use crate::secret::hashed;

/// What these messages came by.
const VIA: Transport = "console";
/// Characters of an endpoint's name here.
const NAME_CHARS: usize = 12;

pub(crate) async fn list(ask: Ask) -> Result<Playground, ApiError> {
    let agents = ask.house.host.directory().iter().map(|resident| TriableAgent {
        handle: resident.card.handle().to_string(),
        name: resident.card.name.clone(),
        examples: resident.card.examples.clone(),
    });
    let tools = tools(&ask);
    let tools = tools.iter().map(|tool| Triable {
        id: tool.name.clone(),
        name: tool.name.clone(),
        about: tool.title.clone(),
        input: tool.input.clone().into_value(),
    });
    let endpoints = of_endpoints(&ask).into_iter().map(|(id, endpoint)| Triable {
        id,
        name: format!("{} {}", endpoint.method, endpoint.path.as_str()),
        about: endpoint.description.clone(),
        input: endpoint.input.shared_source().clone().into_value(),
    });
    Ok(Playground { agents: agents.collect(), endpoints: endpoints.collect(), tools: tools.collect() })
}

/// The fields of a form for a thing that can be tried out.
pub(crate) fn form_of(triable: &Triable) -> Vec<Field> {
    fields(&triable.input)
}

fn tools(ask: &Ask) -> Vec<Tool> {
    let tools = ask.house.services.get::<PlaygroundTools>();
    let tools = tools.map(|tools| tools.0.clone()).unwrap_or_default();
    tools.iter().filter(|tool| tool.as_tool).cloned().collect()
}

fn of_endpoints(ask: &Ask) -> Vec<(String, Arc<Endpoint>)> {
    let named = |endpoint: &Arc<Endpoint>| {
        let name = format!("{} {}", endpoint.method, endpoint.path.as_str());
        (hashed(&name).chars().take(NAME_CHARS).collect(), endpoint.clone())
    };
    ask.house.host.contract().registry.iter().map(|registered| named(&registered.endpoint)).collect()
}

/// A place for a trial, and the answer to it.
async fn begun(ask: &Command) -> Result<(OwnedSemaphorePermit, Reply), ApiError> {
    let Words { text, conversation, caller } = ask.body()?;
    let caller = caller.map(TrialCaller::checked).transpose()?;
    let text = text.trim();
    if text.is_empty() || text.chars().count() > TRIAL_CHARS_MAX {
        return Err(ApiError::invalid(format!("`text` has 1 to {TRIAL_CHARS_MAX} characters")));
    }
    let handle = ask.named("handle").trim_start_matches('@');
    let unknown = || ApiError::not_found(format!("there is no agent `{handle}`"));
    let handle = Handle::parse(handle).map_err(|_| unknown())?;
    let host = &ask.house.host;
    let resident = host.directory().find(&handle).ok_or_else(unknown)?;
    let (id, now) = (MessageId::mint(&**host.entropy()), host.clock().now());
    let mut message = Message::new(id, handle, vec![Part::markdown(text)], VIA, now);
    message.thread = conversation.as_deref().and_then(ThreadId::parse);
    // Credit and payments are for callers.
    message.sender.allowance = Allowance::WithoutCredit;
    let slot = trial(ask)?;
    if let Some(caller) = caller {
        message.sender = caller.sender(&resident.card.address.to_string(), host.site().domain.as_str(), now);
        if caller.is_somebody() {
            // Nothing is kept as theirs, and no conversation of theirs is read.
            (message.thread, message.unrecorded) = (None, true);
        }
        note(ask, &format!("agent @{}", resident.card.handle()), &caller).await;
    }
    Ok((slot, host.receive(message, Run::without_task()).await?))
}

pub(crate) async fn message(ask: Command) -> Result<TrialAnswer, ApiError> {
    let begun_at = Instant::now();
    let (_slot, mut reply) = begun(&ask).await?;
    let conversation = reply.thread.as_ref().map(|thread| thread.expose().to_owned());
    let (mut events, mut answer, mut number) = (Vec::<TaskEvent>::new(), String::new(), 0);
    let mut ended = Ending::unfinished();
    while let Some(event) = reply.events.next().await {
        match &event {
            Event::Text(text) => answer.push_str(text),
            // A direct answer is all there is, so it takes the place of fragments.
            Event::Ending(Ending::Message(text)) => answer.clone_from(text),
            _ => {}
        }
        let (told, has_room) = (event_of(number + 1, &event), events.len() < EVENTS_MAX);
        match events.last_mut() {
            Some(last) if last.kind == "text" && told.kind == "text" => last.text.push_str(&told.text),
            // Bounded: an agent that streams for long would else fill the memory of the console with its events.
            _ if has_room => {
                number += 1;
                events.push(told);
            }
            _ => {}
        }
        if let Event::Ending(ending) = event {
            ended = ending;
        }
    }
    Ok(TrialAnswer {
        answer: shortened(&answer, TEXT_CHARS_MAX),
        ending: ended.code().to_owned(),
        refusal: refusal(&ended),
        events,
        conversation,
        took_ms: took(begun_at),
    })
}

/// The same as it happens.
pub(crate) async fn follow(ask: Command) -> Result<BoxStream<'static, Bytes>, ApiError> {
    let begun_at = Instant::now();
    let (slot, mut reply) = begun(&ask).await?;
    let conversation = reply.thread.as_ref().map(|thread| thread.expose().to_owned());
    Ok(Box::pin(async_stream::stream! {
        let _slot = slot;
        let mut number = 0;
        while let Some(event) = reply.events.next().await {
            // A whole answer that comes at the end is shown as what was said, like any other.
            if let Event::Ending(Ending::Message(text)) = &event {
                number += 1;
                yield sse::message(&serde_json::to_string(&event_of(number, &Event::Text(text.clone()))).unwrap_or_default());
            }
            number += 1;
            let told = event_of(number, &event);
            yield sse::message(&serde_json::to_string(&told).unwrap_or_default());
            if let Event::Ending(ending) = event {
                let told = json!({"ending": ending.code(), "refusal": refusal(&ending),
                    "conversation": conversation, "took_ms": took(begun_at)});
                yield sse::event("end", &told.to_string());
            }
        }
    }))
}

pub(crate) async fn endpoint(ask: Command) -> Result<TrialCall, ApiError> {
    let Arguments { arguments, scopes } = ask.body()?;
    let scopes = TrialCaller { scopes, ..TrialCaller::default() }.checked()?;
    let (begun_at, wanted) = (Instant::now(), ask.named("endpoint"));
    let found = of_endpoints(&ask).into_iter().find(|(id, _)| id == wanted);
    let (_, endpoint) = found.ok_or_else(unknown)?;
    let _slot = trial(&ask)?;
    note(&ask, &format!("endpoint {} {}", endpoint.method, endpoint.path.as_str()), &scopes).await;
    let output = endpoints::call(&ask.house.host, &endpoint, call(&ask, arguments, &scopes)).await;
    Ok(called(output, begun_at))
}

pub(crate) async fn tool(ask: Command) -> Result<TrialCall, ApiError> {
    let Arguments { arguments, scopes } = ask.body()?;
    let scopes = TrialCaller { scopes, ..TrialCaller::default() }.checked()?;
    let begun_at = Instant::now();
    let tool = tools(&ask).into_iter().find(|tool| tool.name == ask.named("tool")).ok_or_else(unknown)?;
    let _slot = trial(&ask)?;
    note(&ask, &format!("tool {}", tool.name), &scopes).await;
    let mut events = (tool.call)(call(&ask, arguments, &scopes));
    let mut output = None;
    while let Some(event) = events.next().await {
        if let ToolEvent::Done(done) = event {
            output = Some(*done);
        }
    }
    let output = output.ok_or_else(|| ApiError::internal("the tool ended without an answer"))?;
    Ok(called(output, begun_at))
}

/// Writes down whose place was taken.
async fn note(ask: &Command, tried: &str, caller: &TrialCaller) {
    if let Some(told) = caller.told() {
        account::note(&ask.house.host, &ask.actor.name, "try", format!("{tried} as {told}"), None, Came::Done).await;
    }
}

fn trial(ask: &Command) -> Result<OwnedSemaphorePermit, ApiError> {
    let slot = ask.desk.trials.clone().try_acquire_owned();
    slot.map_err(|_| ApiError::unavailable("as many things are tried out as may be at once"))
}

fn unknown() -> ApiError {
    ApiError::not_found("there is nothing of this name to try out").hint("GET /api/v1/playground lists what there is")
}

fn call(ask: &Command, arguments: Map<String, Value>, scopes: &TrialCaller) -> ToolCall {
    let domain = ask.house.host.site().domain.as_str();
    ToolCall {
        arguments: Value::Object(arguments),
        // The operator's own rights must not count here: a trial shows what a stranger gets, who may have been granted
        // something.
        sender: scopes.sender(domain, domain, ask.now()),
        hop: 0,
        language: None::<Language>,
        via: VIA,
        gives_tasks: false,
        answered: None,
        visited: None,
        payment: None,
    }
}

fn called(output: ToolOutput, begun_at: Instant) -> TrialCall {
    TrialCall {
        is_fine: !output.is_error,
        structured: output.structured,
        text: shortened(&output.text.join("\n\n"), TEXT_CHARS_MAX),
        refusal: output.refusal.and_then(|part| serde_json::to_value(Part::Policy(*part)).ok()),
        took_ms: took(begun_at),
    }
}

fn refusal(ending: &Ending) -> Option<Value> {
    match ending {
        Ending::Refused(part) => serde_json::to_value(Part::Policy((**part).clone())).ok(),
        _ => None,
    }
}

fn took(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
