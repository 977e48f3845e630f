//! What of a request and of its answer is a secret. It is left out before anything is compared or written.

use http::{HeaderMap, HeaderName, header};
use serde_json::Value;

/// What stands in the place of a secret.
pub(super) const LEFT_OUT: &str = "left out";
/// The same in the query of a URL.
const LEFT_OUT_OF_URL: &str = "left+out";
/// Characters of a word of a header from which on it counts as a secret: a shorter one is part of everything.
const SECRET_CHARS_MIN: usize = 6;
/// Words that no key has whose value may be shown.
const SECRET_KEYS: [&str; 9] =
    ["secret", "password", "passwd", "token", "apikey", "authorization", "credential", "credentials", "cookie"];
/// Headers that say nothing of who asks. Every other one may, whatever an API calls it.
const PLAIN: [HeaderName; 13] = [
    header::ACCEPT,
    header::ACCEPT_ENCODING,
    header::ACCEPT_LANGUAGE,
    header::CONTENT_TYPE,
    header::USER_AGENT,
    header::IF_NONE_MATCH,
    header::CONTENT_LENGTH,
    // Their words stand in answers, too, where whoever asked looks for them.
    HeaderName::from_static("mcp-protocol-version"),
    HeaderName::from_static("mcp-method"),
    HeaderName::from_static("mcp-name"),
    HeaderName::from_static("a2a-version"),
    HeaderName::from_static("a2a-extensions"),
    HeaderName::from_static("anthropic-version"),
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

    /// The text without them, and without the credentials in its URLs.
    pub(super) fn left_out_of(&self, text: &str) -> String {
        self.0.iter().fold(parameters_without(text), |text, secret| match text.contains(secret.as_str()) {
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
                let without = |(key, value): (String, Value)| match value {
                    Value::String(_) if is_secret_key(&key) => (key, LEFT_OUT.into()),
                    Value::Array(all) if is_secret_key(&key) && all.iter().all(Value::is_string) => {
                        (key, all.iter().map(|_| Value::from(LEFT_OUT)).collect())
                    }
                    value => (key, self.left_out_of_value(value)),
                };
                Value::Object(members.into_iter().map(without).collect())
            }
            other => other,
        }
    }
}

/// An answer or a part of one without secrets: JSON by its keys, whatever its type says, else each of its lines: an
/// event of a stream, a line of JSON Lines or a form. It stays as it was written unless it holds a secret.
pub(super) fn text_without(text: &str, secrets: &Secrets) -> String {
    if let Some(text) = json_without(text, secrets) {
        return text;
    }
    let line = |line: &str| {
        let data = line.strip_prefix("data:").unwrap_or(line);
        let prefix = if data.len() < line.len() { "data: " } else { "" };
        match json_without(data, secrets) {
            Some(same) if same == data => line.to_owned(),
            Some(without) => format!("{prefix}{without}"),
            // A form has no spaces, and a parameter before its first `&`.
            None if !line.contains(char::is_whitespace) => {
                secrets.left_out_of(&parameters_without(&format!("&{line}"))[1..])
            }
            None => secrets.left_out_of(line),
        }
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// `None`: it is no JSON, or no object and no list.
fn json_without(text: &str, secrets: &Secrets) -> Option<String> {
    let value = serde_json::from_str::<Value>(text).ok().filter(|value| value.is_object() || value.is_array())?;
    let without = secrets.left_out_of_value(value.clone());
    Some(if without == value { text.to_owned() } else { without.to_string() })
}

/// A text in which parameters of URLs whose names say so have no values.
fn parameters_without(text: &str) -> String {
    let mut without = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(mark) = rest.find(['?', '&']) {
        let (before, after) = rest.split_at(mark + 1);
        without.push_str(before);
        rest = after;
        let name_end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c)).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(name_end);
        let Some(value) = behind.strip_prefix('=').filter(|_| is_secret_parameter(name)) else { continue };
        let value_end = value.find(|c: char| c.is_whitespace() || "&#\"'<>)]}".contains(c)).unwrap_or(value.len());
        without.push_str(name);
        without.push('=');
        if value_end > 0 {
            without.push_str(LEFT_OUT_OF_URL);
        }
        rest = &value[value_end..];
    }
    without.push_str(rest);
    without
}

/// The same of a parameter of a URL, where `key` alone has the key of an API and a signature opens what it signs.
pub(super) fn is_secret_parameter(name: &str) -> bool {
    ["key", "sig", "signature"].iter().any(|own| name.eq_ignore_ascii_case(own))
        || name.to_ascii_lowercase().ends_with("-signature")
        || is_secret_key(name)
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
    fn answers_of_any_form_are_searched_and_what_holds_no_secret_stays() {
        let secrets = Secrets::default();
        for (text, without) in [
            ("access_token=gho_1&scope=repo", "access_token=left+out&scope=repo"),
            ("{ \"access_token\": \"t\" }", "{\"access_token\":\"left out\"}"),
            ("{\"a\":1}\n{\"token\":\"t\"}\n", "{\"a\":1}\n{\"token\":\"left out\"}\n"),
            ("data:{\"token\":\"a=b\"}", "data: {\"token\":\"left out\"}"),
            ("event: x\ndata: {\"token\":\"t\"}", "event: x\ndata: {\"token\":\"left out\"}"),
            ("see (https://x.example/a?b=1&token=t) now", "see (https://x.example/a?b=1&token=left+out) now"),
            ("https://x.example/?X-Amz-Signature=ab#c", "https://x.example/?X-Amz-Signature=left+out#c"),
        ] {
            assert_eq!(text_without(text, &secrets), without, "{text}");
            assert_eq!(text_without(without, &secrets), without, "once is enough");
        }
        for same in ["{ \"a\": 1 }", "data: {\"a\": 1}", "a & b = c? d=e", "?keyboard=1&page=2", "a=b", "&=?", ""] {
            assert_eq!(text_without(same, &secrets), same);
        }
        let value =
            json!({"links": ["https://x.example/?sig=s"], "cookies": 3, "token": ["a"], "logprobs": [{"token": 5}]});
        assert_eq!(
            secrets.left_out_of_value(value),
            json!({"links": ["https://x.example/?sig=left+out"], "cookies": 3, "token": [LEFT_OUT], "logprobs": [{"token": 5}]})
        );
    }

    #[test]
    fn whatever_a_header_may_prove_is_found_wherever_it_stands() {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", HeaderValue::from_static("Bearer sk-0123456789"));
        headers.insert("x-goog-api-key", HeaderValue::from_static("AIza-secret"));
        headers.insert("accept", HeaderValue::from_static("application/json"));
        headers.insert("mcp-protocol-version", HeaderValue::from_static("2026-07-28"));
        headers.insert("a2a-extensions", HeaderValue::from_static("https://ext.example/a"));
        let secrets = Secrets::of(&headers);
        for said in ["2026-07-28", "https://ext.example/a"] {
            assert_eq!(secrets.left_out_of(said), said);
        }
        let value = json!({"error": "the key sk-0123456789 is wrong", "list": ["AIza-secret"], "accept": "application/json",
            "access_token": "t", "usage": {"max_tokens": 3}});
        assert_eq!(
            secrets.left_out_of_value(value),
            json!({"error": "the key left out is wrong", "list": ["left out"], "accept": "application/json",
                "access_token": "left out", "usage": {"max_tokens": 3}})
        );
    }
}
