//! The second verb: a call of an endpoint with a contract.

use std::sync::Arc;

use forecourt_contract::call::Identity;
use forecourt_contract::{
    Call, CallAnswer, CallOutcome, CallTarget, Caller, Dispatcher, Method, Refusal, RoutedCall, Tier, reserved,
};
use forecourt_core::limits::HOPS_MAX;
use forecourt_core::{Authority, Error, LifecycleState, PolicyPart, Sender, Transport};
use forecourt_telemetry::spans;
use serde_json::Value;
use tracing::Instrument;

use crate::in_flight::Lane;
use crate::receive::Host;

/// What came of a call that the host took.
#[derive(Debug)]
pub enum InvokeOutcome<A = Value> {
    /// It was held against the contract of its endpoint.
    Answered(Box<CallOutcome<A>>),
    /// The host's own rules refused it before.
    Refused(Box<PolicyPart>),
}

impl Host {
    /// Carries a call to its endpoint and the result back. The same for every protocol: limits first,
    /// then the checks of [`Dispatcher::dispatch`], in their order.
    ///
    /// What an endpoint or its contract refuses is an outcome; an [`Error`] is a fault.
    pub async fn invoke(&self, call: Call, via: Transport) -> Result<InvokeOutcome, Error> {
        let aimed = self.contract.aim(&call);
        let native = |call, target| self.contract.native(call, target);
        Ok(match self.invoke_to(call, aimed, via, native).await? {
            InvokeOutcome::Refused(part) => InvokeOutcome::Refused(part),
            InvokeOutcome::Answered(outcome) => {
                let CallOutcome { answer, trail } = *outcome;
                let answer = answer.map(|answer| match answer {
                    CallAnswer::Endpoint(value) | CallAnswer::Native(value) => value,
                });
                InvokeOutcome::Answered(Box::new(CallOutcome { answer, trail }))
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
        self.tasks.accepting()?;
        if call.depth >= HOPS_MAX {
            return Err(Error::invalid("hops", format!("at most {HOPS_MAX} calls may lead to each other in a row")));
        }
        let own = aimed.target.as_ref().ok().filter(|target| target.tier == Tier::Native);
        let is_message = own.is_some_and(|target| reserved::is_message(&target.method, target.path.as_str()));
        let is_native = own.is_some();
        if is_message {
            return Ok(InvokeOutcome::Answered(Box::new(self.contract.dispatch_to(call, aimed, native).await)));
        }
        let session = call.thread.session_id.as_deref();
        if let Err(refusal) =
            self.throttle.admit_call(call.caller.sender.peer, call.caller.agent_id.as_deref(), session)
        {
            return Ok(InvokeOutcome::Refused(refusal));
        }
        let caller = self.tasks.in_flight.key(&call.caller.sender, None);
        let _slot = match self.tasks.in_flight.acquire(Lane::Reply, caller).await {
            Ok(slot) => slot,
            Err(refusal) => return Ok(InvokeOutcome::Refused(refusal)),
        };
        let _running = self.metrics.count_running();
        let span = spans::invoke(via);
        let outcome = self.contract.dispatch_to(call, aimed, native).instrument(span.clone()).await;
        let became = outcome.answer.as_ref().map_or_else(Refusal::kind, |_| "answered");
        spans::record_outcome(&span, became, matches!(outcome.answer, Err(Refusal::Broken { .. })));
        if let Some(endpoint) = outcome.trail.endpoint.as_ref().filter(|_| !span.is_disabled()) {
            // As its file has it: the path that was called may hold an id.
            spans::record_endpoint(&span, &format!("{} {}", endpoint.method, endpoint.path));
        }
        if !is_native {
            self.metrics.called(&outcome, via);
        }
        note(&outcome);
        Ok(InvokeOutcome::Answered(Box::new(outcome)))
    }

    /// The endpoints, and what calls of them are held against.
    pub fn contract(&self) -> &Arc<Dispatcher> {
        &self.contract
    }
}

/// What only the operator learns of a call. A promise that was broken is a fault of the endpoint; one that
/// is full or slow is not, but worth a look.
fn note<A>(outcome: &CallOutcome<A>) {
    let Err(refusal) = &outcome.answer else { return };
    let (method, path) = (&outcome.trail.method, &outcome.trail.path);
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
    pub async fn caller(&self, mut sender: Sender) -> Result<Caller, Error> {
        if !sender.verified || sender.identities.is_empty() {
            sender.authority = Authority::default();
            return Ok(Caller { sender: Arc::new(sender), ..Caller::default() });
        }
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
