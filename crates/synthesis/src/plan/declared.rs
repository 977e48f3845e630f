//! Results cut down to what a contract declares. What is proposed is what is given, and nothing beside it.

use serde_json::Value;

use crate::limits::FOLLOWED_MAX;
use crate::shape::{Member, Shape};

/// A result without the members that a schema says nothing of. Where a schema lets further members in on purpose, or
/// is one of several, nothing is taken out.
pub(crate) fn declared_only(schema: &Value, result: &mut Value) {
    cut(Shape::whole(schema), result, FOLLOWED_MAX);
}

fn cut(shape: Shape<'_>, value: &mut Value, left: usize) {
    let Some(left) = left.checked_sub(1) else { return };
    let shape = shape.unless_null();
    match value {
        Value::Array(elements) => {
            let items = shape.items();
            let [items] = items.as_slice() else { return };
            elements.iter_mut().for_each(|element| cut(*items, element, left));
        }
        Value::Object(members) => {
            let declared = shape.declared();
            if declared.is_empty() || is_open(shape) {
                return;
            }
            members.retain(|name, _| declared.contains(&name.as_str()));
            for (name, member) in members {
                if let Member::Known(schemas, _) = shape.member(name)
                    && let [schema] = schemas.as_slice()
                {
                    cut(*schema, member, left);
                }
            }
        }
        _ => {}
    }
}

/// Whether a schema says itself that there may be more, or leaves open which of several it is.
fn is_open(shape: Shape<'_>) -> bool {
    const KEYWORDS: [&str; 7] =
        ["patternProperties", "anyOf", "oneOf", "if", "dependentSchemas", "unevaluatedProperties", "$dynamicRef"];
    let more = |shape: &Shape<'_>| {
        let lets_in = shape.keyword("additionalProperties").is_some_and(|more| *more != Value::Bool(false));
        lets_in || KEYWORDS.iter().any(|keyword| shape.keyword(keyword).is_some())
    };
    shape.conjuncts().iter().any(more)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn cut_to(schema: &Value, mut result: Value) -> Value {
        declared_only(schema, &mut result);
        result
    }

    #[test]
    fn what_is_not_declared_is_taken_out_at_every_depth() {
        let schema = json!({"type": "object", "properties": {
            "name": {"type": "string"},
            "lines": {"type": "array", "items": {"type": "object", "properties": {"price": {}}}},
            "any": {},
        }});
        let result = json!({"name": "n", "secret": 1, "lines": [{"price": 2, "cost": 1}], "any": {"kept": 1}});
        assert_eq!(cut_to(&schema, result), json!({"name": "n", "lines": [{"price": 2}], "any": {"kept": 1}}));
    }

    #[test]
    fn what_a_schema_lets_in_stays() {
        for schema in [
            json!({"type": "object"}),
            json!({"properties": {"a": {}}, "additionalProperties": true}),
            json!({"properties": {"a": {}}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}),
        ] {
            assert_eq!(cut_to(&schema, json!({"a": 1, "b": 2})), json!({"a": 1, "b": 2}), "{schema}");
        }
    }

    proptest! {
        #[test]
        fn a_schema_that_refers_to_itself_ends(depth in 0..60_usize) {
            let schema = json!({"type": "object", "properties": {"next": {"$ref": "#"}}});
            let value = (0..depth).fold(json!({}), |inner, _| json!({"next": inner, "more": 1}));
            cut_to(&schema, value);
        }
    }
}
