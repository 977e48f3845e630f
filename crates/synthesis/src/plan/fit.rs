//! Whether what one schema lets through is what another one takes. [`contradicts`] is sure that nothing is;
//! [`satisfies`] is sure that everything is. Between the two nobody knows.

use std::cell::Cell;

use serde_json::Value;

use super::shape::{FOLLOWED_MAX, Kinds, Member, Shape};
use crate::limits::FIT_CHECKS_MAX;

/// Keywords that say nothing about values.
pub(super) const ANNOTATIONS: [&str; 16] = [
    "$schema",
    "$id",
    "$comment",
    "$defs",
    "definitions",
    "$anchor",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "contentMediaType",
    "contentEncoding",
    "contentSchema",
];

/// Bounds from below: whoever keeps a larger one keeps a smaller one. With the kind that they are about.
const AT_LEAST: [(&str, Kinds); 5] = [
    ("minLength", Kinds::STRING),
    ("minimum", Kinds::NUMBER),
    ("exclusiveMinimum", Kinds::NUMBER),
    ("minItems", Kinds::ARRAY),
    ("minProperties", Kinds::OBJECT),
];

/// Bounds from above.
const AT_MOST: [(&str, Kinds); 5] = [
    ("maxLength", Kinds::STRING),
    ("maximum", Kinds::NUMBER),
    ("exclusiveMaximum", Kinds::NUMBER),
    ("maxItems", Kinds::ARRAY),
    ("maxProperties", Kinds::OBJECT),
];

/// Keywords that hold where they are the same.
const SAME: [(&str, Kinds); 4] = [
    ("pattern", Kinds::STRING),
    ("format", Kinds::STRING),
    ("multipleOf", Kinds::NUMBER),
    ("uniqueItems", Kinds::ARRAY),
];

/// Whether no value of `source` is one of `wanted`.
pub(super) fn contradicts(source: Shape<'_>, wanted: Shape<'_>) -> bool {
    contradicts_within(source, wanted, FOLLOWED_MAX, &Cell::new(FIT_CHECKS_MAX))
}

fn contradicts_within(source: Shape<'_>, wanted: Shape<'_>, left: usize, checks: &Cell<u32>) -> bool {
    let (Some(left), true) = (left.checked_sub(1), spent(checks)) else { return false };
    let (given, taken) = (source.kinds(), wanted.kinds());
    if !given.meets(taken) {
        return true;
    }
    // Members decide only where there is nothing but objects.
    if given != Kinds::OBJECT || taken != Kinds::OBJECT {
        return false;
    }
    wanted.required().into_iter().any(|name| match (source.member(name), wanted.member(name)) {
        (Member::Never, _) | (_, Member::Never) => true,
        (Member::Known(given, _), Member::Known(taken, _)) => {
            // Halved, not reduced by one: each level branches, and the work would grow with the power of the depth.
            given.iter().any(|given| taken.iter().any(|taken| contradicts_within(*given, *taken, left / 2, checks)))
        }
        _ => false,
    })
}

/// Whether every value of `source` is one of `wanted`. `is_input`: `wanted` is of an input, whose nested objects
/// take nothing that they don't declare. Section 13.3.
pub(super) fn satisfies(source: Shape<'_>, wanted: Shape<'_>, is_input: bool) -> bool {
    Fit { is_input, checks: Cell::new(FIT_CHECKS_MAX) }.holds(source, wanted, FOLLOWED_MAX)
}

/// Whether every value is let through by `wanted`.
pub(super) fn takes_anything(wanted: Shape<'_>) -> bool {
    match wanted.source() {
        Value::Bool(takes) => *takes,
        Value::Object(keywords) => keywords.keys().all(|keyword| ANNOTATIONS.contains(&keyword.as_str())),
        _ => false,
    }
}

/// Counts a check. False: none is left.
fn spent(checks: &Cell<u32>) -> bool {
    let left = checks.get().checked_sub(1);
    checks.set(left.unwrap_or_default());
    left.is_some()
}

struct Fit {
    is_input: bool,
    checks: Cell<u32>,
}

impl Fit {
    fn holds(&self, source: Shape<'_>, wanted: Shape<'_>, left: usize) -> bool {
        let (Some(left), true) = (left.checked_sub(1), spent(&self.checks)) else { return false };
        if takes_anything(wanted) {
            return true;
        }
        let Value::Object(keywords) = wanted.source() else { return false };
        let conjuncts = source.conjuncts();
        // Each of several alternatives may do.
        let by_cases = conjuncts.iter().any(|shape| {
            ["anyOf", "oneOf"].into_iter().any(|keyword| {
                let mut branches = shape.list(keyword).map(|at| shape.within(at)).peekable();
                branches.peek().is_some() && branches.all(|branch| self.holds(branch, wanted, left / 2))
            })
        });
        let closes = keywords.contains_key("properties")
            && !["additionalProperties", "unevaluatedProperties"].iter().any(|word| keywords.contains_key(*word));
        let is_closed_enough = !(self.is_input && closes) || self.is_closed_to(&conjuncts, source, wanted);
        let keyword =
            |(keyword, value): (&String, &Value)| self.keyword(keyword, value, source, &conjuncts, wanted, left);
        by_cases || (is_closed_enough && keywords.iter().all(keyword))
    }

    fn keyword(
        &self,
        keyword: &str,
        value: &Value,
        source: Shape<'_>,
        conjuncts: &[Shape<'_>],
        wanted: Shape<'_>,
        left: usize,
    ) -> bool {
        if ANNOTATIONS.contains(&keyword) {
            return true;
        }
        let kinds = source.kinds();
        if let Some(keeps) = keeps_bound(keyword, value, kinds, conjuncts) {
            return keeps;
        }
        match keyword {
            "type" => kinds.is_within(Kinds::listed(value)),
            "const" => values(conjuncts).is_some_and(|values| values.iter().all(|found| *found == value)),
            "enum" => {
                let taken = value.as_array().map(Vec::as_slice).unwrap_or_default();
                values(conjuncts).is_some_and(|values| values.iter().all(|found| taken.contains(found)))
            }
            "items" => !kinds.meets(Kinds::ARRAY) || self.has_items(conjuncts, value, wanted, left),
            "required" => {
                let mut names = wanted.list("required").filter_map(Value::as_str);
                !kinds.meets(Kinds::OBJECT) || names.all(|name| source.requires(name))
            }
            "properties" => {
                let declared = value.as_object().into_iter().flatten();
                !kinds.meets(Kinds::OBJECT)
                    || declared.into_iter().all(|(name, at)| self.member(source, name, wanted.within(at), left))
            }
            "additionalProperties" | "unevaluatedProperties" => {
                !kinds.meets(Kinds::OBJECT)
                    || takes_anything(wanted.within(value))
                    || self.is_closed_to(conjuncts, source, wanted)
            }
            "$ref" => wanted.referred().is_some_and(|referred| self.holds(source, referred, left)),
            "allOf" => wanted.list("allOf").all(|at| self.holds(source, wanted.within(at), left / 2)),
            "anyOf" => wanted.list("anyOf").any(|at| self.holds(source, wanted.within(at), left / 2)),
            // What is left is not known to hold.
            _ => false,
        }
    }

    /// Whether the items of arrays of the source are all taken by `items`, a schema of `wanted`.
    fn has_items(&self, conjuncts: &[Shape<'_>], items: &Value, wanted: Shape<'_>, left: usize) -> bool {
        // Beside `prefixItems`, `items` speaks of the rest of a list only, and says nothing of its first places.
        let lists = conjuncts.iter().filter(|shape| shape.keyword("prefixItems").is_none());
        let mut given = lists.filter_map(|shape| Some(shape.within(shape.keyword("items")?)));
        wanted.keyword("prefixItems").is_none() && given.any(|given| self.holds(given, wanted.within(items), left / 2))
    }

    fn member(&self, source: Shape<'_>, name: &str, wanted: Shape<'_>, left: usize) -> bool {
        match source.member(name) {
            Member::Never => true,
            Member::Open => takes_anything(wanted),
            Member::Known(given, _) => {
                takes_anything(wanted) || given.iter().any(|given| self.holds(*given, wanted, left / 2))
            }
        }
    }

    /// Whether objects of the source have no member but those that `wanted` declares itself.
    fn is_closed_to(&self, conjuncts: &[Shape<'_>], source: Shape<'_>, wanted: Shape<'_>) -> bool {
        if !source.kinds().meets(Kinds::OBJECT) {
            return true;
        }
        let declared = |name: &str| wanted.properties().is_some_and(|properties| properties.contains_key(name));
        conjuncts.iter().any(|shape| {
            let names = shape.properties().into_iter().flat_map(|properties| properties.keys());
            shape.is_closed() && shape.keyword("patternProperties").is_none() && names.into_iter().all(|n| declared(n))
        })
    }
}

/// Whether a source keeps a keyword that bounds values of one kind. `None`: the keyword is none of those.
fn keeps_bound(keyword: &str, value: &Value, kinds: Kinds, conjuncts: &[Shape<'_>]) -> Option<bool> {
    let about = |bounds: &[(&str, Kinds)]| bounds.iter().find(|(name, _)| *name == keyword).map(|(_, about)| *about);
    let mut found = conjuncts.iter().filter_map(|shape| shape.keyword(keyword));
    if let Some(about) = about(&AT_LEAST) {
        return Some(!kinds.meets(about) || found.any(|found| found.as_f64() >= value.as_f64()));
    }
    if let Some(about) = about(&AT_MOST) {
        return Some(!kinds.meets(about) || found.any(|found| found.as_f64() <= value.as_f64()));
    }
    let about = about(&SAME)?;
    // `uniqueItems: false` asks for nothing.
    Some(value == &Value::Bool(false) || !kinds.meets(about) || found.any(|found| found == value))
}

/// The values that a source is one of, where it lists them.
fn values<'a>(conjuncts: &[Shape<'a>]) -> Option<Vec<&'a Value>> {
    conjuncts.iter().find_map(|shape| match (shape.keyword("const"), shape.keyword("enum")) {
        (Some(value), _) => Some(vec![value]),
        (None, Some(Value::Array(values))) => Some(values.iter().collect()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn surely(source: &Value, wanted: &Value) -> bool {
        satisfies(Shape::whole(source), Shape::whole(wanted), true)
    }

    #[test]
    fn s13_3_what_is_surely_taken_keeps_every_condition() {
        let text = json!({"type": "string"});
        let closed =
            json!({"type": "object", "properties": {"a": text}, "required": ["a"], "additionalProperties": false});
        for (source, wanted) in [
            (json!({"type": "integer", "minimum": 3}), json!({"type": ["number", "null"], "minimum": 0, "title": "x"})),
            (json!({"enum": ["a", "b"]}), json!({"enum": ["a", "b", "c"]})),
            (json!({"const": "a"}), json!({"type": "string", "enum": ["a"]})),
            (json!({"$ref": "#/$defs/a", "$defs": {"a": text}}), text.clone()),
            (text.clone(), json!({"anyOf": [{"type": "integer"}, {"type": "string"}]})),
            (json!({"anyOf": [{"const": 1}, {"const": "a"}]}), json!({"type": ["integer", "string"]})),
            (closed.clone(), closed.clone()),
            (
                json!({"type": "array", "items": {"type": "integer"}}),
                json!({"type": "array", "items": {"type": "number"}}),
            ),
            (json!({"allOf": [text, {"maxLength": 4}]}), json!({"type": "string", "maxLength": 5})),
        ] {
            assert!(surely(&source, &wanted), "{source} for {wanted}");
        }
        for (source, wanted) in [
            (json!({}), text.clone()),
            (json!({"type": "number"}), json!({"type": "integer"})),
            (text.clone(), json!({"type": "string", "pattern": "^a"})),
            (json!({"enum": ["a", "d"]}), json!({"enum": ["a", "b"]})),
            (json!({"type": "object", "properties": {"a": text}, "required": ["a"]}), closed.clone()),
            (text.clone(), json!({"oneOf": [{"type": "string"}, {"minLength": 1}]})),
            (text.clone(), json!({"not": {"const": "a"}})),
            (json!({"type": "array"}), json!({"type": "array", "items": text})),
        ] {
            assert!(!surely(&source, &wanted), "{source} for {wanted}");
        }
    }

    #[test]
    fn s10_6_6_only_what_can_not_be_is_a_contradiction() {
        let never = |source: Value, wanted: Value| contradicts(Shape::whole(&source), Shape::whole(&wanted));
        assert!(never(json!({"type": "string"}), json!({"type": ["number", "null"]})));
        assert!(never(json!({"const": 1}), json!({"type": "string"})));
        assert!(never(
            json!({"type": "object", "additionalProperties": false}),
            json!({"type": "object", "required": ["a"]})
        ));
        assert!(!never(json!({}), json!({"type": "string"})));
        assert!(!never(json!({"type": ["string", "null"]}), json!({"type": "string", "maxLength": 1})));
        assert!(!never(json!({"type": "object"}), json!({"type": "object", "required": ["a"]})));
    }

    #[test]
    fn a_comparison_ends_however_schemas_refer_to_themselves() {
        let all: serde_json::Map<String, Value> = (0..40).map(|at| (format!("p{at}"), json!({"$ref": "#"}))).collect();
        let schema = json!({"type": "object", "properties": all, "required": ["p0", "p39"]});
        assert!(!surely(&schema, &schema) && !contradicts(Shape::whole(&schema), Shape::whole(&schema)));
    }
}
