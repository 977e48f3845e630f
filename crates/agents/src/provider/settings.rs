//! The keys that every section with a provider has: `base_url`, `api_key`, `headers`, `body`, `temperature`.

use std::collections::BTreeMap;

use forecourt_settings::{Problems, Section};
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use serde_json::{Map, Value};

use crate::http::settings::fields;
use crate::settings::upstream_url;

/// Where chats are completed, from the key `base_url`.
pub fn url(section: &Section, base_url: &str, problems: &mut Problems) -> String {
    upstream_url(section, "base_url", base_url, problems);
    format!("{}/chat/completions", base_url.trim_end_matches('/'))
}

/// The fields in the head of each request: those of the key `headers`, and that of `api_key`, which nothing
/// prints.
pub fn headers(
    section: &Section,
    more: &BTreeMap<String, String>,
    api_key: Option<&str>,
    problems: &mut Problems,
) -> HeaderMap {
    let mut headers = fields(section, more, problems);
    if let Some(key) = api_key.filter(|key| !key.is_empty()) {
        match HeaderValue::from_str(&format!("Bearer {key}")) {
            Ok(mut value) => {
                value.set_sensitive(true);
                headers.insert(AUTHORIZATION, value);
            }
            Err(_) => problems.push(section.problem(Some("api_key"), "`api_key` holds characters that no key has")),
        }
    }
    headers
}

/// The value of `temperature`, when it is set.
pub fn temperature(section: &Section, temperature: Option<f64>, problems: &mut Problems) -> Option<Value> {
    if temperature.is_some_and(|temperature| !(0.0..=2.0).contains(&temperature)) {
        problems.push(section.problem(Some("temperature"), "`temperature` must be between 0 and 2"));
    }
    temperature.map(Value::from)
}

/// The fields of each request's body: a backend's own, and those that the key `body` adds or replaces.
pub fn body(
    section: &Section,
    mut own: Map<String, Value>,
    more: &Map<String, Value>,
    problems: &mut Problems,
) -> Map<String, Value> {
    for (key, value) in more {
        if matches!(key.as_str(), "messages" | "tools" | "tool_choice" | "stream" | "model") {
            problems.push(section.problem(Some("body"), format!("`{key}` is set by the backend itself")));
        }
        own.insert(key.clone(), value.clone());
    }
    if own.contains_key("max_completion_tokens") {
        // The newer name of the same bound; APIs refuse both at once.
        own.remove("max_tokens");
    }
    own
}
