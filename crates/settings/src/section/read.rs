//! From a section to its owner's type, finding as many problems as possible on the way.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Section;
use crate::error::{PROBLEMS_MAX, Problem, Problems};
use crate::overrides::EnvironmentOverride;
use crate::source::is_secret_key;
use crate::traced::{Step, TracedError, deserialize};
use crate::tree::{Entry, Kind, Node, Table, table_to_json};
use crate::words::{self, in_words};

/// Reads what is left of `section`. After each problem the offending key is left out and the rest is
/// read again, so that one typing error does not hide the next.
pub(crate) fn read<T: DeserializeOwned>(section: &Section) -> Result<T, Problems> {
    let mut read = None;
    read_with(section, &mut |json| deserialize(json).map(|value| read = Some(value)))?;
    // Without a value there was a problem.
    read.ok_or_else(Problems::new)
}

/// [`read`] for whatever type `attempt` tries to read, so that no more than the attempt is compiled for each.
fn read_with(section: &Section, attempt: &mut dyn FnMut(&Value) -> Result<(), TracedError>) -> Result<(), Problems> {
    let mut json = table_to_json(&section.table);
    let mut problems = Problems::new();
    let mut left_out: Vec<String> = Vec::new();
    for _ in 0..PROBLEMS_MAX {
        let TracedError { steps, message } = match attempt(&json) {
            Ok(()) => return problems.in_file_order().into_result(()),
            Err(error) => error,
        };
        if take_as_text(section, &mut json, &steps) {
            continue;
        }
        // A key that was left out for its own problem is not missing too.
        let missing = quoted_after(&message, "missing field ").map(|key| joined(&steps, &key));
        if !missing.as_ref().is_some_and(|key| left_out.contains(key)) {
            problems.push(describe(section, &steps, &message));
        }
        // What is missing can't be left out, and would be found missing for ever.
        if missing.is_some() || !remove(&mut json, &steps) {
            break;
        }
        left_out.push(display(&steps));
    }
    Err(problems.in_file_order())
}

/// Why a value is not what a type takes, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonProblem {
    /// The way to the value that is not right, such as `a.b[0]`; empty for the whole.
    pub path: String,
    /// Why.
    pub message: String,
}

/// Reads a value as what `T` takes.
///
/// # Errors
/// The first problem.
pub fn from_json<T: DeserializeOwned>(value: &Value) -> Result<T, JsonProblem> {
    deserialize(value).map_err(|TracedError { steps, message }| JsonProblem {
        path: display(&steps),
        message: in_words(&message).unwrap_or(message),
    })
}

/// Puts the text of a variable in the place of what TOML made of it: `8443` may be meant as a text. `false` when it
/// is one already, or comes from elsewhere.
fn take_as_text(section: &Section, json: &mut Value, steps: &[Step]) -> bool {
    let way = walk(&section.table, steps);
    let [.., Waypoint { by: Some(by), .. }] = way.as_slice() else { return false };
    if way.len() < steps.len() {
        return false;
    }
    let target = steps.iter().try_fold(json, |value, step| match step {
        Step::Key(key) => value.get_mut(key),
        Step::Index(index) => value.get_mut(index),
    });
    match target {
        Some(value) if matches!(value, Value::Bool(_) | Value::Number(_)) => {
            *value = Value::String(by.raw.clone());
            true
        }
        _ => false,
    }
}

fn describe(section: &Section, steps: &[Step], message: &str) -> Problem {
    if let Some(key) = quoted_after(message, "unknown field ") {
        return unknown_key(section, steps, &key, message);
    }
    if let Some(key) = quoted_after(message, "missing field ") {
        return at(section, steps, format!("missing key `{key}`{}", of_table(section, steps)));
    }
    // Who read a choice between tables in one piece names the key itself.
    let inner: Vec<Step> =
        within(message).map(|key| steps.iter().cloned().chain([Step::Key(key)]).collect()).unwrap_or_default();
    let steps = if walk(&section.table, &inner).len() > steps.len() { &inner } else { steps };
    let whose = match steps {
        [] => section.name(),
        _ => format!("`{}`{}", display(steps), of_table(section, &[])),
    };
    // serde quotes what it found in its messages.
    let (said, otherwise) = match hides_value(section, steps) {
        true => (words::without_value(message), "the value is not what this key takes"),
        false => (in_words(message), message),
    };
    let text = said.map_or_else(|| format!("{whose}: {otherwise}"), |said| format!("{whose} {said}"));
    at(section, steps, text)
}

/// The key that a message such as "`from`: …" begins with.
fn within(message: &str) -> Option<String> {
    let (path, _) = message.strip_prefix('`')?.split_once("`: ")?;
    path.split(['.', '[']).next().filter(|key| !key.is_empty()).map(str::to_owned)
}

fn unknown_key(section: &Section, steps: &[Step], key: &str, message: &str) -> Problem {
    let parent = match steps {
        [parent @ .., Step::Key(last)] if last == key => parent,
        _ => steps,
    };
    if parent.is_empty() && section.taken.iter().any(|taken| taken == key) {
        return at(section, steps, format!("`{key}`{} must be a table or a list of tables", of_table(section, &[])));
    }
    let mut known = quoted(message.split_once("expected").map_or("", |(_, names)| names));
    if parent.is_empty() {
        // The type doesn't know the tables that others took, and they are keys of this section all the same.
        known.extend(section.taken.iter().cloned());
    }
    // Choices between tables are read in one piece, so that the key is not on the way that is known.
    let steps: Vec<Step> = parent.iter().cloned().chain([Step::Key(key.to_owned())]).collect();
    let problem = at(section, &steps, format!("unknown key `{key}`{}", of_table(section, parent)));
    let path = section.path_of(&joined(parent, key));
    if let Some(new) = section.superseding(&path) {
        return problem.hint(format!("it is now `{new}`, which is there too: remove the old one"));
    }
    let way = walk(&section.table, &steps);
    let by = way.last().and_then(|passed| passed.by);
    match nearest(key, &known) {
        Some(name) => {
            let meant = by.map_or_else(|| name.clone(), |by| by.renamed(key, name));
            problem.hint(format!("did you mean `{meant}`?"))
        }
        None if known.is_empty() => problem,
        None => problem.hint(format!("known keys are {}", known.join(", "))),
    }
}

/// ` in [table]`, or nothing at the root of a file.
fn of_table(section: &Section, steps: &[Step]) -> String {
    let inner = display(steps);
    match (section.path.as_str(), inner.as_str()) {
        ("", "") => String::new(),
        ("", inner) => format!(" in [{inner}]"),
        (path, "") => format!(" in [{path}]"),
        (path, inner) => format!(" in [{path}.{inner}]"),
    }
}

/// The problem at the last key on the way that the text has.
fn at(section: &Section, steps: &[Step], message: String) -> Problem {
    if let Some(Step::Key(key)) = steps.first()
        && let Some(by) = section.overruled.get(key)
    {
        return Problem::of_file(by, message);
    }
    let way = walk(&section.table, steps);
    if let Some(by) = way.last().and_then(|passed| passed.by).or(section.by.as_ref()) {
        return by.problem(message);
    }
    let span = way.last().map(|passed| passed.span.clone()).or(section.span.clone());
    match span {
        Some(span) => Problem::at(&section.source.file, section.source.place(&span), message),
        None => Problem::of_file(&section.source.file, message),
    }
}

/// A place on the way to a value.
struct Waypoint<'a> {
    span: std::ops::Range<usize>,
    node: &'a Node,
    /// The variable that it is from.
    by: Option<&'a Arc<EnvironmentOverride>>,
}

impl<'a> Waypoint<'a> {
    fn of(entry: &'a Entry) -> Self {
        Self { span: entry.key_span.clone(), node: &entry.value, by: entry.by.as_ref() }
    }
}

/// The places passed on the way, each with its value.
fn walk<'a>(table: &'a Table, steps: &[Step]) -> Vec<Waypoint<'a>> {
    let mut passed: Vec<Waypoint<'a>> = Vec::new();
    for step in steps {
        let next = match (step, passed.last()) {
            (Step::Key(key), None) => table.get(key).map(Waypoint::of),
            (Step::Key(key), Some(Waypoint { node: Node { kind: Kind::Table(table), .. }, by, .. })) => {
                let by = *by;
                table.get(key).map(|entry| Waypoint { by: entry.by.as_ref().or(by), ..Waypoint::of(entry) })
            }
            (Step::Index(index), Some(Waypoint { node: Node { kind: Kind::List(items), .. }, by, .. })) => {
                let by = *by;
                items.get(*index).map(|item| Waypoint { span: item.span.clone(), node: item, by })
            }
            _ => None,
        };
        match next {
            Some(next) => passed.push(next),
            None => break,
        }
    }
    passed
}

/// Whether a message about this value could give a secret away.
fn hides_value(section: &Section, steps: &[Step]) -> bool {
    let named = steps.iter().any(|step| matches!(step, Step::Key(key) if is_secret_key(key)));
    let from_environment = match walk(&section.table, steps).last() {
        Some(Waypoint { node, by, .. }) => by.is_some() || section.by.is_some() || node.holds_environment(),
        // The message may be about any of them.
        None => section.table.values().any(|entry| entry.value.holds_environment()),
    };
    named || from_environment
}

fn remove(json: &mut Value, steps: &[Step]) -> bool {
    let Some((last, parents)) = steps.split_last() else { return false };
    let parent = parents.iter().try_fold(json, |value, step| match step {
        Step::Key(key) => value.get_mut(key),
        Step::Index(index) => value.get_mut(index),
    });
    match (parent, last) {
        (Some(Value::Object(map)), Step::Key(key)) => map.remove(key).is_some(),
        // Removing an item would move the others: the whole list is left out.
        (Some(Value::Array(_)), Step::Index(_)) => false,
        _ => false,
    }
}

/// The known word that a word was probably meant to be. `None`: none is close.
pub fn nearest<'a>(key: &str, known: &'a [String]) -> Option<&'a String> {
    let distance = |name: &String| strsim::damerau_levenshtein(&key.to_ascii_lowercase(), name);
    // One mistake in three letters: with more, every short word is near every other.
    let limit = key.chars().count().div_ceil(3).max(1);
    known.iter().filter(|name| distance(name) <= limit).min_by_key(|name| distance(name))
}

fn display(steps: &[Step]) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Key(key) if path.is_empty() => path.push_str(key),
            Step::Key(key) => path.extend([".", key]),
            Step::Index(index) => path.push_str(&format!("[{index}]")),
        }
    }
    path
}

fn joined(steps: &[Step], key: &str) -> String {
    let parent = display(steps);
    if parent.is_empty() { key.to_owned() } else { format!("{parent}.{key}") }
}

/// `key` of a message that starts with ``{start}`key` ``.
fn quoted_after(message: &str, start: &str) -> Option<String> {
    let rest = message.strip_prefix(start)?.strip_prefix('`')?;
    rest.split_once('`').map(|(key, _)| key.to_owned())
}

fn quoted(names: &str) -> Vec<String> {
    names.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}
