//! Who may have a contract, and what becomes of a call. Sections 10.1, 10.3 and 10.8.

mod attempts;
mod event;
mod outcome;

use std::sync::Arc;

use forecourt_contract::call::{ConnectionId, Thread};
use forecourt_contract::negotiation::{ContractRequest, ServingContract};
use forecourt_contract::{Caller, ContractRefusal, HostHandle, Negotiation};
use forecourt_core::{Clock, Entropy};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value};

pub use attempts::RcnsAttempt;
pub use event::{ContractEvent, ContractEvents, ReleaseReason};
pub use outcome::{
    ContractActor, NegotiationError, PersistentContracts, ProposeOutcome, SweepDisposition, SweptContract,
};

use crate::contracts::{Contract, ContractHolder, ContractRecord, Contracts};
use crate::settings::{OnPolicyChange, RcnsSettings, SynthesisSettings};

/// What a negotiator is made of.
#[derive(Clone)]
pub struct NegotiatorParts {
    /// The contracts, which outlive it.
    pub contracts: Arc<Contracts>,
    /// The way to the endpoints.
    pub host: HostHandle,
    /// How endpoints are made.
    pub synthesis: SynthesisSettings,
    /// Whether, and how, calls of what is not there lead to one.
    pub rcns: RcnsSettings,
    /// Whether endpoints are made at all: the switch over PROPOSE.
    pub is_synthesis_enabled: bool,
    /// Calls that a plan has at most.
    pub steps_max: usize,
    /// Whether only callers whose name is proven may negotiate by calling. Section 10.1.2.
    pub requires_proof: bool,
    /// What the time is.
    pub clock: Arc<dyn Clock>,
    /// Where names come from.
    pub entropy: Arc<dyn Entropy>,
    /// Who is told.
    pub events: Arc<dyn ContractEvents>,
}

/// What makes contracts and serves calls under them, for one state of the deployment.
pub struct Negotiator {
    _parts: NegotiatorParts,
}

impl Negotiator {
    /// One of these parts.
    pub fn new(parts: NegotiatorParts) -> Arc<Negotiator> {
        Arc::new(Negotiator { _parts: parts })
    }

    /// Answers PROPOSE, of a caller that is recognised and in service. Sections 10.3 to 10.8.
    ///
    /// # Errors
    /// The caller has no name, a bound is met, or the store is away. Nothing was made.
    pub async fn propose(
        &self,
        _parameters: &Map<String, Value>,
        _caller: &Caller,
        _thread: &Thread,
    ) -> Result<ProposeOutcome, NegotiationError> {
        unimplemented!()
    }

    /// What became of a proposal that is, or was, looked at later: [`ProposeOutcome::Pending`] until it is decided.
    /// `None`: there is none of that name, or it is another caller's.
    pub fn proposal(&self, _proposal_id: &str, _caller: &Caller) -> Option<ProposeOutcome> {
        unimplemented!()
    }

    /// Gives back a contract that its holder no longer needs. Section 10.1.4.
    ///
    /// # Errors
    /// [`ContractRefusal::Unknown`], `contract-not-yours`, `contract-revoked` for one that has ended otherwise, and
    /// [`ContractRefusal::Unavailable`].
    pub async fn release(
        &self,
        _synthesis_id: &str,
        _caller: &Caller,
        _reason: Option<&str>,
    ) -> Result<Arc<ContractRecord>, ContractRefusal> {
        unimplemented!()
    }

    /// Revokes a contract, of which its holder or an operator may be the one who asks. Once this has come back no
    /// call is served under it that begins then, in any process on the same store. Section 10.1.4.
    ///
    /// # Errors
    /// [`ContractRefusal::Unknown`], `contract-not-yours`, `contract-revoked` for one that has ended already, and
    /// [`ContractRefusal::Unavailable`].
    pub async fn revoke(
        &self,
        _synthesis_id: &str,
        _actor: ContractActor<'_>,
        _reason: Option<&str>,
    ) -> Result<Arc<ContractRecord>, ContractRefusal> {
        unimplemented!()
    }

    /// Compares all contracts in force with the recipes as they are now: those of an operator who changed some.
    /// `mode`: what becomes of contracts of another edition; the operator's setting when left out.
    /// Section 10.1.4.1.
    ///
    /// # Errors
    /// The store is away. What was evicted until then stays evicted.
    pub async fn sweep(
        &self,
        _mode: Option<OnPolicyChange>,
        _actor: &str,
    ) -> Result<Vec<SweptContract>, NegotiationError> {
        unimplemented!()
    }

    /// A contract by its name, ended ones too while they are remembered. Whoever shows it asks first whether it is
    /// for its holder. `None`: nobody knows it.
    ///
    /// # Errors
    /// The store is away.
    pub async fn contract(&self, _synthesis_id: &str) -> Result<Option<Contract>, NegotiationError> {
        unimplemented!()
    }

    /// At most `limit` contracts in force, the oldest first: those of one holder, or of all. `after` is the
    /// [`ContractRecord::number`] of the last one of the page before, 0 for the first page.
    ///
    /// # Errors
    /// The store is away.
    pub async fn list(
        &self,
        _holder: Option<&ContractHolder>,
        _after: u64,
        _limit: usize,
    ) -> Result<Vec<Contract>, NegotiationError> {
        unimplemented!()
    }

    /// A look at the gate that led to no contract, by the name that its caller was given. For its caller and
    /// operators alone, which is for whoever asks to see to. Section 10.1.
    pub fn attempt(&self, _attempt_id: &str) -> Option<RcnsAttempt> {
        unimplemented!()
    }

    /// Ends what was bound to a connection, which was closed. Section 10.8.
    pub async fn end_connection(&self, _connection: &ConnectionId) {
        unimplemented!()
    }

    /// The persistent contracts in force, the oldest first, for the manifest: at most `limit`. Section 10.8.
    ///
    /// # Errors
    /// The store is away.
    pub async fn persistent(&self, _limit: usize) -> Result<PersistentContracts, NegotiationError> {
        unimplemented!()
    }
}

impl Negotiation for Negotiator {
    fn contract_for<'a>(
        &'a self,
        _asked: ContractRequest<'a>,
    ) -> BoxFuture<'a, Result<Option<ServingContract>, ContractRefusal>> {
        async { Ok(None) }.boxed()
    }
}
