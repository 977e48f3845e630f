//! What people ask, where the operator has it counted.

use forecourt_questions::{QuestionCount, QuestionLog};
use schemars::JsonSchema;
use serde::Serialize;

use crate::api_error::ApiError;
use crate::desk::Ask;

/// Questions of each list.
const SHOWN: usize = 100;

/// What people ask, as this node has counted it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct QuestionStatistics {
    /// Whether questions are counted.
    pub is_on: bool,
    /// Questions in all, repeated ones as often.
    pub asked: u64,
    /// Those without a good answer.
    pub unanswered: u64,
    /// Days for which they are kept.
    pub keep_days: u32,
    /// The most frequent ones.
    pub top: Vec<AskedOften>,
    /// Those without a good answer, the most frequent ones.
    pub without_good_answer: Vec<AskedOften>,
}

/// A question of an agent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AskedOften {
    /// The agent.
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

pub(crate) async fn list(ask: Ask) -> Result<QuestionStatistics, ApiError> {
    let Some(log) = ask.house.services.get::<QuestionLog>() else {
        let (top, without_good_answer) = (Vec::new(), Vec::new());
        return Ok(QuestionStatistics {
            is_on: false,
            asked: 0,
            unanswered: 0,
            keep_days: 0,
            top,
            without_good_answer,
        });
    };
    let now = ask.now();
    let report = tokio::task::spawn_blocking(move || log.report(SHOWN, now)).await;
    let Ok(Ok(report)) = report else { return Err(ApiError::internal("the log of questions can't be read")) };
    let often = |of: Vec<QuestionCount>| of.into_iter().map(seen).collect();
    Ok(QuestionStatistics {
        is_on: true,
        asked: report.asked,
        unanswered: report.unanswered,
        keep_days: report.keep_days,
        top: often(report.top),
        without_good_answer: often(report.without_good_answer),
    })
}

fn seen(count: QuestionCount) -> AskedOften {
    let QuestionCount { agent, question, asked, nothing_found, not_understood, good, bad } = count;
    AskedOften { agent, question, asked, nothing_found, not_understood, good, bad }
}
