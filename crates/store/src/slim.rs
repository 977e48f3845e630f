//! This module drops the second copy of texts before they are stored: the JSON of a text part has `content` and `text`,
//! for readers of both spellings, and our own storage needs one.

use forecourt_core::StoreError;
use serde::Serialize;
use serde_json::Value;

fn json<T: Serialize>(value: &T) -> Result<Value, StoreError> {
    serde_json::to_value(value).map_err(|e| StoreError::Corrupt(format!("a value has no JSON form: {e}")))
}

/// Something with `parts`, such as a turn or an outcome.
pub(crate) fn with_parts<T: Serialize>(value: &T) -> Result<Value, StoreError> {
    let mut value = json(value)?;
    slim_parts(&mut value);
    Ok(value)
}

/// Something with `turns`, each with its parts.
pub(crate) fn with_turns<T: Serialize>(value: &T) -> Result<Value, StoreError> {
    let mut value = json(value)?;
    value.get_mut("turns").and_then(Value::as_array_mut).into_iter().flatten().for_each(slim_parts);
    Ok(value)
}

/// An event, which may be a part.
pub(crate) fn event<T: Serialize>(value: &T) -> Result<Value, StoreError> {
    let mut value = json(value)?;
    value.get_mut("part").into_iter().for_each(slim);
    Ok(value)
}

fn slim_parts(value: &mut Value) {
    value.get_mut("parts").and_then(Value::as_array_mut).into_iter().flatten().for_each(slim);
}

/// Drops `text` from a text part. What lies inside a data part is the caller's and stays as it is, also where it looks
/// like a text part.
fn slim(part: &mut Value) {
    if let Some(fields) = part.as_object_mut().filter(|fields| fields.get("kind").is_some_and(|kind| kind == "text"))
        && fields.contains_key("content")
    {
        fields.remove("text");
    }
}

#[cfg(test)]
mod tests {
    use forecourt_core::reply::CollectedReply;
    use forecourt_core::{Ending, Event, Part, Role, Turn};
    use serde_json::json;

    use super::*;

    fn count(value: &Value, word: &str) -> usize {
        value.to_string().matches(word).count()
    }

    #[test]
    fn words_are_written_once_and_read_back() {
        let turn = Turn::text(Role::User, "dinner");
        let outcome = CollectedReply::new(vec![Part::markdown("dinner")], Ending::Complete);
        let said = Event::Part(Part::text("dinner"));
        let (a, b, c) = (with_parts(&turn).unwrap(), with_parts(&outcome).unwrap(), event(&said).unwrap());
        assert_eq!([count(&a, "dinner"), count(&b, "dinner"), count(&c, "dinner")], [1, 1, 1]);
        assert_eq!(serde_json::from_value::<Turn>(a).unwrap(), turn);
        assert_eq!(serde_json::from_value::<CollectedReply>(b).unwrap(), outcome);
        assert_eq!(serde_json::from_value::<Event>(c).unwrap(), said);
        assert_eq!(count(&with_turns(&json!({ "turns": [turn] })).unwrap(), "dinner"), 1);
    }

    #[test]
    fn what_a_caller_sent_as_data_stays_as_it_is() {
        let data = json!({"kind": "data", "mime": "application/json",
                          "data": {"parts": [{"kind": "text", "content": "a", "text": "a"}]}});
        let part: Part = serde_json::from_value(data).unwrap();
        let outcome = CollectedReply::new(vec![part], Ending::Complete);
        let written = with_parts(&outcome).unwrap();
        assert_eq!(serde_json::from_value::<CollectedReply>(written).unwrap(), outcome);
    }
}
