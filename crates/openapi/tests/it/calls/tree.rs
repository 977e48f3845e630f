//! Words of a value, whatever it is made of.

use std::collections::BTreeMap;

use serde_json::Value;

/// Whether each word of one value is in the other, as often.
///
/// # Errors
/// The first that is not.
pub(super) fn is_within(given: &Value, arrived: &Value) -> Result<(), String> {
    let mut counts = BTreeMap::new();
    words(arrived, &mut |word| *counts.entry(word).or_insert(0_i64) += 1);
    let mut lost = None;
    words(given, &mut |word| {
        let left = counts.entry(word.clone()).or_insert(0);
        *left -= 1;
        if *left < 0 {
            lost.get_or_insert(word);
        }
    });
    lost.map_or(Ok(()), Err)
}

fn words(value: &Value, give: &mut dyn FnMut(String)) {
    match value {
        Value::Null => {}
        Value::Array(items) => items.iter().for_each(|item| words(item, give)),
        Value::Object(members) => members.values().for_each(|member| words(member, give)),
        Value::String(text) if text.contains(',') => text.split(',').for_each(|part| give(part.to_owned())),
        Value::String(text) => give(text.clone()),
        Value::Number(number) => give(number.as_f64().map_or_else(String::new, |float| float.to_string())),
        Value::Bool(truth) => give(truth.to_string()),
    }
}
