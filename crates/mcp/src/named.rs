//! Tools and prompts of the owner's naming: arguments in, and a message of the owner's wording out.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::Handle;
use forecourt_host::{Directory, Host};
use forecourt_settings::{Problems, Section};
use forecourt_surface::template::Text;
use forecourt_surface::tool::{Tool, ToolCall, ToolEvent};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use serde_json::{Map, Value, json};

use crate::content::failed;
use crate::limits::{NAME_CHARS_MAX, NAMED_MAX};
use crate::section::{PromptSettings, Settings, ToolSettings};
use crate::{agents, answer};

/// A prompt that was found to be in order.
pub(crate) struct Prompt {
    pub(crate) settings: PromptSettings,
    text: Text,
}

impl Prompt {
    /// The words for these arguments. Fails with the name of one that is missing.
    pub(crate) fn fill(&self, arguments: &Map<String, Value>) -> Result<String, String> {
        let missing = self.settings.arguments.keys().find(|name| !arguments.get(*name).is_some_and(Value::is_string));
        if let Some(name) = missing {
            return Err(format!("the argument `{name}` is missing"));
        }
        let filled = self.text.fill(&Value::Object(arguments.clone()), str::to_owned);
        filled.ok_or_else(|| "the arguments are too long".to_owned())
    }
}

/// The tools of a section. Fails with all that is wrong with them.
pub(crate) fn tools(
    host: &Arc<Host>,
    settings: &Settings,
    section: &Section,
    patience: Duration,
) -> Result<Vec<Tool>, Problems> {
    let mut problems = Problems::new();
    let names = settings.tools.iter().map(|tool| tool.name.as_str());
    let mut complaints = named(names, "tools");
    let mut tools = Vec::new();
    for settings in &settings.tools {
        match tool(host, settings, patience) {
            Ok(tool) => tools.push(tool),
            Err(words) => complaints.push(format!("the tool `{}` {words}", settings.name)),
        }
    }
    complaints.into_iter().for_each(|words| problems.push(section.problem(Some("tools"), words)));
    problems.into_result(tools)
}

/// The prompts of a section. Fails with all that is wrong with them.
pub(crate) fn prompts(settings: &Settings, section: &Section) -> Result<Vec<Prompt>, Problems> {
    let mut problems = Problems::new();
    let mut complaints = named(settings.prompts.iter().map(|prompt| prompt.name.as_str()), "prompts");
    let mut prompts = Vec::new();
    for settings in &settings.prompts {
        match template(&settings.text, "text", |name| settings.arguments.contains_key(name)) {
            Ok(text) => prompts.push(Prompt { settings: settings.clone(), text }),
            Err(words) => complaints.push(format!("the prompt `{}` {words}", settings.name)),
        }
    }
    complaints.into_iter().for_each(|words| problems.push(section.problem(Some("prompts"), words)));
    problems.into_result(prompts)
}

/// What is wrong with names, each by itself and together.
fn named<'a>(names: impl Iterator<Item = &'a str>, what: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut complaints = Vec::new();
    for name in names {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if name.is_empty() || name.len() > NAME_CHARS_MAX || !name.chars().all(fits) {
            complaints.push(format!("`{name}` is no name: 1 to {NAME_CHARS_MAX} letters, digits, `_` and `-`"));
        }
        if !seen.insert(name) {
            complaints.push(format!("two {what} are called `{name}`"));
        }
    }
    if seen.len() > NAMED_MAX {
        complaints.push(format!("there are at most {NAMED_MAX} {what}"));
    }
    complaints
}

fn template(text: &str, key: &str, is_known: impl Fn(&str) -> bool) -> Result<Text, String> {
    let read = Text::read(text).map_err(|words| format!("has a `{key}` that {words}"))?;
    let unknown = read.names().find(|name| !is_known(name)).map(str::to_owned);
    match unknown {
        Some(name) => Err(format!("has `{{{name}}}` in its `{key}`, which is none of its arguments")),
        None => Ok(read),
    }
}

fn tool(host: &Arc<Host>, settings: &ToolSettings, patience: Duration) -> Result<Tool, String> {
    let agent = resident(host.directory(), &settings.agent)?;
    let message = template(&settings.message, "message", |name| settings.arguments.contains_key(name))?;
    if let Some((name, _)) = settings.arguments.iter().find(|(_, schema)| !schema.is_object()) {
        return Err(format!("has an argument `{name}` without a schema, such as {{ type = \"string\" }}"));
    }
    let asked = Arc::new(Asked { agent: agent.clone(), message, arguments: settings.arguments.clone() });
    let host = host.clone();
    Ok(Tool {
        name: settings.name.clone(),
        title: settings.title.clone().unwrap_or_else(|| settings.name.clone()),
        description: settings.description.clone(),
        input: input(&settings.arguments),
        output: Some(answer::schema()),
        agent: Some(agent),
        reads_only: settings.read_only,
        is_idempotent: false,
        as_tool: true,
        as_skill: false,
        call: Arc::new(move |call| asked.call(&host, patience, call)),
        outcome: None,
    })
}

fn resident(directory: &Directory, handle: &str) -> Result<Handle, String> {
    let known = Handle::parse(handle).ok().filter(|handle| directory.find(handle).is_some());
    known.ok_or_else(|| format!("is for `{handle}`, and there is no such agent"))
}

fn input(arguments: &Map<String, Value>) -> Value {
    let required: Vec<&String> =
        arguments.iter().filter(|(_, schema)| schema.get("default").is_none()).map(|(name, _)| name).collect();
    json!({"type": "object", "properties": arguments, "required": required})
}

/// What a tool asks, and whom.
struct Asked {
    agent: Handle,
    message: Text,
    arguments: Map<String, Value>,
}

impl Asked {
    fn call(&self, host: &Arc<Host>, patience: Duration, call: ToolCall) -> BoxStream<'static, ToolEvent> {
        match self.said(&call.arguments) {
            Ok(message) => {
                let call = ToolCall { arguments: json!({"message": message}), ..call };
                agents::ask(host.clone(), self.agent.clone(), patience, call)
            }
            Err(words) => stream::iter([ToolEvent::Done(Box::new(failed(words)))]).boxed(),
        }
    }

    /// The message. Fails with what is wrong with the arguments.
    fn said(&self, given: &Value) -> Result<String, String> {
        let mut values = Map::new();
        for (name, schema) in &self.arguments {
            let value = given.get(name).filter(|value| !value.is_null()).or_else(|| schema.get("default"));
            let value = value.ok_or_else(|| format!("`{name}` is missing"))?;
            if !is_of(value, schema) {
                return Err(format!("`{name}` does not fit its schema: {schema}"));
            }
            values.insert(name.clone(), value.clone());
        }
        let said = self.message.fill(&Value::Object(values), str::to_owned);
        said.ok_or_else(|| "the arguments are too long, or make no words".to_owned())
    }
}

/// Whether a value is of the type, and among the choices, that a schema names.
fn is_of(value: &Value, schema: &Value) -> bool {
    let fits = match schema["type"].as_str() {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        _ => true,
    };
    fits && schema["enum"].as_array().is_none_or(|choices| choices.contains(value))
}
