//! The second verb: a call of an endpoint with a contract.

use forecourt_contract::{Call, Dispatcher, Outcome};
use forecourt_core::{Error, PolicyPart, Sender, Transport};
use std::sync::Arc;

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
    pub async fn invoke(&self, call: Call, from: &Sender, via: Transport) -> Result<Invoked, Error> {
        self.tasks.accepting()?;
        let session = call.thread.session_id.as_deref();
        if let Err(refusal) = self.throttle.admit_call(from.peer, call.caller.agent_id.as_deref(), session) {
            return Ok(Invoked::Refused(refusal));
        }
        let _permit = self.tasks.reply_permit()?;
        let _running = self.metrics.count_running();
        let outcome = self.contract.dispatch(call).await;
        self.metrics.called(&outcome, via);
        Ok(Invoked::Answered(Box::new(outcome)))
    }

    /// The endpoints, and what calls of them are held against.
    pub fn contract(&self) -> &Arc<Dispatcher> {
        &self.contract
    }
}
