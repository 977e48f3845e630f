//! PROPOSE: from its parameters to a contract. Sections 10.3 to 10.8.

use std::sync::Arc;
use std::time::Duration;

use forecourt_contract::call::Thread;
use forecourt_contract::negotiation::NegotiationOrigin;
use forecourt_contract::{Caller, Dispatcher};
use forecourt_core::{Timestamp, ids};
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::event::ContractEvent;
use super::outcome::{NegotiationError, ProposeOutcome};
use super::source::SynthesisContext;
use super::{Negotiator, NegotiatorParts};
use crate::contracts::{ContractDraft, ContractHolder, ContractScope, MakeError};
use crate::limits::CAPACITY_RETRY_AFTER;
use crate::proposal::{Proposal, ProposalRefusal, RejectionReason};
use crate::synthesis::Synthesis;

/// A proposal with whom it is from.
pub(super) struct ProposalTask {
    proposal: Proposal,
    holder: ContractHolder,
    /// What a contract for the session would be bound to.
    session: ContractScope,
    caller: Caller,
}

/// For whom and how long a contract is made.
struct Terms {
    scope: ContractScope,
    is_persistent: bool,
    lasts: Duration,
}

impl Negotiator {
    pub(super) async fn answer_proposal(
        self: &Arc<Self>,
        parameters: &Map<String, Value>,
        caller: &Caller,
        thread: &Thread,
    ) -> Result<ProposeOutcome, NegotiationError> {
        if !self.parts.is_synthesis_enabled {
            let explanation = "endpoints are not made here while serving";
            return Ok(rejected(RejectionReason::SynthesisDisabled, explanation));
        }
        let holder = ContractHolder::of(caller).ok_or(NegotiationError::Unnamed)?;
        let session = self.parts.contracts.scope_of(thread);
        let turns = self.parts.memory.turns.count(&(holder.clone(), session.clone()), self.parts.clock.now());
        // Before the proposal is read: an agent that must ESCALATE (10.3) costs nothing more until it does.
        if turns >= self.parts.synthesis.turns_max.get() {
            return Ok(ProposeOutcome::Escalate { turns });
        }
        let proposal = match self.source.read(parameters) {
            Ok(proposal) => proposal,
            Err(refusal) => return Ok(ProposeOutcome::Refused(refusal)),
        };
        let task = ProposalTask { proposal, holder, session, caller: caller.clone() };
        // What no later look would change is said at once, also where proposals are looked at later.
        let dispatcher = self.dispatcher().map_err(|_| NegotiationError::Unavailable)?;
        if let Err(refusal) = self.source.grammar(&task.proposal, self.around(&dispatcher, &task)) {
            return Ok(ProposeOutcome::Refused(refusal));
        }
        match self.parts.synthesis.async_evaluation_enabled {
            true => self.decide_later(task),
            false => {
                let task = Arc::new(task);
                self.decide(&task, self.evaluated(&task).await?).await
            }
        }
    }

    /// Has a proposal looked at in a task of its own, for as long as it may take.
    fn decide_later(self: &Arc<Self>, task: ProposalTask) -> Result<ProposeOutcome, NegotiationError> {
        let NegotiatorParts { clock, entropy, synthesis, memory, .. } = &self.parts;
        let (proposal_id, now) = (ids::mint(entropy.as_ref()), clock.now());
        let within = Duration::from_secs(synthesis.max_evaluation_seconds.get());
        let until = now.checked_add(within).unwrap_or(Timestamp::MAX);
        let added = memory.proposals.add(&task.holder, &proposal_id, until, now);
        let bound = "proposals that are looked at or can be asked for";
        added.ok_or(NegotiationError::TooMany { bound, retry_after: CAPACITY_RETRY_AFTER })?;
        let (this, id) = (Arc::clone(self), proposal_id.clone());
        tokio::spawn(async move { this.decide_in(within, id, task).await });
        Ok(ProposeOutcome::Pending { proposal_id, until })
    }

    async fn decide_in(self: Arc<Self>, within: Duration, proposal_id: String, task: ProposalTask) {
        let task = Arc::new(task);
        let evaluated = timeout(within, self.evaluated(&task)).await;
        let outcome = match evaluated.unwrap_or_else(|_| Ok(Err(undecided()))) {
            Ok(evaluated) => self.decide(&task, evaluated).await,
            Err(error) => Err(error),
        };
        let proposals = &self.parts.memory.proposals;
        match outcome {
            Ok(outcome) => proposals.decide(&proposal_id, outcome, self.parts.clock.now()),
            Err(error) => {
                tracing::warn!(%error, "a proposal was not decided");
                proposals.remove(&proposal_id);
            }
        }
    }

    /// What a proposal comes to.
    async fn evaluated(
        self: &Arc<Self>,
        task: &Arc<ProposalTask>,
    ) -> Result<Result<Synthesis, ProposalRefusal>, NegotiationError> {
        let (this, looked_at) = (Arc::clone(self), Arc::clone(task));
        // A search through schemas computes without a pause; on a worker of the runtime it would hold up others' calls.
        let evaluated = tokio::task::spawn_blocking(move || this.evaluate(&looked_at)).await;
        // Else it broke.
        evaluated.unwrap_or_else(|_| Ok(Err(undecided())))
    }

    fn evaluate(&self, task: &ProposalTask) -> Result<Result<Synthesis, ProposalRefusal>, NegotiationError> {
        let dispatcher = self.dispatcher().map_err(|_| NegotiationError::Unavailable)?;
        let found = self.source.for_proposal(&task.proposal, self.around(&dispatcher, task));
        // Section 10.7: what a step needs and its caller does not hold is found here, and not by a call.
        Ok(found.and_then(|synthesis| {
            let missing = task.caller.authority().in_use().missing(synthesis.needs.scopes.iter());
            if missing.is_empty() { Ok(synthesis) } else { Err(ProposalRefusal::Scope { missing }) }
        }))
    }

    fn around<'a>(&'a self, dispatcher: &'a Dispatcher, task: &'a ProposalTask) -> SynthesisContext<'a> {
        let NegotiatorParts { synthesis, steps_max, .. } = &self.parts;
        SynthesisContext { dispatcher, settings: synthesis, steps_max: *steps_max, caller: &task.caller }
    }

    /// Makes a contract of what was found, and counts what was refused.
    async fn decide(
        &self,
        task: &ProposalTask,
        evaluated: Result<Synthesis, ProposalRefusal>,
    ) -> Result<ProposeOutcome, NegotiationError> {
        let outcome = match evaluated {
            Ok(synthesis) => self.approve(task, synthesis).await?,
            Err(refusal) => ProposeOutcome::Refused(refusal),
        };
        let (turns, key) = (&self.parts.memory.turns, (task.holder.clone(), task.session.clone()));
        match &outcome {
            ProposeOutcome::Approved { .. } => turns.clear(&key),
            // Only a rejection is a turn of the negotiation. A proposal that can't be read or lacks a scope is a
            // mistake in the call.
            ProposeOutcome::Refused(ProposalRefusal::Rejected { .. }) => turns.add(key, self.parts.clock.now()),
            ProposeOutcome::Refused(_) | ProposeOutcome::Escalate { .. } | ProposeOutcome::Pending { .. } => {}
        }
        Ok(outcome)
    }

    async fn approve(&self, task: &ProposalTask, synthesis: Synthesis) -> Result<ProposeOutcome, NegotiationError> {
        let mut log = synthesis.log.clone();
        let Terms { scope, is_persistent, lasts } = self.terms(task, &mut log);
        let draft = ContractDraft {
            holder: task.holder.clone(),
            scope,
            origin: NegotiationOrigin::Propose,
            is_persistent,
            synthesis: &synthesis,
            lasts,
            is_offer: false,
            // Each PROPOSE asks for terms of its own, so each that is approved is a contract of its own.
            may_be_known: false,
            account: task.caller.sender.account(),
        };
        match self.parts.contracts.make(draft, &self.parts.synthesis).await {
            Ok((contract, _)) => {
                self.parts.events.happened(ContractEvent::Accepted { contract: &contract.record }).await;
                Ok(ProposeOutcome::Approved { contract: Arc::new(contract), log })
            }
            Err(MakeError::Unfit(explanation)) => Ok(rejected(RejectionReason::PolicyRefused, &explanation)),
            Err(MakeError::Full(bound)) => Err(NegotiationError::TooMany { bound, retry_after: CAPACITY_RETRY_AFTER }),
            Err(MakeError::Away) => Err(NegotiationError::Unavailable),
        }
    }

    /// Section 10.8: what is asked for, within what the operator allows. Where that is less, the log says so.
    fn terms(&self, task: &ProposalTask, log: &mut Vec<String>) -> Terms {
        let (settings, asked) = (&self.parts.synthesis, &task.proposal);
        let is_persistent = asked.persistent && settings.persistent_max_seconds > 0;
        if asked.persistent && !is_persistent {
            log.push("It was made for the session: contracts that outlive one are not made here.".to_owned());
        }
        let (default, max) = match is_persistent {
            true => (settings.persistent_default_seconds.get(), settings.persistent_max_seconds),
            false => (settings.session_duration_seconds.get(), settings.session_duration_seconds.get()),
        };
        let wanted = asked.duration_seconds.unwrap_or(default.min(max));
        let seconds = wanted.clamp(1, max);
        if seconds < wanted {
            log.push(format!(
                "It lasts {seconds} seconds, the longest here, and not the {wanted} that were asked for."
            ));
        }
        let scope = if is_persistent { ContractScope::Agent } else { task.session.clone() };
        Terms { scope, is_persistent, lasts: Duration::from_secs(seconds) }
    }
}

/// It broke, or took too long.
fn undecided() -> ProposalRefusal {
    refusal(RejectionReason::PolicyRefused, "it could not be decided in the time it may take")
}

fn refusal(reason: RejectionReason, explanation: &str) -> ProposalRefusal {
    ProposalRefusal::Rejected { reason, explanation: explanation.to_owned(), counter_proposal: None }
}

fn rejected(reason: RejectionReason, explanation: &str) -> ProposeOutcome {
    ProposeOutcome::Refused(refusal(reason, explanation))
}
