//! Whom a contract serves, and how it ends.

use forecourt_contract::negotiation::NoContractReason;
use forecourt_contract::{Call, ContractRefusal};
use forecourt_synthesis::contracts::{ContractEndKind, ContractHolder};
use forecourt_synthesis::limits::TOMBSTONE_TTL;
use forecourt_synthesis::negotiator::ContractActor;
use forecourt_synthesis::settings::OnPolicyChange;
use serde_json::json;

use crate::support::{
    Process, Settings, World, agent, book, call, claimed, connection, edited_book, no_contract, opted, presenting,
    session,
};

const REVOKED: NoContractReason = NoContractReason::ContractRevoked;
const NOT_YOURS: NoContractReason = NoContractReason::ContractNotYours;

/// A contract of `a` for its agent alone.
async fn made(process: &Process) -> String {
    process.proposed(&agent("a"), &session("s"), "/suites/{id}", json!({"persistent": true, "duration": 600})).await
}

#[tokio::test]
async fn s10_1_4_a_presented_contract_is_refused_in_order() {
    let process = Process::start(&World::new());
    let name = made(&process).await;
    let presents = |caller, path| process.word(presenting(caller, path, &name));
    assert_eq!(presents(agent("a"), "/suites/1").await, "edition 1");
    assert_eq!(presents(agent("a"), "/halls/1").await, "contract-mismatch");
    let booked = Call { method: "BOOK".into(), ..presenting(agent("a"), "/suites/1", &name) };
    assert_eq!(process.word(booked).await, "contract-mismatch");
    assert_eq!(presents(agent("b"), "/halls/1").await, no_contract(NOT_YOURS));
    assert_eq!(presents(claimed("a"), "/suites/1").await, no_contract(NOT_YOURS));
    assert_eq!(presents(agent("a"), "/facts").await, "contract-mismatch", "one of what is registered too");
    process.negotiator.revoke(&name, ContractActor::Operator("op"), Some("unsafe")).await.unwrap();
    assert_eq!(presents(agent("a"), "/suites/1").await, no_contract(REVOKED));
    assert_eq!(presents(agent("b"), "/halls/1").await, no_contract(REVOKED));
    assert_eq!(process.word(presenting(agent("a"), "/suites/1", "x")).await, "contract-not-found");
}

#[tokio::test]
async fn s10_1_1_a_contract_serves_its_agent_alone_without_being_presented() {
    let process = Process::start(&World::new());
    made(&process).await;
    assert_eq!(process.word(call(agent("a"), "/suites/1")).await, "edition 1");
    assert_eq!(process.word(call(agent("b"), "/suites/1")).await, "404");
    assert_eq!(process.word(call(claimed("a"), "/suites/1")).await, "404");
    assert_eq!(process.word(call(agent("a"), "/suites/1/beds")).await, "404");
}

#[tokio::test]
async fn s10_8_a_contract_of_a_session_serves_that_session() {
    let process = Process::start(&World::new());
    let name = process.proposed(&agent("a"), &session("s"), "/suites/1", json!({})).await;
    let of = |thread, presents: bool| {
        let call = if presents { presenting(agent("a"), "/suites/1", &name) } else { call(agent("a"), "/suites/1") };
        process.word(Call { thread, ..call })
    };
    assert_eq!((&*of(session("s"), true).await, &*of(session("s"), false).await), ("edition 1", "edition 1"));
    assert_eq!(of(session("t"), false).await, "404");
    assert_eq!(of(session("t"), true).await, no_contract(NOT_YOURS));
    assert_eq!(of(connection("c"), true).await, no_contract(NOT_YOURS));
    let others = Call { thread: session("s"), ..presenting(agent("b"), "/suites/1", &name) };
    assert_eq!(process.word(others).await, no_contract(NOT_YOURS), "a session of that name is another agent's");
}

#[tokio::test]
async fn s10_8_a_contract_of_a_connection_ends_with_it() {
    let world = World::new();
    let process = Process::start(&world);
    let name = process.proposed(&agent("a"), &connection("1"), "/suites/1", json!({})).await;
    let on = |id| Call { thread: connection(id), ..presenting(agent("a"), "/suites/1", &name) };
    assert_eq!(process.word(on("1")).await, "edition 1");
    assert_eq!(process.word(on("2")).await, no_contract(NOT_YOURS));
    let other = Process::start(&world);
    assert_eq!(other.word(on("1")).await, no_contract(NOT_YOURS), "another process has another connection 1");
    process.negotiator.end_connection(&connection("2").connection.unwrap()).await;
    assert_eq!(process.word(on("1")).await, "edition 1");
    process.negotiator.end_connection(&connection("1").connection.unwrap()).await;
    assert_eq!(process.word(on("1")).await, no_contract(REVOKED));
    assert_eq!(process.ended(&name).await, Some(ContractEndKind::SessionOver));
}

#[tokio::test]
async fn s10_1_4_time_ends_a_contract_and_then_what_is_known_of_it() {
    let process = Process::start(&World::new());
    let name = made(&process).await;
    let presents = || process.word(presenting(agent("a"), "/suites/1", &name));
    process.world.pass(599);
    assert_eq!(presents().await, "edition 1");
    process.world.pass(1);
    assert_eq!(presents().await, no_contract(REVOKED));
    assert_eq!(process.word(call(agent("a"), "/suites/1")).await, "404");
    assert_eq!(process.ended(&name).await, Some(ContractEndKind::Expired));
    process.world.pass(TOMBSTONE_TTL.as_secs() - 1);
    assert_eq!(presents().await, no_contract(REVOKED));
    process.world.pass(1);
    assert_eq!(presents().await, "contract-not-found");
}

#[tokio::test]
async fn s10_1_4_an_offer_that_nobody_takes_is_over_in_time() {
    let process = Process::start(&World::new());
    let offer = process.offered(opted(agent("a"), "/suites/1")).await;
    process.world.pass(600);
    assert_eq!(process.word(presenting(agent("a"), "/suites/1", &offer)).await, no_contract(REVOKED));
}

#[tokio::test]
async fn s10_1_4_only_its_agent_releases_a_contract() {
    let process = Process::start(&World::new());
    let name = made(&process).await;
    process.events.take();
    for other in [agent("b"), claimed("a")] {
        let refused = process.negotiator.release(&name, &other, None).await.unwrap_err();
        assert!(matches!(refused, ContractRefusal::NoContract { reason: NOT_YOURS, .. }));
    }
    process.negotiator.release(&name, &agent("a"), Some("done")).await.unwrap();
    assert_eq!(process.events.take(), ["rcns_release of a done by a"]);
    assert_eq!(process.word(presenting(agent("a"), "/suites/1", &name)).await, "contract-not-found");
    let again = process.negotiator.release(&name, &agent("a"), None).await.unwrap_err();
    assert!(matches!(again, ContractRefusal::Unknown { .. }));
    assert_eq!(process.events.take(), [""; 0]);
}

#[tokio::test]
async fn s10_1_4_its_agent_and_operators_revoke_a_contract() {
    let process = Process::start(&World::new());
    let (mine, others) = (made(&process).await, made(&process).await);
    process.events.take();
    let (a, b) = (ContractHolder::of(&agent("a")).unwrap(), ContractHolder::of(&agent("b")).unwrap());
    let refused = process.negotiator.revoke(&mine, ContractActor::Holder(&b), None).await.unwrap_err();
    assert!(matches!(refused, ContractRefusal::NoContract { reason: NOT_YOURS, .. }));
    process.negotiator.revoke(&mine, ContractActor::Holder(&a), None).await.unwrap();
    process.negotiator.revoke(&others, ContractActor::Operator("op"), Some("unsafe")).await.unwrap();
    assert_eq!(process.events.take(), ["rcns_revoke of a - by a", "rcns_revoke of a unsafe by op"]);
    let again = process.negotiator.revoke(&mine, ContractActor::Operator("op"), None).await.unwrap_err();
    assert!(matches!(again, ContractRefusal::NoContract { reason: REVOKED, .. }));
    let end = process.negotiator.contract(&others).await.unwrap().unwrap();
    let end = end.record.end().unwrap();
    assert_eq!((end.actor.as_deref(), end.reason.as_deref()), (Some("op"), Some("unsafe")));
}

#[tokio::test]
async fn s10_5_a_contract_keeps_the_plan_that_it_was_made_with() {
    let process = Process::start(&World::new());
    let old = made(&process).await;
    process.edit_recipe("2");
    let new = made(&process).await;
    assert_eq!(process.word(presenting(agent("a"), "/suites/1", &old)).await, "edition 1");
    assert_eq!(process.word(presenting(agent("a"), "/suites/1", &new)).await, "edition 2");
    assert_eq!(process.word(call(agent("a"), "/suites/1")).await, "edition 2", "the newest is served unasked");
    process.replace(|dispatcher| dispatcher.recipes = std::sync::Arc::new(book("")));
    assert_eq!(process.word(presenting(agent("a"), "/suites/1", &old)).await, "edition 1", "without any recipe too");
    let restarted = Process::start(&process.world);
    assert_eq!(restarted.word(presenting(agent("a"), "/suites/1", &new)).await, "edition 2");
}

#[tokio::test]
async fn s10_5_two_editions_of_one_version_share_no_plan() {
    let process = Process::start(&World::new());
    let old = made(&process).await;
    // The recipe was edited, and its version was left as it is.
    process.replace(|dispatcher| dispatcher.recipes = std::sync::Arc::new(edited_book("1", "2")));
    let new = made(&process).await;
    let hash =
        async |name: &str| process.negotiator.contract(name).await.unwrap().unwrap().record.contract_hash.clone();
    assert_eq!(hash(&old).await, hash(&new).await, "the hash is of what is promised");
    assert_eq!(process.word(presenting(agent("a"), "/suites/1", &old)).await, "edition 1");
    assert_eq!(process.word(presenting(agent("a"), "/suites/1", &new)).await, "edition 2");
}

#[tokio::test]
async fn a_plan_whose_endpoint_is_gone_is_revoked_and_says_why() {
    let process = Process::start(&World::new());
    let name = made(&process).await;
    process.events.take();
    process.replace(|dispatcher| dispatcher.registry = forecourt_contract::Registry::default());
    assert_eq!(process.word(presenting(agent("a"), "/suites/1", &name)).await, no_contract(REVOKED));
    let reason = "step 1 of its plan goes to QUERY /facts, where nothing answers any more";
    assert_eq!(process.events.take(), [format!("rcns_revoke of a {reason} by nobody")]);
    let contract = process.negotiator.contract(&name).await.unwrap().unwrap();
    assert_eq!(contract.record.end().unwrap().reason.as_deref(), Some(reason));
    assert_eq!(process.word(call(agent("a"), "/suites/1")).await, "404");
    process.edit_recipe("1");
    assert_eq!(process.word(presenting(agent("a"), "/suites/1", &name)).await, no_contract(REVOKED), "for good");
}

async fn dispositions(process: &Process, mode: Option<OnPolicyChange>) -> Vec<(String, &'static str, Option<String>)> {
    let swept = process.negotiator.sweep(mode, "op").await.unwrap();
    let told = swept.into_iter();
    told.map(|it| (it.contract.synthesis_id.to_string(), it.disposition.word(), it.current_version)).collect()
}

#[tokio::test]
async fn s10_1_4_1_a_sweep_tells_what_it_examined() {
    let process = Process::start(&World::new());
    let old = made(&process).await;
    process.edit_recipe("2");
    let new = made(&process).await;
    process.events.take();
    let two = || Some("2".to_owned());
    let reported = [(old.clone(), "grandfathered", two()), (new.clone(), "unchanged", two())];
    assert_eq!(dispositions(&process, None).await, reported, "the default is to report");
    assert_eq!(process.word(presenting(agent("a"), "/suites/1", &old)).await, "edition 1");
    let evicted = [(old.clone(), "evicted", two()), (new.clone(), "unchanged", two())];
    assert_eq!(dispositions(&process, Some(OnPolicyChange::Invalidate)).await, evicted);
    assert_eq!(process.events.take(), ["rcns_release of a policy-change-invalidation by op"]);
    assert_eq!(process.word(presenting(agent("a"), "/suites/1", &old)).await, "contract-not-found");
    assert_eq!(process.word(presenting(agent("a"), "/suites/1", &new)).await, "edition 2");
    assert_eq!(dispositions(&process, None).await, [(new, "unchanged", two())]);
}

#[tokio::test]
async fn s10_1_4_1_contracts_of_a_recipe_that_is_gone_have_drifted() {
    let mut settings = Settings::default();
    settings.rcns.on_policy_change = OnPolicyChange::Invalidate;
    let process = Process::with(&World::new(), settings);
    let (name, offer) = (made(&process).await, process.offered(opted(agent("b"), "/suites/1")).await);
    process.replace(|dispatcher| dispatcher.recipes = std::sync::Arc::new(book("")));
    let swept = dispositions(&process, Some(OnPolicyChange::Grandfather)).await;
    assert_eq!(swept, [(name.clone(), "grandfathered", None), (offer.clone(), "grandfathered", None)]);
    let swept = dispositions(&process, None).await;
    assert_eq!(swept, [(name, "evicted", None), (offer.clone(), "evicted", None)], "as the operator has set it");
    let taken = process.word(presenting(agent("b"), "/suites/1", &offer)).await;
    assert_eq!(taken, "contract-not-found", "an offer of an old plan is not accepted after that");
}

#[tokio::test]
async fn lists_have_pages_and_what_is_in_force() {
    let process = Process::start(&World::new());
    let mut names = Vec::new();
    for n in 0..5 {
        names.push(process.proposed(&agent("a"), &session("s"), &format!("/p/{n}"), json!({})).await);
    }
    process.proposed(&agent("b"), &session("s"), "/p/1", json!({"persistent": true})).await;
    process.offered(opted(agent("a"), "/suites/1")).await;
    process.negotiator.release(&names.remove(1), &agent("a"), None).await.unwrap();
    let a = ContractHolder::of(&agent("a")).unwrap();
    let (mut found, mut after) = (Vec::new(), 0);
    loop {
        let page = process.negotiator.list(Some(&a), after, 3).await.unwrap();
        let Some(last) = page.last() else { break };
        after = last.record.number;
        assert!(page.iter().all(|contract| contract.plan_summary() == ["QUERY /facts"]));
        found.extend(page.iter().map(|contract| contract.record.synthesis_id.to_string()));
    }
    assert_eq!(found, names);
    assert_eq!(process.negotiator.list(None, 0, 100).await.unwrap().len(), 5);
}

#[tokio::test]
async fn s10_8_persistent_contracts_are_told_for_the_manifest() {
    let process = Process::start(&World::new());
    let told = async || {
        let persistent = process.negotiator.persistent(100).await.unwrap();
        (persistent.edition, persistent.contracts.len())
    };
    let (none, _) = told().await;
    process.proposed(&agent("a"), &session("s"), "/p/1", json!({})).await;
    assert_eq!(told().await, (none, 0));
    let name = made(&process).await;
    let (one, count) = told().await;
    assert_eq!((told().await, count), ((one, 1), 1));
    assert_ne!(one, none);
    let restarted = Process::start(&process.world);
    assert_eq!(restarted.negotiator.persistent(100).await.unwrap().contracts[0].record.synthesis_id.to_string(), name);
    process.world.pass(600);
    let (over, count) = told().await;
    assert_eq!((over != one, count), (true, 0));
}
