//! The keys of a `command` backend.

use std::collections::BTreeMap;
use std::time::Duration;

use forecourt_process::{Program, find};
use forecourt_settings::{Problem, Problems, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::process::AgentProgram;
use crate::limits::{COMMAND_WORDS_MAX, CONCURRENCY_MAX, PROCESSES_MAX, VARIABLES_MAX};
use crate::tools::{AskSettings, SiblingsSetting, Toolbox, ask_agent, endpoints_named, siblings};
use forecourt_agents::backend::Context;
use forecourt_agents::settings::{count, seconds};
use forecourt_agents::upstream::CallTimeouts;

/// The section of a `command` backend.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandSettings {
    /// `"command"`.
    #[serde(rename = "kind")]
    _kind: String,
    /// The program and its arguments, such as `["python3", "agent.py"]`. A program with a slash in its
    /// name is taken from the deployment's folder, others are looked for in `PATH`. No shell is
    /// involved.
    command: Vec<String>,
    /// `"each"`: a process for each message. `"worker"`: processes that answer many messages, and repeat the message's
    /// `turn` in each line.
    #[serde(default)]
    mode: Mode,
    /// `"json"`: lines of JSON in and out. `"text"`: the text of the message in, markdown out.
    #[serde(default)]
    format: Format,
    /// Variables that the program sees beside `PATH`, such as `{ TOKEN = "${TOKEN}" }`.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Processes at once, at most 256. Further messages wait, and beyond 64 of them are refused.
    #[serde(default = "processes")]
    processes: usize,
    /// With `mode = "worker"`: messages that one process is given at once, at most 256, if its `hello` says that it
    /// takes so many.
    #[serde(default = "concurrency")]
    concurrency: usize,
    /// With `mode = "worker"`: whether a message goes to the process that had the last one of its conversation, where
    /// that lives and has room. Only for processes that say `hello`.
    #[serde(default = "sticky")]
    sticky: bool,
    /// Seconds that a process which said `hello` may take to end a message that is cancelled, before it is ended itself.
    #[serde(default = "cancel_seconds")]
    cancel_seconds: u64,
    /// The endpoints of this host that workers may call, each as its method and path, such as `BOOK /rooms/{room_id}`; at
    /// most 100. What they require is required of whoever asks the agent.
    #[serde(default)]
    endpoints: Vec<String>,
    /// The other agents of this host that workers may ask: all (`true`), none, or these handles; at most 50. Default:
    /// none.
    siblings: Option<SiblingsSetting>,
    /// Agents of other domains that workers may ask by their addresses: none without it.
    ask: Option<AskSettings>,
    /// Seconds until the program's first output, and from one output to the next.
    #[serde(default = "idle_seconds")]
    idle_seconds: u64,
    /// Seconds for a whole answer.
    #[serde(default = "total_seconds")]
    total_seconds: u64,
}

/// How long a process lives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Mode {
    /// For one message.
    #[default]
    Each,
    /// For many.
    Worker,
}

/// What goes over the standard streams.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    /// Lines of JSON.
    #[default]
    Json,
    /// Text in, markdown out.
    Text,
}

fn processes() -> usize {
    4
}

fn concurrency() -> usize {
    16
}

fn sticky() -> bool {
    true
}

fn cancel_seconds() -> u64 {
    5
}

fn idle_seconds() -> u64 {
    60
}

fn total_seconds() -> u64 {
    120
}

/// The section, checked.
pub(super) struct CheckedCommand {
    pub(super) program: AgentProgram,
    pub(super) mode: Mode,
    pub(super) format: Format,
    pub(super) timeouts: CallTimeouts,
    pub(super) processes: usize,
    /// Messages that a worker is given at once.
    pub(super) concurrency: usize,
    /// Whether turns of one conversation go to one worker.
    pub(super) sticky: bool,
    /// How long a worker may take to end a turn that is cancelled.
    pub(super) grace: Duration,
}

pub(super) fn read(section: &Section, context: &Context) -> Result<(CheckedCommand, Toolbox), Problems> {
    let settings: CommandSettings = section.read()?;
    let mut problems = Problems::new();
    count(section, "processes", settings.processes, 1, PROCESSES_MAX, &mut problems);
    count(section, "env", settings.env.len(), 0, VARIABLES_MAX, &mut problems);
    let idle = seconds(section, "idle_seconds", settings.idle_seconds, &mut problems);
    let total = seconds(section, "total_seconds", settings.total_seconds, &mut problems);
    if settings.mode == Mode::Worker && settings.format == Format::Text {
        let message = "a worker needs `format = \"json\"`: in plain text, nothing says where an answer ends";
        problems.push(section.problem(Some("format"), message));
    }
    // A variable with `=` in its name, or a NUL, can't be handed to a program by the system.
    let is_name = |name: &String| !name.is_empty() && !name.contains(['=', '\0']);
    if !settings.env.iter().all(|(name, value)| is_name(name) && !value.contains('\0')) {
        problems.push(section.problem(Some("env"), "`env` holds a name or a value that can't be one"));
    }
    count(section, "concurrency", settings.concurrency, 1, CONCURRENCY_MAX, &mut problems);
    let grace = seconds(section, "cancel_seconds", settings.cancel_seconds, &mut problems);
    let toolbox = toolbox(section, &settings, context, &mut problems);
    let program = problems.absorb(program(section, &settings, context));
    let timeouts = CallTimeouts { first: idle, idle, total };
    let CommandSettings { mode, format, processes, concurrency, sticky, .. } = settings;
    let Some(program) = program else { return Err(problems) };
    let checked = CheckedCommand { program, mode, format, timeouts, processes, concurrency, sticky, grace };
    problems.into_result((checked, toolbox))
}

/// What workers may call: what the settings name, and nothing else.
fn toolbox(section: &Section, settings: &CommandSettings, context: &Context, problems: &mut Problems) -> Toolbox {
    let mut toolbox = Toolbox { tools: endpoints_named(section, &settings.endpoints, &context.endpoints, problems) };
    let siblings = match &settings.siblings {
        None => Vec::new(),
        named => siblings(section, named.as_ref(), context, problems),
    };
    toolbox.tools.extend(ask_agent(section, siblings, settings.ask.as_ref(), context, problems));
    let names_any = !settings.endpoints.is_empty() || settings.siblings.is_some() || settings.ask.is_some();
    if names_any && settings.mode != Mode::Worker {
        let message = "`endpoints`, `siblings` and `ask` need `mode = \"worker\"`: only workers can call something";
        problems.push(section.problem(Some("mode"), message));
    }
    toolbox
}

fn program(section: &Section, settings: &CommandSettings, context: &Context) -> Result<AgentProgram, Problem> {
    let problem = |message: String| section.problem(Some("command"), message);
    let Some((name, arguments)) = settings.command.split_first().filter(|(name, _)| !name.is_empty()) else {
        return Err(problem("`command` needs a program".to_owned()));
    };
    if settings.command.len() > COMMAND_WORDS_MAX || settings.command.iter().any(|word| word.contains('\0')) {
        return Err(problem(format!("`command` has more than {COMMAND_WORDS_MAX} words, or a zero byte")));
    }
    let file = match name.contains('/') {
        // With a slash it is a path, as in a shell; `PATH` is not asked.
        true => Some(context.resolve(name)).filter(|file| file.is_file()),
        false => find(name, context.path_variable.as_deref().unwrap_or_default()),
    };
    let Some(file) = file.and_then(|file| std::path::absolute(file).ok()) else {
        let place = if name.contains('/') { "the deployment's folder" } else { "PATH" };
        let hint = "install it, or name its path: one with a slash starts at the deployment's folder";
        return Err(problem(format!("there is no program `{name}` in {place}")).hint(hint));
    };
    // Output that waits in a buffer is no stream: Python would hold it back until the end.
    let mut variables = BTreeMap::from([("PYTHONUNBUFFERED".to_owned(), "1".to_owned())]);
    variables.extend(settings.env.clone());
    let program = Program {
        file,
        arguments: arguments.to_vec(),
        folder: context.folder.clone(),
        path_variable: context.path_variable.clone(),
        variables,
    };
    Ok(AgentProgram { program, agent: context.handle.clone() })
}
