//! What a program notes of how far its work has come, so that another try of it goes on from there.
//!
//! Where the agent's tasks go on after a loss, its input stays open. The message holds `work`, the same in every try, and
//! in a later try `journal`, the notes of the earlier ones; of a message that nobody goes on with, such as one that was
//! paid for, it holds neither, and notes are only acknowledged. The program writes `{"journal": VALUE}` before it does
//! what must not happen twice, and reads `{"journal": N}` from its standard input once its first N notes of this try are
//! on disk. Of other agents `journal` is a key as any that is not known.

use forecourt_core::{EarlierTry, Ending, FailureCause, WorkJournal};
use serde_json::{Value, json};

use super::turns::TURN;
use crate::limits::PROGRAM_NOTES_MAX;

/// The key that names the work, the same in every try.
const WORK: &str = "work";
/// The key of notes: of earlier tries in a message, of one in a line of the program, of how many are kept in ours.
pub(super) const JOURNAL: &str = "journal";

/// What is noted of one piece of work.
pub(super) struct Notes {
    journal: WorkJournal,
    /// Whether the agent's tasks go on after a loss.
    goes_on: bool,
    /// Those of this try that are kept.
    count: u64,
}

impl Notes {
    pub(super) fn new(journal: WorkJournal, goes_on: bool) -> Self {
        Self { journal, goes_on, count: 0 }
    }

    /// Whether the program hears of its notes, for which its input stays open.
    pub(super) fn are_answered(&self) -> bool {
        self.goes_on
    }

    /// Adds what the program goes on by to its message.
    pub(super) fn add_to(&self, message: &mut Value) {
        let Some(work) = self.journal.work() else { return };
        message[WORK] = work.into();
        if let EarlierTry::Left(notes) = self.journal.earlier() {
            message[JOURNAL] = notes.into();
        }
    }

    /// Takes the note out of a line, if it has one; with what else the line says, if that is anything.
    pub(super) fn split(&self, mut line: Value) -> (Option<Value>, Option<Value>) {
        let note = match line.as_object_mut() {
            Some(fields) if self.goes_on => fields.remove(JOURNAL),
            _ => None,
        };
        let is_note_alone = note.is_some() && line.as_object().is_some_and(|rest| rest.keys().all(|key| key == TURN));
        (note, (!is_note_alone).then_some(line))
    }

    /// Keeps a note; the line by which the program hears that it is kept.
    ///
    /// # Errors
    /// There are too many, or the note can't be written, or somebody else goes on with the work.
    pub(super) async fn keep(&mut self, note: Value, turn: Option<u64>) -> Result<String, Ending> {
        if self.count == PROGRAM_NOTES_MAX {
            let told = format!("The agent's program made more than {PROGRAM_NOTES_MAX} notes for one answer.");
            return Err(FailureCause::OverBound.ending(told));
        }
        self.journal.note(note);
        self.journal.written().await.map_err(|_| {
            FailureCause::CutOff.ending("The agent's program was stopped: what it would go on by can't be kept.")
        })?;
        self.count += 1;
        let mut line = json!({ JOURNAL: self.count });
        if let Some(turn) = turn {
            line[TURN] = turn.into();
        }
        Ok(format!("{line}\n"))
    }
}
