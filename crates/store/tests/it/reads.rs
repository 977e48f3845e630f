//! What only the operator may ask of a store, on each of them.

use std::sync::Arc;

use forecourt_core::store::{Cursor, LedgerEntry, Notification, TaskChange, TaskFilter, number_at};
use forecourt_core::{Account, Role, Task, TaskState, Turn};
use forecourt_store::{
    ConversationPlace, Memory, Sqlite, SqliteOptions, StoreReads, conversation_reference, reference,
};
use forecourt_testkit::store_suite::{addition, after, chef, handle, outcome, some_task, some_thread, start, webhook};

/// Runs a case on every store.
async fn on_each<F: Future<Output = ()>>(case: impl Fn(Arc<dyn StoreReads>) -> F) {
    case(Arc::new(Memory::new())).await;
    let folder = tempfile::tempdir().unwrap();
    case(Sqlite::open(&folder.path().join("forecourt.db"), SqliteOptions::default()).unwrap()).await;
}

fn all() -> TaskFilter {
    TaskFilter { limit: 100, ..TaskFilter::default() }
}

#[tokio::test]
async fn tasks_of_everybody_are_listed_newest_first_and_by_state_and_agent() {
    on_each(|store| async move {
        let of = |owner: Option<&str>, at: u64, agent: &str| Task {
            owner: owner.map(str::to_owned),
            updated_at: after(at),
            agent: handle(agent),
            ..some_task()
        };
        let tasks = [of(Some("ann"), 1, "chef"), of(None, 3, "chef"), of(Some("ben"), 2, "echo")];
        for task in &tasks {
            store.create_task(task.clone(), Vec::new()).await.unwrap();
        }
        let listed = store.tasks_of_all(TaskFilter { owner: Some("ann".to_owned()), ..all() }, start()).await.unwrap();
        let ids: Vec<_> = listed.tasks.iter().map(|task| task.id.clone()).collect();
        assert_eq!((ids, listed.total), ([1, 2, 0].map(|n: usize| tasks[n].id.clone()).to_vec(), 3));
        let of_chef = TaskFilter { agent: Some(chef()), ..all() };
        assert_eq!(store.tasks_of_all(of_chef, start()).await.unwrap().total, 2);
        let done = TaskFilter { state: Some(TaskState::Completed), ..all() };
        assert_eq!(store.tasks_of_all(done, start()).await.unwrap().total, 0);
        let expired = store.tasks_of_all(all(), after(3600)).await.unwrap();
        assert!(expired.tasks.is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_list_of_all_tasks_goes_on_behind_a_cursor() {
    on_each(|store| async move {
        for at in 0..5 {
            store.create_task(Task { updated_at: after(at), ..some_task() }, Vec::new()).await.unwrap();
        }
        let page = |cursor: Option<Cursor>| store.tasks_of_all(TaskFilter { cursor, limit: 2, ..all() }, start());
        let (mut cursor, mut seen) = (None, Vec::new());
        loop {
            let found = page(cursor).await.unwrap();
            seen.extend(found.tasks.iter().map(|task| task.updated_at));
            cursor = found.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, (0..5).rev().map(after).collect::<Vec<_>>());
    })
    .await;
}

#[tokio::test]
async fn a_task_is_found_by_its_reference_until_it_expires() {
    on_each(|store| async move {
        let task = some_task();
        store.create_task(task.clone(), Vec::new()).await.unwrap();
        store.create_task(some_task(), Vec::new()).await.unwrap();
        let name = reference(&task.id);
        let found = |name: String, at| {
            let store = store.clone();
            async move { store.task_by_reference(&name, at).await.unwrap().map(|task| task.id) }
        };
        assert_eq!(found(name.clone(), start()).await, Some(task.id.clone()));
        assert_eq!(found(name.clone(), after(3600)).await, None);
        for other in ["", "0000000000000000", "%", &name[..15], &name.to_uppercase(), task.id.expose()] {
            assert!(other == name || found(other.to_owned(), start()).await.is_none(), "{other}");
        }
    })
    .await;
}

/// What is known of deliveries without opening them is what is in them.
async fn same_attempts(store: &Arc<dyn StoreReads>) {
    let opened = store.deliveries(0, 10).await.unwrap().into_iter();
    let opened: Vec<_> = opened.map(|d| (d.id, d.attempts, d.due_at, d.is_claimed)).collect();
    let closed = store.delivery_attempts().await.unwrap();
    assert_eq!(closed.into_iter().map(|d| (d.id, d.attempts, d.due_at, d.is_claimed)).collect::<Vec<_>>(), opened);
}

#[tokio::test]
async fn deliveries_are_seen_as_they_wait_are_made_and_are_put_off() {
    on_each(|store| async move {
        let task = some_task();
        store.create_task(task.clone(), vec![webhook("https://a.example/")]).await.unwrap();
        store.advance_task(&task.id, TaskChange::settle(&task, outcome("Soup."), after(1))).await.unwrap();
        let notice = Notification {
            webhook: webhook("https://b.example/"),
            account: Account::HOST,
            due_at: after(9),
            expires_at: after(99),
        };
        store.enqueue(notice).await.unwrap();
        let seen = store.deliveries(0, 10).await.unwrap();
        let told: Vec<_> = seen.iter().map(|d| (d.webhook.url.as_str(), d.task.clone(), d.agent.clone())).collect();
        let of_task = ("https://a.example/", Some(reference(&task.id)), Some(chef()));
        assert_eq!(told, [of_task, ("https://b.example/", None, None)]);
        assert_eq!((seen[0].attempts, seen[0].is_claimed, seen[0].due_at), (0, false, after(1)));
        same_attempts(&store).await;
        store.claim_deliveries(after(2), after(60), 10).await.unwrap();
        let claimed = &store.deliveries(0, 1).await.unwrap()[0];
        assert_eq!((claimed.attempts, claimed.is_claimed), (1, true));
        same_attempts(&store).await;
        store.settle_delivery(claimed.id, Some(after(30))).await.unwrap();
        let put_off = &store.deliveries(0, 1).await.unwrap()[0];
        assert_eq!((put_off.is_claimed, put_off.due_at), (false, after(30)));
        assert_eq!(store.deliveries(seen[0].id, 10).await.unwrap().len(), 1);
        store.settle_delivery(seen[0].id, None).await.unwrap();
        assert_eq!(store.deliveries(0, 10).await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn an_overview_counts_what_can_be_read() {
    on_each(|store| async move {
        let done = some_task();
        for task in [done.clone(), some_task(), Task { agent: handle("echo"), run: "run-2".to_owned(), ..some_task() }]
        {
            store.create_task(task, vec![webhook("https://a.example/")]).await.unwrap();
        }
        store.advance_task(&done.id, TaskChange::settle(&done, outcome("Soup."), after(1))).await.unwrap();
        store.append_turns(&some_thread(), &chef(), addition(Vec::new(), 9, after(60))).await.unwrap();
        let mut seen = store.overview(after(2)).await.unwrap();
        seen.tasks.sort_by(|a, b| (a.0.as_str(), a.1.name()).cmp(&(b.0.as_str(), b.1.name())));
        seen.held.sort();
        let (completed, working) = (TaskState::Completed, TaskState::Working);
        assert_eq!(seen.tasks, [(chef(), completed, 1), (chef(), working, 1), (handle("echo"), working, 1)]);
        assert_eq!(seen.held, [("run-1".to_owned(), 1), ("run-2".to_owned(), 1)]);
        assert_eq!((seen.conversations, seen.deliveries), (1, 1));
        let later = store.overview(after(3600)).await.unwrap();
        assert!(later.tasks.is_empty() && later.conversations == 0);
    })
    .await;
}

/// Tasks and conversations are listed by what is not sealed, page by page.
pub(crate) async fn summaries_go_back_page_by_page_and_open_nothing(store: Arc<dyn StoreReads>) {
    let thread = some_thread();
    let of = |owner: Option<&str>, at: u64| Task {
        owner: owner.map(str::to_owned),
        thread: Some(thread.clone()),
        created_at: after(at),
        updated_at: after(at + 1),
        ..some_task()
    };
    let tasks = [of(Some("ann"), 1), of(None, 2), Task { expires_at: after(9), ..of(None, 3) }];
    for task in &tasks {
        store.create_task(task.clone(), Vec::new()).await.unwrap();
    }
    let first = store.task_summaries(u64::MAX, 2, start()).await.unwrap();
    let told: Vec<_> = first.iter().map(|one| (one.task.clone(), one.created_at)).collect();
    assert_eq!(told, [(reference(&tasks[2].id), after(3)), (reference(&tasks[1].id), after(2))]);
    let rest = store.task_summaries(first[1].number, 2, start()).await.unwrap();
    assert_eq!(rest.len(), 1);
    let last = &rest[0];
    assert_eq!((last.owner.as_deref(), last.state, last.run.as_str()), (Some("ann"), TaskState::Working, "run-1"));
    assert_eq!((last.conversation.clone(), last.updated_at), (Some(conversation_reference(&thread)), after(2)));
    assert_eq!(store.task_summaries(u64::MAX, 9, after(9)).await.unwrap().len(), 2, "one has expired");
    assert!(store.task_summaries(0, 9, start()).await.unwrap().is_empty());

    let others = [some_thread(), some_thread()];
    for (other, ends) in others.iter().zip([20, 30]) {
        let said = addition(vec![Turn::text(Role::User, "Hello."), Turn::text(Role::Assistant, "Hi.")], 9, after(ends));
        store.append_turns(other, &chef(), said).await.unwrap();
    }
    let page = store.conversation_summaries(ConversationPlace::FIRST, 1, start()).await.unwrap();
    assert_eq!((page[0].conversation.clone(), page[0].turns), (conversation_reference(&others[1]), 2));
    let rest = store.conversation_summaries(page[0].place(), 9, start()).await.unwrap();
    assert_eq!((rest.len(), rest[0].conversation.clone()), (1, conversation_reference(&others[0])));
    assert!(store.conversation_summaries(rest[0].place(), 9, start()).await.unwrap().is_empty());
    assert_eq!(store.conversation_summaries(ConversationPlace::FIRST, 9, after(25)).await.unwrap().len(), 1);
}

#[tokio::test]
async fn summaries_are_read_back_page_by_page() {
    on_each(summaries_go_back_page_by_page_and_open_nothing).await;
}

#[tokio::test]
async fn the_number_of_a_moment_is_found_in_a_stream_however_much_of_it_has_expired() {
    on_each(|store| async move {
        let at = async |second, now| number_at(&*store, "s", after(second), after(now)).await.unwrap();
        assert_eq!(at(5, 0).await, 1, "nothing is written yet");
        for second in 0..40 {
            let entry = LedgerEntry::new(serde_json::json!(second), after(second));
            // The first ten, and some of those between, expire.
            let entry = if second < 10 || second % 7 == 0 { entry.until(after(100)) } else { entry };
            store.append_entry("s", entry, None).await.unwrap();
        }
        for now in [50, 200] {
            for second in [0, 1, 12, 21, 22, 38, 39] {
                let found = at(second, now).await;
                let before =
                    store.entries("s", forecourt_core::store::Span::Before(found), 50, after(now)).await.unwrap();
                let behind =
                    store.entries("s", forecourt_core::store::Span::After(found - 1), 50, after(now)).await.unwrap();
                assert!(before.iter().all(|(_, entry)| entry.at < after(second)), "{second} at {now}");
                assert!(behind.iter().all(|(_, entry)| entry.at >= after(second)), "{second} at {now}");
            }
        }
        assert_eq!(at(40, 50).await, 41, "behind all of them");
    })
    .await;
}
