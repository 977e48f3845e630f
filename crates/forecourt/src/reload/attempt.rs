//! What came of reading a deployment again.

use std::path::Path;

use forecourt_core::Timestamp;
use forecourt_settings::{Problem, Problems};
use serde::Serialize;

/// Files that an attempt names as changed; more are counted in [`Attempt::changed_count`].
pub(crate) const CHANGED_SHOWN: usize = 100;

/// One attempt to put the deployment as its files are now in the place of the one that is served.
#[derive(Debug, Clone, Serialize)]
pub struct Attempt {
    /// What came of it.
    pub outcome: AttemptOutcome,
    /// What it was made for.
    pub by: ReloadTrigger,
    /// When it was begun.
    pub at: Timestamp,
    /// Milliseconds that it took.
    pub took_ms: u64,
    /// The files that had changed, relative to the folder of the deployment where they are in it: at most a hundred.
    pub changed: Vec<String>,
    /// How many had.
    pub changed_count: usize,
    /// What else was done, in a sentence each: sockets that were opened and closed.
    pub notes: Vec<String>,
    /// Agents that are served from then on; of the deployment that stayed, where it was refused.
    pub agents: usize,
    /// Everything that is wrong. Empty when it was applied.
    pub problems: Vec<AttemptProblem>,
}

/// What came of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptOutcome {
    /// The deployment is served as its files are.
    Applied,
    /// Something is wrong with it: nothing has changed.
    Refused,
    /// Something changed that can't change while it is served: nothing has changed.
    NeedsRestart,
}

/// What an attempt was made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReloadTrigger {
    /// Files changed.
    Files,
    /// `SIGHUP`.
    Signal,
    /// `POST /reload`.
    Admin,
    /// A hub elsewhere has other agents than before.
    Hub,
    /// Another node of this deployment was told to.
    Node,
    /// The program around the server.
    Program,
}

impl ReloadTrigger {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Signal => "signal",
            Self::Admin => "admin",
            Self::Hub => "hub",
            Self::Node => "node",
            Self::Program => "program",
        }
    }
}

/// One thing to put right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AttemptProblem {
    /// The file, relative to the folder of the deployment where it is in it.
    pub file: String,
    /// The line, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl AttemptProblem {
    fn of(problem: &Problem, folder: &Path) -> Self {
        Self {
            file: relative_path(problem.file(), folder),
            line: problem.line(),
            message: problem.message().to_owned(),
            hint: problem.next_step().map(str::to_owned),
        }
    }
}

/// Problems as an attempt tells them.
pub(crate) fn attempt_problems(problems: &Problems, folder: &Path) -> Vec<AttemptProblem> {
    problems.iter().map(|problem| AttemptProblem::of(problem, folder)).collect()
}

/// A path as it is told: within the folder of the deployment, relative to it.
pub(crate) fn relative_path(path: &Path, folder: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).display().to_string()
}
