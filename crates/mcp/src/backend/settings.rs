//! The keys of an `mcp` backend.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use forecourt_agents::Context;
use forecourt_agents::on_behalf_of::{OnBehalfOfSettings, TokenExchange};
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
    /// The endpoint of the server, such as `https://example.com/mcp`. Either this or `command`. Any http
    /// or https URL: you wrote it, so it may be private.
    #[serde(default)]
    url: Option<String>,
    /// Fields to send with each request, such as `{ Authorization = "Bearer ${TOKEN}" }`. At most 32.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// Asks the server in the name of the caller, with a token of the caller's for it. Each call then has a
    /// connection of its own.
    on_behalf_of: Option<OnBehalfOfSettings>,
    /// A program that speaks MCP on its standard input and output, and its arguments, such as
    /// `["npx", "-y", "some-server"]`. Either this or `url`. No shell is involved.
    #[serde(default)]
    command: Vec<String>,
    /// Further variables of the program's environment, which otherwise holds nothing but `PATH`.
    #[serde(default)]
    env: BTreeMap<String, String>,
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
    let settings: RemoteServerSettings = section.read()?;
    let mut problems = Problems::new();
    let time_max = seconds(section, "total_seconds", settings.total_seconds, &mut problems);
    let place = TargetSettings {
        url: settings.url,
        headers: settings.headers,
        on_behalf_of: settings.on_behalf_of,
        command: settings.command,
        env: settings.env,
    };
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
