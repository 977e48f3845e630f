//! One message to the remote agent, and its answer as ours.

use std::sync::Arc;

use async_stream::stream;
use forecourt_agents::relay;
use forecourt_core::{Ending, Event, EventStream, FailureCause, Message, TaskState, WorkJournal, ids};
use futures::StreamExt;

use super::faults::{WHO, WorkProgress, not_found, translated};
use super::leaving::RemoteCancel;
use super::place::{RemotePlace, WorkStart};
use super::threads::RemoteThread;
use super::{FrontedAgent, outgoing, place};
use crate::client::{Arrivals, DiscoveredAgent, Peer, PeerError, Start, TaskCursor, Unfolding, follow};
use crate::model::OperationError;
use crate::payment;

/// What is said of a task that an earlier try began and that is not there any more.
const GONE: &str = "the agent behind this one does not know its task any more";

/// Asks the remote agent. The work stops, there as well, when the stream is dropped.
pub(super) fn answer(front: Arc<FrontedAgent>, message: Message) -> EventStream {
    Box::pin(stream! {
        let Some(chain) = outgoing::chain(&message) else {
            yield Event::Ending(FailureCause::OverBound.ending("Too many agents stand in line before this one."));
            return;
        };
        let (found, peer, start) = match prepared(&front, &message).await {
            Ok(prepared) => prepared,
            Err(ending) => {
                yield Event::Ending(ending);
                return;
            }
        };
        let mut turn = Turn::new(&front, &found, peer, &message, start);
        let mut items = match turn.begin(&message, chain).await {
            Ok(items) => items,
            Err(ending) => {
                yield Event::Ending(ending);
                return;
            }
        };
        while let Some(arrived) = items.next().await {
            let arrived = match arrived {
                Ok(arrived) => arrived,
                Err(fault) if turn.may_begin_anew(&fault) => {
                    items = match turn.begin(&message, chain).await {
                        Ok(items) => items,
                        Err(ending) => {
                            yield Event::Ending(ending);
                            return;
                        }
                    };
                    continue;
                }
                Err(fault) => {
                    yield Event::Ending(turn.ending(&fault));
                    return;
                }
            };
            turn.progress = WorkProgress::Begun;
            let events = turn.unfolding.take(arrived.item);
            // Before the first `yield`: a caller who leaves at one drops the stream there, and the task must be known
            // by then to be cancelled.
            turn.leaving.note(turn.unfolding.task(), turn.unfolding.state());
            turn.note_place(&message.journal);
            for event in events {
                match event {
                    Event::Ending(ending) => {
                        turn.settle(&ending);
                        yield Event::Ending(turn.relayed(ending));
                        return;
                    }
                    event => yield event,
                }
            }
        }
        yield Event::Ending(Ending::unfinished());
    })
}

/// The remote agent, how it is reached, and where an earlier try has left the work.
async fn prepared(
    front: &Arc<FrontedAgent>,
    message: &Message,
) -> Result<(Arc<DiscoveredAgent>, Peer, WorkStart), Ending> {
    let start = place::start(&message.journal, front.knows_repeats)?;
    let progress = WorkProgress::of(&start);
    let found = front.discovery.find(&front.url).await.map_err(|error| not_found(front, &error, progress))?;
    let peer = front.peer_for(&found, message.sender.token.as_ref()).await?;
    Ok((found, peer, start))
}

/// One turn of a conversation.
struct Turn<'a> {
    front: Arc<FrontedAgent>,
    found: &'a Arc<DiscoveredAgent>,
    peer: Peer,
    thread: Option<forecourt_core::ThreadId>,
    remote: RemoteThread,
    /// The task that an earlier try began, when this one goes on with it.
    attached: Option<String>,
    /// Whether the message is sent once more, as an earlier try has sent it.
    is_sent_again: bool,
    /// Whether the task is kept with ours.
    is_placed: bool,
    progress: WorkProgress,
    hop: u32,
    unfolding: Unfolding,
    leaving: RemoteCancel,
}

impl<'a> Turn<'a> {
    fn new(
        front: &Arc<FrontedAgent>,
        found: &'a Arc<DiscoveredAgent>,
        peer: Peer,
        message: &Message,
        start: WorkStart,
    ) -> Self {
        let progress = WorkProgress::of(&start);
        let (remote, attached, is_sent_again) = match start {
            WorkStart::Send => (front.threads.of(message.thread.as_ref()), None, false),
            WorkStart::SendAgain(remote) => (remote, None, true),
            WorkStart::Attach(remote, task) => (remote, Some(task), false),
        };
        let now = front.clock.now();
        let is_demoted = |context: &String| front.demotions.is_demoted(context, found.read_at, now);
        let believes = !remote.context.as_ref().is_some_and(is_demoted);
        let taken = remote.taken.clone();
        let mut leaving = RemoteCancel::new(peer.clone(), message.hop, front.cancels.clone(), message.journal.clone());
        // Known before it says anything: whoever gives up meanwhile cancels it there.
        leaving.note(attached.as_deref(), None);
        Self {
            front: front.clone(),
            found,
            peer,
            thread: message.thread.clone(),
            remote,
            is_placed: attached.is_some(),
            attached,
            is_sent_again,
            progress,
            hop: message.hop,
            unfolding: Unfolding::new(found.refusal_host(), believes).after(taken),
            leaving,
        }
    }

    /// Sends the message, or finds its task again.
    ///
    /// # Errors
    /// That it is sent can't be noted.
    async fn begin(&mut self, message: &Message, chain: (u32, u32)) -> Result<Arrivals, Ending> {
        if let Some(task) = &self.attached {
            return Ok(follow(self.peer.clone(), Start::Task(task.clone()), self.hop));
        }
        // One that is sent again was noted before it was sent for the first time.
        if !std::mem::take(&mut self.is_sent_again) {
            RemotePlace::before(&self.remote).note(&message.journal);
            message.journal.written().await.map_err(|_| place::unnoted())?;
        }
        // The same in every try, so that a remote agent that knows repetitions knows this one.
        let id = message.journal.work().map_or_else(|| ids::mint(&*self.front.entropy), str::to_owned);
        let send = outgoing::send(message, id, &self.remote, chain, self.front.send_history);
        Ok(follow(self.peer.clone(), Start::Send(send), self.hop))
    }

    /// Notes the task of the remote agent as soon as it is known.
    fn note_place(&mut self, journal: &WorkJournal) {
        let Some(task) = self.unfolding.task().filter(|_| !self.is_placed) else { return };
        RemotePlace::before(&self.remote).at(task, self.unfolding.context()).note(journal);
        self.is_placed = true;
    }

    /// Whether the task or the conversation that this turn continues is gone there, so that the turn
    /// can only begin one anew.
    fn may_begin_anew(&mut self, fault: &PeerError) -> bool {
        // Servers do not agree on the error for a task that has ended or is unknown: 1.0 says UnsupportedOperation,
        // those of 0.3 mostly -32602 or -32004.
        let is_gone = matches!(
            fault.fault(),
            Some(
                OperationError::TaskNotFound
                    | OperationError::UnsupportedOperation(_)
                    | OperationError::InvalidParams(_)
            )
        );
        let is_first = self.unfolding.state().is_none() && self.attached.is_none();
        // `take` lets it happen once: the second message names no task, so that an error for it is the answer.
        is_gone && is_first && self.remote.waiting.take().is_some()
    }

    /// Remembers the other end, and a broken promise.
    fn settle(&self, ending: &Ending) {
        let context = self.unfolding.context().map(str::to_owned).or_else(|| self.remote.context.clone());
        if self.unfolding.is_malformed() && self.found.declares_policy() {
            let key = context.as_deref().unwrap_or_default();
            self.front.demotions.demote(key, self.found.read_at, self.front.clock.now());
        }
        let waits = self.unfolding.state().is_some_and(TaskState::is_waiting);
        // A refusal that was not believed is a failure here though its task waits there: the next turn begins another
        // task.
        let is_open = waits && !matches!(ending, Ending::Failed { .. });
        let waiting = self.unfolding.task().filter(|_| is_open).map(str::to_owned);
        // Only a task that goes on can repeat what it made.
        let taken = if waiting.is_some() { self.unfolding.taken() } else { TaskCursor::default() };
        let wants_payment = waiting.is_some() && payment::is_wish(ending);
        self.front.threads.keep(self.thread.as_ref(), RemoteThread { context, waiting, wants_payment, taken });
    }

    /// The ending that a fault comes to.
    fn ending(&self, fault: &PeerError) -> Ending {
        let agent = &self.front.handle;
        match fault {
            PeerError::Declined { declined, message } => {
                tracing::warn!(%agent, said = message, "a remote agent declined");
                self.progress.declined(*declined, &*self.front.clock)
            }
            PeerError::Remote { fault: OperationError::TaskNotFound, message } if self.attached.is_some() => {
                tracing::warn!(%agent, said = message, "a remote agent does not know its task any more");
                let reason = format!("The host was lost while this was running, and {GONE}.");
                FailureCause::NodeLost.ending(reason)
            }
            PeerError::Remote { fault, message } => {
                tracing::warn!(%agent, said = message, "a remote agent answered with an error");
                let (cause, what) = translated(fault);
                cause.ending(format!("{WHO} {what}."))
            }
            PeerError::Busy => self.progress.busy(),
            PeerError::Status(status) => {
                tracing::warn!(%agent, status, "a remote agent answered with a status and nothing else");
                Ending::failed(format!("{WHO} failed."))
            }
            PeerError::Unreadable(detail) => {
                tracing::warn!(%agent, detail, "a remote agent said something unreadable");
                Ending::failed(format!("{WHO} {fault}."))
            }
            PeerError::Unreachable(_) => self.progress.away(),
            PeerError::Refused(rule) => {
                tracing::error!(%agent, %rule, "a remote agent may not be asked; hint: `[egress]` says what is open");
                FailureCause::UpstreamRefused.ending(format!("{WHO} {fault}."))
            }
            PeerError::Slow | PeerError::Overtime => FailureCause::TimedOut.ending(format!("{WHO} {fault}.")),
            PeerError::Stalled | PeerError::Broken => FailureCause::CutOff.ending(format!("{WHO} {fault}.")),
            PeerError::TooLarge => FailureCause::OverBound.ending(format!("{WHO} {fault}.")),
        }
    }

    /// The ending as an agent of this host gives it.
    fn relayed(&self, ending: Ending) -> Ending {
        match ending {
            Ending::Refused(part) => {
                Ending::Refused(Box::new(relay::relayed(*part, &self.front.host, &self.front.handle)))
            }
            ending => ending,
        }
    }
}
