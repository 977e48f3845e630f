//! What is full, at its bound and one beyond it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use forecourt_contract::Caller;
use forecourt_core::Sender;
use forecourt_core::store::Span;
use forecourt_host::Ledger;
use forecourt_store::Memory;
use forecourt_synthesis::limits::{APPEND_TRIES_MAX, CONTRACT_BYTES_MAX, REASON_CHARS_MAX};
use forecourt_synthesis::negotiator::{ContractActor, NegotiationError, ProposeOutcome};
use forecourt_synthesis::proposal::ProposalRefusal;
use serde_json::{Map, Value, json};

use crate::support::{Process, Settings, World, agent, session};
use crate::watched_store::WatchedStore;

fn process(change: impl FnOnce(&mut Settings)) -> Process {
    let mut settings = Settings::default();
    change(&mut settings);
    Process::with(&World::new(), settings)
}

fn parameters(more: Value) -> Map<String, Value> {
    let mut parameters = Map::from_iter([("path".to_owned(), json!("/x")), ("recipe".to_owned(), json!("suite"))]);
    parameters.extend(more.as_object().unwrap().clone());
    parameters
}

#[tokio::test]
async fn an_agent_has_so_many_contracts_and_all_have_so_many() {
    let process = process(|settings| {
        settings.synthesis.contracts_per_agent_max = 2.try_into().unwrap();
        settings.synthesis.contracts_max = 3.try_into().unwrap();
    });
    let propose =
        async |name: &str| process.negotiator.propose(&parameters(json!({})), &agent(name), &session("s")).await;
    let bound = async |name: &str| match propose(name).await {
        Ok(ProposeOutcome::Approved { contract, .. }) => contract.record.synthesis_id.to_string(),
        Err(NegotiationError::TooMany { bound, .. }) => bound.to_owned(),
        other => panic!("{other:?}"),
    };
    let first = bound("a").await;
    bound("a").await;
    assert_eq!(bound("a").await, "synthesis.contracts_per_agent_max");
    bound("b").await;
    assert_eq!(bound("b").await, "synthesis.contracts_max");
    process.negotiator.release(&first, &agent("a"), None).await.unwrap();
    let again = bound("a").await;
    assert_ne!(again, "synthesis.contracts_per_agent_max");
    // What has ended is remembered, and takes room as well.
    process.negotiator.release(&again, &agent("a"), None).await.unwrap();
    let last = bound("a").await;
    process.negotiator.release(&last, &agent("a"), None).await.unwrap();
    assert_eq!(bound("a").await, "synthesis.contracts_per_agent_max");
    process.world.pass(24 * 60 * 60);
    assert_ne!(bound("a").await, "synthesis.contracts_per_agent_max");
}

/// The bytes of the last entry.
async fn last_bytes(world: &World) -> usize {
    let ledger = Ledger::new(world.store.clone(), world.clock.clone(), "synthesis");
    let entries = ledger.entries("contracts", Span::Before(u64::MAX), 1).await.unwrap();
    entries[0].1.body.to_string().len()
}

#[tokio::test]
async fn a_contract_has_so_many_bytes_as_it_is_stored() {
    let process = Process::start(&World::new());
    process.proposed(&agent("a"), &session("s"), "/x", json!({"padding": 0})).await;
    let padding = CONTRACT_BYTES_MAX - last_bytes(&process.world).await;
    process.proposed(&agent("a"), &session("s"), "/x", json!({"padding": padding})).await;
    assert_eq!(last_bytes(&process.world).await, CONTRACT_BYTES_MAX);
    match process.propose(&agent("a"), &session("s"), "/x", json!({"padding": padding + 1})).await {
        ProposeOutcome::Refused(ProposalRefusal::Rejected { explanation, .. }) => {
            assert_eq!(explanation, "a contract has at most 262144 bytes as it is stored");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_bytes_of_its_contracts_are_on_an_agents_account() {
    let process =
        Process::start(&World::on(Arc::new(Memory::bounded(forecourt_core::CallerBounds::of_caller(10_000)))));
    let peer = Some("192.0.2.1".parse().unwrap());
    let caller = Caller { sender: Arc::new(Sender { peer, ..Sender::clone(&agent("a").sender) }), ..agent("a") };
    let mut names = Vec::new();
    let full = loop {
        match process.negotiator.propose(&parameters(json!({"padding": 1_000})), &caller, &session("s")).await {
            Ok(ProposeOutcome::Approved { contract, .. }) => names.push(contract.record.synthesis_id.to_string()),
            Err(error) => break error,
            other => panic!("{other:?}"),
        }
    };
    assert!(matches!(full, NegotiationError::TooMany { bound: "limits.stored_bytes_per_caller", .. }), "{full:?}");
    assert!(names.len() > 1);
    process.proposed(&agent("b"), &session("s"), "/x", json!({})).await;
    process
        .negotiator
        .revoke(&names[0], ContractActor::Operator("op"), None)
        .await
        .expect("ending takes no room of it");
}

#[tokio::test]
async fn a_contract_is_made_though_others_write_in_between_but_not_for_ever() {
    let store = WatchedStore::new();
    let process = Process::start(&World::on(store.clone()));
    process.proposed(&agent("a"), &session("s"), "/x", json!({})).await;
    store.intrusions.store(APPEND_TRIES_MAX - 1, Ordering::SeqCst);
    process.proposed(&agent("a"), &session("s"), "/x", json!({})).await;
    store.intrusions.store(APPEND_TRIES_MAX, Ordering::SeqCst);
    let refused = process.negotiator.propose(&parameters(json!({})), &agent("a"), &session("s")).await;
    assert_eq!(refused.unwrap_err(), NegotiationError::Unavailable);
}

#[tokio::test]
async fn reasons_and_names_of_operators_are_cut() {
    let process = Process::start(&World::new());
    let long = "x".repeat(REASON_CHARS_MAX + 1);
    for text in [&long[1..], &long] {
        let name = process.proposed(&agent("a"), &session("s"), "/x", json!({})).await;
        let ended = process.negotiator.revoke(&name, ContractActor::Operator(text), Some(text)).await.unwrap();
        let end = ended.end().unwrap();
        assert_eq!((end.actor.as_deref(), end.reason.as_deref()), (Some(&long[1..]), Some(&long[1..])));
    }
}
