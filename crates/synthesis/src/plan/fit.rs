//! Whether what one schema lets through can be what another one takes. Bounds, such as the least length of a text, are
//! checked when a call is made, and rule nothing out before.

use std::cell::Cell;

use crate::limits::FIT_CHECKS_MAX;
use crate::meaning::KEYWORD;
use crate::shape::{FOLLOWED_MAX, Kinds, Member, Shape};

/// Keywords that say nothing about values.
pub(super) const ANNOTATIONS: [&str; 17] = [
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
    KEYWORD,
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

/// Counts a check. False: none is left.
fn spent(checks: &Cell<u32>) -> bool {
    let left = checks.get().checked_sub(1);
    checks.set(left.unwrap_or_default());
    left.is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

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
        assert!(!contradicts(Shape::whole(&schema), Shape::whole(&schema)));
    }
}
