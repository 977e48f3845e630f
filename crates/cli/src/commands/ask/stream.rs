//! An answer as it comes. Mentionable REST 4.3.

use std::collections::HashMap;

use forecourt_agents::sse_reader::{SseEvent, SseReader};
use forecourt_core::json;
use forecourt_egress::Incoming;
use futures::StreamExt;
use serde_json::Value;

use super::Line;
use super::answer::{reading, refused};
use crate::commands::printable::{Words, line};
use crate::output::{Failure, Outcome};

/// Bytes of one event.
const EVENT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Tool calls whose state is remembered; beyond, each change is shown.
const TOOLS_MAX: usize = 1_000;

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

/// Prints words as they come on standard output, and tools at work on standard error.
pub(super) async fn print(mut incoming: Incoming, to: &Line) -> Outcome {
    let mut shown = Shown { words: Words::new(), tools: HashMap::new() };
    let ended = follow(&mut incoming, &mut shown).await;
    reading(shown.words.end())?;
    match ended {
        Ok(End::Whole) => Ok(()),
        Err(Break::Reader(error)) => reading(Err(error)),
        Ok(End::Refused(policy)) => Err(refused(&policy, to)),
        Err(Break::Stream(reason)) => Err(Failure::ours(format!("the answer broke off: {reason}"))
            .hint("what came before is not the whole answer; ask again")),
    }
}

async fn follow(incoming: &mut Incoming, shown: &mut Shown) -> Result<End, Break> {
    let mut reader = SseReader::new(EVENT_BYTES_MAX);
    while let Some(chunk) = incoming.body.next().await {
        let chunk = chunk.map_err(|error| Break::Stream(error.log_reason()))?;
        reader.push(&chunk).map_err(|error| Break::Stream(error.to_string()))?;
        while let Some(event) = reader.next_event() {
            if let Some(end) = shown.event(&event).map_err(Break::Reader)? {
                return Ok(end);
            }
        }
    }
    Err(Break::Stream("it ended early".to_owned()))
}

/// What was shown so far.
struct Shown {
    words: Words,
    /// The state that was last shown of each tool call, by its id.
    tools: HashMap<String, &'static str>,
}

impl Shown {
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
        let known = self.tools.get(text("id")) == Some(&state);
        if self.tools.len() < TOOLS_MAX {
            self.tools.insert(text("id").to_owned(), state);
        }
        if !known {
            eprintln!("[{}: {state}]", line(text("name"), 60));
        }
    }
}

/// The part in its envelope, `{"v":"v0.1","part":{…}}`; `null` when there is none.
fn part_of(event: &SseEvent) -> Value {
    json::parse(event.data.as_bytes()).map(|mut envelope| envelope["part"].take()).unwrap_or_default()
}
