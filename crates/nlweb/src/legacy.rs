//! The flat form in which clients older than 0.55 ask: `GET /ask?query=…`.

use serde_json::{Map, Value, json};
use url::form_urlencoded;

use crate::api_error::ApiError;
use crate::limits::QUERY_STRING_BYTES_MAX;
use crate::wire::Dialect;

/// Formats that only the current version has a name for.
const CURRENT_FORMAT: &str = "conversational_search";
/// Members of a request of today.
const CURRENT: [&str; 4] = ["query", "context", "prefer", "meta"];
/// Parameters that may also stand in the address of a POST.
const PAGING: [&str; 4] = ["max_results", "num_results", "start_num", "decontextualized_query"];
/// Parameters of old clients that mean nothing here.
const PASSED_OVER: [&str; 6] = ["query_id", "model", "retrieval_backend", "oauth_id", "user_id", "thread_id"];

/// A query string as the request that it stands for. Unknown parameters are filters. What comes more
/// than once counts as it came first, but for `prev`.
pub(crate) fn request(query: &str) -> Result<Value, ApiError> {
    if query.len() > QUERY_STRING_BYTES_MAX {
        return Err(ApiError::TooLarge(QUERY_STRING_BYTES_MAX));
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
        // The first counts, so that a parameter of the address goes before the body behind it.
        into.entry(name).or_insert(value);
    }
    let is_current = prefer.get("response_format").and_then(Value::as_str) == Some(CURRENT_FORMAT);
    // Who asks in the flat form without a version is an old client, unless it names a format that only 0.55 has.
    if !meta.contains_key("version") && !is_current {
        meta.insert("version".to_owned(), Dialect::V0_54.version().into());
    }
    if !prev.is_empty() {
        context.insert("prev".to_owned(), prev.into());
    }
    Ok(json!({"query": asked, "context": context, "prefer": prefer, "meta": meta}))
}

/// The body of a POST as the request that it stands for: as it is, or of the flat form when its `query` is a string.
/// What the query string of its address says goes before, as clients of 0.54 page through an answer.
pub(crate) fn unflattened(body: Value, query: &str) -> Result<Value, ApiError> {
    let Value::Object(fields) = body else { return Ok(body) };
    let in_address = !query.is_empty();
    // A string alone is a mistake of today's clients, not the form of yesterday's, which send more than that.
    let is_flat = match fields.get("query") {
        None => in_address && !fields.contains_key("promise_token"),
        Some(asked) => asked.is_string() && fields.keys().any(|key| !CURRENT.contains(&key.as_str())),
    };
    if !in_address && !is_flat {
        return Ok(fields.into());
    }
    let flat = |fields: Map<String, Value>| {
        let pairs = fields.into_iter().flat_map(|(key, value)| match value {
            Value::Null => Vec::new(),
            Value::String(text) => vec![(key, text)],
            other => vec![(key, other.to_string())],
        });
        let written: String = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        written
    };
    if is_flat {
        let body = flat(fields);
        return request(&if in_address { format!("{query}&{body}") } else { body });
    }
    if !fields.get("query").is_some_and(Value::is_object) {
        return Ok(fields.into());
    }
    let mut whole = Value::Object(fields);
    for (key, value) in form_urlencoded::parse(query.as_bytes()).filter(|(key, _)| PAGING.contains(&&**key)) {
        whole["query"][&*key] = text(&value);
    }
    Ok(whole)
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
    fn a_flat_body_and_an_address_stand_for_the_same() {
        let flat =
            json!({"query": "soup", "site": "all", "streaming": false, "prev": ["a"], "max_results": 3, "db": null});
        let read = unflattened(flat, "start_num=5").expect("it is short");
        assert_eq!(
            read,
            json!({
                "query": {"text": "soup", "site": "all", "max_results": "3", "start_num": "5"},
                "context": {"prev": ["a"]},
                "prefer": {"streaming": false},
                "meta": {"version": "0.54"},
            })
        );
        let whole = json!({"query": {"text": "soup"}});
        assert_eq!(unflattened(whole.clone(), "").expect("as it is"), whole);
        let paged = unflattened(whole, "start_num=5&site=other").expect("it is short");
        assert_eq!(paged, json!({"query": {"text": "soup", "start_num": "5"}}));
        assert_eq!(unflattened(json!({"meta": {}}), "").expect("as it is"), json!({"meta": {}}));
        for wrong in [json!({"query": "soup"}), json!({"query": "soup", "meta": {}}), json!({"query": 3, "site": "a"})]
        {
            assert_eq!(unflattened(wrong.clone(), "").expect("as it is"), wrong);
            assert_eq!(unflattened(wrong.clone(), "start_num=1").expect("as it is"), wrong);
        }
        assert_eq!(unflattened(json!({}), "query=soup").expect("flat")["query"]["text"], "soup");
    }

    #[test]
    fn query_strings_are_bounded() {
        let of = |bytes: usize| request(&format!("query={}", "a".repeat(bytes - "query=".len())));
        assert!(of(QUERY_STRING_BYTES_MAX).is_ok());
        assert_eq!(of(QUERY_STRING_BYTES_MAX + 1), Err(ApiError::TooLarge(QUERY_STRING_BYTES_MAX)));
    }
}
