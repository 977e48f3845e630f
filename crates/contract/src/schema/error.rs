//! This module has the errors of schemas, and the violations of values.

use serde::Serialize;

use super::escaped;
use crate::limits::{
    CHECKS_PER_VALUE_MAX, PATTERN_BYTES_MAX, PATTERNS_MAX, SCHEMA_BYTES_MAX, SCHEMA_CHAIN_MAX, SCHEMA_DEPTH_MAX,
    SUBSCHEMAS_MAX,
};

/// Why a document can't serve as a schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// A schema is an object or a truth value.
    #[error("a schema is an object, `true` or `false`, and `{0}` is not")]
    NotASchema(String),
    /// Too many bytes.
    #[error("a schema has at most {SCHEMA_BYTES_MAX} bytes")]
    TooLong,
    /// Too many levels.
    #[error("a schema has at most {SCHEMA_DEPTH_MAX} levels")]
    TooDeep,
    /// Too many schemas in one.
    #[error("a schema has at most {SUBSCHEMAS_MAX} schemas inside")]
    TooMany,
    /// Another version of JSON Schema.
    #[error("`$schema` must be https://json-schema.org/draft/2020-12/schema, the only dialect that is known here")]
    Dialect,
    /// `$id` below the top.
    #[error("`$id` may stand at the top of a schema only")]
    NestedId,
    /// A reference that does not lead to a schema of the same document.
    #[error("the reference `{0}` must lead to another schema of the same document, such as #/$defs/name")]
    Reference(String),
    /// A reference that leads back to itself without taking anything of the value.
    #[error("the schema at `{0}` refers to itself without end")]
    Circular(String),
    /// References and combinations in a row that is too long.
    #[error("at most {SCHEMA_CHAIN_MAX} references and combinations may lead to one another for one value")]
    TooChained,
    /// Alternatives that multiply.
    #[error("a value may be checked against at most {CHECKS_PER_VALUE_MAX} schemas: these alternatives multiply")]
    TooMuchWork,
    /// A pattern that is too long, or one too many.
    #[error("a schema has at most {PATTERNS_MAX} patterns of at most {PATTERN_BYTES_MAX} bytes")]
    Patterns,
    /// An input that is not declared an object. Section 6.4.
    #[error("an input schema must have `type` set to \"object\"")]
    NotAnObject,
    /// An input that takes what it does not declare. Section 6.4.
    #[error("an input schema must have `additionalProperties` set to false")]
    NotStrict,
    /// Not valid under Draft 2020-12, or a pattern that no linear engine runs.
    #[error("not a valid schema: {0}")]
    Invalid(String),
}

/// The first thing that is wrong with a value, for its sender to put right. Section 13.2.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// What is wrong, in a sentence that does not repeat the value.
    pub detail: String,
    /// Where in the value, as a JSON Pointer; "" is the whole of it.
    pub field: String,
    /// Which rule of the schema, as a JSON Pointer; "" when it is none of the schema's.
    pub schema_path: String,
}

impl Violation {
    /// A violation of a rule that stands in no schema.
    pub fn new(field: impl Into<String>, detail: impl Into<String>) -> Violation {
        Violation { detail: detail.into(), field: field.into(), schema_path: String::new() }
    }

    /// The same of one field of the value.
    pub fn of_field(name: &str, detail: impl Into<String>) -> Violation {
        Violation::new(format!("/{}", escaped(name)), detail)
    }
}
