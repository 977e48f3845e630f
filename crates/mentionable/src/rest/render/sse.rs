//! Words as they come. REST 4.3.
//!
//! `event: end` is written after success and after a refusal, and at no other time: a stream that
//! breaks, or an agent that fails, must not look like a whole answer.
//!
//! The data of the events without a name is the words of the answer and nothing else. What else there is to know
//! stands in comments, which readers of event streams pass over (WHATWG HTML 9.2.6) and our own page and `ask` read:
//! `: part {…}` is a file, a link, an artifact or the questions beside the words, in the envelope that tool calls have,
//! `: receipt …` is what was paid for the answer, in base64 as the header of a whole answer has it, and `: code …` and
//! `: error …` say why a stream closes without its end.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use forecourt_core::part::{Artifact, ArtifactContent};
use forecourt_core::reply::collect;
use forecourt_core::{
    CollectedReply, Ending, Event, EventStream, FileSource, Part, PaymentReceipt, PolicyPart, ToolCall,
};
use forecourt_pages::clean;
use forecourt_surface::sse::{HEARTBEAT_EVERY, SseFragments, comment, event, message};
use futures::{Stream, StreamExt, stream};
use serde_json::{Value, json};

use super::{markdown, question, under};
use crate::rest::limits::FILE_IN_STREAM_BYTES_MAX;
use crate::rest::refusal::PartEnvelope;

/// How long the first byte is waited for: then a sign of life would be due, which is one.
const FIRST_BYTE_MAX: Duration = HEARTBEAT_EVERY;

/// The beginning of a reply.
pub(crate) struct ReplyStart {
    /// What happened until there was something to write, which is the last of it.
    pub(crate) events: Vec<Event>,
    /// Whether nothing came for [`FIRST_BYTE_MAX`], so that the stream begins with a sign of life.
    pub(crate) is_late: bool,
}

/// Waits until there is something to write: an answer that fails before can still have a status. For an agent that
/// `streams` that is a word or a tool call, for another its ending.
pub(crate) async fn begin(reply: &mut EventStream, streams: bool) -> ReplyStart {
    let mut events = Vec::new();
    let gathering = async {
        while let Some(next) = reply.next().await {
            let is_written = match &next {
                Event::Ending(_) => true,
                Event::Text(fragment) => streams && !fragment.is_empty(),
                Event::ToolCall(_) | Event::Part(Part::ToolCall(_)) => streams,
                Event::Part(_) | Event::Findings(_) | Event::Progress(_) | Event::Task(_) => false,
            };
            events.push(next);
            if is_written {
                return;
            }
        }
    };
    let is_late = tokio::time::timeout(FIRST_BYTE_MAX, gathering).await.is_err();
    ReplyStart { events, is_late }
}

/// The frames of an answer. An agent that does not stream gives one frame of words and then its
/// tool calls. Progress has no frame on this wire and is left out.
///
/// `receipt` is told with the end, where the head could not tell it.
pub(crate) fn frames(events: EventStream, streams: bool, receipt: PaymentReceipt) -> impl Stream<Item = Bytes> + Send {
    match streams {
        true => flowing(events, receipt).left_stream(),
        false => {
            let whole = stream::once(collect(events));
            whole.flat_map(move |whole| stream::iter(gathered(whole, &receipt))).right_stream()
        }
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

fn flowing(mut events: EventStream, receipt: PaymentReceipt) -> impl Stream<Item = Bytes> + Send {
    async_stream::stream! {
        let mut words = Words::default();
        let mut parts = Vec::new();
        while let Some(next) = events.next().await {
            match next {
                Event::Text(fragment) => if let Some(frame) = words.say(&fragment) { yield frame; },
                Event::ToolCall(call) | Event::Part(Part::ToolCall(call)) => yield tool_call(&call),
                Event::Part(part) => parts.push(part),
                Event::Findings(_) | Event::Progress(_) | Event::Task(_) => {}
                Event::Ending(ending) => {
                    for frame in closing(&mut words, parts, ending, &receipt) { yield frame; }
                    return;
                }
            }
        }
        yield failed(&Ending::unfinished());
    }
}

/// The words so far, as frames.
#[derive(Default)]
struct Words {
    fragments: SseFragments,
    spoken: bool,
}

impl Words {
    fn say(&mut self, text: &str) -> Option<Bytes> {
        self.spoken |= !text.is_empty();
        self.fragments.next(text)
    }
}

/// What an ending adds to the words so far, in the order in which a whole answer has it.
fn closing(words: &mut Words, parts: Vec<Part>, ending: Ending, receipt: &PaymentReceipt) -> Vec<Bytes> {
    let mut frames = Vec::new();
    if let Ending::Message(text) = &ending {
        frames.extend(words.say(text));
    }
    frames.extend(parts.iter().filter_map(Part::as_text).filter_map(|text| words.say(text)));
    let mut beside = parts;
    match ending {
        Ending::Complete | Ending::Message(_) => {}
        Ending::Question(question) => {
            let asked = under(words.spoken, question::words(&question));
            frames.extend(words.say(&asked));
            beside.extend(question::data(&question));
        }
        Ending::Refused(part) => {
            frames.extend([policy(&part), end()]);
            return frames;
        }
        ending @ (Ending::SignIn(_) | Ending::Declined { .. } | Ending::Failed { .. } | Ending::Canceled) => {
            frames.push(failed(&ending));
            return frames;
        }
    }
    let is_wordless = !words.spoken;
    if is_wordless {
        frames.extend(words.say(&markdown::wordless(&beside)));
    }
    // Without words the list names all of them; it can't hold their bytes.
    frames.extend(beside.iter().filter(|part| !is_wordless || holds_bytes(part)).filter_map(part));
    frames.push(paid_end(receipt));
    frames
}

/// The frames of an agent that answers all at once.
fn gathered(collected: CollectedReply, receipt: &PaymentReceipt) -> Vec<Bytes> {
    let CollectedReply { parts, ending, .. } = collected;
    match &ending {
        Ending::Complete | Ending::Message(_) | Ending::Question(_) => {}
        Ending::Refused(part) => return vec![policy(part), end()],
        Ending::SignIn(_) | Ending::Declined { .. } | Ending::Failed { .. } | Ending::Canceled => {
            return vec![failed(&ending)];
        }
    }
    let parts = super::parts(CollectedReply::new(parts, ending));
    let calls: Vec<Bytes> = parts
        .iter()
        .filter_map(|part| match part {
            Part::ToolCall(call) => Some(tool_call(call)),
            _ => None,
        })
        .collect();
    let is_wordless = parts.iter().filter_map(Part::as_text).all(str::is_empty);
    let beside: Vec<Bytes> = parts.iter().filter(|part| !is_wordless || holds_bytes(part)).filter_map(part).collect();
    let words = markdown::answer(parts);
    let words = (!words.is_empty()).then(|| message(&words));
    words.into_iter().chain(calls).chain(beside).chain([paid_end(receipt)]).collect()
}

/// A part that stands beside the words, as a comment. More bytes than [`FILE_IN_STREAM_BYTES_MAX`] in the part itself
/// stay out of it: they would be the longer half of a stream of words, and JSON has them. Items are told by the words.
fn part(part: &Part) -> Option<Bytes> {
    let mut value = match part {
        Part::Data(data) if data.data.get("questions").is_none() => return None,
        Part::Link(_) | Part::File(_) | Part::Artifact(_) | Part::Data(_) => json!(part),
        Part::Text(_) | Part::ToolCall(_) | Part::Policy(_) | Part::Unknown(_) => return None,
    };
    let source = match part {
        Part::File(file) => Some(&file.source),
        Part::Artifact(Artifact { content: ArtifactContent::Bytes(source), .. }) => Some(source),
        _ => None,
    };
    if let (Some(FileSource::Inline(bytes)), Value::Object(fields)) = (source, &mut value)
        && bytes.len() > FILE_IN_STREAM_BYTES_MAX
    {
        fields.remove("bytes_ref");
    }
    Some(comment(&format!("part {}", PartEnvelope::new(&value).to_text())))
}

/// Whether a part has bytes in itself.
fn holds_bytes(part: &Part) -> bool {
    match part {
        Part::File(file) => matches!(file.source, FileSource::Inline(_)),
        Part::Artifact(artifact) => matches!(artifact.content, ArtifactContent::Bytes(FileSource::Inline(_))),
        _ => false,
    }
}

/// Why there is no end: for programs, then for people.
fn failed(ending: &Ending) -> Bytes {
    let code = comment(&format!("code {}", ending.code()));
    let reason = comment(&format!("error {}", clean::line(&ending.reason().unwrap_or_default())));
    [code, reason].concat().into()
}

fn tool_call(call: &ToolCall) -> Bytes {
    event("tool_call", &PartEnvelope::new(call).to_text())
}

fn policy(part: &PolicyPart) -> Bytes {
    event("policy", &PartEnvelope::new(part).to_text())
}

/// The end of an answer, with the receipt of what was paid for it then.
fn paid_end(receipt: &PaymentReceipt) -> Bytes {
    let told = receipt.paid_at_the_end().and_then(|receipt| serde_json::to_vec(receipt).ok());
    let told = told.map(|receipt| comment(&format!("receipt {}", STANDARD.encode(receipt))));
    [told.unwrap_or_default(), end()].concat().into()
}

fn end() -> Bytes {
    event("end", "{}")
}
