//! What is done to contracts besides calling them: looked at, released, revoked, swept. AGTP-API 10.1.4; base 3.3,
//! 3.4.

use forecourt_agtp_wire::status::Status;
use forecourt_synthesis::contracts::{ContractHolder, ContractRecord};
use forecourt_synthesis::negotiator::{ContractActor, Negotiator, SweptContract};
use forecourt_synthesis::settings::OnPolicyChange;
use serde_json::{Value, json};

use super::call::{MethodCall, not_kept};
use crate::discovery::Discovery;
use crate::inventory::describe_contract;
use crate::problem::{contract_not_ended, not_yours};
use crate::reply::{Problem, Reply};

/// The words for what a sweep does. AGTP-API 10.1.4.1.
const MODES: [&str; 2] = ["grandfather", "invalidate"];

/// The contracts that were made here, for who holds them and for operators.
#[derive(Clone, Copy)]
pub(super) struct CallerContracts<'a> {
    pub call: MethodCall<'a>,
    pub negotiator: &'a Negotiator,
    pub discovery: &'a Discovery,
    /// What a sweep does unless told otherwise.
    pub on_policy_change: OnPolicyChange,
}

impl CallerContracts<'_> {
    /// INSPECT of a contract, for its holder and for operators.
    pub(super) async fn inspect(&self) -> Result<Reply, Problem> {
        let id = self.call.given.named("synthesis_id")?;
        self.call.agent_id()?;
        let found = self.negotiator.contract(id).await?;
        let contract = found.ok_or_else(|| not_kept("contract-not-found", "synthesis_id", id))?;
        self.require_holder(&contract.record.holder)?;
        Ok(self.call.inspection("contract", describe_contract(&contract)))
    }

    /// INSPECT of a look at the gate that led to no contract, for whoever called and for operators.
    pub(super) fn inspect_attempt(&self) -> Result<Reply, Problem> {
        let id = self.call.given.named("attempt_id")?;
        self.call.agent_id()?;
        let attempt = self.negotiator.attempt(id);
        let attempt = attempt.ok_or_else(|| not_kept("rcns-attempt-not-found", "attempt_id", id))?;
        self.require_holder(&attempt.holder)?;
        let body = json!({
            "attempt_id": attempt.attempt_id,
            "agent_id": attempt.holder.agent_id,
            "method_attempted": attempt.method,
            "path_attempted": attempt.path,
            "reason": attempt.reason,
            "explanation": attempt.explanation,
            "details": attempt.details,
            "at": attempt.at,
        });
        Ok(self.call.inspection("rcns-attempt", body))
    }

    /// SUSPEND of a contract: its holder gives it back. AGTP-API 10.1.4.
    pub(super) async fn release(&self, id: &str) -> Result<Reply, Problem> {
        let reason = self.call.given.reason()?;
        let released = self.negotiator.release(id, self.call.caller, reason.as_deref()).await;
        let record = released.map_err(|refusal| contract_not_ended(id, &refusal))?;
        self.discovery.refresh().await;
        let mut body = self.describe_end(&record, "released");
        body["synthesis_cleared"] = true.into();
        Ok(Reply::ok(body))
    }

    /// REVOKE of one contract, or of those whose recipes were changed.
    pub(super) async fn revoke(&self) -> Result<Reply, Problem> {
        match self.call.given.text(&["target"])? {
            Some("contract") => self.revoke_one().await,
            Some("stale-contracts") => self.sweep().await,
            _ => Err(self
                .call
                .given
                .wrong(&["target"], "must be contract or stale-contracts; without it an agent is revoked")),
        }
    }

    /// An operator ends anybody's contract, everybody else their own.
    async fn revoke_one(&self) -> Result<Reply, Problem> {
        let id = self.call.given.required_text(&["synthesis_id"])?;
        let caller = self.call.agent_id()?;
        let reason = self.call.given.reason()?;
        let actor = self.call.given.name(&["actor"])?.unwrap_or(caller);
        let holder = ContractHolder::of(self.call.caller);
        let by = match (self.call.require_operator(), &holder) {
            (Err(_), Some(holder)) => ContractActor::Holder(holder),
            (Ok(()), _) => ContractActor::Operator(actor),
            (Err(refused), None) => return Err(refused),
        };
        let revoked = self.negotiator.revoke(id, by, reason.as_deref()).await;
        let record = revoked.map_err(|refusal| contract_not_ended(id, &refusal))?;
        self.discovery.refresh().await;
        let mut body = self.describe_end(&record, "revoked");
        body["target"] = "contract".into();
        Ok(Reply::ok(body))
    }

    /// Compares all contracts with the recipes as they are now. AGTP-API 10.1.4.1.
    async fn sweep(&self) -> Result<Reply, Problem> {
        self.call.require_operator()?;
        let caller = self.call.agent_id()?;
        let mode = self.call.given.one_of(&["mode"], &MODES);
        let mode = match mode.map_err(|problem| Problem { status: Status::BAD_REQUEST, ..problem })? {
            Some("grandfather") => OnPolicyChange::Grandfather,
            Some(_) => OnPolicyChange::Invalidate,
            None => self.on_policy_change,
        };
        let actor = self.call.given.name(&["actor"])?.unwrap_or(caller);
        let swept = self.negotiator.sweep(Some(mode), actor).await?;
        self.discovery.refresh().await;
        Ok(Reply::ok(json!({
            "method": self.call.method,
            "target": "stale-contracts",
            "mode": mode,
            "actor": actor,
            "examined": swept.len(),
            "records": swept.iter().map(swept_entry).collect::<Vec<_>>(),
        })))
    }

    fn describe_end(&self, record: &ContractRecord, status: &str) -> Value {
        let end = record.end();
        json!({
            "method": self.call.method,
            "synthesis_id": record.synthesis_id,
            "status": status,
            "ended_at": end.map(|end| end.at),
            "actor": end.and_then(|end| end.actor.as_deref()),
            "reason": end.and_then(|end| end.reason.as_deref()),
        })
    }

    /// Whether what belongs to a holder is for the caller to see.
    fn require_holder(&self, holder: &ContractHolder) -> Result<(), Problem> {
        let is_own = ContractHolder::of(self.call.caller).as_ref() == Some(holder);
        if is_own || self.call.require_operator().is_ok() { Ok(()) } else { Err(not_yours()) }
    }
}

fn swept_entry(swept: &SweptContract) -> Value {
    let record = &swept.contract;
    let lineage = record.lineage.as_ref();
    json!({
        "synthesis_id": record.synthesis_id,
        "method": record.method,
        "path": record.path.as_str(),
        "originating_agent_id": record.holder.agent_id,
        "recipe_name": lineage.map(|lineage| &lineage.recipe_name),
        "captured_version": lineage.map(|lineage| &lineage.recipe_version),
        "current_version": swept.current_version,
        "disposition": swept.disposition.word(),
    })
}
