//! This module says how a protocol joins `forecourt ask`: one [`AskClient`] in its crate. The program knows what a
//! client takes and runs it; what goes over the wire, and what the answer means, is the client's.

mod address;
mod arguments;
pub mod attachment;
mod display;
mod piece;
mod target;
mod tool;
mod tool_display;

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::output::Outcome;

pub use address::{AddressBook, AddressedAgent, Addressee};
pub use arguments::{AskArguments, header_value};
pub use display::{AnswerDisplay, AnswerEnd, pause, refuse_files};
pub use piece::AnswerPiece;
pub use target::{ANSWER_TIME_MAX, AskTarget, EndpointRules, JSON, STREAM};
pub use tool::AskTool;
pub use tool_display::ToolDisplay;

/// A protocol over which `ask` puts a question.
pub struct AskClient {
    /// What `--via` calls it.
    pub name: &'static str,
    /// The flags that it takes.
    pub options: AskOptions,
    /// How its questions and answers are written as calls of tools, for the protocols that carry those.
    pub tool: Option<AskTool>,
    /// Puts the question and shows the answer, until it has ended.
    pub run: fn(AskCall) -> BoxFuture<'static, Outcome>,
}

/// What a protocol takes of what can be asked for on the command line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AskOptions {
    /// `--task`: an answer that comes later.
    pub task: bool,
    /// `--answer`: values for the questions that the agent asked.
    pub answers: bool,
    /// `--pay`.
    pub payment: bool,
    /// `--state` and `--wait`: a question that goes on after a refusal.
    pub resumption: bool,
    /// A domain instead of an agent: the host decides who answers.
    pub domain: bool,
}

/// One question, and what a client needs to put it.
pub struct AskCall {
    /// What was typed.
    pub arguments: AskArguments,
    /// Whom an address means.
    pub addresses: Arc<dyn AddressBook>,
    /// How the protocols write questions as calls of tools, in the order of the registry.
    pub tools: Vec<&'static AskTool>,
}
