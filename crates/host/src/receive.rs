//! The whole trip of a message, and the host that it is a method of.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use forecourt_contract::Dispatcher;
use forecourt_core::clock::after;
use forecourt_core::limits::{HOPS_MAX, THREAD_TTL};
use forecourt_core::policy::{Admitted, GateNotes};
use forecourt_core::reply::refused;
use forecourt_core::store::Notification;
use forecourt_core::{
    Clock, Entropy, Error, Handle, Message, PolicyPart, Reply, Sender, Store, Task, ThreadId, Transport, UsageMeter,
    in_place,
};
use forecourt_telemetry::spans;
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use crate::admit::{AdmissionRefusal, Passage, PassedMessage};
use crate::attachments::Attachments;
use crate::authority::continued;
use crate::conversations::{Conversations, RecalledMessage};
use crate::deliver::{DeliveryWakeup, Outbound};
use crate::directory::{Directory, HostedAgent};
use crate::idempotency::{Idempotency, IdempotencyOwner, IdempotentCalls};
use crate::in_flight::CallerSlots;
use crate::ledger::Ledger;
use crate::lifecycle::{Lifecycle, LifecycleView};
use crate::limits::Throttle;
use crate::metrics::{Metrics, error_name};
use crate::operated::OperatorDesk;
use crate::operator_queue::{Inquiries, OperatorQueue};
use crate::records::Records;
use crate::request::Request;
use crate::run::Run;
use crate::tasks::Tasks;
use forecourt_core::Site;
use forecourt_issuance::UsedUp;
use forecourt_rules::guard::GuardedMessage;

/// Everything a domain offers, behind two verbs.
pub struct Host {
    pub(crate) site: Site,
    pub(crate) directory: Directory,
    pub(crate) throttle: Arc<Throttle>,
    pub(crate) conversations: Conversations,
    pub(crate) lifecycle: Arc<Lifecycle>,
    pub(crate) operator: OperatorQueue,
    pub(crate) idempotency: Idempotency,
    pub(crate) contract: Arc<Dispatcher>,
    pub(crate) attachments: Attachments,
    /// Where what becomes of requests is written down.
    pub(crate) records: Arc<Records>,
    /// By what posts are made, and by what they are made once this host has taken over.
    pub(crate) outbound: Arc<ArcSwap<Outbound>>,
    pub(crate) own_outbound: Arc<Outbound>,
    pub(crate) wakeup: DeliveryWakeup,
    pub(crate) tasks: Arc<Tasks>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) metrics: Arc<Metrics>,
    /// Ends, after the stop that the host was started with, when the posts under way are made.
    pub(crate) posting: TaskTracker,
    pub(crate) stop: CancellationToken,
}

/// A message that found its agent, and may be held against the agent's rules.
struct EnteredMessage {
    resident: Arc<HostedAgent>,
    message: Box<Message>,
    /// The task that it goes on with, as it stands. On the heap: most messages have none, and carry its size around.
    earlier: Option<Box<Task>>,
    /// Whom its work counts against.
    caller: CallerSlots,
    /// Whether its conversation was kept before.
    is_known: bool,
    /// The conversation that it came with, where nothing is kept of it.
    unknown: Option<ThreadId>,
}

impl Host {
    /// Carries a message to its agent and the answer back. The same for every protocol.
    ///
    /// A refusal is an answer; an [`Error`] is a fault, or a request that means nothing here.
    pub fn receive(&self, message: Message, run: Run) -> BoxFuture<'_, Result<Reply, Error>> {
        let (span, message) = (spans::receive(message.received_via), Box::new(message));
        if span.is_disabled() {
            return in_place(|| self.carry(message, run));
        }
        Box::pin(async move {
            let reply = self.carry(message, run).instrument(span.clone()).await;
            if let Err(error) = &reply {
                spans::record_outcome(&span, error_name(error), matches!(error, Error::Internal(_)));
            }
            reply
        })
    }

    async fn carry(&self, message: Box<Message>, run: Run) -> Result<Reply, Error> {
        let via = message.received_via;
        let brings_history = !message.history.is_empty();
        let EnteredMessage { resident, message, earlier, caller, is_known, unknown } =
            match self.enter(message, &run).await? {
                Ok(entered) => entered,
                Err(TurnedAway { resident, refusal }) => return Ok(self.refuse(&resident, via, None, *refusal)),
            };
        let passage = Passage { resident: &resident, earlier: earlier.as_deref(), unknown, is_answered: true };
        let gate = spans::gate(resident.card.handle().as_str());
        let admitted = match gate.is_disabled() {
            true => self.admit(&passage, message).await?,
            false => in_place(|| self.admit(&passage, message)).instrument(gate.clone()).await?,
        };
        spans::record_outcome(
            &gate,
            admitted.as_ref().map_or_else(|refused| refused.refusal.kind(), |_| "admitted"),
            false,
        );
        drop(gate);
        let verdict = match admitted {
            Ok(passed) => self.fetch_and_use_up(&passage, passed, brings_history).await?,
            Err(refused) => Err(refused),
        };
        let request =
            |message: &Message| Request::new(resident.clone(), message, earlier, caller, is_known, &run, &self.records);
        match verdict {
            Ok((admitted, used)) => {
                let request = request(admitted.message());
                self.tasks.run(Arc::new(request), admitted, used, run).await
            }
            Err(refused) if run.tells_of_refusals() && !refused.leaves_task => {
                let request = Arc::new(request(&refused.message));
                self.tasks.run_refusal(request, *refused.refusal, run).await
            }
            Err(refused) => {
                let thread = refused.message.thread.filter(|_| refused.is_issued);
                Ok(self.refuse(&resident, via, thread, *refused.refusal))
            }
        }
    }

    /// The trip up to the agent's rules: whose message it is, limits, lifecycle, and what was said before.
    async fn enter(&self, message: Box<Message>, run: &Run) -> Result<Result<EnteredMessage, TurnedAway>, Error> {
        let resident = self.directory.resolve(&message)?;
        self.tasks.accepting()?;
        if message.hop >= HOPS_MAX {
            return Err(Error::invalid("hops", format!("at most {HOPS_MAX} agents may call each other in a row")));
        }
        if let Err(refusal) = self.throttle.admit(&message) {
            return Ok(Err(TurnedAway { resident, refusal }));
        }
        if let Some(refusal) = self.lifecycle.unavailable_reason(&message.recipient).await? {
            return Ok(Err(TurnedAway { resident, refusal: Box::new(refusal) }));
        }
        let earlier = match &run.continues {
            Some(task) => Some(Box::new(self.tasks.waiting(&resident, &task.id).await?)),
            None => None,
        };
        let message = continued(message, earlier.as_deref());
        let RecalledMessage { mut message, is_known, unknown } =
            self.conversations.recall(&resident, message, earlier.as_deref(), run.begins).await?;
        message.gate = GateNotes::arriving(is_known || earlier.is_some());
        let session = message.thread.as_ref().filter(|_| is_known).map(ThreadId::key);
        let caller = self.tasks.in_flight.slots(&message.sender.caller(session));
        Ok(Ok(EnteredMessage { resident, message, earlier, caller, is_known, unknown }))
    }

    /// What an admitted message names by address, then what it says, then what it passes by: nothing is used up for a
    /// message whose attachments can't be had, or that its agent must not hear.
    async fn fetch_and_use_up(
        &self,
        passage: &Passage<'_>,
        passed: PassedMessage,
        brings_history: bool,
    ) -> Result<Result<(Admitted, Option<UsedUp>), Box<AdmissionRefusal>>, Error> {
        let mut admitted = self.attachments.fetch(passed.admitted).await?;
        if !passage.resident.guards.is_empty() {
            // On the heap, since most agents have no guardrails.
            match Box::pin(self.guard(passage, admitted, brings_history)).await {
                Ok(guarded) => admitted = guarded,
                Err(refused) => return Ok(Err(refused)),
            }
        }
        match passed.uses.is_empty() {
            true => Ok(Ok((admitted, None))),
            // On the heap, since most messages need nothing of it.
            false => Box::pin(self.use_up(passage, PassedMessage { admitted, uses: passed.uses })).await,
        }
    }

    /// Holds an admitted message against the guardrails of its agent.
    async fn guard(
        &self,
        passage: &Passage<'_>,
        admitted: Admitted,
        brings_history: bool,
    ) -> Result<Admitted, Box<AdmissionRefusal>> {
        let guarded = GuardedMessage { guards: &passage.resident.guards, counter: &*self.metrics, brings_history };
        guarded.judge(admitted).await.map_err(|(admitted, denied)| {
            let record = self.records.guarded_record(admitted.card().handle(), admitted.message());
            self.records.note_guarded(record, &denied.rule, &denied.part);
            let message = Box::new(admitted.into_message());
            Box::new(AdmissionRefusal { message, refusal: denied.part, is_issued: false, leaves_task: false })
        })
    }

    /// A message as its agent would be given it: what it names by address as bytes, after the limits and
    /// the gate. For protocols that must know the bytes themselves. Uses up nothing, and takes no payment.
    ///
    /// Fails as [`Host::receive`] does. Inside is the refusal, if there is one.
    pub fn with_attachments(&self, message: Message) -> BoxFuture<'_, Result<Result<Message, Box<PolicyPart>>, Error>> {
        let message = Box::new(message);
        Box::pin(async move {
            let EnteredMessage { resident, message, unknown, .. } =
                match self.enter(message, &Run::without_task()).await? {
                    Ok(entered) => entered,
                    Err(TurnedAway { refusal, .. }) => return Ok(Err(refusal)),
                };
            let passage = Passage { resident: &resident, earlier: None, unknown, is_answered: false };
            match self.admit(&passage, message).await? {
                Ok(passed) => Ok(Ok(self.attachments.fetch(passed.admitted).await?.into_message())),
                Err(refused) => Ok(Err(refused.refusal)),
            }
        })
    }

    fn refuse(&self, resident: &HostedAgent, via: Transport, thread: Option<ThreadId>, refusal: PolicyPart) -> Reply {
        self.metrics.ended(resident.card.handle(), via, refusal.kind());
        Reply {
            agent: resident.card.handle().clone(),
            thread,
            task: None,
            receipt: None,
            usage: UsageMeter::default(),
            language: resident.card.language.clone(),
            events: refused(refusal),
        }
    }
}

/// A message that was turned away before the rules of its agent.
struct TurnedAway {
    resident: Arc<HostedAgent>,
    refusal: Box<PolicyPart>,
}

/// The questions that protocols ask beside [`Host::receive`].
impl Host {
    /// What the outside calls this place.
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// The agents here.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// The host's clock.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// The host's randomness.
    pub fn entropy(&self) -> &Arc<dyn Entropy> {
        &self.entropy
    }

    /// Where the agents stand in their lives, to be read.
    pub fn lifecycle(&self) -> LifecycleView<'_> {
        LifecycleView::new(&self.lifecycle)
    }

    /// What may be asked of the operator.
    pub fn inquiries(&self) -> Inquiries<'_> {
        Inquiries::new(&self.operator)
    }

    /// What the operator decides. Only for the operator's own surface, and for a protocol that has checked that its
    /// caller acts for the operator.
    pub fn operator(&self) -> OperatorDesk<'_> {
        OperatorDesk { host: self }
    }

    /// The calls that a caller makes once.
    pub fn idempotency<'a>(&'a self, caller: IdempotencyOwner<'a>) -> IdempotentCalls<'a> {
        IdempotentCalls::new(&self.idempotency, caller)
    }

    /// The streams of entries that `owner` keeps: a protocol, or another part of the program by its name.
    pub fn ledger(&self, owner: &'static str) -> Ledger {
        Ledger::new(self.store.clone(), self.clock.clone(), owner)
    }

    /// What the host counts.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// Cancelled when the host stops, after running work was waited for: what protocols keep open for
    /// as long as a client likes ends with it.
    pub fn stopping(&self) -> &CancellationToken {
        &self.stop
    }

    /// Counts one request of a caller against its limits, for requests that carry no message.
    pub fn meter(&self, peer: Option<std::net::IpAddr>) -> Result<(), Box<PolicyPart>> {
        self.throttle.admit_peer(peer)
    }

    /// Queues a notice: a delivery that belongs to no task, for the courier of its protocol. Durable when this
    /// returns. Fails with [`Error::Unavailable`] while as many deliveries wait as may.
    pub fn notify(&self, notice: Notification) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            self.store.enqueue(notice).await?;
            self.wakeup.wake();
            Ok(())
        })
    }

    /// Whether a conversation with an agent is kept here that `sender` may go on with.
    pub fn remembers<'a>(
        &'a self,
        thread: &'a ThreadId,
        agent: &'a Handle,
        sender: &'a Sender,
    ) -> BoxFuture<'a, Result<bool, Error>> {
        Box::pin(async move { self.conversations.is_kept(thread, agent, sender).await })
    }

    /// Which agent a conversation is with, as far as [`Host::set_route`] was told. Hub card 3.3.
    pub fn route<'a>(&'a self, thread: &'a ThreadId) -> BoxFuture<'a, Result<Option<Handle>, Error>> {
        Box::pin(async move { Ok(self.store.route(thread, self.clock.now()).await?) })
    }

    /// Records which agent a conversation is with, until it was idle for [`THREAD_TTL`]. Hub card 3.3.
    /// Counts towards the bytes that are kept for `sender`.
    pub fn set_route<'a>(
        &'a self,
        thread: &'a ThreadId,
        agent: &'a Handle,
        sender: &'a Sender,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            Ok(self.store.set_route(thread, agent, after(self.clock.now(), THREAD_TTL), &sender.account()).await?)
        })
    }

    /// Whether the host can do its work: the store answers, its lease holds and it is not draining.
    pub fn ready(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            self.tasks.accepting()?;
            Ok(self.store.ready().await?)
        })
    }

    /// Stops taking messages, waits for running work up to `wait_max`, and ends what is left as
    /// failed, with a reason. No accepted task is lost, and no turn of a conversation.
    pub fn drain(&self, wait_max: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.tasks.drain(wait_max).await;
        })
    }

    /// Writes the turns of conversations that wait to be written.
    pub fn write_conversations(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.conversations.writer.write_all().await;
        })
    }

    /// Waits, after the stop that the host was started with, for the last turns of conversations to be written
    /// and for the posts under way, so that none is cut off: one that was begun counts as made. What is due but not begun, the next run posts.
    pub fn stopped(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.posting.wait().await;
        })
    }
}
