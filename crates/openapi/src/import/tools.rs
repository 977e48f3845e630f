//! Tools of a server elsewhere, as endpoints: each tool is read as an operation of a document, so that verb, meaning,
//! schemas and names are guessed, written and merged as those of any other import.

use serde_json::{Map, Value, json};

use super::reimport::ImportRecord;
use super::words::{line, snake};
use super::{AnsweredBy, Import, ImportError, Options, imported};
use crate::document::OpenApiDocument;
use crate::limits::SENTENCE_CHARS_MAX;

/// Marks an operation that only reads, though its HTTP method does not say so.
pub(super) const READS: &str = "x-reads-only";

/// A server whose tools become endpoints.
#[derive(Clone, Debug)]
pub struct ToolServer {
    /// Its name here: the file that defines it.
    pub name: String,
    /// What it calls itself; empty when it does not say.
    pub title: String,
    /// Its version; empty when it does not say.
    pub version: String,
    /// What the functions begin with that are its tools: `servers.NAME.`.
    pub functions: String,
    /// The errors in which a call of one may end.
    pub errors: Vec<String>,
}

/// A tool that becomes an endpoint.
#[derive(Clone, Debug, Default)]
pub struct ToolDescription {
    /// The server's name for it.
    pub name: String,
    /// A name for people; empty without one.
    pub title: String,
    /// What it does; empty when the server does not say.
    pub description: String,
    /// The JSON schema of its arguments.
    pub input: Value,
    /// The JSON schema of its structured result, if it promises one.
    pub output: Option<Value>,
    /// Whether it changes nothing, if the server says so.
    pub reads_only: Option<bool>,
    /// Whether it destroys something, if the server says so.
    pub is_destructive: Option<bool>,
    /// Whether calling it again changes nothing more, if the server says so.
    pub is_idempotent: Option<bool>,
}

/// What a tool handler of an endpoint says.
#[derive(Clone, Debug)]
pub(super) struct ToolHandler {
    pub(super) functions: String,
    server: String,
}

impl ToolHandler {
    /// Whether an endpoint can name a tool: its name is a part of a dotted path.
    ///
    /// # Errors
    /// Why not, in a sentence.
    pub(super) fn check(&self, tool: &str) -> Result<(), String> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        match tool.split('.').all(|word| !word.is_empty() && word.chars().all(is_word)) {
            true => Ok(()),
            false => Err("the name of the tool has characters that no endpoint can name a function by".to_owned()),
        }
    }

    /// The name of the file of a tool's endpoint, without its ending.
    pub(super) fn file(&self, tool: &str) -> String {
        snake(&format!("{} {tool}", self.server))
    }
}

/// Imports tools, of which those of an earlier import keep their files.
///
/// # Errors
/// There is none, or there are too many.
pub fn import_tools(
    server: &ToolServer,
    tools: &[ToolDescription],
    record: &ImportRecord,
) -> Result<Import, ImportError> {
    let text = document(server, tools).to_string();
    let document = OpenApiDocument::read(text.as_bytes())?;
    let answered = AnsweredBy::Tools(ToolHandler { functions: server.functions.clone(), server: server.name.clone() });
    let options = Options { record: record.clone(), ..Options::default() };
    imported(&document, &options, answered)
}

/// The tools as operations. The name of the server stands before its title: two servers may call themselves the same.
fn document(server: &ToolServer, tools: &[ToolDescription]) -> Value {
    let title = match server.title.as_str() {
        "" => server.name.clone(),
        title => format!("{} ({})", server.name, line(title, SENTENCE_CHARS_MAX / 2)),
    };
    let mut paths = Map::new();
    for tool in tools {
        let path = format!("/{}/{}", server.name, segment(&tool.name));
        // Names that differ in their spelling alone, such as `getForecast` and `get_forecast`.
        let apart = std::iter::once(path.clone()).chain((2..).map(|number| format!("{path}-{number}")));
        if let Some(free) = apart.into_iter().find(|path| !paths.contains_key(path)) {
            paths.insert(free, json!({"post": operation(tool, &server.errors)}));
        }
    }
    json!({"openapi": "3.1.0", "info": {"title": title, "version": server.version}, "paths": paths})
}

fn operation(tool: &ToolDescription, errors: &[String]) -> Value {
    let success = match &tool.output {
        Some(output) => json!({"description": "", "content": {"application/json": {"schema": output}}}),
        None => json!({"description": "", "content": {"application/json": {"schema": {"type": "object"}}}}),
    };
    let mut operation = json!({
        "operationId": tool.name,
        // A title that is the name once more tells nothing.
        "summary": if snake(&tool.title) == snake(&tool.name) { "" } else { tool.title.as_str() },
        "description": tool.description,
        "requestBody": {"required": true, "content": {"application/json": {"schema": tool.input}}},
        "responses": {"200": success},
        "x-agtp-errors": errors,
    });
    let impact = match (tool.reads_only, tool.is_destructive) {
        (Some(true), _) => Some("informational"),
        (_, Some(true)) => Some("irreversible"),
        (Some(false), Some(false)) => Some("reversible"),
        _ => None,
    };
    if tool.reads_only == Some(true) {
        operation[READS] = json!(true);
    }
    let idempotent = tool.is_idempotent.or(tool.reads_only.filter(|reads| *reads));
    if let Some(impact) = impact {
        operation["x-agtp-semantic"]["impact"] = json!(impact);
    }
    if let Some(idempotent) = idempotent {
        operation["x-agtp-semantic"]["is_idempotent"] = json!(idempotent);
    }
    operation
}

/// The name of a tool as a segment of a path: `getForecast` is `get-forecast`.
fn segment(name: &str) -> String {
    snake(name).replace('_', "-")
}
