//! This module writes what language models used for an answer as JSON, for protocols with a place for metadata.

use forecourt_core::usage::{AnswerUsage, ModelUsage};
use serde_json::{Map, Value, json};

/// The key under which it is: our own, so that no protocol can mean something else by it.
pub const USAGE_KEY: &str = "forecourt/usage";

/// Millionths in a unit of money.
const MICROS: f64 = 1e6;

/// The usage as JSON. `None` where no model was asked, and where the reader may not see it (then `usage` is empty).
pub fn usage_json(usage: &AnswerUsage) -> Option<Value> {
    if usage.is_empty() {
        return None;
    }
    let mut object = json!({"models": usage.models().iter().map(line).collect::<Vec<_>>()});
    if let Some(micros) = usage.cost_micros() {
        object["cost"] = units(micros).into();
    }
    Some(object)
}

/// Puts the usage under [`USAGE_KEY`], unless it is empty.
pub fn put_usage(metadata: &mut Map<String, Value>, usage: &AnswerUsage) {
    if let Some(used) = usage_json(usage) {
        metadata.insert(USAGE_KEY.to_owned(), used);
    }
}

/// Money in units, from millionths.
#[expect(clippy::cast_precision_loss, reason = "no answer costs 2^52 millionths")]
pub fn units(micros: u64) -> f64 {
    micros as f64 / MICROS
}

fn line(used: &ModelUsage) -> Value {
    let mut line = json!({
        "model": used.model,
        "requests": used.requests,
        "input_tokens": used.input_tokens,
        "cached_tokens": used.cached_tokens,
        "output_tokens": used.output_tokens,
    });
    if let Some(micros) = used.cost_micros {
        line["cost"] = units(micros).into();
    }
    if used.is_estimated {
        line["estimated"] = true.into();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_of_no_model_and_no_cost_where_there_is_no_price() {
        let mut metadata = Map::new();
        put_usage(&mut metadata, &AnswerUsage::default());
        assert!(metadata.is_empty());
        let mut usage = AnswerUsage::default();
        let small = ModelUsage { model: "small".to_owned(), requests: 1, input_tokens: 9, ..ModelUsage::default() };
        usage.add(small);
        put_usage(&mut metadata, &usage);
        let line = json!({"model": "small", "requests": 1, "input_tokens": 9, "cached_tokens": 0, "output_tokens": 0});
        assert_eq!(Value::from(metadata.clone()), json!({"forecourt/usage": {"models": [line]}}));
        let large = ModelUsage { model: "large".to_owned(), cost_micros: Some(1_500), ..ModelUsage::default() };
        usage.add(ModelUsage { is_estimated: true, ..large });
        let told = usage_json(&usage).unwrap();
        assert_eq!((&told["cost"], &told["models"][1]["cost"]), (&json!(0.0015), &json!(0.0015)), "{told}");
        assert_eq!(told["models"][1]["estimated"], true);
    }
}
