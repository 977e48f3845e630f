//! The turns that one worker has open, and what each of its lines does to them. Nothing here waits.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use forecourt_agents::limits::ANSWER_BYTES_MAX;
use forecourt_agents::upstream::UpstreamFailure;
use forecourt_core::part::{Artifact, ArtifactContent};
use forecourt_core::{Ending, Event, FailureCause, File, FileSource, Part};
use serde_json::{Map, Value};

use super::super::notes::JOURNAL;
use super::super::{WHO, turns::TURN};
use super::calls::{CALL, CallRequest};
use super::queue::{TurnItem, TurnQueue};
use crate::answer;
use crate::limits::UNREAD_BYTES_MAX;
use crate::program::AnswerReader;

/// The turns of one worker.
pub(super) struct WorkerTurns {
    open: HashMap<u64, OpenTurn>,
    /// Those whose answers were not taken whole yet, ended ones among them.
    queues: Vec<(u64, Weak<TurnQueue>)>,
    unread: Arc<AtomicUsize>,
    /// Whether it is given no turn any more.
    pub(super) is_retiring: bool,
    /// Whether it is gone.
    pub(super) is_gone: bool,
}

/// What a turn begins with.
pub(in super::super) struct TurnStart {
    pub(in super::super) number: u64,
    pub(in super::super) reader: AnswerReader,
    /// Whether its notes are kept.
    pub(in super::super) notes_are_kept: bool,
    pub(in super::super) seat: Box<dyn Send>,
}

/// A turn that has not ended.
pub(super) struct OpenTurn {
    pub(super) queue: Arc<TurnQueue>,
    pub(super) reader: AnswerReader,
    /// Whether its notes are kept.
    pub(super) notes_are_kept: bool,
    /// Bytes that the answer may still have.
    pub(super) left: usize,
    /// Whether nobody wants it any more.
    pub(super) is_canceled: bool,
    pub(super) _seat: Box<dyn Send>,
}

/// What a line leaves to be done once the turns are not locked any more.
#[derive(Default)]
pub(super) struct LineOutcome {
    /// Turns that are over, whose places are given back by dropping them.
    pub(super) over: Vec<OpenTurn>,
    /// Turns that the host has ended, of which the worker has to be told.
    pub(super) canceled: Vec<u64>,
}

impl WorkerTurns {
    pub(super) fn new() -> Self {
        let unread = Arc::new(AtomicUsize::new(0));
        Self { open: HashMap::new(), queues: Vec::new(), unread, is_retiring: false, is_gone: false }
    }

    /// Whether it has no turn.
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// How many turns it has.
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// Opens a turn.
    pub(super) fn begin(&mut self, start: TurnStart) -> Arc<TurnQueue> {
        let TurnStart { number, reader, notes_are_kept, seat } = start;
        let queue = TurnQueue::new(self.unread.clone());
        self.queues.retain(|(_, queue)| queue.strong_count() > 0);
        self.queues.push((number, Arc::downgrade(&queue)));
        let (queue_of_turn, left, is_canceled) = (queue.clone(), ANSWER_BYTES_MAX, false);
        let turn = OpenTurn { queue: queue_of_turn, reader, notes_are_kept, left, is_canceled, _seat: seat };
        self.open.insert(number, turn);
        queue
    }

    /// Marks a turn as one that nobody wants any more; `false` where it is over or marked already.
    pub(super) fn cancel(&mut self, number: u64) -> bool {
        let Some(turn) = self.open.get_mut(&number).filter(|turn| !turn.is_canceled) else { return false };
        turn.let_go();
        turn.queue.close();
        true
    }

    /// Takes a turn off the list.
    pub(super) fn remove(&mut self, number: u64) -> Option<OpenTurn> {
        self.open.remove(&number)
    }

    /// Ends all turns: the worker is gone.
    pub(super) fn end_all(&mut self, ending: &Ending) -> Vec<OpenTurn> {
        self.is_gone = true;
        let all: Vec<OpenTurn> = self.open.drain().map(|(_, turn)| turn).collect();
        all.iter().for_each(|turn| turn.queue.end(ending.clone()));
        all
    }

    /// Takes a line of so many bytes for the turn of that number.
    pub(super) fn take(&mut self, number: u64, mut fields: Map<String, Value>, bytes: usize) -> LineOutcome {
        let mut outcome = LineOutcome::default();
        let Some(turn) = self.open.get_mut(&number) else {
            tracing::debug!(turn = number, "an agent's worker wrote a line for a turn that has ended, or never began");
            return outcome;
        };
        fields.remove(TURN);
        if turn.is_canceled {
            turn.reader.take_costs(&mut fields);
            turn.reader.count();
            if answer::ends(&fields) {
                outcome.over.extend(self.open.remove(&number));
            }
            return outcome;
        }
        let by_worker = answer::ends(&fields);
        match turn.take(fields, bytes) {
            TurnProgress::GoesOn => {}
            // What was ended by an unreadable line may go on in the worker, unless that line was its last word.
            TurnProgress::Ended if by_worker => outcome.over.extend(self.open.remove(&number)),
            TurnProgress::Ended => {
                turn.let_go();
                outcome.canceled.push(number);
            }
        }
        self.shed(&mut outcome);
        outcome
    }

    /// Keeps what waits for slow callers within its bound: the answers of which most waits are ended.
    fn shed(&mut self, outcome: &mut LineOutcome) {
        while self.unread.load(Ordering::Relaxed) > UNREAD_BYTES_MAX {
            let queues = self.queues.iter().filter_map(|(number, queue)| Some((*number, queue.upgrade()?)));
            let Some((number, queue)) = queues.max_by_key(|(_, queue)| queue.bytes()) else { return };
            tracing::warn!(turn = number, "an answer is ended: its caller reads too slowly, and too much of it waits");
            queue.cut(FailureCause::OverBound.ending("The answer was read too slowly: too much of it waited."));
            if let Some(turn) = self.open.get_mut(&number).filter(|turn| !turn.is_canceled) {
                turn.let_go();
                outcome.canceled.push(number);
            }
        }
    }
}

enum TurnProgress {
    GoesOn,
    Ended,
}

impl OpenTurn {
    /// Keeps nothing for a caller any more: nobody wants the answer.
    fn let_go(&mut self) {
        self.is_canceled = true;
        self.reader.let_go();
        self.queue.set_open(0);
    }

    fn take(&mut self, mut fields: Map<String, Value>, bytes: usize) -> TurnProgress {
        // An end of a line costs a byte, so that empty lines have a bound too.
        let Some(left) = self.left.checked_sub(bytes + 1) else {
            self.queue.end(UpstreamFailure::TooLarge.ending(WHO));
            return TurnProgress::Ended;
        };
        self.left = left;
        let note = if self.notes_are_kept { fields.remove(JOURNAL) } else { None };
        let call = fields.remove(CALL);
        let is_all = (note.is_some() || call.is_some()) && fields.is_empty();
        // Before what the line says besides.
        if let Some(note) = note {
            self.queue.push(TurnItem::Note(note), bytes);
        }
        match call.map(CallRequest::read) {
            Some(Ok(call)) => self.queue.push(TurnItem::Call(call), bytes),
            Some(Err(ending)) => {
                self.queue.end(ending);
                return TurnProgress::Ended;
            }
            None => {}
        }
        let events = if is_all { Vec::new() } else { self.reader.read(Value::Object(fields)) };
        let is_ended = matches!(events.last(), Some(Event::Ending(_)));
        // A file that came in pieces is larger than its last line.
        let bytes = bytes.max(inline_bytes(&events));
        self.queue.push(TurnItem::Events(events), bytes);
        self.queue.set_open(self.reader.open_bytes());
        self.reader.count();
        if is_ended { TurnProgress::Ended } else { TurnProgress::GoesOn }
    }
}

/// The files of an open turn go with it.
impl Drop for OpenTurn {
    fn drop(&mut self) {
        self.queue.set_open(0);
    }
}

/// Bytes of the files in events.
fn inline_bytes(events: &[Event]) -> usize {
    let bytes = |event: &Event| match event {
        Event::Part(
            Part::File(File { source: FileSource::Inline(bytes), .. })
            | Part::Artifact(Artifact { content: ArtifactContent::Bytes(FileSource::Inline(bytes)), .. }),
        ) => bytes.len(),
        _ => 0,
    };
    events.iter().map(bytes).sum()
}
