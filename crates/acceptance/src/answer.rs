//! What came of a turn, whatever the wire.

use serde_json::Value;

/// Millionths in a unit of money.
const MICROS: f64 = 1e6;

/// An answer with all that tests may expect of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// How it ended.
    pub ending: Ending,
    /// Its words.
    pub text: String,
    /// What is listed, in its order.
    pub items: Vec<Value>,
    /// Names of files that came with it.
    pub files: Vec<String>,
    /// The calls of tools that were told.
    pub calls: Vec<ToolUse>,
    /// The HTTP status, where the wire has one of its own for each answer.
    pub status: Option<u16>,
    /// What models cost for it, in millionths of a unit of money.
    pub cost_micros: u64,
}

/// How an answer ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Ending {
    /// It is whole.
    #[default]
    Complete,
    /// It asks back, in these words.
    Question(String),
    /// It was refused.
    Refusal {
        /// The kind of the refusal, such as `payment_required`.
        kind: String,
        /// What its caller is told.
        message: String,
    },
    /// It failed.
    Failure {
        /// The code of the ending, such as `agent-failed`; empty where the wire says none.
        code: String,
        /// What its caller is told.
        message: String,
    },
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolUse {
    /// The tool.
    pub tool: String,
    /// What it was called with.
    pub arguments: Value,
}

/// Millionths of a unit of money as such units.
#[expect(clippy::cast_precision_loss, reason = "no run costs 2^52 millionths")]
pub(crate) fn units_of_money(micros: u64) -> f64 {
    micros as f64 / MICROS
}

impl Answer {
    /// The names by which an item may be meant.
    pub fn names_of(item: &Value) -> impl Iterator<Item = &str> {
        ["@id", "url", "name", "identifier", "sku", "id", "title"].into_iter().filter_map(|key| item[key].as_str())
    }

    /// What an item is called, for people.
    pub fn label_of(item: &Value) -> &str {
        ["name", "title", "url", "@id"]
            .into_iter()
            .find_map(|key| item[key].as_str())
            .unwrap_or("an item without a name")
    }
}
