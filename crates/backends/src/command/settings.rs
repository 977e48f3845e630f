//! The keys of a `command` backend.

use std::collections::BTreeMap;

use forecourt_process::{Program, find};
use forecourt_settings::{Problem, Problems, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::process::Worker;
use crate::limits::{COMMAND_WORDS_MAX, PROCESSES_MAX, VARIABLES_MAX};
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
    /// `"each"`: a process for each message. `"worker"`: processes that answer one message after the
    /// other, and repeat the message's `turn` in each line.
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
    /// For many, one after the other.
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

fn idle_seconds() -> u64 {
    60
}

fn total_seconds() -> u64 {
    120
}

/// The section, checked.
pub(super) struct CheckedCommand {
    pub(super) worker: Worker,
    pub(super) mode: Mode,
    pub(super) format: Format,
    pub(super) timeouts: CallTimeouts,
    pub(super) processes: usize,
}

pub(super) fn read(section: &Section, context: &Context) -> Result<CheckedCommand, Problems> {
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
    let worker = problems.absorb(worker(section, &settings, context));
    let timeouts = CallTimeouts { first: idle, idle, total };
    let (mode, format, processes) = (settings.mode, settings.format, settings.processes);
    match worker {
        Some(worker) => problems.into_result(CheckedCommand { worker, mode, format, timeouts, processes }),
        None => Err(problems),
    }
}

fn worker(section: &Section, settings: &CommandSettings, context: &Context) -> Result<Worker, Problem> {
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
        return Err(problem(format!("there is no program `{name}` in {place}")));
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
    Ok(Worker { program, agent: context.handle.clone() })
}
