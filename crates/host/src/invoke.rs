//! The second verb: a call of an endpoint with a contract.

use std::sync::Arc;

use forecourt_contract::call::{CallTrail, Identity};
use forecourt_contract::{
    Call, CallAnswer, CallOutcome, CallTarget, Caller, DispatchedCall, Dispatcher, Method, Refusal, RoutedCall, Tier,
    reserved,
};
use forecourt_core::limits::HOPS_MAX;
use forecourt_core::{
    Authority, Error, LifecycleState, MaybeBoxed, PolicyPart, Sender, Transport, at_once, in_place, in_time,
};
use forecourt_telemetry::spans;
use futures::future::BoxFuture;
use serde_json::Value;
use tracing::{Instrument, Span};

use crate::host::Host;
use crate::in_flight::{Lane, Slot};
use crate::metrics::GaugeGuard;

/// The outcome of [`Host::invoke`].
#[derive(Debug)]
pub enum InvokeOutcome<A = Value> {
    /// It was held against the contract of its endpoint.
    Answered(Box<CallOutcome<A>>),
    /// The host's own rules refused it before.
    Refused(Box<PolicyPart>),
}

/// How far a call came within the host.
#[expect(clippy::large_enum_variant, reason = "a box would be one allocation more for each call")]
enum InvokedCall {
    Refused(Box<PolicyPart>),
    /// To its end, at an endpoint or before.
    Ended(CallOutcome),
    /// Past every check, to whoever answers what is the host's own.
    Native(Box<NativeCall>),
}

/// A call that its protocol is about to answer.
struct NativeCall {
    call: Call,
    target: CallTarget,
    trail: CallTrail,
    /// None for what becomes a message, which is counted and bounded as that.
    under_way: Option<CallUnderWay>,
}

/// What a call holds while it is under way.
struct CallUnderWay {
    span: Span,
    _slot: Slot,
    _running: GaugeGuard,
}

impl Host {
    /// Carries a call to its endpoint and the result back. The same for every protocol: limits first,
    /// then the checks of [`Dispatcher::dispatch`], in their order.
    ///
    /// What an endpoint or its contract refuses is an outcome; an [`Error`] is a fault.
    pub fn invoke(&self, call: Call, via: Transport) -> BoxFuture<'_, Result<InvokeOutcome, Error>> {
        in_place(|| async move {
            let aimed = self.contract.aim(&call);
            match self.carry_call(call, aimed, via).await? {
                InvokedCall::Refused(part) => Ok(InvokeOutcome::Refused(part)),
                InvokedCall::Ended(outcome) => Ok(InvokeOutcome::Answered(Box::new(outcome))),
                InvokedCall::Native(native) => {
                    let answer = |call, target| self.contract.native(call, target);
                    Ok(InvokeOutcome::Answered(Box::new(native.answered_by(answer).await)))
                }
            }
        })
    }

    /// The same of a call that was aimed, for the protocol whose methods `native` answers: they pass the same
    /// checks as endpoints do, and none of them is answered while the host drains. Those that become messages
    /// are counted and bounded as messages are.
    pub async fn invoke_to<N, W>(
        &self,
        call: Call,
        aimed: RoutedCall,
        via: Transport,
        native: impl FnOnce(Call, CallTarget) -> W,
    ) -> Result<InvokeOutcome<CallAnswer<N>>, Error>
    where
        W: Future<Output = Result<N, Refusal>>,
    {
        let CallOutcome { answer, trail } = match self.carry_call_boxed(call, aimed, via).await? {
            InvokedCall::Refused(part) => return Ok(InvokeOutcome::Refused(part)),
            InvokedCall::Ended(CallOutcome { answer, trail }) => {
                CallOutcome { answer: answer.map(CallAnswer::Endpoint), trail }
            }
            InvokedCall::Native(passed) => {
                let CallOutcome { answer, trail } = passed.answered_by(native).await;
                CallOutcome { answer: answer.map(CallAnswer::Native), trail }
            }
        };
        Ok(InvokeOutcome::Answered(Box::new(CallOutcome { answer, trail })))
    }

    /// For those who are compiled elsewhere: they poll this, and have none of it in their own crates.
    fn carry_call_boxed(
        &self,
        call: Call,
        aimed: RoutedCall,
        via: Transport,
    ) -> BoxFuture<'_, Result<InvokedCall, Error>> {
        in_place(|| self.carry_call(call, aimed, via))
    }

    async fn carry_call(&self, call: Call, aimed: RoutedCall, via: Transport) -> Result<InvokedCall, Error> {
        self.tasks.accepting()?;
        if call.depth >= HOPS_MAX {
            return Err(Error::invalid("hops", format!("at most {HOPS_MAX} calls may lead to each other in a row")));
        }
        let own = aimed.target.as_ref().ok().filter(|target| target.tier == Tier::Native);
        // What becomes a message is counted, bounded and traced by `receive`: here it would take a second place.
        let is_message = own.is_some_and(|target| reserved::is_message(&target.method, target.path.as_str()));
        if is_message {
            let CallOutcome { answer, trail } = self.contract.dispatch_to(call, aimed).await;
            return Ok(InvokedCall::of(answer, trail, None));
        }
        let is_native = own.is_some();
        let session = call.thread.session_id.as_deref();
        if let Err(refusal) =
            self.throttle.admit_call(call.caller.sender.peer, call.caller.agent_id.as_deref(), session)
        {
            return Ok(InvokedCall::Refused(refusal));
        }
        // Without the session: its caller makes the name up, and each new one would have places of its own.
        let caller = self.tasks.in_flight.slots(&call.caller.sender.caller(None));
        let slot = match self.tasks.in_flight.acquire(Lane::Reply, caller).await {
            Ok(slot) => slot,
            Err(refusal) => return Ok(InvokedCall::Refused(refusal)),
        };
        let under_way = CallUnderWay { span: spans::invoke(via), _slot: slot, _running: self.metrics.count_running() };
        let dispatched = self.contract.dispatch_to(call, aimed).instrument(under_way.span.clone()).await;
        let CallOutcome { answer, trail } = dispatched;
        if !is_native {
            self.metrics.called(&trail, answer.as_ref().err(), via);
        }
        // A native call is only about to be answered: `answered_by` notes what came of it.
        if !matches!(answer, Ok(DispatchedCall::Native(..))) {
            under_way.note(&trail, answer.as_ref().err());
        }
        Ok(InvokedCall::of(answer, trail, Some(under_way)))
    }

    /// The endpoints, and what calls of them are held against.
    pub fn contract(&self) -> &Arc<Dispatcher> {
        &self.contract
    }
}

impl InvokedCall {
    fn of(answer: Result<DispatchedCall, Refusal>, trail: CallTrail, under_way: Option<CallUnderWay>) -> Self {
        match answer {
            Ok(DispatchedCall::Native(call, target)) => {
                Self::Native(Box::new(NativeCall { call, target, trail, under_way }))
            }
            Ok(DispatchedCall::Answered(value)) => Self::Ended(CallOutcome { answer: Ok(value), trail }),
            Err(refusal) => Self::Ended(CallOutcome { answer: Err(refusal), trail }),
        }
    }
}

impl NativeCall {
    async fn answered_by<N, W>(self, native: impl FnOnce(Call, CallTarget) -> W) -> CallOutcome<N>
    where
        W: Future<Output = Result<N, Refusal>>,
    {
        let Self { call, target, trail, under_way } = self;
        let Some(under_way) = under_way else { return CallOutcome { answer: native(call, target).await, trail } };
        let answer = native(call, target).instrument(under_way.span.clone()).await;
        under_way.note(&trail, answer.as_ref().err());
        CallOutcome { answer, trail }
    }
}

impl CallUnderWay {
    /// Has what became of the call in its span, and what the operator should know of it in the log.
    fn note(&self, trail: &CallTrail, refusal: Option<&Refusal>) {
        let is_broken = matches!(refusal, Some(Refusal::Broken { .. }));
        spans::record_outcome(&self.span, refusal.map_or("answered", Refusal::kind), is_broken);
        if let Some(endpoint) = trail.endpoint.as_ref().filter(|_| !self.span.is_disabled()) {
            // As its file has it: the path that was called may hold an id.
            spans::record_endpoint(&self.span, &format!("{} {}", endpoint.method, endpoint.path));
        }
        if let Some(refusal) = refusal {
            note(trail, refusal);
        }
    }
}

/// What only the operator learns of a call. A promise that was broken is a fault of the endpoint; one that
/// is full or slow is not, but worth a look.
fn note(trail: &CallTrail, refusal: &Refusal) {
    let (method, path) = (&trail.method, &trail.path);
    let (method, path) = (method.as_ref().map(Method::as_str), path.as_deref());
    match refusal {
        Refusal::Broken { kind, cause, .. } => {
            tracing::error!(method, path, ?kind, cause, "an endpoint broke its promise");
        }
        Refusal::Busy { cause, .. } => tracing::warn!(method, path, cause, "an endpoint is too busy for a call"),
        Refusal::Late { cause, .. } => tracing::warn!(method, path, cause, "an endpoint did not end in its time"),
        _ => {}
    }
}

/// Callers of protocols in which agents have no names of their own.
impl Host {
    /// The caller that a sender is: whoever proved who it is, with what its proof grants, claiming all of it, and
    /// as an agent of this host where it stands. Who proved nothing holds nothing. Fails when it can't be told
    /// where the agent stands.
    pub fn caller(&self, mut sender: Sender) -> MaybeBoxed<'_, Result<Caller, Error>> {
        if !sender.verified || sender.identities.is_empty() {
            sender.authority = Authority::default();
            return at_once(Ok(Caller { sender: Arc::new(sender), ..Caller::default() }));
        }
        in_time(|| self.proven_caller(sender))
    }

    async fn proven_caller(&self, mut sender: Sender) -> Result<Caller, Error> {
        let standing = match &sender.agent {
            Some(agent) => self.lifecycle.state(agent).await?,
            None => LifecycleState::Active,
        };
        sender.authority = std::mem::take(&mut sender.authority).claiming_all();
        Ok(Caller {
            agent_id: Some(sender.identities[0].subject.clone()),
            identity: Identity::Recognised,
            standing,
            is_proven: true,
            sender: Arc::new(sender),
            ..Caller::default()
        })
    }
}
