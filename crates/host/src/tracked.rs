//! Work that the host keeps going: begun, begun with a direct answer, or gone on with.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::limits::{TASK_TTL, TASK_TURNS_BYTES_MAX, TASK_TURNS_MAX, WEBHOOKS_PER_TASK_MAX};
use forecourt_core::reply::{Gathered, refused};
use forecourt_core::store::{Added, Resumption, TaskChange, Webhook};
use forecourt_core::{
    Admitted, Ending, Error, Event, EventStream, Message, Noun, Part, PolicyPart, Reply, Role, Sender, Task, TaskId,
    TaskState, ThreadId, Transport, Turn,
};
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use tokio::sync::{OwnedSemaphorePermit, oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::directory::Resident;
use crate::metrics::ending_name;
use crate::running;
use crate::tasks::{Live, Tasks, busy};
use crate::threads::{account, after, as_turn};
use crate::work::Work;

/// What is kept of a message once its agent, or the gate, has it.
pub(crate) struct Asked {
    pub(crate) resident: Arc<Resident>,
    pub(crate) turn: Turn,
    pub(crate) thread: Option<ThreadId>,
    pub(crate) via: Transport,
    owner: Option<String>,
    /// Whether the caller wants nothing of it remembered.
    unrecorded: bool,
    /// Whom the work counts against.
    caller: String,
    /// The task that it goes on with.
    pub(crate) earlier: Option<Task>,
}

impl Asked {
    pub(crate) fn new(resident: Arc<Resident>, message: &Message, earlier: Option<Task>) -> Self {
        Self {
            resident,
            turn: as_turn(message),
            thread: message.thread.clone(),
            via: message.received_via,
            owner: message.sender.owner().map(str::to_owned),
            unrecorded: message.unrecorded,
            caller: caller(&message.sender),
            earlier,
        }
    }

    /// What to remember the answer by.
    fn remembered(&self) -> Option<(ThreadId, Turn)> {
        let thread = self.thread.clone().filter(|_| self.resident.card.remembers && !self.unrecorded)?;
        Some((thread, self.turn.clone()))
    }
}

impl Tasks {
    /// An answer that the host keeps going: durable before this returns. When it is `tracked` and the
    /// agent's first event, for which that says how long to wait, is a message, nothing is kept but
    /// the conversation.
    pub(crate) async fn keep_going(
        self: &Arc<Self>,
        asked: Asked,
        admitted: Admitted,
        webhook: Option<Webhook>,
        tracked: Option<Duration>,
    ) -> Result<Reply, Error> {
        let permit = self.background_permit(&asked.caller)?;
        let mut events = running::run(&asked.resident, admitted, &self.site);
        let (None, Some(patience)) = (&asked.earlier, tracked) else {
            return Box::pin(self.begin(asked, events, webhook, permit)).await;
        };
        // One look costs no timer, and many agents need no second one.
        let (first, events, permit) = match events.next().now_or_never() {
            None if !patience.is_zero() => first_within(patience, events, permit).await.ok_or_else(busy)?,
            first => (first, events, permit),
        };
        let events = match first {
            Some(Some(Event::Ending(ending @ Ending::Message(_)))) => {
                return Ok(self.answer_in_time(asked, vec![Event::Ending(ending)]).await);
            }
            Some(first) => Box::pin(stream::iter(first).chain(events)),
            None => events,
        };
        // On the heap, so that an answer without a task does not carry a task's size around.
        Box::pin(self.begin(asked, events, webhook, permit)).await
    }

    /// An answer that its caller waits for, up to `patience`; what takes longer becomes a task, with
    /// all that was said until then.
    pub(crate) async fn patient(
        self: &Arc<Self>,
        asked: Asked,
        admitted: Admitted,
        patience: Duration,
    ) -> Result<Reply, Error> {
        let waiting = self.reply_permit()?;
        let mut events = running::run(&asked.resident, admitted, &self.site);
        let mut seen = Vec::new();
        let whole = async {
            while let Some(event) = events.next().await {
                let last = matches!(event, Event::Ending(_));
                seen.push(event);
                if last {
                    return;
                }
            }
        };
        if tokio::time::timeout(patience, whole).await.is_ok() {
            return Ok(self.answer_in_time(asked, seen).await);
        }
        drop(waiting);
        let permit = self.background_permit(&asked.caller)?;
        Box::pin(self.begin(asked, Box::pin(stream::iter(seen).chain(events)), None, permit)).await
    }

    async fn answer_in_time(&self, asked: Asked, events: Vec<Event>) -> Reply {
        if let Some(Event::Ending(ending)) = events.last() {
            self.metrics.ended(asked.resident.card.handle(), asked.via, ending_name(ending));
            if let Some((thread, turn)) = asked.remembered() {
                let mut gathered = Gathered::default();
                events.iter().cloned().for_each(|event| drop(gathered.take(event)));
                let collected = gathered.finish(ending.clone());
                Box::pin(self.remember(&asked.resident, &thread, turn, &collected)).await;
            }
        }
        reply(&asked, None, Box::pin(stream::iter(events)))
    }

    /// A refusal of the gate as a task of its own, so that its caller can meet the condition and go
    /// on. PolicyPart 4.2.
    pub(crate) async fn track_refusal(
        self: &Arc<Self>,
        asked: Asked,
        refusal: PolicyPart,
        webhook: Option<Webhook>,
    ) -> Result<Reply, Error> {
        let permit = self.background_permit(&asked.caller)?;
        Box::pin(self.begin(asked, refused(refusal), webhook, permit)).await
    }

    async fn begin(
        self: &Arc<Self>,
        asked: Asked,
        events: EventStream,
        webhook: Option<Webhook>,
        permit: OwnedSemaphorePermit,
    ) -> Result<Reply, Error> {
        let task = match &asked.earlier {
            Some(earlier) => earlier.clone(),
            None => self.new_task(&asked),
        };
        let logged = match asked.earlier {
            Some(_) => self.store.last_event(&task.id).await?,
            None => 0,
        };
        let (written, news) = watch::channel(logged);
        let cancel = CancellationToken::new();
        let live = Live { caller: asked.caller.clone(), cancel: cancel.clone(), written: news };
        self.enlist(&task.id, live)?;
        if let Err(error) = self.keep(&task, &asked, webhook).await {
            self.delist(&task.id, &written);
            return Err(error);
        }
        let answer = self.follow(&task, logged);
        let reply = reply(&asked, Some(task.id.clone()), to_the_first_ending(answer));
        let (resident, via, asked) = (asked.resident.clone(), asked.via, asked.remembered());
        let work = Work { tasks: self.clone(), resident, task, via, asked, logged, written, cancel, permit };
        self.tracker.spawn(work.run(events));
        Ok(reply)
    }

    fn new_task(&self, asked: &Asked) -> Task {
        let now = self.clock.now();
        Task {
            id: TaskId::mint(&*self.entropy),
            agent: asked.resident.card.handle().clone(),
            thread: asked.thread.clone(),
            owner: asked.owner.clone(),
            account: account(&asked.turn.sender),
            received_via: asked.via.to_owned(),
            turns: vec![unaddressed(asked.turn.clone())],
            state: TaskState::Working,
            outcome: None,
            run: self.run.clone(),
            created_at: now,
            updated_at: now,
            expires_at: after(now, TASK_TTL),
        }
    }

    /// Makes the work durable: as a new task, or as the next turn of one that waited.
    async fn keep(&self, task: &Task, asked: &Asked, webhook: Option<Webhook>) -> Result<(), Error> {
        if asked.earlier.is_some() {
            self.hook(&task.id, webhook).await?;
            return self.resume(task, asked.turn.clone()).await;
        }
        self.store.create_task(task.clone()).await?;
        if let Err(error) = self.hook(&task.id, webhook).await {
            let reason = Ending::failed("The task could not be begun.");
            self.settle(&task.id, TaskState::Working, Gathered::default().finish(reason)).await?;
            return Err(error);
        }
        Ok(())
    }

    /// Registers whom to tell, if somebody is to be told.
    pub(crate) async fn hook(&self, task: &TaskId, webhook: Option<Webhook>) -> Result<(), Error> {
        let Some(webhook) = webhook else { return Ok(()) };
        match self.store.add_webhook(task, webhook, WEBHOOKS_PER_TASK_MAX).await? {
            Added::Yes => Ok(()),
            Added::TooMany => {
                Err(Error::invalid("url", format!("a task takes at most {WEBHOOKS_PER_TASK_MAX} webhooks")))
            }
            Added::Ended => Err(self.conflict(task).await),
            Added::NoTask => Err(Error::not_found(Noun::Task)),
        }
    }

    /// Moves a task that waited on, with what the agent had asked and what the caller says now.
    async fn resume(&self, task: &Task, turn: Turn) -> Result<(), Error> {
        let now = self.clock.now();
        let turns = vec![asked_back(task), unaddressed(turn)];
        let resumption = Resumption { run: self.run.clone(), turns, expires_at: after(now, TASK_TTL) };
        match self.store.advance_task(&task.id, TaskChange::resume(task.state, resumption, now)).await? {
            true => Ok(()),
            false => Err(self.conflict(&task.id).await),
        }
    }

    /// The task that a message goes on with: of this agent, and waiting.
    pub(crate) async fn waiting(&self, resident: &Resident, id: &TaskId) -> Result<Task, Error> {
        let found = self.store.task(id, self.clock.now()).await?;
        let task = found.filter(|task| task.agent == *resident.card.handle());
        let task = task.ok_or_else(|| Error::not_found(Noun::Task))?;
        if !task.state.is_waiting() {
            return Err(Error::Conflict { what: Noun::Task, state: task.state });
        }
        let bytes: usize = task.turns.iter().flat_map(|turn| &turn.parts).filter_map(Part::as_text).map(str::len).sum();
        if task.turns.len() + 2 > TASK_TURNS_MAX || (task.turns.len() > 1 && bytes > TASK_TURNS_BYTES_MAX) {
            return Err(Error::invalid("task", "this one has gone on for too long; begin another"));
        }
        Ok(task)
    }

    /// What a request contradicts: the state in which the task is by now.
    pub(crate) async fn conflict(&self, id: &TaskId) -> Error {
        match self.store.task(id, self.clock.now()).await {
            Ok(Some(task)) => Error::Conflict { what: Noun::Task, state: task.state },
            Ok(None) => Error::not_found(Noun::Task),
            Err(error) => error.into(),
        }
    }
}

/// Work whose first event was waited for, and that event; `None` when it did not come in time.
type Waited = (Option<Option<Event>>, EventStream, OwnedSemaphorePermit);

/// Waits for the first event, on its own: when the caller goes away meanwhile, the work goes on to its
/// end, and counts as work until then. Nobody could read what came of it, so a host that stops does
/// not wait for it. `None` when the host stops.
async fn first_within(patience: Duration, mut events: EventStream, permit: OwnedSemaphorePermit) -> Option<Waited> {
    let (hand_over, handed_over) = oneshot::channel();
    tokio::spawn(async move {
        let first = tokio::time::timeout(patience, events.next()).await.ok();
        if let Err((_, mut events, _permit)) = hand_over.send((first, events, permit)) {
            while events.next().await.is_some() {}
        }
    });
    handed_over.await.ok()
}

/// What the agent said before it waited, as a turn: its answer so far, then the question, or the
/// refusal in words.
fn asked_back(task: &Task) -> Turn {
    let outcome = task.outcome.as_ref();
    let mut parts = outcome.map(|outcome| outcome.parts.clone()).unwrap_or_default();
    parts.extend(match outcome.map(|outcome| &outcome.ending) {
        Some(Ending::Question(question)) => Some(Part::markdown(question.text.clone())),
        Some(Ending::Refused(part)) => Some(Part::text(part.message.clone())),
        _ => None,
    });
    Turn { role: Role::Assistant, sender: Sender::anonymous(), parts, timestamp: Some(task.updated_at), id: None }
}

/// Adds to `history` what was said in `task` and is not there yet: a conversation leaves out refused
/// turns, and many agents keep none.
pub(crate) fn with_turns_of(task: &Task, history: &mut Vec<Turn>) {
    let known = |turn: &Turn| turn.id.is_some() && history.iter().any(|earlier| earlier.id == turn.id);
    let unknown = task.turns.iter().position(|turn| turn.role == Role::User && !known(turn));
    if let Some(first) = unknown {
        history.extend(task.turns[first..].iter().cloned());
        history.push(asked_back(task));
    }
}

fn reply(asked: &Asked, task: Option<TaskId>, events: EventStream) -> Reply {
    let card = &asked.resident.card;
    let (agent, language) = (card.handle().clone(), card.language.clone());
    Reply { agent, thread: asked.thread.clone(), task, language, events }
}

/// A reply ends once, even when its task is gone on with before it was read.
fn to_the_first_ending(mut events: BoxStream<'static, (u64, Event)>) -> EventStream {
    Box::pin(async_stream::stream! {
        while let Some((_, event)) = events.next().await {
            let last = matches!(event, Event::Ending(_));
            yield event;
            if last { return; }
        }
    })
}

/// A turn as it is kept: without the network address that it came from.
fn unaddressed(mut turn: Turn) -> Turn {
    turn.sender.peer = None;
    turn
}

/// Whom a background task counts against: the verified owner, else the network address.
fn caller(sender: &Sender) -> String {
    match (sender.owner(), sender.peer) {
        (Some(owner), _) => owner.to_owned(),
        (None, Some(peer)) => peer.to_string(),
        (None, None) => "nobody".to_owned(),
    }
}
