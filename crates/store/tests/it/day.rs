//! A day of a store, one step after another, so that its n-th write is the same each time; each step that is durable is
//! told of.

use forecourt_core::store::{LedgerEntry, TaskChange};
use forecourt_core::{Account, Event, Role, Store, StoreError, Task, TaskId, ThreadId, Turn};
use forecourt_testkit::store_suite::artifacts::artifact;
use forecourt_testkit::store_suite::{addition, after, chef, completed, some_task, start, webhook};

use crate::acknowledged::System;

/// What a task goes through.
pub(crate) async fn morning(store: &dyn Store, mut acknowledge: impl FnMut(&str, &str)) -> Result<(), StoreError> {
    let account: Account = serde_json::from_value("subject:ada".into()).expect("an account");
    let task = Task { id: TaskId::mint(&System), account, ..some_task() };
    let (id, name) = (task.id.clone(), task.id.expose().to_owned());
    store.create_task(task, vec![webhook("https://a.example/")]).await?;
    acknowledge("task", &name);
    for n in 1..3 {
        store.append_events(&id, "run-1", n, vec![Event::Text(format!("{n}"))]).await?;
        acknowledge("event", &name);
    }
    store.put_artifact(&id, "run-1", artifact("plot", vec![7; 20_000])).await?;
    acknowledge("artifact", &name);
    if store.advance_task(&id, TaskChange { at: after(1), ..completed() }).await? {
        acknowledge("done", &name);
    }
    Ok(())
}

/// What else is kept, each by itself.
pub(crate) async fn evening(
    store: &dyn Store,
    stream: &str,
    mut acknowledge: impl FnMut(&str, &str),
) -> Result<(), StoreError> {
    let thread = ThreadId::mint(&System);
    store.append_turns(&thread, &chef(), addition(vec![Turn::text(Role::User, "a")], 9, after(60))).await?;
    acknowledge("turn", thread.expose());
    store.set_route(&thread, &chef(), after(60), &Account::HOST).await?;
    acknowledge("route", thread.expose());
    if store.claim_once(thread.expose(), start(), after(60)).await? {
        acknowledge("claim", thread.expose());
    }
    for _ in 0..2 {
        let entry = LedgerEntry::new("entry".into(), start()).until(after(60));
        if store.append_entry(stream, entry, None).await?.is_some() {
            acknowledge("entry", stream);
        }
    }
    for delivery in store.claim_deliveries(after(2), after(60), 9).await? {
        store.settle_delivery(delivery.id, None).await?;
    }
    store.beat("run-1").await?;
    Ok(())
}
