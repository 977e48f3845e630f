//! The three tools that lead to all others, and what two of them answer.

use std::sync::Arc;

use forecourt_surface::tool::ToolOutput;
use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, JsonObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::listing::Listing;
use crate::content::{failed, object};
use crate::limits::{
    ARGUMENTS_NAMED_MAX, TOOL_QUERY_CHARS_MAX, TOOL_SUMMARY_CHARS_MAX, TOOLS_FOUND_DEFAULT, TOOLS_FOUND_MAX,
    TOOLS_FOUND_NEAR,
};

/// Finds tools by what they do.
pub(crate) const FIND: &str = "find_tools";
/// Gives all of one tool.
pub(crate) const DESCRIBE: &str = "describe_tool";
/// Calls one.
pub(crate) const CALL: &str = "call_tool";
/// How many of them there are.
pub(crate) const LEADS_COUNT: usize = 3;

/// The three as a list has them, at an endpoint with so many tools.
pub(super) fn leads(count: usize) -> Vec<Tool> {
    let find = format!(
        "Finds tools by what they do: there are {count} here, most of which this list leaves out. Say in plain words \
         what is to be done, one task at a time, such as `refund an order`. Then call one with {CALL}, or by its name."
    );
    let describe =
        format!("Gives all of a tool that {FIND} found: the JSON schemas of what it takes and what it gives.");
    let call = format!("Calls a tool that {FIND} found, with arguments as its input schema wants them.");
    vec![
        lead(FIND, "Find tools", find, find_input(), true),
        lead(DESCRIBE, "Describe a tool", describe, describe_input(), true),
        lead(CALL, "Call a tool", call, call_input(), false),
    ]
}

fn lead(name: &'static str, title: &str, description: String, input: Value, reads_only: bool) -> Tool {
    let annotations = ToolAnnotations::with_title(title).read_only(reads_only);
    let annotations = if reads_only { annotations.destructive(false).idempotent(true) } else { annotations };
    Tool::new(name, description, Arc::new(object(input))).with_title(title).with_annotations(annotations)
}

fn find_input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "minLength": 1,
                "maxLength": TOOL_QUERY_CHARS_MAX,
                "description": "What is to be done, in plain words.",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": TOOLS_FOUND_MAX,
                "default": TOOLS_FOUND_DEFAULT,
                "description": "How many tools at most.",
            },
        },
        "required": ["query"],
    })
}

fn describe_input() -> Value {
    json!({
        "type": "object",
        "properties": {"name": {"type": "string", "description": "The name of the tool."}},
        "required": ["name"],
    })
}

fn call_input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "The name of the tool."},
            "arguments": {"type": "object", "description": "What it takes, by its input schema."},
        },
        "required": ["name"],
    })
}

/// The call that a `call_tool` is. What goes with the request (answers, progress, metadata) is that call's.
pub(super) fn named_call(mut request: CallToolRequestParams) -> Result<CallToolRequestParams, ErrorData> {
    let wrong = |words: &str| ErrorData::invalid_params(format!("`{CALL}` takes {words}"), None);
    let mut given = request.arguments.take().unwrap_or_default();
    let Some(Value::String(name)) = given.remove("name") else {
        return Err(wrong("`name`, the name of a tool, and `arguments`, an object"));
    };
    request.arguments = match given.remove("arguments") {
        None | Some(Value::Null) => None,
        Some(Value::Object(arguments)) => Some(arguments),
        // Some models write an object as text.
        Some(Value::String(text)) => Some(
            serde_json::from_str(&text).map_err(|_| wrong("`arguments` as an object, by the tool's input schema"))?,
        ),
        Some(_) => return Err(wrong("`arguments` as an object, by the tool's input schema")),
    };
    if let Some((other, _)) = given.iter().next() {
        return Err(wrong(&format!("`name` and `arguments`: put `{other}` into `arguments`")));
    }
    request.name = name.into();
    Ok(request)
}

/// The tools that fit a question, with what a model needs to choose among them.
pub(super) fn find(listing: &Listing, arguments: &JsonObject) -> ToolOutput {
    let query = arguments.get("query").and_then(Value::as_str).map(str::trim).unwrap_or_default();
    if query.is_empty() || query.chars().count() > TOOL_QUERY_CHARS_MAX {
        return failed(format!("`query` says what is to be done, in 1 to {TOOL_QUERY_CHARS_MAX} characters"));
    }
    let limit = match arguments.get("limit") {
        None | Some(Value::Null) => TOOLS_FOUND_DEFAULT,
        Some(limit) => match limit.as_u64().and_then(|limit| usize::try_from(limit).ok()) {
            Some(limit) if (1..=TOOLS_FOUND_MAX).contains(&limit) => limit,
            _ => return failed(format!("`limit` is a whole number from 1 to {TOOLS_FOUND_MAX}")),
        },
    };
    let found: Vec<Value> = listing.search(query, limit).iter().map(summary).collect();
    let structured = json!({"tools": found, "tools_total": listing.len()});
    let words = match found.is_empty() {
        true => format!("None of {} tools has a word of this. Say it with other words.", listing.len()),
        false => structured.to_string(),
    };
    ToolOutput { structured, text: vec![words], ..ToolOutput::default() }
}

/// What is said of a tool that was found.
fn summary(tool: &Tool) -> Value {
    let annotations = tool.annotations.as_ref();
    let hint = |read: fn(&ToolAnnotations) -> Option<bool>| annotations.and_then(read);
    let mut said = Map::new();
    said.insert("name".to_owned(), json!(tool.name));
    let title = tool.title.clone().filter(|title| *title != tool.name);
    said.extend(title.map(|title| ("title".to_owned(), json!(title))));
    let description = tool.description.as_deref().unwrap_or_default();
    said.insert("description".to_owned(), json!(cut(description)));
    for (key, names) in arguments(&tool.input_schema) {
        if !names.is_empty() {
            said.insert(key.to_owned(), json!(names));
        }
    }
    let hints = [
        ("read_only", hint(|annotations| annotations.read_only_hint)),
        ("destructive", hint(|annotations| annotations.destructive_hint)),
    ];
    said.extend(hints.into_iter().filter(|(_, is)| *is == Some(true)).map(|(key, _)| (key.to_owned(), json!(true))));
    Value::Object(said)
}

/// The names of what a tool must be given, and of what it may be given.
fn arguments(schema: &JsonObject) -> [(&'static str, Vec<&str>); 2] {
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let all = schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys).map(String::as_str);
    let (must, may): (Vec<&str>, Vec<&str>) = all.partition(|name| required.contains(name));
    [("arguments", must), ("optional_arguments", may)].map(|(key, mut names)| {
        names.truncate(ARGUMENTS_NAMED_MAX);
        (key, names)
    })
}

/// The start of a text, up to a word.
fn cut(text: &str) -> String {
    match text.char_indices().nth(TOOL_SUMMARY_CHARS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => {
            let end = text[..end].rfind(char::is_whitespace).unwrap_or(end);
            format!("{}…", text[..end].trim_end())
        }
    }
}

/// All of a tool.
pub(super) fn describe(listing: &Listing, arguments: &JsonObject) -> ToolOutput {
    let Some(name) = arguments.get("name").and_then(Value::as_str) else {
        return failed(format!("`{DESCRIBE}` takes `name`, the name of a tool"));
    };
    let Some(tool) = listing.tool(name) else {
        return failed(missing_words(name, &listing.nearest(name, TOOLS_FOUND_NEAR)));
    };
    let structured = serde_json::to_value(tool).unwrap_or_default();
    ToolOutput { text: vec![structured.to_string()], structured, ..ToolOutput::default() }
}

/// That there is no tool of a name, and what may have been meant.
pub(super) fn missing_words(name: &str, near: &[&str]) -> String {
    let shown: String = name.chars().take(80).collect();
    match near {
        [] => format!("there is no tool `{shown}` here: {FIND} finds tools by what they do"),
        near => {
            let near = near.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            format!("there is no tool `{shown}` here; did you mean {near}? {FIND} finds others")
        }
    }
}
