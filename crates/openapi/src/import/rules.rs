//! Which fields of a body go together: its alternatives and conditions, said of an input in which these fields
//! stand beside others.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::document::{OpenApiDocument, reference};
use crate::limits::{JOINED_DEPTH_MAX, JOINED_PARTS_MAX};

/// The rules of a body as keywords for the input. `names` are its fields, the service's names to ours; what is not
/// among them is none of the caller's business. Empty: there are none.
pub(super) fn rules(
    document: &OpenApiDocument,
    schema: &Value,
    names: &BTreeMap<String, String>,
) -> Map<String, Value> {
    let mut walk = Walk { document, names, open: Vec::new(), left: JOINED_PARTS_MAX };
    walk.rule(schema, true)
}

/// The rules of a body that may be left out: they hold where a field of it is given. `required` are fields, by
/// our names, that there are then.
pub(super) fn of_optional(
    names: &BTreeMap<String, String>,
    required: &[&str],
    rules: Map<String, Value>,
) -> Map<String, Value> {
    let (mut found, mut then) = (Map::new(), rules);
    if required.is_empty() && then.is_empty() {
        return found;
    }
    if then.is_empty() {
        let others = |own: &String| required.iter().filter(|name| *name != own).copied().collect::<Vec<_>>();
        let needs = names.values().map(|own| (own.clone(), json!(others(own))));
        let needs: Map<String, Value> = needs.filter(|(_, others)| *others != json!([])).collect();
        if !needs.is_empty() {
            found.insert("dependentRequired".to_owned(), Value::Object(needs));
        }
        return found;
    }
    if !required.is_empty() {
        then.insert("required".to_owned(), json!(required));
    }
    found.insert("if".to_owned(), any_given(names));
    found.insert("then".to_owned(), Value::Object(then));
    found
}

/// Whether any field of the body is given.
fn any_given(names: &BTreeMap<String, String>) -> Value {
    json!({ "anyOf": names.values().map(|name| json!({ "required": [name] })).collect::<Vec<_>>() })
}

struct Walk<'a> {
    document: &'a OpenApiDocument,
    names: &'a BTreeMap<String, String>,
    open: Vec<&'a str>,
    left: usize,
}

impl<'a> Walk<'a> {
    /// What a schema says of fields that go together. What it declares is said of the input itself where it is
    /// the `outermost` one.
    fn rule(&mut self, schema: &'a Value, outermost: bool) -> Map<String, Value> {
        let mut rule = Map::new();
        let (Some(keywords), Some(left)) = (schema.as_object(), self.left.checked_sub(1)) else { return rule };
        self.left = left;
        if self.open.len() >= JOINED_DEPTH_MAX {
            return rule;
        }
        let mut all = Vec::new();
        if let Some(pointer) = reference(schema).filter(|pointer| !self.open.contains(pointer))
            && let Ok(target) = self.document.target(pointer)
        {
            all.push(self.within(pointer, |walk| walk.rule(target, outermost)));
        }
        if !outermost {
            self.declared(keywords, &mut rule);
        }
        let listed = |keyword: &str| keywords.get(keyword).and_then(Value::as_array).into_iter().flatten();
        for part in listed("allOf") {
            all.push(self.within("", |walk| walk.rule(part, outermost)));
        }
        for keyword in ["anyOf", "oneOf"] {
            let ways: Vec<_> = listed(keyword).map(|way| self.within("", |walk| walk.rule(way, false))).collect();
            // A way that says nothing lets everything through.
            if !ways.is_empty() && ways.iter().all(|way| !way.is_empty()) {
                all.push(Map::from_iter([(keyword.to_owned(), json!(ways))]));
            }
        }
        self.conditions(keywords, &mut rule);
        if keywords.get("minProperties") == Some(&json!(1)) && !self.names.is_empty() {
            all.push(any_given(self.names).as_object().cloned().unwrap_or_default());
        }
        joined(rule, all)
    }

    fn within<T>(&mut self, place: &'a str, look: impl FnOnce(&mut Self) -> T) -> T {
        self.open.push(place);
        let found = look(self);
        self.open.pop();
        found
    }

    /// What a schema declares and requires, and what it takes nothing of.
    fn declared(&self, keywords: &Map<String, Value>, rule: &mut Map<String, Value>) {
        let properties = keywords.get("properties").and_then(Value::as_object);
        let ours = |(name, schema): (&String, &Value)| Some((self.names.get(name)?.clone(), schema.clone()));
        let mut own: Map<String, Value> = properties.into_iter().flatten().filter_map(ours).collect();
        let required = keywords.get("required").and_then(Value::as_array).into_iter().flatten();
        let required: Vec<&String> = required.filter_map(|name| self.names.get(name.as_str()?)).collect();
        if !required.is_empty() {
            rule.insert("required".to_owned(), json!(required));
        }
        let is_closed = keywords.get("additionalProperties") == Some(&Value::Bool(false));
        // `additionalProperties: false` can't stand in an alternative of ours, where fields of the path and the query
        // stand beside: each other field of the body is refused by name.
        if is_closed && !["allOf", "anyOf", "oneOf", "patternProperties"].iter().any(|key| keywords.contains_key(*key))
        {
            for other in self.names.values() {
                own.entry(other.clone()).or_insert(Value::Bool(false));
            }
        }
        if !own.is_empty() {
            rule.insert("properties".to_owned(), Value::Object(own));
        }
    }

    fn conditions(&mut self, keywords: &'a Map<String, Value>, rule: &mut Map<String, Value>) {
        for keyword in ["not", "if", "then", "else"] {
            let Some(schema) = keywords.get(keyword) else { continue };
            let said = self.within("", |walk| walk.rule(schema, false));
            // What is refused must be said wholly, or more would be refused.
            let is_whole = keyword != "not" || is_about_names(schema);
            if !said.is_empty() && is_whole {
                rule.insert(keyword.to_owned(), Value::Object(said));
            }
        }
        // Without its condition, `then` means nothing; left there, it would look as if it were checked.
        if !rule.contains_key("if") {
            rule.remove("then");
            rule.remove("else");
        }
        let lists = keywords.get("dependentRequired").and_then(Value::as_object).into_iter().flatten();
        let named = lists.filter_map(|(name, needs)| {
            let needs = needs.as_array()?.iter().filter_map(|need| self.names.get(need.as_str()?)).collect::<Vec<_>>();
            Some((self.names.get(name)?.clone(), json!(needs)))
        });
        let named: Map<String, Value> = named.collect();
        if !named.is_empty() {
            rule.insert("dependentRequired".to_owned(), Value::Object(named));
        }
    }
}

/// Whether a schema speaks of nothing but which fields there are.
fn is_about_names(schema: &Value) -> bool {
    let is_plain = |(keyword, value): (&String, &Value)| match keyword.as_str() {
        "required" => true,
        "anyOf" | "allOf" => value.as_array().is_some_and(|parts| parts.iter().all(is_about_names)),
        _ => false,
    };
    schema.as_object().is_some_and(|keywords| keywords.iter().all(is_plain))
}

/// A rule with all that must hold besides. A keyword that two of them have stands under `allOf`.
fn joined(mut rule: Map<String, Value>, all: Vec<Map<String, Value>>) -> Map<String, Value> {
    let mut beside = Vec::new();
    for more in all.into_iter().filter(|more| !more.is_empty()) {
        let is_apart =
            |key: &str| matches!(key, "if" | "then" | "else") && (rule.contains_key("if") || rule.contains_key("then"));
        match more.keys().any(|key| rule.contains_key(key) || is_apart(key)) {
            true => beside.push(more),
            false => rule.extend(more),
        }
    }
    match rule.get_mut("allOf").and_then(Value::as_array_mut) {
        Some(list) => list.extend(beside.into_iter().map(Value::Object)),
        None if beside.is_empty() => {}
        None => drop(rule.insert("allOf".to_owned(), json!(beside))),
    }
    rule
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(schema: Value) -> Value {
        let text = json!({ "openapi": "3.1.0", "components": { "schemas": { "B": { "anyOf": [schema] } } } });
        let document = OpenApiDocument::read(text.to_string().as_bytes()).unwrap();
        let names = ["a", "b", "c"].map(|name| (name.to_owned(), format!("my_{name}")));
        let schema = document.root()["components"]["schemas"]["B"]["anyOf"][0].clone();
        Value::Object(rules(&document, &schema, &BTreeMap::from(names)))
    }

    #[test]
    fn alternatives_are_said_of_our_names() {
        let ways = json!({"properties": {"a": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b", "id"]}]});
        assert_eq!(of(ways), json!({"anyOf": [{"required": ["my_a"]}, {"required": ["my_b"]}]}));
        let closed = json!({"oneOf": [
            {"properties": {"a": {"const": 1}}, "required": ["a"], "additionalProperties": false},
            {"required": ["b"]},
        ]});
        let first = json!({"required": ["my_a"], "properties": {"my_a": {"const": 1}, "my_b": false, "my_c": false}});
        assert_eq!(of(closed), json!({"oneOf": [first, {"required": ["my_b"]}]}));
        assert_eq!(of(json!({"anyOf": [{"required": ["a"]}, {"title": "anything"}]})), json!({}));
    }

    #[test]
    fn several_rules_hold_at_once() {
        let both =
            json!({"allOf": [{"anyOf": [{"required": ["a"]}]}, {"oneOf": [{"required": ["b"]}]}], "minProperties": 1});
        let rules = of(both);
        assert_eq!(rules["anyOf"], json!([{"required": ["my_a"]}]));
        assert_eq!(rules["oneOf"], json!([{"required": ["my_b"]}]));
        assert_eq!(rules["allOf"].as_array().unwrap().len(), 1, "{rules}");
        assert_eq!(of(json!({"not": {"required": ["a", "b"]}})), json!({"not": {"required": ["my_a", "my_b"]}}));
        assert_eq!(of(json!({"not": {"properties": {"a": {}}}})), json!({}), "it would refuse too much");
    }

    #[test]
    fn a_body_that_may_be_left_out_is_whole_where_it_is_there() {
        let names = BTreeMap::from(["a", "b"].map(|name| (name.to_owned(), name.to_owned())));
        let found = of_optional(&names, &["a"], Map::new());
        assert_eq!(Value::Object(found), json!({"dependentRequired": {"b": ["a"]}}));
        assert!(of_optional(&names, &[], Map::new()).is_empty());
        let rules = Map::from_iter([("not".to_owned(), json!({"required": ["b"]}))]);
        let found = Value::Object(of_optional(&names, &["a"], rules));
        assert_eq!(found["then"], json!({"required": ["a"], "not": {"required": ["b"]}}));
    }
}
