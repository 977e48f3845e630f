//! `ask` and `await` as tools, for protocols that carry tools. NLWeb appendix A.

use std::sync::Arc;

use forecourt_core::TaskId;
use forecourt_host::Host;
use forecourt_surface::tool::{Answered, Called, Tool, ToolCall, ToolEvent};
use futures::{StreamExt, stream};
use serde_json::{Value, json};

use crate::from_wire::CONVERSATION;
use crate::limits::FILTERS_MAX;
use crate::response::{Outcome, Response};
use crate::service::{Asker, Service, wrong};
use crate::wire::{Ask, Format};
use crate::{decode, site};

/// The name of an answer to a question that has no parts.
const UNNAMED: &str = "answer";

/// Both tools. NLWeb A.1, A.2.
pub(crate) fn tools(service: Arc<Service>) -> Vec<Tool> {
    let awaiting = service.clone();
    let about = about(&service.host);
    vec![
        Tool {
            name: "ask".to_owned(),
            title: format!("Ask {}", service.host.site().name),
            description: about,
            input: ask_input(&service.host),
            output: Some(output()),
            agent: None,
            reads_only: false,
            call: Arc::new(move |call| {
                let service = service.clone();
                stream::once(async move { done(&service, ask(&service, call).await) }).boxed()
            }),
        },
        Tool {
            name: "await".to_owned(),
            title: "Await a promised answer".to_owned(),
            description: "Checks on a promise that `ask` gave, or cancels it.".to_owned(),
            input: await_input(),
            output: Some(output()),
            agent: None,
            reads_only: false,
            call: Arc::new(move |call| {
                let service = awaiting.clone();
                stream::once(async move { done(&service, awaited(&service, call).await) }).boxed()
            }),
        },
    ]
}

fn about(host: &Host) -> String {
    let first = host.directory().default_agent();
    format!(
        "Natural language interface to {}. {} Put limits in plain words or as filters beside the text; name an agent \
         in `query.site` to ask that one. Sites: {}.",
        host.site().name,
        first.card.description,
        site::known(host),
    )
}

async fn ask(service: &Service, call: ToolCall) -> Response {
    let ToolCall { arguments, sender, hop, language, via, answered } = call;
    let dialect = decode::dialect(&arguments);
    let ask = match decode::ask(arguments) {
        Ok(ask) => answered.into_iter().fold(ask, |ask, answered| going_on(ask, *answered)),
        Err(fault) => return wrong(fault, dialect),
    };
    let resident = match service.resident(None, &ask).await {
        Ok(resident) => resident,
        Err(fault) => return wrong(fault, dialect),
    };
    service.ask(resident, ask, Asker { sender, hop, language, via }, service.patience()).await
}

/// A question that led to one of the agent's own, now that a person has answered that: the answers are
/// the next turn of the conversation, and filters under their names. NLWeb 4.1.3.
fn going_on(mut ask: Ask, answered: Answered) -> Ask {
    let Answered { answers, earlier, .. } = answered;
    let said: Vec<String> = answers.values().filter_map(in_words).collect();
    if said.is_empty() {
        return ask;
    }
    match earlier.pointer("/_meta/session_context") {
        Some(Value::Object(session)) if session.contains_key(CONVERSATION) => ask.meta.session = session.clone(),
        _ => ask.context.prev.push(ask.query.text),
    }
    ask.query.text = said.join(", ");
    let room = FILTERS_MAX.saturating_sub(ask.query.filters.len());
    let named = answers.into_iter().filter(|(name, value)| name != UNNAMED && !value.is_null());
    ask.query.filters.extend(named.take(room));
    ask
}

fn in_words(answer: &Value) -> Option<String> {
    match answer {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(true) => Some("yes".to_owned()),
        Value::Bool(false) => Some("no".to_owned()),
        Value::Array(items) => {
            let words: Vec<String> = items.iter().filter_map(in_words).collect();
            (!words.is_empty()).then(|| words.join(", "))
        }
        Value::String(_) | Value::Null | Value::Object(_) => None,
    }
}

async fn awaited(service: &Service, call: ToolCall) -> Response {
    let dialect = decode::dialect(&call.arguments);
    match decode::awaited(call.arguments) {
        Ok(awaited) => service.awaited(None, awaited, &call.sender).await,
        Err(fault) => wrong(fault, dialect),
    }
}

/// What came of a call: the response for programs, the same as text for models, and `_meta` beside it.
fn done(service: &Service, response: Response) -> ToolEvent {
    let structured = response.to_value(&service.settings);
    let text = match (&response.outcome, response.about.style.format) {
        (Outcome::Answer { said, .. }, Format::ChatgptApp) => said.clone(),
        _ => structured.to_string(),
    };
    let question = match &response.outcome {
        Outcome::Elicitation(question) => Some(question.clone()),
        _ => None,
    };
    let task = match &response.outcome {
        Outcome::Promise(promise) => TaskId::parse(&promise.token),
        _ => None,
    };
    let meta = response.meta(&service.settings);
    let is_error = response.outcome.is_failure();
    let refusal = match response.outcome {
        Outcome::Refused { part, .. } => Some(part),
        _ => None,
    };
    ToolEvent::Done(Box::new(Called {
        structured,
        text: vec![text],
        parts: Vec::new(),
        meta,
        is_error,
        question,
        refusal,
        task,
    }))
}

/// NLWeb A.1, with what 3.1 to 3.4 say of each attribute.
fn ask_input(host: &Host) -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": {
                "type": "object",
                "description": "The query object containing text and filters. Further attributes are filters, in \
                                schema.org's vocabulary.",
                "properties": {
                    "text": {"type": "string", "description": "The question in natural language."},
                    "site": {"type": "string", "description": format!("Which agent to ask: {}.", site::known(host))},
                    "itemType": {"type": "string", "description": "The type of the items, such as Recipe."},
                },
                "required": ["text"],
            },
            "context": {
                "type": "object",
                "description": "Semantic context including conversation history",
                "properties": {
                    "prev": {"type": "array", "items": {"type": "string"}, "description": "Earlier queries."},
                    "text": {"type": "string"},
                    "memory": {"type": ["string", "array"], "items": {"type": "string"}},
                },
            },
            "prefer": {
                "type": "object",
                "description": "Response preferences (formatting, mode)",
                "properties": {
                    "response_format": {
                        "type": ["string", "array"],
                        "items": {"type": "string"},
                        "description": "conversational_search or chatgpt_app",
                    },
                    "mode": {"type": "string", "description": "list, or \"list, summarize\""},
                    "accept-language": {"type": "string"},
                },
            },
            "meta": {"type": "object", "description": "Protocol metadata, version, and session context"},
        },
        "required": ["query"],
    })
}

/// NLWeb A.2.
fn await_input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "promise_token": {"type": "string"},
            "action": {"type": "string", "enum": ["checkin", "cancel"]},
            "meta": {"type": "object"},
        },
        "required": ["promise_token", "action"],
    })
}

/// Every type of response in one object, as carriers need it. NLWeb 4; design 25.
fn output() -> Value {
    let items = json!({"type": "array", "items": {"type": "object"}});
    json!({
        "type": "object",
        "properties": {
            "_meta": {
                "type": "object",
                "properties": {
                    "response_type": {"type": "string"},
                    "version": {"type": "string"},
                    "session_context": {"type": "object"},
                },
                "required": ["response_type", "version"],
            },
            "results": items,
            "content": items,
            "structuredData": items,
            "promise": {
                "type": "object",
                "properties": {
                    "token": {"type": "string"},
                    "estimated_time": {"type": "integer"},
                    "message": {"type": "string"},
                    "progress": {"type": "number"},
                },
                "required": ["token"],
            },
            "elicitation": {
                "type": "object",
                "properties": {"text": {"type": "string"}, "questions": items},
            },
            "error": {
                "type": "object",
                "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
                "required": ["code"],
            },
        },
        "required": ["_meta"],
    })
}
