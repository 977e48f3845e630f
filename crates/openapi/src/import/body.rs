//! The fields of a request body, whatever it is composed of.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::dialect::is_flagged;
use super::notes::{Doubt, UNKNOWN_REFERENCE};
use crate::document::{OpenApiDocument, reference};
use crate::limits::{JOINED_DEPTH_MAX, JOINED_PARTS_MAX};

/// Fields by name, as the document declares them, and what their joining gave up.
#[derive(Debug, Default)]
pub(super) struct Fields {
    pub(super) declared: BTreeMap<String, (Value, bool)>,
    /// Whether the body is said to be an object, or reads as one.
    pub(super) is_object: bool,
    /// Whether it may be something else, such as a list.
    pub(super) is_other: bool,
    /// Whether it may have members that it does not name.
    pub(super) is_open: bool,
    pub(super) notes: BTreeSet<Doubt>,
}

/// The fields of a body: its own, those of all it is composed of, and those of any alternative.
pub(super) fn fields(document: &OpenApiDocument, schema: &Value) -> Fields {
    Walk { document, open: Vec::new(), left: JOINED_PARTS_MAX }.fields(schema)
}

/// A walk through a body and all that it is composed of.
struct Walk<'a> {
    document: &'a OpenApiDocument,
    /// What leads to the place where it is: references, and "" for being a part of something.
    open: Vec<&'a str>,
    /// Schemas that may still be looked at. Few that refer to each other can stand for very many.
    left: usize,
}

impl<'a> Walk<'a> {
    fn fields(&mut self, schema: &'a Value) -> Fields {
        let mut fields = Fields::default();
        let Some(left) = self.left.checked_sub(1) else {
            fields.notes.insert(Doubt::new("the body is composed of too much: what is beyond is left out"));
            return fields;
        };
        // A count of all, beside the depth: sixteen levels of three references each come to forty million.
        self.left = left;
        if let Some(pointer) = reference(schema) {
            if self.open.contains(&pointer) || self.open.len() >= JOINED_DEPTH_MAX {
                fields.notes.insert(Doubt::new("the body contains itself: what repeats is left out"));
                return fields;
            }
            match self.document.target(pointer) {
                Ok(target) => fields.and(self.within(pointer, |walk| walk.fields(target))),
                Err(fault) => drop(fields.notes.insert(Doubt::about(UNKNOWN_REFERENCE, fault))),
            }
        }
        let Some(keywords) = schema.as_object() else { return fields };
        fields.and(self.own(keywords));
        if self.open.len() < JOINED_DEPTH_MAX {
            self.within("", |walk| walk.parts(keywords, &mut fields));
        }
        fields
    }

    /// The fields of a schema itself. What is read-only can't be sent, so that nothing requires it there.
    fn own(&self, keywords: &Map<String, Value>) -> Fields {
        let mut fields = own(keywords);
        for (schema, needed) in fields.declared.values_mut() {
            *needed &= !is_flagged(self.document, schema, "readOnly");
        }
        fields
    }

    fn parts(&mut self, keywords: &'a Map<String, Value>, fields: &mut Fields) {
        for part in listed(keywords, "allOf") {
            fields.and(self.fields(part));
        }
        for keyword in ["oneOf", "anyOf"] {
            let ways: Vec<Fields> = listed(keywords, keyword).map(|part| self.fields(part)).collect();
            if !ways.is_empty() {
                fields.and(any_of(ways));
            }
        }
    }

    fn within<T>(&mut self, place: &'a str, look: impl FnOnce(&mut Self) -> T) -> T {
        self.open.push(place);
        let found = look(self);
        self.open.pop();
        found
    }
}

fn listed<'a>(keywords: &'a Map<String, Value>, keyword: &str) -> impl Iterator<Item = &'a Value> {
    keywords.get(keyword).and_then(Value::as_array).into_iter().flatten()
}

/// What a schema itself declares.
fn own(keywords: &Map<String, Value>) -> Fields {
    let mut fields = Fields::default();
    let types = keywords.get("type");
    let names_object = |kind: &Value| kind == "object";
    let is_object =
        types.is_some_and(|t| names_object(t) || t.as_array().is_some_and(|all| all.iter().any(names_object)));
    let properties = keywords.get("properties").and_then(Value::as_object);
    // Many documents leave `type` out and write `properties` alone.
    fields.is_object = is_object || (types.is_none() && properties.is_some());
    fields.is_other = types.is_some_and(|kind| *kind != "null") && !is_object;
    let required: Vec<&str> = listed(keywords, "required").filter_map(Value::as_str).collect();
    for (name, schema) in properties.into_iter().flatten() {
        fields.declared.insert(name.clone(), (schema.clone(), required.contains(&name.as_str())));
    }
    // Declared elsewhere, and required here.
    for name in required.iter().filter(|name| properties.is_none_or(|all| !all.contains_key(**name))) {
        fields.declared.insert((*name).to_owned(), (json!({}), true));
    }
    let takes_more = matches!(keywords.get("additionalProperties"), Some(Value::Bool(true) | Value::Object(_)));
    let says_nothing = properties.is_none() && keywords.get("additionalProperties") != Some(&Value::Bool(false));
    fields.is_open = takes_more || says_nothing || keywords.contains_key("patternProperties");
    if !fields.declared.is_empty() && (takes_more || keywords.contains_key("patternProperties")) {
        fields
            .notes
            .insert(Doubt::new("the service takes fields that have no name here; only named ones are let through"));
    }
    for keyword in ["minProperties", "maxProperties", "dependentSchemas"] {
        if keywords.contains_key(keyword) {
            fields.notes.insert(Doubt::about("the service alone checks a part of the body", format!("`{keyword}`")));
        }
    }
    fields
}

/// What any one of several ways declares: what all of them require is required.
fn any_of(ways: Vec<Fields>) -> Fields {
    let mut joined = Fields {
        is_object: ways.iter().any(|way| way.is_object),
        is_other: ways.iter().any(|way| way.is_other),
        is_open: ways.iter().any(|way| way.is_open),
        ..Fields::default()
    };
    let everywhere =
        |name: &str| ways.iter().all(|way| way.declared.get(name).is_some_and(|(_, is_required)| *is_required));
    let names: BTreeSet<String> = ways.iter().flat_map(|way| way.declared.keys().cloned()).collect();
    let required: BTreeSet<String> = names.into_iter().filter(|name| everywhere(name)).collect();
    for way in ways {
        joined.notes.extend(way.notes);
        for (name, (schema, _)) in way.declared {
            let is_required = required.contains(&name);
            join(&mut joined.declared, name, schema, is_required, "anyOf");
        }
    }
    joined
}

/// Adds a field; one of the same name that is declared otherwise stays beside it.
fn join(declared: &mut BTreeMap<String, (Value, bool)>, name: String, schema: Value, is_required: bool, how: &str) {
    let Some((known, was_required)) = declared.get_mut(&name) else {
        declared.insert(name, (schema, is_required));
        return;
    };
    *was_required |= is_required;
    let says_nothing = |schema: &Value| schema.as_object().is_some_and(Map::is_empty);
    if *known == schema || says_nothing(&schema) {
        return;
    }
    if says_nothing(known) {
        *known = schema;
        return;
    }
    match known.get_mut(how).and_then(Value::as_array_mut).filter(|ways| ways.len() > 1) {
        Some(ways) if ways.contains(&schema) => {}
        Some(ways) => ways.push(schema),
        None => *known = json!({ how: [known.take(), schema] }),
    }
}

impl Fields {
    /// Takes in what must hold too.
    fn and(&mut self, other: Fields) {
        self.is_object |= other.is_object;
        self.is_other |= other.is_other;
        self.is_open |= other.is_open;
        self.notes.extend(other.notes);
        for (name, (schema, is_required)) in other.declared {
            join(&mut self.declared, name, schema, is_required, "allOf");
        }
    }
}
