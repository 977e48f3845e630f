//! The four locks, and what comes of a call that passes them.

use std::sync::atomic::Ordering;

use forecourt_contract::call::{ContractTerms, Identity};
use forecourt_contract::negotiation::{NegotiationOrigin, NoContractReason};
use forecourt_contract::{Call, Caller, ContractRefusal};
use forecourt_core::json;
use forecourt_synthesis::contracts::ContractHolder;
use serde_json::json;

use crate::support::{
    Process, Settings, World, agent, agent_with, call, claimed, no_contract, opted, presenting, session,
};

fn process(change: impl FnOnce(&mut Settings)) -> Process {
    let mut settings = Settings::optimistic();
    change(&mut settings);
    Process::with(&World::new(), settings)
}

#[tokio::test]
async fn s10_1_2_without_consent_nothing_is_looked_for() {
    let process = process(|_| {});
    assert_eq!(process.word(call(agent("a"), "/suites/1")).await, "404");
    let other_method = Call { method: "BOOK".into(), ..call(agent("a"), "/facts") };
    assert_eq!(process.word(other_method).await, "405");
    assert_eq!(process.source.asked.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn s10_1_2_the_policy_is_the_first_lock() {
    let off = process(|settings| settings.rcns.enabled = false);
    let lacking_all = Caller { trust_tier: None, ..agent_with("a", "") };
    assert_eq!(off.word(opted(lacking_all, "/suites/1")).await, no_contract(NoContractReason::RcnsDisabled));
    let off = process(|settings| settings.is_synthesis_enabled = false);
    assert_eq!(off.word(opted(agent("a"), "/suites/1")).await, no_contract(NoContractReason::RcnsDisabled));
    assert_eq!(off.source.asked.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn s5_1_a_value_that_spells_a_method_leads_to_contracts_in_force_alone() {
    let process = process(|_| {});
    let leaks = |answer: String| assert!(answer.starts_with("Path {"), "{answer}");
    leaks(process.word(opted(agent("a"), "/suites/order")).await);
    assert_eq!(process.source.asked.load(Ordering::SeqCst), 0, "none is made for it");
    let name = process.proposed(&agent("a"), &session("s"), "/suites/{suite}", json!({})).await;
    let in_session = |caller: Caller, path: &str| Call { thread: session("s"), ..call(caller, path) };
    assert_eq!(process.word(in_session(agent("a"), "/suites/1")).await, "edition 1");
    assert_eq!(process.word(in_session(agent("a"), "/suites/order")).await, "edition 1");
    let presented = Call { thread: session("s"), ..presenting(agent("a"), "/suites/order", &name) };
    assert_eq!(process.word(presented).await, "edition 1");
    leaks(process.word(in_session(agent("b"), "/suites/order")).await);
    leaks(process.word(in_session(agent("a"), "/suites/order/order")).await);
}

#[tokio::test]
async fn s10_1_2_the_scope_is_claimed_and_held() {
    let process = process(|_| {});
    for scopes in ["facts:secret", "*:*", "rcns:other"] {
        match process.refusal(opted(agent_with("a", scopes), "/suites/1")).await {
            ContractRefusal::Scope { missing } => assert_eq!(missing[0].as_str(), "rcns:negotiate"),
            other => panic!("{other:?}"),
        }
    }
    let unclaimed = agent("a");
    let authority = unclaimed.authority().clone().claiming(None);
    let unclaimed = unclaimed.with_authority(authority);
    assert_eq!(process.word(opted(unclaimed, "/suites/1")).await, "negotiation-scope-required");
    assert_eq!(process.word(opted(agent_with("a", "rcns:*"), "/suites/1")).await, "edition 1");
}

#[tokio::test]
async fn s10_1_2_the_tier_is_at_least_the_one_asked_for() {
    let process = process(|_| {});
    let of_tier = |trust_tier| Caller { trust_tier, ..agent("a") };
    for tier in [None, Some(3)] {
        let refused = process.word(opted(of_tier(tier), "/suites/1")).await;
        assert_eq!(refused, no_contract(NoContractReason::TrustTierInsufficient));
    }
    for tier in [Some(2), Some(1)] {
        assert_eq!(process.word(opted(of_tier(tier), "/suites/1")).await, "edition 1");
    }
}

#[tokio::test]
async fn a_claimed_name_does_where_no_proof_is_asked_for() {
    let strict = process(|settings| settings.requires_proof = true);
    let refused = strict.word(opted(claimed("a"), "/suites/1")).await;
    assert_eq!(refused, no_contract(NoContractReason::IdentityUnverified));
    assert_eq!(process(|_| {}).word(opted(claimed("a"), "/suites/1")).await, "edition 1");
}

#[tokio::test]
async fn s10_1_5_looks_are_counted_for_each_agent_and_calls_under_a_contract_are_not() {
    let process = process(|settings| settings.rcns.rate_limit_per_minute = 2.try_into().unwrap());
    assert_eq!(process.word(opted(agent("a"), "/nowhere")).await, no_contract(NoContractReason::CompositionImpossible));
    assert_eq!(process.word(opted(agent("a"), "/suites/1")).await, "edition 1");
    match process.refusal(opted(agent("a"), "/suites/2")).await {
        ContractRefusal::TooMany { bound, retry_after } => {
            assert_eq!((bound, retry_after.as_secs()), ("policies.rcns.rate_limit_per_minute", 60));
        }
        other => panic!("{other:?}"),
    }
    for _ in 0..5 {
        assert_eq!(process.word(opted(agent("a"), "/suites/1")).await, "edition 1");
    }
    assert_eq!(process.word(opted(agent("b"), "/suites/2")).await, "edition 1");
    process.world.pass(60);
    assert_eq!(process.word(opted(agent("a"), "/suites/2")).await, "edition 1");
}

#[tokio::test]
async fn s10_1_3_an_offer_does_nothing_until_it_is_accepted_by_its_agent() {
    let process = Process::start(&World::new());
    let offer = process.offered(opted(agent("a"), "/suites/1")).await;
    assert_eq!(process.word(call(agent("a"), "/suites/1")).await, "404", "nothing is in force yet");
    assert_eq!(process.events.take(), [""; 0]);
    assert_eq!(process.offered(opted(agent("a"), "/suites/1")).await, offer, "the same offer, not one more");
    for other in [agent("b"), claimed("a")] {
        let refused = process.word(presenting(other, "/suites/1", &offer)).await;
        assert_eq!(refused, no_contract(NoContractReason::ContractNotYours));
    }
    let accepted = process.dispatch(presenting(agent("a"), "/suites/1", &offer)).await;
    assert_eq!(accepted.answer.unwrap()["input"]["edition"], "1");
    let stamp = accepted.trail.contract.unwrap();
    assert_eq!((&*stamp.synthesis_id, stamp.is_new), (&*offer, false));
    assert_eq!(stamp.negotiation_origin, NegotiationOrigin::RcnsGate);
    assert_eq!(process.events.take(), ["rcns_propose_accepted of a"]);
    assert_eq!(process.word(call(agent("a"), "/suites/1")).await, "edition 1");
    assert_eq!(process.events.take(), [""; 0], "it is accepted once");
}

#[tokio::test]
async fn s10_1_3_the_preview_is_the_contract() {
    let process = Process::start(&World::new());
    let ContractRefusal::Available(preview) = process.refusal(opted(agent("a"), "/suites/1")).await else { panic!() };
    let contract = process.negotiator.contract(&preview.synthesis_id).await.unwrap().unwrap();
    assert_eq!((&contract.endpoint, &*contract.record.contract_hash), (&preview.endpoint, &*preview.contract_hash));
    assert_eq!((preview.method.as_str(), &*preview.path), ("QUERY", "/suites/1"));
    assert_eq!(
        (preview.expires_at, preview.plan_summary),
        (contract.record.expires_at, vec!["QUERY /facts".to_owned()])
    );
    let lineage = preview.recipe_lineage.unwrap();
    assert_eq!((&*lineage.recipe_name, &*lineage.recipe_version), ("suite", "1"));
    // Section 10.1.6: anybody can make the hash from what is shown.
    let shown = json!({"endpoint": preview.endpoint, "recipe_lineage": lineage});
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &json::canonical(&shown).unwrap());
    let hex: String = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, preview.contract_hash);
}

#[tokio::test]
async fn s10_1_3_optimistic_calls_are_served_at_once() {
    let process = process(|_| {});
    let first = process.dispatch(opted(agent("a"), "/suites/1")).await;
    assert_eq!(first.answer.unwrap()["input"]["edition"], "1");
    let stamp = first.trail.contract.unwrap();
    assert!(stamp.is_new);
    let again = process.dispatch(opted(agent("a"), "/suites/1")).await.trail.contract.unwrap();
    assert_eq!((&again.synthesis_id, again.is_new), (&stamp.synthesis_id, false));
    assert_eq!(process.events.take(), ["rcns_propose_accepted of a"]);
    assert_eq!(process.source.asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn s10_1_2_a_call_that_presents_a_contract_makes_none() {
    let process = process(|_| {});
    assert_eq!(process.word(presenting(agent("a"), "/suites/1", "made-up")).await, "contract-not-found");
    assert_eq!(process.source.asked.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn s10_1_2_no_step_leads_to_a_contract() {
    let process = process(|_| {});
    let name = process.proposed(&agent("a"), &session("s"), "/x", json!({"persistent": true})).await;
    assert_eq!(process.word(call(agent("a"), "/x")).await, "edition 1");
    for step in [call(agent("a"), "/x"), opted(agent("a"), "/suites/1"), presenting(agent("a"), "/x", &name)] {
        assert_eq!(process.word(Call { depth: 1, ..step }).await, "404");
    }
}

#[tokio::test]
async fn s10_1_1_another_agents_contract_is_told_of_where_none_can_be_made() {
    let process = process(|_| {});
    let own = process.proposed(&agent("b"), &session("s"), "/odd/{id}", json!({})).await;
    let refused = process.word(opted(agent("a"), "/odd/7")).await;
    assert_eq!(refused, no_contract(NoContractReason::ContractNotYours));
    assert_eq!(process.word(call(agent("a"), "/odd/7")).await, "404", "without consent nothing is told");
    let stranger = Caller { identity: Identity::Unrecognised, ..agent("a") };
    assert_eq!(process.word(opted(stranger, "/odd/7")).await, "404");
    process.negotiator.release(&own, &agent("b"), None).await.unwrap();
    let refused = process.word(opted(agent("a"), "/odd/7")).await;
    assert_eq!(refused, no_contract(NoContractReason::CompositionImpossible));
}

#[tokio::test]
async fn s10_1_each_refusal_can_be_asked_about_a_while() {
    let process = process(|settings| settings.rcns.enabled = false);
    let ContractRefusal::NoContract { attempt_id, .. } = process.refusal(opted(agent("a"), "/suites/1")).await else {
        panic!()
    };
    let attempt = process.negotiator.attempt(&attempt_id.clone().unwrap()).unwrap();
    assert_eq!(attempt.holder, ContractHolder::of(&agent("a")).unwrap());
    assert_eq!((attempt.reason, &*attempt.path), (NoContractReason::RcnsDisabled, "/suites/1"));
    process.world.pass(3_600);
    assert!(process.negotiator.attempt(&attempt_id.unwrap()).is_none());
}

#[tokio::test]
async fn s5_5_what_a_call_says_in_its_query_counts_as_well() {
    let process = process(|_| {});
    let call = Call { query: Some("beds=2".into()), ..opted(agent("a"), "/suites/1") };
    process.word(Call { body: [("view".to_owned(), json!("sea"))].into_iter().collect(), ..call }).await;
    assert_eq!(json!(*process.source.input.lock()), json!({"beds": "2", "view": "sea"}));
}

#[tokio::test]
async fn an_unknown_agent_presents_nothing() {
    let process = process(|_| {});
    let stranger = Caller { identity: Identity::Anonymous, agent_id: None, ..agent("a") };
    assert_eq!(process.word(presenting(stranger, "/suites/1", "x")).await, "401");
}

#[tokio::test]
async fn s10_7_what_a_step_needs_is_held_before_there_is_a_contract() {
    let process = process(|_| {});
    let outcome = process.propose(&agent("a"), &session("s"), "/x", json!({"recipe": "secret"})).await;
    assert!(format!("{outcome:?}").contains("facts:secret"), "{outcome:?}");
    let able = agent_with("a", "rcns:negotiate, facts:secret");
    process.proposed(&able, &session("s"), "/x", json!({"recipe": "secret"})).await;
    let calls = |caller| Call { thread: session("s"), contract: ContractTerms::default(), ..call(caller, "/x") };
    assert_eq!(process.word(calls(able)).await, "edition 1");
    assert_eq!(process.word(calls(agent("a"))).await, "455", "each call shows its own scopes");
}
