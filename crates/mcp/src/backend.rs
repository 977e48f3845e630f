//! `mcp`: a remote MCP server, or a program that is one, answers as if it lived here.
//!
//! One of its tools is called for each message, with arguments made from a template. The connection is
//! opened when the first message comes, and again when it broke; where the server may ask in the middle of a
//! call, each call has one of its own.

mod answer;
mod asking;
mod bounded;
mod settings;

use std::sync::Arc;
use std::time::Duration;

use forecourt_agents::{Backend, Built, Context};
use forecourt_core::reply::once;
use forecourt_core::{Admitted, Agent, Ending, Event, EventStream, Message};
use forecourt_egress::{Egress, Purpose};
use forecourt_process::{Process, Program, Started, each_line, printable};
use forecourt_settings::{Problems, Section};
use http::HeaderMap;
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, CallToolResult, JsonObject, RequestMetaObject};
use rmcp::service::{RoleClient, RunningService, ServiceError};
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::timeout;

use self::asking::{Call, Nobody, Step, Waiting};
use self::bounded::Lines;
use self::settings::{McpSettings, Target};
use crate::client::{self, HOPS};
use crate::limits::{COMPLAINT_BYTES_MAX, MESSAGE_BYTES_MAX};
use crate::visit::{Person, Visitor};

/// Fronts an MCP server.
pub const BACKEND: Backend = Backend {
    kind: "mcp",
    about: "Fronts an MCP server, on HTTP or a program: each message is a call of one of its tools.",
    schema: || schemars::schema_for!(McpSettings),
    build,
};

fn build(section: Section, context: &Context) -> Result<Built, Problems> {
    let settings::Checked { target, tool, arguments, questions, time_max } = settings::read(&section, context)?;
    let waiting = questions.then(Waiting::default);
    let egress = context.egress.clone();
    let front = Front { target, tool, arguments, time_max, egress, line: Mutex::default(), waiting };
    // An answer to a question is known by its conversation.
    Ok(Built { streams: false, remembers: questions, composes: true, ..Built::new(McpAgent(Arc::new(front))) })
}

struct McpAgent(Arc<Front>);

struct Front {
    target: Target,
    tool: String,
    arguments: JsonObject,
    time_max: Duration,
    egress: Egress,
    line: Mutex<Option<Arc<Line>>>,
    /// Where the server may ask: the calls that wait for an answer.
    waiting: Option<Waiting>,
}

/// An open connection, with the program at its end if there is one.
struct Line {
    service: RunningService<RoleClient, Visitor>,
    /// Killed with its children when the connection is dropped.
    _program: Option<Process>,
}

impl Agent for McpAgent {
    fn handle(&self, admitted: Admitted) -> EventStream {
        let front = self.0.clone();
        Box::pin(async_stream::stream! {
            let mut events = front.answer(admitted.into_message()).await;
            while let Some(event) = futures::StreamExt::next(&mut events).await {
                yield event;
            }
        })
    }
}

impl Front {
    async fn answer(self: &Arc<Self>, message: Message) -> EventStream {
        let answered = async {
            match &self.waiting {
                Some(waiting) => self.converse(waiting, &message).await,
                None => self.call(&message).await.map(answer::events),
            }
        };
        match timeout(self.time_max, answered).await {
            Ok(Ok(events)) => Box::pin(futures::stream::iter(events)),
            Ok(Err(trouble)) => {
                tracing::warn!(%trouble, "an MCP server failed");
                once(Ending::failed("the server behind this agent could not be asked"))
            }
            Err(_) => once(Ending::failed("the server behind this agent took too long")),
        }
    }

    /// One turn with a server that may ask: up to its result, or its question.
    async fn converse(self: &Arc<Self>, waiting: &Waiting, message: &Message) -> Result<Vec<Event>, String> {
        let mut call = waiting.answered(message).unwrap_or_else(|| self.begin(message));
        loop {
            match call.step().await {
                Step::Ended(result) => return result.map(answer::events),
                Step::Asks(asked) => match waiting.keep(message.thread.as_ref(), call, asked) {
                    Ok(question) => return Ok(vec![end(Ending::Question(question))]),
                    Err(unasked) => call = unasked,
                },
            }
        }
    }

    /// A call on a connection of its own, so that it is known whose questions are asked there.
    fn begin(self: &Arc<Self>, message: &Message) -> Call {
        let (front, params) = (self.clone(), self.params(message));
        Call::new(|caller| async move {
            let line = front.open(Arc::new(caller)).await?;
            line.service.call_tool(params).await.map_err(|error| error.to_string())
        })
    }

    fn params(&self, message: &Message) -> CallToolRequestParams {
        let mut params = CallToolRequestParams::new(self.tool.clone()).with_arguments(self.filled(message));
        let mut meta = RequestMetaObject::new();
        meta.insert(HOPS.to_owned(), message.hop.into());
        params.meta = Some(meta);
        params
    }

    async fn call(&self, message: &Message) -> Result<CallToolResult, String> {
        let line = self.line().await?;
        match line.service.call_tool(self.params(message)).await {
            Ok(result) => Ok(result),
            Err(error) => {
                // An error of the protocol leaves the connection as it is.
                if !matches!(error, ServiceError::McpError(_)) {
                    *self.line.lock().await = None;
                }
                Err(error.to_string())
            }
        }
    }

    /// The connection, opened if there is none that works.
    async fn line(&self) -> Result<Arc<Line>, String> {
        let mut kept = self.line.lock().await;
        if let Some(line) = kept.as_ref().filter(|line| !line.service.peer().is_transport_closed()) {
            return Ok(line.clone());
        }
        let line = Arc::new(self.open(Arc::new(Nobody)).await?);
        *kept = Some(line.clone());
        Ok(line)
    }

    async fn open(&self, person: Arc<dyn Person>) -> Result<Line, String> {
        match &self.target {
            Target::Url { url, headers } => self.over_http(url, headers.clone(), person).await,
            Target::Program(program) => over_a_pipe(program, person).await,
        }
    }

    async fn over_http(&self, url: &str, headers: HeaderMap, person: Arc<dyn Person>) -> Result<Line, String> {
        let connection = client::connection(self.egress.clone(), Purpose::Upstream, url, headers);
        let service = Visitor(person).serve(connection).await.map_err(|error| error.to_string())?;
        Ok(Line { service, _program: None })
    }

    /// The arguments with what the message says in their places.
    fn filled(&self, message: &Message) -> JsonObject {
        let (text, language) = (message.addressed_text(), message.language.as_ref().map_or("", |tag| tag.as_str()));
        let fill = |(key, value): (&String, &Value)| (key.clone(), filled(value, &text, language));
        self.arguments.iter().map(fill).collect()
    }
}

fn filled(value: &Value, text: &str, language: &str) -> Value {
    let deeper = |value: &Value| filled(value, text, language);
    match value {
        // In one pass, so that words of a caller are never taken for a place to fill.
        Value::String(template) => {
            let pieces = template.split("{text}").map(|piece| piece.replace("{language}", language));
            pieces.collect::<Vec<_>>().join(text).into()
        }
        Value::Array(items) => items.iter().map(deeper).collect(),
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), deeper(value))).collect(),
        other => other.clone(),
    }
}

async fn over_a_pipe(program: &Program, person: Arc<dyn Person>) -> Result<Line, String> {
    let Started { process, stdin, stdout, stderr } = program.start().map_err(|error| error.to_string())?;
    let complaint = |line: &[u8]| tracing::debug!("an MCP server's program says: {}", printable(line));
    tokio::spawn(each_line(stderr, COMPLAINT_BYTES_MAX, complaint));
    let output = Lines::new(stdout, MESSAGE_BYTES_MAX);
    let transport = AsyncRwTransport::<RoleClient, _, _>::new_client(output, stdin);
    let service = Visitor(person).serve(transport).await.map_err(|error| error.to_string())?;
    Ok(Line { service, _program: Some(process) })
}

/// The end of an answer.
fn end(ending: Ending) -> Event {
    Event::Ending(ending)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_of_callers_are_put_in_place_and_never_read_again() {
        let template = json!({"q": "{text}", "deep": [{"a": "in {language}: {text}"}], "n": 3});
        assert_eq!(
            filled(&template, "{language} {text}", "de"),
            json!({"q": "{language} {text}", "deep": [{"a": "in de: {language} {text}"}], "n": 3})
        );
    }
}
