//! What people ask, for the operator who wants to know: how often each question was asked, whether it was answered,
//! which results were clicked, and what people thought of the answer. Only where the operator turns it on, and without
//! personal data: there is no address, no session, no identity and no time but the day, and what looks like a number of
//! somebody's or an address is taken out of the text.
//!
//! | file | holds |
//! |---|---|
//! | [`QuestionLog`] | counters by agent, day and question, in a SQLite file of their own |
//! | `results.rs` | which results were shown, and clicked |
//! | [`normalized`] | a question as it is kept |
//! | [`LoggedAgent`] | an agent whose questions are counted |
//! | [`UnfoundQuestions`] | how many questions an agent found nothing for, with or without a log |
//! | [`limits`] | every bound, with its unit |

pub mod limits;
mod log;
mod logged;
mod normalized;
mod people;
mod report;
mod results;
mod unfound;

pub use log::{Error, QuestionLog, Rating, RatingOutcome};
pub use logged::LoggedAgent;
pub use normalized::normalized;
pub use report::{MarkedQuestion, QuestionCount, QuestionReport, ResultCount};
pub use results::{Click, ClickOutcome};
pub use unfound::UnfoundQuestions;

/// What became of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerOutcome {
    /// It was answered.
    Answered,
    /// Nothing was found for it, or the agent failed or declined.
    NothingFound,
    /// It was answered, but for a limit that was not understood.
    NotUnderstood,
}
