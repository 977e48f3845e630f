//! The flat form in which clients older than 0.55 ask: `GET /ask?query=…`.

use serde_json::{Map, Value, json};
use url::form_urlencoded;

use crate::fault::Fault;
use crate::limits::QUERY_STRING_BYTES_MAX;
use crate::wire::Dialect;

/// Formats that only the current version has a name for.
const CURRENT_FORMAT: &str = "conversational_search";
/// Parameters of old clients that mean nothing here.
const PASSED_OVER: [&str; 6] = ["query_id", "model", "retrieval_backend", "oauth_id", "user_id", "thread_id"];

/// A query string as the request that it stands for. Unknown parameters are filters. What comes more
/// than once counts as it came first, but for `prev`.
pub(crate) fn request(query: &str) -> Result<Value, Fault> {
    if query.len() > QUERY_STRING_BYTES_MAX {
        return Err(Fault::TooLarge(QUERY_STRING_BYTES_MAX));
    }
    let (mut asked, mut context, mut prefer, mut meta) = (Map::new(), Map::new(), Map::new(), Map::new());
    let mut prev = Vec::new();
    for (key, value) in form_urlencoded::parse(query.as_bytes()) {
        let (into, name, value): (&mut Map<String, Value>, &str, Value) = match &*key {
            "query" => (&mut asked, "text", text(&value)),
            "prev" => {
                prev.extend(earlier(&value));
                continue;
            }
            "memory" => (&mut context, "memory", text(&value)),
            "streaming" => (&mut prefer, "streaming", flag(&value)),
            "mode" | "generate_mode" => (&mut prefer, "mode", text(&value)),
            "format" | "response_format" => (&mut prefer, "response_format", text(&value)),
            "lang" => (&mut prefer, "accept-language", text(&value)),
            "version" | "api_version" => (&mut meta, "version", text(&value)),
            "conversation_id" => (&mut meta, "session_context", json!({"conversation_id": value})),
            other if PASSED_OVER.contains(&other) => continue,
            other => (&mut asked, other, text(&value)),
        };
        into.entry(name).or_insert(value);
    }
    let is_current = prefer.get("response_format").and_then(Value::as_str) == Some(CURRENT_FORMAT);
    if !meta.contains_key("version") && !is_current {
        meta.insert("version".to_owned(), Dialect::V0_54.version().into());
    }
    if !prev.is_empty() {
        context.insert("prev".to_owned(), prev.into());
    }
    Ok(json!({"query": asked, "context": context, "prefer": prefer, "meta": meta}))
}

fn text(value: &str) -> Value {
    Value::String(value.to_owned())
}

/// What is neither yes nor no stays as it is, for the reader to object to.
fn flag(value: &str) -> Value {
    match value.to_ascii_lowercase().as_str() {
        "true" | "1" => Value::Bool(true),
        "false" | "0" => Value::Bool(false),
        _ => text(value),
    }
}

/// Earlier queries: a JSON array, or one of them.
fn earlier(value: &str) -> Vec<Value> {
    match serde_json::from_str(value) {
        Ok(Value::Array(items)) => items,
        _ if value.is_empty() => Vec::new(),
        _ => vec![text(value)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_parameters_stand_for_a_request_of_0_54() {
        let read = request("query=soup+%26+bread&site=chef&prev=%5B%22a%22%5D&prev=b&streaming=false&itemType=Recipe")
            .expect("the query string is short");
        assert_eq!(
            read,
            json!({
                "query": {"text": "soup & bread", "site": "chef", "itemType": "Recipe"},
                "context": {"prev": ["a", "b"]},
                "prefer": {"streaming": false},
                "meta": {"version": "0.54"},
            })
        );
    }

    #[test]
    fn a_version_or_a_format_of_today_is_taken_at_its_word() {
        let version = |query: &str| request(query).expect("short")["meta"]["version"].clone();
        assert_eq!(version("query=a&version=0.55"), "0.55");
        assert_eq!(version("query=a&response_format=conversational_search"), Value::Null);
        assert_eq!(version("query=a&format=conv_search"), "0.54");
    }

    #[test]
    fn query_strings_are_bounded() {
        let of = |bytes: usize| request(&format!("query={}", "a".repeat(bytes - "query=".len())));
        assert!(of(QUERY_STRING_BYTES_MAX).is_ok());
        assert_eq!(of(QUERY_STRING_BYTES_MAX + 1), Err(Fault::TooLarge(QUERY_STRING_BYTES_MAX)));
    }
}
