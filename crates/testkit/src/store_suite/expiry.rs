//! What is over goes, in small batches, and takes along what hangs on it.

use forecourt_core::store::{Span, WebhookRegistration};
use forecourt_core::{Event, Role, Task, Turn};

use super::artifacts::artifact;
use super::ledger::entry;
use super::*;

/// Three tasks, two conversations, two claims, a route and an entry that end at 10.
async fn nine_things(store: &Fresh) {
    for _ in 0..3 {
        created(store, Task { expires_at: after(10), ..some_task() }).await;
    }
    for _ in 0..2 {
        let turns = vec![Turn::text(Role::User, "a")];
        store.append_turns(&some_thread(), &chef(), addition(turns, 10, after(10))).await.unwrap();
    }
    for key in ["a", "b"] {
        assert!(store.claim_once(key, start(), after(10)).await.unwrap());
    }
    store.set_route(&some_thread(), &chef(), after(10), &Account::HOST).await.unwrap();
    let ends = entry("a".into(), 0).until(after(10));
    assert_eq!(store.append_entry("ends", ends, None).await.unwrap(), Some(1));
}

/// One call of `expire` removes at most its limit; repeated, it removes everything that has ended.
pub async fn expiring_removes_at_most_the_limit(store: Fresh) {
    nine_things(&store).await;
    assert_eq!(store.expire(after(9), 100).await.unwrap(), 0);
    assert_eq!(store.expire(after(10), 0).await.unwrap(), 0);
    assert_eq!(store.expire(after(10), 4).await.unwrap(), 4);
    assert_eq!(store.expire(after(10), 3).await.unwrap(), 3);
    assert_eq!(store.expire(after(10), 1).await.unwrap(), 1);
    assert_eq!(store.expire(after(10), 4).await.unwrap(), 1);
    assert_eq!(store.expire(after(10), 4).await.unwrap(), 0);
}

/// Expiring a task removes all that hangs on it: the same id begins anew.
pub async fn expiring_takes_all_that_hangs_on_a_task(store: Fresh) {
    let task = some_task();
    let id = created(&store, task.clone()).await;
    let events: Vec<Event> = (0..5_000).map(|n| Event::Text(n.to_string())).collect();
    store.append_events(&id, "run-1", 1, events).await.unwrap();
    store.put_artifact(&id, "run-1", artifact("a", "x")).await.unwrap();
    assert_eq!(
        store
            .add_webhook(&id, webhook("https://example.com/"), 1, forecourt_core::store::IfTaskEnded::Refuse)
            .await
            .unwrap(),
        WebhookRegistration::Yes
    );
    assert!(store.advance_task(&id, completed()).await.unwrap());

    assert_eq!(store.expire(task.expires_at, 10).await.unwrap(), 1);
    created(&store, task.clone()).await;
    assert!(store.events(&id, 0, 10).await.unwrap().is_empty());
    assert_eq!(store.artifact(&id, "a", start()).await.unwrap(), None);
    assert!(store.claim_deliveries(after(10), after(60), 10).await.unwrap().is_empty());
    assert_eq!(
        store
            .add_webhook(&id, webhook("https://example.com/"), 1, forecourt_core::store::IfTaskEnded::Refuse)
            .await
            .unwrap(),
        WebhookRegistration::Yes
    );
}

/// Expiring touches nothing that has time left.
pub async fn the_living_stay(store: Fresh) {
    nine_things(&store).await;
    let living = some_task();
    let id = created(&store, living.clone()).await;
    store.append_events(&id, "run-1", 1, vec![Event::Text("a".to_owned())]).await.unwrap();
    assert!(store.claim_once("c", start(), after(11)).await.unwrap());
    let thread = some_thread();
    store.append_turns(&thread, &chef(), addition(vec![], 10, after(11))).await.unwrap();
    store.set_route(&thread, &chef(), after(11), &Account::HOST).await.unwrap();
    for living in [entry("a".into(), 0).until(after(11)), entry("b".into(), 0)] {
        store.append_entry("living", living, None).await.unwrap();
    }

    assert_eq!(store.expire(after(10), 100).await.unwrap(), 9);
    assert_eq!(store.entries("living", Span::After(0), 9, after(10)).await.unwrap().len(), 2);
    assert_eq!(store.route(&thread, after(10)).await.unwrap(), Some(chef()));
    assert_eq!(store.task(&id, after(10)).await.unwrap(), Some(living));
    assert_eq!(store.events(&id, 0, 10).await.unwrap().len(), 1);
    assert!(!store.claim_once("c", after(10), after(60)).await.unwrap());
    assert!(store.thread(&thread, &chef(), after(10)).await.unwrap().is_some());
}

/// A fresh store says that it is ready, as often as it is asked.
pub async fn a_fresh_store_is_ready(store: Fresh) {
    for _ in 0..3 {
        store.ready().await.unwrap();
    }
}
