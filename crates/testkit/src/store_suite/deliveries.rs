//! Webhooks and deliveries: one for each webhook of a task that settles, to one taker at a time.

use std::collections::HashSet;

use forecourt_core::store::{Delivery, IfTaskEnded, Notification, TaskChange, WebhookRegistration};
use forecourt_core::{Task, TaskState};
use futures::future::join_all;

use super::*;

/// A task with webhooks at `https://example.com/{name}`, settled at [`after`]`(1)`.
async fn settled(store: &Fresh, names: &[&str]) -> TaskId {
    let id = hooked(store, names).await;
    assert!(store.advance_task(&id, completed()).await.unwrap());
    id
}

async fn hooked(store: &Fresh, names: &[&str]) -> TaskId {
    let id = created(store, some_task()).await;
    for name in names {
        add(store, &id, &format!("https://example.com/{name}")).await;
    }
    id
}

async fn add(store: &Fresh, task: &TaskId, url: &str) {
    assert_eq!(store.add_webhook(task, webhook(url), 5, IfTaskEnded::Refuse).await.unwrap(), WebhookRegistration::Yes);
}

async fn claim(store: &Fresh, now: u64, lease: u64) -> Vec<Delivery> {
    store.claim_deliveries(after(now), after(lease), 100).await.unwrap()
}

/// A webhook for an unknown task is refused.
pub async fn a_webhook_needs_a_task(store: Fresh) {
    let added =
        store.add_webhook(&some_task().id, webhook("https://example.com/"), 5, IfTaskEnded::Refuse).await.unwrap();
    assert_eq!(added, WebhookRegistration::NoTask);
}

/// The last webhook that fits is taken, and one more is refused.
pub async fn a_task_has_at_most_so_many_webhooks(store: Fresh) {
    let id = created(&store, some_task()).await;
    for n in 0..5 {
        add(&store, &id, &format!("https://example.com/{n}")).await;
    }
    let one_more = webhook("https://example.com/5");
    assert_eq!(store.add_webhook(&id, one_more, 5, IfTaskEnded::Refuse).await.unwrap(), WebhookRegistration::TooMany);
    assert!(store.advance_task(&id, completed()).await.unwrap());
    assert_eq!(claim(&store, 1, 60).await.len(), 5);
}

/// A webhook of an id that exists is replaced in its place, even at the bound, and the new address is told.
pub async fn a_webhook_of_the_same_id_is_replaced_in_its_place(store: Fresh) {
    let id = hooked(&store, &["a", "b"]).await;
    let moved = Webhook { id: webhook("https://example.com/a").id, ..webhook("https://example.com/c") };
    assert_eq!(store.add_webhook(&id, moved.clone(), 2, IfTaskEnded::Refuse).await.unwrap(), WebhookRegistration::Yes);
    let wanted = [moved.clone(), webhook("https://example.com/b")];
    assert_eq!(store.webhooks(&id).await.unwrap(), wanted);
    assert!(store.advance_task(&id, completed()).await.unwrap());
    let due = claim(&store, 1, 60).await;
    assert_eq!(due.into_iter().map(|delivery| delivery.webhook).collect::<Vec<_>>(), wanted);
    assert!(store.webhooks(&some_task().id).await.unwrap().is_empty());
}

/// Tasks in a final state take no webhook, those that wait or work do.
pub async fn a_task_that_ended_takes_no_webhook(store: Fresh) {
    for state in TaskState::ALL {
        let id = created(&store, Task { state, ..some_task() }).await;
        let wanted = if state.is_final() { WebhookRegistration::Ended } else { WebhookRegistration::Yes };
        assert_eq!(
            store.add_webhook(&id, webhook("https://example.com/"), 5, IfTaskEnded::Refuse).await.unwrap(),
            wanted,
            "{state:?}"
        );
    }
}

/// A webhook that was accepted while its task ended is delivered: none falls between the two writes.
pub async fn of_a_webhook_and_an_end_at_once_none_is_lost(store: Fresh) {
    for _ in 0..16 {
        let id = created(&store, some_task()).await;
        let add = store.add_webhook(&id, webhook("https://example.com/"), 5, IfTaskEnded::Refuse);
        let (added, moved) = futures::future::join(add, store.advance_task(&id, completed())).await;
        assert!(moved.unwrap());
        let told = claim(&store, 1, 60).await.len();
        assert_eq!(told, usize::from(added.unwrap() == WebhookRegistration::Yes));
    }
}

/// A removed webhook is not told, whether it was removed before its task settled or after.
pub async fn a_removed_webhook_is_not_told(store: Fresh) {
    let id = hooked(&store, &["a", "b", "c"]).await;
    let remove = async |name: &str| store.remove_webhook(&id, &format!("https://example.com/{name}")).await.unwrap();
    assert!(remove("a").await);
    assert!(!remove("a").await);
    add(&store, &id, "https://example.com/d").await;
    assert!(store.advance_task(&id, completed()).await.unwrap());
    assert!(remove("b").await);
    let urls: Vec<String> = claim(&store, 1, 60).await.into_iter().map(|delivery| delivery.webhook.url).collect();
    assert_eq!(urls, ["c", "d"].map(|name| format!("https://example.com/{name}")));
    assert!(!store.remove_webhook(&some_task().id, "https://example.com/c").await.unwrap());
}

/// After a crash, deliveries that were claimed and not settled are released; those that wait for a retry go on waiting.
pub async fn what_was_claimed_and_not_settled_can_be_released(store: Fresh) {
    settled(&store, &["cut off", "to retry", "never taken"]).await;
    let taken = store.claim_deliveries(after(1), after(60), 2).await.unwrap();
    store.settle_delivery(taken[1].id, Some(after(40))).await.unwrap();
    assert_eq!(store.release_deliveries(after(2)).await.unwrap(), 1);
    assert_eq!(store.release_deliveries(after(2)).await.unwrap(), 0);
    let again = claim(&store, 2, 60).await;
    assert_eq!(again.iter().map(|d| (d.id, d.attempts)).collect::<Vec<_>>(), [(taken[0].id + 2, 0), (taken[0].id, 1)]);
    assert_eq!(claim(&store, 40, 60).await[0].id, taken[1].id);
}

/// Neither a move to `working` nor one that lost the race queues a delivery.
pub async fn only_settling_queues_deliveries(store: Fresh) {
    let id = created(&store, Task { state: TaskState::Submitted, ..some_task() }).await;
    add(&store, &id, "https://example.com/").await;
    let begun =
        TaskChange { from: TaskState::Submitted, to: TaskState::Working, outcome: None, at: start(), ..completed() };
    assert!(store.advance_task(&id, begun.clone()).await.unwrap());
    assert!(!store.advance_task(&id, begun).await.unwrap());
    assert!(claim(&store, 60, 120).await.is_empty());
}

/// A task that settles queues one delivery for each webhook, with the task and the webhook in it.
pub async fn settling_queues_a_delivery_for_each_webhook(store: Fresh) {
    let id = settled(&store, &["a", "b"]).await;
    let due = claim(&store, 1, 60).await;
    let urls: HashSet<String> = due.iter().map(|delivery| delivery.webhook.url.clone()).collect();
    assert_eq!(urls, HashSet::from(["a", "b"].map(|name| format!("https://example.com/{name}"))));
    for delivery in due {
        assert_eq!(delivery.task, store.task(&id, start()).await.unwrap());
        assert_eq!(delivery.attempts, 0);
        assert_eq!(delivery.webhook, webhook(&delivery.webhook.url));
    }
}

/// A claimed delivery is hidden until its lease is over; then the attempt counts, and another taker may try.
pub async fn a_claimed_delivery_is_hidden_until_its_lease(store: Fresh) {
    settled(&store, &["a"]).await;
    assert!(claim(&store, 0, 60).await.is_empty());
    let first = claim(&store, 1, 60).await;
    assert_eq!(first.len(), 1);
    assert!(claim(&store, 59, 120).await.is_empty());
    let second = claim(&store, 60, 120).await;
    assert_eq!((second[0].id, second[0].attempts), (first[0].id, 1));
}

/// A settled delivery is gone or waits for its retry; settling it late, or an unknown one, changes nothing.
pub async fn a_settled_delivery_is_gone_or_waits_for_its_retry(store: Fresh) {
    settled(&store, &["a"]).await;
    let id = claim(&store, 1, 60).await[0].id;
    store.settle_delivery(id, Some(after(30))).await.unwrap();
    assert!(claim(&store, 29, 60).await.is_empty());
    let again = claim(&store, 30, 60).await;
    assert_eq!((again[0].id, again[0].attempts), (id, 1));
    store.settle_delivery(id, None).await.unwrap();
    assert!(claim(&store, 3000, 3060).await.is_empty());
    store.settle_delivery(id, None).await.unwrap();
    store.settle_delivery(id, Some(after(1))).await.unwrap();
    store.settle_delivery(u64::MAX, None).await.unwrap();
    assert!(claim(&store, 3000, 3060).await.is_empty());
}

/// What is put off waits, and nothing is counted; what nobody has taken, or is over, stays as it is.
pub async fn what_is_put_off_was_no_attempt(store: Fresh) {
    settled(&store, &["a"]).await;
    let id = claim(&store, 1, 60).await[0].id;
    for second in [30, 31] {
        store.put_off_delivery(id, after(second)).await.unwrap();
        assert!(claim(&store, second - 1, 60).await.is_empty());
        let again = claim(&store, second, 60).await;
        assert_eq!((again[0].id, again[0].attempts), (id, 0));
    }
    // Its next attempt is one.
    store.settle_delivery(id, Some(after(40))).await.unwrap();
    store.put_off_delivery(id, after(90)).await.unwrap();
    let again = claim(&store, 40, 60).await;
    assert_eq!(again[0].attempts, 1);
    store.settle_delivery(id, None).await.unwrap();
    store.put_off_delivery(id, after(41)).await.unwrap();
    store.put_off_delivery(u64::MAX, after(41)).await.unwrap();
    assert!(claim(&store, 3000, 3060).await.is_empty());
}

/// Deliveries are claimed in the order in which they became due.
pub async fn the_longest_due_come_first(store: Fresh) {
    for second in [3, 1, 2] {
        let id = hooked(&store, &[&second.to_string()]).await;
        assert!(store.advance_task(&id, TaskChange { at: after(second), ..completed() }).await.unwrap());
    }
    let take = async || store.claim_deliveries(after(10), after(60), 2).await.unwrap();
    let urls = |page: Vec<Delivery>| page.into_iter().map(|d| d.webhook.url).collect::<Vec<_>>();
    assert_eq!(urls(take().await), ["https://example.com/1", "https://example.com/2"]);
    assert_eq!(urls(take().await), ["https://example.com/3"]);
    assert!(take().await.is_empty());
}

/// A delivery shows the task as it was when it settled, although it goes on since.
pub async fn a_delivery_shows_the_task_as_it_settled(store: Fresh) {
    let id = hooked(&store, &["a"]).await;
    let asked = TaskChange { to: TaskState::InputRequired, outcome: Some(outcome("Which?")), ..completed() };
    let resumed = TaskChange {
        from: TaskState::InputRequired,
        to: TaskState::Working,
        outcome: None,
        at: after(2),
        ..completed()
    };
    let done = TaskChange { at: after(3), ..completed() };
    for change in [asked, resumed, done] {
        assert!(store.advance_task(&id, change).await.unwrap());
    }
    let seen: Vec<_> = claim(&store, 10, 60).await.into_iter().filter_map(|d| d.task).collect();
    let shows = |task: &Task| (task.state, task.updated_at, task.outcome.clone());
    assert_eq!(shows(&seen[0]), (TaskState::InputRequired, after(1), Some(outcome("Which?"))));
    assert_eq!(shows(&seen[1]), (TaskState::Completed, after(3), Some(outcome("Soup."))));
}

/// Who asks late hears of the end at once, and alone; also in place of an earlier webhook of its id.
pub async fn a_webhook_of_an_ended_task_is_told_at_once(store: Fresh) {
    let id = settled(&store, &["a"]).await;
    assert_eq!(claim(&store, 2, 60).await.len(), 1);
    let late = webhook("https://example.com/late");
    for _ in 0..2 {
        assert_eq!(store.add_webhook(&id, late.clone(), 5, IfTaskEnded::Tell).await.unwrap(), WebhookRegistration::Yes);
        let due = claim(&store, 3, 60).await;
        assert_eq!(due.iter().map(|d| &d.webhook).collect::<Vec<_>>(), [&late]);
        assert_eq!(due[0].task, store.task(&id, start()).await.unwrap());
    }
}

fn notice(name: &str, due: u64, until: u64) -> Notification {
    let webhook = webhook(&format!("https://example.com/{name}"));
    Notification { webhook, account: Account::HOST, due_at: after(due), expires_at: after(until) }
}

/// A notice is due without a task, in one order with the deliveries of tasks.
pub async fn a_notice_is_due_without_a_task(store: Fresh) {
    settled(&store, &["task"]).await;
    for notice in [notice("late", 2, 60), notice("early", 0, 60), notice("over", 0, 3)] {
        store.enqueue(notice).await.unwrap();
    }
    let due = claim(&store, 3, 60).await;
    let told: Vec<_> = due.iter().map(|d| (d.webhook.url.rsplit('/').next().unwrap(), d.task.is_some())).collect();
    assert_eq!(told, [("early", false), ("task", true), ("late", false)]);
    store.settle_delivery(due[0].id, Some(after(5))).await.unwrap();
    let again = claim(&store, 5, 60).await;
    assert_eq!(again.iter().map(|d| (d.id, d.attempts)).collect::<Vec<_>>(), [(due[0].id, 1)]);
    assert_eq!(store.release_deliveries(after(6)).await.unwrap(), 3);
    assert_eq!(claim(&store, 6, 60).await.len(), 3);
}

/// An expired notice is removed.
pub async fn an_expired_notice_is_removed(store: Fresh) {
    store.enqueue(notice("a", 0, 10)).await.unwrap();
    store.expire(after(9), 100).await.unwrap();
    assert_eq!(claim(&store, 9, 9).await.len(), 1);
    store.expire(after(10), 100).await.unwrap();
    assert_eq!(store.release_deliveries(after(1)).await.unwrap(), 0);
}

/// Of 16 claimers at once each delivery meets exactly one.
pub async fn of_16_claimers_at_once_each_delivery_meets_one(store: Fresh) {
    for _ in 0..8 {
        settled(&store, &["a", "b", "c"]).await;
    }
    let claims = (0..16).map(|_| store.claim_deliveries(after(1), after(60), 3));
    let claimed: Vec<u64> =
        join_all(claims).await.into_iter().flat_map(|page| page.unwrap().into_iter().map(|d| d.id)).collect();
    assert_eq!(claimed.len(), 24);
    assert_eq!(claimed.iter().collect::<HashSet<_>>().len(), 24);
}

/// A delivery for an expired task is not made.
pub async fn an_expired_task_is_not_delivered(store: Fresh) {
    settled(&store, &["a"]).await;
    assert!(claim(&store, 3600, 3660).await.is_empty());
    assert_eq!(claim(&store, 3599, 3660).await.len(), 1);
}
