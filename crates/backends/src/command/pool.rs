//! The processes of one agent: which of them gets a message, and what becomes of each afterwards.

mod greeting;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use forecourt_agents::upstream::CallTimeouts;
use forecourt_core::{Ending, FailureCause};
use tokio::time::{Instant, timeout_at};

use super::alone::{AloneStart, AloneTurn};
use super::busy;
use super::concurrent::{ConcurrentTurn, TurnSource, TurnTimes, WorkerHome};
use super::input::AskedTurn;
use super::places::{Place, Places, ProcessSlot, Seat, WaitingLine};
use super::process::{AgentProgram, Process};
use super::settings::{CheckedCommand, Format, Mode};
use crate::answer::unreadable_ending;
use crate::program::ProgramContext;
use greeting::Greeting;

/// The processes of one agent.
pub(super) struct Pool {
    program: AgentProgram,
    mode: Mode,
    format: Format,
    timeouts: CallTimeouts,
    grace: Duration,
    context: Arc<ProgramContext>,
    pub(super) places: Arc<Places>,
    /// Turns that were given so far, by whose count each has a number.
    turns: AtomicU64,
    /// Whether the operator was told that workers are replaced after each answer.
    has_warned: AtomicBool,
}

/// A message that a process answers. Dropping it cancels the turn, or ends the process.
pub(super) enum Running {
    /// The one message of its process.
    Alone(Box<AloneTurn>),
    /// One of several.
    Concurrent(Box<ConcurrentTurn>),
}

impl Pool {
    pub(super) fn new(checked: CheckedCommand, context: Arc<ProgramContext>) -> Self {
        let CheckedCommand { program, mode, format, timeouts, processes, concurrency, sticky, grace } = checked;
        Self {
            program,
            mode,
            format,
            timeouts,
            grace,
            context,
            places: Places::new(processes, concurrency, sticky),
            turns: AtomicU64::new(0),
            has_warned: AtomicBool::new(false),
        }
    }

    /// Waits for a place and hands the message to the process there.
    pub(super) async fn start(self: &Arc<Self>, asked: AskedTurn) -> Result<Running, Ending> {
        // As long as an answer may take, and not part of its time: that begins with the place.
        let place_by = Instant::now() + self.timeouts.total;
        let mut line = WaitingLine::Last;
        let mut asked = asked;
        loop {
            let place = self.places.get(asked.conversation(), line);
            let place = timeout_at(place_by, place).await.map_err(|_| busy())??;
            let number = self.turns.fetch_add(1, Ordering::Relaxed);
            match place {
                Place::Seat(seat) => match self.seated(seat, number, asked) {
                    Ok(turn) => return Ok(Running::Concurrent(Box::new(turn))),
                    // Its worker was given up in this moment. It has waited its time.
                    Err(unseated) => (asked, line) = (*unseated, WaitingLine::First),
                },
                // One that replaced another may speak another version: the program may have been edited meanwhile.
                Place::Idle(process, slot) if process.turns.is_fresh() => {
                    return Greeting::begin(self.clone(), *process, slot, asked, number).await;
                }
                Place::Idle(process, slot) => return Ok(self.alone(*process, slot, asked, number)),
                Place::New(slot) if self.mode == Mode::Each => {
                    return Ok(self.alone(self.started()?, slot, asked, number));
                }
                Place::New(slot) => {
                    let process = self.started()?;
                    return Greeting::begin(self.clone(), process, slot, asked, number).await;
                }
            }
        }
    }

    /// Begins a turn in a worker that has others; the message where it takes none any more.
    fn seated(&self, seat: Seat, number: u64, asked: AskedTurn) -> Result<ConcurrentTurn, Box<AskedTurn>> {
        let (worker, conversation) = (seat.worker.clone(), asked.conversation());
        let message = asked.line(Some(number), self.timeouts.total);
        let asked = (asked, Some(message));
        let turn = ConcurrentTurn::begin(worker.clone(), Box::new(seat), number, asked, self.times())?;
        self.places.note(conversation.as_deref(), worker.number);
        Ok(turn)
    }

    /// Begins the turn of a process that has no other.
    fn alone(&self, mut process: Process, slot: ProcessSlot, asked: AskedTurn, number: u64) -> Running {
        self.give(&mut process, &asked, number);
        self.alone_turn(process, slot, asked, number, self.times())
    }

    /// Writes a message to a process that has no other.
    pub(super) fn give(&self, process: &mut Process, asked: &AskedTurn, number: u64) {
        let turn = (self.mode == Mode::Worker).then_some(number);
        let then_close = self.mode == Mode::Each && !asked.notes.are_answered();
        let line = match self.format {
            Format::Json => asked.line(turn, self.timeouts.total),
            Format::Text => asked.text(),
        };
        process.begin(number, line, then_close);
    }

    /// The turn of a process that was given its message and has no other.
    pub(super) fn alone_turn(
        &self,
        process: Process,
        slot: ProcessSlot,
        asked: AskedTurn,
        number: u64,
        times: TurnTimes,
    ) -> Running {
        let (mode, format) = (self.mode, self.format);
        let start = AloneStart { mode, format, notes: asked.notes, number, reader: asked.reader, times };
        Running::Alone(Box::new(AloneTurn::new(process, slot, start)))
    }

    /// What a worker that takes several messages has of its agent.
    pub(super) fn home(&self) -> WorkerHome {
        let (agent, program, grace) = (self.program.agent.clone(), self.context.clone(), self.grace);
        let places: Weak<Places> = Arc::downgrade(&self.places);
        let source: Weak<dyn TurnSource> = places;
        WorkerHome { agent, program, grace, source }
    }

    /// The times of an answer that begins now.
    pub(super) fn times(&self) -> TurnTimes {
        TurnTimes { timeouts: self.timeouts, deadline: Instant::now() + self.timeouts.total }
    }

    pub(super) fn grace(&self) -> Duration {
        self.grace
    }

    /// The failure of a message whose worker greets in a way that can't be.
    pub(super) fn refuse_greeting(&self, error: &super::hello::HelloError) -> Ending {
        tracing::error!(agent = %self.program.agent, %error, "an agent's worker is refused for its `hello`");
        unreadable_ending()
    }

    fn started(&self) -> Result<Process, Ending> {
        self.program.start().map_err(|error| {
            tracing::error!(%error, agent = %self.program.agent, "an agent's program could not be started");
            FailureCause::Unreachable.ending("The agent's program could not be started.")
        })
    }

    /// Ends the answer of a process that has no other. A worker that ended it in good order stays, or is replaced; a
    /// process of one answer gets a moment to tidy up; all others are ended now.
    pub(super) fn finish(self: &Arc<Self>, turn: AloneTurn, is_orderly: bool) {
        // Dropped, and so killed with its group: what a process of a failed answer still writes is for nobody.
        if !is_orderly {
            return;
        }
        let (mut process, slot) = turn.into_process();
        let pool = self.clone();
        tokio::spawn(async move {
            // The place goes along: it is free when its process is gone, or idle again.
            match pool.mode {
                Mode::Each => process.tidy().await,
                Mode::Worker if process.is_ready().await => pool.places.keep(process, slot),
                Mode::Worker => pool.replace(process, slot),
            }
        });
    }

    /// Ends a worker that can't be given another turn, and starts another in its place, so that the next
    /// message need not wait for that.
    fn replace(&self, process: Process, slot: ProcessSlot) {
        if !process.turns.may_go_on() && !self.has_warned.swap(true, Ordering::Relaxed) {
            let agent = &self.program.agent;
            tracing::warn!(%agent, "an agent's worker is replaced after each answer, as its lines do not repeat `turn`");
        }
        drop(process);
        if let Ok(process) = self.started() {
            self.places.keep(process, slot);
        }
    }
}
