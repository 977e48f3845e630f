//! Contracts, as lists and those who ask for one see them, and the persistent ones, which stand among the
//! endpoints. AGTP-API 5.8.7, 10.8.

use std::collections::BTreeSet;

use forecourt_contract::{Method, Tier};
use forecourt_synthesis::contracts::{Contract, ContractRecord, ContractScope, ContractState};
use forecourt_synthesis::negotiator::PersistentContracts;
use serde_json::{Value, json};

use super::Inventory;
use super::endpoints::MethodEntry;
use crate::limits::MANIFEST_CONTRACTS_MAX;

/// One line of a list of contracts.
pub(crate) fn contract_entry(record: &ContractRecord) -> Value {
    json!({
        "synthesis_id": record.synthesis_id,
        "method": record.method,
        "path": record.path.as_str(),
        "originating_agent_id": record.holder.agent_id,
        "recipe_lineage": record.lineage,
        "contract_hash": record.contract_hash,
        "negotiation_origin": record.origin,
        "issued_at": record.issued_at,
        "expires_at": record.expires_at,
        "persistent": record.is_persistent,
    })
}

/// A contract as INSPECT shows it. The method and the path stand apart from those of the call. Base 3.3.
pub(crate) fn describe_contract(contract: &Contract) -> Value {
    let record = &contract.record;
    let end = record.end();
    let entry = contract_entry(record);
    let mut body = json!({
        "contract": entry,
        "method_proposed": record.method,
        "path_proposed": record.path.as_str(),
        "bound_to": bound_to(&record.scope),
        "state": state(&record.state),
        "ended_at": end.map(|end| end.at),
        "ended_by": end.and_then(|end| end.actor.as_deref()),
        "end_reason": end.and_then(|end| end.reason.as_deref()),
        "endpoint": contract.endpoint,
        "plan": contract.plan_summary(),
        "plan_explanation": contract.explanation,
    });
    if let (Some(members), Value::Object(entry)) = (body.as_object_mut(), entry) {
        members.extend(entry.into_iter().filter(|(name, _)| !["method", "path"].contains(&name.as_str())));
    }
    body
}

fn bound_to(scope: &ContractScope) -> &'static str {
    match scope {
        ContractScope::Agent => "agent",
        ContractScope::Session(_) => "session",
        ContractScope::Connection { .. } => "connection",
    }
}

/// The word for where a contract stands: `offered`, `active`, or how it ended.
pub(crate) fn state(state: &ContractState) -> Value {
    match state {
        ContractState::Offered => "offered".into(),
        ContractState::Active => "active".into(),
        ContractState::Ended(end) => json!(end.kind),
    }
}

impl Inventory {
    /// The persistent contracts as they are now, for [`Inventory::negotiated`]. While the store is away: `None`.
    pub(crate) async fn persistent(&self) -> Option<PersistentContracts> {
        self.negotiator.persistent(MANIFEST_CONTRACTS_MAX).await.ok()
    }

    /// Those of the persistent contracts that stand among the endpoints: one for each pair, the oldest, and none
    /// where the operator has registered one since.
    pub(crate) fn negotiated<'a>(&'a self, persistent: &'a PersistentContracts) -> impl Iterator<Item = &'a Contract> {
        let policy = &self.contract().policy;
        let mut seen: BTreeSet<(&Method, &str)> =
            self.endpoints().map(|(_, endpoint)| (&endpoint.method, endpoint.path.as_str())).collect();
        persistent.contracts.iter().filter(move |contract| {
            let record = &contract.record;
            // The operator may have taken the method out since the contract was made.
            policy.admits(&record.method, &record.method) && seen.insert((&record.method, record.path.as_str()))
        })
    }

    /// The list of endpoints, with persistent contracts at its end. AGTP-API 5.8, 10.8.
    pub(crate) fn all_methods<'a>(&'a self, persistent: &'a PersistentContracts) -> Vec<MethodEntry<'a>> {
        let negotiated = self.negotiated(persistent).map(|contract| MethodEntry {
            method: &contract.record.method,
            path: contract.record.path.as_str(),
            description: contract.endpoint["description"].as_str().unwrap_or_default(),
            tier: Tier::Negotiated,
        });
        self.methods().into_iter().chain(negotiated).collect()
    }
}
