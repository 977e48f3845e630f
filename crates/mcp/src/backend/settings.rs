//! The keys of an `mcp` backend.

use std::sync::Arc;
use std::time::Duration;

use forecourt_agents::Context;
use forecourt_agents::on_behalf_of::TokenExchange;
use forecourt_agents::settings::seconds;
use forecourt_settings::{Problems, Section};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::upstream::target::{CheckedTarget, Target, TargetSettings};

/// The section of an `mcp` backend.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RemoteServerSettings {
    /// `"mcp"`.
    #[serde(rename = "kind")]
    _kind: String,
    /// The tool that is called for each message.
    #[serde(default = "tool")]
    tool: String,
    /// Its arguments; in texts `{text}` is what the caller said and `{language}` the language asked for. A
    /// value that is `"{attachments}"` becomes the list of files, links and data beside the words, each with
    /// `name` and `mimeType`, and `data` in base64, `uri`, `text` or `json`. Without one, files are turned away.
    /// Default: `{ query = { text = "{text}" } }` for the tool `ask`, else `{ message = "{text}" }`.
    #[serde(default)]
    arguments: Option<Map<String, Value>>,
    /// Whether the server may ask the caller in the middle of a call. What the caller says next answers it,
    /// within ten minutes. Each call then has a connection, or a program, of its own. Default: false.
    #[serde(default)]
    questions: bool,
    /// Seconds for a whole answer.
    #[serde(default = "total_seconds")]
    total_seconds: u64,
}

fn tool() -> String {
    "ask".to_owned()
}

fn total_seconds() -> u64 {
    60
}

/// The settings of an `mcp` backend, parsed and checked.
pub(super) struct CheckedSection {
    pub(super) target: Target,
    pub(super) tool: String,
    pub(super) arguments: JsonObject,
    pub(super) questions: bool,
    pub(super) time_max: Duration,
    pub(super) exchange: Option<Arc<TokenExchange>>,
}

/// Reads and checks the section.
pub(super) fn read(section: &Section, context: &Context) -> Result<CheckedSection, Problems> {
    let (settings, place): (RemoteServerSettings, TargetSettings) = section.read_both()?;
    let mut problems = Problems::new();
    let time_max = seconds(section, "total_seconds", settings.total_seconds, &mut problems);
    let place = place.check("an mcp backend", section, context, &mut problems);
    let default = || match settings.tool.as_str() {
        "ask" => json!({"query": {"text": "{text}"}}),
        _ => json!({"message": "{text}"}),
    };
    let arguments = settings.arguments.unwrap_or_else(|| crate::content::object(default()));
    let Some(CheckedTarget { target, exchange }) = place else { return Err(problems) };
    let (tool, questions) = (settings.tool, settings.questions);
    problems.into_result(CheckedSection { target, tool, arguments, questions, time_max, exchange })
}
