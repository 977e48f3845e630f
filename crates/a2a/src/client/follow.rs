//! An answer from its first item to its last, over as many connections as that takes.
//!
//! A stream that breaks once the task is known is taken up again: by subscribing, from the last event
//! id where the server gives any, else by looking at the task now and then. Nothing is lost or said
//! twice: a subscription begins with the task as it stands, whose readers compare it with what they
//! have; one that begins in the middle can't be trusted with pieces of artifacts, so these are left
//! out and the whole task is read at its end.

use std::time::Duration;

use async_stream::stream;
use futures::StreamExt;
use tokio::time::{Instant, sleep, timeout_at};

use super::error::PeerError;
use super::limits::{POLL_PAUSE, POLL_PAUSE_MAX, RESUME_PAUSE, RESUMES_FRUITLESS_MAX, RESUMES_MAX};
use super::peer::{Arrivals, Peer, StreamItem};
use crate::model::{Item, Operation, OperationError, OperationOutcome, Send, Status};

/// What an answer begins with.
#[derive(Debug, Clone)]
pub enum Start {
    /// A message to send.
    Send(Box<Send>),
    /// A task that runs, waits or has ended already.
    Task(String),
}

/// Items until the task ends or waits for its caller, or a direct answer. A fault is the last thing
/// that comes; a stream that closes before its end is one. The first item of [`Start::Task`] is the
/// task as it stands.
pub fn follow(peer: Peer, start: Start, hop: u32) -> Arrivals {
    let mut trip = FollowState::new(peer, start, hop);
    Box::pin(stream! {
        loop {
            match trip.step().await {
                Ok((arrived, is_last)) => {
                    yield Ok(arrived);
                    if is_last {
                        return;
                    }
                }
                Err(fault) => {
                    yield Err(fault);
                    return;
                }
            }
        }
    })
}

/// How to ask next.
#[derive(Debug, Clone)]
enum NextRequest {
    Send(Box<Send>),
    Subscribe,
    Look,
}

struct FollowState {
    peer: Peer,
    hop: u32,
    deadline: Instant,
    /// The connection, if one stands.
    arrivals: Option<Arrivals>,
    way: NextRequest,
    task: Option<String>,
    last_id: Option<String>,
    /// Whether this connection has brought its first item.
    has_begun: bool,
    /// Whether this connection was taken up in the middle.
    is_resumed: bool,
    /// Whether pieces of artifacts may be missing.
    is_blind: bool,
    fruitless: u32,
    resumes: u32,
    looks: u32,
}

impl FollowState {
    fn new(peer: Peer, start: Start, hop: u32) -> Self {
        let streams = peer.streams();
        let (way, task) = match start {
            Start::Send(send) => (NextRequest::Send(send), None),
            Start::Task(task) if streams => (NextRequest::Subscribe, Some(task)),
            Start::Task(task) => (NextRequest::Look, Some(task)),
        };
        Self {
            deadline: Instant::now() + peer.patience().total,
            arrivals: None,
            peer,
            hop,
            is_resumed: task.is_some(),
            way,
            task,
            last_id: None,
            has_begun: false,
            is_blind: false,
            fruitless: 0,
            resumes: 0,
            looks: 0,
        }
    }

    /// The next item that can be trusted, and whether it is the last one.
    async fn step(&mut self) -> Result<(StreamItem, bool), PeerError> {
        loop {
            match self.receive().await {
                Ok(arrived) => {
                    let is_last = self.note(&arrived);
                    if is_last && self.is_blind {
                        // The end was seen and pieces before it were not: only the task itself has all of it.
                        return self.read().await.map(|whole| (whole, true));
                    }
                    if is_last || !self.is_untrusted(&arrived.item) {
                        return Ok((arrived, is_last));
                    }
                }
                Err(fault) => {
                    self.arrivals = None;
                    let pause = self.again(fault)?;
                    within(self.deadline, sleep(pause)).await?;
                }
            }
        }
    }

    /// The next item of the connection, which is made first if there is none. One that just ends is
    /// broken.
    async fn receive(&mut self) -> Result<StreamItem, PeerError> {
        let mut arrivals = match self.arrivals.take() {
            Some(arrivals) => arrivals,
            None => {
                self.has_begun = false;
                within(self.deadline, self.open()).await??
            }
        };
        let next = within(self.deadline, arrivals.next()).await?;
        self.arrivals = Some(arrivals);
        // A connection that closes is no ending; only a final state is one (PolicyPart 3.5).
        next.unwrap_or(Err(PeerError::Broken))
    }

    async fn open(&mut self) -> Result<Arrivals, PeerError> {
        let task = || self.task.clone().unwrap_or_default();
        match &self.way {
            NextRequest::Send(send) if self.peer.streams() => {
                self.peer.stream(&Operation::Stream(send.clone()), self.hop, None).await
            }
            NextRequest::Send(send) => self.peer.stream(&Operation::Send(send.clone()), self.hop, None).await,
            NextRequest::Subscribe => {
                let operation = Operation::Subscribe { task: task() };
                self.peer.stream(&operation, self.hop, self.last_id.as_deref()).await
            }
            NextRequest::Look => {
                let arrived = self.read().await?;
                Ok(Box::pin(futures::stream::iter([Ok(arrived)])))
            }
        }
    }

    /// The task as it stands.
    async fn read(&mut self) -> Result<StreamItem, PeerError> {
        let task = self.task.clone().unwrap_or_default();
        let operation = Operation::Get { task, history_length: None };
        match self.peer.call_raw(&operation, self.hop).await? {
            (OperationOutcome::Task(task), raw) => Ok(StreamItem { item: Item::Task(task), raw, id: None }),
            _ => Err(PeerError::unreadable("a task was asked for, and something else came")),
        }
    }

    /// Takes notice of an item, and says whether it is the last one.
    fn note(&mut self, arrived: &StreamItem) -> bool {
        let begins_in_the_middle = self.is_resumed && !self.has_begun && !matches!(arrived.item, Item::Task(_));
        // With an event id the server goes on exactly behind it; without one, what came in between is missing.
        if begins_in_the_middle && self.last_id.is_none() {
            self.is_blind = true;
        }
        if matches!(arrived.item, Item::Task(_)) {
            self.is_blind = false;
        }
        self.has_begun = true;
        self.fruitless = 0;
        self.last_id = arrived.id.clone().or_else(|| self.last_id.take());
        let task = match &arrived.item {
            Item::Task(task) => Some(&task.id),
            Item::Status(update) => Some(&update.task),
            Item::Artifact(update) => Some(&update.task),
            Item::Message(_) => return true,
        };
        if self.task.is_none() {
            self.task = task.filter(|id| !id.is_empty()).cloned();
        }
        status_of(&arrived.item).is_some_and(|status| status.state.is_settled())
    }

    /// Whether an item may be out of its order.
    fn is_untrusted(&self, item: &Item) -> bool {
        self.is_blind && matches!(item, Item::Artifact(_))
    }

    /// Decides how to go on behind `fault`, and how long to wait before.
    fn again(&mut self, fault: PeerError) -> Result<Duration, PeerError> {
        // Before the task is known there is nothing to take up, and to send the message again might do its work twice.
        if self.task.is_none() || fault == PeerError::Overtime {
            return Err(fault);
        }
        let was_look = matches!(self.way, NextRequest::Look);
        if was_look && fault == PeerError::Broken && self.has_begun {
            // A look in good order that found the task at work.
            self.looks += 1;
            self.is_resumed = true;
            return Ok(doubled(POLL_PAUSE, self.looks - 1).min(POLL_PAUSE_MAX));
        }
        self.fruitless += 1;
        self.resumes += 1;
        if self.fruitless > RESUMES_FRUITLESS_MAX || self.resumes > RESUMES_MAX {
            return Err(fault);
        }
        let pause = doubled(RESUME_PAUSE, self.fruitless - 1);
        let was_send = matches!(self.way, NextRequest::Send(_));
        self.is_resumed = true;
        match fault.fault() {
            None if !fault.is_passing() => return Err(fault),
            None if self.peer.streams() && !was_look => self.way = NextRequest::Subscribe,
            None => self.way = NextRequest::Look,
            // The agent does not let us subscribe, or not any more: the task has ended.
            Some(said) if !was_send && !was_look && may_look(said) => {
                self.way = NextRequest::Look;
                return Ok(Duration::ZERO);
            }
            Some(_) => return Err(fault),
        }
        Ok(pause)
    }
}

async fn within<T>(deadline: Instant, work: impl Future<Output = T>) -> Result<T, PeerError> {
    timeout_at(deadline, work).await.map_err(|_| PeerError::Overtime)
}

/// Whether a task that can't be subscribed to may still be read.
fn may_look(said: &OperationError) -> bool {
    matches!(
        said,
        OperationError::UnsupportedOperation(_)
            // Some servers say so of a task that has ended, or that they were restarted under: reading it tells.
            | OperationError::TaskNotFound
            | OperationError::MethodNotFound(_)
            | OperationError::InvalidRequest(_)
            // Error codes that are unknown here are read as this one.
            | OperationError::Internal
    )
}

fn doubled(pause: Duration, times: u32) -> Duration {
    pause.saturating_mul(2_u32.saturating_pow(times))
}

/// Where the task stands, if the item says so.
pub(super) fn status_of(item: &Item) -> Option<&Status> {
    match item {
        Item::Task(task) => Some(&task.status),
        Item::Status(update) => Some(&update.status),
        Item::Artifact(_) | Item::Message(_) => None,
    }
}
