//! `forecourt check --connect`: which agents each hub has, and what changed since they were seen last.

use std::collections::BTreeMap;
use std::path::Path;

use forecourt::hub_survey::{HUBS, HubSurvey};
use forecourt_settings::files;
use serde_json::{Value, json};

use super::look;
use crate::commands::changes::{ListChange, WORDS_CHARS_MAX, agent_changes};
use crate::commands::printable::line;
use crate::output::{Failure, Outcome, stdoutln};

/// Files of hubs that are looked at.
const FILES_MAX: usize = 100;

/// What was found out about one hub.
struct HubReport {
    name: String,
    found: Result<HubSurvey, Failure>,
}

/// Looks at every hub, and tells. Gives the same as JSON, and a failure where one can't be read.
pub(in crate::commands) async fn run(deployment: &Path, is_json: bool) -> (Value, Outcome) {
    match looked(deployment, is_json).await {
        Ok(reports) => {
            let away = reports.iter().filter(|report| report.found.is_err()).count();
            let words = || format!("{away} of {} hubs can't be read", reports.len());
            let outcome = if away == 0 { Ok(()) } else { Err(Failure::yours(words())) };
            (reports.iter().map(HubReport::json).collect(), outcome)
        }
        Err(failure) => (Value::Null, Err(failure)),
    }
}

async fn looked(deployment: &Path, is_json: bool) -> Result<Vec<HubReport>, Failure> {
    let found = files::files_in(&deployment.join(HUBS), FILES_MAX);
    let mut reports = Vec::new();
    for file in found.map_err(|problem| Failure::yours(problem.to_string()))? {
        let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let found = match files::text_of(&file) {
            Ok(text) => look(deployment, &name, &text, &BTreeMap::new()).await,
            Err(problem) => Err(Failure::yours(problem.to_string())),
        };
        let report = HubReport { name, found };
        if !is_json {
            report.print();
        }
        reports.push(report);
    }
    Ok(reports)
}

/// What changed at a hub since its agents were seen last. `None`: they never were.
pub(in crate::commands) fn hub_changes(survey: &HubSurvey) -> Option<Vec<ListChange>> {
    Some(agent_changes(&json!(survey.known.as_ref()?), &json!(survey.look.list)))
}

impl HubReport {
    fn print(&self) {
        let name = &self.name;
        let survey = match &self.found {
            Ok(survey) => survey,
            Err(failure) => {
                stdoutln!("{HUBS}/{name}.toml: it can't be read");
                failure.report();
                return;
            }
        };
        stdoutln!(
            "{HUBS}/{name}.toml: {} has {} agents that are fronted",
            line(&survey.look.name, 100),
            survey.handles.len()
        );
        match hub_changes(survey).as_deref() {
            None => stdoutln!("    they were never seen before"),
            Some([]) => stdoutln!("    as they were when they were seen last"),
            Some(changes) => {
                changes.iter().for_each(|change| stdoutln!("    {}", change.sentence()));
                stdoutln!("    a daemon that serves this takes them over by itself");
            }
        }
        for agent in &survey.look.left_out {
            stdoutln!("    without {}: {}", line(&agent.handle, 60), line(&agent.why, WORDS_CHARS_MAX));
        }
        for handle in &survey.taken {
            stdoutln!("    {handle} is the handle of an agent here: set `prefix`, or leave it out with `except`");
        }
    }

    fn json(&self) -> Value {
        let survey = match &self.found {
            Ok(survey) => survey,
            Err(failure) => {
                return json!({"name": self.name, "answers": false, "problems": failure.as_json()["problems"]});
            }
        };
        let changes = hub_changes(survey);
        let changes = changes.map(|changes| changes.iter().map(ListChange::json).collect::<Vec<_>>());
        json!({
            "name": self.name,
            "answers": true,
            "title": survey.look.name,
            "agents": survey.handles,
            "taken": survey.taken,
            "left_out": left_out(survey),
            "changes": changes,
        })
    }
}

/// The agents that are left out, for programs.
pub(in crate::commands) fn left_out(survey: &HubSurvey) -> Value {
    survey.look.left_out.iter().map(|agent| json!({"agent": agent.handle, "why": agent.why})).collect()
}
