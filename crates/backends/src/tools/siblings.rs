//! Which of the other agents of the host may be asked, as a section names them.

use forecourt_agents::backend::Context;
use forecourt_agents::siblings::Sibling;
use forecourt_settings::{Problems, Section};
use schemars::JsonSchema;
use serde::Deserialize;

use super::limits::SIBLINGS_MAX;

/// Which of the other agents of the host may be asked.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected `true`, `false` or a list of handles")]
pub(crate) enum SiblingsSetting {
    /// All of them, or none.
    All(bool),
    /// These.
    These(Vec<String>),
}

/// The agents that may be asked, all of them where the settings name none. Those that the settings name have to be there.
pub(crate) fn siblings(
    section: &Section,
    asked: Option<&SiblingsSetting>,
    context: &Context,
    problems: &mut Problems,
) -> Vec<Sibling> {
    let others = || context.siblings.beside(&context.handle);
    let named = match asked {
        Some(SiblingsSetting::All(false)) => return Vec::new(),
        // Cut and not refused: another file in agents/ must not break this one.
        Some(SiblingsSetting::All(true)) | None => return others().take(SIBLINGS_MAX).cloned().collect(),
        Some(SiblingsSetting::These(named)) => named,
    };
    if named.len() > SIBLINGS_MAX {
        problems.push(section.problem(Some("siblings"), format!("`siblings` names at most {SIBLINGS_MAX} agents")));
        return Vec::new();
    }
    let mut found: Vec<Sibling> = Vec::new();
    for name in named {
        match others().find(|sibling| sibling.handle().as_str() == name.trim_start_matches('@')) {
            Some(sibling) if !found.contains(sibling) => found.push(sibling.clone()),
            Some(_) => {}
            None => {
                let message = format!("there is no agent `{name}` beside this one");
                problems.push(section.problem(Some("siblings"), message));
            }
        }
    }
    found
}
