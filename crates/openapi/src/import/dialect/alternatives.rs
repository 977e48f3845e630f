//! Whether alternatives exclude each other, so that holding callers to one of them refuses nothing that is meant.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::in_place;
use crate::document::OpenApiDocument;

/// Alternatives that are compared with each other; more of them are said to overlap.
const WAYS_MAX: usize = 24;

/// What every value of an alternative has.
#[derive(Default)]
struct Outline<'a> {
    /// `None`: any.
    types: Option<BTreeSet<&'a str>>,
    required: BTreeSet<&'a str>,
    /// The values that properties are fixed to.
    fixed: BTreeMap<&'a str, Vec<&'a Value>>,
}

/// Whether of any two alternatives each has values that the other has not, as far as types, required properties
/// and fixed values say.
pub(super) fn are_apart(document: &OpenApiDocument, ways: &[Value]) -> bool {
    if ways.len() > WAYS_MAX {
        return false;
    }
    let outlines: Vec<Outline<'_>> = ways.iter().map(|way| outline(document, way)).collect();
    let pairs =
        outlines.iter().enumerate().flat_map(|(at, one)| outlines[at + 1..].iter().map(move |other| (one, other)));
    pairs.into_iter().all(|(one, other)| is_apart(one, other))
}

fn outline<'a>(document: &'a OpenApiDocument, way: &'a Value) -> Outline<'a> {
    let mut outline = Outline::default();
    in_place::each(document, way, &mut |keywords| {
        let types = match keywords.get("type") {
            Some(Value::String(kind)) => Some(BTreeSet::from([kind.as_str()])),
            Some(Value::Array(kinds)) => Some(kinds.iter().filter_map(Value::as_str).collect()),
            _ => None,
        };
        outline.types = outline.types.take().or(types);
        let required = keywords.get("required").and_then(Value::as_array).into_iter().flatten();
        outline.required.extend(required.filter_map(Value::as_str));
        for (name, schema) in keywords.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let several = schema.get("enum").and_then(Value::as_array).map(|values| values.iter().collect());
            let values = schema.get("const").map(|value| vec![value]).or(several);
            outline.fixed.extend(values.map(|values| (name.as_str(), values)));
        }
    });
    outline
}

fn is_apart(one: &Outline<'_>, other: &Outline<'_>) -> bool {
    let plain = |types: &BTreeSet<&str>| -> BTreeSet<String> {
        types.iter().map(|kind| if *kind == "integer" { "number".to_owned() } else { (*kind).to_owned() }).collect()
    };
    let types = one.types.as_ref().zip(other.types.as_ref());
    if types.is_some_and(|(one, other)| plain(one).is_disjoint(&plain(other))) {
        return true;
    }
    let is_required = |name: &str| one.required.contains(name) || other.required.contains(name);
    let differ = one.fixed.iter().any(|(name, values)| {
        // A property that both may leave out tells nothing apart.
        let others = other.fixed.get(name).filter(|_| is_required(name));
        others.is_some_and(|others| values.iter().all(|value| !others.contains(value)))
    });
    differ || (!one.required.is_subset(&other.required) && !other.required.is_subset(&one.required))
}
