//! `script`: plays events that its settings list. For demonstrations, and for tests of clients.
//!
//! | file | holds |
//! |---|---|
//! | `settings.rs` | the keys |
//! | `load.rs`, `policy.rs` | from keys to steps, with all that is wrong in them |
//! | `play.rs` | steps as a stream of events |

mod load;
mod placeholder;
mod play;
mod policy;
mod settings;

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::{Admitted, Agent, Entropy, Event, EventStream, Message};
use forecourt_settings::{Problems, Section};
use regex::Regex;

use crate::echo;
use forecourt_agents::backend::{Backend, BuiltAgent, Context};
use play::Play;
use policy::PolicyTemplate;
use settings::ScriptSettings;

/// Plays scripted events.
pub const BACKEND: Backend = Backend {
    kind: "script",
    about: "Plays the events of the first rule that fits: text, waits, files, refusals, failures. \
            A message that no rule fits comes back as it is. `{host}` in any string is the canonical host.",
    schema: || schemars::schema_for!(ScriptSettings),
    build,
};

fn build(section: Section, context: &Context) -> Result<BuiltAgent, Problems> {
    let rules = load::rules(section, context)?;
    let built = BuiltAgent::new(Script { rules, entropy: context.entropy.clone() });
    Ok(BuiltAgent { uses_tools: true, ..built.with_files() })
}

/// Rules in the order in which they are tried.
struct Script {
    rules: Vec<Rule>,
    entropy: Arc<dyn Entropy>,
}

/// When to play what. A pattern that is not there fits everything.
#[derive(Debug)]
struct Rule {
    text: Option<Regex>,
    message_id: Option<Regex>,
    steps: Arc<[Step]>,
}

/// One step of a rule.
#[derive(Debug, Clone)]
enum Step {
    /// Something happens. An ending ends the play.
    Emit(Event),
    /// Nothing happens for a while.
    Wait(Duration),
    /// The same text again and again, at a steady pace.
    Repeat { text: String, count: u32, every: Duration },
    /// A refusal, which may need a token of its own.
    Refuse(Box<PolicyTemplate>),
}

impl Agent for Script {
    fn handle(&self, admitted: Admitted) -> EventStream {
        let message = admitted.message();
        let text = message.addressed_text();
        match self.rules.iter().find(|rule| rule.fits(message, &text)) {
            Some(rule) => Box::pin(Play::new(rule.steps.clone(), self.entropy.clone())),
            None => echo::repeat(message),
        }
    }
}

impl Rule {
    fn fits(&self, message: &Message, text: &str) -> bool {
        let fits = |pattern: &Option<Regex>, text: &str| pattern.as_ref().is_none_or(|p| p.is_match(text));
        fits(&self.message_id, message.id.as_str()) && fits(&self.text, text)
    }
}
