//! Reading JSON that may be anything: field after field, each with its path, each problem noted once.
//!
//! Values are moved out of the tree, never copied. What a field can not be read from is noted and
//! read as absent, so that one refusal names everything that is wrong.

use std::cell::RefCell;
use std::fmt;

use serde_json::{Map, Value};

use super::Dialect;
use super::limits::{CLIENT_ID_BYTES_MAX, VIOLATIONS_MAX};
use crate::model::{Metadata, Violation};

/// Where in the request a value stands. Spelt out only when there is something to say about it.
pub(super) enum Path<'a> {
    Root,
    Field(&'a Path<'a>, &'static str),
    Index(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str("params"),
            Self::Field(Self::Root, name) => f.write_str(name),
            Self::Field(parent, name) => write!(f, "{parent}.{name}"),
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// One reading: in which dialect, of whom, and what was wrong.
pub(super) struct Reading {
    pub(super) dialect: Dialect,
    /// An agent's answer is taken as it is meant; a client is told what to change.
    pub(super) lenient: bool,
    violations: RefCell<Vec<Violation>>,
}

impl Reading {
    /// Reads a client's request: whatever is wrong is noted, and refuses it.
    pub(super) fn strict(dialect: Dialect) -> Self {
        Self { dialect, lenient: false, violations: RefCell::default() }
    }

    /// Reads an agent's answer: what can be understood without a field is not refused for it.
    pub(super) fn lenient(dialect: Dialect) -> Self {
        Self { dialect, lenient: true, violations: RefCell::default() }
    }

    /// What was read, or what was wrong: at least one violation.
    pub(super) fn finish<T>(self, read: Option<T>) -> Result<T, Vec<Violation>> {
        match (read, self.violations.into_inner()) {
            (Some(read), violations) if violations.is_empty() => Ok(read),
            (None, violations) if violations.is_empty() => {
                Err(vec![Violation { field: Path::Root.to_string(), description: "could not be read".to_owned() }])
            }
            (_, violations) => Err(violations),
        }
    }

    fn note(&self, path: &Path<'_>, description: &str) {
        let mut violations = self.violations.borrow_mut();
        if violations.len() < VIOLATIONS_MAX {
            violations.push(Violation { field: path.to_string(), description: description.to_owned() });
        }
    }
}

/// The members of one object that have not been read yet.
pub(super) struct ObjectReader<'a> {
    map: Map<String, Value>,
    /// Whether any key may be the snake_case twin of one that is asked for.
    snake: bool,
    path: &'a Path<'a>,
    reading: &'a Reading,
}

impl<'a> ObjectReader<'a> {
    /// The members of `value`, which is noted as wrong when it is no object.
    pub(super) fn of(value: Value, path: &'a Path<'a>, reading: &'a Reading) -> Option<Self> {
        let Value::Object(map) = value else {
            reading.note(path, "must be an object");
            return None;
        };
        // Most objects have no such key, and their fields need no second look-up.
        let snake = map.keys().any(|key| key.contains('_'));
        Some(Self { map, snake, path, reading })
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.reading.dialect
    }

    pub(super) fn lenient(&self) -> bool {
        self.reading.lenient
    }

    /// Notes that a field is wrong.
    pub(super) fn wrong(&self, name: &'static str, description: &str) {
        self.reading.note(&Path::Field(self.path, name), description);
    }

    /// Notes that a field is wrong, unless an agent wrote it and can be understood without.
    pub(super) fn odd(&self, name: &'static str, description: &str) {
        if !self.lenient() {
            self.wrong(name, description);
        }
    }

    /// Like [`Self::odd`], of the object itself.
    pub(super) fn odd_here(&self, description: &str) {
        if !self.lenient() {
            self.reading.note(self.path, description);
        }
    }

    /// Whether a field is there; `null` is absent.
    pub(super) fn has(&self, name: &str) -> bool {
        let is_there = |name: &str| self.map.get(name).is_some_and(|value| !value.is_null());
        is_there(name) || (self.snake && is_there(&snake_case(name)))
    }

    /// A field as it stands; `null` counts.
    pub(super) fn take_nullable(&mut self, name: &str) -> Option<Value> {
        let camel = self.map.remove(name);
        match camel {
            None if self.snake => self.map.remove(&snake_case(name)),
            found => found,
        }
    }

    /// A field as it stands; `null` is absent.
    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        self.take_nullable(name).filter(|value| !value.is_null())
    }

    /// A field that must be there.
    pub(super) fn demand(&mut self, name: &'static str) -> Option<Value> {
        let value = self.take(name);
        if value.is_none() {
            self.wrong(name, "is required");
        }
        value
    }

    /// `value`, which was found at `name`, as a string.
    pub(super) fn string(&self, name: &'static str, value: Value) -> Option<String> {
        match value {
            Value::String(text) => Some(text),
            _ => {
                self.wrong(name, "must be a string");
                None
            }
        }
    }

    /// A string of at most `max` bytes; an empty one is absent.
    pub(super) fn text(&mut self, name: &'static str, max: usize) -> Option<String> {
        match self.take(name)? {
            Value::String(text) if text.len() <= max => Some(text).filter(|text| !text.is_empty()),
            _ => {
                self.odd(name, &format!("must be a string of at most {max} bytes"));
                None
            }
        }
    }

    /// An id; an empty one is absent.
    pub(super) fn id(&mut self, name: &'static str) -> Option<String> {
        self.text(name, CLIENT_ID_BYTES_MAX)
    }

    /// An id that must be there.
    pub(super) fn required_id(&mut self, name: &'static str) -> Option<String> {
        match self.demand(name)? {
            Value::String(id) if (1..=CLIENT_ID_BYTES_MAX).contains(&id.len()) => Some(id),
            _ => {
                self.wrong(name, &format!("must be a string of 1 to {CLIENT_ID_BYTES_MAX} bytes"));
                None
            }
        }
    }

    /// An id that a client must give and an agent should: empty when it does not.
    pub(super) fn expected_id(&mut self, name: &'static str) -> Option<String> {
        match self.lenient() {
            true => Some(self.id(name).unwrap_or_default()),
            false => self.required_id(name),
        }
    }

    /// A list of at most `items` strings of at most `bytes` bytes each; empty when it is absent or wrong.
    pub(super) fn texts(&mut self, name: &'static str, items: usize, bytes: usize) -> Vec<String> {
        let found = match self.take(name) {
            None => return Vec::new(),
            Some(Value::Array(list)) if list.len() <= items => list.into_iter().map(|v| short(v, bytes)).collect(),
            Some(_) => None,
        };
        found.unwrap_or_else(|| {
            self.odd(name, &format!("must be a list of at most {items} strings of at most {bytes} bytes"));
            Vec::new()
        })
    }

    /// A truth value. The words count too: queries have nothing else.
    pub(super) fn flag(&mut self, name: &'static str) -> Option<bool> {
        match self.take(name)? {
            Value::Bool(flag) => Some(flag),
            Value::String(word) if word == "true" => Some(true),
            Value::String(word) if word == "false" => Some(false),
            _ => {
                self.odd(name, "must be true or false");
                None
            }
        }
    }

    /// A number of things, in digits or as a number; at most what 32 bits with a sign hold.
    pub(super) fn count(&mut self, name: &'static str) -> Option<u32> {
        let value = self.take(name)?;
        let count = whole(&value).and_then(|n| u32::try_from(n).ok()).filter(|n| i32::try_from(*n).is_ok());
        if count.is_none() {
            self.odd(name, "must be a whole number that is not negative");
        }
        count
    }

    /// An object of free members; empty when it is absent or wrong.
    pub(super) fn metadata(&mut self, name: &'static str) -> Metadata {
        match self.take(name) {
            None => Metadata::new(),
            Some(Value::Object(map)) => map,
            Some(_) => {
                self.odd(name, "must be an object");
                Metadata::new()
            }
        }
    }

    /// A moment, as RFC 3339 writes it.
    pub(super) fn timestamp(&mut self, name: &'static str) -> Option<forecourt_core::Timestamp> {
        let value = self.take(name)?;
        let moment = value.as_str().and_then(|text| text.parse().ok());
        if moment.is_none() {
            self.odd(name, "must be a moment such as 2026-01-31T12:00:00.000Z");
        }
        moment
    }

    /// What `read` makes of `value`, which was found at `name` and must be an object.
    pub(super) fn nested<T>(
        &self,
        name: &'static str,
        value: Value,
        read: impl FnOnce(ObjectReader<'_>) -> Option<T>,
    ) -> Option<T> {
        let path = Path::Field(self.path, name);
        ObjectReader::of(value, &path, self.reading).and_then(read)
    }

    /// What `read` makes of the object at `name`.
    pub(super) fn object<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(ObjectReader<'_>) -> Option<T>,
    ) -> Option<T> {
        let value = self.take(name)?;
        self.nested(name, value, read)
    }

    /// What `read` makes of the object at `name`, which must be there.
    pub(super) fn required<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(ObjectReader<'_>) -> Option<T>,
    ) -> Option<T> {
        let value = self.demand(name)?;
        self.nested(name, value, read)
    }

    /// What `read` makes of each object of the list at `name`; those that it makes nothing of are left out.
    pub(super) fn objects<T>(
        &mut self,
        name: &'static str,
        max: usize,
        read: impl FnMut(ObjectReader<'_>) -> Option<T>,
    ) -> Vec<T> {
        match self.take(name) {
            Some(list) => self.objects_in(name, list, max, read),
            None => Vec::new(),
        }
    }

    /// What `read` makes of each object of `list`, which was found at `name`.
    pub(super) fn objects_in<T>(
        &self,
        name: &'static str,
        list: Value,
        max: usize,
        read: impl FnMut(ObjectReader<'_>) -> Option<T>,
    ) -> Vec<T> {
        objects(list, max, &Path::Field(self.path, name), self.reading, read)
    }
}

/// What `read` makes of each object of `list`.
pub(super) fn objects<T>(
    list: Value,
    max: usize,
    path: &Path<'_>,
    reading: &Reading,
    mut read: impl FnMut(ObjectReader<'_>) -> Option<T>,
) -> Vec<T> {
    let Value::Array(list) = list else {
        reading.note(path, "must be a list");
        return Vec::new();
    };
    if list.len() > max {
        reading.note(path, &format!("must have at most {max} items"));
        return Vec::new();
    }
    let mut each = |(index, value)| ObjectReader::of(value, &Path::Index(path, index), reading).and_then(&mut read);
    list.into_iter().enumerate().filter_map(&mut each).collect()
}

/// A string of at most `max` bytes.
fn short(value: Value, max: usize) -> Option<String> {
    match value {
        Value::String(text) if text.len() <= max => Some(text),
        _ => None,
    }
}

/// A whole number, which protocol buffers also write in digits or with a point.
fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => {
            let point = || number.as_f64().filter(|n| n.fract() == 0.0 && (0.0..1e9).contains(n)).map(|n| n as u64);
            number.as_u64().or_else(point)
        }
        Value::String(digits) => digits.parse().ok(),
        _ => None,
    }
}

/// `messageId` as `message_id`.
fn snake_case(camel: &str) -> String {
    let mut snake = String::with_capacity(camel.len() + 4);
    for c in camel.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}
