//! The keys of an `mcp` backend.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use forecourt_agents::Context;
use forecourt_agents::on_behalf_of::{self, OnBehalfOfSettings, TokenExchange};
use forecourt_agents::settings::{fields, seconds, upstream_url};
use forecourt_process::Program;
use forecourt_settings::{Problems, Section};
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

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

/// Where the server is: a URL, or a program that is started.
#[derive(Clone)]
pub(super) enum Target {
    Url { url: String, headers: HeaderMap },
    Program(Program),
}

impl Target {
    /// The same, shown this token.
    pub(super) fn authorized(&self, authorization: HeaderValue) -> Self {
        let mut target = self.clone();
        if let Self::Url { headers, .. } = &mut target {
            headers.insert(AUTHORIZATION, authorization);
        }
        target
    }
}

/// Reads and checks the section.
pub(super) fn read(section: &Section, context: &Context) -> Result<CheckedSection, Problems> {
    let settings: RemoteServerSettings = section.read()?;
    let mut problems = Problems::new();
    let time_max = seconds(section, "total_seconds", settings.total_seconds, &mut problems);
    let headers = fields(section, &settings.headers, &mut problems);
    let exchange = on_behalf_of::read(settings.on_behalf_of, section, &headers, context, &mut problems);
    if exchange.is_some() && settings.url.is_none() {
        let message = "`on_behalf_of` needs `url`: a program is shown no token";
        problems.push(section.problem(Some("on_behalf_of"), message));
    }
    let target = match (settings.url, settings.command.split_first()) {
        (Some(url), None) => {
            upstream_url(section, "url", &url, &mut problems);
            Some(Target::Url { url, headers })
        }
        (None, Some((file, arguments))) => Some(Target::Program(Program {
            // A bare name is looked for in `PATH`; a path is taken from the folder.
            file: if file.contains('/') { context.resolve(file) } else { file.into() },
            arguments: arguments.to_vec(),
            folder: context.folder.clone(),
            path_variable: context.path_variable.clone(),
            variables: settings.env,
        })),
        _ => {
            problems.push(section.problem(None, "an mcp backend needs either `url` or `command`".to_owned()));
            None
        }
    };
    let default = || match settings.tool.as_str() {
        "ask" => json!({"query": {"text": "{text}"}}),
        _ => json!({"message": "{text}"}),
    };
    let arguments = settings.arguments.unwrap_or_else(|| crate::content::object(default()));
    let Some(target) = target else { return Err(problems) };
    let (tool, questions) = (settings.tool, settings.questions);
    problems.into_result(CheckedSection { target, tool, arguments, questions, time_max, exchange })
}
