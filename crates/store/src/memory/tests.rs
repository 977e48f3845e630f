//! The bounds of a store in memory, at n and n + 1.

use forecourt_core::limits::DELIVERIES_PENDING_MAX;
use forecourt_core::store::{IfTaskEnded, LedgerEntry, StoredArtifact, TaskChange, Webhook, WebhookRegistration};
use forecourt_core::{Account, Handle, Task, TaskId, TaskState, ThreadId, Timestamp};
use forecourt_testkit::CountedEntropy;
use forecourt_testkit::store_suite::{addition, after, completed, is_unavailable, some_task, start, webhook};

use super::kept::{KeptEntry, Route};
use crate::limits::{
    ARTIFACTS_BYTES_MAX, MEMORY_CLAIMS_MAX, MEMORY_ENTRIES_MAX, MEMORY_ROUTES_MAX, MEMORY_TASKS_MAX, MEMORY_THREADS_MAX,
};

#[test]
fn tasks_are_bounded_until_some_expire() {
    let mut kept = KeptEntry::default();
    for _ in 0..MEMORY_TASKS_MAX {
        kept.create_task(some_task(), Vec::new()).unwrap();
    }
    assert!(is_unavailable(&kept.create_task(some_task(), Vec::new())));
    assert_eq!(kept.expire(after(3600), 1), 1);
    kept.create_task(some_task(), Vec::new()).unwrap();
}

#[test]
fn conversations_are_bounded_and_those_that_exist_go_on() {
    let mut kept = KeptEntry::default();
    let entropy = CountedEntropy::default();
    let chef = Handle::parse("chef").unwrap();
    let mut begin = |thread| kept.append_turns((thread, chef.clone()), addition(vec![], 1, after(60)));
    let first = ThreadId::mint(&entropy);
    begin(first.clone()).unwrap();
    for _ in 1..MEMORY_THREADS_MAX {
        begin(ThreadId::mint(&entropy)).unwrap();
    }
    assert!(is_unavailable(&begin(ThreadId::mint(&entropy))));
    begin(first).unwrap();
}

#[test]
fn routes_are_bounded_and_those_that_exist_change() {
    let mut kept = KeptEntry::default();
    let entropy = CountedEntropy::default();
    let chef = Handle::parse("chef").unwrap();
    let route = || Route { agent: chef.clone(), expires_at: after(60), account: Account::HOST };
    let first = ThreadId::mint(&entropy);
    kept.set_route(first.clone(), route()).unwrap();
    for _ in 1..MEMORY_ROUTES_MAX {
        kept.set_route(ThreadId::mint(&entropy), route()).unwrap();
    }
    assert!(is_unavailable(&kept.set_route(ThreadId::mint(&entropy), route())));
    kept.set_route(first, route()).unwrap();
}

#[test]
fn claims_are_bounded() {
    let mut kept = KeptEntry::default();
    for n in 0..MEMORY_CLAIMS_MAX {
        assert!(kept.claim_once(n.to_string(), start(), after(60)).unwrap());
    }
    assert!(is_unavailable(&kept.claim_once("more".to_owned(), start(), after(60))));
    assert!(!kept.claim_once("0".to_owned(), start(), after(60)).unwrap());
}

#[test]
fn entries_are_bounded_until_some_expire() {
    let mut kept = KeptEntry::default();
    let append = |kept: &mut KeptEntry| {
        kept.append_entry("a".to_owned(), LedgerEntry::new(0.into(), start()).until(after(60)), None)
    };
    for _ in 0..MEMORY_ENTRIES_MAX {
        append(&mut kept).unwrap();
    }
    assert!(is_unavailable(&append(&mut kept)));
    assert_eq!(kept.expire(after(60), 1), 1);
    append(&mut kept).unwrap();
}

#[test]
fn waiting_deliveries_are_bounded() {
    const PER_TASK: usize = 100;
    let mut kept = KeptEntry::default();
    for _ in 0..DELIVERIES_PENDING_MAX / PER_TASK {
        let id = working(&mut kept);
        for n in 0..PER_TASK {
            assert_eq!(
                kept.add_webhook(&id, hook(n), PER_TASK, IfTaskEnded::Refuse).unwrap(),
                WebhookRegistration::Yes
            );
        }
        assert!(kept.advance_task(&id, change(after(1))).unwrap());
    }
    let id = working(&mut kept);
    assert!(is_unavailable(&kept.add_webhook(&id, hook(0), PER_TASK, IfTaskEnded::Refuse)));
    kept.settle_delivery(1, None);
    assert_eq!(kept.add_webhook(&id, hook(0), PER_TASK, IfTaskEnded::Refuse).unwrap(), WebhookRegistration::Yes);
}

#[test]
fn artifacts_are_bounded_by_their_bytes() {
    const SIZE: usize = 16 * 1024 * 1024;
    let mut kept = KeptEntry::default();
    let id = working(&mut kept);
    let bytes = bytes::Bytes::from(vec![0; SIZE]);
    let artifact = |n: u64| StoredArtifact {
        id: n.to_string(),
        mime: "image/png".to_owned(),
        name: None,
        // Shared, so that a test of a gigabyte needs none.
        bytes: bytes.clone(),
    };
    let most = ARTIFACTS_BYTES_MAX / SIZE as u64;
    for n in 0..most {
        kept.put_artifact(&id, "run-1", artifact(n)).unwrap();
    }
    assert!(is_unavailable(&kept.put_artifact(&id, "run-1", artifact(most))));
    kept.put_artifact(&id, "run-1", artifact(0)).unwrap();
    assert_eq!(kept.expire(after(3600), 1), 1);
    let id = working(&mut kept);
    kept.put_artifact(&id, "run-1", artifact(most)).unwrap();
}

fn working(kept: &mut KeptEntry) -> TaskId {
    let task = Task { state: TaskState::Working, ..some_task() };
    let id = task.id.clone();
    kept.create_task(task, Vec::new()).unwrap();
    id
}

fn hook(n: usize) -> Webhook {
    webhook(&format!("https://example.com/{n}"))
}

fn change(at: Timestamp) -> TaskChange {
    TaskChange { at, ..completed() }
}
