//! A process that answers one message: of a program that is started for each, or a worker of version 1.

use forecourt_agents::upstream::{CallTimeouts, UpstreamFailure};
use forecourt_core::{Ending, Event, json};
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};

use super::concurrent::TurnTimes;
use super::notes::Notes;
use super::places::ProcessSlot;
use super::process::Process;
use super::settings::{Format, Mode};
use super::turns::{TURN, UnnamedTurn};
use super::{WHO, crashed};
use crate::answer::unreadable;
use crate::program::{AnswerReader, BudgetWatch};

/// A process at work on one answer. Dropping it ends the process.
pub(super) struct AloneTurn {
    process: Process,
    slot: ProcessSlot,
    mode: Mode,
    format: Format,
    notes: Notes,
    /// The number of the turn, where the program is told it.
    turn: Option<u64>,
    reader: AnswerReader,
    timeouts: CallTimeouts,
    deadline: Instant,
    budget: BudgetWatch,
    /// Whether its process may still be at it: the host has ended the answer.
    pub(super) is_cut: bool,
}

/// What such a turn begins with.
pub(super) struct AloneStart {
    pub(super) mode: Mode,
    pub(super) format: Format,
    pub(super) notes: Notes,
    pub(super) number: u64,
    pub(super) reader: AnswerReader,
    pub(super) times: TurnTimes,
}

impl AloneTurn {
    /// The turn of a process that was given the message.
    pub(super) fn new(process: Process, slot: ProcessSlot, start: AloneStart) -> Self {
        let AloneStart { mode, format, notes, number, reader, times } = start;
        let TurnTimes { timeouts, deadline } = times;
        let turn = (mode == Mode::Worker).then_some(number);
        let budget = reader.watch();
        Self { process, slot, mode, format, notes, turn, reader, timeouts, deadline, budget, is_cut: false }
    }

    /// Takes the process back, once its answer has ended in good order.
    pub(super) fn into_process(self) -> (Process, ProcessSlot) {
        (self.process, self.slot)
    }

    /// The next events; an ending when the program has none.
    pub(super) async fn next(&mut self) -> Vec<Event> {
        let output = async {
            match self.format {
                Format::Json => self.process.output.line().await,
                Format::Text => self.process.output.text().await,
            }
        };
        let output = timeout_at(self.deadline, timeout(self.timeouts.idle, output));
        let output = tokio::select! {
            biased;
            output = output => output,
            ending = self.budget.used_up() => {
                self.is_cut = true;
                return vec![Event::Ending(ending)];
            }
        };
        let output = match output {
            Ok(Ok(output)) => output,
            Ok(Err(_)) => Err(UpstreamFailure::Stalled),
            Err(_) => Err(UpstreamFailure::Overtime),
        };
        match output {
            Ok(None) => self.exit().await,
            Ok(Some(bytes)) if self.format == Format::Text => {
                vec![Event::Text(String::from_utf8_lossy(&bytes).into_owned())]
            }
            Ok(Some(line)) if line.trim_ascii().is_empty() => Vec::new(),
            Ok(Some(line)) => match self.read_line(&line) {
                (None, events) => events,
                // Before what the line says besides.
                (Some(note), events) => match timeout_at(self.deadline, self.keep(note)).await {
                    Ok(Ok(())) => events,
                    Ok(Err(ending)) => vec![Event::Ending(ending)],
                    Err(_) => vec![Event::Ending(UpstreamFailure::Overtime.ending(WHO))],
                },
            },
            Err(error) => vec![Event::Ending(error.ending(WHO))],
        }
    }

    fn read_line(&mut self, line: &[u8]) -> (Option<Value>, Vec<Event>) {
        let read = self.line(line);
        self.reader.count();
        read
    }

    /// The note in a line, and its events, unless it is a late one of another answer.
    fn line(&mut self, line: &[u8]) -> (Option<Value>, Vec<Event>) {
        let value = json::parse(line).map_err(|error| unreadable(&error));
        let judged = value.and_then(|value| self.judge(value).map_err(|error| unreadable(&error.to_string())));
        match judged {
            Ok(Some(value)) => {
                let (note, rest) = self.notes.split(value);
                (note, rest.map(|rest| self.reader.read(without_turn(rest))).unwrap_or_default())
            }
            Ok(None) => {
                tracing::debug!("an agent's worker wrote a line for an answer that has ended");
                (None, Vec::new())
            }
            Err(ending) => (None, vec![Event::Ending(ending)]),
        }
    }

    /// The value of a line, if it is of this answer. `None`: it belongs to an earlier one.
    fn judge(&mut self, value: Value) -> Result<Option<Value>, UnnamedTurn> {
        match self.mode {
            Mode::Each => Ok(Some(value)),
            Mode::Worker => self.process.turns.judge(value),
        }
    }

    /// Keeps a note of the program's, and tells it so.
    async fn keep(&mut self, note: Value) -> Result<(), Ending> {
        let line = self.notes.keep(note, self.turn).await?;
        self.process.tell(line);
        Ok(())
    }

    /// The last events of an answer whose output has ended without an ending.
    async fn exit(&mut self) -> Vec<Event> {
        match (self.mode, self.process.exit(self.timeouts.idle).await) {
            (Mode::Each, Ending::Complete) => self.reader.end(),
            (Mode::Each, ending) => vec![Event::Ending(ending)],
            // A worker that leaves in the middle of an answer has not answered, whatever its status.
            (Mode::Worker, _) => vec![Event::Ending(crashed())],
        }
    }
}

fn without_turn(mut line: Value) -> Value {
    if let Some(fields) = line.as_object_mut() {
        fields.remove(TURN);
    }
    line
}
