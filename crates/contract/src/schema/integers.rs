//! This module rewrites integers that were written with a fraction of zero. JSON Schema takes `1.0` for an integer,
//! while JSON libraries hand on a float, which a handler that expects an integer refuses.

use serde_json::{Map, Value};

use super::target;

/// Pairs of schema and value that one walk visits, since alternatives multiply; what is left stays as it was written.
const STEPS_MAX: usize = 100_000;
/// Schemas and values within one another, as many as JSON may be deep.
const DEPTH_MAX: usize = 256;
/// Floats beyond this are not told apart from their neighbours by `i64`: 2^63.
const INTEGER_BOUND: f64 = 9_223_372_036_854_775_808.0;

/// Rewrites every number of `value` that `schema` declares an integer and that is one.
pub(super) fn written_plainly(schema: &Value, value: &mut Value) {
    Walk { root: schema, steps: STEPS_MAX, depth: 0 }.visit(schema, value);
}

struct Walk<'a> {
    root: &'a Value,
    steps: usize,
    depth: usize,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, schema: &'a Value, value: &mut Value) {
        let (Some(schema), Some(steps)) = (schema.as_object(), self.steps.checked_sub(1)) else { return };
        if self.depth == DEPTH_MAX {
            return;
        }
        (self.steps, self.depth) = (steps, self.depth + 1);
        self.look(schema, value);
        self.depth -= 1;
    }

    fn look(&mut self, schema: &'a Map<String, Value>, value: &mut Value) {
        if says_integer(schema) {
            rewrite(value);
        }
        if let Some(next) = schema.get("$ref").and_then(Value::as_str).and_then(|to| target(self.root, to)) {
            self.visit(next, value);
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            schema.get(key).and_then(Value::as_array).into_iter().flatten().for_each(|one| self.visit(one, value));
        }
        for key in ["then", "else"] {
            schema.get(key).into_iter().for_each(|one| self.visit(one, value));
        }
        match value {
            Value::Object(fields) => self.fields(schema, fields),
            Value::Array(items) => self.items(schema, items),
            _ => {}
        }
    }

    fn fields(&mut self, schema: &'a Map<String, Value>, fields: &mut Map<String, Value>) {
        let declared = schema.get("properties").and_then(Value::as_object);
        for (name, value) in fields {
            let own = declared.and_then(|declared| declared.get(name));
            if let Some(next) = own.or_else(|| schema.get("additionalProperties")) {
                self.visit(next, value);
            }
        }
    }

    fn items(&mut self, schema: &'a Map<String, Value>, items: &mut [Value]) {
        let first = schema.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (at, value) in items.iter_mut().enumerate() {
            if let Some(next) = first.get(at).or_else(|| schema.get("items")) {
                self.visit(next, value);
            }
        }
    }
}

fn says_integer(schema: &Map<String, Value>) -> bool {
    match schema.get("type") {
        Some(Value::String(name)) => name == "integer",
        Some(Value::Array(names)) => names.iter().any(|name| name == "integer"),
        _ => false,
    }
}

fn rewrite(value: &mut Value) {
    let float = value.as_f64().filter(|_| value.is_f64());
    if let Some(float) = float.filter(|float| float.fract() == 0.0 && float.abs() < INTEGER_BOUND) {
        // Exact: it has no fraction and lies within the range.
        *value = (float as i64).into();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn plain(schema: Value, mut value: Value) -> Value {
        written_plainly(&schema, &mut value);
        value
    }

    #[test]
    fn s5_5_what_is_declared_an_integer_is_one_wherever_it_stands() {
        let whole = json!({"type": "integer"});
        let schema = json!({
            "type": "object",
            "$defs": {"count": {"type": ["integer", "null"]}},
            "properties": {
                "n": whole, "ref": {"$ref": "#/$defs/count"}, "any": {"anyOf": [{"type": "string"}, whole]},
                "list": {"type": "array", "prefixItems": [{"type": "number"}], "items": whole},
                "map": {"additionalProperties": whole}, "float": {"type": "number"}, "free": {},
            },
        });
        let sent = json!({
            "n": 1.0, "ref": -2.0, "any": 3.0, "list": [4.0, 5.0], "map": {"a": 6.0}, "float": 7.0, "free": 8.0,
        });
        let taken = json!({
            "n": 1, "ref": -2, "any": 3, "list": [4.0, 5], "map": {"a": 6}, "float": 7.0, "free": 8.0,
        });
        // Equality of numbers would not tell them apart.
        assert_eq!(plain(schema, sent).to_string(), taken.to_string());
    }

    #[test]
    fn what_is_none_stays_what_it_is() {
        let schema = json!({"type": "integer"});
        for value in [json!(1.5), json!(1e300), json!("1.0"), json!(true), json!(null), json!(u64::MAX)] {
            assert_eq!(plain(schema.clone(), value.clone()).to_string(), value.to_string());
        }
        assert_eq!(plain(schema, json!(-0.0)).to_string(), "0");
    }

    #[test]
    fn a_schema_that_leads_back_to_itself_comes_to_an_end() {
        let schema = json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}], "type": "integer"});
        assert_eq!(plain(schema, json!(2.0)).to_string(), "2");
    }

    proptest! {
        #[test]
        fn no_value_changes_what_it_is_worth(float in any::<f64>()) {
            let value = json!(float);
            let after = plain(json!({"type": "integer"}), value.clone());
            prop_assert_eq!(after.as_f64(), value.as_f64());
        }
    }
}
