//! What answers that consist of items are made of, whatever wire carries them.

use serde_json::Value;

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerPiece {
    /// A summary, or an answer in words alone.
    Words(String),
    /// An item.
    Item(Value),
    /// The answer comes later.
    Promise {
        /// What to check on it by.
        token: String,
        /// Seconds until then, as a guess.
        seconds: Option<u64>,
        /// Between 0 and 1.
        progress: Option<f64>,
        /// A sentence.
        message: Option<String>,
    },
    /// The agent asks back.
    Questions {
        /// The question in words.
        text: String,
        /// Structured questions, as they came.
        questions: Vec<Value>,
    },
    /// What went wrong. In a stream more may follow.
    Failure {
        /// A code.
        code: String,
        /// A sentence.
        message: String,
        /// Whether the server is what failed, so that another time may do.
        may_pass: bool,
        /// The refusal behind it, when there is one.
        policy: Option<Value>,
    },
    /// The name of the conversation.
    Conversation(String),
    /// Nothing follows, and whether there was an answer.
    End {
        /// Whether it is whole.
        whole: bool,
    },
}
