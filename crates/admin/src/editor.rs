//! Changing the files of a deployment from the operator's desk: what is asked of the program around.

use std::collections::{BTreeMap, BTreeSet};

use forecourt_core::Timestamp;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::secret::hashed;

/// The texts of a deployment's files, by their names within its folder, such as `agents/chef.toml`.
pub type Texts = BTreeMap<String, String>;

/// What is to become of files.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TextChange {
    /// The new text of each file, by its name within the folder; `null` removes it. Others stay as they are.
    pub files: BTreeMap<String, Option<String>>,
    /// The `state` of the files that the change was made from. Where they are others by now, it is refused.
    #[serde(default)]
    pub based_on: Option<String>,
}

/// Who changes files, and why.
#[derive(Debug, Clone)]
pub struct EditedBy {
    /// Who, as it is written down.
    pub who: String,
    /// Why, as far as was said.
    pub reason: Option<String>,
}

/// What is wrong with files as they would be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EditProblem {
    /// The file, within the folder.
    pub file: String,
    /// The line, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// What came of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditReport {
    /// Everything that is wrong. With anything in it nothing has changed.
    pub problems: Vec<EditProblem>,
    /// The files as they were.
    pub before: Texts,
    /// The files as they are, or would be.
    pub texts: Texts,
}

/// The files of a deployment as they were served from some moment on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HouseVersion {
    /// Its number, one more than that of the version before.
    pub number: u64,
    /// From when on it was served.
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// Who made it: an operator, or `files`, `signal`, `start` and the like for what was not changed here.
    pub by: String,
    /// Why, as far as was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The files that are new, other or gone since the version before.
    pub changed: Vec<String>,
}

/// Why a change was not even looked at.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// It can't be made like that.
    #[error("{0}")]
    Invalid(String),
    /// The files are not those that it was made from.
    #[error("the files have changed since they were opened here: open them again, and make the change once more")]
    Stale,
    /// There is no such version.
    #[error("there is no version {0}: the first ones are dropped when there are many")]
    NoVersion(u64),
    /// Files can't be read or written, or nobody reads them again.
    #[error("{0}")]
    Unavailable(String),
}

/// What changes the files of a deployment that is served: with a mistake in them everything stays as it was.
pub trait DeploymentEditor: Send + Sync + 'static {
    /// The files as they are.
    fn texts(&self) -> BoxFuture<'static, Result<Texts, EditError>>;

    /// What would be wrong with files changed like that. Nothing is written, and nothing is served otherwise.
    fn check(&self, change: TextChange) -> BoxFuture<'static, Result<EditReport, EditError>>;

    /// Writes the files and has the deployment read again. With anything wrong, the files are put back.
    fn apply(&self, change: TextChange, by: EditedBy) -> BoxFuture<'static, Result<EditReport, EditError>>;

    /// What was served, the last first.
    fn versions(&self) -> BoxFuture<'static, Result<Vec<HouseVersion>, EditError>>;

    /// The files of a version.
    fn version(&self, number: u64) -> BoxFuture<'static, Result<(HouseVersion, Texts), EditError>>;
}

/// By what two states of the files are told apart: the same for the same texts.
pub fn state_of(texts: &Texts) -> String {
    // Each with its length, so that no two lists of parts give the same text.
    let parts = texts.iter().flat_map(|(name, text)| [name, text]).map(|part| format!("{} {part}", part.len()));
    hashed(&parts.collect::<String>())
}

/// The names of the files that are new, other or gone.
pub fn changed_files(before: &Texts, now: &Texts) -> Vec<String> {
    let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    names.into_iter().filter(|name| before.get(*name) != now.get(*name)).cloned().collect()
}

impl TextChange {
    /// The change that makes one state of files another.
    pub fn between(before: &Texts, now: &Texts) -> Self {
        let files = changed_files(before, now).into_iter().map(|name| (name.clone(), now.get(&name).cloned()));
        Self { files: files.collect(), based_on: Some(state_of(before)) }
    }

    /// The texts with the change in them.
    pub fn made_to(&self, before: &Texts) -> Texts {
        let mut texts = before.clone();
        for (name, text) in &self.files {
            match text {
                Some(text) => drop(texts.insert(name.clone(), text.clone())),
                None => drop(texts.remove(name)),
            }
        }
        texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(of: &[(&str, &str)]) -> Texts {
        of.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn a_change_between_two_states_makes_one_the_other() {
        let before = texts(&[("a.toml", "x = 1"), ("b.toml", "y = 1"), ("c.toml", "z = 1")]);
        let now = texts(&[("a.toml", "x = 1"), ("b.toml", "y = 2"), ("d.toml", "")]);
        let change = TextChange::between(&before, &now);
        assert_eq!(change.files.keys().collect::<Vec<_>>(), ["b.toml", "c.toml", "d.toml"]);
        assert_eq!(change.made_to(&before), now);
        assert_eq!(change.based_on, Some(state_of(&before)));
        assert!(TextChange::between(&now, &now).files.is_empty());
    }

    #[test]
    fn no_two_states_look_the_same() {
        let all = [
            texts(&[]),
            texts(&[("a", "b")]),
            texts(&[("ab", "")]),
            texts(&[("", "ab")]),
            texts(&[("a", ""), ("b", "")]),
        ];
        let states: BTreeSet<String> = all.iter().map(state_of).collect();
        assert_eq!(states.len(), all.len());
    }
}
