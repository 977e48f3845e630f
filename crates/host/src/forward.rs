//! The way of a call to a server behind this host, up to that server: limits, rules and a place, as for a message to
//! an agent. What is said to the server and what it answers is its protocol's.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::gate::lasting_payments;
use forecourt_core::limits::{AGENT_TIME_MAX, HOPS_MAX};
use forecourt_core::{
    Admitted, AgentCard, Ending, Error, Glob, Handle, Message, PaymentReceipt, Policy, PolicyPart, Rule, ThreadId,
    Transport,
};
use forecourt_issuance::{AnswerMark, UsedUp};
use forecourt_rules::guard::{Guardrail, ReplyGuards};
use futures::future::BoxFuture;

use crate::admit::{AdmissionRefusal, Passage};
use crate::host::Host;
use crate::in_flight::{Lane, ReplyPause, Slot};
use crate::metrics::GaugeGuard;
use crate::running::reply_guards;
use crate::tasks::Tasks;

/// The gate before a server behind this host. Nobody passes it but by [`Host::forward`].
#[derive(Clone)]
pub struct ServerGate {
    card: Arc<AgentCard>,
    rules: Vec<ServerRule>,
    /// Of all of them, whichever tool is called.
    lasting_payments: Arc<[String]>,
    guards: Vec<ServerGuard>,
    time_max: Duration,
}

/// A guardrail before a server, or before some of its tools: it judges what a call says, and what the server says.
#[derive(Clone)]
pub struct ServerGuard {
    /// The tools that it stands before; before everything that the server has when empty.
    pub tools: Vec<Glob>,
    /// The guardrail.
    pub guard: Arc<Guardrail>,
}

/// A rule before a server, or before some of its tools.
#[derive(Clone)]
pub struct ServerRule {
    /// The tools that it stands before; before everything that the server has when empty.
    pub tools: Vec<Glob>,
    /// The rule.
    pub rule: Arc<dyn Rule>,
}

/// What of a server a call is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target<'a> {
    /// A tool, by the server's own name for it.
    Tool(&'a str),
    /// Something that is read or looked up there, and does nothing.
    Other,
}

impl ServerGate {
    /// The gate of these rules, in their order, before the server that `card` describes: what callers are asked to
    /// do first is issued for it.
    pub fn new(card: Arc<AgentCard>, rules: Vec<ServerRule>) -> Self {
        let lasting_payments = lasting_payments(rules.iter().map(|rule| &rule.rule));
        Self { card, rules, lasting_payments, guards: Vec::new(), time_max: AGENT_TIME_MAX }
    }

    /// The same gate, with these guardrails, in their order.
    #[must_use]
    pub fn guarded(self, guards: Vec<ServerGuard>) -> Self {
        Self { guards, ..self }
    }

    /// The same gate before a server that takes so long at most; [`AGENT_TIME_MAX`] unless it is set.
    #[must_use]
    pub fn lasting(self, time_max: Duration) -> Self {
        Self { time_max, ..self }
    }

    /// What it says of the server.
    pub fn card(&self) -> &AgentCard {
        &self.card
    }

    /// Whether anything stands before one thing that the server has.
    pub fn is_before(&self, target: Target<'_>) -> bool {
        let (rules, guards) = (self.rules.iter().map(|rule| &rule.tools), self.guards.iter().map(|guard| &guard.tools));
        rules.chain(guards).any(|tools| target.is_behind(tools))
    }

    /// The rules before one thing that the server has.
    fn policy(&self, target: Target<'_>) -> Policy {
        let before = self.rules.iter().filter(|rule| target.is_behind(&rule.tools));
        Policy::of_some(before.map(|rule| rule.rule.clone()).collect(), self.lasting_payments.clone())
    }

    /// The guardrails before it.
    fn guards(&self, target: Target<'_>) -> Vec<Arc<Guardrail>> {
        let before = self.guards.iter().filter(|guard| target.is_behind(&guard.tools));
        before.map(|guard| guard.guard.clone()).collect()
    }
}

impl Target<'_> {
    /// Whether something stands before it that stands before these tools.
    fn is_behind(self, tools: &[Glob]) -> bool {
        match self {
            Target::Tool(name) => tools.is_empty() || tools.iter().any(|tool| tool.matches(name)),
            Target::Other => tools.is_empty(),
        }
    }
}

/// Leave to ask a server once, for one caller: whoever asks takes it along and ends it. Dropped before, the call was
/// given up.
pub struct ForwardPermit {
    admitted: Admitted,
    receipt: PaymentReceipt,
    mark: Option<AnswerMark>,
    /// What the server says is held against these, if against any.
    guards: Option<Arc<ReplyGuards>>,
    /// How its end is counted; taken out once it is.
    end: Option<ForwardEnd>,
    /// Its place among what is under way, until it is given back.
    slot: Option<Slot>,
    _running: GaugeGuard,
}

struct ForwardEnd {
    tasks: Arc<Tasks>,
    server: Handle,
    via: Transport,
}

/// Why a call is not passed on.
#[derive(Debug, Clone)]
pub struct ForwardRefusal {
    /// The refusal.
    pub part: Box<PolicyPart>,
    /// The conversation by which its caller is known again who met the condition.
    pub thread: Option<ThreadId>,
}

impl From<Box<PolicyPart>> for ForwardRefusal {
    fn from(part: Box<PolicyPart>) -> Self {
        Self { part, thread: None }
    }
}

impl Host {
    /// Lets a call to a server behind this host pass, or refuses it: limits first, then the rules of its gate, then a
    /// place among what is under way. `message` says who calls, and what it brings to be let through; its recipient is
    /// the server.
    ///
    /// A refusal is inside; an [`Error`] is a fault, or a call that means nothing here.
    pub fn forward<'a>(
        &'a self,
        gate: &'a ServerGate,
        target: Target<'a>,
        message: Message,
    ) -> BoxFuture<'a, Result<Result<ForwardPermit, ForwardRefusal>, Error>> {
        Box::pin(async move {
            self.tasks.accepting()?;
            if message.hop >= HOPS_MAX {
                return Err(Error::invalid(
                    "hops",
                    format!("at most {HOPS_MAX} calls may lead to each other in a row"),
                ));
            }
            let (via, server) = (message.received_via, gate.card.handle().clone());
            let end = ForwardEnd { tasks: self.tasks.clone(), server, via };
            let passed = self.pass(gate, target, message, end).await?;
            if let Err(refused) = &passed {
                self.metrics.ended(gate.card.handle(), via, refused.part.kind());
            }
            Ok(passed)
        })
    }

    async fn pass(
        &self,
        gate: &ServerGate,
        target: Target<'_>,
        message: Message,
        end: ForwardEnd,
    ) -> Result<Result<ForwardPermit, ForwardRefusal>, Error> {
        if let Err(part) = self.throttle.admit(&message) {
            return Ok(Err(part.into()));
        }
        // A conversation is kept of no such call: it is there for what was asked for, and may be of nobody.
        let unknown = message.thread.clone();
        let message = Box::new(Message { thread: None, ..message });
        let policy = gate.policy(target);
        let (card, policy, time_max) = (&gate.card, &policy, gate.time_max);
        let passage = Passage { card, policy, earlier: None, unknown, is_answered: true, time_max };
        let mut passed = match self.admit(&passage, message).await? {
            Ok(passed) => passed,
            Err(refused) => return Ok(Err(refusal(*refused))),
        };
        let guards = gate.guards(target);
        if !guards.is_empty() {
            // On the heap, since most servers have no guardrails.
            passed.admitted = match Box::pin(self.guard(&guards, passed.admitted, false)).await {
                Ok(admitted) => admitted,
                Err(refused) => return Ok(Err(refusal(*refused))),
            };
        }
        let guards = reply_guards(&guards, &self.records, &passed.admitted, &self.metrics).map(Arc::new);
        // Before anything is used up: who is turned away here has paid nothing.
        let caller = self.tasks.in_flight.slots(&passed.admitted.message().sender.caller(None));
        let slot = match self.tasks.in_flight.acquire(Lane::Reply, caller).await {
            Ok(slot) => slot,
            Err(part) => return Ok(Err(part.into())),
        };
        let (admitted, used) = match self.use_up(&passage, passed).await? {
            Ok(used) => used,
            Err(refused) => return Ok(Err(refusal(*refused))),
        };
        let (mark, receipt) = used.map(|UsedUp { mark, receipt, .. }| (mark, receipt)).unzip();
        let receipt = receipt.unwrap_or_default();
        let _running = self.metrics.count_running();
        Ok(Ok(ForwardPermit { admitted, receipt, mark, guards, end: Some(end), slot: Some(slot), _running }))
    }

    /// A call that was let through waits for a person who answers by calling again. A host that stops does not wait for
    /// it: nobody could answer any more.
    pub fn pause(&self) -> ReplyPause {
        self.tasks.in_flight.pause()
    }

    /// Waits until its agents, and the servers behind it, may be asked: [`Host::open`]. `false` where the host ends
    /// before, as one does that was only checked.
    pub fn opened(&self) -> BoxFuture<'static, bool> {
        let mut is_open = self.tasks.is_open.subscribe();
        Box::pin(async move { is_open.wait_for(|is_open| *is_open).await.is_ok() })
    }
}

fn refusal(refused: AdmissionRefusal) -> ForwardRefusal {
    let AdmissionRefusal { message, refusal, is_issued, .. } = refused;
    ForwardRefusal { part: refusal, thread: message.thread.filter(|_| is_issued) }
}

impl ForwardPermit {
    /// The call, as it passed.
    pub fn message(&self) -> &Message {
        self.admitted.message()
    }

    /// The receipt of what is paid for it: surely known once it is at its end.
    pub fn receipt(&self) -> &PaymentReceipt {
        &self.receipt
    }

    /// The guardrails against which everything is held that the server says, before the caller sees it.
    pub fn reply_guards(&self) -> Option<&Arc<ReplyGuards>> {
        self.guards.as_ref()
    }

    /// The server hears of it now: what the call was let through by is used.
    pub fn begin(&mut self) {
        if let Some(mark) = &mut self.mark {
            mark.begin();
        }
    }

    /// Its place among what is under way is for others: what answers the call takes one of its own.
    pub fn give_back_place(&mut self) {
        self.slot = None;
    }

    /// The server turned the call away and did nothing: what it was let through by is not used.
    pub fn take_back(&mut self) {
        if let Some(mark) = &mut self.mark {
            mark.take_back();
        }
    }

    /// The server answered, and says that it could not do what it was asked: that is told, and not charged for.
    pub fn fail(&mut self) {
        if let Some(mark) = &mut self.mark {
            mark.fail();
        }
    }

    /// The call has come to its end, and is charged for where that is an answer. Gives the ending that is to be told:
    /// another one where the payment was refused. What let a call through of which the server never heard may be used
    /// again.
    pub fn end(mut self, ending: Ending) -> BoxFuture<'static, Ending> {
        Box::pin(async move {
            let ending = match self.mark.take() {
                Some(mark) => mark.ended(ending).await,
                None => ending,
            };
            if let Some(end) = self.end.take() {
                end.count(&ending);
            }
            ending
        })
    }
}

impl ForwardEnd {
    fn count(&self, ending: &Ending) {
        let metrics = &self.tasks.metrics;
        metrics.ended(&self.server, self.via, ending.code());
        metrics.activity.failed(&self.server, self.via, ending, self.tasks.clock.now());
    }
}

impl Drop for ForwardPermit {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            end.count(&Ending::Canceled);
        }
    }
}
