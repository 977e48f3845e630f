//! The second verb: a call of an endpoint with a contract.

use std::sync::Arc;

use forecourt_contract::call::Identity;
use forecourt_contract::{Call, Caller, Dispatcher, Method, Outcome, Refusal};
use forecourt_core::limits::HOPS_MAX;
use forecourt_core::{Error, PolicyPart, Sender, Transport};

use crate::authority::scopes;
use crate::in_flight::Lane;
use crate::receive::Host;

/// What came of a call that the host took.
#[derive(Debug)]
pub enum Invoked {
    /// It was held against the contract of its endpoint.
    Answered(Box<Outcome>),
    /// The host's own rules refused it before.
    Refused(Box<PolicyPart>),
}

impl Host {
    /// Carries a call to its endpoint and the result back. The same for every protocol: limits first,
    /// then the checks of [`Dispatcher::dispatch`], in their order.
    ///
    /// What an endpoint or its contract refuses is an outcome; an [`Error`] is a fault.
    pub async fn invoke(&self, call: Call, via: Transport) -> Result<Invoked, Error> {
        self.tasks.accepting()?;
        if call.depth >= HOPS_MAX {
            return Err(Error::invalid("hops", format!("at most {HOPS_MAX} calls may lead to each other in a row")));
        }
        let session = call.thread.session_id.as_deref();
        if let Err(refusal) =
            self.throttle.admit_call(call.caller.sender.peer, call.caller.agent_id.as_deref(), session)
        {
            return Ok(Invoked::Refused(refusal));
        }
        let caller = self.tasks.in_flight.key(&call.caller.sender, None);
        let _slot = match self.tasks.in_flight.acquire(Lane::Reply, caller).await {
            Ok(slot) => slot,
            Err(refusal) => return Ok(Invoked::Refused(refusal)),
        };
        let _running = self.metrics.count_running();
        let outcome = self.contract.dispatch(call).await;
        self.metrics.called(&outcome, via);
        note(&outcome);
        Ok(Invoked::Answered(Box::new(outcome)))
    }

    /// The endpoints, and what calls of them are held against.
    pub fn contract(&self) -> &Arc<Dispatcher> {
        &self.contract
    }
}

/// What only the operator learns of a call. A promise that was broken is a fault of the endpoint; one that
/// is full or slow is not, but worth a look.
fn note(outcome: &Outcome) {
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

/// The caller that a sender is, for protocols in which agents have no names of their own: whoever
/// proved who it is, with the scopes that its proof grants, within [`Sender::authority`].
pub fn caller(sender: Sender) -> Caller {
    if !sender.verified || sender.identities.is_empty() {
        return Caller { sender: Arc::new(sender), ..Caller::default() };
    }
    Caller {
        agent_id: Some(sender.identities[0].subject.clone()),
        identity: Identity::Recognised,
        declared: scopes(&sender),
        is_proven: true,
        sender: Arc::new(sender),
        ..Caller::default()
    }
}
