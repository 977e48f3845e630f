//! The gate: a call of what is not there that may lead to a contract. Sections 10.1.2 and 10.1.3.

use std::time::Duration;

use forecourt_contract::input::merge;
use forecourt_contract::negotiation::{ContractRequest, NegotiationOrigin, NoContractReason, ServingContract};
use forecourt_contract::{Call, Caller, ContractRefusal, Scope};
use forecourt_core::ids;
use serde_json::{Map, Value, json};

use super::attempts::RcnsAttempt;
use super::event::ContractEvent;
use super::present::{NoContract, not_yours};
use super::source::SynthesisContext;
use super::{Negotiator, unavailable};
use crate::contracts::{ContractDraft, ContractHolder, ContractScope, MakeError, values};
use crate::limits::CAPACITY_RETRY_AFTER;
use crate::proposal::{ProposalRefusal, RejectionReason};
use crate::settings::RcnsMode;
use crate::synthesis::Synthesis;

/// The scope without which nobody negotiates by calling. Section 10.1.2.
const NEGOTIATE: &str = "rcns:negotiate";
/// The bound on looks at the gate, as the key that sets it.
const RATE: &str = "policies.rcns.rate_limit_per_minute";

impl Negotiator {
    /// What a call is served under: the contract that it presents, one that its caller has, or one that is made
    /// for it where that is allowed.
    pub(super) async fn contract_of(
        &self,
        asked: ContractRequest<'_>,
    ) -> Result<Option<ServingContract>, ContractRefusal> {
        // No step of a plan leads to a contract, or runs of it would hold one another up.
        let holder = ContractHolder::of(&asked.call.caller).filter(|_| asked.call.depth == 0);
        let Some(holder) = holder else { return Ok(None) };
        // Before anything is looked up: a contract that any process revoked before this call must serve it no more.
        self.parts.contracts.catch_up().await.map_err(unavailable)?;
        // Section 10.1.2: whoever presents a contract skips the gate, so that no call under one leads to the next.
        if let Some(synthesis_id) = &asked.call.contract.presented {
            return self.present(synthesis_id, &holder, asked).await.map(Some);
        }
        let own = || self.parts.contracts.resolve(&holder, &asked.call.thread, asked.method, asked.path);
        // One that can't be kept any more is ended by that, and the next one is looked at.
        while let Some(record) = own() {
            if let Some(serving) = self.serve(&record, asked.path, false).await? {
                return Ok(Some(serving));
            }
        }
        // The second lock, silently: a caller that did not ask gets the usual 404 or 405 and learns nothing of RCNS.
        if !asked.may_be_new || !asked.call.contract.allows_new {
            return Ok(None);
        }
        self.pass_locks(&holder, asked)?;
        self.negotiate(holder, asked).await.map(Some)
    }

    /// The locks, in the order in which a caller learns of them; its own consent was looked at before.
    fn pass_locks(&self, holder: &ContractHolder, asked: ContractRequest<'_>) -> Result<(), ContractRefusal> {
        let (rcns, caller) = (&self.parts.rcns, &asked.call.caller);
        let closed = |reason, explanation: &str, details| {
            let explanation = explanation.to_owned();
            Err(self.no_contract(holder, asked, NoContract { reason, explanation, details }))
        };
        if !rcns.enabled || !self.parts.is_synthesis_enabled {
            return closed(NoContractReason::RcnsDisabled, "contracts are not made by calling here", Value::Null);
        }
        if let Some(missing) = lacks_scope(caller) {
            return Err(ContractRefusal::Scope { missing: vec![missing] });
        }
        // Tier 1 is the strictest, so a larger number is less trust; the draft's "greater than or equal" speaks of
        // trust.
        if caller.trust_tier.is_none_or(|tier| tier > rcns.min_trust_tier) {
            let details = json!({"required_trust_tier": rcns.min_trust_tier, "trust_tier": caller.trust_tier});
            let explanation = "contracts are made by calling for agents only that are vouched for better";
            return closed(NoContractReason::TrustTierInsufficient, explanation, details);
        }
        if self.parts.requires_proof && !caller.is_proven {
            let explanation = "contracts are made by calling for agents only whose name is proven: use its certificate";
            return closed(NoContractReason::IdentityUnverified, explanation, Value::Null);
        }
        let now = self.parts.clock.now();
        // Last of the locks: what is counted are evaluations (10.1.5), and a closed lock costs none.
        let looked = self.parts.memory.rates.count(holder, rcns.rate_limit_per_minute.get(), now);
        looked.map_err(|retry_after| ContractRefusal::TooMany { bound: RATE, retry_after })
    }

    /// Looks for what could serve the call, and makes a contract of it.
    async fn negotiate(
        &self,
        holder: ContractHolder,
        asked: ContractRequest<'_>,
    ) -> Result<ServingContract, ContractRefusal> {
        let synthesis = self.synthesis(&holder, asked)?;
        let is_offer = self.parts.rcns.mode == RcnsMode::ConfirmFirst;
        let draft = ContractDraft {
            holder: holder.clone(),
            scope: ContractScope::Agent,
            origin: NegotiationOrigin::RcnsGate,
            is_persistent: false,
            synthesis: &synthesis,
            lasts: Duration::from_secs(self.parts.rcns.contract_ttl_seconds.get()),
            is_offer,
            // A caller that repeats its call gets the offer that it was made, not one more for each attempt.
            may_be_known: true,
            account: asked.call.caller.sender.account(),
        };
        let made = self.parts.contracts.make(draft, &self.parts.synthesis).await;
        let (contract, is_new) = made.map_err(|error| self.not_made(&holder, asked, error))?;
        if is_offer {
            return Err(ContractRefusal::Available(Box::new(contract.preview())));
        }
        if is_new {
            self.parts.events.happened(ContractEvent::Accepted { contract: &contract.record }).await;
        }
        self.serve(&contract.record, asked.path, true).await?.ok_or(ContractRefusal::Unavailable)
    }

    fn synthesis(&self, holder: &ContractHolder, asked: ContractRequest<'_>) -> Result<Synthesis, ContractRefusal> {
        let dispatcher = self.dispatcher()?;
        let caller = &asked.call.caller;
        let around = SynthesisContext {
            dispatcher: &dispatcher,
            settings: &self.parts.synthesis,
            steps_max: self.parts.steps_max,
            caller,
        };
        let found = self.source.for_request((asked.method, asked.path), &input_of(asked.call), around);
        let synthesis = found.map_err(|refusal| self.not_found(holder, asked, refusal))?;
        // Once more, whatever the source is: no contract is made whose holder could not call it.
        let missing = caller.authority().in_use().missing(synthesis.needs.scopes.iter());
        if !missing.is_empty() {
            return Err(ContractRefusal::Scope { missing });
        }
        let endpoint = &synthesis.endpoint;
        if endpoint.method != *asked.method || values(&endpoint.path, asked.path).is_none() {
            let explanation = "what was put together is not what was called".to_owned();
            let reason = NoContractReason::SynthesisError;
            return Err(self.no_contract(holder, asked, NoContract { reason, explanation, details: Value::Null }));
        }
        Ok(synthesis)
    }

    /// Why nothing was found. Somebody else's contract for the pair is told of only here, to who asked for one.
    fn not_found(
        &self,
        holder: &ContractHolder,
        asked: ContractRequest<'_>,
        refusal: ProposalRefusal,
    ) -> ContractRefusal {
        let (reason, explanation, details) = match refusal {
            ProposalRefusal::Scope { missing } => return ContractRefusal::Scope { missing },
            ProposalRefusal::Rejected { reason: RejectionReason::SynthesisDisabled, explanation, .. } => {
                (NoContractReason::RcnsDisabled, explanation, Value::Null)
            }
            ProposalRefusal::Rejected { .. } if self.parts.contracts.is_anothers(holder, asked.method, asked.path) => {
                return self.no_contract(holder, asked, not_yours());
            }
            ProposalRefusal::Rejected { reason, explanation, counter_proposal } => {
                let details = json!({"reason": reason.word(), "counter_proposal": counter_proposal});
                (NoContractReason::CompositionImpossible, explanation, details)
            }
            ProposalRefusal::Grammar(refusal) => {
                (NoContractReason::CompositionImpossible, refusal.to_string(), Value::Null)
            }
            ProposalRefusal::Malformed { issue, field, message } => {
                (NoContractReason::SynthesisError, message, json!({"issue": issue, "field": field}))
            }
        };
        self.no_contract(holder, asked, NoContract { reason, explanation, details })
    }

    fn not_made(&self, holder: &ContractHolder, asked: ContractRequest<'_>, error: MakeError) -> ContractRefusal {
        match error {
            MakeError::Full(bound) => ContractRefusal::TooMany { bound, retry_after: CAPACITY_RETRY_AFTER },
            MakeError::Unfit(explanation) => {
                let reason = NoContractReason::SynthesisError;
                self.no_contract(holder, asked, NoContract { reason, explanation, details: Value::Null })
            }
            MakeError::Away => ContractRefusal::Unavailable,
        }
    }

    /// A refusal that can be asked about by the name that it has.
    pub(super) fn no_contract(
        &self,
        holder: &ContractHolder,
        asked: ContractRequest<'_>,
        why: NoContract,
    ) -> ContractRefusal {
        let NoContract { reason, explanation, details } = why;
        let attempt_id = ids::uuid7(self.parts.clock.now(), self.parts.entropy.as_ref());
        self.parts.memory.attempts.add(RcnsAttempt {
            attempt_id: attempt_id.clone(),
            holder: holder.clone(),
            method: asked.method.clone(),
            path: asked.path.as_str().to_owned(),
            reason,
            explanation: explanation.clone(),
            details: details.clone(),
            at: self.parts.clock.now(),
        });
        ContractRefusal::NoContract { reason, explanation, attempt_id: Some(attempt_id), details }
    }
}

/// What the call says, in its query and its body. A query that can't be read is for the endpoint to refuse.
fn input_of(call: &Call) -> Map<String, Value> {
    merge(None, call.query.as_deref(), &[], call.body.clone()).unwrap_or_else(|_| call.body.clone())
}

/// The scope for negotiating, unless the call claims it and its caller holds it. A call that claims nothing does
/// not carry it, whatever its caller holds.
fn lacks_scope(caller: &Caller) -> Option<Scope> {
    let needed = Scope::parse_required(NEGOTIATE).ok()?;
    let carries = caller.authority().claimed().is_some() && caller.authority().in_use().covers(&needed);
    (!carries).then_some(needed)
}
