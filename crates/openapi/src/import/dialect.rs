//! Schemas of OpenAPI as Draft 2020-12, each whole in itself: what it refers to is under `$defs`.
//!
//! References are followed one at a time and each place of the document is turned once, so that
//! circles end and long chains take no stack. What [`forecourt_contract::schema`] would refuse is left
//! out and noted; [`Levels`] cuts what is too large.

mod keywords;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value, json};

use crate::document::{OpenApiDocument, reference};

/// Which way the values of a schema go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// To the service: what only it may set is left out.
    In,
    /// From the service: what it never shows is left out.
    Out,
}

/// How much of a schema is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Levels {
    /// References that may lead to one another; what lies behind takes any value.
    pub(super) references: usize,
    /// Whether patterns are kept.
    pub(super) patterns: bool,
}

/// From everything to almost nothing.
pub(super) const LADDER: [Levels; 5] = [
    Levels { references: usize::MAX, patterns: true },
    Levels { references: usize::MAX, patterns: false },
    Levels { references: 4, patterns: false },
    Levels { references: 2, patterns: false },
    Levels { references: 0, patterns: false },
];

/// Turns schemas of one document that end up in one schema of ours.
pub(super) struct Dialect<'a> {
    document: &'a OpenApiDocument,
    direction: Direction,
    levels: Levels,
    /// The name under `$defs` of each place that was referred to.
    names: BTreeMap<String, String>,
    taken: BTreeSet<String>,
    /// Places that are still to be turned, and how many references lead there.
    queue: VecDeque<(String, usize)>,
    /// What was left out.
    pub(super) notes: Vec<String>,
}

impl<'a> Dialect<'a> {
    pub(super) fn new(document: &'a OpenApiDocument, direction: Direction, levels: Levels) -> Dialect<'a> {
        Dialect {
            document,
            direction,
            levels,
            names: BTreeMap::new(),
            taken: BTreeSet::new(),
            queue: VecDeque::new(),
            notes: Vec::new(),
        }
    }

    /// Turns one schema. What it refers to is in [`Dialect::definitions`].
    pub(super) fn schema(&mut self, schema: &Value) -> Value {
        self.turned(schema, 0)
    }

    /// Everything that was referred to, by name.
    pub(super) fn definitions(&mut self) -> Map<String, Value> {
        let mut definitions = Map::new();
        while let Some((pointer, level)) = self.queue.pop_front() {
            let schema = match self.document.target(&pointer) {
                Ok(schema) => self.turned(schema, level),
                Err(_) => Value::Bool(true),
            };
            definitions.insert(self.names[&pointer].clone(), schema);
        }
        definitions
    }

    fn turned(&mut self, schema: &Value, level: usize) -> Value {
        match schema {
            Value::Bool(_) => schema.clone(),
            Value::Object(keywords) => match reference(schema) {
                Some(pointer) => self.referred(pointer, keywords, level),
                None => self.keywords(keywords, level),
            },
            _ => {
                self.notes.push("an invalid schema was replaced by one that takes any value".to_owned());
                Value::Bool(true)
            }
        }
    }

    fn referred(&mut self, pointer: &str, keywords: &Map<String, Value>, level: usize) -> Value {
        if let Err(fault) = self.document.target(pointer) {
            self.notes.push(format!("{fault}: any value is taken there"));
            return json!({});
        }
        if level >= self.levels.references {
            self.notes.push(format!("too large: what {pointer} says is cut, and any value is taken there"));
            return json!({});
        }
        let name = self.name(pointer, level + 1);
        // What stands beside a reference counts from 3.1 on.
        let mut beside = match self.document.is_3_0() {
            true => json!({}),
            false => self.keywords(keywords, level),
        };
        beside["$ref"] = json!(format!("#/$defs/{name}"));
        beside
    }

    /// The name of a place, which is turned later if it is new.
    fn name(&mut self, pointer: &str, level: usize) -> String {
        if let Some(name) = self.names.get(pointer) {
            return name.clone();
        }
        let last = pointer.rsplit('/').next().unwrap_or_default();
        let plain: String = last.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).collect();
        let wanted = if plain.is_empty() { "schema".to_owned() } else { plain };
        let name = free(&wanted, |name| !self.taken.contains(name));
        self.taken.insert(name.clone());
        self.names.insert(pointer.to_owned(), name.clone());
        self.queue.push_back((pointer.to_owned(), level));
        name
    }

    /// Whether values of this direction have a property of that schema.
    fn goes_this_way(&self, property: &Value) -> bool {
        let flag = match self.direction {
            Direction::In => "readOnly",
            Direction::Out => "writeOnly",
        };
        let is_set = |schema: &Value| schema.get(flag) == Some(&Value::Bool(true));
        !is_set(property) && !self.document.resolve(property).is_ok_and(is_set)
    }
}

/// A name that is free: itself, or with the lowest number from 2 that makes it so.
pub(super) fn free(wanted: &str, is_free: impl Fn(&str) -> bool) -> String {
    match is_free(wanted) {
        true => wanted.to_owned(),
        false => (2..).map(|number| format!("{wanted}_{number}")).find(|name| is_free(name)).unwrap_or_default(),
    }
}

/// A schema with its definitions beside it.
pub(super) fn with_definitions(mut schema: Value, definitions: Map<String, Value>) -> Value {
    if let (Value::Object(keywords), false) = (&mut schema, definitions.is_empty()) {
        keywords.insert("$defs".to_owned(), Value::Object(definitions));
    }
    schema
}
