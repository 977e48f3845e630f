//! `model`: a language model behind a chat completions API (OpenAI's, or one compatible with it).
//!
//! Each message is a conversation: our instructions, earlier turns, the current turn with what it
//! attaches. The answer is streamed; when the model asks for a tool, the tool is called with the
//! caller's authority and its result goes back, until the model has answered. Servers that answer in
//! one piece are fine too.
//!
//! What others wrote stays data: it is never part of the instructions, and tool results say where they
//! come from. Whatever a provider does wrong ends in an honest failure; the details go to the log.
//!
//! | file | holds |
//! |---|---|
//! | `settings.rs`, `limits.rs` | the keys, and every bound |
//! | `messages.rs` | a message and its history in the words of the API |
//! | `conversation.rs` | the same, cut so that the model can read it |
//! | `earlier.rs` | what an answer notes of its rounds and calls, and how it goes on by that on another node |
//! | `talk.rs` | one answer: rounds of asking, reading and calling |

mod conversation;
mod earlier;
pub mod limits;
mod messages;
mod settings;
mod silence;
mod talk;

use std::sync::Arc;
use std::time::Duration;

use forecourt_agents::backend::{Backend, BuiltAgent, Context};
use forecourt_agents::usage::UsageRecorder;
use forecourt_completions::budget::Budget;
use forecourt_completions::chain::Chain;
use forecourt_core::{Admitted, Agent, EventStream, Handle};
use forecourt_settings::{MovedKey, Problems, Section};
use futures::stream;

use crate::tools::Toolbox;
use messages::PromptSettings;
use settings::{ModelParts, ModelSettings};
use talk::AnswerRun;

/// Asks a language model.
pub const BACKEND: Backend = Backend {
    kind: "model",
    about: "Asks a language model behind an OpenAI-compatible chat API, which may search your content and ask other agents on the way.",
    schema: || schemars::schema_for!(ModelSettings),
    build,
};

/// Keys by the names that they had in the release before.
const MOVED: &[MovedKey] = &[MovedKey { old: "noun", new: "item_label" }];

fn build(mut section: Section, context: &Context) -> Result<BuiltAgent, Problems> {
    section.accept_moved(MOVED);
    let ModelParts { model, indexing } = settings::read(&section, context)?;
    let uses_tools = !model.toolbox.is_empty();
    let built = BuiltAgent::new(ModelAgent(Arc::new(model)));
    Ok(BuiltAgent { uses_tools, remembers: true, composes: true, attaches: true, indexing, ..built.with_files() })
}

struct ModelAgent(Arc<Model>);

struct Model {
    handle: Handle,
    prompt: PromptSettings,
    /// The models in the order in which they are asked.
    chain: Chain,
    toolbox: Toolbox,
    /// Whether the settings ask for none of the tools, so that a provider without tools will do.
    tools_are_optional: bool,
    /// For a whole answer.
    total_time: Duration,
    /// How long the models of the chain may say nothing, all together.
    silent_max: Duration,
    /// The bound on tokens and costs; `None` without `[budget]`.
    budget: Option<Arc<Budget>>,
    /// Receives a record of each request.
    usage: Arc<dyn UsageRecorder>,
}

impl Agent for ModelAgent {
    fn handle(&self, admitted: Admitted) -> EventStream {
        let talk = AnswerRun::new(self.0.clone(), admitted);
        Box::pin(stream::unfold(talk, |mut talk| async { talk.next().await.map(|event| (event, talk)) }))
    }
}
