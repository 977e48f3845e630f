//! The contracts that are in force: those of the caller, or all of them for operators. AGTP-API 5.8.7.

use forecourt_agtp_wire::status::Status;
use forecourt_contract::Scope;
use forecourt_synthesis::contracts::{Contract, ContractHolder};
use serde_json::{Map, Value};

use crate::ask::Ask;
use crate::inventory::{Inventory, contract_entry};
use crate::limits::CONTRACTS_LISTED_MAX;
use crate::problem::{OPERATOR_SCOPE, unauthorized};
use crate::reply::{Problem, Reply};

/// Says where the next page begins: the last contract of this one. Base 2.5.
const NEXT_PAGE: &str = "Continuation-Token";

/// A page of contracts, the oldest first.
pub(super) async fn reply(inventory: &Inventory, ask: &Ask, input: &Map<String, Value>) -> Result<Reply, Problem> {
    let holder = ContractHolder::of(&ask.call.caller).ok_or_else(|| {
        unauthorized("agent-unauthenticated", "contracts belong to agents: say in `Agent-ID` which one calls")
    })?;
    let sees_all = Scope::parse(OPERATOR_SCOPE).is_ok_and(|scope| ask.call.caller.authority().in_use().covers(&scope));
    let after = match input.get("after").and_then(Value::as_str) {
        Some(id) => after(inventory, id, (!sees_all).then_some(&holder)).await?,
        None => 0,
    };
    let limit = input.get("max_results").and_then(Value::as_u64).and_then(|limit| usize::try_from(limit).ok());
    let limit = limit.map_or(CONTRACTS_LISTED_MAX, |limit| limit.min(CONTRACTS_LISTED_MAX));
    // One more tells whether there is another page.
    let mut page = inventory.negotiator.list((!sees_all).then_some(&holder), after, limit + 1).await?;
    let has_more = page.len() > limit;
    page.truncate(limit);
    let last = page.last().filter(|_| has_more).map(|last| last.record.synthesis_id.to_string());
    let reply = Reply::ok(page.iter().map(|contract| contract_entry(&contract.record)).collect());
    Ok(last.into_iter().fold(reply, |reply, last| reply.with(NEXT_PAGE, last)))
}

/// The place of the contract after which a page begins: one that the caller may see.
async fn after(inventory: &Inventory, id: &str, holder: Option<&ContractHolder>) -> Result<u64, Problem> {
    let found = inventory.negotiator.contract(id).await?;
    // A page must not tell whether somebody else's contract exists.
    let may_see = |contract: &Contract| holder.is_none_or(|holder| contract.record.holder == *holder);
    let found = found.filter(may_see).ok_or_else(|| {
        let message = "`after` names none of these contracts: begin with the first page";
        Problem::new(Status::UNPROCESSABLE, "input-validation-failed", message).with("field", "/after")
    })?;
    Ok(found.record.number)
}
