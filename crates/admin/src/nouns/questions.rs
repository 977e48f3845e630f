//! What people ask, where the operator has it counted.

use forecourt_questions::{QuestionCount, QuestionLog, QuestionReport, ResultCount};
use schemars::JsonSchema;
use serde::Serialize;

use crate::api_error::ApiError;
use crate::desk::Ask;

/// Lines of each list, where nobody says how many.
const SHOWN: usize = 100;

/// What the list takes.
pub(crate) const QUERY: &[(&str, &str)] = &[("limit", "At most so many lines of each list, up to 200")];

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
    /// Clicks on results of pages in all.
    pub clicks: u64,
    /// At which place the clicked results stood on average, from 1 on.
    pub average_place: Option<f64>,
    /// The results that were clicked most.
    pub clicked_most: Vec<ShownResult>,
    /// The results that were shown most and never clicked.
    pub never_clicked: Vec<ShownResult>,
}

/// A result of a question, as pages showed it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShownResult {
    /// The agent.
    pub agent: String,
    /// The question, as it is kept.
    pub question: String,
    /// The address or the id of the item.
    pub item: String,
    /// How often it was shown.
    pub shown: u64,
    /// How often it was clicked.
    pub clicked: u64,
    /// At which place it stood on average when it was clicked, from 1 on; where nobody has, its last place.
    pub place: f64,
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
    /// Clicks on its results.
    pub clicked: u64,
}

pub(crate) async fn list(ask: Ask) -> Result<QuestionStatistics, ApiError> {
    let Some(log) = ask.house.services.get::<QuestionLog>() else {
        return Ok(statistics(false, QuestionReport::default()));
    };
    let (now, limit) = (ask.now(), if ask.query("limit").is_some() { ask.limit()? } else { SHOWN });
    let report = tokio::task::spawn_blocking(move || log.report(limit, now)).await;
    let Ok(Ok(report)) = report else { return Err(ApiError::internal("the log of questions can't be read")) };
    Ok(statistics(true, report))
}

fn statistics(is_on: bool, report: QuestionReport) -> QuestionStatistics {
    let often = |of: Vec<QuestionCount>| of.into_iter().map(seen).collect();
    let results = |of: Vec<ResultCount>| of.into_iter().map(shown).collect();
    QuestionStatistics {
        is_on,
        asked: report.asked,
        unanswered: report.unanswered,
        keep_days: report.keep_days,
        top: often(report.top),
        without_good_answer: often(report.without_good_answer),
        clicks: report.clicks,
        average_place: report.average_place,
        clicked_most: results(report.clicked_most),
        never_clicked: results(report.never_clicked),
    }
}

fn shown(count: ResultCount) -> ShownResult {
    let ResultCount { agent, question, item, shown, clicked, place } = count;
    ShownResult { agent, question, item, shown, clicked, place }
}

fn seen(count: QuestionCount) -> AskedOften {
    let QuestionCount { agent, question, asked, nothing_found, not_understood, good, bad, clicked } = count;
    AskedOften { agent, question, asked, nothing_found, not_understood, good, bad, clicked }
}
