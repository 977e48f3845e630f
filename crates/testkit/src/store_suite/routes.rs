//! Routes: which agent a conversation is with, for a while.

use super::*;

async fn set(store: &Fresh, thread: &ThreadId, agent: &str, until: u64) {
    store.set_route(thread, &handle(agent), after(until), &Account::HOST).await.unwrap();
}

async fn route(store: &Fresh, thread: &ThreadId, now: u64) -> Option<String> {
    store.route(thread, after(now)).await.unwrap().map(|agent| agent.as_str().to_owned())
}

/// One that was never set, beside one that was; and a name that two callers gave.
pub async fn an_unknown_route_is_none(store: Fresh) {
    let [anns, bobs] = ["ann", "bob"].map(|owner| ThreadId::adopt_for(owner, "ctx").expect("a name"));
    set(&store, &anns, "chef", 60).await;
    assert_eq!(route(&store, &anns, 0).await.as_deref(), Some("chef"));
    assert_eq!(route(&store, &bobs, 0).await, None);
    assert_eq!(route(&store, &some_thread(), 0).await, None);
}

/// Setting a route again replaces the agent that it leads to.
pub async fn a_route_is_replaced(store: Fresh) {
    let thread = some_thread();
    set(&store, &thread, "chef", 60).await;
    set(&store, &thread, "baker", 60).await;
    assert_eq!(route(&store, &thread, 0).await.as_deref(), Some("baker"));
}

/// A route is there until the moment of its end, unless it is set again.
pub async fn a_route_expires_unless_it_is_set_again(store: Fresh) {
    let thread = some_thread();
    set(&store, &thread, "chef", 60).await;
    assert!(route(&store, &thread, 59).await.is_some());
    assert_eq!(route(&store, &thread, 60).await, None);
    set(&store, &thread, "chef", 120).await;
    assert!(route(&store, &thread, 119).await.is_some());
}
