//! This module has the operations that one protocol offers and others carry as tools or skills: defined once, called by
//! name with JSON.

use std::sync::Arc;

use forecourt_core::policy::PaymentSubmission;
use forecourt_core::reply::{Progress, Question};
use forecourt_core::{Handle, Language, LazyJson, Part, PolicyPart, Sender, TaskId, Transport};
use forecourt_host::TaskPermit;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One operation, as a carrier lists and calls it. Cheap to clone.
#[derive(Clone)]
pub struct Tool {
    /// Names it: 1 to 64 of letters, digits, `_` and `-`.
    pub name: String,
    /// A name to show.
    pub title: String,
    /// The description of its effect and use, for a model to read.
    pub description: String,
    /// The JSON schema of its arguments: an object, draft 2020-12. Tools that have the same one share it.
    pub input: LazyJson,
    /// The JSON schema of [`ToolOutput::structured`]; an object too.
    pub output: Option<LazyJson>,
    /// The agent that it belongs to; `None` when it is the whole host's.
    pub agent: Option<Handle>,
    /// Whether calling it changes nothing.
    pub reads_only: bool,
    /// Whether calling it again with the same arguments changes nothing more, so that whoever is unsure
    /// whether a call arrived may repeat it.
    pub is_idempotent: bool,
    /// Whether carriers of tools offer it, to models.
    pub as_tool: bool,
    /// Whether carriers of skills offer it, to agents: called with its arguments as data.
    pub as_skill: bool,
    /// Begins a call. The last event is [`ToolEvent::Done`]; dropping the stream cancels the call,
    /// unless the operation has become a task.
    pub call: Arc<dyn Fn(ToolCall) -> BoxStream<'static, ToolEvent> + Send + Sync>,
    /// Gives the result of a task that a call of this tool began, in the form of the call's own. It gives `None` for
    /// other tasks. For carriers that give out tasks.
    pub outcome: Option<Arc<ToolTaskOutcome>>,
}

/// Reads the result of a task that a call began: see [`Tool::outcome`].
pub type ToolTaskOutcome = dyn Fn(TaskPermit) -> BoxFuture<'static, Option<ToolOutput>> + Send + Sync;

/// One call of a [`Tool`].
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// The arguments, which the operation checks.
    pub arguments: Value,
    /// The caller on whose behalf it is made.
    pub sender: Sender,
    /// How many agents handed the request on before this call.
    pub hop: u32,
    /// The language the caller would like an answer in.
    pub language: Option<Language>,
    /// The protocol that carries the call.
    pub via: Transport,
    /// Whether the carrier gives out tasks: what takes longer then ends the call with its task, as soon as
    /// there is one.
    pub gives_tasks: bool,
    /// The question of an earlier call with the same arguments, now that a person has answered it.
    pub answered: Option<Box<ElicitedAnswer>>,
    /// [`ToolOutput::structured`] of an earlier call with the same arguments that was refused, now that a person has
    /// been at the page where the condition is met.
    pub visited: Option<Box<Value>>,
    /// A payment that came with the call. A claim, for the host to check.
    pub payment: Option<Box<PaymentSubmission>>,
}

/// A question that a carrier put to a person, with what that person said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ElicitedAnswer {
    /// The question, as [`ToolOutput::question`] had it.
    pub question: Question,
    /// What was said, by the `id` of each structured question; under `answer` when there were none.
    pub answers: Map<String, Value>,
    /// [`ToolOutput::structured`] of the call that asked.
    pub earlier: Value,
}

/// An event during a call.
#[derive(Debug, Clone)]
pub enum ToolEvent {
    /// Something to show while waiting.
    Progress(Progress),
    /// The result, which is the last event.
    Done(Box<ToolOutput>),
}

/// The result of a call.
#[derive(Debug, Clone, Default)]
pub struct ToolOutput {
    /// The answer for programs.
    pub structured: Value,
    /// The answer for models and people, in markdown; each is a paragraph of its own.
    pub text: Vec<String>,
    /// Files, links and artifacts that belong to the answer. Carriers that can show them do; none is
    /// [`forecourt_core::FileSource::Kept`].
    pub parts: Vec<Part>,
    /// Metadata beside the answer, by key.
    pub meta: Map<String, Value>,
    /// Whether the caller should take it for a failure that it can do something about.
    pub is_error: bool,
    /// What the operation would like to know; carriers that can ask a person do.
    pub question: Option<Question>,
    /// Why it was refused, for carriers that can show a person where to act.
    pub refusal: Option<Box<PolicyPart>>,
    /// The task that this call has begun, when it goes on.
    pub task: Option<TaskId>,
}
