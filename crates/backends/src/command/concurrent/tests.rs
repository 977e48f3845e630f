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
use super::worker::{ConcurrentWorker, TurnSource, WorkerHome};
use crate::command::places::{Place, Places};
use crate::command::process::ComplaintsLeft;
use crate::program::ProgramContext;

/// A worker with the turns 1 and 2, and what is written to it.
struct Opened {
    places: Arc<Places>,
    worker: Arc<ConcurrentWorker>,
    turns: [Arc<TurnQueue>; 2],
    written: mpsc::UnboundedReceiver<String>,
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
    let Ok(Place::Seat(second)) = places.get(None).await else { panic!("there is room") };
    let asked = Arc::new(admitted(message(vec![Part::text("hi")])).await);
    let turns = [
        worker.begin(1, program.reader(asked.clone()), false, Box::new(first)),
        worker.begin(2, program.reader(asked), false, Box::new(second)),
    ];
    Opened { places, worker, turns, written }
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
        assert!(matches!(places.get(None).await, Ok(Place::New(_))));
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
