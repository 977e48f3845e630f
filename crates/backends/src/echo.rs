//! `echo`: repeats the current turn. For trying out clients, and for measuring.

use forecourt_core::reply::once;
use forecourt_core::{Admitted, Agent, Ending, Event, EventStream, Message, Part};
use forecourt_settings::{Problems, Section};
use futures::stream;
use schemars::JsonSchema;
use serde::Deserialize;

use forecourt_agents::backend::{Backend, BuiltAgent, Context};

/// Repeats the current turn.
pub const BACKEND: Backend = Backend {
    kind: "echo",
    about: "Repeats what it is told, attachments included. For trying out clients, and for measuring.",
    schema: || schemars::schema_for!(Settings),
    build,
};

/// The section of an `echo` backend, which has no keys of its own.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// `"echo"`.
    #[serde(rename = "kind")]
    _kind: String,
}

fn build(section: Section, _: &Context) -> Result<BuiltAgent, Problems> {
    section.read::<Settings>()?;
    Ok(BuiltAgent::new(Echo).with_files())
}

/// Repeats the current turn: its text unchanged, then its attachments.
#[derive(Debug, Clone, Copy)]
pub struct Echo;

impl Agent for Echo {
    fn handle(&self, admitted: Admitted) -> EventStream {
        repeat(admitted.message())
    }
}

/// The events that repeat the current turn of `message`. Words alone are a direct answer, one ending
/// that says them; beside attachments they are an event of their own. All of them are there from the
/// beginning, so that nothing is woken or waited for.
pub fn repeat(message: &Message) -> EventStream {
    let text = message.text();
    let attachments: Vec<Event> = message.parts.iter().filter(is_attachment).cloned().map(Event::Part).collect();
    if attachments.is_empty() && !text.is_empty() {
        return once(Ending::Message(text));
    }
    let text = (!text.is_empty()).then_some(Event::Text(text));
    let ending = std::iter::once(Event::Ending(Ending::Complete));
    Box::pin(stream::iter(text.into_iter().chain(attachments).chain(ending)))
}

/// What a caller attaches. A refusal or a tool call that a caller wrote is no attachment: repeated,
/// it would be the agent's own.
fn is_attachment(part: &&Part) -> bool {
    matches!(part, Part::File(_) | Part::Link(_) | Part::Data(_) | Part::Artifact(_) | Part::Unknown(_))
}
