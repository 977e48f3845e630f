//! This module has the answer to a message: a stream of events with exactly one ending.
//!
//! Streaming, collecting and running in the background are three ways to drain the same stream.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::{Stream, StreamExt, stream};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::address::Handle;
use crate::findings::Findings;
use crate::ids::{TaskId, ThreadId};
use crate::language::Language;
use crate::part::{Part, ToolCall};
use crate::policy::PolicyPart;
use crate::receipt::PaymentReceipt;
use crate::usage::{AnswerUsage, UsageMeter};

mod ending;
mod gathered;
mod guard;

pub use crate::question::Question;
pub use ending::{Ending, FailureCause, SignIn};
pub use gathered::ReplyAccumulator;
pub use guard::{GuardedReply, ReplyLimits, guard};

/// An agent's events. Its work happens as the stream is polled; dropping the stream cancels it.
pub type EventStream = Pin<Box<dyn Stream<Item = Event> + Send>>;

/// One thing that happens while an agent answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The next fragment of the answer, in markdown. Fragments join without a separator.
    Text(String),
    /// A file, link, data item or artifact.
    Part(Part),
    /// What a search says about its answer, told when [`crate::SearchOptions`] wishes for it: before the items
    /// that it is about, and again whenever more is known. The last one holds.
    Findings(Box<Findings>),
    /// A tool call begins, or replaces an earlier one of the same id.
    ToolCall(ToolCall),
    /// Something to show while waiting.
    Progress(Progress),
    /// From here on the host keeps the work going as this task, whether its caller stays or not. The host
    /// alone says so, once at most; from an agent it is passed over.
    Task(TaskId),
    /// The last event of every reply.
    Ending(Ending),
}

/// How far the work has come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Between 0 and 1, if it is known.
    pub fraction: Option<f64>,
    /// A short sentence.
    pub note: Option<String>,
}

/// The answer to a message, as the host hands it to a protocol.
pub struct Reply {
    /// The agent that answers.
    pub agent: Handle,
    /// The conversation, when the agent keeps one: what the caller sends back to follow up.
    pub thread: Option<ThreadId>,
    /// The task that records this reply, when there is one from the start. One that begins later is an
    /// [`Event::Task`].
    pub task: Option<TaskId>,
    /// The language of the answer.
    pub language: Language,
    /// The receipt of the payment that this reply was paid with: surely known after the ending.
    pub receipt: PaymentReceipt,
    /// What models use for it, for who may see that: whole after the ending. Nothing for others.
    pub usage: UsageMeter,
    /// The events. The last one is the only [`Event::Ending`].
    pub events: EventStream,
}

/// A reply after its ending: what non-streaming protocols render.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CollectedReply {
    /// The answer in parts, in the order in which they came, tool calls by their last value. Words are one part unless
    /// a paragraph began behind another part: that one begins with its blank line, so that all words joined are what
    /// was streamed.
    pub parts: Vec<Part>,
    /// The findings of the search behind the answer, if they were asked for; the last ones that it gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<Box<Findings>>,
    /// The usage of models for it. Only of tasks, and only for callers who may see it.
    #[serde(default, skip_serializing_if = "AnswerUsage::is_empty")]
    pub usage: AnswerUsage,
    /// The receipt of what was paid for it when it was complete. Only of tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Box<Map<String, Value>>>,
    /// How it ended.
    pub ending: Ending,
}

impl std::fmt::Debug for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reply").field("agent", &self.agent).field("task", &self.task).finish_non_exhaustive()
    }
}

impl Reply {
    /// Waits for the ending and gathers what came before it.
    pub fn collect(self) -> CollectReply {
        collect(self.events)
    }
}

/// A stream that refuses at once.
pub fn refused(part: PolicyPart) -> EventStream {
    once(Ending::Refused(Box::new(part)))
}

/// A stream of one ending.
pub fn once(ending: Ending) -> EventStream {
    Box::pin(stream::once(async move { Event::Ending(ending) }))
}

/// Drains a stream to its ending. A stream without one failed.
pub fn collect(events: EventStream) -> CollectReply {
    CollectReply { events, gathered: ReplyAccumulator::default() }
}

/// The future of [`collect`]. A named type, so that the crates that await it do not compile its body again.
pub struct CollectReply {
    events: EventStream,
    gathered: ReplyAccumulator,
}

impl Future for CollectReply {
    type Output = CollectedReply;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<CollectedReply> {
        let ending = loop {
            match ready!(self.events.poll_next_unpin(cx)) {
                Some(event) => {
                    if let Some(ending) = self.gathered.take(event) {
                        break ending;
                    }
                }
                // PolicyPart 3.5: a stream that closes without its last frame has failed, and is not an empty success.
                None => break Ending::unfinished(),
            }
        };
        Poll::Ready(std::mem::take(&mut self.gathered).finish(ending))
    }
}

impl CollectedReply {
    /// An answer of these parts, with this ending.
    pub fn new(parts: Vec<Part>, ending: Ending) -> Self {
        Self { parts, findings: None, usage: AnswerUsage::default(), receipt: None, ending }
    }

    /// The markdown of the answer: the text parts, joined by a newline where none begins with one.
    pub fn text(&self) -> String {
        let mut all = String::new();
        for text in self.parts.iter().filter_map(Part::as_text) {
            if !all.is_empty() && !text.starts_with('\n') {
                all.push('\n');
            }
            all.push_str(text);
        }
        all
    }
}
