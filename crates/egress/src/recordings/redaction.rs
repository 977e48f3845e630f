//! What of a request and of its answer is a secret. It is left out before anything is compared or written.

use http::{HeaderMap, HeaderName, header};
use serde_json::Value;

/// What stands in the place of a secret.
pub(super) const LEFT_OUT: &str = "left out";
/// Characters of a word of a header from which on it counts as a secret: a shorter one is part of everything.
const SECRET_CHARS_MIN: usize = 6;
/// Words that no key has whose value may be shown.
const SECRET_KEYS: [&str; 9] =
    ["secret", "password", "passwd", "token", "apikey", "authorization", "credential", "credentials", "cookie"];
/// Headers that say nothing of who asks. Every other one may, whatever an API calls it.
const PLAIN: [HeaderName; 6] = [
    header::ACCEPT,
    header::ACCEPT_ENCODING,
    header::ACCEPT_LANGUAGE,
    header::CONTENT_TYPE,
    header::USER_AGENT,
    header::IF_NONE_MATCH,
];

/// The words of the headers of one request that may be credentials. They are found wherever else they stand.
#[derive(Default)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let private = headers.iter().filter(|(name, _)| !PLAIN.contains(name));
        let words = private.filter_map(|(_, value)| value.to_str().ok()).flat_map(|value| value.split(' '));
        let mut words: Vec<String> =
            words.filter(|word| word.len() >= SECRET_CHARS_MIN && *word != "Bearer").map(str::to_owned).collect();
        // The longest first: one may be a part of another.
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        Self(words)
    }

    /// The text without them.
    pub(super) fn left_out_of(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| match text.contains(secret.as_str()) {
            true => text.replace(secret.as_str(), LEFT_OUT),
            false => text,
        })
    }

    /// A value without them, and without what stands under a key that says so.
    pub(super) fn left_out_of_value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.left_out_of(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.left_out_of_value(item)).collect(),
            Value::Object(members) => {
                let without = |(key, value): (String, Value)| match is_secret_key(&key) && value.is_string() {
                    true => (key, LEFT_OUT.into()),
                    false => (key, self.left_out_of_value(value)),
                };
                Value::Object(members.into_iter().map(without).collect())
            }
            other => other,
        }
    }
}

/// The same of a parameter of a URL, where `key` alone has the key of an API.
pub(super) fn is_secret_parameter(name: &str) -> bool {
    name.eq_ignore_ascii_case("key") || is_secret_key(name)
}

/// Whether a value is never kept, such as that of `api_key`, `clientSecret` and `access_token`.
pub(super) fn is_secret_key(key: &str) -> bool {
    let mut words: Vec<String> = vec![String::new()];
    for c in key.chars() {
        match c.is_ascii_alphanumeric() {
            false => words.push(String::new()),
            true => {
                if c.is_ascii_uppercase()
                    && words.last().is_some_and(|word| word.ends_with(|c: char| c.is_ascii_lowercase()))
                {
                    words.push(String::new());
                }
                words.last_mut().into_iter().for_each(|word| word.push(c));
            }
        }
    }
    words.iter_mut().for_each(|word| word.make_ascii_lowercase());
    let is_api_key =
        words.windows(2).any(|pair| matches!(pair[0].as_str(), "api" | "access" | "private") && pair[1] == "key");
    is_api_key || words.iter().any(|word| SECRET_KEYS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_of_secrets_are_known_and_counts_of_tokens_are_none() {
        for key in ["api_key", "apiKey", "x-api-key", "client_secret", "clientSecret", "access_token", "Cookie"] {
            assert!(is_secret_key(key), "{key}");
        }
        for key in ["max_tokens", "prompt_tokens", "keyboard", "key", "id", "monkey", "name"] {
            assert!(!is_secret_key(key), "{key}");
        }
    }

    #[test]
    fn whatever_a_header_may_prove_is_found_wherever_it_stands() {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", HeaderValue::from_static("Bearer sk-0123456789"));
        headers.insert("x-goog-api-key", HeaderValue::from_static("AIza-secret"));
        headers.insert("accept", HeaderValue::from_static("application/json"));
        let secrets = Secrets::of(&headers);
        let value = json!({"error": "the key sk-0123456789 is wrong", "list": ["AIza-secret"], "accept": "application/json",
            "access_token": "t", "usage": {"max_tokens": 3}});
        assert_eq!(
            secrets.left_out_of_value(value),
            json!({"error": "the key left out is wrong", "list": ["left out"], "accept": "application/json",
                "access_token": "left out", "usage": {"max_tokens": 3}})
        );
    }
}
