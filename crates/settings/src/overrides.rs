//! This module puts variables of the environment in the place of keys of a file: `FORECOURT__LISTEN__HTTPS` goes
//! before `https` in `[listen]`.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Number, Value};

use crate::environment::Environment;
use crate::error::{Problem, Problems};
use crate::section::Section;
use crate::tree::{Entry, Kind, Node, Table};

/// How the names of all of them begin.
pub const OVERRIDE_PREFIX: &str = "FORECOURT__";
/// What stands between a table and its key in such a name.
const BETWEEN: &str = "__";
/// Variables of this kind that are looked at.
pub const OVERRIDES_MAX: usize = 1_000;

/// A variable of the environment that goes before a key of a file. Its value is never shown: it may be a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct EnvironmentOverride {
    /// Its whole name.
    variable: String,
    /// The tables and the key that it names, in lower case.
    path: Vec<String>,
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

    /// Its value: what TOML makes of it, else its text.
    fn kind(&self) -> Kind {
        let text = || Kind::Text { value: self.raw.clone(), from_environment: true };
        // A second line would be read as a further key.
        let parsed = (!self.raw.contains(['\n', '\r'])).then(|| format!("value = {}", self.raw));
        let parsed = parsed.and_then(|line| toml::from_str::<toml::Table>(&line).ok());
        match parsed.and_then(|mut table| table.remove("value")) {
            Some(value) => kind_of(value).unwrap_or_else(text),
            None => text(),
        }
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

impl Section {
    /// Puts values of the environment in the place of keys of this table, and of tables within it. Lists of tables
    /// are gone into by number, from 0 on; one more adds one.
    ///
    /// # Errors
    /// Names that lead through what is no table.
    pub fn override_from(&mut self, overrides: &[EnvironmentOverride]) -> Result<(), Problems> {
        let mut problems = Problems::new();
        for one in overrides {
            let by = Arc::new(one.clone());
            match put(&mut self.table, &one.path, &by) {
                Ok(()) => self.source.note_override(&by),
                Err(message) => problems.push(one.problem(message)),
            }
        }
        problems.into_result(())
    }

    /// The variables that go before keys of this file, by name.
    pub fn overrides(&self) -> Vec<Arc<EnvironmentOverride>> {
        self.source.overrides()
    }
}

fn put(table: &mut Table, path: &[String], by: &Arc<EnvironmentOverride>) -> Result<(), String> {
    let wrong = || format!("the name is not `{OVERRIDE_PREFIX}TABLE{BETWEEN}KEY`");
    let (first, rest) = path.split_first().ok_or_else(wrong)?;
    if first.is_empty() {
        return Err(wrong());
    }
    // As the file writes it, where it has it: capitals and hyphens are lost in a variable's name.
    let key = table.keys().find(|key| is_same(key, first)).unwrap_or(first).clone();
    if rest.is_empty() {
        let value = Node { span: 0..0, kind: by.kind() };
        table.insert(key, Entry { key_span: 0..0, value, by: Some(by.clone()) });
        return Ok(());
    }
    let entry = table.entry(key).or_insert_with(|| empty_table(by));
    put_into(&mut entry.value, first, rest, by)
}

fn put_into(node: &mut Node, key: &str, rest: &[String], by: &Arc<EnvironmentOverride>) -> Result<(), String> {
    match &mut node.kind {
        Kind::Table(inner) => put(inner, rest, by),
        Kind::List(items) => {
            let number = rest.first().and_then(|number| number.parse::<usize>().ok());
            let number = number.filter(|number| *number <= items.len());
            let number = number.ok_or_else(|| format!("`{key}` is a list of {}: a number comes next", items.len()))?;
            if number == items.len() {
                items.push(empty_table(by).value);
            }
            match rest {
                [_] => {
                    items[number] = Node { span: 0..0, kind: by.kind() };
                    Ok(())
                }
                [_, rest @ ..] => put_into(&mut items[number], key, rest, by),
                [] => Ok(()),
            }
        }
        Kind::Text { .. } | Kind::Plain(_) => Err(format!("`{key}` is no table in the file")),
    }
}

fn empty_table(by: &Arc<EnvironmentOverride>) -> Entry {
    let value = Node { span: 0..0, kind: Kind::Table(Table::new()) };
    Entry { key_span: 0..0, value, by: Some(by.clone()) }
}

/// Whether a part of a variable's name means this key. No shell has variables with a hyphen.
fn is_same(key: &str, part: &str) -> bool {
    key.replace('-', "_").eq_ignore_ascii_case(&part.replace('-', "_"))
}

/// `None`: a float that JSON can't write, since it is infinite or not a number.
fn kind_of(value: toml::Value) -> Option<Kind> {
    let node = |value| Some(Node { span: 0..0, kind: kind_of(value)? });
    Some(match value {
        toml::Value::String(value) => Kind::Text { value, from_environment: true },
        toml::Value::Integer(number) => Kind::Plain(Value::Number(number.into())),
        toml::Value::Float(number) => Kind::Plain(Value::Number(Number::from_f64(number)?)),
        toml::Value::Boolean(value) => Kind::Plain(Value::Bool(value)),
        toml::Value::Datetime(value) => Kind::Plain(Value::String(value.to_string())),
        toml::Value::Array(items) => Kind::List(items.into_iter().map(node).collect::<Option<_>>()?),
        toml::Value::Table(table) => {
            let entry = |(key, value)| Some((key, Entry { key_span: 0..0, value: node(value)?, by: None }));
            Kind::Table(table.into_iter().map(entry).collect::<Option<_>>()?)
        }
    })
}
