//! Values that are no objects, out of the object in which servers wrap them: `structuredContent` has to be one, so that
//! FastMCP and the SDKs give a list, a number or a text as `{"result": …}`.

use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde_json::Value;

/// The member that holds a wrapped value.
const MEMBER: &str = "result";
/// What FastMCP says in the output schema of a tool whose results are wrapped.
const SCHEMA_MARK: &str = "x-fastmcp-wrap-result";

/// The value that the structure of a result only wraps. `None` where the structure is meant as it is: it has another
/// member, or nothing says that it wraps. Said it is by the tool's output schema, where that is known, by the
/// result's metadata, or by its texts, which give the value alone.
pub(crate) fn unwrapped(result: &CallToolResult, output_schema: Option<&JsonObject>) -> Option<Value> {
    let fields = result.structured_content.as_ref()?.as_object()?;
    let value = fields.get(MEMBER).filter(|_| fields.len() == 1)?;
    let by_schema = output_schema.and_then(|schema| schema.get(SCHEMA_MARK)) == Some(&Value::Bool(true));
    let is_wrapped = by_schema || is_marked(result) || is_said(&result.content, value);
    is_wrapped.then(|| value.clone())
}

/// Whether the metadata of a result says so, as FastMCP's does.
fn is_marked(result: &CallToolResult) -> bool {
    let mark = result.meta.as_ref().and_then(|meta| meta.0.get("fastmcp")?.get("wrap_result"));
    mark == Some(&Value::Bool(true))
}

/// Whether the content gives a value and nothing else. A list may have a text for each of its elements, as the SDK of
/// Python gives it, and nothing has none.
fn is_said(content: &[ContentBlock], value: &Value) -> bool {
    let texts: Option<Vec<&str>> = content.iter().map(text).collect();
    match (texts.as_deref(), value) {
        (Some([]), Value::Null) => true,
        (Some([one]), value) if says(one, value) => true,
        (Some(texts), Value::Array(elements)) => {
            texts.len() == elements.len() && texts.iter().zip(elements).all(|(text, element)| says(text, element))
        }
        _ => false,
    }
}

fn text(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Text(text) => Some(&text.text),
        _ => None,
    }
}

/// Whether a text is a value: a text itself, or anything in JSON.
pub(crate) fn says(text: &str, value: &Value) -> bool {
    value.as_str() == Some(text) || serde_json::from_str::<Value>(text).is_ok_and(|said| said == *value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn result(structured: &Value, texts: &[&str]) -> CallToolResult {
        let content: Vec<Value> = texts.iter().map(|text| json!({"type": "text", "text": text})).collect();
        serde_json::from_value(json!({"content": content, "structuredContent": structured})).expect("a result")
    }

    #[test]
    fn texts_that_give_the_value_alone_say_that_it_is_wrapped() {
        for (value, texts) in [
            (json!("hi"), vec!["hi"]),
            (json!("{\"a\": 1}"), vec!["{\"a\": 1}"]),
            (json!(42), vec!["42"]),
            (json!(true), vec!["true"]),
            (json!(null), vec![]),
            (json!([]), vec![]),
            (json!(["pea", "leek"]), vec!["[\"pea\",\"leek\"]"]),
            (json!(["pea", "leek"]), vec!["pea", "leek"]),
            (json!([{"n": 1}, {"n": 2}]), vec!["{\n  \"n\": 1\n}", "{\"n\": 2}"]),
            (json!({"n": 1}), vec!["{\"n\":1}"]),
        ] {
            assert_eq!(unwrapped(&result(&json!({"result": value}), &texts), None), Some(value), "{texts:?}");
        }
    }

    #[test]
    fn a_structure_that_means_itself_stays() {
        for (structured, texts) in [
            (json!({"result": "hi"}), vec!["{\"result\": \"hi\"}"]),
            (json!({"result": "hi"}), vec!["Done."]),
            (json!({"result": "hi"}), vec![]),
            (json!({"result": ["a", "b"]}), vec!["a"]),
            (json!({"result": "hi", "more": 1}), vec!["hi"]),
            (json!({"answer": "hi"}), vec!["hi"]),
            (json!([1]), vec!["[1]"]),
            (json!(null), vec!["hi"]),
        ] {
            assert_eq!(unwrapped(&result(&structured, &texts), None), None, "{structured} {texts:?}");
        }
    }

    #[test]
    fn marks_of_fastmcp_are_believed_whatever_the_texts_say() {
        let structured = json!({"result": [1, 2]});
        let Value::Object(schema) = json!({"type": "object", SCHEMA_MARK: true}) else { unreachable!() };
        assert_eq!(unwrapped(&result(&structured, &["Two."]), Some(&schema)), Some(json!([1, 2])));
        assert_eq!(unwrapped(&result(&structured, &["Two."]), Some(&JsonObject::new())), None);
        let marked =
            json!({"content": [], "structuredContent": structured, "_meta": {"fastmcp": {"wrap_result": true}}});
        assert_eq!(unwrapped(&serde_json::from_value(marked).expect("a result"), None), Some(json!([1, 2])));
    }
}
