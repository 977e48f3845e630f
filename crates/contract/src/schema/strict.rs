//! This module closes nested objects of a schema against properties that are not declared. Section 13.3.
//!
//! "Fields not declared in the schema" is read to hold at every level: an object that declares
//! properties and says nothing of others takes no others. What an author wrote about them stands,
//! and an object without declared properties stays free.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::target;

/// The schema of an input with its nested objects closed; the outermost one is closed already.
pub(super) fn closed(schema: &Value) -> Value {
    close_inside(schema, schema)
}

/// The same, the outermost object included, even where it is declared open: that is how outputs are
/// declared, and who asks for strict ones means these. Section 13.3.
pub(super) fn closed_all(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Value::Object(keywords) = &mut schema
        && keywords.get("additionalProperties") == Some(&Value::Bool(true))
    {
        keywords.remove("additionalProperties");
    }
    close(&schema, &schema)
}

/// Closes a schema that stands for a value of its own.
fn close(schema: &Value, root: &Value) -> Value {
    let mut closed = close_inside(schema, root);
    if let Value::Object(keywords) = &mut closed
        && declares(schema, root, &mut BTreeSet::new())
        && !["additionalProperties", "unevaluatedProperties"].iter().any(|word| keywords.contains_key(*word))
    {
        // Not `additionalProperties`, which sees only the `properties` beside it and would refuse those of an `allOf`.
        keywords.insert("unevaluatedProperties".to_owned(), Value::Bool(false));
    }
    closed
}

/// Closes the schemas for what is inside the value, and leaves this one and those that are checked
/// in place of it open: they see only a part of what is declared.
fn close_inside(schema: &Value, root: &Value) -> Value {
    let Value::Object(keywords) = schema else { return schema.clone() };
    let changed = keywords.iter().map(|(keyword, value)| (keyword.clone(), changed(keyword, value, root)));
    Value::Object(changed.collect::<Map<_, _>>())
}

fn changed(keyword: &str, value: &Value, root: &Value) -> Value {
    match keyword {
        "properties" | "patternProperties" => each(value, |schema| close(schema, root)),
        "items" | "additionalProperties" | "unevaluatedProperties" | "unevaluatedItems" => close(value, root),
        "prefixItems" => each(value, |schema| close(schema, root)),
        "allOf" | "anyOf" | "oneOf" | "dependentSchemas" | "$defs" | "definitions" => {
            each(value, |schema| close_inside(schema, root))
        }
        "then" | "else" => close_inside(value, root),
        // Conditions (`if`, `contains`, `not`) stay as they are: closing what is negated would let
        // through what was refused.
        _ => value.clone(),
    }
}

fn each(value: &Value, change: impl Fn(&Value) -> Value) -> Value {
    match value {
        Value::Array(schemas) => Value::Array(schemas.iter().map(change).collect()),
        Value::Object(named) => {
            Value::Object(named.iter().map(|(name, schema)| (name.clone(), change(schema))).collect())
        }
        other => other.clone(),
    }
}

/// Whether a schema, or one checked in place of it, declares properties. Each reference is followed
/// once.
fn declares<'a>(schema: &'a Value, root: &'a Value, followed: &mut BTreeSet<&'a str>) -> bool {
    let Value::Object(keywords) = schema else { return false };
    if keywords.contains_key("properties") || keywords.contains_key("patternProperties") {
        return true;
    }
    let reference = keywords.get("$ref").and_then(Value::as_str).filter(|reference| followed.insert(reference));
    let referred = reference.and_then(|reference| target(root, reference));
    let in_place = ["allOf", "anyOf", "oneOf"].iter().filter_map(|word| keywords.get(*word)?.as_array()).flatten();
    let conditional = ["if", "then", "else"].iter().filter_map(|word| keywords.get(*word));
    in_place.chain(conditional).chain(referred).any(|schema| declares(schema, root, followed))
}
