//! What an answer notes of its rounds and calls, and what a later try of it reads, so that it goes on behind the last
//! call that was made.
//!
//! That a call is made is on disk before it is made. So a call of which nobody knows whether it was made is known as
//! such, and is made again only where its tool says that this changes nothing.

use std::collections::VecDeque;

use forecourt_agents::tool::{ToolError, ToolResult};
use forecourt_completions::draft::ToolCallRound;
use forecourt_core::{AnswerUsage, EarlierTry, Ending, Event, FailureCause, PolicyPart, UsageMeter, WorkJournal};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::tools::{Call, CallsSpent};

/// One step of an answer.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AnswerNote {
    /// The model asked for tools; what models used by then.
    Round { round: ToolCallRound, used: AnswerUsage },
    /// The call of this name is made.
    Begun { call: String },
    /// It was made.
    Done { call: String, result: KeptResult },
}

/// What a call came to.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KeptResult {
    Value(Value),
    Said(String),
    Refused(Box<PolicyPart>),
}

impl KeptResult {
    fn of(result: &ToolResult) -> Self {
        match result {
            Ok(value) => Self::Value(value.clone()),
            Err(ToolError::Said(words)) => Self::Said(words.clone()),
            Err(ToolError::Refused(part)) => Self::Refused(part.clone()),
        }
    }

    fn into_result(self) -> ToolResult {
        match self {
            Self::Value(value) => Ok(value),
            Self::Said(words) => Err(ToolError::Said(words)),
            Self::Refused(part) => Err(ToolError::Refused(part)),
        }
    }
}

/// Notes that the model asked for tools.
pub(super) fn note_round(journal: &WorkJournal, round: &ToolCallRound, usage: &UsageMeter) {
    if journal.is_kept() {
        journal.note(json!(AnswerNote::Round { round: round.clone(), used: usage.so_far() }));
    }
}

/// Notes that a call is made, and waits until that is on disk.
///
/// # Errors
/// It can't be written, so that the call must not be made.
pub(super) async fn note_begun(journal: &WorkJournal, call: &Call) -> Result<(), Ending> {
    if journal.is_kept() {
        journal.note(json!(AnswerNote::Begun { call: call.id().to_owned() }));
    }
    journal.written().await.map_err(|_| {
        let (id, tool) = (call.id(), call.tool());
        FailureCause::CutOff.ending(format!("The tool {tool} was not called ({id}): that can't be kept at the moment."))
    })
}

/// Notes what a call came to.
pub(super) fn note_done(journal: &WorkJournal, call: &Call, result: &ToolResult) {
    if journal.is_kept() {
        journal.note(json!(AnswerNote::Done { call: call.id().to_owned(), result: KeptResult::of(result) }));
    }
}

/// The ending of an answer whose node was lost within a call that must not be made twice.
pub(super) fn lost(call: &Call) -> Ending {
    FailureCause::NodeLost.ending(format!(
        "The host was lost while it called the tool {} ({}), and nobody knows whether that was done. It is not called \
         again.",
        call.tool(),
        call.id()
    ))
}

/// An answer as far as earlier tries of it came.
#[derive(Default)]
pub(super) struct EarlierAnswer {
    /// What it said.
    pub(super) events: Vec<Event>,
    /// Replies that asked for tools, and the results, for the model.
    pub(super) rounds: Vec<Value>,
    pub(super) spent: CallsSpent,
    /// What models used for it.
    pub(super) used: AnswerUsage,
    /// Calls of the last round that are not known to have been made.
    pub(super) left: VecDeque<Call>,
    /// Whether the first of them was begun.
    pub(super) is_begun: bool,
    /// What a tool refused, for the person who asked.
    pub(super) refusal: Option<Ending>,
}

impl EarlierAnswer {
    /// What the journal holds of earlier tries. `None` in the first one.
    ///
    /// # Errors
    /// Another version wrote it, so that nobody knows which calls were made.
    pub(super) fn read(journal: &WorkJournal) -> Result<Option<Self>, Ending> {
        let EarlierTry::Left(notes) = journal.earlier() else { return Ok(None) };
        let mut answer = Self::default();
        for note in notes {
            let note = serde_json::from_value(note).map_err(|error| {
                tracing::warn!(%error, "a note of an answer can't be read");
                FailureCause::NodeLost.ending("The host was lost, and what it had done by then can't be read.")
            })?;
            answer.add(note);
        }
        Ok(Some(answer))
    }

    fn add(&mut self, note: AnswerNote) {
        match note {
            AnswerNote::Round { round, used } => {
                if !round.text().is_empty() {
                    self.events.push(Event::Text(round.text().to_owned()));
                }
                self.rounds.push(round.message());
                self.used = used;
                self.left = self.spent.next_round(round);
            }
            AnswerNote::Begun { call } => self.is_begun |= self.left.front().is_some_and(|next| next.id() == call),
            AnswerNote::Done { call, result } => {
                // A note that the store took without saying so may stand there twice.
                let Some(next) = self.left.pop_front_if(|next| next.id() == call) else { return };
                let result = result.into_result();
                self.events.push(next.running());
                self.rounds.push(next.result_message(&result));
                if let Err(ToolError::Refused(part)) = &result {
                    self.refusal = Some(Ending::Refused(part.clone()));
                }
                self.events.push(next.done(result));
                self.is_begun = false;
            }
        }
    }
}
