//! Values as TOML that people read: what fits goes on a line, what does not gets a table of its own.

use serde_json::{Map, Value};

use crate::limits::LINE_CHARS_MAX;

/// Keywords of schemas that are read first, in that order; the others follow by name.
const FIRST: [&str; 8] = ["$ref", "type", "title", "description", "format", "enum", "required", "additionalProperties"];

/// Keywords of schemas that are read last.
const LAST: [&str; 2] = ["examples", "$defs"];

/// The lines of a table under its header; tables in it that are too long for a line follow.
/// `None`: it holds a null, which TOML has not.
pub(super) fn table(path: &str, fields: &Map<String, Value>) -> Option<Vec<String>> {
    let mut lines = Vec::new();
    let mut later = Vec::new();
    for (name, value) in ordered(fields) {
        let line = format!("{} = {}", key(name), inline(value)?);
        match value {
            Value::Object(inner) if !inner.is_empty() && line.chars().count() > LINE_CHARS_MAX => {
                later.push(table(&format!("{path}.{}", key(name)), inner)?);
            }
            Value::Array(items) if items.len() > 1 && line.chars().count() > LINE_CHARS_MAX => {
                lines.push(format!("{} = [", key(name)));
                for item in items {
                    lines.push(format!("  {},", inline(item)?));
                }
                lines.push("]".to_owned());
            }
            _ => lines.push(line),
        }
    }
    // A table that only holds tables needs no header of its own.
    if !lines.is_empty() || later.is_empty() {
        lines.insert(0, format!("[{path}]"));
    }
    for inner in later {
        lines.extend((!lines.is_empty()).then(String::new));
        lines.extend(inner);
    }
    Some(lines)
}

fn ordered(fields: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let place = |name: &str| match FIRST.iter().position(|first| *first == name) {
        Some(at) => at,
        None => FIRST.len() + LAST.iter().position(|last| *last == name).map_or(0, |at| at + 1),
    };
    let mut ordered: Vec<_> = fields.iter().collect();
    ordered.sort_by_key(|(name, _)| place(name));
    ordered
}

/// A value on one line. `None`: it is, or holds, a null.
pub(super) fn inline(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(truth) => truth.to_string(),
        // What no integer of TOML holds is a float.
        Value::Number(number) if number.is_u64() && number.as_i64().is_none() => format!("{:e}", number.as_f64()?),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(inline).collect::<Option<Vec<_>>>()?.join(", "))
        }
        Value::Object(fields) if fields.is_empty() => "{}".to_owned(),
        Value::Object(fields) => {
            let pairs =
                ordered(fields).into_iter().map(|(name, value)| Some(format!("{} = {}", key(name), inline(value)?)));
            format!("{{ {} }}", pairs.collect::<Option<Vec<_>>>()?.join(", "))
        }
    })
}

/// A text that stands for itself: what would be a variable of the environment is none.
pub(super) fn quoted(text: &str) -> String {
    raw(&text.replace("${", "$${"))
}

/// A text in which `${VAR}` is a variable of the environment.
pub(super) fn raw(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// A key, in quotes where it needs them. Variables of the environment do not stand in keys.
pub(super) fn key(name: &str) -> String {
    let is_bare = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    if is_bare { name.to_owned() } else { raw(name) }
}
