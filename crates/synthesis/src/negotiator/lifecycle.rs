//! How contracts end before their time: released, revoked, swept, or with their connection. Sections 10.1.4,
//! 10.1.4.1 and 10.8.

use std::sync::Arc;

use forecourt_contract::call::ConnectionId;
use forecourt_contract::{Caller, ContractRefusal, RecipeBook};
use futures::{StreamExt, stream};

use super::event::{ContractEvent, ReleaseReason};
use super::outcome::{ContractActor, NegotiationError, SweepDisposition, SweptContract};
use super::present::{NoContract, not_yours, revoked};
use super::{Negotiator, unavailable};
use crate::contracts::{ContractEndKind, ContractHolder, ContractRecord};
use crate::limits::{ENDINGS_AT_ONCE, REASON_CHARS_MAX};
use crate::settings::OnPolicyChange;

impl Negotiator {
    pub(super) async fn release_own(
        &self,
        synthesis_id: &str,
        caller: &Caller,
        reason: Option<&str>,
    ) -> Result<Arc<ContractRecord>, ContractRefusal> {
        let holder = ContractHolder::of(caller).ok_or_else(|| refusal(not_yours()))?;
        let record = self.open_contract(synthesis_id, Some(&holder)).await?;
        let (actor, reason) = (Arc::clone(&holder.agent_id), reason.map(shortened));
        let ended = self.end(&record, ContractEndKind::Released, &actor, reason.as_deref()).await?;
        let reason = ReleaseReason::Caller(reason.as_deref());
        self.parts.events.happened(ContractEvent::Released { contract: &ended, reason, actor: &actor }).await;
        Ok(ended)
    }

    pub(super) async fn revoke_by(
        &self,
        synthesis_id: &str,
        actor: ContractActor<'_>,
        reason: Option<&str>,
    ) -> Result<Arc<ContractRecord>, ContractRefusal> {
        let (holder, actor) = match actor {
            ContractActor::Holder(holder) => (Some(holder), shortened(&holder.agent_id)),
            ContractActor::Operator(name) => (None, shortened(name)),
        };
        let record = self.open_contract(synthesis_id, holder).await?;
        let reason = reason.map(shortened);
        let ended = self.end(&record, ContractEndKind::Revoked, &actor, reason.as_deref()).await?;
        let event = ContractEvent::Revoked { contract: &ended, reason: reason.as_deref(), actor: Some(&actor) };
        self.parts.events.happened(event).await;
        Ok(ended)
    }

    /// A contract that has not ended: anybody's, or one of a holder.
    async fn open_contract(
        &self,
        synthesis_id: &str,
        holder: Option<&ContractHolder>,
    ) -> Result<Arc<ContractRecord>, ContractRefusal> {
        self.parts.contracts.catch_up().await.map_err(unavailable)?;
        let unknown = || ContractRefusal::Unknown { synthesis_id: synthesis_id.to_owned() };
        let record = self.parts.contracts.get(synthesis_id).ok_or_else(unknown)?;
        if holder.is_some_and(|holder| record.holder != *holder) {
            return Err(refusal(not_yours()));
        }
        if record.end().is_some() { Err(ended(&record)) } else { Ok(record) }
    }

    /// Ends a contract, unless somebody else was first.
    async fn end(
        &self,
        record: &ContractRecord,
        kind: ContractEndKind,
        actor: &str,
        reason: Option<&str>,
    ) -> Result<Arc<ContractRecord>, ContractRefusal> {
        let (record, is_ours) =
            self.parts.contracts.end(record, kind, Some(actor), reason).await.map_err(unavailable)?;
        match record {
            Some(record) if is_ours => Ok(record),
            Some(record) => Err(ended(&record)),
            None => Err(ContractRefusal::Unavailable),
        }
    }

    pub(super) async fn sweep_stale(
        &self,
        mode: Option<OnPolicyChange>,
        actor: &str,
    ) -> Result<Vec<SweptContract>, NegotiationError> {
        let mode = mode.unwrap_or(self.parts.rcns.on_policy_change);
        let dispatcher = self.dispatcher().map_err(|_| NegotiationError::Unavailable)?;
        self.parts.contracts.catch_up().await.map_err(|_| NegotiationError::Unavailable)?;
        let (actor, mut open) = (shortened(actor), self.parts.contracts.open());
        open.sort_by_key(|record| record.number);
        let examined = open.into_iter().filter_map(|record| examine(record, &dispatcher.recipes));
        // Many at once share commits of the store; in their order, so that the answer lists the oldest first.
        let swept = stream::iter(examined).map(|swept| self.dispose(swept, mode, &actor)).buffered(ENDINGS_AT_ONCE);
        let swept: Vec<_> = swept.collect().await;
        swept.into_iter().filter_map(Result::transpose).collect()
    }

    /// Does with a contract what the mode says. `None`: somebody else ended it meanwhile.
    async fn dispose(
        &self,
        swept: SweptContract,
        mode: OnPolicyChange,
        actor: &str,
    ) -> Result<Option<SweptContract>, NegotiationError> {
        if swept.disposition == SweepDisposition::Unchanged || mode == OnPolicyChange::Grandfather {
            return Ok(Some(swept));
        }
        let reason = ReleaseReason::PolicyChangeInvalidation;
        match self.end(&swept.contract, ContractEndKind::Swept, actor, Some(reason.text())).await {
            Ok(contract) => {
                self.parts.events.happened(ContractEvent::Released { contract: &contract, reason, actor }).await;
                Ok(Some(SweptContract { disposition: SweepDisposition::Evicted, ..swept }))
            }
            Err(ContractRefusal::Unavailable) => Err(NegotiationError::Unavailable),
            Err(_) => Ok(None),
        }
    }

    pub(super) async fn end_bound_to(&self, connection: &ConnectionId) {
        let bound = self.parts.contracts.bound_to(connection);
        let endings = stream::iter(bound).map(|record| async move {
            let ended = self.parts.contracts.end(&record, ContractEndKind::SessionOver, None, None).await;
            if ended.is_err() {
                // Nobody calls by that connection again; it takes its place until it expires.
                tracing::warn!(synthesis_id = &*record.synthesis_id, "that a contract ended was not written down");
            }
        });
        endings.buffer_unordered(ENDINGS_AT_ONCE).collect::<()>().await;
    }
}

/// Holds a contract against the recipe that it was made from. `None`: it was made from none.
fn examine(contract: Arc<ContractRecord>, recipes: &RecipeBook) -> Option<SweptContract> {
    // Section 10.1.4.1: contracts without a recipe are skipped, since there is no version to compare.
    let lineage = contract.lineage.as_ref()?;
    let current_version = recipes.get(&lineage.recipe_name).map(|recipe| recipe.version.clone());
    let disposition = match current_version.as_ref() == Some(&lineage.recipe_version) {
        true => SweepDisposition::Unchanged,
        false => SweepDisposition::Grandfathered,
    };
    Some(SweptContract { contract, disposition, current_version })
}

/// What whoever ends a contract is told when it has ended before.
fn ended(record: &ContractRecord) -> ContractRefusal {
    match record.end().map(|end| end.kind) {
        // Evicted by its holder or by a sweep, it is 404 from then on; a revoked or expired one is 464 (10.1.4,
        // 10.1.4.1).
        Some(ContractEndKind::Released | ContractEndKind::Swept) => {
            ContractRefusal::Unknown { synthesis_id: record.synthesis_id.to_string() }
        }
        _ => refusal(revoked(record, &record.holder)),
    }
}

/// A refusal that no call led to.
fn refusal(NoContract { reason, explanation, details }: NoContract) -> ContractRefusal {
    ContractRefusal::NoContract { reason, explanation, attempt_id: None, details }
}

fn shortened(text: &str) -> String {
    text.chars().take(REASON_CHARS_MAX).collect()
}
