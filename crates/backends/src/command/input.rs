//! What a program is given of one message.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::Admitted;

use super::notes::Notes;
use super::turns::TURN;
use crate::program::{AnswerReader, MessageFields};
use crate::tools::Toolbox;

/// The key of what a worker may call.
const TOOLS: &str = "tools";

/// A message that is to be given to a process.
pub(super) struct AskedTurn {
    pub(super) admitted: Arc<Admitted>,
    pub(super) fields: MessageFields,
    pub(super) reader: AnswerReader,
    /// What its worker may call.
    pub(super) toolbox: Arc<Toolbox>,
    pub(super) notes: Notes,
}

impl AskedTurn {
    /// What names its conversation, if it has one.
    pub(super) fn conversation(&self) -> Option<String> {
        self.fields.conversation.clone()
    }

    /// The message as a line, for the turn of that number, with so much time for the answer.
    pub(super) fn line(&self, turn: Option<u64>, total: Duration) -> String {
        let mut message = self.fields.message(&self.admitted, total);
        self.notes.add_to(&mut message);
        if let Some(turn) = turn {
            message[TURN] = turn.into();
            message[TOOLS] = self.toolbox.describe_to_program().into();
        }
        format!("{message}\n")
    }

    /// The words of the message.
    pub(super) fn text(&self) -> String {
        self.admitted.message().text()
    }
}
