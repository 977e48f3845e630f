//! Content behind agents: what can be found, when it was read, and what is wrong with it.

use forecourt_agents::IndexReport;
use forecourt_core::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::api_error::ApiError;
use crate::desk::Ask;

/// The content of all agents that have any.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Contents {
    /// In the order of the agents.
    pub contents: Vec<Content>,
}

/// The content of an agent, as this node has it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Content {
    /// The agent.
    pub agent: String,
    /// Items that can be found now.
    pub items: u64,
    /// Whether the index is the one of its sources as they are.
    pub is_current: Option<bool>,
    /// Whether everything that was pushed can be found too.
    pub has_what_was_pushed: bool,
    /// Where it is read from.
    pub sources: Vec<String>,
    /// When its sources were read last, or found to be as they were read.
    #[schemars(with = "Option<String>")]
    pub read_at: Option<Timestamp>,
    /// When something of it changed last that can be found.
    #[schemars(with = "Option<String>")]
    pub changed_at: Option<Timestamp>,
    /// What the last run of this node came to; none when it had nothing to do yet.
    pub last_run: Option<LastRun>,
    /// What is wrong, or was left out, in a sentence each.
    pub problems: Vec<String>,
}

/// A run of indexing.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LastRun {
    /// Items that are new.
    pub loaded: u64,
    /// Items that have changed.
    pub updated: u64,
    /// Items that are as they were.
    pub unchanged: u64,
    /// Items that are gone.
    pub removed: u64,
    /// Items that were left out.
    pub skipped: u64,
    /// Files of which nothing was taken.
    pub files_left_out: u64,
}

pub(crate) async fn list(ask: Ask) -> Result<Contents, ApiError> {
    let contents = ask.house.contents.clone();
    // Disks are read on threads that may wait for them.
    let read = tokio::task::spawn_blocking(move || {
        contents
            .iter()
            .map(|(agent, indexing)| {
                let (mut problems, report) = (indexing.left_out(), indexing.last_report());
                if let Some(report) = &report {
                    problems.extend(report.warnings.iter().cloned());
                }
                let is_current = match indexing.fingerprint() {
                    Ok(fingerprint) => Some(indexing.is_current(fingerprint)),
                    Err(error) => {
                        problems.push(error.to_string());
                        None
                    }
                };
                Content {
                    agent: agent.to_string(),
                    items: indexing.items(),
                    is_current,
                    has_what_was_pushed: indexing.has_what_was_pushed().unwrap_or(false),
                    sources: indexing.sources().iter().map(|path| path.display().to_string()).collect(),
                    read_at: indexing.read_at(),
                    changed_at: indexing.changed_at(),
                    last_run: report.as_ref().map(last_run),
                    problems,
                }
            })
            .collect()
    });
    Ok(Contents { contents: read.await.map_err(|_| ApiError::internal("the content can't be looked at"))? })
}

fn last_run(report: &IndexReport) -> LastRun {
    let &IndexReport { loaded, updated, unchanged, removed, skipped, files_left_out, .. } = report;
    LastRun { loaded, updated, unchanged, removed, skipped, files_left_out }
}
