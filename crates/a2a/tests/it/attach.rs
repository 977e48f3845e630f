//! Work of a remote agent whose node here was lost: it is found again by what was kept, and nothing is sent twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use forecourt_core::journal::{JournalKeeper, NotWritten};
use forecourt_core::{CollectedReply, EarlierTry, Ending, FailureCause, Message, WorkJournal, reply};
use futures::FutureExt;
use futures::StreamExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::peer::*;

const WORK: &str = "01980000-0000-7000-8000-000000000001";

/// Keeps the last place of one piece of work in memory.
struct Keeper {
    earlier: EarlierTry,
    places: watch::Sender<Option<Value>>,
    is_handed_over: AtomicBool,
    /// Whether notes can't be written.
    is_full: bool,
}

impl Keeper {
    fn of(earlier: EarlierTry) -> Arc<Self> {
        Arc::new(Self {
            earlier,
            places: watch::Sender::new(None),
            is_handed_over: AtomicBool::new(false),
            is_full: false,
        })
    }

    /// Waits until a place with a task was kept.
    async fn placed(&self) -> Value {
        let mut places = self.places.subscribe();
        let is_task = |place: &Option<Value>| place.as_ref().is_some_and(|place| place["task"].is_string());
        places.wait_for(is_task).await.unwrap().clone().unwrap()
    }
}

impl JournalKeeper for Keeper {
    fn work(&self) -> &str {
        WORK
    }

    fn earlier(&self) -> EarlierTry {
        self.earlier.clone()
    }

    fn note(&self, place: Value) {
        self.places.send_replace(Some(place));
    }

    fn written(&self) -> BoxFuture<'_, Result<(), NotWritten>> {
        std::future::ready(if self.is_full { Err(NotWritten) } else { Ok(()) }).boxed()
    }

    fn is_handed_over(&self) -> bool {
        self.is_handed_over.load(Ordering::SeqCst)
    }
}

/// An earlier try that noted this place last.
fn left(place: &Value) -> EarlierTry {
    EarlierTry::Left(vec![
        json!({"context": null, "waiting": "t0", "wants_payment": false, "task": null}),
        place.clone(),
    ])
}

fn with(keeper: &Arc<Keeper>, text: &str) -> Message {
    Message { journal: WorkJournal::new(keeper.clone()), ..message(text) }
}

/// What the agent in front of `peer` answers in a later try.
async fn later(peer: &FakePeer, more: &str, earlier: EarlierTry) -> CollectedReply {
    let keeper = Keeper::of(earlier);
    reply::collect(begin(&build(&peer.base, more), with(&keeper, "hi")).await).await
}

fn artifact(text: &str) -> Value {
    json!([{"artifactId": "a1", "parts": [{"text": text}]}])
}

fn working() -> Value {
    json!({"task": task_10("WORKING", Value::Null, json!([]))})
}

fn is_lost(answer: &CollectedReply, words: &str) -> bool {
    matches!(&answer.ending, Ending::Failed { cause: FailureCause::NodeLost, reason } if reason.contains(words))
}

/// What a first try keeps, of a peer that names its task and goes on working.
async fn kept_by_a_first_try() -> Value {
    let mut peer =
        peer(|base| json_answer(card_10(base, "JSONRPC", true)), |_, _| rpc_stream(&[working()], After::Hang)).await;
    let keeper = Keeper::of(EarlierTry::None);
    let mut events = begin(&build(&peer.base, ""), with(&keeper, "hi")).await;
    let place = tokio::select! {
        place = keeper.placed() => place,
        event = events.next() => panic!("nothing was said: {event:?}"),
    };
    assert_eq!(peer.next().await.message()["messageId"], WORK);
    keeper.is_handed_over.store(true, Ordering::SeqCst);
    place
}

#[tokio::test]
async fn the_task_is_kept_as_soon_as_it_is_known_and_found_again_by_it() {
    let place = kept_by_a_first_try().await;
    let mut peer = peer(
        |base| json_answer(card_10(base, "JSONRPC", true)),
        |_, _| {
            let whole = json!({"task": task_10("WORKING", Value::Null, artifact("Hel"))});
            rpc_stream(&[whole, text_10("lo", true, true), status_10("COMPLETED", Value::Null)], After::Close)
        },
    )
    .await;
    let answer = later(&peer, "", left(&place)).await;
    assert_eq!((answer.text().as_str(), &answer.ending), ("Hello", &Ending::Complete));
    let heard = peer.next().await;
    assert_eq!((heard.method().as_str(), &heard.body["params"]["id"]), ("SubscribeToTask", &json!("t1")));
    assert!(peer.heard.try_recv().is_err(), "nothing else was asked");
}

#[tokio::test]
async fn a_task_that_has_ended_meanwhile_or_can_not_be_subscribed_to_is_read() {
    let place = kept_by_a_first_try().await;
    for (streams, code) in [(true, -32001), (true, -32004), (true, -32601), (false, 0)] {
        let mut peer = peer(
            move |base| json_answer(card_10(base, "JSONRPC", streams)),
            move |number, heard| match heard.method().as_str() {
                "SubscribeToTask" => rpc_error(code, "no"),
                "GetTask" if number == 0 => rpc_result(task_10("WORKING", Value::Null, artifact("Hel"))),
                "GetTask" => rpc_result(task_10("COMPLETED", Value::Null, artifact("Hello"))),
                other => panic!("{other}"),
            },
        )
        .await;
        assert_eq!(later(&peer, "", left(&place)).await.text(), "Hello", "{code}");
        let first = peer.next().await.method();
        assert_eq!(first, if streams { "SubscribeToTask" } else { "GetTask" });
    }
}

#[tokio::test]
async fn a_task_that_is_gone_there_ends_as_failed_and_is_not_begun_anew() {
    let place = kept_by_a_first_try().await;
    let mut peer =
        peer(|base| json_answer(card_10(base, "JSONRPC", true)), |_, _| rpc_error(-32001, "no such task")).await;
    let answer = later(&peer, "knows_repeats = true\n", left(&place)).await;
    assert!(is_lost(&answer, "does not know its task any more"), "{answer:?}");
    let asked = [peer.next().await.method(), peer.next().await.method()];
    assert_eq!(asked, ["SubscribeToTask", "GetTask"]);
    assert!(peer.heard.try_recv().is_err());
}

#[tokio::test]
async fn a_message_of_which_nobody_knows_is_sent_again_only_where_that_is_harmless() {
    let sent = json!({"context": "c7", "waiting": null, "wants_payment": false, "task": null});
    for (earlier, more) in [(left(&sent), ""), (left(&json!("of another version")), "knows_repeats = true\n")] {
        let mut peer =
            peer(|base| json_answer(card_10(base, "JSONRPC", true)), |_, heard| panic!("{}", heard.method())).await;
        let answer = later(&peer, more, earlier.clone()).await;
        assert!(is_lost(&answer, "nobody knows whether"), "{answer:?}");
        assert!(peer.heard.try_recv().is_err(), "{earlier:?}");
    }
    let mut peer = peer(
        |base| json_answer(card_10(base, "JSONRPC", true)),
        |_, _| {
            rpc_stream(&[working(), text_10("Hello", false, true), status_10("COMPLETED", Value::Null)], After::Close)
        },
    )
    .await;
    assert_eq!(later(&peer, "knows_repeats = true\n", left(&sent)).await.text(), "Hello");
    let heard = peer.next().await;
    assert_eq!((&heard.message()["messageId"], &heard.message()["contextId"]), (&json!(WORK), &json!("c7")));
}

#[tokio::test]
async fn a_task_that_another_node_goes_on_with_is_not_cancelled_and_every_other_is() {
    for (is_handed_over, is_attached) in [(true, false), (true, true), (false, false), (false, true)] {
        let mut peer =
            peer(|base| json_answer(card_10(base, "JSONRPC", true)), |_, _| rpc_stream(&[working()], After::Hang))
                .await;
        let earlier = match is_attached {
            true => left(&json!({"context": "c1", "waiting": null, "wants_payment": false, "task": "t1"})),
            false => EarlierTry::None,
        };
        let keeper = Keeper::of(earlier);
        let mut events = begin(&build(&peer.base, ""), with(&keeper, "hi")).await;
        let begun = async {
            peer.next().await;
            if !is_attached {
                keeper.placed().await;
            }
        };
        tokio::select! {
            () = begun => {}
            event = events.next() => panic!("nothing was said: {event:?}"),
        }
        keeper.is_handed_over.store(is_handed_over, Ordering::SeqCst);
        drop(events);
        let cancelled =
            tokio::time::timeout(Duration::from_millis(if is_handed_over { 200 } else { 10_000 }), peer.heard.recv());
        let cancelled = cancelled.await.ok().flatten().map(|heard| heard.method());
        assert_eq!(cancelled.as_deref(), (!is_handed_over).then_some("CancelTask"), "{is_attached}");
    }
}

#[tokio::test]
async fn an_agent_asked_in_the_name_of_callers_does_not_attach() {
    assert!(build("https://far.example", "").attaches);
    let exchange = "[backend.on_behalf_of]\ntoken_endpoint = \"https://id.example/token\"\naudience = \"far\"\n\
                    client_id = \"us\"\nclient_secret = \"${KEY}\"\n";
    match try_build(&settings("https://far.example", exchange)) {
        Ok((built, _)) => assert!(!built.attaches),
        Err(problems) => panic!("{problems}"),
    }
}

#[tokio::test]
async fn a_message_is_noted_before_it_is_sent_and_is_not_sent_where_that_fails() {
    let answer = |_, _: &Heard| {
        rpc_stream(&[working(), text_10("Hello", false, true), status_10("COMPLETED", Value::Null)], After::Close)
    };
    let mut peer = peer(|base| json_answer(card_10(base, "JSONRPC", true)), answer).await;
    // Nothing was noted, so nothing was sent.
    assert_eq!(later(&peer, "", EarlierTry::Left(Vec::new())).await.text(), "Hello");
    peer.next().await;
    let keeper = Arc::new(Keeper { is_full: true, ..Arc::into_inner(Keeper::of(EarlierTry::None)).unwrap() });
    let answer = reply::collect(begin(&build(&peer.base, ""), with(&keeper, "hi")).await).await;
    assert!(matches!(&answer.ending, Ending::Failed { reason, .. } if reason.contains("was not asked")), "{answer:?}");
    assert!(peer.heard.try_recv().is_err());
}

#[tokio::test]
async fn a_later_try_that_reaches_nobody_is_no_refusal() {
    let place = kept_by_a_first_try().await;
    let sent = json!({"context": null, "waiting": null, "wants_payment": false, "task": null});
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    tokio::time::pause();
    for (earlier, more) in [(left(&place), ""), (left(&sent), "knows_repeats = true\n")] {
        let keeper = Keeper::of(earlier);
        let answer = reply::collect(begin(&build(&base, more), with(&keeper, "hi")).await).await;
        let is_cut_off = matches!(&answer.ending, Ending::Failed { cause: FailureCause::CutOff, .. });
        assert!(is_cut_off, "asking again might do the work twice: {answer:?}");
    }
    let answer = ask(&build(&base, ""), "hi").await;
    assert!(matches!(answer.ending, Ending::Refused(_)), "nothing was sent: {answer:?}");
}
