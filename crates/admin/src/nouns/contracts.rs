//! Contracts that were made with single callers, and their ends.

use forecourt_contract::ContractRefusal;
use forecourt_core::Timestamp;
use forecourt_synthesis::contracts::ContractState;
use forecourt_synthesis::negotiator::{ContractActor, Negotiator};
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

use super::{ActionOutcome, Why};
use crate::access::Command;
use crate::account::{self, Came};
use crate::api_error::ApiError;
use crate::desk::{Ask, reason};

/// A page of contracts.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Contracts {
    /// Those in force, the oldest first.
    pub contracts: Vec<Contract>,
    /// What to give as `after` for the next page; none at the end.
    pub next: Option<u64>,
    /// Whether this deployment makes any.
    pub is_offered: bool,
}

/// A contract.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Contract {
    /// Its name.
    pub id: String,
    /// The Agent-ID of whose it is.
    pub holder: String,
    /// Whether that name was proven.
    pub is_proven: bool,
    /// What it is called by, such as `BOOK /rooms/{id}`.
    pub call: String,
    /// The calls that keep its promise.
    pub plan: Vec<String>,
    /// The same in words: each step, why it is there, what flows where, and what was looked at and not taken.
    pub explanation: Vec<String>,
    /// Where it stands.
    pub state: String,
    /// When it was made.
    #[schemars(with = "String")]
    pub issued_at: Timestamp,
    /// When it ends by itself.
    #[schemars(with = "String")]
    pub expires_at: Timestamp,
}

pub(crate) const QUERY: &[(&str, &str)] =
    &[("after", "What `next` of the page before was"), ("limit", "At most so many, up to 200")];

fn negotiator(ask: &Ask) -> Option<Arc<Negotiator>> {
    ask.house.services.get::<Negotiator>()
}

pub(crate) async fn list(ask: Ask) -> Result<Contracts, ApiError> {
    let Some(negotiator) = negotiator(&ask) else {
        return Ok(Contracts { contracts: Vec::new(), next: None, is_offered: false });
    };
    let limit = ask.limit()?;
    let away = |_| ApiError::unavailable("contracts can't be looked up at the moment");
    let found = negotiator.list(None, ask.number("after")?.unwrap_or_default(), limit).await.map_err(away)?;
    let next = found.last().filter(|_| found.len() == limit).map(|last| last.record.number);
    let seen = |contract: &forecourt_synthesis::contracts::Contract| {
        let record = &contract.record;
        Contract {
            id: record.synthesis_id.to_string(),
            holder: record.holder.agent_id.to_string(),
            is_proven: record.holder.is_proven,
            call: format!("{} {}", record.method, record.path.as_str()),
            plan: contract.plan_summary(),
            explanation: contract.explanation.lines(),
            state: match record.state {
                ContractState::Offered => "offered",
                ContractState::Active => "active",
                ContractState::Ended(_) => "ended",
            }
            .to_owned(),
            issued_at: record.issued_at,
            expires_at: record.expires_at,
        }
    };
    Ok(Contracts { contracts: found.iter().map(seen).collect(), next, is_offered: true })
}

pub(crate) async fn end(ask: Command) -> Result<ActionOutcome, ApiError> {
    let why = reason(ask.body::<Why>()?.reason.as_deref())?;
    let id = ask.named("id");
    let unknown = || ApiError::not_found("nobody knows this contract").hint("GET /api/v1/contracts lists them");
    let negotiator = negotiator(&ask).ok_or_else(unknown)?;
    let away = |_| ApiError::unavailable("contracts can't be looked up at the moment");
    let known = negotiator.contract(id).await.map_err(away)?.ok_or_else(unknown)?;
    let (came, words) = match known.record.end() {
        Some(_) => (Came::Already, "the contract has ended already"),
        None => {
            let by = ContractActor::Operator(&ask.actor.name);
            match negotiator.revoke(id, by, why.as_deref()).await {
                Ok(_) => (Came::Done, "the contract is revoked, on every node"),
                Err(ContractRefusal::Unavailable) => return Err(ApiError::unavailable("the store is away")),
                // It ended between the read and this: by another operator, its holder or its time.
                Err(_) => (Came::Already, "the contract has ended already"),
            }
        }
    };
    let target = format!("contract {id}");
    account::note(&ask.house.host, &ask.actor.name, "end", target, why.as_deref(), came).await;
    Ok(ActionOutcome::new(came, words))
}
