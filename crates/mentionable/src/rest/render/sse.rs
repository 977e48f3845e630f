//! Words as they come. REST 4.3.
//!
//! `event: end` is written after success and after a refusal, and at no other time: a stream that
//! breaks, or an agent that fails, must not look like a whole answer.

use bytes::Bytes;
use forecourt_core::reply::collect;
use forecourt_core::{Collected, Ending, Event, EventStream, Part, PolicyPart, ToolCall};
use forecourt_surface::sse::{Fragments, event, message};
use futures::{Stream, StreamExt, stream};

use super::markdown;
use crate::rest::refusal::Enveloped;

/// The frames of an answer. An agent that does not stream gives one frame of words and then its
/// tool calls. Progress has no frame on this wire and is left out.
pub(crate) fn frames(events: EventStream, streams: bool) -> impl Stream<Item = Bytes> + Send {
    match streams {
        true => flowing(events).left_stream(),
        false => stream::once(collect(events)).flat_map(|whole| stream::iter(gathered(whole))).right_stream(),
    }
}

/// One message of words, ended well.
pub(crate) fn one_message(words: &str) -> Bytes {
    [message(words), end()].concat().into()
}

/// A refusal that stands for the whole answer.
pub(super) fn refusal(part: &PolicyPart) -> Bytes {
    [policy(part), end()].concat().into()
}

fn flowing(mut events: EventStream) -> impl Stream<Item = Bytes> + Send {
    async_stream::stream! {
        let mut words = Fragments::default();
        let mut spoken = false;
        let mut parts = Vec::new();
        while let Some(next) = events.next().await {
            match next {
                Event::Text(fragment) => {
                    spoken |= !fragment.is_empty();
                    if let Some(frame) = words.next(&fragment) { yield frame; }
                }
                Event::ToolCall(call) => yield tool_call(&call),
                Event::Part(Part::ToolCall(call)) => yield tool_call(&call),
                Event::Part(part) => parts.push(part),
                Event::Findings(_) | Event::Progress(_) | Event::Task(_) => {}
                Event::Ending(ending) => {
                    for frame in closing(&mut words, spoken, &parts, ending) { yield frame; }
                    return;
                }
            }
        }
    }
}

/// What an ending adds to the words so far.
fn closing(words: &mut Fragments, spoken: bool, parts: &[Part], ending: Ending) -> Vec<Bytes> {
    let last = match ending {
        Ending::Complete => None,
        Ending::Message(text) => Some(text),
        Ending::Question(question) => Some(under(spoken, question.text)),
        Ending::Refused(part) => return vec![policy(&part), end()],
        Ending::Failed { .. } | Ending::Canceled => return Vec::new(),
    };
    let spoken = spoken || last.is_some();
    let tail = markdown::tail(parts, !spoken).map(|tail| under(spoken, tail));
    let said = last.into_iter().chain(tail).filter_map(|text| words.next(&text));
    said.chain([end()]).collect()
}

/// The frames of an agent that answers all at once.
fn gathered(collected: Collected) -> Vec<Bytes> {
    match &collected.ending {
        Ending::Complete | Ending::Message(_) | Ending::Question(_) => {}
        Ending::Refused(part) => return vec![policy(part), end()],
        Ending::Failed { .. } | Ending::Canceled => return Vec::new(),
    }
    let calls = collected.parts.iter().filter_map(|part| match part {
        Part::ToolCall(call) => Some(tool_call(call)),
        _ => None,
    });
    let calls: Vec<Bytes> = calls.collect();
    let words = markdown::markdown(collected);
    let words = (!words.is_empty()).then(|| message(&words));
    words.into_iter().chain(calls).chain([end()]).collect()
}

fn under(spoken: bool, text: String) -> String {
    if spoken { format!("\n\n{text}") } else { text }
}

fn tool_call(call: &ToolCall) -> Bytes {
    event("tool_call", &Enveloped::new(call).to_text())
}

fn policy(part: &PolicyPart) -> Bytes {
    event("policy", &Enveloped::new(part).to_text())
}

fn end() -> Bytes {
    event("end", "{}")
}
