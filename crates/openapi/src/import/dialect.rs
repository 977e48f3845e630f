//! Schemas of OpenAPI as Draft 2020-12, each whole in itself: what it refers to is under `$defs`.
//!
//! References are followed one at a time and each place of the document is turned once, so that
//! circles end and long chains take no stack. What [`forecourt_contract::schema`] would refuse is left
//! out and noted; [`Levels`] cuts what is too large.

mod alternatives;
mod in_place;
mod keywords;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use forecourt_contract::limits::SCHEMA_BYTES_MAX;
use forecourt_contract::schema::SchemaError;
use serde_json::{Map, Value, json};

use super::notes::{CUT, Doubt, UNKNOWN_REFERENCE};

use crate::document::{OpenApiDocument, reference};
pub(super) use in_place::is_flagged;

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
    /// Objects and lists within one another; of what lies within them only the type is kept.
    pub(super) depth: usize,
    /// Whether patterns are kept.
    pub(super) patterns: bool,
    /// Whether sentences and examples are kept below the outermost fields.
    pub(super) texts: bool,
    /// Whether it is kept which fields of a body go together.
    pub(super) rules: bool,
}

/// Everything.
const WHOLE: Levels = Levels { references: usize::MAX, depth: usize::MAX, patterns: true, texts: true, rules: true };
/// Everything that most schemas need.
const MOST: Levels = Levels { patterns: false, texts: false, ..WHOLE };

/// From everything to almost nothing.
pub(super) const LADDER: [Levels; 13] = [
    WHOLE,
    Levels { texts: false, ..WHOLE },
    Levels { patterns: false, ..WHOLE },
    MOST,
    Levels { rules: false, ..MOST },
    Levels { references: 4, ..MOST },
    Levels { references: 3, rules: false, ..MOST },
    Levels { references: 2, rules: false, ..MOST },
    Levels { references: 2, rules: false, depth: 6, ..MOST },
    Levels { references: 1, rules: false, depth: 4, ..MOST },
    Levels { references: 1, rules: false, depth: 2, ..MOST },
    Levels { references: 0, rules: false, depth: 2, ..MOST },
    Levels { references: 0, rules: false, depth: 0, ..MOST },
];

/// Where a schema stands.
#[derive(Clone, Debug, Default)]
struct Spot {
    /// References that lead there.
    references: usize,
    /// Objects and lists around it.
    depth: usize,
    /// Properties of the value that do not go this way, by what another schema of the same value says.
    hidden: BTreeSet<String>,
    /// Whether another schema of the same value declares properties.
    is_declared: bool,
    /// Whether what it lets through is refused, or decides on something else.
    is_condition: bool,
}

impl Spot {
    /// The place of something inside of the value.
    fn inside(&self) -> Spot {
        Spot { references: self.references, depth: self.depth + 1, is_condition: self.is_condition, ..Spot::default() }
    }
}

/// What was referred to: a place of the document, without those properties.
type Target = (String, BTreeSet<String>);

/// Turns schemas of one document that end up in one schema of ours.
pub(super) struct Dialect<'a> {
    document: &'a OpenApiDocument,
    direction: Direction,
    levels: Levels,
    /// The name under `$defs` of each place that was referred to.
    names: BTreeMap<Target, String>,
    taken: BTreeSet<String>,
    /// Places that are still to be turned, and how many references lead there.
    queue: VecDeque<(Target, usize)>,
    /// What was left out.
    pub(super) notes: Vec<Doubt>,
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
        self.turned(schema, &Spot::default())
    }

    /// Turns the schema of a field of an object.
    pub(super) fn field(&mut self, schema: &Value) -> Value {
        self.turned(schema, &Spot { depth: 1, ..Spot::default() })
    }

    /// Everything that was referred to, by name.
    ///
    /// # Errors
    /// It is more than a schema may have: the rest is not looked at, since all of a document may be behind it.
    pub(super) fn definitions(&mut self) -> Result<Map<String, Value>, SchemaError> {
        let (mut definitions, mut bytes) = (Map::new(), 0);
        while let Some((target, references)) = self.queue.pop_front() {
            let spot = Spot { references, depth: references, hidden: target.1.clone(), ..Spot::default() };
            let schema = match self.document.target(&target.0) {
                Ok(schema) => self.turned(schema, &spot),
                // Noted already where the reference stood.
                Err(_) => Value::Bool(true),
            };
            bytes += schema.to_string().len();
            if bytes > SCHEMA_BYTES_MAX {
                return Err(SchemaError::TooLong);
            }
            definitions.insert(self.names[&target].clone(), schema);
        }
        Ok(definitions)
    }

    fn turned(&mut self, schema: &Value, spot: &Spot) -> Value {
        match schema {
            Value::Bool(_) => schema.clone(),
            Value::Object(keywords) if spot.depth > self.levels.depth => self.shallow(schema, keywords),
            Value::Object(keywords) => match reference(schema) {
                Some(pointer) => self.referred(pointer, keywords, spot),
                None => self.keywords(keywords, spot),
            },
            _ => {
                self.notes.push(Doubt::new("an invalid schema was replaced by one that takes any value"));
                Value::Bool(true)
            }
        }
    }

    /// A schema of which only the type is left.
    fn shallow(&mut self, schema: &Value, keywords: &Map<String, Value>) -> Value {
        self.notes.push(Doubt::about(CUT, "what is nested deeper"));
        let found = self.document.resolve(schema).ok().and_then(Value::as_object).unwrap_or(keywords);
        self.type_alone(found)
    }

    fn referred(&mut self, pointer: &str, keywords: &Map<String, Value>, spot: &Spot) -> Value {
        let target = match self.document.target(pointer) {
            Ok(target) => target,
            Err(fault) => {
                self.notes.push(Doubt::about(UNKNOWN_REFERENCE, fault));
                return json!({});
            }
        };
        if spot.references >= self.levels.references {
            self.notes.push(Doubt::about(CUT, pointer.rsplit('/').next().unwrap_or(pointer)));
            return json!({});
        }
        let hidden = match spot.hidden.is_empty() {
            true => BTreeSet::new(),
            false => in_place::named(self.document, target).intersection(&spot.hidden).cloned().collect(),
        };
        // The hidden properties are part of the key: one schema may be referred to with and without its `readOnly`
        // ones.
        let name = self.name((pointer.to_owned(), hidden), spot.references + 1);
        // What stands beside a reference counts from 3.1 on.
        let mut beside = match self.document.is_3_0() {
            true => json!({}),
            false => self.keywords(keywords, spot),
        };
        beside["$ref"] = json!(format!("#/$defs/{name}"));
        // In 3.0 it would not count either, but services that say so give null.
        let is_open = self.direction == Direction::Out && keywords.get("nullable") == Some(&Value::Bool(true));
        if is_open { json!({ "anyOf": [beside, { "type": "null" }] }) } else { beside }
    }

    /// The name of a place, which is turned later if it is new.
    fn name(&mut self, target: Target, references: usize) -> String {
        if let Some(name) = self.names.get(&target) {
            return name.clone();
        }
        let last = target.0.rsplit('/').next().unwrap_or_default();
        let plain: String = last.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).collect();
        let wanted = if plain.is_empty() { "schema".to_owned() } else { plain };
        let name = free(&wanted, |name| !self.taken.contains(name));
        self.taken.insert(name.clone());
        self.names.insert(target.clone(), name.clone());
        self.queue.push_back((target, references));
        name
    }

    /// The keyword of properties that do not go this way.
    fn flag(&self) -> &'static str {
        match self.direction {
            Direction::In => "readOnly",
            Direction::Out => "writeOnly",
        }
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
