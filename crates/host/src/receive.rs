//! The whole trip of a message.

use crate::admit::{AdmissionRefusal, Passage, PassedMessage};
use crate::authority::continued;
use crate::conversations::RecalledMessage;
use crate::directory::HostedAgent;
use crate::host::Host;
use crate::in_flight::CallerSlots;
use crate::metrics::error_name;
use crate::request::Request;
use crate::run::Run;
use forecourt_core::agent::AddressedFiles;
use forecourt_core::gate::Admitted;
use forecourt_core::limits::HOPS_MAX;
use forecourt_core::message::GateNotes;
use forecourt_core::reply::refused;
use forecourt_core::{
    Error, Message, PaymentReceipt, PolicyPart, Reply, Task, ThreadId, Transport, UsageMeter, in_place,
};
use forecourt_issuance::UsedUp;
use forecourt_rules::guard::{GuardedMessage, Guardrail};
use forecourt_telemetry::spans;
use futures::future::BoxFuture;
use std::sync::Arc;
use tracing::Instrument;

/// A message that found its agent, and may be held against the agent's rules.
struct EnteredMessage {
    resident: Arc<HostedAgent>,
    message: Box<Message>,
    /// The task that it goes on with, as it stands. On the heap: most messages have none, and carry its size around.
    earlier: Option<Box<Task>>,
    /// The places that its work takes: those of its caller, and of its network for an anonymous one.
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
        let passage = Passage::to(&resident, earlier.as_deref(), unknown);
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
            Ok(passed) => self.fetch_and_use_up(&resident, &passage, passed, brings_history).await?,
            Err(refused) => Err(refused),
        };
        let request =
            |message: &Message| Request::new(resident.clone(), message, earlier, caller, is_known, &run, &self.records);
        match verdict {
            Ok((admitted, used)) => {
                let receipt = used.as_ref().map(|used| used.receipt.clone()).unwrap_or_default();
                let request = request(admitted.message()).with_receipt(receipt);
                let is_paid = used.as_ref().is_some_and(|used| used.mark.is_for_one_answer());
                let request = self.tasks.journaled(request, admitted.message(), is_paid, &run);
                self.tasks.run(Arc::new(request), admitted, used, run).await
            }
            Err(refused) if run.tells_of_refusals() && !refused.leaves_task => {
                let request = Arc::new(request(&refused.message));
                self.tasks.run_refusal(request, *refused.refusal, run).await
            }
            Err(refused) => {
                // Its token is told only where a state was issued under it, by which the caller is known again.
                let thread = refused.message.thread.filter(|_| refused.is_issued);
                Ok(self.refuse(&resident, via, thread, *refused.refusal))
            }
        }
    }

    /// The trip up to the agent's rules: whose message it is, limits, lifecycle, and what was said before.
    async fn enter(&self, message: Box<Message>, run: &Run) -> Result<Result<EnteredMessage, TurnedAway>, Error> {
        let resident = self.directory.resolve(&message)?;
        self.tasks.accepting()?;
        // Each question of an agent to another one is a hop: without a bound two that ask each other never end.
        if message.hop >= HOPS_MAX {
            return Err(Error::invalid("hops", format!("at most {HOPS_MAX} agents may call each other in a row")));
        }
        // Before everything that may ask the store (lifecycle, task, conversation), so that a flood costs no reads.
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
        // Only a conversation that was kept is a caller of its own: else each made-up name would have places of its
        // own.
        let session = message.thread.as_ref().filter(|_| is_known).map(ThreadId::key);
        let caller = self.tasks.in_flight.slots(&message.sender.caller(session));
        Ok(Ok(EnteredMessage { resident, message, earlier, caller, is_known, unknown }))
    }

    /// What an admitted message names by address, then what it says, then what it passes by: nothing is used up for a
    /// message whose attachments can't be had, or that its agent must not hear.
    async fn fetch_and_use_up(
        &self,
        resident: &HostedAgent,
        passage: &Passage<'_>,
        passed: PassedMessage,
        brings_history: bool,
    ) -> Result<Result<(Admitted, Option<UsedUp>), Box<AdmissionRefusal>>, Error> {
        let files = resident.agent.addressed_files();
        let mut admitted = self.attachments.fetch(passed.admitted, files).await?;
        if !resident.guards.is_empty() {
            // On the heap, since most agents have no guardrails.
            match Box::pin(self.guard(&resident.guards, admitted, brings_history)).await {
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

    /// Holds an admitted message against guardrails.
    pub(crate) async fn guard(
        &self,
        guards: &[Arc<Guardrail>],
        admitted: Admitted,
        brings_history: bool,
    ) -> Result<Admitted, Box<AdmissionRefusal>> {
        let guarded = GuardedMessage { guards, counter: &*self.metrics, brings_history };
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
            let passage = Passage { is_answered: false, ..Passage::to(&resident, None, unknown) };
            match self.admit(&passage, message).await? {
                // The bytes themselves are asked for, whatever the agent would be given.
                Ok(passed) => {
                    let fetched = self.attachments.fetch(passed.admitted, AddressedFiles::Fetched).await?;
                    Ok(Ok(fetched.into_message()))
                }
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
            receipt: PaymentReceipt::default(),
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
