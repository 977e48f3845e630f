//! The types of what the operator is told.

use std::collections::BTreeMap;

use serde::Serialize;

/// The counts of all days that are kept, for the operator.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct QuestionReport {
    /// Questions in all, repeated ones as often.
    pub asked: u64,
    /// Those without a good answer.
    pub unanswered: u64,
    /// Days for which they are kept.
    pub keep_days: u32,
    /// The most frequent ones.
    pub top: Vec<QuestionCount>,
    /// Those for which nothing was found, of which a limit was not understood, or whose answer somebody marked as
    /// bad; the most frequent ones.
    pub without_good_answer: Vec<QuestionCount>,
}

/// One question of one agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct QuestionCount {
    /// The agent's handle.
    pub agent: String,
    /// The question, as it is kept.
    pub question: String,
    /// How often it was asked.
    pub asked: u64,
    /// How often nothing was found.
    pub nothing_found: u64,
    /// How often a limit in it was not understood.
    pub not_understood: u64,
    /// Thumbs up.
    pub good: u64,
    /// Thumbs down.
    pub bad: u64,
}

/// A question of which somebody rated items.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MarkedQuestion {
    /// The question, as it is kept.
    pub question: String,
    /// Thumbs up less thumbs down, by the ids of items.
    pub items: BTreeMap<String, i64>,
}
