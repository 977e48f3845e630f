//! How much a value is, before it is handed on.

use forecourt_core::limits::JSON_DEPTH_MAX;
use serde_json::{Map, Value};

/// Quotes, a comma or a colon.
const PUNCTUATION: usize = 3;

/// About as many bytes as a value has in JSON. `None`: it is nested deeper than JSON from outside may
/// be, so that those who take it would go too deep.
pub(super) fn weight(value: &Value) -> Option<usize> {
    weigh(value, JSON_DEPTH_MAX)
}

/// [`weight`] of an object.
pub(super) fn weight_of_all(fields: &Map<String, Value>) -> Option<usize> {
    all(fields, JSON_DEPTH_MAX - 1)
}

fn all(fields: &Map<String, Value>, levels_left: usize) -> Option<usize> {
    fields.iter().map(|(name, value)| Some(name.len() + PUNCTUATION + weigh(value, levels_left)?)).sum()
}

fn weigh(value: &Value, levels_left: usize) -> Option<usize> {
    let inside = match value {
        Value::Null | Value::Bool(_) => 4,
        Value::Number(number) => number.to_string().len(),
        Value::String(text) => text.len(),
        Value::Array(items) => {
            let levels_left = levels_left.checked_sub(1)?;
            items.iter().map(|item| weigh(item, levels_left)).sum::<Option<usize>>()?
        }
        Value::Object(fields) => all(fields, levels_left.checked_sub(1)?)?,
    };
    Some(inside + PUNCTUATION)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn nested(levels: usize) -> Value {
        (0..levels).fold(json!(1), |inner, level| if level % 2 == 0 { json!([inner]) } else { json!({ "a": inner }) })
    }

    #[test]
    fn what_is_nested_too_deep_has_no_weight() {
        assert!(weight(&nested(JSON_DEPTH_MAX)).is_some());
        assert_eq!(weight(&nested(JSON_DEPTH_MAX + 1)), None);
    }

    #[test]
    fn a_weight_is_about_the_length_in_json() {
        for value in [json!(null), json!("room"), json!([1, 22, 333]), json!({"a": {"b": [true, "x"]}, "c": 1.5})] {
            let (weight, length) = (weight(&value).unwrap(), value.to_string().len());
            assert!(length <= weight && weight <= 4 * length, "{value}: {weight} for {length}");
        }
    }
}
