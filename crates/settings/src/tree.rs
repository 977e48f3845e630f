//! A parsed file with the place of every key and value, after `${VAR}` was filled in.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::environment::{Environment, Reference};
use crate::error::{Problem, Problems};
use crate::overrides::EnvironmentOverride;
use crate::source::Source;

pub(crate) type Table = BTreeMap<String, Entry>;

/// A key's place and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key_span: Range<usize>,
    pub(crate) value: Node,
    /// The variable of the environment that it is from, or that is within it, rather than the file.
    pub(crate) by: Option<Arc<EnvironmentOverride>>,
}

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// A string; `from_environment` when any of it came from a variable and must not be shown.
    Text {
        value: String,
        from_environment: bool,
    },
    /// A number, a truth value, or a date as its text.
    Plain(Value),
    List(Vec<Node>),
    Table(Table),
}

impl Node {
    /// The value as JSON, which is what section types are read from.
    pub(crate) fn to_json(&self) -> Value {
        match &self.kind {
            Kind::Text { value, .. } => Value::String(value.clone()),
            Kind::Plain(value) => value.clone(),
            Kind::List(items) => Value::Array(items.iter().map(Node::to_json).collect()),
            Kind::Table(table) => table_to_json(table),
        }
    }

    /// Whether anything in here came from the environment.
    pub(crate) fn holds_environment(&self) -> bool {
        match &self.kind {
            Kind::Text { from_environment, .. } => *from_environment,
            Kind::Plain(_) => false,
            Kind::List(items) => items.iter().any(Node::holds_environment),
            Kind::Table(table) => table.values().any(|entry| entry.value.holds_environment()),
        }
    }
}

pub(crate) fn table_to_json(table: &Table) -> Value {
    Value::Object(table.iter().map(|(key, entry)| (key.clone(), entry.value.to_json())).collect::<Map<_, _>>())
}

/// Builds the tree, adding a problem for each value that can't be had.
pub(crate) struct Builder<'a> {
    pub(crate) source: &'a Source,
    pub(crate) environment: &'a dyn Environment,
    pub(crate) problems: &'a mut Problems,
}

impl Builder<'_> {
    pub(crate) fn table(&mut self, table: &DeTable<'_>) -> Table {
        table.iter().map(|(key, value)| self.entry(key, value)).collect()
    }

    fn entry(&mut self, key: &Spanned<std::borrow::Cow<'_, str>>, value: &Spanned<DeValue<'_>>) -> (String, Entry) {
        (key.get_ref().clone().into_owned(), Entry { key_span: key.span(), value: self.node(value), by: None })
    }

    fn node(&mut self, value: &Spanned<DeValue<'_>>) -> Node {
        let span = value.span();
        let kind = match value.get_ref() {
            DeValue::String(text) => self.text(text, &span),
            DeValue::Boolean(value) => Kind::Plain(Value::Bool(*value)),
            DeValue::Datetime(value) => Kind::Plain(Value::String(value.to_string())),
            DeValue::Integer(value) => {
                self.number(i64::from_str_radix(value.as_str(), value.radix()).ok().map(Number::from), &span)
            }
            DeValue::Float(value) => self.number(value.as_str().parse().ok().and_then(Number::from_f64), &span),
            DeValue::Array(items) => Kind::List(items.iter().map(|item| self.node(item)).collect()),
            DeValue::Table(table) => Kind::Table(self.table(table)),
        };
        Node { span, kind }
    }

    fn number(&mut self, number: Option<Number>, span: &Range<usize>) -> Kind {
        if number.is_none() {
            self.problem(span, "this number is out of range".to_owned());
        }
        Kind::Plain(number.map_or(Value::Null, Value::Number))
    }

    fn text(&mut self, raw: &str, span: &Range<usize>) -> Kind {
        let (value, from_environment) = self.fill_in(raw, span);
        Kind::Text { value, from_environment }
    }

    /// Replaces each `${…}`; `$${` stands for `${` itself. The result is not looked at again.
    fn fill_in(&mut self, raw: &str, span: &Range<usize>) -> (String, bool) {
        let (mut filled, mut rest, mut used) = (String::with_capacity(raw.len()), raw, false);
        while let Some(at) = rest.find("${") {
            if rest[..at].ends_with('$') {
                // The first dollar sign says that the second one is meant as itself.
                filled.push_str(&rest[..at - 1]);
                filled.push_str("${");
                rest = &rest[at + 2..];
                continue;
            }
            filled.push_str(&rest[..at]);
            let Some((reference, after)) = Reference::parse(&rest[at + 2..]) else {
                self.problem(
                    span,
                    "`${` without a name and `}`: write `${NAME}`, `${file:PATH}` or `${credential:NAME}`, or `$${` for \
                     the characters themselves"
                        .into(),
                );
                return (filled, used);
            };
            let folder = self.source.file.parent().unwrap_or(Path::new(""));
            match reference.value(self.environment, folder) {
                Ok(referred) => {
                    filled.push_str(&referred.value);
                    referred.notice.into_iter().for_each(|notice| self.source.note_notice(notice));
                }
                Err(missing) => {
                    let problem = Problem::at(&self.source.file, self.source.place(span), missing.message);
                    self.problems.push(match missing.hint {
                        Some(hint) => problem.hint(hint),
                        None => problem,
                    });
                }
            }
            // Behind the reference: a secret that has `${` in it is not looked into.
            (rest, used) = (after, true);
        }
        filled.push_str(rest);
        (filled, used)
    }

    fn problem(&mut self, span: &Range<usize>, message: String) {
        self.problems.push(Problem::at(&self.source.file, self.source.place(span), message));
    }
}
