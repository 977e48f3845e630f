//! This module checks the inputs and outputs of endpoints by JSON Schema, Draft 2020-12, with bounds. Sections 6.4 and
//! 13.3.
//!
//! A schema may come from a stranger (a proposal holds two), so nothing in it reaches outside: a
//! reference leads to another place of the same document, patterns are matched in linear time, and
//! how much work a value can cause is known before it is checked ([`work`]).
//!
//! A `format` says what a text means and refuses nothing: that is its role in Draft 2020-12 unless a
//! schema names another vocabulary, so that two hosts take the same values under one schema. Who wrote a schema may
//! say that its formats are checked ([`Formats`]): then 30 February is no date.
//!
//! Inputs are strict, and deeply so: where a nested object declares properties and says nothing of
//! others, others are refused too ([`strict`]).

mod error;
mod graph;
mod integers;
mod strict;
mod work;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use forecourt_core::LazyJson;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use percent_encoding::percent_decode_str;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use error::{SchemaError, Violation};

use crate::limits::{PATTERN_COMPILED_BYTES_MAX, SCHEMA_BYTES_MAX, TYPES_DEPTH_MAX, VIOLATION_CHARS_MAX};
use graph::Graph;
use work::Work;

/// What a `format` does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Formats {
    /// It says what a text means.
    #[default]
    Annotate,
    /// A text that is not of its format is refused: dates, times, durations, UUIDs, addresses of mail, of the web and
    /// of hosts.
    Check,
}

/// What begins the names of both keywords that hold patterns, in the text of a schema.
const PATTERN: &str = "\"pattern";

/// A schema that was checked, and the document that it came from. Cheap to clone: all clones share both.
#[derive(Clone)]
pub struct Schema(Arc<CheckedSchema>);

struct CheckedSchema {
    source: LazyJson,
    /// Whether its top declares the type `object`.
    is_object: bool,
    closing: Closing,
    formats: Formats,
    work: Work,
    /// Made when a value is checked for the first time: a host has many endpoints that nobody calls, and a
    /// validator takes several times the room of its document.
    validator: OnceLock<Validator>,
}

/// What a schema is closed against besides what it says itself.
#[derive(Clone, Copy)]
enum Closing {
    /// Nothing.
    Nothing,
    /// Properties of nested objects that are not declared.
    Inside,
    /// The same of the outermost object.
    All,
}

impl Schema {
    /// Compiles any schema.
    ///
    /// # Errors
    /// It is not valid under Draft 2020-12, leads out of its document, or is beyond a bound.
    pub fn compile(source: Value) -> Result<Schema, SchemaError> {
        Schema::built(source, Closing::Nothing)
    }

    /// Compiles the schema of an input: an object that takes no property but the declared ones.
    ///
    /// # Errors
    /// As [`Schema::compile`], and when it is not declared an object or not closed. Section 6.4.
    pub fn input(source: Value) -> Result<Schema, SchemaError> {
        if source.get("type").and_then(Value::as_str) != Some("object") {
            return Err(SchemaError::NotAnObject);
        }
        if source.get("additionalProperties") != Some(&Value::Bool(false)) {
            return Err(SchemaError::NotStrict);
        }
        Schema::built(source, Closing::Inside)
    }

    /// Compiles the schema of an output, which lets through what it does not declare; with
    /// `is_strict` it is closed like an input. Section 13.3.
    ///
    /// # Errors
    /// As [`Schema::compile`].
    pub fn output(source: Value, is_strict: bool) -> Result<Schema, SchemaError> {
        Schema::built(source, if is_strict { Closing::All } else { Closing::Nothing })
    }

    /// The same schema with formats that count as `formats` says.
    #[must_use]
    pub fn with_formats(self, formats: Formats) -> Schema {
        if self.0.formats == formats {
            return self;
        }
        self.anew(self.0.source.clone(), formats)
    }

    /// The same schema, kept as its text alone until somebody asks for more: a host has thousands, few of them are
    /// called, and as a tree of values one takes ten times the room of its text.
    #[must_use]
    pub fn packed(self) -> Schema {
        match LazyJson::from_text(self.0.source.to_string()) {
            Ok(source) => self.anew(source, self.0.formats),
            Err(_) => self,
        }
    }

    /// What was checked already, in another form.
    fn anew(&self, source: LazyJson, formats: Formats) -> Schema {
        let CheckedSchema { is_object, closing, ref work, .. } = *self.0;
        let (work, validator) = (work.clone(), OnceLock::new());
        Schema(Arc::new(CheckedSchema { source, is_object, closing, formats, work, validator }))
    }

    fn built(source: Value, closing: Closing) -> Result<Schema, SchemaError> {
        let text = source.to_string();
        if text.len() > SCHEMA_BYTES_MAX {
            return Err(SchemaError::TooLong);
        }
        // The document itself is checked before `closing` walks it, which recurses and follows references.
        Graph::of(&source)?;
        let checked = closing.apply(&source);
        // Closing adds keywords, so the work is that of the schema which is really checked.
        let work = Work::of(&Graph::of(&checked)?)?;
        let validator = OnceLock::new();
        match text.contains(PATTERN) {
            // Only compiling tells whether a pattern is valid and small. Other schemas are compiled at their first use.
            true => drop(validator.set(compiled(&checked, Formats::Annotate).map_err(|error| invalid(&error))?)),
            false => jsonschema::draft202012::meta::validate(&checked).map_err(|error| invalid(&error))?,
        }
        let formats = Formats::Annotate;
        let is_object = source.get("type").and_then(Value::as_str) == Some("object");
        let source = source.into();
        Ok(Schema(Arc::new(CheckedSchema { source, is_object, closing, formats, work, validator })))
    }

    /// What formats in it do.
    pub fn formats(&self) -> Formats {
        self.0.formats
    }

    /// The document, as it was declared.
    pub fn source(&self) -> &Value {
        &self.0.source
    }

    /// The same, for lists that hold it as long as the schema does, and for whoever writes it: a packed one is written
    /// as it is.
    pub fn shared_source(&self) -> &LazyJson {
        &self.0.source
    }

    /// Whether its top declares the type `object`. A packed schema stays packed.
    pub fn is_object(&self) -> bool {
        self.0.is_object
    }

    /// Whether the document declares a property of that name at its top.
    pub fn declares(&self, property: &str) -> bool {
        self.properties().is_some_and(|properties| properties.contains_key(property))
    }

    /// The declared properties at its top.
    pub fn properties(&self) -> Option<&Map<String, Value>> {
        self.source().get("properties")?.as_object()
    }

    /// The JSON types that a property is declared to have, by itself or by its alternatives, each once. Empty: any, or
    /// the property is not at the top.
    pub fn types_of(&self, property: &str) -> Vec<&str> {
        let schema = self.properties().and_then(|properties| properties.get(property));
        let types = schema.and_then(|schema| types(self.source(), schema, TYPES_DEPTH_MAX)).unwrap_or_default();
        types.into_iter().collect()
    }

    /// Checks a value and hands it back with every integer written as one: `1` for `1.0`.
    ///
    /// # Errors
    /// As [`Schema::check`].
    pub fn take(&self, mut value: Value) -> Result<Value, Violation> {
        self.check(&value)?;
        integers::written_plainly(self.source(), &mut value);
        Ok(value)
    }

    /// Checks a value.
    ///
    /// # Errors
    /// The first violation that was found; also for a value that would take too long to check.
    pub fn check(&self, value: &Value) -> Result<(), Violation> {
        self.0.work.allows(value)?;
        self.validator()?.validate(value).map_err(|error| violation(&error))
    }

    fn validator(&self) -> Result<&Validator, Violation> {
        let CheckedSchema { source, closing, formats, validator, .. } = &*self.0;
        if let Some(validator) = validator.get() {
            return Ok(validator);
        }
        // Two threads may compile it at once; the first to finish is kept. It can't fail: it was validated when it was
        // loaded.
        let made = compiled(&closing.apply(source), *formats)
            .map_err(|error| Violation::new("", invalid(&error).to_string()))?;
        Ok(validator.get_or_init(|| made))
    }
}

impl Closing {
    /// The schema that values are really checked against.
    fn apply(self, source: &Value) -> Cow<'_, Value> {
        match self {
            Self::Nothing => Cow::Borrowed(source),
            Self::Inside => Cow::Owned(strict::closed(source)),
            Self::All => Cow::Owned(strict::closed_all(source)),
        }
    }
}

fn compiled(schema: &Value, formats: Formats) -> Result<Validator, ValidationError<'static>> {
    let patterns =
        PatternOptions::regex().size_limit(PATTERN_COMPILED_BYTES_MAX).dfa_size_limit(PATTERN_COMPILED_BYTES_MAX);
    // Offline: a `$ref` in a stranger's schema must not make the host fetch anything (security sheet, section 6).
    let options = jsonschema::options().with_draft(Draft::Draft202012).offline();
    options
        // An annotation in Draft 2020-12: the crate's own checks would refuse what another host takes.
        .should_validate_formats(formats == Formats::Check)
        // To compile a caller's text as a pattern may cost more than any value is worth.
        .with_format("regex", |_: &str| true)
        .with_pattern_options(patterns)
        .build(schema)
        .map_err(ValidationError::to_owned)
}

fn invalid(error: &ValidationError<'_>) -> SchemaError {
    // Masked: the message would repeat the whole schema or value, which may be a caller's and long.
    SchemaError::Invalid(shortened(&error.masked_with("it").to_string()))
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.source().fmt(f)
    }
}

fn violation(error: &ValidationError<'_>) -> Violation {
    let mut field = error.instance_path().to_string();
    // The path of these errors ends at the object; callers need the name of the property.
    let property = match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => unexpected.first().map(String::as_str),
        ValidationErrorKind::Required { property } => property.as_str(),
        _ => None,
    };
    if let Some(property) = property {
        field.push('/');
        field.push_str(&escaped(property));
    }
    let detail = shortened(&error.masked_with("the value").to_string());
    Violation { detail, field, schema_path: error.schema_path().to_string() }
}

/// The types that a schema declares, by `type`, by all its alternatives or by a part of it. `None`: any.
fn types<'a>(root: &'a Value, schema: &'a Value, depth: usize) -> Option<BTreeSet<&'a str>> {
    let depth = depth.checked_sub(1)?;
    match schema.get("type") {
        Some(Value::String(name)) => return Some(BTreeSet::from([name.as_str()])),
        Some(Value::Array(names)) => return Some(names.iter().filter_map(Value::as_str).collect()),
        _ => {}
    }
    let referred = schema.get("$ref").and_then(Value::as_str).and_then(|reference| target(root, reference));
    if let Some(found) = referred.and_then(|schema| types(root, schema, depth)) {
        return Some(found);
    }
    let listed = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
    for keyword in ["anyOf", "oneOf"] {
        // One alternative that says nothing of types takes any.
        let ways =
            listed(keyword).map(|ways| ways.iter().map(|way| types(root, way, depth)).collect::<Option<Vec<_>>>());
        if let Some(found) = ways.flatten().filter(|ways| !ways.is_empty()) {
            return Some(found.into_iter().flatten().collect());
        }
    }
    listed("allOf").into_iter().flatten().find_map(|part| types(root, part, depth))
}

/// What a reference by a JSON Pointer leads to.
fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = percent_decode_str(reference.strip_prefix('#')?).decode_utf8().ok()?;
    root.pointer(&pointer)
}

/// One step of a JSON Pointer. RFC 6901 3.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// What a reader needs of a message that may hold a caller's text.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(VIOLATION_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
