//! Event logs: numbered from 1, without gaps, appended once.

use forecourt_core::part::{Link, ToolCall, ToolOutcome};
use forecourt_core::reply::{Progress, Question};
use forecourt_core::{Ending, Event, Part};
use serde_json::json;

use super::*;

fn texts(words: &[&str]) -> Vec<Event> {
    words.iter().map(|word| Event::Text((*word).to_owned())).collect()
}

async fn log(store: &Fresh, id: &TaskId) -> Vec<(u64, Event)> {
    store.events(id, 0, 100).await.unwrap()
}

/// An append that leaves a number out, or begins with 0, is refused: events are numbered from 1 without gaps.
pub async fn a_gap_in_the_numbers_is_refused(store: Fresh) {
    let id = created(&store, some_task()).await;
    assert!(is_corrupt(&store.append_events(&id, "run-1", 0, texts(&["a"])).await));
    assert!(is_corrupt(&store.append_events(&id, "run-1", 2, texts(&["a"])).await));
    store.append_events(&id, "run-1", 1, texts(&["a"])).await.unwrap();
    assert!(is_corrupt(&store.append_events(&id, "run-1", 3, texts(&["c"])).await));
    assert_eq!(log(&store, &id).await.len(), 1);
}

/// Events of an unknown task (one that expired while its agent worked) are dropped without an error.
pub async fn the_events_of_an_unknown_task_are_dropped(store: Fresh) {
    let id = some_task().id;
    store.append_events(&id, "run-1", 7, texts(&["a"])).await.unwrap();
    assert!(log(&store, &id).await.is_empty());
}

/// Appending events again, all of them or some, leaves what is there: a call whose answer was lost is repeated.
pub async fn appending_again_leaves_what_is_there(store: Fresh) {
    let id = created(&store, some_task()).await;
    store.append_events(&id, "run-1", 1, texts(&["a", "b"])).await.unwrap();
    store.append_events(&id, "run-1", 1, texts(&["A", "B"])).await.unwrap();
    store.append_events(&id, "run-1", 2, texts(&["B", "c"])).await.unwrap();
    store.append_events(&id, "run-1", 1, vec![]).await.unwrap();
    let wanted: Vec<_> = (1..).zip(texts(&["a", "b", "c"])).collect();
    assert_eq!(log(&store, &id).await, wanted);
}

/// Every kind of event reads back as it was.
pub async fn every_kind_of_event_reads_back(store: Fresh) {
    let call = ToolCall {
        id: "c1".to_owned(),
        name: "search".to_owned(),
        args: json!({"q": "soup"}),
        outcome: ToolOutcome::Result(json!([1, 2])),
    };
    let link = Link { url: "https://example.com/".to_owned(), title: None, description: None };
    let question = Question { text: "Which?".to_owned(), questions: vec![json!({"id": "q1"})] };
    let events = vec![
        Event::Text("a".to_owned()),
        Event::Part(Part::Link(link)),
        Event::ToolCall(call),
        Event::Progress(Progress { fraction: Some(0.5), note: None }),
        Event::Ending(Ending::Question(question)),
    ];
    let id = created(&store, some_task()).await;
    store.append_events(&id, "run-1", 1, events.clone()).await.unwrap();
    assert_eq!(log(&store, &id).await, (1..).zip(events).collect::<Vec<_>>());
}

/// Events are read in pages from any number, of any length, also past the end.
pub async fn events_are_read_in_pages(store: Fresh) {
    let id = created(&store, some_task()).await;
    store.append_events(&id, "run-1", 1, texts(&["a", "b", "c", "d", "e"])).await.unwrap();
    let numbers = async |after, limit| {
        let page = store.events(&id, after, limit).await.unwrap();
        page.into_iter().map(|(n, _)| n).collect::<Vec<_>>()
    };
    assert_eq!(numbers(0, 2).await, [1, 2]);
    assert_eq!(numbers(2, 2).await, [3, 4]);
    assert_eq!(numbers(4, 2).await, [5]);
    assert!(numbers(5, 2).await.is_empty());
    assert!(numbers(0, 0).await.is_empty());
    assert!(numbers(u64::MAX, usize::MAX).await.is_empty());
}

/// The ending is logged in the same step as the move that it caused, and not when the move was lost.
pub async fn an_ending_is_logged_with_the_move_that_it_caused(store: Fresh) {
    let id = created(&store, some_task()).await;
    assert_eq!(store.last_event(&id).await.unwrap(), 0);
    store.append_events(&id, "run-1", 1, texts(&["a", "b"])).await.unwrap();
    assert_eq!(store.last_event(&id).await.unwrap(), 2);
    assert!(store.advance_task(&id, completed()).await.unwrap());
    assert!(!store.advance_task(&id, completed()).await.unwrap());
    assert_eq!(store.events(&id, 2, 10).await.unwrap(), [(3, Event::Ending(Ending::Complete))]);
    assert_eq!(store.last_event(&id).await.unwrap(), 3);
    assert_eq!(store.last_event(&some_task().id).await.unwrap(), 0);
}

/// Whoever has not heard yet that a task was cancelled, or ended for it: nothing comes after an ending.
pub async fn what_is_settled_takes_nothing_more_from_who_worked_on_it(store: Fresh) {
    let task = some_task();
    let id = created(&store, task.clone()).await;
    store.append_events(&id, "run-1", 1, texts(&["a"])).await.unwrap();
    let outcome = CollectedReply::new(vec![], Ending::Canceled);
    assert!(store.advance_task(&id, TaskChange::settle(&task, outcome, start())).await.unwrap());
    let late = store.append_events(&id, "run-1", 2, texts(&["b", "c"])).await;
    assert!(matches!(late, Err(StoreError::NotHeld)), "{late:?}");
    let late = store.put_artifact(&id, "run-1", super::artifacts::artifact("a", "x")).await;
    assert!(matches!(late, Err(StoreError::NotHeld)), "{late:?}");
    assert_eq!(log(&store, &id).await, [(1, texts(&["a"]).remove(0)), (2, Event::Ending(Ending::Canceled))]);
}
