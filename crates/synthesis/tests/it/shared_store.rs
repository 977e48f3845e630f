//! Contracts in a store that others use too, and that may be away.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use forecourt_contract::ContractRefusal;
use forecourt_contract::negotiation::NoContractReason;
use forecourt_core::Store;
use forecourt_store::{Sqlite, SqliteOptions};
use forecourt_synthesis::negotiator::{ContractActor, NegotiationError, ProposeOutcome};
use futures::future::join_all;
use serde_json::{Map, json};

use crate::support::{Process, Settings, World, agent, call, no_contract, opted, presenting, session};
use crate::watched_store::WatchedStore;

fn opened(path: &Path) -> Arc<dyn Store> {
    Sqlite::open(path, SqliteOptions::default()).unwrap()
}

/// Two processes with a store each on one file.
fn two(path: &Path, settings: &Settings) -> (Process, Process) {
    let world = World::on(opened(path));
    let other = World { store: opened(path), ..world.clone() };
    (Process::with(&world, settings.clone()), Process::with(&other, settings.clone()))
}

async fn made(process: &Process) -> String {
    process.proposed(&agent("a"), &session("s"), "/suites/{id}", json!({"persistent": true})).await
}

#[tokio::test]
async fn two_processes_on_one_file_agree_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = two(&folder.path().join("store.db"), &Settings::default());
    for _ in 0..5 {
        let name = made(&one).await;
        assert_eq!(two.word(presenting(agent("a"), "/suites/1", &name)).await, "edition 1");
        assert_eq!(two.word(call(agent("a"), "/suites/1")).await, "edition 1");
        one.negotiator.revoke(&name, ContractActor::Operator("op"), None).await.unwrap();
        let refused = two.word(presenting(agent("a"), "/suites/1", &name)).await;
        assert_eq!(refused, no_contract(NoContractReason::ContractRevoked));
        assert_eq!(two.word(call(agent("a"), "/suites/1")).await, "404");
    }
    let offer = one.offered(opted(agent("a"), "/suites/1")).await;
    assert_eq!(two.word(presenting(agent("a"), "/suites/1", &offer)).await, "edition 1");
    assert_eq!(one.word(call(agent("a"), "/suites/1")).await, "edition 1");
    assert_eq!((one.events.take().len(), two.events.take()), (10, vec!["rcns_propose_accepted of a".to_owned()]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn bounds_hold_exactly_among_processes() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = Settings::default();
    settings.synthesis.contracts_per_agent_max = 10.try_into().unwrap();
    settings.synthesis.contracts_max = 25.try_into().unwrap();
    let (one, two) = two(&folder.path().join("store.db"), &settings);
    let parameters = Map::from_iter([("path".to_owned(), json!("/x")), ("recipe".to_owned(), json!("suite"))]);
    let propose = |n: usize| {
        let (process, parameters) = (if n.is_multiple_of(2) { &one } else { &two }, &parameters);
        async move {
            let caller = agent(["a", "b", "c"][n % 3]);
            match process.negotiator.propose(parameters, &caller, &session("s")).await {
                Ok(ProposeOutcome::Approved { .. }) => true,
                Err(NegotiationError::TooMany { .. }) => false,
                other => panic!("{other:?}"),
            }
        }
    };
    let made = join_all((0..60).map(propose)).await.into_iter().filter(|made| *made).count();
    assert_eq!(made, 25);
    for process in [&one, &two] {
        assert_eq!(process.negotiator.list(None, 0, 100).await.unwrap().len(), 25);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_presentation_that_begins_after_a_revocation_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = two(&folder.path().join("store.db"), &Settings::default());
    let (one, two) = (Arc::new(one), Arc::new(two));
    for round in 0..3 {
        let name: Arc<str> = made(&one).await.into();
        let revoked = Arc::new(AtomicUsize::new(0));
        let presentations = (0..200).map(|n| {
            let (process, name, revoked) =
                (if n % 2 == 0 { one.clone() } else { two.clone() }, name.clone(), revoked.clone());
            tokio::spawn(async move {
                let was_revoked = revoked.load(Ordering::SeqCst) == 1;
                let word = process.word(presenting(agent("a"), "/suites/1", &name)).await;
                match word.as_str() {
                    "edition 1" => assert!(!was_revoked, "served after it was revoked"),
                    "464 contract-revoked" => {}
                    other => panic!("{other}"),
                }
                word == "edition 1"
            })
        });
        let presentations: Vec<_> = presentations.collect();
        if round > 0 {
            tokio::task::yield_now().await;
        }
        one.negotiator.revoke(&name, ContractActor::Operator("op"), None).await.unwrap();
        revoked.store(1, Ordering::SeqCst);
        for presentation in presentations {
            presentation.await.unwrap();
        }
        for process in [&one, &two] {
            assert_eq!(process.word(presenting(agent("a"), "/suites/1", &name)).await, "464 contract-revoked");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_who_end_a_contract_one_does() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = two(&folder.path().join("store.db"), &Settings::default());
    let name = made(&one).await;
    let (caller, name) = (agent("a"), &name);
    let ends = (0..20).map(|n| {
        let (process, caller) = (if n % 2 == 0 { &one } else { &two }, &caller);
        async move {
            match n % 3 {
                0 => process.negotiator.release(name, caller, None).await.is_ok(),
                _ => process.negotiator.revoke(name, ContractActor::Operator("op"), None).await.is_ok(),
            }
        }
    });
    assert_eq!(join_all(ends).await.into_iter().filter(|ended| *ended).count(), 1);
    let told = [one.events.take(), two.events.take()].concat();
    assert_eq!(told.len(), 2, "that it was accepted and that it ended, once: {told:?}");
}

#[tokio::test]
async fn contracts_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let world = World::on(opened(&path));
    let process = Process::start(&world);
    let (mine, gone) = (made(&process).await, made(&process).await);
    process.negotiator.revoke(&gone, ContractActor::Operator("op"), None).await.unwrap();
    let clock = world.clock.clone();
    drop((process, world));
    let restarted = Process::start(&World { clock, ..World::on(opened(&path)) });
    assert_eq!(restarted.word(presenting(agent("a"), "/suites/1", &mine)).await, "edition 1");
    assert_eq!(restarted.word(presenting(agent("a"), "/suites/1", &gone)).await, "464 contract-revoked");
}

#[tokio::test]
async fn what_has_ended_never_comes_back_though_its_end_is_forgotten() {
    let world = World::new();
    let process = Process::start(&world);
    let (revoked, released) = (made(&process).await, made(&process).await);
    let offer = process.offered(opted(agent("a"), "/suites/other/1")).await;
    process.negotiator.revoke(&revoked, ContractActor::Operator("op"), None).await.unwrap();
    process.negotiator.release(&released, &agent("a"), None).await.unwrap();
    process.negotiator.release(&offer, &agent("a"), None).await.unwrap();
    // They were made for seven days, and are remembered for one.
    for hours in [23, 2, 24, 96, 48, 24] {
        world.pass(hours * 60 * 60);
        world.store.expire(forecourt_core::Clock::now(&*world.clock), 1_000).await.unwrap();
        let restarted = Process::start(&world);
        for process in [&process, &restarted] {
            for name in [&revoked, &released, &offer] {
                let word = process.word(presenting(agent("a"), "/suites/1", name)).await;
                assert!(matches!(&*word, "464 contract-revoked" | "contract-not-found"), "{word}");
            }
            assert_eq!(process.word(call(agent("a"), "/suites/1")).await, "404");
        }
    }
}

#[tokio::test]
async fn numbers_are_never_given_twice_though_everything_expires() {
    let world = World::new();
    let (one, two) = (Process::start(&world), Process::start(&world));
    made(&one).await;
    two.negotiator.list(None, 0, 10).await.unwrap();
    world.pass(100 * 24 * 60 * 60);
    world.store.expire(forecourt_core::Clock::now(&*world.clock), 1_000).await.unwrap();
    let name = made(&one).await;
    assert_eq!(two.word(presenting(agent("a"), "/suites/1", &name)).await, "edition 1");
}

#[tokio::test]
async fn while_the_store_is_away_nothing_is_served_and_nothing_made() {
    let store = WatchedStore::new();
    let process = Process::with(&World::on(store.clone()), Settings::optimistic());
    let name = made(&process).await;
    assert_eq!(process.word(presenting(agent("a"), "/suites/1", &name)).await, "edition 1");
    store.is_away.store(true, Ordering::SeqCst);
    for call in [
        presenting(agent("a"), "/suites/1", &name),
        call(agent("a"), "/suites/1"),
        opted(agent("b"), "/suites/1"),
        call(agent("c"), "/nowhere"),
    ] {
        assert_eq!(process.word(call).await, "contracts-unavailable");
    }
    let refused = process.negotiator.revoke(&name, ContractActor::Operator("op"), None).await.unwrap_err();
    assert_eq!(refused, ContractRefusal::Unavailable);
    assert_eq!(process.negotiator.sweep(None, "op").await.unwrap_err(), NegotiationError::Unavailable);
    let parameters = Map::from_iter([("path".to_owned(), json!("/x")), ("recipe".to_owned(), json!("suite"))]);
    let proposed = process.negotiator.propose(&parameters, &agent("a"), &session("s")).await;
    assert_eq!(proposed.unwrap_err(), NegotiationError::Unavailable);
    assert_eq!(process.word(call(agent("a"), "/facts")).await, "edition ", "what is registered is served");
    store.is_away.store(false, Ordering::SeqCst);
    assert_eq!(process.word(presenting(agent("a"), "/suites/1", &name)).await, "edition 1");
}

#[tokio::test]
async fn callers_share_reads_that_begin_after_they_came() {
    let store = WatchedStore::new();
    let world = World::on(store.clone());
    let process = Arc::new(Process::start(&world));
    let name: Arc<str> = made(&process).await.into();
    assert_eq!(process.word(presenting(agent("a"), "/suites/1", &name)).await, "edition 1", "it is compiled now");
    let before = store.reads.load(Ordering::SeqCst);
    store.may_read.forget_permits(usize::MAX);
    let present = |process: &Arc<Process>| {
        let (process, name) = (process.clone(), name.clone());
        tokio::spawn(async move { process.word(presenting(agent("a"), "/suites/1", &name)).await })
    };
    let first = present(&process);
    while store.reads.load(Ordering::SeqCst) == before {
        tokio::task::yield_now().await;
    }
    // The first read has its page, which has no revocation in it, and is held back.
    let waiting: Vec<_> = (0..100).map(|_| present(&process)).collect();
    tokio::task::yield_now().await;
    let other = World { clock: world.clock.clone(), ..world.clone() };
    let entry = json!({"kind": "ended", "synthesis_id": &*name, "end": {"kind": "revoked", "at": "2026-01-01T00:00:00Z", "actor": null, "reason": null}});
    let ledger = forecourt_host::Ledger::new(other.store.clone(), other.clock.clone(), "synthesis");
    ledger.append("contracts", entry, None, None).await.unwrap();
    let late: Vec<_> = (0..100).map(|_| present(&process)).collect();
    tokio::task::yield_now().await;
    store.may_read.add_permits(1_000);
    assert_eq!(first.await.unwrap(), "edition 1", "it began before");
    for presentation in waiting.into_iter().chain(late) {
        assert_eq!(presentation.await.unwrap(), "464 contract-revoked");
    }
    assert!(store.reads.load(Ordering::SeqCst) - before <= 3, "{:?} reads of 201 callers", store.reads);
}

#[tokio::test]
async fn an_entry_of_a_newer_program_stops_all_service() {
    let world = World::new();
    let process = Process::start(&world);
    let name = made(&process).await;
    let ledger = forecourt_host::Ledger::new(world.store.clone(), world.clock.clone(), "synthesis");
    ledger.append("contracts", json!({"kind": "ended-otherwise"}), None, None).await.unwrap();
    assert_eq!(process.word(presenting(agent("a"), "/suites/1", &name)).await, "contracts-unavailable");
}
