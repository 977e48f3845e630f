//! This module puts variables of the environment in the place of keys of a file: `FORECOURT__LISTEN__HTTPS` goes
//! before `https` in `[listen]`.

use std::sync::Arc;

use serde_json::{Number, Value};

use super::Section;
use crate::error::Problems;
use crate::overrides::{BETWEEN, EnvironmentOverride, OVERRIDE_PREFIX, is_same};
use crate::tree::{Entry, Kind, Node, Table};

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
        let value = Node { span: 0..0, kind: kind(by) };
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
                    items[number] = Node { span: 0..0, kind: kind(by) };
                    Ok(())
                }
                [_, rest @ ..] => put_into(&mut items[number], key, rest, by),
                [] => Ok(()),
            }
        }
        Kind::Text { .. } | Kind::Plain(_) => Err(format!("`{key}` is not a table in the file")),
    }
}

fn empty_table(by: &Arc<EnvironmentOverride>) -> Entry {
    let value = Node { span: 0..0, kind: Kind::Table(Table::new()) };
    Entry { key_span: 0..0, value, by: Some(by.clone()) }
}

/// The value of a variable: what TOML makes of it, else its text.
fn kind(by: &EnvironmentOverride) -> Kind {
    let text = || Kind::Text { value: by.raw.clone(), from_environment: true };
    let parsed = (!by.raw.contains(['\n', '\r'])).then(|| format!("value = {}", by.raw));
    let parsed = parsed.and_then(|line| toml::from_str::<toml::Table>(&line).ok());
    match parsed.and_then(|mut table| table.remove("value")) {
        Some(value) => kind_of(value).unwrap_or_else(text),
        None => text(),
    }
}

/// `None`: a number that JSON has no word for.
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
