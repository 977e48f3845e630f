//! Schemas that stand alone: parts of the documents of others, without references, so that they can stand in a new
//! document.

use forecourt_contract::Schema;
use serde_json::{Map, Value, json};

use crate::limits::{COPIED_SCHEMAS_MAX, FOLLOWED_MAX};
use crate::shape::{Kinds, Shape};

/// Keywords that hold one schema.
const ONE: [&str; 10] = [
    "items",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "propertyNames",
    "contains",
    "not",
    "if",
    "then",
    "else",
];
/// Keywords that hold a list of schemas.
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords that hold schemas by name.
const NAMED: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];
/// Keywords that mean something in their own document alone.
const LEFT_OUT: [&str; 9] =
    ["$schema", "$id", "$defs", "definitions", "$anchor", "$dynamicAnchor", "$ref", "$dynamicRef", "$vocabulary"];

/// A schema as one that stands alone. What is beyond the bounds, or refers to itself, is let through there; a
/// condition that can't be copied whole is left out, so that the copy never takes less than the original.
pub(super) fn standalone(shape: Shape<'_>) -> Value {
    Copy { left: COPIED_SCHEMAS_MAX }.of(shape, FOLLOWED_MAX).unwrap_or_else(|| kinds_alone(shape))
}

/// All of a document, for a document of its own: as it is where it compiles there.
pub(super) fn document(schema: &Schema) -> Value {
    let mut source = schema.source().clone();
    if let Value::Object(keywords) = &mut source {
        keywords.remove("$id");
    }
    source
}

struct Copy {
    left: usize,
}

impl Copy {
    /// `None`: it is beyond the bounds somewhere.
    fn of(&mut self, shape: Shape<'_>, depth: usize) -> Option<Value> {
        let Value::Object(keywords) = shape.source() else { return Some(shape.source().clone()) };
        // Depth ends a schema that refers to itself; the count ends one that only branches.
        let depth = depth.checked_sub(1)?;
        self.left = self.left.checked_sub(1)?;
        let mut copied = Map::new();
        for (keyword, value) in keywords.iter().filter(|(keyword, _)| !LEFT_OUT.contains(&keyword.as_str())) {
            copied.insert(keyword.clone(), self.keyword(keyword, value, shape, depth)?);
        }
        // What it leads to depends on the document that is around it, so a copy elsewhere would mean something else.
        if keywords.contains_key("$dynamicRef") {
            return None;
        }
        let Some(referred) = shape.referred() else { return Some(Value::Object(copied)) };
        let referred = self.of(referred, depth)?;
        Some(if copied.is_empty() { referred } else { both(referred, Value::Object(copied)) })
    }

    fn keyword(&mut self, keyword: &str, value: &Value, shape: Shape<'_>, depth: usize) -> Option<Value> {
        if ONE.contains(&keyword) {
            return self.of(shape.within(value), depth);
        }
        match value {
            Value::Array(list) if LISTS.contains(&keyword) => {
                list.iter().map(|at| self.of(shape.within(at), depth)).collect::<Option<Vec<_>>>().map(Value::Array)
            }
            Value::Object(named) if NAMED.contains(&keyword) => {
                let copied = named.iter().map(|(name, at)| Some((name.clone(), self.of(shape.within(at), depth)?)));
                copied.collect::<Option<Map<_, _>>>().map(Value::Object)
            }
            _ => Some(value.clone()),
        }
    }
}

/// A schema of what keeps two.
pub(super) fn both(one: Value, other: Value) -> Value {
    if one == other || other == json!({}) {
        return one;
    }
    if one == json!({}) { other } else { json!({ "allOf": [one, other] }) }
}

/// The kinds of value alone.
fn kinds_alone(shape: Shape<'_>) -> Value {
    let kinds = shape.kinds();
    let names = [
        ("null", Kinds::NULL),
        ("boolean", Kinds::BOOLEAN),
        ("object", Kinds::OBJECT),
        ("array", Kinds::ARRAY),
        ("string", Kinds::STRING),
        ("number", Kinds::NUMBER),
    ];
    let named: Vec<&str> = match kinds == Kinds::INTEGER {
        true => vec!["integer"],
        false => names.into_iter().filter(|(_, kind)| kinds.meets(*kind)).map(|(name, _)| name).collect(),
    };
    match named.as_slice() {
        _ if kinds == Kinds::ANY => json!({}),
        [one] => json!({ "type": one }),
        all => json!({ "type": all }),
    }
}
