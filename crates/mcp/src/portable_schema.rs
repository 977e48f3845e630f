//! Schemas as every client reads them. Some map a tool's schemas onto a language that has one type for each value and
//! nothing that means "any value": what is written otherwise is written anew here, and means the same.

use serde_json::{Map, Value, json};

/// Keywords that only describe: a schema of nothing else accepts any value.
const ANNOTATIONS: [&str; 9] =
    ["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment", "x-mcp-header"];
/// Keywords whose value is a schema by each name.
const MAPS: [&str; 5] = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];
/// Keywords whose value is a list of schemas.
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose value is a schema.
const SINGLE: [&str; 6] = ["items", "contains", "propertyNames", "if", "then", "else"];
/// Keywords whose value is a schema, or says yes or no, which every client reads.
const OPEN: [&str; 4] = ["additionalProperties", "additionalItems", "unevaluatedProperties", "unevaluatedItems"];
/// The types of JSON.
const TYPES: [&str; 6] = ["string", "number", "boolean", "object", "array", "null"];

/// The same schema in a form that more clients read. What it accepts stays.
pub(crate) fn portable(schema: Value) -> Value {
    match schema {
        Value::Bool(true) => any_value(Map::new()),
        Value::Bool(false) => json!({"not": {}}),
        Value::Object(fields) if !constrains(&fields) => any_value(fields),
        Value::Object(fields) => Value::Object(within(fields)),
        other => other,
    }
}

/// Whether a schema turns any value away.
fn constrains(fields: &Map<String, Value>) -> bool {
    fields.keys().any(|keyword| !ANNOTATIONS.contains(&keyword.as_str()))
}

/// The schema of any value, described by `annotations`.
fn any_value(mut annotations: Map<String, Value>) -> Value {
    annotations.insert("anyOf".to_owned(), each_type(TYPES.iter().map(|name| (*name).into())));
    annotations.into()
}

fn each_type(types: impl Iterator<Item = Value>) -> Value {
    types.map(|name| json!({"type": name})).collect()
}

/// The keywords of a schema, with the schemas in them.
fn within(fields: Map<String, Value>) -> Map<String, Value> {
    let mut fields: Map<String, Value> = fields.into_iter().map(keyword).collect();
    split_types(&mut fields);
    fields
}

/// A keyword with the schemas in it. Values of others, such as `const` and `default`, are data.
fn keyword((name, value): (String, Value)) -> (String, Value) {
    let value = match value {
        Value::Object(all) if MAPS.contains(&name.as_str()) => {
            all.into_iter().map(|(name, schema)| (name, portable(schema))).collect()
        }
        Value::Array(all) if LISTS.contains(&name.as_str()) || name == "items" => {
            all.into_iter().map(portable).collect()
        }
        Value::Object(open) if OPEN.contains(&name.as_str()) && !constrains(&open) => Value::Bool(true),
        Value::Object(schema) if OPEN.contains(&name.as_str()) => Value::Object(within(schema)),
        // Nothing is what `not` of any value accepts: an empty schema is the shortest way to say so.
        Value::Object(schema) if name == "not" => Value::Object(within(schema)),
        schema if SINGLE.contains(&name.as_str()) => portable(schema),
        other => other,
    };
    (name, value)
}

/// A list of types as one of several schemas with a type each.
fn split_types(fields: &mut Map<String, Value>) {
    let types = match fields.get_mut("type") {
        Some(Value::Array(types)) => std::mem::take(types),
        _ => return,
    };
    if let [only] = &types[..] {
        fields.insert("type".to_owned(), only.clone());
        return;
    }
    fields.remove("type");
    let any_of = each_type(types.into_iter());
    if !fields.contains_key("anyOf") {
        fields.insert("anyOf".to_owned(), any_of);
        return;
    }
    // Another `allOf` than a list is no schema by any dialect: whoever wrote it hears of that elsewhere.
    if let Value::Array(all) = fields.entry("allOf").or_insert_with(|| json!([])) {
        all.push(json!({"anyOf": any_of}));
    }
}

#[cfg(test)]
mod tests {
    use forecourt_contract::Schema;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lists_of_types_are_alternatives_and_nothing_is_without_a_type() {
        let any = || {
            json!([{"type": "string"}, {"type": "number"}, {"type": "boolean"}, {"type": "object"},
            {"type": "array"}, {"type": "null"}])
        };
        for (written, listed) in [
            (
                json!({"type": ["string", "null"], "minLength": 1}),
                json!({"minLength": 1, "anyOf": [{"type": "string"}, {"type": "null"}]}),
            ),
            (json!({"type": ["string"]}), json!({"type": "string"})),
            (
                json!({"type": ["string", "null"], "anyOf": [{"minLength": 2}]}),
                json!({"anyOf": [{"minLength": 2}], "allOf": [{"anyOf": [{"type": "string"}, {"type": "null"}]}]}),
            ),
            (json!({"type": "array", "items": {}}), json!({"type": "array", "items": {"anyOf": any()}})),
            (
                json!({"properties": {"a": {"description": "Anything."}, "b": true, "c": false}}),
                json!({"properties": {"a": {"description": "Anything.", "anyOf": any()}, "b": {"anyOf": any()},
                    "c": {"not": {}}}}),
            ),
            (json!({"additionalProperties": {}}), json!({"additionalProperties": true})),
            (
                json!({"additionalProperties": false, "const": {"items": {}}, "default": [{}]}),
                json!({"additionalProperties": false, "const": {"items": {}}, "default": [{}]}),
            ),
        ] {
            assert_eq!(portable(written.clone()), listed, "{written}");
        }
    }

    /// Schemas with everything in them that is written anew.
    fn schema() -> impl Strategy<Value = Value> {
        let name = || proptest::sample::select(&TYPES[..]);
        let leaf = prop_oneof![
            Just(json!({})),
            any::<bool>().prop_map(Value::from),
            Just(json!({"description": "x"})),
            proptest::collection::btree_set(name(), 1..4).prop_map(|types| json!({"type": types})),
            name().prop_map(|name| json!({"type": name})),
            Just(json!({"const": {"a": {}}})),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                (inner.clone(), inner.clone()).prop_map(|(a, b)| json!({"properties": {"a": a, "b": b}})),
                inner.clone().prop_map(|items| json!({"type": ["array", "null"], "items": items})),
                inner.clone().prop_map(|more| json!({"type": "object", "additionalProperties": more})),
                inner.clone().prop_map(|not| json!({"not": not})),
                (inner.clone(), inner).prop_map(|(a, b)| json!({"type": ["object", "string"], "anyOf": [a, b]})),
            ]
        })
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<u8>().prop_map(Value::from),
            "[ab]{0,2}".prop_map(Value::from)
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                proptest::collection::btree_map("[ab]", inner, 0..3)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_schema_accepts_what_it_accepted(schema in schema(), values in proptest::collection::vec(value(), 8)) {
            let listed = portable(schema.clone());
            prop_assert_eq!(portable(listed.clone()), listed.clone());
            let compiled = |schema: &Value| Schema::output(schema.clone(), false);
            if let (Ok(before), Ok(after)) = (compiled(&schema), compiled(&listed)) {
                for value in values {
                    prop_assert_eq!(before.check(&value).is_ok(), after.check(&value).is_ok(), "{} {}", schema, value);
                }
            }
        }
    }
}
