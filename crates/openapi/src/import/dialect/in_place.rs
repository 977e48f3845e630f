//! What the schemas of one value say together: a schema, those that it is composed of, and those that they
//! refer to.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::document::{OpenApiDocument, reference};
use crate::limits::IN_PLACE_PARTS_MAX;

/// Which of the schemas of a value are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parts {
    /// Those that always hold.
    All,
    /// Alternatives too.
    Any,
}

/// Whether a schema has a flag, by itself or by what it is composed of.
pub(in crate::import) fn is_flagged(document: &OpenApiDocument, schema: &Value, flag: &str) -> bool {
    let mut found = false;
    visit(document, schema, Parts::All, &mut |keywords| found |= keywords.get(flag) == Some(&Value::Bool(true)));
    found
}

/// Properties of a value that have a flag, whichever of its schemas says so.
pub(super) fn flagged(document: &OpenApiDocument, schema: &Value, flag: &str) -> BTreeSet<String> {
    properties_with(document, schema, flag, Parts::All)
}

/// The same, where an alternative says so.
pub(super) fn flagged_in_any(document: &OpenApiDocument, schema: &Value, flag: &str) -> BTreeSet<String> {
    properties_with(document, schema, flag, Parts::Any)
}

fn properties_with(document: &OpenApiDocument, schema: &Value, flag: &str, parts: Parts) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    visit(document, schema, parts, &mut |keywords| {
        let properties = keywords.get("properties").and_then(Value::as_object).into_iter().flatten();
        let with = properties.filter(|(_, schema)| is_flagged(document, schema, flag));
        found.extend(with.map(|(name, _)| name.clone()));
    });
    found
}

/// Properties that a value declares or requires, in any of its schemas.
pub(super) fn named(document: &OpenApiDocument, schema: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    visit(document, schema, Parts::Any, &mut |keywords| {
        let properties = keywords.get("properties").and_then(Value::as_object).into_iter().flatten();
        found.extend(properties.map(|(name, _)| name.clone()));
        let required = keywords.get("required").and_then(Value::as_array).into_iter().flatten();
        found.extend(required.filter_map(Value::as_str).map(str::to_owned));
    });
    found
}

/// Shows each schema of a value that always holds, once.
pub(super) fn each<'a>(document: &'a OpenApiDocument, schema: &'a Value, look: &mut dyn FnMut(&'a Map<String, Value>)) {
    visit(document, schema, Parts::All, look);
}

/// Shows each schema of a value once. Few that refer to each other can stand for very many, so that there is an
/// end to it.
fn visit<'a>(
    document: &'a OpenApiDocument,
    schema: &'a Value,
    parts: Parts,
    look: &mut dyn FnMut(&'a Map<String, Value>),
) {
    let (mut open, mut followed, mut left) = (vec![schema], BTreeSet::new(), IN_PLACE_PARTS_MAX);
    while let (Some(schema), Some(less)) = (open.pop(), left.checked_sub(1)) {
        left = less;
        let Some(keywords) = schema.as_object() else { continue };
        if let Some(pointer) = reference(schema).filter(|pointer| followed.insert(*pointer)) {
            open.extend(document.target(pointer).ok());
        }
        look(keywords);
        let lists: &[&str] = if parts == Parts::All { &["allOf"] } else { &["allOf", "anyOf", "oneOf"] };
        open.extend(lists.iter().filter_map(|list| keywords.get(*list)?.as_array()).flatten());
    }
}
