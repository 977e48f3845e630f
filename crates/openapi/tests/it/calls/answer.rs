//! What a service answers: a value of the best success that the document declares.

use serde_json::Value;

use super::given::{Texts, valid_inputs};
use super::modern::{Document, Way};

/// Status, media type and body, the first of these that the document declares.
pub(super) fn answer(document: &Document, operation: &Value) -> (u16, Option<String>, Vec<u8>) {
    let responses = operation["responses"].as_object().cloned().unwrap_or_default();
    let mut successes: Vec<(&String, &Value)> =
        responses.iter().filter(|(status, _)| status.starts_with('2')).collect();
    successes.extend(responses.iter().filter(|(status, _)| status.starts_with('3') || *status == "default"));
    let Some((status, response)) = successes.first() else { return (204, None, Vec::new()) };
    let status = status.parse().unwrap_or(200);
    let response = document.resolve(response);
    let Some((media, content)) = response["content"]
        .as_object()
        .and_then(|content| content.iter().find(|(media, _)| media.contains("json")).or_else(|| content.iter().next()))
    else {
        return (status, None, Vec::new());
    };
    if !media.contains("json") && !media.contains('*') {
        return (status, Some(media.clone()), b"a,b\n1,2".to_vec());
    }
    let schema = document.schema(content.get("schema").unwrap_or(&Value::Bool(true)), Way::Answered);
    // Documents have patterns of other languages, by which nothing can be held to them.
    let validator = jsonschema::draft202012::options().build(&schema).ok();
    let value = valid_inputs(&schema, Texts::Any, &|value| {
        validator.as_ref().is_none_or(|validator| validator.is_valid(value))
    })
    .unwrap_or(Value::Null);
    (status, Some(media.clone()), value.to_string().into_bytes())
}
