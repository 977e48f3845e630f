//! The files of the deployment, changed from here: looked at, checked, applied, and put back as they were.
//!
//! Files may hold secrets, so operators alone see them: what only looks takes an [`OperatorAsk`] too.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Why;
use crate::access::{Command, OperatorAsk};
use crate::account::{self, Came};
use crate::api_error::ApiError;
use crate::desk::{Ask, reason};
use crate::editor::{
    DeploymentEditor, EditError, EditProblem, EditReport, EditedBy, HouseVersion, TextChange, Texts, changed_files,
    state_of,
};
use crate::limits::DIFF_LINES_AROUND;

/// The files, and what was served before.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeploymentFiles {
    /// The files in the order of their names.
    pub files: Vec<EditableFile>,
    /// What the files are now, in a word: a change that names it is refused where they are others by then.
    pub state: String,
    /// What was served, the last first.
    pub versions: Vec<HouseVersion>,
}

/// A file that may be changed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EditableFile {
    /// Its name within the folder of the deployment.
    pub name: String,
    /// What it says, comments and all.
    pub text: String,
}

/// A change, and why it is made.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// What is to become of the files.
    pub change: TextChange,
    /// The reason, which is kept with the version.
    #[serde(default)]
    pub reason: Option<String>,
}

/// What came of a change, or would.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EditOutcome {
    /// Whether it is served now. If not, nothing has changed.
    pub is_applied: bool,
    /// Everything that is wrong.
    pub problems: Vec<EditProblem>,
    /// Each file that is new, other or gone, line by line.
    pub differences: Vec<Difference>,
    /// What the files are now, in a word.
    pub state: String,
}

/// How a file differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    /// The file, within the folder.
    pub file: String,
    /// A unified diff without its head: lines that begin with a space, `+` or `-`, and `@@` before each part.
    pub lines: String,
}

/// A version, and what came with it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VersionDetail {
    /// The version.
    pub version: HouseVersion,
    /// What would change if it were put back now.
    pub differences: Vec<Difference>,
}

/// The files alone.
pub(crate) async fn texts(ask: OperatorAsk) -> Result<Texts, ApiError> {
    Ok(editor(&ask)?.texts().await?)
}

pub(crate) async fn one(ask: OperatorAsk) -> Result<DeploymentFiles, ApiError> {
    let editor = editor(&ask)?;
    let (texts, versions) = (editor.texts().await?, editor.versions().await?);
    let state = state_of(&texts);
    let files = texts.into_iter().map(|(name, text)| EditableFile { name, text }).collect();
    Ok(DeploymentFiles { files, state, versions })
}

pub(crate) async fn version(ask: OperatorAsk) -> Result<VersionDetail, ApiError> {
    let editor = editor(&ask)?;
    let (version, texts) = editor.version(number(&ask)?).await?;
    let now = editor.texts().await?;
    Ok(VersionDetail { version, differences: differences(&now, &texts) })
}

pub(crate) async fn check(command: Command) -> Result<EditOutcome, ApiError> {
    let Edit { change, .. } = command.body()?;
    let EditReport { problems, before, texts } = editor(&command)?.check(change).await?;
    let differences = differences(&before, &texts);
    Ok(EditOutcome { is_applied: false, problems, differences, state: state_of(&before) })
}

pub(crate) async fn apply(command: Command) -> Result<EditOutcome, ApiError> {
    let Edit { change, reason: why } = command.body()?;
    make(&command, change, "edit", why).await
}

pub(crate) async fn put_back(command: Command) -> Result<EditOutcome, ApiError> {
    let Why { reason: why } = command.body()?;
    let (number, editor) = (number(&command)?, editor(&command)?);
    let (_, wanted) = editor.version(number).await?;
    let change = TextChange::between(&editor.texts().await?, &wanted);
    let why = why.filter(|why| !why.trim().is_empty()).unwrap_or_else(|| format!("back to version {number}"));
    make(&command, change, "put back", Some(why)).await
}

/// Makes a change and writes down that it was made, or that it was not.
async fn make(
    command: &Command,
    change: TextChange,
    action: &str,
    why: Option<String>,
) -> Result<EditOutcome, ApiError> {
    let reason = reason(why.as_deref())?;
    let editor = editor(command)?;
    let target = change.files.keys().cloned().collect::<Vec<_>>().join(", ");
    let by = EditedBy { who: command.actor.name.clone(), reason: reason.clone() };
    let wanted = change.clone();
    let report = editor.apply(change, by).await;
    let came = match &report {
        Ok(EditReport { problems, before, texts }) if problems.is_empty() && before == texts => Came::Already,
        Ok(EditReport { problems, .. }) if problems.is_empty() => Came::Done,
        Ok(_) | Err(_) => Came::Refused,
    };
    // The house may be another one by now.
    let host = command.desk.house()?.host;
    account::note(&host, &command.actor.name, action, target, reason.as_deref(), came).await;
    let EditReport { problems, before, texts } = report?;
    let (is_applied, state) = (problems.is_empty(), state_of(&texts));
    // What was refused is shown as it was wanted.
    let wanted = if is_applied { texts } else { wanted.made_to(&before) };
    Ok(EditOutcome { is_applied, problems, differences: differences(&before, &wanted), state })
}

fn editor(ask: &Ask) -> Result<Arc<dyn DeploymentEditor>, ApiError> {
    ask.desk.around.editor().ok_or_else(|| {
        ApiError::not_found("the files of this deployment are not changed from here").hint(
            "set `editor = true` under [admin] in forecourt.toml: whoever is an operator can then have this machine run \
             programs, as agents do",
        )
    })
}

fn number(ask: &Ask) -> Result<u64, ApiError> {
    ask.named("version").parse().map_err(|_| ApiError::not_found("versions are named by their number"))
}

/// Each file that is new, other or gone.
fn differences(before: &Texts, now: &Texts) -> Vec<Difference> {
    let text = |texts: &Texts, name: &str| texts.get(name).cloned().unwrap_or_default();
    let difference = |file: String| {
        let (old, new) = (text(before, &file), text(now, &file));
        let diff = similar::TextDiff::from_lines(&old, &new);
        let lines = diff.unified_diff().context_radius(DIFF_LINES_AROUND).to_string();
        Difference { file, lines }
    };
    changed_files(before, now).into_iter().map(difference).collect()
}

impl From<EditError> for ApiError {
    fn from(error: EditError) -> Self {
        match error {
            EditError::Invalid(_) => Self::invalid(error.to_string()),
            EditError::Stale => Self::conflict(error.to_string()),
            EditError::NoVersion(_) => Self::not_found(error.to_string()),
            EditError::Unavailable(_) => Self::unavailable(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(of: &[(&str, &str)]) -> Texts {
        of.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn what_differs_is_shown_with_what_stands_around() {
        let old: String = (1..=20).map(|number| format!("key{number} = {number}\n")).collect();
        let new = old.replace("key10 = 10", "key10 = 11");
        let [one, gone] = &differences(
            &texts(&[("agents/a.toml", &old), ("b.toml", "x = 1\n"), ("c.toml", "y = 1\n")]),
            &texts(&[("agents/a.toml", &new), ("c.toml", "y = 1\n")]),
        )[..] else {
            panic!("two files differ")
        };
        assert_eq!(one.file, "agents/a.toml");
        assert!(one.lines.contains("-key10 = 10\n+key10 = 11\n"), "{}", one.lines);
        assert!(one.lines.contains(" key9 = 9\n") && !one.lines.contains("key1 = 1\n"), "{}", one.lines);
        assert_eq!((gone.file.as_str(), gone.lines.as_str()), ("b.toml", "@@ -1 +0,0 @@\n-x = 1\n"));
    }
}
