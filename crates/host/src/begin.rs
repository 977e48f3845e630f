//! An answer on its way: attached to its caller, or a task, from the start or once it is slow.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::reply::{ReplyAccumulator, refused};
use forecourt_core::store::Webhook;
use forecourt_core::{
    Admitted, Ending, Error, Event, EventStream, FailureCause, Message, PaymentReceipt, PolicyPart, Reply, UsageMeter,
    WorkJournal, ids, in_place,
};
use forecourt_telemetry::going_on;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use crate::background::BackgroundWork;
use crate::follow::FollowUntil;
use crate::in_flight::{Lane, Slot};
use crate::journal::Journal;
use crate::on_lost::OnLost;
use crate::request::Request;
use crate::run::{Run, TaskMode};
use crate::running;
use crate::tasks::{Tasks, busy};
use forecourt_issuance::{AnswerMark, UsedUp};

impl Tasks {
    /// Lets the agent answer, as `run` says. Refused when too much is under way.
    pub(crate) async fn run(
        self: &Arc<Self>,
        request: Arc<Request>,
        admitted: Admitted,
        used: Option<UsedUp>,
        run: Run,
    ) -> Result<Reply, Error> {
        let (mark, receipt) = (used.map(|used| used.mark), request.receipt.clone());
        let admitted = admitted.with_usage(request.meter()).with_stop(request.stop.clone());
        let usage = request.shown_usage();
        let admitted = match (&request.journal, request.resident.on_lost) {
            (Some(journal), OnLost::Attach) => admitted.with_journal(WorkJournal::new(journal.clone())),
            _ => admitted,
        };
        let reply = self.run_agent(request, admitted, mark, run).await?;
        Ok(Reply { receipt, usage, ..reply })
    }

    /// A request with a journal, where its agent is set so that another run goes on with its task. A message that used
    /// up a consent or a payment has none: what its run leaves unanswered may be used again, and is answered once.
    pub(crate) fn journaled(&self, request: Request, message: &Message, is_paid: bool, run: &Run) -> Request {
        let goes_on = request.resident.on_lost != OnLost::Fail && run.task != TaskMode::Never;
        if !goes_on || is_paid {
            return request;
        }
        let journal = Journal::begin(ids::uuid7(self.clock.now(), &*self.entropy), message, request.is_known());
        request.with_journal(journal)
    }

    async fn run_agent(
        self: &Arc<Self>,
        request: Arc<Request>,
        admitted: Admitted,
        mark: Option<AnswerMark>,
        run: Run,
    ) -> Result<Reply, Error> {
        let slot = match self.in_flight.acquire(run.lane(), request.slots).await {
            Ok(slot) => slot,
            Err(refusal) => return Ok(self.turn_away(&request, *refusal)),
        };
        let (asked, site, metrics) = (request.clone(), self.site.clone(), self.metrics.clone());
        // What a message was let through by is used once its agent hears of it. Another node may have begun the same
        // message just now, so that it is told after the store has said which of them does.
        let is_claimed_first = request.name.is_some() && mark.is_some() && !self.lease.is_alone();
        // Killed between the agent and the store, the host would know nothing of a message that comes again.
        let is_once = request.name.is_some() && request.resident.must_be_asked_once();
        let is_kept_first = is_claimed_first || is_once || self.may_find_no_store();
        // A closure: the agent hears of the message only once there is a place for it. A message that is turned away
        // drops `mark` unbegun, which gives its consent or payment back.
        let begin = move || running::run(asked, admitted, mark, &site, &metrics);
        match run.task {
            TaskMode::Never => Ok(self.attach(request, begin(), slot, None)),
            // A message that goes on with a task always takes the last arm: its answer belongs into that task's log.
            TaskMode::IfSlow if request.earlier.is_none() => Ok(self.attach(request, begin(), slot, Some(run.wait))),
            TaskMode::UnlessMessage { within } if request.earlier.is_none() && !is_kept_first => {
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
        match self.in_flight.acquire(run.lane(), request.slots).await {
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
        let events: EventStream = in_place(move || {
            async_stream::stream! {
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
                        // A task's log holds its answer from the first event, so what the caller has seen goes in, too.
                        said.push(event.clone());
                    }
                    let Event::Ending(ending) = &event else {
                        yield event;
                        continue;
                    };
                    tasks.metrics.ended(request.resident.card.handle(), request.via, ending.code());
                    tasks.metrics.activity.failed(request.resident.card.handle(), request.via, ending, tasks.clock.now());
                    // Kept before the ending is told: a caller that has seen it may go on at once, perhaps at another
                    // node.
                    if let (Some(gathered), Some(asked)) = (gathered.take(), remembered.take()) {
                        // With it goes the agent's copy of the history, so that adding to it copies nothing.
                        drop(events);
                        tasks.remember(&request.resident, asked, &gathered.finish(ending.clone())).await;
                    }
                    yield event;
                    return;
                }
                // Before a place among background work is asked for: one answer must not count in both lanes.
                drop((running, slot));
                let told = said.len() as u64;
                let all = Box::pin(stream::iter(said).chain(events));
                let mut rest = tasks.go_on(request, all, told).await;
                while let Some(event) = rest.next().await {
                    yield event;
                }
            }
        });
        let (receipt, usage) = (PaymentReceipt::default(), UsageMeter::default());
        Reply { agent, thread, task: None, language, receipt, usage, events }
    }

    /// A slow answer, of which the caller was `told` so many events, as a task: which one, and the rest.
    async fn go_on(self: Arc<Self>, request: Arc<Request>, events: EventStream, told: u64) -> EventStream {
        let slot = match self.in_flight.acquire(Lane::Background, request.slots).await {
            Ok(slot) => slot,
            Err(refusal) => return self.turn_away(&request, *refusal).events,
        };
        match self.run_in_background(request, events, None, slot).await {
            Ok(BackgroundWork { task, .. }) => {
                let rest = to_the_first_ending(self.follow(&task, told, FollowUntil::Pause));
                stream::once(std::future::ready(Event::Task(task))).chain(rest).boxed()
            }
            // What there is no room for is not the agent's failure.
            Err(Error::Full { bound }) => refused(bound.refusal()),
            Err(error) => {
                tracing::error!(%error, "a slow answer did not become a task");
                forecourt_core::reply::once(
                    FailureCause::CutOff.ending("The answer takes long, and could not be kept."),
                )
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
        self.metrics.ended(request.resident.card.handle(), request.via, ending.code());
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
        let BackgroundWork { task, logged } = self.run_in_background(request, events, webhook, slot).await?;
        reply.events = to_the_first_ending(self.follow(&task, logged, FollowUntil::Pause));
        reply.task = Some(task);
        Ok(reply)
    }
}

/// Work whose first event was waited for, and that event; `None` when it did not come in time.
type FirstEventWait = (Option<Option<Event>>, EventStream, Slot);

/// Waits for the first event, on its own: when the caller goes away meanwhile, the work goes on to its
/// end, and counts as work until then. Nobody could read what came of it, so a host that stops does
/// not wait for it. `None` when the host stops.
async fn first_within(within: Duration, mut events: EventStream, slot: Slot) -> Option<FirstEventWait> {
    let (hand_over, handed_over) = oneshot::channel();
    let waiting = async move {
        let first = tokio::time::timeout(within, events.next()).await.ok();
        if let Err((_, mut events, _slot)) = hand_over.send((first, events, slot)) {
            while events.next().await.is_some() {}
        }
    };
    tokio::spawn(going_on(waiting));
    handed_over.await.ok()
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
