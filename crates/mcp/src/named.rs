//! Tools and prompts of the owner's naming: arguments in, and a message of the owner's wording out.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use forecourt_contract::Schema;
use forecourt_core::Handle;
use forecourt_host::{Directory, Host};
use forecourt_settings::{Problems, Section};
use forecourt_surface::template::Text;
use forecourt_surface::tool::{Tool, ToolCall, ToolEvent};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use serde_json::{Map, Value, json};

use crate::content::failed;
use crate::limits::{INLINE_FILE_BYTES_MAX, NAME_CHARS_MAX, NAMED_MAX, PROMPT_PARTS_MAX};
use crate::own_resource::OwnFile;
use crate::section::{McpSettings, PromptSettings, ToolSettings};
use crate::{agents, answer};

/// A prompt of the deployment, with its templates parsed and its files checked.
pub(crate) struct Prompt {
    pub(crate) settings: PromptSettings,
    text: Text,
    /// The files that go before the words.
    pub(crate) files: Vec<OwnFile>,
    resources: Vec<Text>,
}

impl Prompt {
    /// The arguments that are missing.
    pub(crate) fn missing<'a>(&'a self, arguments: &'a Map<String, Value>) -> impl Iterator<Item = (&'a str, &'a str)> {
        let all = self.settings.arguments.iter().map(|(name, meaning)| (name.as_str(), meaning.as_str()));
        all.filter(|(name, _)| !arguments.get(*name).is_some_and(Value::is_string))
    }

    /// The addresses of the resources that go before the words, and the words, for these arguments. Fails
    /// with the name of one that is missing.
    pub(crate) fn fill(&self, arguments: &Map<String, Value>) -> Result<(Vec<String>, String), String> {
        if let Some((name, _)) = self.missing(arguments).next() {
            return Err(format!("the argument `{name}` is missing"));
        }
        let arguments = Value::Object(arguments.clone());
        let long = || "the arguments are too long".to_owned();
        let resources = self.resources.iter().map(|address| address.fill(&arguments, str::to_owned).ok_or_else(long));
        let text = self.text.fill(&arguments, str::to_owned).ok_or_else(long)?;
        Ok((resources.collect::<Result<_, _>>()?, text))
    }
}

/// The tools of a section. Fails with all that is wrong with them.
pub(crate) fn tools(
    host: &Arc<Host>,
    settings: &McpSettings,
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
pub(crate) fn prompts(settings: &McpSettings, section: &Section) -> Result<Vec<Prompt>, Problems> {
    let mut problems = Problems::new();
    let mut complaints = named(settings.prompts.iter().map(|prompt| prompt.name.as_str()), "prompts");
    let mut prompts = Vec::new();
    for settings in &settings.prompts {
        match prompt(settings, section) {
            Ok(prompt) => prompts.push(prompt),
            Err(words) => complaints.push(format!("the prompt `{}` {words}", settings.name)),
        }
    }
    complaints.into_iter().for_each(|words| problems.push(section.problem(Some("prompts"), words)));
    problems.into_result(prompts)
}

fn prompt(settings: &PromptSettings, section: &Section) -> Result<Prompt, String> {
    let is_known = |name: &str| settings.arguments.contains_key(name);
    if settings.files.len() > PROMPT_PARTS_MAX || settings.resources.len() > PROMPT_PARTS_MAX {
        return Err(format!("has more than {PROMPT_PARTS_MAX} files or resources"));
    }
    let text = template(&settings.text, "text", is_known)?;
    let file = |path: &PathBuf| OwnFile::new(section.resolve_path(path), None, INLINE_FILE_BYTES_MAX as u64);
    let files = settings.files.iter().map(file).collect::<Result<_, _>>();
    let files = files.map_err(|words| format!("has a file that can't be read: {words}"))?;
    let resources = settings.resources.iter().map(|address| template(address, "resources", is_known));
    Ok(Prompt { settings: settings.clone(), text, files, resources: resources.collect::<Result<_, _>>()? })
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
        Some(name) => Err(format!("has `{{{name}}}` in its `{key}`, which is not one of its arguments")),
        None => Ok(read),
    }
}

fn tool(host: &Arc<Host>, settings: &ToolSettings, patience: Duration) -> Result<Tool, String> {
    let agent = resident(host.directory(), &settings.agent)?;
    let schema = schema(settings)?;
    let message = template(&settings.message, "message", |name| schema.declares(name))?;
    let input = schema.shared_source().clone();
    let asked = Arc::new(NamedTool { agent: agent.clone(), message, schema });
    let host = host.clone();
    Ok(Tool {
        name: settings.name.clone(),
        title: settings.title.clone().unwrap_or_else(|| settings.name.clone()),
        description: settings.description.clone(),
        input,
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

/// The schema of a tool's arguments: the whole one, or that of each of them.
fn schema(settings: &ToolSettings) -> Result<Schema, String> {
    let source = match &settings.schema {
        Some(_) if !settings.arguments.is_empty() => {
            return Err("has `arguments` and a `schema`; one of them is enough".to_owned());
        }
        Some(whole) if whole["type"] != "object" => return Err("has a `schema` that is not of type object".to_owned()),
        Some(whole) => whole.clone(),
        None => of_arguments(&settings.arguments)?,
    };
    Schema::compile(source).map_err(|error| format!("has a schema that is none: {error}"))
}

fn of_arguments(arguments: &Map<String, Value>) -> Result<Value, String> {
    if let Some((name, _)) = arguments.iter().find(|(_, schema)| !schema.is_object()) {
        return Err(format!("has an argument `{name}` without a schema, such as {{ type = \"string\" }}"));
    }
    let required: Vec<&String> =
        arguments.iter().filter(|(_, schema)| schema.get("default").is_none()).map(|(name, _)| name).collect();
    Ok(json!({"type": "object", "properties": arguments, "required": required}))
}

/// What a tool asks, and whom.
struct NamedTool {
    agent: Handle,
    message: Text,
    schema: Schema,
}

impl NamedTool {
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
        let mut values = given.as_object().cloned().unwrap_or_default();
        // Many clients send null for what they leave out.
        values.retain(|name, value| !value.is_null() || !self.schema.declares(name));
        for (name, schema) in self.schema.properties().into_iter().flatten() {
            if let Some(default) = schema.get("default") {
                values.entry(name).or_insert_with(|| default.clone());
            }
        }
        let taken = self.schema.take(Value::Object(values)).map_err(|violation| match violation.field.as_str() {
            "" => violation.detail,
            field => format!("`{}`: {}", field.trim_start_matches('/'), violation.detail),
        })?;
        let said = self.message.fill(&taken, str::to_owned);
        said.ok_or_else(|| "the message needs an argument that is missing, or becomes too long".to_owned())
    }
}
