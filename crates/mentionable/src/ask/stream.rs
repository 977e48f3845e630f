//! An answer as it comes. Mentionable REST 4.3.

use forecourt_agents::sse_reader::{SseEvent, SseReader};
use forecourt_client::ask::{AskTarget, ToolDisplay};
use forecourt_client::output::{Failure, ignore_broken_pipe};
use forecourt_client::printable::{Words, line};
use forecourt_core::json;
use forecourt_egress::UpstreamResponse;
use futures::StreamExt;
use serde_json::Value;

use super::part::part_line;
use super::question::AnswerRest;

/// Bytes of one event.
const EVENT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Characters of the reason of a failure.
const REASON_CHARS_MAX: usize = 300;
/// Files and links that are shown of one answer.
const PARTS_MAX: usize = 1_000;

/// How an answer ended.
enum End {
    /// With its end.
    Whole,
    /// With a refusal, which is the last thing that counts.
    Refused(Value),
}

/// Why there was no end.
enum Break {
    /// Nobody reads any more.
    Reader(std::io::Error),
    /// The stream is broken, or was cut.
    Stream(String),
}

/// Prints words as they come on standard output, and tools at work on standard error. `pays`: whether the answer may
/// have been paid for, so that a receipt means something.
pub(super) async fn print(mut incoming: UpstreamResponse, to: &AskTarget, pays: bool) -> Result<AnswerRest, Failure> {
    let mut display = StreamDisplay { pays, ..StreamDisplay::default() };
    let ended = follow(&mut incoming, &mut display).await;
    ignore_broken_pipe(display.words.end())?;
    match ended {
        Ok(End::Whole) => ignore_broken_pipe(display.show_parts()).map(|()| display.rest),
        Err(Break::Reader(error)) => ignore_broken_pipe(Err(error)).map(|()| AnswerRest::default()),
        Ok(End::Refused(policy)) => Ok(AnswerRest { policy: Some(policy), ..display.rest }),
        Err(Break::Stream(reason)) => {
            let failure = match display.error {
                Some(error) => Failure::unreachable(format!("{} failed: {error}", to.label)),
                None => Failure::unreachable(format!("the answer broke off: {reason}")),
            };
            Err(failure.hint("what came before is not the whole answer; ask again"))
        }
    }
}

async fn follow(incoming: &mut UpstreamResponse, display: &mut StreamDisplay) -> Result<End, Break> {
    let mut reader = SseReader::new(EVENT_BYTES_MAX).with_comments();
    while let Some(chunk) = incoming.body.next().await {
        let chunk = chunk.map_err(|error| Break::Stream(error.log_reason()))?;
        reader.push(&chunk).map_err(|error| Break::Stream(error.to_string()))?;
        while let Some(comment) = reader.next_comment() {
            display.comment(&comment);
        }
        while let Some(event) = reader.next_event() {
            if let Some(end) = display.event(&event).map_err(Break::Reader)? {
                return Ok(end);
            }
        }
    }
    Err(Break::Stream("it ended early".to_owned()))
}

/// What was shown so far, and what is still to be.
struct StreamDisplay {
    words: Words,
    /// Files and links in words, at most [`PARTS_MAX`].
    parts: Vec<String>,
    /// Why the agent failed, if it said so.
    error: Option<String>,
    rest: AnswerRest,
    /// The state that was last shown of each tool call, by its id.
    tools: ToolDisplay,
    pays: bool,
}

impl Default for StreamDisplay {
    fn default() -> Self {
        let (words, tools) = (Words::of_markdown(), ToolDisplay::default());
        Self { words, parts: Vec::new(), error: None, rest: AnswerRest::default(), tools, pays: false }
    }
}

impl StreamDisplay {
    /// Takes notice of a comment of our own hosts: what stands beside the words, or why there is no end.
    fn comment(&mut self, comment: &str) {
        if let Some(reason) = comment.strip_prefix("error ") {
            self.error = Some(line(reason, REASON_CHARS_MAX));
        }
        if let Some(receipt) = comment.strip_prefix("receipt ").filter(|_| self.pays) {
            super::pay::show_paid(receipt);
        }
        let part = comment.strip_prefix("part ").and_then(|envelope| json::parse(envelope.as_bytes()).ok());
        if let Some(part) = part.map(|mut envelope| envelope["part"].take()) {
            self.rest.note(&part);
            self.parts.extend(part_line(&part).filter(|_| self.parts.len() < PARTS_MAX));
        }
    }

    /// Shows what stands beside the words, under them.
    fn show_parts(&mut self) -> std::io::Result<()> {
        if self.parts.is_empty() {
            return Ok(());
        }
        let list: String = self.parts.drain(..).map(|part| format!("- {part}\n")).collect();
        self.words.say(&format!("\n{list}"))
    }

    /// Shows one event. Names that we don't know are passed over.
    fn event(&mut self, event: &SseEvent) -> std::io::Result<Option<End>> {
        match event.name.as_str() {
            "message" => self.words.say(&event.data)?,
            "tool_call" => self.tool(&part_of(event)),
            "policy" => return Ok(Some(End::Refused(part_of(event)))),
            "end" => return Ok(Some(End::Whole)),
            _ => {}
        }
        Ok(None)
    }

    fn tool(&mut self, call: &Value) {
        let text = |name: &str| call[name].as_str().unwrap_or_default();
        let state = match (call.get("error"), call.get("result")) {
            (Some(_), _) => "failed",
            (None, Some(_)) => "done",
            (None, None) => "at work",
        };
        self.tools.show(text("id"), text("name"), state);
    }
}

/// The part in its envelope, `{"v":"v0.1","part":{…}}`; `null` when there is none.
fn part_of(event: &SseEvent) -> Value {
    json::parse(event.data.as_bytes()).map(|mut envelope| envelope["part"].take()).unwrap_or_default()
}
