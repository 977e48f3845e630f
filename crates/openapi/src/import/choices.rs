//! What of a document its operator takes, and what they say of it better than the document does: where its service is,
//! too. Kept in the folder's
//! record, so that a newer version of the document is taken the same way.

use std::collections::BTreeMap;

use forecourt_core::Glob;
use serde::{Deserialize, Serialize};

use super::operation::Operation;
use super::words::snake;
use crate::limits::{CHOICES_MAX, FILE_NAME_CHARS_MAX};

/// The words of an impact. Section 7.1.
const IMPACTS: [&str; 3] = ["informational", "reversible", "irreversible"];

/// What of a document is taken. An operation is named by its `operationId`, by its path or by both method and path,
/// such as `DELETE /rooms/*`; `*` stands for any text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportChoices {
    /// The start of the service's URLs, instead of the document's servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Tags of which an operation has one. Empty: any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Operations that are taken, and no others. Empty: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// Operations that are not taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<String>,
    /// The names of the files of operations, without their endings.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rename: BTreeMap<String, String>,
    /// What operations change: `informational`, `reversible` or `irreversible`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub impact: BTreeMap<String, String>,
}

impl ImportChoices {
    /// Whether nothing is chosen.
    pub fn is_empty(&self) -> bool {
        *self == ImportChoices::default()
    }

    /// These choices; of a kind of which there is none, those that were made `before`.
    pub(super) fn over(&self, before: &ImportChoices) -> ImportChoices {
        let list = |own: &Vec<String>, before: &Vec<String>| if own.is_empty() { before.clone() } else { own.clone() };
        let map =
            |own: &BTreeMap<_, _>, before: &BTreeMap<_, _>| if own.is_empty() { before.clone() } else { own.clone() };
        ImportChoices {
            base_url: self.base_url.clone().or_else(|| before.base_url.clone()),
            tags: list(&self.tags, &before.tags),
            only: list(&self.only, &before.only),
            except: list(&self.except, &before.except),
            rename: map(&self.rename, &before.rename),
            impact: map(&self.impact, &before.impact),
        }
    }

    /// The choices, ready to be asked.
    ///
    /// # Errors
    /// A choice that means nothing, in a sentence that names it.
    pub(super) fn read(&self) -> Result<ChosenOperations, String> {
        let count = self.only.len() + self.except.len() + self.rename.len() + self.impact.len() + self.tags.len();
        if count > CHOICES_MAX {
            return Err(format!("{count} choices: an import has at most {CHOICES_MAX}"));
        }
        let globs =
            |flag: &str, texts: &[String]| texts.iter().map(|text| glob(flag, text)).collect::<Result<Vec<_>, _>>();
        let rename = |(text, name): (&String, &String)| match snake(name) == *name && !name.is_empty() {
            true if name.chars().count() <= FILE_NAME_CHARS_MAX => Ok((glob("--rename", text)?, name.clone())),
            _ => Err(format!(
                "--rename {text}={name}: a name has small letters, digits and _, and at most {FILE_NAME_CHARS_MAX} of them"
            )),
        };
        let impact = |(text, word): (&String, &String)| match IMPACTS.iter().find(|known| *known == word) {
            Some(known) => Ok((glob("--impact", text)?, *known)),
            None => Err(format!("--impact {text}={word}: an impact is {}", IMPACTS.join(", "))),
        };
        Ok(ChosenOperations {
            tags: self.tags.clone(),
            only: globs("--only", &self.only)?,
            except: globs("--except", &self.except)?,
            rename: self.rename.iter().map(rename).collect::<Result<_, _>>()?,
            impact: self.impact.iter().map(impact).collect::<Result<_, _>>()?,
        })
    }
}

fn glob(flag: &str, text: &str) -> Result<Glob, String> {
    text.parse().map_err(|error| format!("{flag} {text}: {error}"))
}

/// Choices that were read.
#[derive(Debug, Default)]
pub(super) struct ChosenOperations {
    tags: Vec<String>,
    only: Vec<Glob>,
    except: Vec<Glob>,
    rename: Vec<(Glob, String)>,
    impact: Vec<(Glob, &'static str)>,
}

impl ChosenOperations {
    /// Whether an operation is taken.
    pub(super) fn takes(&self, operation: &Operation<'_>) -> bool {
        let names = Names::of(operation);
        let has_tag =
            || operation.tags().iter().any(|tag| self.tags.iter().any(|chosen| chosen.eq_ignore_ascii_case(tag)));
        (self.tags.is_empty() || has_tag())
            && (self.only.is_empty() || self.only.iter().any(|glob| names.are(glob)))
            && !self.except.iter().any(|glob| names.are(glob))
    }

    /// The name of the file of an operation.
    pub(super) fn name(&self, operation: &Operation<'_>) -> Option<&str> {
        let names = Names::of(operation);
        self.rename.iter().find(|(glob, _)| names.are(glob)).map(|(_, name)| name.as_str())
    }

    /// What an operation changes.
    pub(super) fn impact(&self, operation: &Operation<'_>) -> Option<&'static str> {
        let names = Names::of(operation);
        self.impact.iter().find(|(glob, _)| names.are(glob)).map(|(_, impact)| *impact)
    }

    /// Choices that name none of the operations, which somebody may have misspelled.
    pub(super) fn unused(&self, operations: &[Operation<'_>]) -> Vec<String> {
        let names: Vec<Names<'_>> = operations.iter().map(Names::of).collect();
        let renamed = self.rename.iter().map(|(glob, _)| glob);
        let ruled = self.impact.iter().map(|(glob, _)| glob);
        let all = self.only.iter().chain(&self.except).chain(renamed).chain(ruled);
        let is_unused = |glob: &&Glob| !names.iter().any(|names| names.are(glob));
        let mut unused: Vec<String> = all.filter(is_unused).map(|glob| glob.as_str().to_owned()).collect();
        let tags: Vec<&str> = operations.iter().flat_map(Operation::tags).collect();
        let is_no_tag = |tag: &&String| !tags.iter().any(|other| other.eq_ignore_ascii_case(tag));
        unused.extend(self.tags.iter().filter(is_no_tag).cloned());
        unused
    }
}

/// What an operation may be called in a choice.
struct Names<'a> {
    id: &'a str,
    path: &'a str,
    both: String,
}

impl<'a> Names<'a> {
    fn of(operation: &Operation<'a>) -> Names<'a> {
        let both = format!("{} {}", operation.http, operation.path);
        Names { id: operation.text("operationId"), path: operation.path, both }
    }

    fn are(&self, glob: &Glob) -> bool {
        [self.id, self.path, &self.both].iter().any(|name| !name.is_empty() && glob.matches(name))
    }
}
