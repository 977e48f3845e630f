//! Tasks: kept once, moved by one, listed to their owner.

use std::time::Duration;

use forecourt_core::store::{Resumption, RunBeat, StoredArtifact, TaskChange, TaskFilter, TaskPage};
use forecourt_core::{Ending, Event, Part, Sender, StoreError, Task, TaskState};
use futures::future::join_all;
use serde_json::json;

use super::*;

/// A task that was never created is not found, and can't be moved.
pub async fn an_unknown_task_is_not_found(store: Fresh) {
    assert_eq!(store.task(&some_task().id, start()).await.unwrap(), None);
    assert!(!store.advance_task(&some_task().id, completed()).await.unwrap());
}

/// A second task of an id that exists is refused, and the first one stays.
pub async fn an_id_that_exists_is_refused_and_the_first_task_stays(store: Fresh) {
    let task = some_task();
    created(&store, task.clone()).await;
    let second = Task { run: "run-2".to_owned(), ..task.clone() };
    assert!(matches!(store.create_task(second, Vec::new()).await, Err(StoreError::Exists)));
    assert_eq!(store.task(&task.id, start()).await.unwrap(), Some(task));
}

/// Creating a task again in its run is the same task (the answer was lost); with another moment it is refused.
pub async fn a_task_that_its_run_makes_again_is_the_same_one(store: Fresh) {
    let task = some_task();
    created(&store, task.clone()).await;
    created(&store, task.clone()).await;
    store.append_events(&task.id, "run-1", 1, vec![Event::Text("On it.".to_owned())]).await.unwrap();
    let hook = webhook("https://example.com/");
    store.create_task(task.clone(), vec![hook]).await.expect("the same one");
    assert_eq!(store.webhooks(&task.id).await.unwrap(), [], "nothing is added to it");
    let later = Task { created_at: task.created_at + Duration::from_nanos(1), ..task.clone() };
    assert!(matches!(store.create_task(later, Vec::new()).await, Err(StoreError::Exists)));
    assert!(store.advance_task(&task.id, completed()).await.unwrap());
    created(&store, task.clone()).await;
    let kept = store.task(&task.id, start()).await.unwrap().unwrap();
    assert_eq!((kept.state, store.last_event(&task.id).await.unwrap()), (TaskState::Completed, 2));
}

/// A task is found until the moment of its end, and not from it on.
pub async fn an_expired_task_is_not_found(store: Fresh) {
    let task = some_task();
    let end = task.expires_at;
    let id = created(&store, task).await;
    let instant = Duration::from_nanos(1);
    assert!(store.task(&id, end - instant).await.unwrap().is_some());
    assert!(store.task(&id, end).await.unwrap().is_none());
    assert!(store.task(&id, end + instant).await.unwrap().is_none());
    assert!(store.tasks(all(), end).await.unwrap().tasks.is_empty());
}

/// A move from another state than the task is in changes nothing: this comparison settles races.
pub async fn a_move_from_another_state_changes_nothing(store: Fresh) {
    let task = some_task();
    created(&store, task.clone()).await;
    let change = TaskChange { from: TaskState::Submitted, ..completed() };
    assert!(!store.advance_task(&task.id, change).await.unwrap());
    assert_eq!(store.task(&task.id, start()).await.unwrap(), Some(task));
}

/// Every field of a task reads back as it was, quotes, NUL and nanoseconds included.
pub async fn a_task_reads_back_as_it_was(store: Fresh) {
    let task = Task {
        thread: Some(some_thread()),
        owner: Some("https://id.example/ann?x='\"; DROP TABLE tasks; --\u{0}".to_owned()),
        turns: vec![Turn {
            parts: vec![Part::text("Grüße 🍲"), Part::data(json!({"deep": [1, null, {"x": "\u{0}"}]}))],
            ..Turn::text(Role::User, "")
        }],
        state: TaskState::InputRequired,
        outcome: Some(CollectedReply::new(vec![], Ending::failed("No salt."))),
        updated_at: start() + Duration::from_nanos(123_456_789),
        ..some_task()
    };
    created(&store, task.clone()).await;
    assert_eq!(store.task(&task.id, start()).await.unwrap(), Some(task));
}

/// A move from the state that the task is in sets its state, outcome and time.
pub async fn a_move_sets_state_outcome_and_time(store: Fresh) {
    let task = some_task();
    created(&store, task.clone()).await;
    assert!(store.advance_task(&task.id, completed()).await.unwrap());
    let moved =
        Task { state: TaskState::Completed, outcome: Some(outcome("Soup.")), updated_at: after(1), ..task.clone() };
    assert_eq!(store.task(&task.id, start()).await.unwrap(), Some(moved));
    assert!(!store.advance_task(&task.id, completed()).await.unwrap());
}

/// Of 64 moves at once exactly one wins.
pub async fn of_64_moves_at_once_one_wins(store: Fresh) {
    let id = created(&store, some_task()).await;
    let moves = (0..64).map(|_| store.advance_task(&id, completed()));
    let won = join_all(moves).await.into_iter().filter(|moved| *moved.as_ref().unwrap());
    assert_eq!(won.count(), 1);
}

/// Owner, thread, agent, state and limit each narrow a list.
pub async fn a_list_holds_only_what_was_asked_for(store: Fresh) {
    let thread = some_thread();
    let anns = |task: Task| Task { owner: Some("ann".to_owned()), ..task };
    let plain = created(&store, anns(some_task())).await;
    let threaded = created(&store, anns(Task { thread: Some(thread.clone()), ..some_task() })).await;
    let baker = created(&store, anns(Task { agent: handle("baker"), ..some_task() })).await;
    let waiting = created(&store, anns(Task { state: TaskState::InputRequired, ..some_task() })).await;
    created(&store, Task { owner: Some("bob".to_owned()), thread: Some(thread.clone()), ..some_task() }).await;
    let nobodys = created(&store, some_task()).await;

    let ann = || TaskFilter { owner: Some("ann".to_owned()), ..all() };
    let lists = [
        (all(), vec![nobodys]),
        (ann(), vec![plain, threaded.clone(), baker.clone(), waiting.clone()]),
        (TaskFilter { threads: vec![thread], ..ann() }, vec![threaded]),
        (TaskFilter { agent: Some(handle("baker")), ..ann() }, vec![baker]),
        (TaskFilter { state: Some(TaskState::InputRequired), ..ann() }, vec![waiting]),
        (TaskFilter { threads: vec![some_thread()], ..ann() }, vec![]),
        (TaskFilter { limit: 0, ..ann() }, vec![]),
    ];
    for (filter, wanted) in lists {
        let found = store.tasks(filter.clone(), start()).await.unwrap().tasks;
        assert_eq!(found.len(), wanted.len(), "{filter:?}");
        assert!(wanted.iter().all(|id| found.iter().any(|task| task.id == *id)), "{filter:?}");
    }
}

/// A list is newest first and goes on behind its cursor, in pages of two.
pub async fn a_list_is_newest_first_and_goes_on_behind_a_cursor(store: Fresh) {
    for second in [3, 1, 5, 2, 4] {
        created(&store, Task { updated_at: after(second), ..some_task() }).await;
    }
    let seen = pages(&store, 2).await;
    assert_eq!(seen.iter().map(|task| task.updated_at).collect::<Vec<_>>(), [5, 4, 3, 2, 1].map(after));
}

/// A list loses no task of those with the same moment, wherever its pages end.
pub async fn a_list_loses_none_of_those_with_the_same_moment(store: Fresh) {
    let mut wanted = Vec::new();
    for second in [2, 1, 2, 2, 1, 2] {
        wanted.push((second, created(&store, Task { updated_at: after(second), ..some_task() }).await));
    }
    // The last updated first; of those, the last created.
    wanted.reverse();
    wanted.sort_by_key(|(second, _)| std::cmp::Reverse(*second));
    for limit in 1..=7 {
        let seen = pages(&store, limit).await;
        assert!(seen.iter().map(|task| &task.id).eq(wanted.iter().map(|(_, id)| id)), "{limit}");
    }
    let none = store.tasks(TaskFilter { limit: 0, ..all() }, start()).await.unwrap();
    assert_eq!(none, TaskPage { tasks: vec![], next: None, total: 6 });
}

/// A list may be of several conversations, and since a moment, which is included.
pub async fn a_list_is_of_several_conversations_and_since_a_moment(store: Fresh) {
    let threads =
        [some_thread(), some_thread(), ThreadId::adopt("ctx", &Sender::anonymous().caller(None)).expect("a name")];
    for (thread, second) in threads.iter().zip([1, 2, 3]) {
        let thread = Some(thread.clone());
        created(&store, Task { thread, updated_at: after(second), ..some_task() }).await;
    }
    created(&store, Task { updated_at: after(4), ..some_task() }).await;
    let seconds = async |of: &[usize], since: Option<u64>| {
        let threads = of.iter().map(|n| threads[*n].clone()).collect();
        let page = store.tasks(TaskFilter { threads, since: since.map(after), ..all() }, start()).await.unwrap();
        assert_eq!(page.total, page.tasks.len() as u64);
        page.tasks.iter().map(|task| task.updated_at.as_second() - start().as_second()).collect::<Vec<_>>()
    };
    assert_eq!(seconds(&[], None).await, [4, 3, 2, 1]);
    assert_eq!(seconds(&[0], None).await, [1]);
    assert_eq!(seconds(&[0, 2], None).await, [3, 1]);
    assert_eq!(seconds(&[0, 1, 2], Some(2)).await, [3, 2]);
    assert_eq!(seconds(&[], Some(3)).await, [4, 3]);
    assert_eq!(seconds(&[], Some(5)).await, [0; 0]);
}

/// A list goes on while tasks are created and moved: none that was on no page yet is lost.
pub async fn a_list_goes_on_while_tasks_come_and_move(store: Fresh) {
    let mut ids = Vec::new();
    for second in [1, 2, 3, 4] {
        ids.push(created(&store, Task { updated_at: after(second), ..some_task() }).await);
    }
    let first = store.tasks(TaskFilter { limit: 2, ..all() }, start()).await.unwrap();
    created(&store, Task { updated_at: after(9), ..some_task() }).await;
    assert!(store.advance_task(&ids[3], TaskChange { at: after(8), ..completed() }).await.unwrap());
    let rest = store.tasks(TaskFilter { limit: 9, cursor: first.next, ..all() }, start()).await.unwrap();
    assert!(rest.tasks.iter().map(|task| &task.id).eq([&ids[1], &ids[0]]));
    assert_eq!((rest.next, rest.total), (None, 5));
}

fn resumption() -> Resumption {
    let turns = vec![Turn::text(Role::Assistant, "Which?"), Turn::text(Role::User, "That one.")];
    Resumption { run: "run-2".to_owned(), turns, webhooks: Vec::new(), expires_at: after(7200) }
}

/// A task that goes on keeps its earlier turns, from both states that wait and twice in a row.
pub async fn a_task_that_goes_on_keeps_what_was_said(store: Fresh) {
    for state in [TaskState::InputRequired, TaskState::AuthRequired] {
        let task = Task { state, outcome: Some(outcome("Soup.")), ..some_task() };
        let id = created(&store, task.clone()).await;
        let resume = |run: &str, at| {
            let held = Task { run: run.to_owned(), state, ..some_task() };
            TaskChange::resume(&held, resumption(), at)
        };
        assert!(store.advance_task(&id, resume("run-1", after(2))).await.unwrap());
        let said =
            |times: usize| task.turns.iter().cloned().chain((0..times).flat_map(|_| resumption().turns)).collect();
        let moved = Task {
            state: TaskState::Working,
            outcome: None,
            run: "run-2".to_owned(),
            turns: said(1),
            updated_at: after(2),
            expires_at: after(7200),
            ..task.clone()
        };
        assert_eq!(store.task(&id, after(3601)).await.unwrap(), Some(moved));
        assert!(!store.advance_task(&id, resume("run-2", after(3))).await.unwrap());
        let asked = TaskChange { to: state, run: "run-2".to_owned(), ..completed() };
        assert!(store.advance_task(&id, asked).await.unwrap());
        assert!(!store.advance_task(&id, resume("run-1", after(4))).await.unwrap(), "who held it before");
        assert!(store.advance_task(&id, resume("run-2", after(4))).await.unwrap());
        assert_eq!(store.task(&id, start()).await.unwrap().unwrap().turns, said(2));
    }
}

/// A run that has lost its task can't end it.
pub async fn only_the_run_that_holds_a_task_ends_it(store: Fresh) {
    let id = created(&store, some_task()).await;
    let lost = TaskChange { run: "run-0".to_owned(), ..completed() };
    assert!(!store.advance_task(&id, lost).await.unwrap());
    assert_eq!(store.task(&id, start()).await.unwrap().unwrap().state, TaskState::Working);
    assert!(store.advance_task(&id, completed()).await.unwrap());
}

/// A task begins or goes on together with its webhooks: in one step, or not at all.
pub async fn a_task_begins_and_goes_on_with_its_webhooks(store: Fresh) {
    let (first, second) = (webhook("https://example.com/1"), webhook("https://example.com/2"));
    let task = some_task();
    store.create_task(task.clone(), vec![first.clone()]).await.unwrap();
    assert_eq!(store.webhooks(&task.id).await.unwrap(), std::slice::from_ref(&first));
    let asked = TaskChange { to: TaskState::InputRequired, ..completed() };
    assert!(store.advance_task(&task.id, asked).await.unwrap());
    let waiting = Task { state: TaskState::InputRequired, ..task.clone() };
    let too_many = (0..5).map(|n| webhook(&format!("https://example.com/more/{n}"))).collect();
    let resumption_of = |webhooks| Resumption { webhooks, ..resumption() };
    let refused = TaskChange::resume(&waiting, resumption_of(too_many), after(2));
    assert!(is_unavailable(&store.advance_task(&task.id, refused).await));
    assert_eq!(store.task(&task.id, start()).await.unwrap().unwrap().state, TaskState::InputRequired);
    let again = TaskChange::resume(&waiting, resumption_of(vec![second.clone(), first.clone()]), after(2));
    assert!(store.advance_task(&task.id, again).await.unwrap());
    assert_eq!(store.webhooks(&task.id).await.unwrap(), [first, second]);
    let many = (0..6).map(|n| webhook(&format!("https://example.com/{n}"))).collect();
    let other = some_task();
    assert!(is_unavailable(&store.create_task(other.clone(), many).await));
    assert_eq!(store.task(&other.id, start()).await.unwrap(), None);
}

/// Going on from another state (somebody cancelled in between) changes nothing.
pub async fn going_on_from_another_state_changes_nothing(store: Fresh) {
    let task = Task { state: TaskState::Canceled, ..some_task() };
    created(&store, task.clone()).await;
    let waiting = Task { state: TaskState::InputRequired, ..some_task() };
    let change = TaskChange::resume(&waiting, resumption(), after(2));
    assert!(!store.advance_task(&task.id, change).await.unwrap());
    assert_eq!(store.task(&task.id, start()).await.unwrap(), Some(task));
}

/// Orphans are the unsettled tasks of runs that are not alive.
pub async fn orphans_are_unsettled_tasks_of_runs_that_are_not_alive(store: Fresh) {
    let working = created(&store, some_task()).await;
    let submitted = created(&store, Task { state: TaskState::Submitted, ..some_task() }).await;
    assert!(store.beat("run-2").await.unwrap());
    created(&store, Task { run: "run-2".to_owned(), ..some_task() }).await;
    for state in TaskState::ALL.into_iter().filter(|state| state.is_settled()) {
        created(&store, Task { state, ..some_task() }).await;
    }
    let found = store.orphaned_tasks(10).await.unwrap();
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|task| task.id == working || task.id == submitted));
    assert_eq!(store.orphaned_tasks(1).await.unwrap().len(), 1);

    assert!(store.advance_task(&working, completed()).await.unwrap());
    assert_eq!(store.orphaned_tasks(10).await.unwrap().len(), 1);
}

/// A task of a run that is gone is taken up by one run, as it is: what it has logged stays, and its log goes on.
pub async fn a_task_is_taken_up_by_one_run(store: Fresh) {
    for state in [TaskState::Working, TaskState::Submitted] {
        let task = Task { state, ..some_task() };
        store.create_task(task.clone(), vec![webhook("https://example.com/1")]).await.unwrap();
        let id = task.id.clone();
        store.append_events(&id, "run-1", 1, vec![Event::Text("a".to_owned())]).await.unwrap();
        let take_up = |run: &str| TaskChange::take_up(&task, run.to_owned(), after(7200), after(2));
        assert!(store.advance_task(&id, take_up("run-2")).await.unwrap());
        assert!(!store.advance_task(&id, take_up("run-3")).await.unwrap(), "another was first");
        let taken = Task {
            state: TaskState::Working,
            run: "run-2".to_owned(),
            updated_at: after(2),
            expires_at: after(7200),
            ..task.clone()
        };
        assert_eq!(store.task(&id, start()).await.unwrap(), Some(taken));
        let late = store.append_events(&id, "run-1", 2, vec![Event::Text("b".to_owned())]).await;
        assert!(matches!(late, Err(StoreError::NotHeld)));
        store.append_events(&id, "run-2", 2, vec![Event::Text("b".to_owned())]).await.unwrap();
        assert!(!store.advance_task(&id, completed()).await.unwrap(), "who lost it does not end it");
        assert!(store.advance_task(&id, TaskChange { run: "run-2".to_owned(), ..completed() }).await.unwrap());
        assert_eq!(store.last_event(&id).await.unwrap(), 3);
        assert_eq!(store.claim_deliveries(after(9), after(60), 9).await.unwrap().len(), 1, "its end alone is told");
    }
}

/// A run that has beaten since it was looked at is not ended, and one that was ended never beats again.
pub async fn a_run_is_ended_once_and_only_if_it_was_silent(store: Fresh) {
    let named = |beat| RunBeat { run: "run-1".to_owned(), beat };
    let task = created(&store, some_task()).await;
    assert!(store.runs().await.unwrap().is_empty());
    assert!(store.beat("run-1").await.unwrap() && store.beat("run-1").await.unwrap());
    assert!(store.orphaned_tasks(10).await.unwrap().is_empty());
    assert_eq!(store.runs().await.unwrap(), [named(2)]);
    assert!(!store.end_run(&named(1)).await.unwrap(), "it has beaten since");
    assert!(store.end_run(&named(2)).await.unwrap());
    assert!(!store.end_run(&named(2)).await.unwrap(), "another was first");
    assert!(!store.beat("run-1").await.unwrap());
    assert!(store.runs().await.unwrap().is_empty());
    assert_eq!(store.orphaned_tasks(10).await.unwrap()[0].id, task);
}

/// A run that has lost its task adds no events and no artifacts to it.
pub async fn only_the_run_that_holds_a_task_writes_its_log_and_files(store: Fresh) {
    let id = created(&store, some_task()).await;
    let artifact = StoredArtifact { id: "a".into(), mime: "text/plain".into(), name: None, bytes: "b".into() };
    let lost = store.append_events(&id, "run-0", 1, vec![Event::Text("a".to_owned())]).await;
    assert!(matches!(lost, Err(StoreError::NotHeld)));
    let lost = store.put_artifact(&id, "run-0", artifact.clone()).await;
    assert!(matches!(lost, Err(StoreError::NotHeld)));
    assert_eq!(store.last_event(&id).await.unwrap(), 0);
    assert!(store.artifact(&id, "a", start()).await.unwrap().is_none());
    store.put_artifact(&id, "run-1", artifact).await.unwrap();
}

fn all() -> TaskFilter {
    TaskFilter { limit: 100, ..TaskFilter::default() }
}

/// The whole list in pages of `limit`. Each page but the last is full, and says how many there are.
async fn pages(store: &Fresh, limit: usize) -> Vec<Task> {
    let mut seen = Vec::new();
    let mut cursor = None;
    loop {
        let page = store.tasks(TaskFilter { cursor, limit, ..all() }, start()).await.unwrap();
        seen.extend(page.tasks);
        cursor = page.next;
        if cursor.is_none() {
            assert_eq!(seen.len() as u64, page.total);
            return seen;
        }
        assert_eq!(seen.len() % limit, 0);
    }
}
