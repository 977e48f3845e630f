//! `forecourt check --connect`: what each server behind a deployment has, and what changed since it was imported.

use std::path::Path;

use forecourt_settings::files;
use serde_json::{Value, json};

use super::definition::ServerDefinition;
use super::{FOLDER, ask, kept_lists};
use crate::commands::changes::{ListChange, changes};
use crate::commands::printable::line;
use crate::output::{Failure, Outcome, stdoutln};

/// Files of servers that are looked at.
const FILES_MAX: usize = 1_000;

/// What was found out about one server.
struct ServerReport {
    name: String,
    found: Result<ServerState, Failure>,
}

struct ServerState {
    title: String,
    counts: [(&'static str, usize); 4],
    /// `None`: it lies beside no lists that it could be compared with.
    changes: Option<Vec<ListChange>>,
}

/// Asks every server, and tells. Gives the same as JSON, and a failure where one can't be asked.
pub(in crate::commands) async fn run(deployment: &Path, is_json: bool) -> (Value, Outcome) {
    match asked(deployment, is_json).await {
        Ok(reports) => {
            let away = reports.iter().filter(|report| report.found.is_err()).count();
            let words = || format!("{away} of {} servers can't be asked", reports.len());
            let outcome = if away == 0 { Ok(()) } else { Err(Failure::yours(words())) };
            (reports.iter().map(ServerReport::json).collect(), outcome)
        }
        Err(failure) => (Value::Null, Err(failure)),
    }
}

async fn asked(deployment: &Path, is_json: bool) -> Result<Vec<ServerReport>, Failure> {
    let mut reports = Vec::new();
    let folder = deployment.join(FOLDER);
    let found = match folder.is_dir() {
        true => files::files_in(&folder, FILES_MAX).map_err(|problem| Failure::yours(problem.to_string()))?,
        false => Vec::new(),
    };
    let is_definition = |file: &&std::path::PathBuf| file.extension().is_some_and(|found| found == "toml");
    for file in found.iter().filter(is_definition) {
        let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let report = ServerReport { found: look(deployment, &name).await, name };
        if !is_json {
            report.print();
        }
        reports.push(report);
    }
    Ok(reports)
}

async fn look(deployment: &Path, name: &str) -> Result<ServerState, Failure> {
    let definition = ServerDefinition::read(deployment, name)?;
    let target = definition.and_then(|definition| definition.target(deployment));
    let target =
        target.ok_or_else(|| Failure::yours(format!("{FOLDER}/{name}.toml has neither `url` nor `command`")))?;
    let survey = ask(&target).await?;
    let kept = kept_lists(deployment, name)?;
    let count = |key: &str| survey.lists[key].as_array().map_or(0, Vec::len);
    let counts = ["tools", "resources", "templates", "prompts"].map(|key| (key, count(key)));
    let title = if survey.name.is_empty() { name.to_owned() } else { format!("{} {}", survey.name, survey.version) };
    Ok(ServerState { title, counts, changes: kept.map(|kept| changes(&kept, &survey.lists)) })
}

impl ServerReport {
    fn print(&self) {
        let name = &self.name;
        match &self.found {
            Err(failure) => {
                stdoutln!("{FOLDER}/{name}.toml: it can't be asked");
                failure.report();
            }
            Ok(ServerState { title, counts, changes }) => {
                let has: Vec<String> = counts.iter().map(|(what, count)| format!("{count} {what}")).collect();
                let title = line(title, 100);
                stdoutln!("{FOLDER}/{name}.toml: {} has {}", title.trim_end(), has.join(", "));
                match changes.as_deref() {
                    None => stdoutln!("    there is no {name}.tools.json to compare it with"),
                    Some([]) => stdoutln!("    as it was when it was imported"),
                    Some(changes) => {
                        changes.iter().for_each(|change| stdoutln!("    {}", change.sentence()));
                        stdoutln!("    read them; `forecourt import mcp --name {name}` takes them over");
                    }
                }
            }
        }
    }

    fn json(&self) -> Value {
        match &self.found {
            Err(failure) => json!({"name": self.name, "answers": false, "problems": failure.as_json()["problems"]}),
            Ok(ServerState { title, counts, changes }) => {
                let changes = changes.as_ref().map(|changes| changes.iter().map(ListChange::json).collect::<Vec<_>>());
                let counts: serde_json::Map<String, Value> =
                    counts.iter().map(|(what, count)| ((*what).to_owned(), json!(count))).collect();
                json!({"name": self.name, "answers": true, "title": title, "has": counts, "changes": changes})
            }
        }
    }
}
