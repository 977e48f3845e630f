//! `mcp`: a remote MCP server, or a program that is one, answers as if it lived here.
//!
//! One of its tools is called for each message, with arguments made from a template. The connection is
//! opened when the first message comes, and again when it broke; where the server may ask in the middle of a
//! call, each call has one of its own.

mod answer;
mod arguments;
mod asking;
mod line;
mod settings;
pub(crate) mod wrapped;

use std::sync::Arc;
use std::time::Duration;

use async_stream::stream;
use forecourt_agents::on_behalf_of::TokenExchange;
use forecourt_agents::{Backend, BuiltAgent, Context};
use forecourt_core::agent::AddressedFiles;
use forecourt_core::{Admitted, Agent, Clock, ContentMode, Ending, Event, EventStream, FailureCause, Handle, Message};
use forecourt_egress::Egress;
use forecourt_settings::{Problems, Section, schema_of_both};
use rmcp::model::{CallToolRequestParams, CallToolResult, JsonObject, RequestMetaObject};
use tokio::sync::{Mutex, mpsc};
use tokio::time::{Instant, timeout_at};

use self::asking::{Call, Nobody, Step, Waiting};
use self::line::Line;
use self::settings::RemoteServerSettings;
use crate::client::HOPS;
use crate::trace;
use crate::upstream::call_error::CallError;
use crate::upstream::target::{Target, TargetSettings};

/// How our own words call the server.
const WHO: &str = "The server behind this agent";

/// The backend `mcp`: an agent here whose messages are calls of one tool of an MCP server.
pub const BACKEND: Backend = Backend {
    kind: "mcp",
    about: "Fronts an MCP server, on HTTP or a program: each message is a call of one of its tools.",
    schema: schema_of_both::<RemoteServerSettings, TargetSettings>,
    build,
};

fn build(section: Section, context: &Context) -> Result<BuiltAgent, Problems> {
    let settings::CheckedSection { target, tool, arguments, questions, time_max, exchange } =
        settings::read(&section, context)?;
    let takes_attachments = arguments::take_attachments(&arguments);
    let server = Server { target, egress: context.egress.clone(), line: Mutex::default() };
    let front = Front {
        server: Arc::new(server),
        tool,
        arguments,
        takes_attachments,
        time_max,
        exchange,
        waiting: questions.then(Waiting::default),
        handle: context.handle.clone(),
        host: context.host.clone(),
        clock: context.clock.clone(),
    };
    // An answer to a question is known by its conversation.
    let mut built = BuiltAgent {
        streams: false,
        remembers: questions,
        composes: true,
        ..BuiltAgent::new(McpAgent(Arc::new(front)))
    };
    let files = || ContentMode::File { mime: "*/*".to_owned() };
    built.input_modes.extend(takes_attachments.then(files));
    built.output_modes.push(files());
    Ok(built)
}

struct McpAgent(Arc<Front>);

struct Front {
    server: Arc<Server>,
    tool: String,
    arguments: JsonObject,
    /// Whether the arguments have a place for attachments.
    takes_attachments: bool,
    time_max: Duration,
    /// Where tokens of callers come from that the server is asked with.
    exchange: Option<Arc<TokenExchange>>,
    /// Where the server may ask: the calls that wait for an answer. None of them holds this.
    waiting: Option<Waiting>,
    handle: Handle,
    host: String,
    clock: Arc<dyn Clock>,
}

/// The server, and the connection to it that calls share.
struct Server {
    target: Target,
    egress: Egress,
    line: Mutex<Option<Arc<Line>>>,
}

impl Agent for McpAgent {
    fn handle(&self, admitted: Admitted) -> EventStream {
        self.0.clone().answer(admitted.into_message())
    }

    /// Without a place for attachments an address stands in the text, and nobody needs the bytes.
    fn addressed_files(&self) -> AddressedFiles {
        match self.0.takes_attachments {
            true => AddressedFiles::FetchedIfReachable,
            false => AddressedFiles::Passed,
        }
    }
}

impl Front {
    /// One turn: up to the result of a call, or to its question.
    fn answer(self: Arc<Self>, message: Message) -> EventStream {
        Box::pin(stream! {
            let deadline = Instant::now() + self.time_max;
            let mut call = match self.goes_on(&message) {
                Ok(call) => call,
                Err(ending) => {
                    yield Event::Ending(ending);
                    return;
                }
            };
            loop {
                match timeout_at(deadline, call.step()).await {
                    Ok(Step::Told(progress)) => yield Event::Progress(progress),
                    Ok(Step::Asks(asked)) => match self.keep(&message, call, asked) {
                        Ok(question) => {
                            yield question;
                            return;
                        }
                        Err(unasked) => call = unasked,
                    },
                    Ok(Step::Ended(result)) => {
                        for event in self.events(result) {
                            yield event;
                        }
                        return;
                    }
                    Err(_) => {
                        yield Event::Ending(FailureCause::TimedOut.ending(format!("{WHO} took too long for its answer.")));
                        return;
                    }
                }
            }
        })
    }

    /// The call that a message answers a question of, or a new one.
    fn goes_on(&self, message: &Message) -> Result<Call, Ending> {
        match self.waiting.as_ref().and_then(|waiting| waiting.answered(message)) {
            Some(call) => Ok(call),
            None => self.begin(message),
        }
    }

    /// A new call. One that may ask has a connection of its own, so that it is known whose questions are
    /// asked there.
    fn begin(&self, message: &Message) -> Result<Call, Ending> {
        let arguments =
            arguments::filled(&self.arguments, message).map_err(|unfit| Ending::failed(unfit.to_string()))?;
        let mut params = CallToolRequestParams::new(self.tool.clone()).with_arguments(arguments);
        let mut meta = RequestMetaObject::new();
        meta.insert(HOPS.to_owned(), message.hop.into());
        trace::tell(&mut meta);
        params.meta = Some(meta);
        let (server, may_ask) = (self.server.clone(), self.waiting.is_some());
        let (exchange, token) = (self.exchange.clone(), message.sender.token.clone());
        Ok(Call::new(move |caller, listener| async move {
            if let Some(exchange) = exchange {
                // A connection is one caller's: what it is shown at its beginning holds for all that follows.
                let authorization = exchange.authorization(token.as_ref()).await.map_err(CallError::Unasked)?;
                let target = server.target.authorized(authorization);
                return Line::open(&target, &server.egress, Arc::new(caller)).await?.call(params, listener).await;
            }
            if !may_ask {
                return server.call(params, listener).await;
            }
            let line = Line::open(&server.target, &server.egress, Arc::new(caller)).await?;
            line.call(params, listener).await
        }))
    }

    /// Keeps a call until its question is answered. Gives it back, with the question declined, when it can't
    /// be.
    fn keep(&self, message: &Message, call: Call, asked: asking::PendingQuestion) -> Result<Event, Call> {
        let Some(waiting) = &self.waiting else { return Err(call) };
        let question = waiting.keep(message.thread.as_ref(), call, asked)?;
        Ok(Event::Ending(Ending::Question(question)))
    }

    fn events(&self, result: Result<CallToolResult, CallError>) -> Vec<Event> {
        match result {
            Ok(result) => answer::events(result, &self.host, &self.handle),
            Err(error) => vec![Event::Ending(error.ending(WHO, &self.handle, &*self.clock))],
        }
    }
}

impl Server {
    /// A call on the connection that all share.
    async fn call(
        &self,
        params: CallToolRequestParams,
        listener: mpsc::Sender<forecourt_core::Progress>,
    ) -> Result<CallToolResult, CallError> {
        let line = self.line().await?;
        let result = line.call(params, listener).await;
        if result.as_ref().is_err_and(|error| !error.leaves_connection()) {
            self.forget(&line).await;
        }
        result
    }

    /// The connection, opened if there is none that works.
    async fn line(&self) -> Result<Arc<Line>, CallError> {
        // Held while the connection is opened, so that messages that come at once share one.
        let mut kept = self.line.lock().await;
        if let Some(line) = kept.as_ref().filter(|line| !line.is_closed()) {
            return Ok(line.clone());
        }
        let line = Arc::new(Line::open(&self.target, &self.egress, Arc::new(Nobody)).await?);
        *kept = Some(line.clone());
        Ok(line)
    }

    /// Gives up a connection that broke, unless another has taken its place.
    async fn forget(&self, broken: &Arc<Line>) {
        let mut kept = self.line.lock().await;
        if kept.as_ref().is_some_and(|line| Arc::ptr_eq(line, broken)) {
            *kept = None;
        }
    }
}
