//! Stored bytes: bounded for each caller, given back as things expire. Design 36.

use std::net::IpAddr;

use forecourt_core::network::Network;
use forecourt_core::store::{IfTaskEnded, LedgerEntry, Notification, QuotaBound, Resumption, StoredArtifact};
use forecourt_core::{CallerKey, Event, limits};
use serde_json::json;

use super::*;

/// Bytes of one thing in most cases.
const PIECE: usize = 16 * 1024;
/// More pieces than fit.
const PIECES: usize = CALLER_BYTES as usize / PIECE + 1;

fn ann() -> Account {
    CallerKey::of(None, None, Some(Network::of(IpAddr::from([192, 0, 2, 1])))).account()
}

fn bob() -> Account {
    CallerKey::of(None, None, Some(Network::of(IpAddr::from([192, 0, 2, 2])))).account()
}

/// Text that no compression makes shorter by half.
pub fn noise(len: usize) -> String {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'A' + (state >> 60) as u8)
    };
    std::iter::repeat_with(next).take(len).collect()
}

fn said(account: Account, len: usize) -> Task {
    Task { account, turns: vec![Turn::text(Role::User, noise(len))], ..some_task() }
}

/// What is added to a conversation of this account.
fn on(account: Account, turns: Vec<Turn>) -> ConversationAppend {
    ConversationAppend { account, ..addition(turns, 10, after(60)) }
}

/// A webhook of about a piece.
fn long_webhook(name: &str) -> Webhook {
    let details = json!({ "note": noise(PIECE) }).as_object().cloned().unwrap_or_default();
    Webhook { details, ..webhook(&format!("https://example.com/{name}")) }
}

/// Whether a result names the bound of a caller.
pub fn is_full<T>(result: &Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Full { bound: QuotaBound::Caller { max: CALLER_BYTES } }))
}

/// Keeps things until one is refused by name; gives how many were kept, some and not more than fit.
async fn filled<T, F: Future<Output = Result<T, StoreError>>>(piece: usize, mut keep: impl FnMut(usize) -> F) -> usize {
    let fit = CALLER_BYTES as usize / piece;
    for n in 0..=fit {
        let kept = keep(n).await;
        if kept.is_err() {
            assert!(is_full(&kept), "{:?}", kept.err());
            assert!(n > 0, "nothing was kept");
            return n;
        }
    }
    panic!("more was kept than the bound allows");
}

/// A task that has used up what its caller may store, by its events.
async fn full_task(store: &Fresh, account: Account) -> TaskId {
    let id = created(store, Task { account, ..some_task() }).await;
    filled(PIECE, |n| store.append_events(&id, "run-1", n as u64 + 1, vec![Event::Text(noise(PIECE))])).await;
    while store.append_events(&id, "run-1", store.last_event(&id).await.unwrap() + 1, vec![word()]).await.is_ok() {}
    id
}

fn word() -> Event {
    Event::Text("x".to_owned())
}

/// One caller's bound is not another's.
pub async fn design_36_tasks_are_kept_up_to_the_bound_of_their_caller(store: Fresh) {
    let last = std::cell::RefCell::new(None);
    filled(PIECE, |_| {
        let task = said(ann(), PIECE);
        last.replace(Some(task.id.clone()));
        store.create_task(task, Vec::new())
    })
    .await;
    let refused = last.take().expect("one was refused");
    assert_eq!(store.task(&refused, start()).await.unwrap(), None);
    assert!(is_full(&store.room(&ann(), PIECE as u64).await));
    store.room(&bob(), PIECE as u64).await.unwrap();
    store.create_task(said(bob(), PIECE), Vec::new()).await.unwrap();
}

/// The events, artifacts and webhooks of a task each count against the bound of its account.
pub async fn design_36_all_that_hangs_on_a_task_counts(store: Fresh) {
    let accounts =
        [1, 2, 3].map(|n| CallerKey::of(None, None, Some(Network::of(IpAddr::from([192, 0, 2, n])))).account());
    let mut ids = Vec::new();
    for account in &accounts {
        ids.push(created(&store, Task { account: account.clone(), ..some_task() }).await);
    }
    filled(PIECE, |n| store.append_events(&ids[0], "run-1", n as u64 + 1, vec![Event::Text(noise(PIECE))])).await;
    filled(PIECE, |n| {
        let (id, bytes) = (format!("artifact-{n}"), noise(PIECE).into_bytes());
        store.put_artifact(
            &ids[1],
            "run-1",
            StoredArtifact { id, mime: "x/y".to_owned(), name: None, bytes: bytes.into() },
        )
    })
    .await;
    filled(PIECE, |n| {
        let webhook = long_webhook(&n.to_string());
        store.add_webhook(&ids[2], webhook, PIECES, IfTaskEnded::Refuse)
    })
    .await;
    for account in accounts {
        assert!(is_full(&store.create_task(said(account, PIECE), Vec::new()).await));
    }
}

/// Webhooks count, those that a task begins with and those that it goes on with.
pub async fn design_36_webhooks_that_come_with_a_task_count(store: Fresh) {
    let begin = |_| store.create_task(said(ann(), 1), vec![long_webhook("a")]);
    filled(PIECE, begin).await;
    let id = created(&store, Task { account: bob(), state: TaskState::InputRequired, ..some_task() }).await;
    filled(PIECE, |_| store.create_task(said(bob(), PIECE), Vec::new())).await;
    let webhooks = vec![long_webhook("a")];
    let resumption = Resumption { run: "run".to_owned(), turns: Vec::new(), webhooks, expires_at: after(60) };
    let waiting = store.task(&id, start()).await.unwrap().expect("it is there");
    assert!(is_full(&store.advance_task(&id, TaskChange::resume(&waiting, resumption, after(1))).await));
    assert_eq!(store.task(&id, start()).await.unwrap(), Some(waiting));
    assert_eq!(store.webhooks(&id).await.unwrap(), []);
}

/// A notice counts until it is delivered or expires.
pub async fn design_36_a_notice_counts_while_it_waits(store: Fresh) {
    let notice =
        |account: Account| Notification { webhook: long_webhook("a"), account, due_at: start(), expires_at: after(60) };
    let kept = filled(PIECE, |_| store.enqueue(notice(ann()))).await;
    assert!(is_full(&store.create_task(said(ann(), PIECE), Vec::new()).await));
    store.enqueue(notice(Account::HOST)).await.unwrap();
    let due = store.claim_deliveries(start(), after(1), kept).await.unwrap();
    assert_eq!(due.len(), kept);
    store.settle_delivery(due[0].id, None).await.unwrap();
    store.enqueue(notice(ann())).await.unwrap();
    assert!(is_full(&store.enqueue(notice(ann())).await));
    while store.expire(after(60), 100).await.unwrap() > 0 {}
    store.room(&ann(), CALLER_BYTES).await.unwrap();
}

/// What another owner may not add to a conversation is charged to nobody, and the conversation stays whose it was.
pub async fn design_36_what_another_owner_would_add_costs_nothing(store: Fresh) {
    let thread = some_thread();
    let turns = || vec![Turn::text(Role::User, noise(CALLER_BYTES as usize * 2 / 3))];
    let of =
        |account: Account, owner: &str| ConversationAppend { owner: Some(owner.to_owned()), ..on(account, turns()) };
    assert!(store.append_turns(&thread, &chef(), of(ann(), "ann")).await.unwrap().is_some());
    assert!(store.append_turns(&thread, &chef(), of(bob(), "bob")).await.unwrap().is_none());
    store.room(&bob(), CALLER_BYTES).await.unwrap();
    assert!(is_full(&store.create_task(said(ann(), CALLER_BYTES as usize / 2), Vec::new()).await));
}

/// A task ends even when its caller has used up all bytes: else it could never end.
pub async fn design_36_a_task_can_always_end(store: Fresh) {
    let id = full_task(&store, ann()).await;
    assert!(is_full(&store.create_task(said(ann(), 1), Vec::new()).await));
    assert!(store.advance_task(&id, completed()).await.unwrap());
    let task = store.task(&id, start()).await.unwrap().expect("it is there");
    assert_eq!((task.state, task.outcome), (TaskState::Completed, Some(outcome("Soup."))));
}

/// A long outcome is refused when its caller has used up all bytes, and the task stays as it was.
pub async fn design_36_a_long_outcome_counts(store: Fresh) {
    let id = full_task(&store, ann()).await;
    let long = TaskChange::settle(&some_task(), outcome(&noise(PIECE)), after(1));
    assert!(is_full(&store.advance_task(&id, long).await));
    let task = store.task(&id, start()).await.unwrap().expect("it is there");
    assert_eq!((task.state, task.outcome), (TaskState::Working, None));
}

/// Bytes of words whose answer is within what a task reserves: said in one event, and once more in the outcome.
pub const SHORT: usize = 700;

/// The whole answer of a task: its words as an event, then as its outcome. Whether all of it was taken.
pub async fn answered(store: &Fresh, id: &TaskId, len: usize) -> bool {
    let last = store.last_event(id).await.unwrap();
    let logged = store.append_events(id, "run-1", last + 1, vec![Event::Text(noise(len))]).await;
    let change = TaskChange::settle(&some_task(), outcome(&noise(len)), after(1));
    logged.is_ok() && matches!(store.advance_task(id, change).await, Ok(true))
}

/// Uses up what an account has left, in smaller and smaller pieces.
pub async fn fill(store: &Fresh, account: &Account) {
    for len in [PIECE, 1_000, 1] {
        let turns = || vec![Turn::text(Role::User, noise(len))];
        while store.append_turns(&some_thread(), &chef(), on(account.clone(), turns())).await.is_ok() {}
    }
}

/// What a task reserves is its own: whatever else its account is filled with, its answer is taken.
pub async fn design_36_a_task_under_way_has_room_for_its_answer_when_its_account_is_full(store: Fresh) {
    let ids = [created(&store, said(ann(), 1)).await, created(&store, said(ann(), 1)).await];
    fill(&store, &ann()).await;
    assert!(is_full(&store.room(&ann(), 2 * limits::ROW_BYTES).await));
    for id in &ids {
        assert!(answered(&store, id, SHORT).await);
    }
}

/// What a task at work reserves is given back as it ends.
pub async fn design_36_what_a_task_reserved_is_given_back_as_it_ends(store: Fresh) {
    let id = created(&store, said(ann(), 1)).await;
    assert!(is_full(&store.room(&ann(), CALLER_BYTES - ANSWER_BYTES).await));
    assert!(store.advance_task(&id, completed()).await.unwrap());
    store.room(&ann(), CALLER_BYTES - ANSWER_BYTES).await.unwrap();
}

/// Of many tasks at once near the bound each one is refused, or has its answer: none is acknowledged and then lost.
pub async fn design_36_of_200_tasks_at_once_each_acknowledged_one_has_its_answer(store: Fresh) {
    let work = (0..200).map(|_| async {
        let task = said(ann(), 100);
        let id = task.id.clone();
        let made = store.create_task(task, Vec::new()).await;
        if let Err(error) = &made {
            assert!(matches!(error, StoreError::Full { bound: QuotaBound::Caller { .. } }), "{error:?}");
            return false;
        }
        assert!(answered(&store, &id, SHORT).await, "it was acknowledged");
        assert_eq!(store.task(&id, start()).await.unwrap().map(|task| task.state), Some(TaskState::Completed));
        true
    });
    let kept = futures::future::join_all(work).await.into_iter().filter(|kept| *kept).count();
    assert!(kept > 10 && kept < 200, "{kept} were acknowledged");
}

/// A task that goes on after a question reserves anew, and is refused where it can't.
pub async fn design_36_a_task_that_goes_on_reserves_anew(store: Fresh) {
    let resume = async |id: &TaskId| {
        let waiting = store.task(id, start()).await.unwrap().expect("it is there");
        let (run, turns) = ("run-1".to_owned(), vec![Turn::text(Role::User, "Yes.")]);
        let resumption = Resumption { run, turns, webhooks: Vec::new(), expires_at: after(3600) };
        store.advance_task(id, TaskChange::resume(&waiting, resumption, after(2))).await
    };
    let ask = async |account: Account| {
        let id = created(&store, said(account, 1)).await;
        let asked = TaskChange { to: TaskState::InputRequired, ..completed() };
        assert!(store.advance_task(&id, asked).await.unwrap());
        id
    };
    let id = ask(ann()).await;
    assert!(resume(&id).await.unwrap());
    fill(&store, &ann()).await;
    assert!(answered(&store, &id, SHORT).await);
    let id = ask(bob()).await;
    fill(&store, &bob()).await;
    assert!(is_full(&resume(&id).await));
}

/// A task that expires while it is worked on gives back what it reserved, too.
pub async fn design_36_what_an_expired_task_reserved_is_given_back(store: Fresh) {
    let id = created(&store, said(ann(), 1)).await;
    store.append_events(&id, "run-1", 1, vec![word()]).await.unwrap();
    while store.expire(after(3600), 100).await.unwrap() > 0 {}
    store.room(&ann(), CALLER_BYTES).await.unwrap();
}

/// Conversations, routes and entries each count against the bound of their account.
pub async fn design_36_conversations_routes_and_entries_count(store: Fresh) {
    let accounts =
        [1, 2, 3].map(|n| CallerKey::of(None, None, Some(Network::of(IpAddr::from([192, 0, 2, n])))).account());
    let agent = chef();
    let threads: Vec<ThreadId> = (0..=CALLER_BYTES / limits::ROW_BYTES).map(|_| some_thread()).collect();
    filled(PIECE, |n| {
        let turns = vec![Turn::text(Role::User, noise(PIECE))];
        store.append_turns(&threads[n], &agent, on(accounts[0].clone(), turns))
    })
    .await;
    filled(limits::ROW_BYTES as usize, |n| store.set_route(&threads[n], &agent, after(60), &accounts[1])).await;
    // One that is there already costs nothing more.
    store.set_route(&threads[0], &handle("baker"), after(60), &accounts[1]).await.unwrap();
    filled(PIECE, |_| {
        store.append_entry("s", LedgerEntry::new(json!(noise(PIECE)), start()).on(accounts[2].clone()), None)
    })
    .await;
}

/// A conversation is charged to the account that wrote to it last, with all of its bytes.
pub async fn design_36_a_conversation_belongs_to_who_wrote_to_it_last(store: Fresh) {
    let thread = some_thread();
    let turns = || vec![Turn::text(Role::User, noise(CALLER_BYTES as usize * 2 / 3))];
    store.append_turns(&thread, &chef(), on(ann(), turns())).await.unwrap();
    assert!(is_full(&store.append_turns(&some_thread(), &chef(), on(ann(), turns())).await));
    store.append_turns(&thread, &chef(), on(bob(), vec![Turn::text(Role::User, "hi")])).await.unwrap();
    store.append_turns(&some_thread(), &chef(), on(ann(), turns())).await.unwrap();
    assert!(is_full(&store.append_turns(&some_thread(), &chef(), on(bob(), turns())).await));
}

/// Expired tasks, conversations, routes and entries give all of their bytes back.
pub async fn design_36_what_expires_is_given_back(store: Fresh) {
    let third = CALLER_BYTES as usize / 4;
    for _ in 0..3 {
        let id = created(&store, said(ann(), 100)).await;
        store.append_events(&id, "run-1", 1, vec![Event::Text(noise(third))]).await.unwrap();
        store.put_artifact(&id, "run-1", artifacts::artifact("a", noise(100))).await.unwrap();
        let turns = vec![Turn::text(Role::User, noise(third))];
        store.append_turns(&some_thread(), &chef(), on(ann(), turns)).await.unwrap();
        store.set_route(&some_thread(), &chef(), after(60), &ann()).await.unwrap();
        let entry = LedgerEntry::new(json!(noise(third)), start()).until(after(60)).on(ann());
        store.append_entry("s", entry, None).await.unwrap();
        assert!(is_full(&store.create_task(said(ann(), third), Vec::new()).await));
        while store.expire(after(3600), 100).await.unwrap() > 0 {}
        store.room(&ann(), CALLER_BYTES - 4 * limits::STORED_PAGE_BYTES).await.unwrap();
    }
}

/// What the host writes is charged to no caller and has no bound of an account.
pub async fn design_36_what_the_host_writes_is_nobodys(store: Fresh) {
    for _ in 0..2 {
        store.create_task(said(Account::HOST, CALLER_BYTES as usize), Vec::new()).await.unwrap();
    }
    store.room(&Account::HOST, CALLER_BYTES * 2).await.unwrap();
}

/// A write that is refused for its size leaves nothing behind: no first event of two, no conversation, no webhook.
pub async fn a_refused_write_changes_nothing(store: Fresh) {
    let id = full_task(&store, ann()).await;
    let last = store.last_event(&id).await.unwrap();
    let two = vec![Event::Text("a".to_owned()), Event::Text(noise(PIECE))];
    assert!(is_full(&store.append_events(&id, "run-1", last + 1, two).await));
    assert_eq!(store.last_event(&id).await.unwrap(), last);
    let thread = some_thread();
    let turns = vec![Turn::text(Role::User, noise(PIECE))];
    assert!(is_full(&store.append_turns(&thread, &chef(), on(ann(), turns)).await));
    assert_eq!(store.thread(&thread, &chef(), start()).await.unwrap(), None);
    assert!(is_full(&store.add_webhook(&id, webhook("https://example.com/"), 5, IfTaskEnded::Refuse).await));
    assert_eq!(store.webhooks(&id).await.unwrap(), []);
}

/// Of 64 writers at once none gets past the bound: the check and the write are one step.
pub async fn of_64_writers_at_once_none_gets_past_the_bound(store: Fresh) {
    let kept = futures::future::join_all((0..64).map(|_| store.create_task(said(ann(), PIECE), Vec::new()))).await;
    let (kept, refused): (Vec<_>, Vec<_>) = kept.into_iter().partition(Result::is_ok);
    assert!(!kept.is_empty() && kept.len() < PIECES, "{} were kept", kept.len());
    assert!(refused.iter().all(is_full));
}
