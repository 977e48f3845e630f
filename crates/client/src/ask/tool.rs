//! A question as the call of a tool, for protocols that carry tools and know nothing of questions.

use serde_json::Value;

use super::arguments::AskArguments;
use super::piece::AnswerPiece;

/// How a protocol writes its questions and answers as calls of tools and their results.
pub struct AskTool {
    /// The tool that takes a question.
    pub name: &'static str,
    /// The tool that tells how a promised answer goes on.
    pub poll_name: &'static str,
    /// The arguments of a question.
    pub question: fn(&AskArguments) -> Value,
    /// The arguments that ask for the promise of this token.
    pub poll: fn(&str) -> Value,
    /// What a structured result says. `None` when it is none of this protocol's.
    pub answer: fn(&Value) -> Option<Vec<AnswerPiece>>,
}
