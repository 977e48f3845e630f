//! Who may have a contract, and what becomes of a call. Sections 10.1, 10.3 and 10.8.

mod attempts;
mod event;
mod gate;
mod lifecycle;
mod memory;
mod outcome;
mod pending;
mod present;
mod propose;
mod rates;
mod serve;
mod source;
mod turns;

use std::sync::Arc;

use forecourt_contract::call::{ConnectionId, Thread};
use forecourt_contract::negotiation::{ContractRequest, NegotiationOrigin, ServingContract};
use forecourt_contract::{Caller, ContractRefusal, Dispatcher, HostHandle, Negotiation};
use forecourt_core::{Clock, Entropy};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use moka::sync::Cache;
use parking_lot::Mutex;
use serde_json::{Map, Value};

pub use attempts::RcnsAttempt;
pub use event::{ContractEvent, ContractEvents, ReleaseReason};
pub use memory::NegotiationMemory;
pub use outcome::{
    ContractActor, NegotiationError, PersistentContracts, ProposeOutcome, SweepDisposition, SweptContract,
};
use serve::CompiledPlan;
pub use source::{PlannedSynthesis, SynthesisContext, SynthesisSource};

use crate::contracts::{Contract, ContractHolder, ContractRecord, Contracts, StoreAway};
use crate::limits::{COMPILED_PLANS_MAX, DEFINITIONS_READ_AT_ONCE};
use crate::settings::{OnPolicyChange, RcnsSettings, SynthesisSettings};

/// What a negotiator is made of.
#[derive(Clone)]
pub struct NegotiatorParts {
    /// The contracts, which outlive it.
    pub contracts: Arc<Contracts>,
    /// What is remembered besides, which outlives it too.
    pub memory: Arc<NegotiationMemory>,
    /// The host, whose endpoints and recipes plans are made of.
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
    /// The clock by which contracts are issued and expire.
    pub clock: Arc<dyn Clock>,
    /// The source of `synthesis_id`s and of ids of attempts.
    pub entropy: Arc<dyn Entropy>,
    /// Where events of contracts go: to the lifecycle stream of their agents.
    pub events: Arc<dyn ContractEvents>,
}

/// What makes contracts and serves calls under them, for one state of the deployment.
pub struct Negotiator {
    parts: NegotiatorParts,
    source: Arc<dyn SynthesisSource>,
    /// Plans that are ready to run, by their hash and how they came about.
    compiled: Cache<(Arc<str>, NegotiationOrigin), CompiledPlan>,
    /// The persistent contracts as they were asked for last, with how many were.
    persistent: Mutex<Option<(usize, PersistentContracts)>>,
}

impl Negotiator {
    /// A negotiator that plans from recipes and registered endpoints.
    pub fn new(parts: NegotiatorParts) -> Arc<Negotiator> {
        Negotiator::with_source(parts, Arc::new(PlannedSynthesis))
    }

    /// One of these parts that takes endpoints from `source`.
    pub fn with_source(parts: NegotiatorParts, source: Arc<dyn SynthesisSource>) -> Arc<Negotiator> {
        let compiled = Cache::new(COMPILED_PLANS_MAX);
        Arc::new(Negotiator { parts, source, compiled, persistent: Mutex::default() })
    }

    /// Answers PROPOSE, of a caller that is recognised and in service. Sections 10.3 to 10.8.
    ///
    /// # Errors
    /// The caller has no name, a bound is met, or the store is away. Nothing was made.
    pub fn propose<'a>(
        self: &'a Arc<Self>,
        parameters: &'a Map<String, Value>,
        caller: &'a Caller,
        thread: &'a Thread,
    ) -> BoxFuture<'a, Result<ProposeOutcome, NegotiationError>> {
        Box::pin(async move { self.answer_proposal(parameters, caller, thread).await })
    }

    /// What became of a proposal that is, or was, looked at later: [`ProposeOutcome::Pending`] until it is decided.
    /// `None`: there is none of that name, or it is another caller's.
    pub fn proposal(&self, proposal_id: &str, caller: &Caller) -> Option<ProposeOutcome> {
        let holder = ContractHolder::of(caller)?;
        self.parts.memory.proposals.get(&holder, proposal_id, self.parts.clock.now())
    }

    /// Gives back a contract that its holder no longer needs. Section 10.1.4.
    ///
    /// # Errors
    /// [`ContractRefusal::Unknown`], `contract-not-yours`, `contract-revoked` for one that has ended otherwise, and
    /// [`ContractRefusal::Unavailable`].
    pub fn release<'a>(
        &'a self,
        synthesis_id: &'a str,
        caller: &'a Caller,
        reason: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Arc<ContractRecord>, ContractRefusal>> {
        Box::pin(async move { self.release_own(synthesis_id, caller, reason).await })
    }

    /// Revokes a contract, of which its holder or an operator may be the one who asks. Once this has come back no
    /// call is served under it that begins then, in any process on the same store. Section 10.1.4.
    ///
    /// # Errors
    /// [`ContractRefusal::Unknown`], `contract-not-yours`, `contract-revoked` for one that has ended already, and
    /// [`ContractRefusal::Unavailable`].
    pub fn revoke<'a>(
        &'a self,
        synthesis_id: &'a str,
        actor: ContractActor<'a>,
        reason: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Arc<ContractRecord>, ContractRefusal>> {
        Box::pin(async move { self.revoke_by(synthesis_id, actor, reason).await })
    }

    /// Compares all contracts in force with the recipes as they are now: those of an operator who changed some.
    /// `mode`: what becomes of contracts of another edition; the operator's setting when left out.
    /// Section 10.1.4.1.
    ///
    /// # Errors
    /// The store is away. What was evicted until then stays evicted.
    pub fn sweep<'a>(
        &'a self,
        mode: Option<OnPolicyChange>,
        actor: &'a str,
    ) -> BoxFuture<'a, Result<Vec<SweptContract>, NegotiationError>> {
        Box::pin(async move { self.sweep_stale(mode, actor).await })
    }

    /// A contract by its name, ended ones too while they are remembered. Whoever shows it asks first whether it is
    /// for its holder. `None`: nobody knows it.
    ///
    /// # Errors
    /// The store is away.
    pub fn contract<'a>(&'a self, synthesis_id: &'a str) -> BoxFuture<'a, Result<Option<Contract>, NegotiationError>> {
        Box::pin(async move {
            self.parts.contracts.catch_up().await?;
            match self.parts.contracts.get(synthesis_id) {
                Some(record) => Ok(self.parts.contracts.whole(record).await?),
                None => Ok(None),
            }
        })
    }

    /// At most `limit` contracts in force, the oldest first: those of one holder, or of all. `after` is the
    /// [`ContractRecord::number`] of the last one of the page before, 0 for the first page.
    ///
    /// # Errors
    /// The store is away.
    pub fn list<'a>(
        &'a self,
        holder: Option<&'a ContractHolder>,
        after: u64,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Contract>, NegotiationError>> {
        Box::pin(async move {
            self.parts.contracts.catch_up().await?;
            self.whole(self.parts.contracts.page(holder, after, limit)).await
        })
    }

    /// A look at the gate that led to no contract, by the name that its caller was given. For its caller and
    /// operators alone, which is for whoever asks to see to. Section 10.1.
    pub fn attempt(&self, attempt_id: &str) -> Option<RcnsAttempt> {
        self.parts.memory.attempts.get(attempt_id, self.parts.clock.now())
    }

    /// Ends what was bound to a connection, which was closed. Section 10.8.
    pub fn end_connection<'a>(&'a self, connection: &'a ConnectionId) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            self.end_bound_to(connection).await;
        })
    }

    /// The persistent contracts in force, the oldest first, for the manifest: at most `limit`. Section 10.8.
    ///
    /// # Errors
    /// The store is away.
    pub fn persistent(&self, limit: usize) -> BoxFuture<'_, Result<PersistentContracts, NegotiationError>> {
        Box::pin(async move {
            self.parts.contracts.catch_up().await?;
            let (edition, records) = self.parts.contracts.persistent(limit);
            // The manifest asks for these with every request; they are read from the store only after the set has
            // changed.
            let known = self.persistent.lock().clone().filter(|(of, known)| *of == limit && known.edition == edition);
            if let Some((_, known)) = known {
                return Ok(known);
            }
            let contracts = PersistentContracts { edition, contracts: self.whole(records).await?.into() };
            *self.persistent.lock() = Some((limit, contracts.clone()));
            Ok(contracts)
        })
    }

    /// Begins to count anew what a session had refused, since its agent turned to somebody: ESCALATE. Section 10.3.
    pub fn escalated(&self, caller: &Caller, thread: &Thread) {
        if let Some(holder) = ContractHolder::of(caller) {
            self.parts.memory.turns.clear(&(holder, self.parts.contracts.scope_of(thread)));
        }
    }

    /// Contracts with their definitions, in the same order, but for those that were forgotten meanwhile.
    async fn whole(&self, records: Vec<Arc<ContractRecord>>) -> Result<Vec<Contract>, NegotiationError> {
        let read = stream::iter(records).map(|record| self.parts.contracts.whole(record));
        let contracts: Vec<Option<Contract>> = read.buffered(DEFINITIONS_READ_AT_ONCE).try_collect().await?;
        Ok(contracts.into_iter().flatten().collect())
    }

    /// The endpoints and recipes as they are now.
    fn dispatcher(&self) -> Result<Arc<Dispatcher>, ContractRefusal> {
        self.parts.host.dispatcher().ok_or(ContractRefusal::Unavailable)
    }
}

impl From<StoreAway> for NegotiationError {
    fn from(_: StoreAway) -> Self {
        Self::Unavailable
    }
}

/// What a call is told while the store is away.
fn unavailable(_: StoreAway) -> ContractRefusal {
    ContractRefusal::Unavailable
}

impl Negotiation for Negotiator {
    fn contract_for<'a>(
        &'a self,
        asked: ContractRequest<'a>,
    ) -> BoxFuture<'a, Result<Option<ServingContract>, ContractRefusal>> {
        self.contract_of(asked).boxed()
    }
}
