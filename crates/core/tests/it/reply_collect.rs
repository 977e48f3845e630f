//! Draining a reply to its ending.

use forecourt_core::policy::RefusalKind;
use forecourt_core::reply::{CollectedReply, Progress, ReplyAccumulator, collect, once, refused};
use forecourt_core::{Ending, Event, Part, PolicyPart, ToolCall, ToolOutcome};
use futures::{FutureExt, stream};
use serde_json::json;

fn collected(events: Vec<Event>) -> CollectedReply {
    collect(Box::pin(stream::iter(events))).now_or_never().expect("a stream that never waits")
}

pub(crate) fn call(id: &str, outcome: ToolOutcome) -> ToolCall {
    ToolCall { id: id.into(), name: "search".into(), args: json!({"q": "x"}), outcome }
}

fn said(text: &str) -> Event {
    Event::Text(text.into())
}

#[test]
fn s3_5_a_stream_that_just_stops_has_failed() {
    assert_eq!(collected(vec![]), CollectedReply::new(vec![], Ending::unfinished()));
    let half = collected(vec![said("half an ans")]);
    assert_eq!((half.text().as_str(), half.ending), ("half an ans", Ending::unfinished()));
}

#[test]
fn s3_5_nothing_after_the_ending_is_taken() {
    let events = vec![said("a"), Event::Ending(Ending::Complete), said("b"), Event::Ending(Ending::Canceled)];
    assert_eq!(collected(events), CollectedReply::new(vec![Part::markdown("a")], Ending::Complete));
}

#[test]
fn fragments_join_without_a_separator_and_parts_stay_where_they_came() {
    let link = Part::data(json!({"url": "https://example.com"}));
    let events = vec![Event::Part(link.clone()), said("a"), said(" b"), said(""), Event::Ending(Ending::Complete)];
    assert_eq!(collected(events).parts, [link, Part::markdown("a b")]);
}

#[test]
fn no_text_makes_no_part() {
    assert_eq!(collected(vec![said(""), Event::Ending(Ending::Complete)]).parts, []);
}

#[test]
fn a_message_is_text_and_ending_in_one() {
    let answer = collect(once(Ending::Message("hi".into()))).now_or_never().unwrap();
    assert_eq!(answer.parts, [Part::markdown("hi")]);
    assert_eq!(answer.ending, Ending::Message("hi".into()));
}

#[test]
fn s4_3_a_later_tool_call_of_the_same_id_replaces_the_first() {
    let events = vec![
        Event::ToolCall(call("c1", ToolOutcome::Running)),
        Event::ToolCall(call("c2", ToolOutcome::Running)),
        Event::ToolCall(call("c1", ToolOutcome::Result(json!({"hits": 3})))),
        Event::Ending(Ending::Complete),
    ];
    let wanted = [call("c1", ToolOutcome::Result(json!({"hits": 3}))), call("c2", ToolOutcome::Running)];
    assert_eq!(collected(events).parts, wanted.map(Part::ToolCall));
}

#[test]
fn progress_leaves_nothing_behind() {
    let progress = Event::Progress(Progress { fraction: Some(0.5), note: Some("half".into()) });
    assert_eq!(collected(vec![progress, Event::Ending(Ending::Complete)]).parts, []);
}

#[test]
fn a_refusal_is_the_ending() {
    let part = PolicyPart::new(RefusalKind::Forbidden, "no");
    let answer = collect(refused(part.clone())).now_or_never().unwrap();
    assert_eq!(answer, CollectedReply::new(vec![], Ending::Refused(Box::new(part))));
}

#[test]
fn what_is_gathered_can_be_finished_at_any_time() {
    let mut gathered = ReplyAccumulator::default();
    assert_eq!(gathered.take(said("so far")), None);
    assert_eq!(gathered.clone().finish(Ending::Canceled).text(), "so far");
    assert_eq!(gathered.take(Event::Ending(Ending::Complete)), Some(Ending::Complete));
}

#[test]
fn events_and_outcomes_survive_storage() {
    let refusal =
        Ending::Refused(Box::new(PolicyPart::new(RefusalKind::TooManyRequests { retry_after_seconds: Some(3) }, "m")));
    let events = vec![
        said("a"),
        Event::Part(Part::text("b")),
        Event::ToolCall(call("c", ToolOutcome::Error("e".into()))),
        Event::Progress(Progress { fraction: None, note: None }),
        Event::Ending(Ending::Message("m".into())),
        Event::Ending(refusal.clone()),
        Event::Ending(Ending::failed("f")),
    ];
    let stored = serde_json::to_string(&events).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Event>>(&stored).unwrap(), events);
    let outcome = CollectedReply::new(vec![Part::text("p")], refusal);
    assert_eq!(serde_json::from_value::<CollectedReply>(json!(outcome)).unwrap(), outcome);
}
