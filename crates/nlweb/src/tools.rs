//! `ask` and `await` as tools, for protocols that carry tools. NLWeb appendix A.

use std::sync::Arc;
use std::time::Duration;

use async_stream::stream;
use forecourt_core::policy::RefusalKind;
use forecourt_core::{AgentCard, Event, Handle, LazyJson, PolicyPart, TaskId};
use forecourt_host::{Host, Run, TaskAccess};
use forecourt_surface::abandon::CancelOnDrop;
use forecourt_surface::tool::{ElicitedAnswer, Tool, ToolCall, ToolEvent, ToolOutput};
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use crate::api_error::ApiError;
use crate::from_wire::CONVERSATION;
use crate::limits::{BECOMES_TASK_AFTER, FILTERS_MAX};
use crate::response::{Outcome, Response};
use crate::service::{Asker, QuestionUnderWay, Service, wrong};
use crate::wire::{Ask, Format};
use crate::{decode, kept, site};

/// The names of the tools.
const ASK: &str = "ask";
const AWAIT: &str = "await";
/// The name of an answer to a question that has no parts.
const UNNAMED: &str = "answer";

/// Both tools, of the host and of each agent. NLWeb A.1, A.2.
pub(crate) fn tools(service: Arc<Service>) -> Vec<Tool> {
    let residents = service.host.directory().iter();
    let agents =
        residents.map(|resident| (Some(resident.card.handle().clone()), of_agent(&resident.card), resident.card.finds));
    let schemas = Schemas::new(&service.host);
    let all_find = service.host.directory().iter().all(|resident| resident.card.finds);
    let host = (None, (format!("Ask {}", service.host.site().name), about(&service.host)), all_find);
    let all = std::iter::once(host).chain(agents);
    all.flat_map(|(agent, (title, description), finds)| {
        let asking = Tool { reads_only: finds, ..asking(&service, &schemas, agent.clone(), title, description) };
        [asking, awaiting(&service, &schemas, agent)]
    })
    .collect()
}

/// The schemas of both tools: the same for all agents, of which there may be thousands.
struct Schemas {
    /// Of `ask` at the host, which has something to choose.
    ask_host: LazyJson,
    ask_agent: LazyJson,
    wait: LazyJson,
    output: LazyJson,
}

impl Schemas {
    fn new(host: &Host) -> Self {
        let ask = |chooses| LazyJson::from(ask_input(host, chooses));
        let (ask_host, ask_agent) = (ask(true), ask(false));
        Self { ask_host, ask_agent, wait: await_input().into(), output: output().into() }
    }
}

fn asking(
    service: &Arc<Service>,
    schemas: &Schemas,
    agent: Option<Handle>,
    title: String,
    description: String,
) -> Tool {
    let (calling, own) = (service.clone(), agent.clone());
    let ended = service.clone();
    Tool {
        name: ASK.to_owned(),
        title,
        description,
        input: if agent.is_none() { &schemas.ask_host } else { &schemas.ask_agent }.clone(),
        output: Some(schemas.output.clone()),
        agent,
        reads_only: false,
        is_idempotent: false,
        as_tool: true,
        as_skill: false,
        call: Arc::new(move |call| ask(calling.clone(), own.clone(), call)),
        outcome: Some(Arc::new(move |task| {
            let service = ended.clone();
            async move {
                if !kept::is_asked(task.task()) {
                    return None;
                }
                Some(called(&service, service.come_to(&task).await))
            }
            .boxed()
        })),
    }
}

fn awaiting(service: &Arc<Service>, schemas: &Schemas, agent: Option<Handle>) -> Tool {
    let (service, own) = (service.clone(), agent.clone());
    let call = move |call| {
        let (service, own) = (service.clone(), own.clone());
        futures::stream::once(async move {
            // The caller knows of the task.
            let called = ToolOutput { task: None, ..called(&service, awaited(&service, own.as_ref(), call).await) };
            ToolEvent::Done(Box::new(called))
        })
        .boxed()
    };
    Tool {
        name: AWAIT.to_owned(),
        title: "Await a promised answer".to_owned(),
        description: "Checks on a promise that `ask` gave, or cancels it.".to_owned(),
        input: schemas.wait.clone(),
        output: Some(schemas.output.clone()),
        agent,
        reads_only: false,
        is_idempotent: false,
        as_tool: true,
        as_skill: false,
        call: Arc::new(call),
        outcome: None,
    }
}

/// The title and the description of an agent's own `ask`.
fn of_agent(card: &AgentCard) -> (String, String) {
    let description = format!(
        "Natural language interface to {} ({}). {} Put limits in plain words or as filters beside the text.",
        card.name, card.address, card.description,
    );
    (format!("Ask {}", card.name), description)
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

/// Asks, tells how far the work has come, and gives the answer, or the promise of one.
fn ask(service: Arc<Service>, own: Option<Handle>, call: ToolCall) -> BoxStream<'static, ToolEvent> {
    Box::pin(stream! {
        let patience = service.promise_after();
        let deadline = Instant::now() + patience;
        let gives_tasks = call.gives_tasks;
        let mut begun = match begin(&service, own.as_ref(), call, patience.min(BECOMES_TASK_AFTER)).await {
            Ok(begun) => begun,
            Err(response) => {
                yield done(&service, *response);
                return;
            }
        };
        let mut said = Vec::new();
        let task = loop {
            match begun.reply.events.next().await {
                Some(Event::Progress(progress)) => yield ToolEvent::Progress(progress),
                Some(Event::Task(id)) => break Some(id),
                Some(event) => {
                    let is_last = matches!(event, Event::Ending(_));
                    said.push(event);
                    if is_last { break None; }
                }
                None => break None,
            }
        };
        let Some(id) = task else {
            begun.reply.events = Box::pin(futures::stream::iter(said));
            yield done(&service, service.answered(begun).await);
            return;
        };
        let QuestionUnderWay { mut reply, about, language, sender, .. } = begun;
        // Who leaves wants no answer; who was promised one may.
        let mut abandon = service.host.task(&id, TaskAccess::As(&sender)).await.ok().map(CancelOnDrop::new);
        while !gives_tasks && let Ok(Some(event)) = timeout_at(deadline, reply.events.next()).await {
            if let Event::Progress(progress) = event {
                yield ToolEvent::Progress(progress);
            }
        }
        if let Some(abandon) = &mut abandon {
            abandon.no_more();
        }
        yield done(&service, service.promised_now(&id, &sender, about, language.as_ref()).await);
    })
}

async fn begin(
    service: &Service,
    own: Option<&Handle>,
    call: ToolCall,
    patience: Duration,
) -> Result<QuestionUnderWay, Box<Response>> {
    let ToolCall { arguments, sender, hop, language, via, answered, visited, payment, .. } = call;
    let dialect = decode::dialect(&arguments);
    let wanted = language.clone();
    let refused = |fault: ApiError| Box::new(wrong(&fault, dialect, wanted.as_ref()));
    let ask = decode::ask(arguments).map_err(&refused)?;
    let ask = answered.into_iter().fold(ask, |ask, answered| going_on(ask, *answered));
    let ask = visited.into_iter().fold(ask, |ask, visited| after_visit(ask, &visited));
    let payment = payment.map(|payment| *payment);
    let resident = service.resident(own, &ask).await.map_err(refused)?;
    service.begin(resident, ask, Asker { sender, hop, language, via, payment }, Run::task_if_slow(patience)).await
}

/// A question that led to one of the agent's own, now that a person has answered that: the answers are
/// the next turn of the conversation, and filters under their names. NLWeb 4.1.3.
fn going_on(mut ask: Ask, answered: ElicitedAnswer) -> Ask {
    let ElicitedAnswer { answers, earlier, .. } = answered;
    let said: Vec<String> = answers.values().filter_map(in_words).collect();
    if said.is_empty() {
        return ask;
    }
    match earlier.pointer("/_meta/session_context") {
        Some(Value::Object(session)) if session.contains_key(CONVERSATION) => ask.meta.session = session.clone(),
        // Without a conversation to go on with, the question itself becomes an earlier query.
        _ => ask.context.prev.push(ask.query.text),
    }
    ask.query.text = said.join(", ");
    // These filters do not pass `decode` any more, which holds requests to that bound.
    let room = FILTERS_MAX.saturating_sub(ask.query.filters.len());
    let named = answers.into_iter().filter(|(name, value)| name != UNNAMED && !value.is_null());
    ask.query.filters.extend(named.take(room));
    ask
}

/// A question that was refused, now that a person has been where its condition is met: it is asked once more, in the
/// session of the refusal.
fn after_visit(mut ask: Ask, refused: &Value) -> Ask {
    if let Some(Value::Object(session)) = refused.pointer("/_meta/session_context") {
        ask.meta.session.extend(session.clone());
    }
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

async fn awaited(service: &Service, own: Option<&Handle>, call: ToolCall) -> Response {
    let dialect = decode::dialect(&call.arguments);
    match decode::awaited(call.arguments) {
        Ok(awaited) => service.awaited(own, awaited, &call.sender, call.language.as_ref()).await,
        Err(fault) => wrong(&fault, dialect, call.language.as_ref()),
    }
}

fn done(service: &Service, response: Response) -> ToolEvent {
    ToolEvent::Done(Box::new(called(service, response)))
}

/// What came of a call: the response for programs, the same as text for models, and `_meta` beside it.
fn called(service: &Service, response: Response) -> ToolOutput {
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
        // For protocols that have a way of their own to say that nothing was begun.
        Outcome::Failure { message, retry_after: Some(seconds), .. } => {
            let kind = RefusalKind::ServiceUnavailable { retry_after_seconds: Some(seconds) };
            Some(Box::new(PolicyPart::new(kind, message)))
        }
        _ => None,
    };
    ToolOutput { structured, text: vec![text], parts: Vec::new(), meta, is_error, question, refusal, task }
}

/// NLWeb A.1, with what 3.1 to 3.4 say of each attribute. Only where the whole host is asked there is
/// something to choose by `site`.
fn ask_input(host: &Host, chooses: bool) -> Value {
    let mut input = json!({
        "type": "object",
        "properties": {
            "query": {
                "type": "object",
                "description": "The query object containing text and filters. Further attributes are filters, in \
                                schema.org's vocabulary.",
                "properties": {
                    "text": {"type": "string", "description": "The question in natural language."},
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
    });
    if chooses {
        let words = format!("Which agent to ask: {}.", site::known(host));
        input["properties"]["query"]["properties"]["site"] = json!({"type": "string", "description": words});
    }
    input
}

/// The input schema of `await`. NLWeb A.2.
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
