//! An answer on its way: attached to its caller, or a task, from the start or once it is slow.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::limits::{TASK_TTL, TASK_TURNS_BYTES_MAX, TASK_TURNS_MAX, WEBHOOKS_PER_TASK_MAX};
use forecourt_core::reply::{ReplyAccumulator, refused};
use forecourt_core::store::{Account, Resumption, TaskChange, Webhook};
use forecourt_core::{
    Admitted, Ending, Error, Event, EventStream, History, Language, Message, MessageId, Noun, Part, PolicyPart, Reply,
    Role, Task, TaskId, TaskState, ThreadId, Transport, Turn,
};
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::conversations::{UserTurn, after, as_turn};
use crate::directory::HostedAgent;
use crate::follow::FollowUntil;
use crate::in_flight::{CallerKey, Lane, Slot};
use crate::issuance::{AnswerMark, Issuances, UsedUp};
use crate::metrics::ending_name;
use crate::permit::too_many_webhooks;
use crate::run::{Run, TaskMode};
use crate::running;
use crate::tasks::{Live, Tasks, busy};
use crate::work::Work;

/// What is kept of a message once its agent, or the gate, has it. Shared, since the agent's wrapper may need it at
/// the end; at 900 bytes, each future on its way would carry it again.
pub(crate) struct Request {
    pub(crate) resident: Arc<HostedAgent>,
    pub(crate) thread: Option<ThreadId>,
    pub(crate) via: Transport,
    /// The id of the message.
    pub(crate) id: MessageId,
    pub(crate) caller: CallerKey,
    pub(crate) owner: Option<String>,
    /// Whose stored bytes count what is kept of it.
    pub(crate) account: Account,
    /// What was said, where something of it is to be kept.
    pub(crate) turn: Option<Turn>,
    /// The language that the caller asked for.
    pub(crate) language: Option<Language>,
    /// Whether the conversation is to be kept.
    is_remembered: bool,
    /// Whether it was kept before.
    is_known: bool,
    /// The task that it goes on with.
    pub(crate) earlier: Option<Task>,
    /// Where refusals that ask for something are written down.
    pub(crate) issuances: Arc<Issuances>,
}

impl Request {
    pub(crate) fn new(
        resident: Arc<HostedAgent>,
        message: &Message,
        earlier: Option<Task>,
        caller: CallerKey,
        is_known: bool,
        run: &Run,
        issuances: &Arc<Issuances>,
    ) -> Self {
        let is_remembered = resident.card.remembers && !message.unrecorded && message.thread.is_some();
        Self {
            thread: message.thread.clone(),
            via: message.received_via,
            id: message.id.clone(),
            owner: message.sender.owner().map(str::to_owned),
            account: message.sender.account(),
            turn: (is_remembered || run.task != TaskMode::Never).then(|| as_turn(message)),
            language: message.language.clone(),
            resident,
            is_remembered,
            is_known,
            caller,
            earlier,
            issuances: issuances.clone(),
        }
    }

    /// What to remember the answer by.
    fn remembered(&self) -> Option<UserTurn> {
        let (thread, turn) = self.thread.clone().zip(self.turn.clone()).filter(|_| self.is_remembered)?;
        Some(UserTurn { thread, turn, account: self.account.clone(), begins: !self.is_known })
    }

    /// The language of the answer.
    fn answer_language(&self) -> Language {
        self.resident.answer_language(self.language.as_ref())
    }

    fn reply(&self, task: Option<TaskId>, events: EventStream) -> Reply {
        let (agent, language) = (self.resident.card.handle().clone(), self.answer_language());
        Reply { agent, thread: self.thread.clone(), task, language, receipt: None, events }
    }
}

impl Tasks {
    /// Lets the agent answer, as `run` says. Refused when too much is under way.
    pub(crate) async fn run(
        self: &Arc<Self>,
        request: Arc<Request>,
        admitted: Admitted,
        used: Option<UsedUp>,
        run: Run,
    ) -> Result<Reply, Error> {
        let (mark, receipt) = used.map_or((None, None), |used| (Some(used.mark), used.receipt));
        let reply = self.run_agent(request, admitted, mark, run).await?;
        Ok(Reply { receipt, ..reply })
    }

    async fn run_agent(
        self: &Arc<Self>,
        request: Arc<Request>,
        admitted: Admitted,
        mark: Option<AnswerMark>,
        run: Run,
    ) -> Result<Reply, Error> {
        let slot = match self.in_flight.acquire(run.lane(), request.caller).await {
            Ok(slot) => slot,
            Err(refusal) => return Ok(self.turn_away(&request, *refusal)),
        };
        let (asked, site) = (request.clone(), self.site.clone());
        let begin = move || running::run(asked, admitted, mark, &site);
        match run.task {
            TaskMode::Never => Ok(self.attach(request, begin(), slot, None)),
            TaskMode::IfSlow if request.earlier.is_none() => Ok(self.attach(request, begin(), slot, Some(run.wait))),
            TaskMode::UnlessMessage { within } if request.earlier.is_none() => {
                self.begin_unless_message(request, begin(), slot, within, run.webhook).await
            }
            // The agent hears of it once it is written down that it does: of two answers to one question, one.
            // On the heap, so that answers without a task don't carry a task's size around.
            _ => {
                let events = stream::once(async move { begin() }).flatten().boxed();
                Box::pin(self.begin(request, events, run.webhook, slot)).await
            }
        }
    }

    /// A refusal of the gate as a task of its own, so that its caller can meet the condition and go
    /// on. PolicyPart 4.2.
    pub(crate) async fn run_refusal(
        self: &Arc<Self>,
        request: Arc<Request>,
        refusal: PolicyPart,
        run: Run,
    ) -> Result<Reply, Error> {
        match self.in_flight.acquire(run.lane(), request.caller).await {
            Ok(slot) => Box::pin(self.begin(request, refused(refusal), run.webhook, slot)).await,
            Err(refusal) => Ok(self.turn_away(&request, *refusal)),
        }
    }

    fn turn_away(&self, request: &Request, refusal: PolicyPart) -> Reply {
        self.metrics.ended(request.resident.card.handle(), request.via, refusal.kind());
        request.reply(None, refused(refusal))
    }

    /// An answer that its caller drives: dropping the stream stops the work. One that is not whole after
    /// `slow_after` becomes a task, with all that was said until then.
    fn attach(
        self: &Arc<Self>,
        request: Arc<Request>,
        mut events: EventStream,
        slot: Slot,
        slow_after: Option<Duration>,
    ) -> Reply {
        let tasks = self.clone();
        let (agent, language) = (request.resident.card.handle().clone(), request.answer_language());
        let thread = request.thread.clone();
        let slow_at = slow_after.map(|wait| Instant::now() + wait);
        let events: EventStream = Box::pin(async_stream::stream! {
            let running = tasks.metrics.count_running();
            let mut remembered = request.remembered();
            let mut gathered = remembered.is_some().then(ReplyAccumulator::default);
            let mut said = Vec::new();
            loop {
                let next = match slow_at {
                    None => Ok(events.next().await),
                    Some(at) => timeout_at(at, events.next()).await,
                };
                let Ok(next) = next else { break };
                let Some(event) = next else { return };
                if let Some(gathered) = &mut gathered {
                    gathered.take(event.clone());
                }
                if slow_at.is_some() {
                    said.push(event.clone());
                }
                let Event::Ending(ending) = &event else {
                    yield event;
                    continue;
                };
                tasks.metrics.ended(request.resident.card.handle(), request.via, ending_name(ending));
                if let (Some(gathered), Some(asked)) = (gathered.take(), remembered.take()) {
                    // With it goes the agent's copy of the history, so that adding to it copies nothing.
                    drop(events);
                    tasks.remember(&request.resident, asked, &gathered.finish(ending.clone())).await;
                }
                yield event;
                return;
            }
            drop((running, slot));
            let told = said.len() as u64;
            let all = Box::pin(stream::iter(said).chain(events));
            let mut rest = tasks.go_on(request, all, told).await;
            while let Some(event) = rest.next().await {
                yield event;
            }
        });
        Reply { agent, thread, task: None, language, receipt: None, events }
    }

    /// A slow answer, of which the caller was `told` so many events, as a task: which one, and the rest.
    async fn go_on(self: Arc<Self>, request: Arc<Request>, events: EventStream, told: u64) -> EventStream {
        let slot = match self.in_flight.acquire(Lane::Background, request.caller).await {
            Ok(slot) => slot,
            Err(refusal) => return self.turn_away(&request, *refusal).events,
        };
        match self.run_in_background(request, events, None, slot).await {
            Ok(Begun { task, .. }) => {
                let rest = to_the_first_ending(self.follow(&task, told, FollowUntil::Pause));
                stream::once(std::future::ready(Event::Task(task))).chain(rest).boxed()
            }
            // What there is no room for is not the agent's failure.
            Err(Error::Full { bound }) => refused(bound.refusal()),
            Err(error) => {
                tracing::error!(%error, "a slow answer did not become a task");
                forecourt_core::reply::once(Ending::failed("The answer takes long, and could not be kept."))
            }
        }
    }

    /// A task, unless the agent's first event, which may take so long, is a message: then nothing is kept
    /// but the conversation.
    async fn begin_unless_message(
        self: &Arc<Self>,
        request: Arc<Request>,
        mut events: EventStream,
        slot: Slot,
        within: Duration,
        webhook: Option<Box<Webhook>>,
    ) -> Result<Reply, Error> {
        // One look costs no timer, and many agents need no second one.
        let (first, events, slot) = match events.next().now_or_never() {
            None if !within.is_zero() => first_within(within, events, slot).await.ok_or_else(busy)?,
            first => (first, events, slot),
        };
        let events = match first {
            Some(Some(Event::Ending(Ending::Message(text)))) => return Ok(self.message(request, text).await),
            Some(first) => Box::pin(stream::iter(first).chain(events)),
            None => events,
        };
        // On the heap, so that an answer without a task does not carry a task's size around.
        Box::pin(self.begin(request, events, webhook, slot)).await
    }

    /// An answer that is one message.
    async fn message(&self, request: Arc<Request>, text: String) -> Reply {
        let ending = Ending::Message(text);
        self.metrics.ended(request.resident.card.handle(), request.via, ending_name(&ending));
        if let Some(asked) = request.remembered() {
            let mut gathered = ReplyAccumulator::default();
            gathered.take(Event::Ending(ending.clone()));
            let collected = gathered.finish(ending.clone());
            Box::pin(self.remember(&request.resident, asked, &collected)).await;
        }
        request.reply(None, forecourt_core::reply::once(ending))
    }

    async fn begin(
        self: &Arc<Self>,
        request: Arc<Request>,
        events: EventStream,
        webhook: Option<Box<Webhook>>,
        slot: Slot,
    ) -> Result<Reply, Error> {
        let mut reply = request.reply(None, Box::pin(stream::empty()));
        let Begun { task, logged } = self.run_in_background(request, events, webhook, slot).await?;
        reply.events = to_the_first_ending(self.follow(&task, logged, FollowUntil::Pause));
        reply.task = Some(task);
        Ok(reply)
    }

    /// Work that the host keeps going: durable before this returns. On its own from the start, so that a
    /// caller that goes away in between leaves no task behind that nobody works on.
    async fn run_in_background(
        self: &Arc<Self>,
        request: Arc<Request>,
        events: EventStream,
        webhook: Option<Box<Webhook>>,
        slot: Slot,
    ) -> Result<Begun, Error> {
        let logged = match &request.earlier {
            Some(earlier) => self.store.last_event(&earlier.id).await?,
            None => 0,
        };
        let (hand_over, handed_over) = oneshot::channel();
        let tasks = self.clone();
        self.tracker.spawn(async move {
            let (written, news) = watch::channel(logged);
            let cancel = CancellationToken::new();
            let (resident, via, asked) = (request.resident.clone(), request.via, request.remembered());
            let id = request.earlier.as_ref().map_or_else(|| TaskId::mint(&*tasks.entropy), |task| task.id.clone());
            tasks.enlist(&id, Live { cancel: cancel.clone(), written: news });
            match tasks.keep(&id, &request, webhook).await {
                Ok(task) => {
                    // A caller that went away finds the task by itself, or not at all.
                    drop(hand_over.send(Ok(Begun { task: id, logged })));
                    Work { tasks, resident, task, via, asked, logged, written, cancel, slot }.run(events).await;
                }
                Err(error) => {
                    tasks.delist(&id, &written);
                    drop(hand_over.send(Err(error)));
                }
            }
        });
        handed_over.await.map_err(Error::internal)?
    }

    /// Makes the work durable: as a new task, or as the next turn of one that waited.
    async fn keep(&self, id: &TaskId, request: &Request, webhook: Option<Box<Webhook>>) -> Result<Task, Error> {
        let turn = request.turn.clone().unwrap_or_else(|| Turn::new(Role::User, Vec::new()));
        if let Some(earlier) = &request.earlier {
            return self.resume(earlier.clone(), turn, webhook).await;
        }
        let now = self.clock.now();
        let task = Task {
            id: id.clone(),
            agent: request.resident.card.handle().clone(),
            thread: request.thread.clone(),
            owner: request.owner.clone(),
            account: request.account.clone(),
            received_via: request.via.to_owned(),
            turns: vec![turn],
            state: TaskState::Working,
            outcome: None,
            run: self.run.clone(),
            created_at: now,
            updated_at: now,
            expires_at: after(now, TASK_TTL),
        };
        self.store.create_task(task.clone(), webhook.map(|webhook| *webhook).into_iter().collect()).await?;
        Ok(task)
    }

    /// Moves a task that waited on, with what the agent had asked and what the caller says now.
    async fn resume(&self, task: Task, turn: Turn, webhook: Option<Box<Webhook>>) -> Result<Task, Error> {
        if let Some(new) = &webhook {
            let had = self.store.webhooks(&task.id).await?;
            if had.len() >= WEBHOOKS_PER_TASK_MAX && had.iter().all(|had| had.id != new.id) {
                return Err(too_many_webhooks());
            }
        }
        let now = self.clock.now();
        let turns = vec![asked_back(&task), turn];
        let webhooks = webhook.map(|webhook| *webhook).into_iter().collect();
        let resumption = Resumption { run: self.run.clone(), turns, webhooks, expires_at: after(now, TASK_TTL) };
        match self.store.advance_task(&task.id, TaskChange::resume(&task, resumption, now)).await? {
            true => Ok(Task { state: TaskState::Working, run: self.run.clone(), ..task }),
            false => Err(self.conflict(&task.id).await),
        }
    }

    /// The task that a message goes on with: of this agent, and waiting.
    pub(crate) async fn waiting(&self, resident: &HostedAgent, id: &TaskId) -> Result<Task, Error> {
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
type Waited = (Option<Option<Event>>, EventStream, Slot);

/// Work that the host keeps going.
struct Begun {
    task: TaskId,
    /// Events in its log before this work.
    logged: u64,
}

/// Waits for the first event, on its own: when the caller goes away meanwhile, the work goes on to its
/// end, and counts as work until then. Nobody could read what came of it, so a host that stops does
/// not wait for it. `None` when the host stops.
async fn first_within(within: Duration, mut events: EventStream, slot: Slot) -> Option<Waited> {
    let (hand_over, handed_over) = oneshot::channel();
    tokio::spawn(async move {
        let first = tokio::time::timeout(within, events.next()).await.ok();
        if let Err((_, mut events, _slot)) = hand_over.send((first, events, slot)) {
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
    let question = match outcome.map(|outcome| &outcome.ending) {
        Some(Ending::Question(question)) => Some(Box::new(question.clone())),
        _ => None,
    };
    Turn { timestamp: Some(task.updated_at), question, ..Turn::new(Role::Assistant, parts) }
}

/// Adds to `history` what was said in `task` and is not there yet: a conversation leaves out refused
/// turns, and many agents keep none.
pub(crate) fn with_turns_of(task: &Task, history: &mut History) {
    let known = |turn: &Turn| turn.id.is_some() && history.iter().any(|earlier| earlier.id == turn.id);
    let unknown = task.turns.iter().position(|turn| turn.role == Role::User && !known(turn));
    if let Some(first) = unknown {
        history.extend(task.turns[first..].iter().cloned().chain([asked_back(task)]));
    }
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
