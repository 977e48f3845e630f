//! Variables of the environment that go before keys of a file, by their names.

use std::fmt;
use std::path::PathBuf;

use crate::environment::Environment;
use crate::error::Problem;

/// How the names of all of them begin.
pub const OVERRIDE_PREFIX: &str = "FORECOURT__";
/// What stands between a table and its key in such a name.
pub(crate) const BETWEEN: &str = "__";
/// Variables of this kind that are looked at.
pub const OVERRIDES_MAX: usize = 1_000;

/// A variable of the environment that goes before a key of a file. Its value is never shown: it may be a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct EnvironmentOverride {
    /// Its whole name.
    variable: String,
    /// The tables and the key that it names, in lower case.
    pub(crate) path: Vec<String>,
    /// What it holds.
    pub(crate) raw: String,
}

impl EnvironmentOverride {
    /// All that the environment has, by name; at most [`OVERRIDES_MAX`].
    pub fn all(environment: &dyn Environment) -> Vec<Self> {
        let mut names = environment.names(OVERRIDE_PREFIX);
        // Before the cut, so that the same variables count each time.
        names.sort();
        names.truncate(OVERRIDES_MAX);
        names.into_iter().filter_map(|variable| Self::of(variable, environment)).collect()
    }

    fn of(variable: String, environment: &dyn Environment) -> Option<Self> {
        let raw = environment.variable(&variable)?;
        let path = variable.strip_prefix(OVERRIDE_PREFIX)?.split(BETWEEN).map(str::to_ascii_lowercase).collect();
        Some(Self { variable, path, raw })
    }

    /// Its name.
    pub fn variable(&self) -> &str {
        &self.variable
    }

    /// Its first table or key, in lower case.
    pub fn first(&self) -> &str {
        self.path.first().map(String::as_str).unwrap_or_default()
    }

    /// The same as seen from within its first table.
    #[must_use]
    pub fn inner(&self) -> Self {
        Self { path: self.path.iter().skip(1).cloned().collect(), ..self.clone() }
    }

    /// Its name with `meant` in the place of the part `wrong`.
    pub(crate) fn renamed(&self, wrong: &str, meant: &str) -> String {
        let rest = self.variable.strip_prefix(OVERRIDE_PREFIX).unwrap_or(&self.variable);
        let parts = rest.split(BETWEEN).map(|part| match is_same(part, wrong) {
            true => meant.to_ascii_uppercase(),
            false => part.to_owned(),
        });
        format!("{OVERRIDE_PREFIX}{}", parts.collect::<Vec<_>>().join(BETWEEN))
    }

    /// A problem with it.
    pub fn problem(&self, message: impl Into<String>) -> Problem {
        Problem::of_file(&self.place(), message)
    }

    /// What problems have in the place of a file.
    pub(crate) fn place(&self) -> PathBuf {
        PathBuf::from(format!("the environment variable {}", self.variable))
    }
}

impl fmt::Debug for EnvironmentOverride {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnvironmentOverride").field("variable", &self.variable).finish_non_exhaustive()
    }
}

impl fmt::Display for EnvironmentOverride {
    /// The key that it goes before, and its name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.path.join("."), self.variable)
    }
}

/// Whether a part of a variable's name means this key. No shell has variables with a hyphen.
pub(crate) fn is_same(key: &str, part: &str) -> bool {
    key.replace('-', "_").eq_ignore_ascii_case(&part.replace('-', "_"))
}
