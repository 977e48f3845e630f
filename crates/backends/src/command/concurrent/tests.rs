//! Whatever a worker writes, each line reaches the turn that it names.

use std::sync::{Arc, Weak};
use std::time::Duration;

use forecourt_core::{Event, Part};
use forecourt_testagents::{admitted, context, message};
use futures::FutureExt;
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::queue::{TurnItem, TurnQueue};
use super::turns::TurnStart;
use super::worker::{ConcurrentWorker, TurnSource, WorkerHome};
use crate::command::places::{Place, Places, WaitingLine};
use crate::command::process::ComplaintsLeft;
use crate::limits::{INPUT_BYTES_MAX, INPUT_MORE_BYTES_MAX, PROCESSES_WAITING_MAX, UNREAD_LINE_BYTES};
use crate::program::ProgramContext;

/// A worker with the turns 1 and 2, and what is written to it.
struct Opened {
    places: Arc<Places>,
    worker: Arc<ConcurrentWorker>,
    turns: [Arc<TurnQueue>; 2],
    written: mpsc::UnboundedReceiver<String>,
    /// A turn that was not begun.
    another: TurnStart,
}

async fn opened() -> Opened {
    let context = context();
    let (program, places) = (ProgramContext::new(&context), Places::new(1, 256, true));
    let grace = Duration::from_secs(5);
    let weak: Weak<Places> = Arc::downgrade(&places);
    let source: Weak<dyn TurnSource> = weak;
    let home = WorkerHome { agent: context.handle.clone(), program: program.clone(), grace, source };
    let (lines, written) = mpsc::unbounded_channel();
    let worker = ConcurrentWorker::new(0, home, lines, ComplaintsLeft::new());
    let first = places.enlist(worker.clone(), 256);
    let Ok(Place::Seat(second)) = places.get(None, WaitingLine::Last).await else { panic!("there is room") };
    let asked = Arc::new(admitted(message(vec![Part::text("hi")])).await);
    let begun = |number, seat| {
        let start = TurnStart { number, reader: program.reader(asked.clone()), notes_are_kept: false, seat };
        worker.begin(start, None).unwrap_or_else(|_| panic!("it takes messages"))
    };
    let turns = [begun(1, Box::new(first)), begun(2, Box::new(second))];
    let another =
        TurnStart { number: 3, reader: program.reader(asked.clone()), notes_are_kept: false, seat: Box::new(()) };
    Opened { places, worker, turns, written, another }
}

/// The text that waits in a turn.
fn text(queue: &TurnQueue) -> String {
    let mut all = String::new();
    while let Some(item) = queue.next().now_or_never() {
        let TurnItem::Events(events) = item else { continue };
        all.extend(events.into_iter().filter_map(|event| match event {
            Event::Text(text) => Some(text),
            _ => None,
        }));
    }
    all
}

fn run(work: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(work);
}

/// A line as workers may write it: of a turn, of none, or no JSON at all.
fn a_line() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        Just(json!("x")),
        Just(json!(7)),
        Just(json!(null)),
        Just(
            json!({"id": "c", "tool": "t", "model": "m", "message": "m", "level": "warn", "data": "eA==", "kind": "text"})
        ),
        Just(json!([])),
    ];
    let key = prop_oneof![
        Just("text"),
        Just("end"),
        Just("state"),
        Just("usage"),
        Just("log"),
        Just("call"),
        Just("artifact"),
        Just("journal"),
        Just("hello"),
        Just("parts"),
        Just("question"),
        Just("txet"),
        Just("error"),
    ];
    let turn = prop_oneof![Just(json!(1)), Just(json!(2)), Just(json!(3)), Just(json!("1")), Just(Value::Null)];
    let object = (turn, key, value).prop_map(|(turn, key, value)| json!({"turn": turn, key: value}).to_string());
    prop_oneof![8 => object, 1 => "[ -~]{0,30}", 1 => "\\{[ -~]{0,30}"]
}

#[test]
fn a_turn_of_a_worker_that_is_gone_ends_at_once() {
    run(async {
        let Opened { places, worker, turns, .. } = opened().await;
        worker.gone(&crate::command::crashed());
        let over = turns[0].next().await;
        assert!(matches!(over, TurnItem::Events(events) if matches!(events[..], [Event::Ending(_)])));
        // Its places are gone with it, and another process may be started.
        assert!(matches!(places.get(None, WaitingLine::Last).await, Ok(Place::New(_))));
    });
}

#[test]
fn a_message_that_waits_is_not_given_the_place_of_a_worker_that_is_given_up() {
    run(async {
        let Opened { places, worker, turns: _turns, another, .. } = opened().await;
        let Ok(Place::Seat(unbegun)) = places.get(None, WaitingLine::Last).await else { panic!("there is room") };
        worker.cancel(1, super::worker::CancelReason::CallerLeft);
        worker.give_up(1);
        // One that was given a place before, and comes only now, goes elsewhere with all that it has.
        let back = worker.begin(TurnStart { seat: Box::new(unbegun), ..another }, None);
        assert!(back.is_err_and(|start| start.number == 3));
        assert!(matches!(places.get(None, WaitingLine::First).await, Ok(Place::New(_))));
    });
}

#[test]
fn whoever_had_a_place_waits_before_the_others_and_beyond_their_bound() {
    run(async {
        let places = Places::new(1, 1, true);
        let Ok(Place::New(slot)) = places.get(None, WaitingLine::Last).await else { panic!("there is room") };
        let mut others: Vec<_> =
            (0..PROCESSES_WAITING_MAX).map(|_| Box::pin(places.get(None, WaitingLine::Last))).collect();
        assert!(others.iter_mut().all(|other| other.now_or_never().is_none()));
        assert!(places.get(None, WaitingLine::Last).await.is_err());
        let mut first = Box::pin(places.get(None, WaitingLine::First));
        assert!((&mut first).now_or_never().is_none());
        drop(slot);
        assert!(matches!(first.await, Ok(Place::New(_))));
    });
}

#[test]
fn a_worker_that_reads_nothing_is_given_no_message_over_its_bound_and_ended_over_twice_that() {
    run(async {
        let Opened { places: _places, worker, turns: _turns, another, .. } = opened().await;
        worker.tell("x".repeat(INPUT_BYTES_MAX - 1));
        let Err(another) = worker.begin(another, Some("xx".to_owned())) else { panic!("over its bound") };
        // Its turns go on.
        assert!(worker.ended.notified().now_or_never().is_none());
        worker.tell("x".repeat(INPUT_MORE_BYTES_MAX + 1));
        assert!(worker.ended.notified().now_or_never().is_none());
        worker.tell("x".to_owned());
        assert!(worker.ended.notified().now_or_never().is_some());
        drop(another);
        let Opened { places: _places, worker, turns: _turns, another, .. } = opened().await;
        worker.tell("x".repeat(INPUT_BYTES_MAX));
        worker.written(1);
        assert!(worker.begin(another, Some("x".to_owned())).is_ok(), "at its bound");
    });
}

#[test]
fn files_in_pieces_count_as_what_they_are_until_they_are_taken() {
    let piece = |turn: u64, more: Value| {
        let mut piece = json!({"id": "a", "data": "eHh4".repeat(1_000)});
        piece.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"turn": turn, "artifact": piece}).to_string()
    };
    let last = json!({"turn": 1, "artifact": {"id": "a", "append": true, "last": true}}).to_string();
    run(async {
        let Opened { places: _places, worker, turns, .. } = opened().await;
        let take = |line: &str| assert!(worker.take(line.as_bytes()).is_ok());
        take(&piece(1, json!({})));
        assert!(matches!(turns[0].next().await, TurnItem::Events(none) if none.is_empty()));
        assert_eq!(turns[0].bytes(), 3_000, "open");
        take(&last);
        assert_eq!(turns[0].bytes(), 3_000 + UNREAD_LINE_BYTES, "whole");
        assert!(matches!(turns[0].next().await, TurnItem::Events(whole) if whole.len() == 1));
        assert_eq!(turns[0].bytes(), 0, "taken");
        for number in [1, 2] {
            take(&piece(number, json!({})));
        }
        // Of an answer that failed, and of one that nobody wants.
        take(r#"{"turn": 1, "error": "no"}"#);
        worker.cancel(2, super::worker::CancelReason::CallerLeft);
        while turns[0].next().now_or_never().is_some() {}
        assert_eq!(turns.each_ref().map(|turn| turn.bytes()), [0, 0]);
    });
}

#[test]
fn a_refusal_as_a_part_is_the_last_word_of_a_turn() {
    run(async {
        let Opened { places: _places, worker, turns: _turns, mut written, .. } = opened().await;
        let refused = |turn: u64| json!({"turn": turn, "part": {"kind": "forbidden", "message": "no"}}).to_string();
        assert!(worker.take(refused(1).as_bytes()).is_ok());
        assert!(written.try_recv().is_err(), "nothing is cancelled that is over");
        worker.cancel(2, super::worker::CancelReason::CallerLeft);
        assert!(worker.take(refused(2).as_bytes()).is_ok());
        worker.retire();
        assert!(worker.ended.notified().now_or_never().is_some(), "it has no turn any more");
    });
}

#[test]
fn a_turn_that_is_cancelled_is_told_once_and_its_place_is_free_when_it_ends() {
    run(async {
        let Opened { places: _places, worker, mut written, .. } = opened().await;
        worker.cancel(1, super::worker::CancelReason::CallerLeft);
        worker.cancel(1, super::worker::CancelReason::Timeout);
        let told: Value = serde_json::from_str(&written.recv().await.unwrap()).unwrap();
        assert_eq!(told, json!({"turn": 1, "cancel": {"reason": "caller_left", "grace_ms": 5000}}));
        assert!(written.try_recv().is_err());
        assert!(worker.take(br#"{"turn": 1, "end": true}"#).is_ok());
        worker.cancel(1, super::worker::CancelReason::CallerLeft);
        assert!(written.try_recv().is_err(), "it is over");
    });
}

proptest! {
    #[test]
    fn no_line_reaches_a_turn_that_it_does_not_name(lines in proptest::collection::vec(a_line(), 0..20)) {
        run(async {
            let Opened { places: _places, worker, turns, .. } = opened().await;
            for line in &lines {
                let _ = worker.take(line.as_bytes());
                let named = serde_json::from_str::<Value>(line).ok().and_then(|line| line.get("turn")?.as_u64());
                for (number, turn) in [1, 2].into_iter().zip(&turns) {
                    let heard = text(turn);
                    assert!(heard.is_empty() || named == Some(number), "{line} was heard in {number}: {heard}");
                }
            }
        });
    }
}
