//! Holding agents to the form of a reply.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use forecourt_core::policy::RefusalKind;
use forecourt_core::reply::{GuardedReply, Progress, ReplyLimits, guard};
use forecourt_core::{Ending, Event, File, Part, PolicyPart, ToolOutcome, limits};
use futures::{FutureExt, StreamExt, future, stream};
use proptest::prelude::*;
use serde_json::json;

use crate::reply_collect::call;

fn through(events: Vec<Event>, limits: ReplyLimits) -> Vec<Event> {
    all(guard(Box::pin(stream::iter(events)), limits))
}

fn all(events: GuardedReply) -> Vec<Event> {
    events.collect().now_or_never().expect("a stream that never waits")
}

fn said(text: &str) -> Event {
    Event::Text(text.into())
}

const END: Event = Event::Ending(Ending::Complete);

fn limits() -> ReplyLimits {
    ReplyLimits::default()
}

fn failure(events: &[Event]) -> &str {
    match events.last() {
        Some(Event::Ending(Ending::Failed { reason, .. })) => reason,
        other => panic!("no failure: {other:?}"),
    }
}

#[test]
fn an_orderly_reply_passes_unchanged() {
    let events = vec![said("a"), Event::Part(Part::text("b")), Event::ToolCall(call("c", ToolOutcome::Running)), END];
    assert_eq!(through(events.clone(), limits()), events);
}

#[test]
fn s3_5_nothing_passes_after_the_ending() {
    assert_eq!(through(vec![END, said("late"), END], limits()), [END]);
}

#[test]
fn s3_5_an_agent_that_stops_without_an_ending_has_failed() {
    let events = through(vec![said("a")], limits());
    assert_eq!(events, [said("a"), Event::Ending(Ending::unfinished())]);
}

#[test]
fn s3_5_a_refusal_among_the_parts_is_the_ending() {
    let refusal = PolicyPart::new(RefusalKind::Forbidden, "no");
    let events = through(vec![said("a"), Event::Part(Part::Policy(refusal.clone())), said("b"), END], limits());
    assert_eq!(events, [said("a"), Event::Ending(Ending::Refused(Box::new(refusal)))]);
}

#[test]
fn a_tool_call_among_the_parts_is_a_tool_call() {
    let made = call("c", ToolOutcome::Running);
    let events = through(vec![Event::Part(Part::ToolCall(made.clone())), END], limits());
    assert_eq!(events, [Event::ToolCall(made), END]);
}

#[test]
fn an_agent_that_panics_has_failed() {
    let broken = stream::iter([1, 2]).map(|n| if n == 1 { said("a") } else { panic!("on purpose") });
    let events = all(guard(Box::pin(broken), limits()));
    assert_eq!(events[0], said("a"));
    assert_eq!(failure(&events), "the agent broke down");
}

#[test]
fn the_ending_stops_the_agent() {
    struct Work(Arc<AtomicBool>);
    impl Drop for Work {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let stopped = Arc::new(AtomicBool::new(false));
    let work = Work(stopped.clone());
    let agent = stream::iter([END]).chain(stream::pending()).map(move |event| (&work, event).1);
    let mut guarded = guard(Box::pin(agent), limits());
    assert_eq!(guarded.next().now_or_never(), Some(Some(END)));
    assert!(stopped.load(Ordering::SeqCst));
    assert_eq!(guarded.next().now_or_never(), Some(None));
}

#[test]
fn waiting_is_passed_on() {
    let mut guarded = guard(Box::pin(stream::pending()), limits());
    let mut cx = Context::from_waker(futures::task::noop_waker_ref());
    assert!(matches!(guarded.poll_next_unpin(&mut cx), Poll::Pending));
    let later = stream::once(future::ready(END));
    assert_eq!(all(guard(Box::pin(later), limits())), [END]);
}

#[test]
fn progress_is_a_number_from_0_to_1_or_none() {
    let progress = |fraction| Event::Progress(Progress { fraction, note: None });
    for (given, passed) in [(2.0, Some(1.0)), (-1.0, Some(0.0)), (0.5, Some(0.5)), (f64::NAN, None)] {
        assert_eq!(through(vec![progress(Some(given)), END], limits()), [progress(passed), END]);
    }
}

#[test]
fn events_are_counted() {
    let limits = ReplyLimits { events: 2, ..limits() };
    assert_eq!(through(vec![said("a"), said("b"), END], limits).last(), Some(&END));
    let over = through(vec![said("a"), said("b"), said("c"), END], limits);
    assert_eq!(over.len(), 3);
    assert_eq!(failure(&over), "the agent's answer has too many events");
}

#[test]
fn bytes_of_text_are_counted_in_fragments_and_in_a_message() {
    let limits = ReplyLimits { text_bytes: 4, ..limits() };
    assert_eq!(through(vec![said("éé"), END], limits).last(), Some(&END));
    assert_eq!(failure(&through(vec![said("éé"), said("a"), END], limits)), "the agent's answer has too much text");
    let message = |text: &str| vec![said("ab"), Event::Ending(Ending::Message(text.into()))];
    assert_eq!(through(message("cd"), limits), message("cd"));
    assert_eq!(failure(&through(message("cde"), limits)), "the agent's answer has too much text");
}

#[test]
fn parts_are_counted_and_tool_calls_by_their_id() {
    let limits = ReplyLimits { parts: 2, ..limits() };
    let tool = |id| Event::ToolCall(call(id, ToolOutcome::Running));
    let part = || Event::Part(Part::text("a"));
    assert_eq!(through(vec![tool("a"), tool("a"), part(), tool("a"), END], limits).last(), Some(&END));
    for over in [tool("b"), part()] {
        let over = through(vec![tool("a"), part(), over, END], limits);
        assert_eq!(failure(&over), "the agent's answer has too many parts");
    }
}

#[test]
fn one_file_and_all_parts_together_have_their_bounds() {
    let limits = ReplyLimits { artifact_bytes: 4, bytes: 8, ..limits() };
    let file = |n: usize| Event::Part(Part::File(File::inline("image/png", None, vec![0; n].into())));
    assert_eq!(through(vec![file(4), file(4), END], limits).last(), Some(&END));
    assert_eq!(failure(&through(vec![file(5), END], limits)), "the agent's answer has a file that is too large");
    assert_eq!(
        failure(&through(vec![file(4), file(4), file(1), END], limits)),
        "the agent's answer has too many bytes"
    );
    let data = Event::Part(Part::data(json!({"text": "longer than eight bytes"})));
    assert_eq!(failure(&through(vec![data, END], limits)), "the agent's answer has too many bytes");
    let large = call("a", ToolOutcome::Result(json!("longer than eight bytes")));
    assert_eq!(failure(&through(vec![Event::ToolCall(large), END], limits)), "the agent's answer has too many bytes");
}

#[test]
fn the_default_limits_are_those_of_the_core() {
    let text = "a".repeat(limits::REPLY_TEXT_BYTES_MAX);
    assert_eq!(through(vec![said(&text), END], limits()).last(), Some(&END));
    failure(&through(vec![said(&text), said("a"), END], limits()));
    let parts = |n| (0..n).map(|_| Event::Part(Part::text("a"))).chain([END]).collect::<Vec<_>>();
    assert_eq!(through(parts(limits::PARTS_MAX), limits()).last(), Some(&END));
    failure(&through(parts(limits::PARTS_MAX + 1), limits()));
    let events = |n| (0..n).map(|_| said("")).chain([END]).collect::<Vec<_>>();
    assert_eq!(through(events(limits::REPLY_EVENTS_MAX), limits()).last(), Some(&END));
    failure(&through(events(limits::REPLY_EVENTS_MAX + 1), limits()));
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        "[a-z]{0,6}".prop_map(Event::Text),
        "[a-z]{0,6}".prop_map(|text| Event::Part(Part::text(text))),
        "[a-c]".prop_map(|id| Event::ToolCall(call(&id, ToolOutcome::Running))),
        Just(Event::Part(Part::Policy(PolicyPart::new(RefusalKind::Forbidden, "no")))),
        Just(Event::Ending(Ending::Canceled)),
        Just(END),
    ]
}

proptest! {
    #[test]
    fn exactly_one_ending_comes_out_and_it_is_last(events in prop::collection::vec(any_event(), 0..20), n in 0usize..12) {
        let limits = ReplyLimits { events: n as u64, text_bytes: n, parts: n, artifact_bytes: n, bytes: 8 * n };
        let passed = through(events, limits);
        let endings = passed.iter().filter(|event| matches!(event, Event::Ending(_))).count();
        prop_assert_eq!(endings, 1);
        prop_assert!(matches!(passed.last(), Some(Event::Ending(_))));
        prop_assert!(!passed.iter().any(|event| matches!(event, Event::Part(Part::Policy(_)))));
    }
}
