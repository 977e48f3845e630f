//! The types of what the operator is told.

use std::collections::BTreeMap;

use serde::Serialize;

/// The counts of all days that are kept, for the operator.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
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
    /// Clicks on results in all.
    pub clicks: u64,
    /// At which place among the results the clicked ones stood on average, from 1 on. `None` without clicks.
    pub average_place: Option<f64>,
    /// The results that were clicked most.
    pub clicked_most: Vec<ResultCount>,
    /// The results that were shown most and never clicked.
    pub never_clicked: Vec<ResultCount>,
}

/// One result of one question.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ResultCount {
    /// The agent's handle.
    pub agent: String,
    /// The question, as it is kept.
    pub question: String,
    /// The address or the id of the item.
    pub item: String,
    /// How often it was shown on a page.
    pub shown: u64,
    /// How often it was clicked there.
    pub clicked: u64,
    /// At which place it stood on average when it was clicked, from 1 on; where nobody has, its last place.
    pub place: f64,
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
    /// Clicks on its results.
    pub clicked: u64,
}

/// A question of which somebody rated items.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MarkedQuestion {
    /// The question, as it is kept.
    pub question: String,
    /// Thumbs up less thumbs down, by the ids of items.
    pub items: BTreeMap<String, i64>,
}
