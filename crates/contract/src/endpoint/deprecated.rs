//! This module has the deprecation of endpoints. Section 6.5.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DefinitionProblem;
use crate::catalog::Catalog;
use crate::deprecation::{is_plain, notice};
use crate::method::Method;
use crate::path::Template;

/// Since when, until when, and what to use instead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Deprecation {
    deprecated_in: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    removed_in: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    successor: Option<SuccessorSettings>,
}

/// The table `endpoint.deprecated`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeprecatedSettings {
    /// The version that said so first.
    pub deprecated_in: String,
    /// The version that will no longer have it.
    pub removed_in: Option<String>,
    /// What to use instead.
    pub successor: Option<SuccessorSettings>,
}

/// A method, a path, or both; what is left out stays as it is.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuccessorSettings {
    /// The method to use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The path to use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl Deprecation {
    /// Checks the block of a definition, since its pieces go into a notice.
    ///
    /// # Errors
    /// A version that is no short word, or a successor without a method and a path that are ones.
    pub(super) fn new(settings: DeprecatedSettings, catalog: &Catalog) -> Result<Deprecation, DefinitionProblem> {
        let fault = |field: &str, wanted: &str| {
            DefinitionProblem::new(
                "deprecated",
                format!("deprecated-bad-field:{field}"),
                format!("`{field}` must be {wanted}"),
            )
        };
        let DeprecatedSettings { deprecated_in, removed_in, successor } = settings;
        for (field, version) in [("deprecated_in", Some(&deprecated_in)), ("removed_in", removed_in.as_ref())] {
            if version.is_some_and(|version| !is_plain(version)) {
                return Err(fault(field, "a short version without spaces"));
            }
        }
        let successor = match successor {
            Some(SuccessorSettings { method: None, path: None }) | None => None,
            Some(successor) => {
                if successor.method.as_ref().is_some_and(|method| Method::parse(method).is_err()) {
                    return Err(fault("successor", "a method in capital letters"));
                }
                if successor.path.as_ref().is_some_and(|path| Template::parse(path, catalog).is_err()) {
                    return Err(fault("successor", "a path under which an endpoint can be registered"));
                }
                Some(successor)
            }
        };
        Ok(Deprecation { deprecated_in, removed_in, successor })
    }

    /// The text of the notice: `METHOD /path` for both, else the one that is there.
    pub fn notice(&self) -> String {
        let pieces = self.successor.as_ref().map(|successor| [&successor.method, &successor.path]);
        let named = pieces.map(|pieces| pieces.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" "));
        notice(named.as_deref(), self.removed_in.as_deref())
    }
}
