//! A request without what varies from run to run, and its hash.

use std::fmt::Write as _;
use std::net::SocketAddr;

use aws_lc_rs::digest;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::{Url, form_urlencoded};

use super::SentRequest;
use super::redaction::{LEFT_OUT, Secrets, is_secret_key, is_secret_parameter};

/// What stands in the place of an id that somebody drew.
const ID: &str = "<id>";
/// What stands in the place of a moment.
const TIME: &str = "<time>";
/// Members of objects whose values differ each time, whatever they look like, behind the member that tells such an
/// object: a message that a backend is sent, one of A2A, and a call of JSON-RPC. Elsewhere they are somebody's words.
const VARYING: [(&str, &[&str]); 3] = [
    (
        "received_via",
        &["id", "timeout_ms", "conversation", "thread_id", "request", "deadline", "received_at", "traceparent"],
    ),
    ("parts", &["messageId"]),
    ("jsonrpc", &["id"]),
];
/// Characters of a word that may be drawn at random. A longer one is content, such as a picture.
const RANDOM_CHARS: std::ops::RangeInclusive<usize> = 16..=128;
/// Characters between two hyphens of one.
const RANDOM_PART_CHARS_MIN: usize = 12;
/// Characters of a UUID.
const UUID_CHARS: usize = 36;
/// Digits of the hash in the name of a file.
const NAME_DIGITS: usize = 12;

/// The names and addresses of this host.
pub(crate) struct OwnPlaces<'a> {
    pub(crate) origins: &'a [(String, u16)],
    pub(crate) addresses: &'a [SocketAddr],
}

/// A request as it is compared and kept: without credentials and without what varies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedRequest {
    method: String,
    url: String,
    /// A value where it is JSON, else a text. `null`: there is none.
    #[serde(default)]
    body: Value,
}

impl RecordedRequest {
    pub(super) fn of(sent: &SentRequest<'_>, secrets: &Secrets) -> Self {
        let tidy = |text: &str| secrets.left_out_of(&sent.own.without_ports(text));
        Self { method: sent.method.to_string(), url: url_of(sent.url, &tidy), body: body_of(sent.body, secrets, &tidy) }
    }

    /// SHA-256 of it in hex. A value has its members in one order, whoever wrote it.
    pub(super) fn hash(&self) -> String {
        let mut text = format!("{}\n{}\n", self.method, self.url);
        write_canonical(&self.body, &mut text);
        sha256_hex(text.as_bytes())
    }

    /// Method and URL, for people.
    pub(super) fn line(&self) -> String {
        format!("{} {}", self.method, self.url)
    }

    /// A file name that says who was asked.
    pub(super) fn file_name(&self, hash: &str) -> String {
        let host = Url::parse(&self.url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
        let host: String = host.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-')).collect();
        format!("{}-{}.json", host.trim_matches('.'), &hash[..NAME_DIGITS.min(hash.len())])
    }
}

impl OwnPlaces<'_> {
    /// A text in which this host has no ports: they are free ones, and others each time.
    fn without_ports(&self, text: &str) -> String {
        let named = self.origins.iter().filter(|(_, port)| *port != 0).map(|(host, port)| (host.clone(), *port));
        let numbered = self.addresses.iter().map(|address| (address.ip().to_string(), address.port()));
        named.chain(numbered).fold(text.to_owned(), |text, (host, port)| text.replace(&format!("{host}:{port}"), &host))
    }
}

fn sha256_hex(bytes: &[u8]) -> String {
    digest::digest(&digest::SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn url_of(url: &Url, tidy: &dyn Fn(&str) -> String) -> String {
    let mut url = url.clone();
    let _ = url.set_password(None);
    let _ = url.set_username("");
    url.set_fragment(None);
    if url.query().is_some() {
        let pairs: Vec<(String, String)> =
            url.query_pairs().map(|(key, value)| (key.into_owned(), value.into_owned())).collect();
        let value = |(key, value): (String, String)| match is_secret_parameter(&key) {
            true => (key, LEFT_OUT.to_owned()),
            false => (key, value),
        };
        url.query_pairs_mut().clear().extend_pairs(pairs.into_iter().map(value));
    }
    steady(&tidy(url.as_str()))
}

fn body_of(body: &[u8], secrets: &Secrets, tidy: &dyn Fn(&str) -> String) -> Value {
    if body.is_empty() {
        return Value::Null;
    }
    if let Ok(value) = serde_json::from_slice::<Value>(body) {
        return steady_value(secrets.left_out_of_value(value), tidy);
    }
    let Ok(text) = std::str::from_utf8(body) else {
        // Compared and never read: its hash says as much.
        return Value::String(sha256_hex(body));
    };
    let pairs: Vec<(String, String)> = form_urlencoded::parse(body).into_owned().collect();
    // A form has no spaces: words about a token are none, and an id among them is left out like every other.
    match !text.contains(char::is_whitespace) && pairs.iter().any(|(key, _)| is_secret_key(key)) {
        // A form with a secret in it, such as one that asks for a token.
        true => {
            let value = |(key, value): &(String, String)| match is_secret_key(key) {
                true => format!("{key}={LEFT_OUT}"),
                false => format!("{key}={}", steady(&tidy(value))),
            };
            Value::String(pairs.iter().map(value).collect::<Vec<_>>().join("&"))
        }
        false => Value::String(steady(&tidy(text))),
    }
}

fn steady_value(value: Value, tidy: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(steady(&tidy(&text))),
        Value::Array(items) => items.into_iter().map(|item| steady_value(item, tidy)).collect(),
        Value::Object(mut members) => {
            for (mark, varying) in VARYING {
                if members.contains_key(mark) {
                    varying.iter().for_each(|key| drop(members.remove(*key)));
                }
            }
            Value::Object(members.into_iter().map(|(key, value)| (key, steady_value(value, tidy))).collect())
        }
        other => other,
    }
}

/// A text in which ids that somebody drew and moments are words that stay the same.
fn steady(text: &str) -> String {
    let mut steady = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find(is_word) {
        let (before, after) = rest.split_at(begin);
        steady.push_str(before);
        let end = after.find(|c| !is_word(c)).unwrap_or(after.len());
        let (word, behind) = after.split_at(end);
        let bare = word.trim_end_matches(['.', ':']);
        match bare {
            _ if is_time(bare) => steady.push_str(TIME),
            _ => steady_ids(bare, &mut steady),
        }
        steady.push_str(&word[bare.len()..]);
        rest = behind;
    }
    steady.push_str(rest);
    steady
}

/// The parts of a word between points and colons, each an id or itself.
fn steady_ids(word: &str, steady: &mut String) {
    for part in word.split_inclusive(['.', ':', '+']) {
        let bare = part.trim_end_matches(['.', ':', '+']);
        steady.push_str(if is_random(bare) { ID } else { bare });
        steady.push_str(&part[bare.len()..]);
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.' | '+')
}

/// A date with a time, as RFC 3339 writes it.
fn is_time(word: &str) -> bool {
    let bytes = word.as_bytes();
    let digits = |at: std::ops::Range<usize>| bytes.get(at).is_some_and(|part| part.iter().all(u8::is_ascii_digit));
    bytes.len() >= 17
        && digits(0..4)
        && digits(5..7)
        && digits(8..10)
        && matches!(bytes[10], b'T' | b't')
        && digits(11..13)
}

/// Whether a word looks drawn: hexadecimal digits, a UUID, or letters of both cases and digits, so long that nobody
/// would write it. The parts of a name, as that of a model, are shorter.
fn is_random(word: &str) -> bool {
    let has = |is: fn(&u8) -> bool| word.as_bytes().iter().any(is);
    let is_hex = |word: &str| word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if !RANDOM_CHARS.contains(&word.len()) || !has(u8::is_ascii_digit) {
        return false;
    }
    if is_hex(&word.replace('-', "")) {
        return has(u8::is_ascii_lowercase) && (is_hex(word) || word.len() == UUID_CHARS);
    }
    let longest = word.split(['-', '_']).map(str::len).max().unwrap_or_default();
    has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && longest >= RANDOM_PART_CHARS_MIN
}

/// JSON with the members of objects by name.
fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(key, _)| key.as_str());
            text.push('{');
            for (key, value) in members {
                let _ = write!(text, "{}:", Value::from(key.as_str()));
                write_canonical(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            items.iter().for_each(|item| {
                write_canonical(item, text);
                text.push(',');
            });
            text.push(']');
        }
        plain => drop(write!(text, "{plain}")),
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, Method};
    use proptest::prelude::*;

    use super::*;

    fn recorded(url: &str, body: &str) -> RecordedRequest {
        let url = Url::parse(url).unwrap();
        let own = OwnPlaces { origins: &[("demo.localhost".to_owned(), 40123)], addresses: &[] };
        let sent =
            SentRequest { method: &Method::POST, url: &url, headers: &HeaderMap::new(), body: body.as_bytes(), own };
        RecordedRequest::of(&sent, &Secrets::default())
    }

    #[test]
    fn what_varies_changes_no_hash_and_what_is_said_does() {
        let url = "https://api.example/v1/chat";
        let one = recorded(url, r#"{"b": 1, "a": "hi https://demo.localhost:40123/x"}"#);
        let same = recorded(url, r#"{"a": "hi https://demo.localhost/x", "b": 1}"#);
        assert_eq!(one.hash(), same.hash());
        let said = |id: &str, time: &str| {
            recorded(url, &format!(r#"{{"jsonrpc":"2.0","id":{},"m":"{id}","t":"{time}"}}"#, id.len())).hash()
        };
        assert_eq!(
            said("HYpNoluyWCkR-SNhLTwc7MY9mjhJ2sIxo2E5rq6U", "2026-11-30T14:33:45.868Z"),
            said("0f8fad5b-d9cb-469f-a165-70867728950e", "2027-01-01T00:00:00Z")
        );
        assert_ne!(one.hash(), recorded(url, r#"{"b": 2, "a": "hi https://demo.localhost/x"}"#).hash());
        assert_ne!(recorded(url, "{}").hash(), recorded("https://api.example/v2/chat", "{}").hash());
        assert_ne!(recorded(url, r#""on 2026-12-01""#).hash(), recorded(url, r#""on 2026-12-02""#).hash());
    }

    #[test]
    fn what_varies_in_a_message_is_said_elsewhere() {
        let hash = |body: &str| recorded("https://api.example/v1", body).hash();
        for (one, other) in [
            (r#"{"received_via": "rest", "id": "a", "timeout_ms": 5}"#, r#"{"received_via": "rest", "timeout_ms": 7}"#),
            (r#"{"received_via": "rest", "request": "r1"}"#, r#"{"received_via": "rest", "request": "r2"}"#),
            (r#"{"message": {"parts": [], "messageId": "1"}}"#, r#"{"message": {"parts": [], "messageId": "2"}}"#),
            (r#"{"url": "/hooks/B0A1c2D3e4F5g6H7i8J9k0"}"#, &format!(r#"{{"url": "/hooks/{}"}}"#, "0f".repeat(32))),
            ("a token of 2822cc585a79b378", "a token of 3822cc585a79b378"),
        ] {
            assert_eq!(hash(one), hash(other), "{one}");
        }
        for (one, other) in [
            (r#"{"request": "cancel my order"}"#, r#"{"request": "where is my order"}"#),
            (
                r#"{"jsonrpc": "2.0", "id": 1, "params": {"arguments": {"deadline": "2026-12-01"}}}"#,
                r#"{"jsonrpc": "2.0", "id": 1, "params": {"arguments": {"deadline": "2026-12-02"}}}"#,
            ),
            (r#"{"id": 1, "conversation": "a"}"#, r#"{"id": 1, "conversation": "b"}"#),
        ] {
            assert_ne!(hash(one), hash(other), "{one}");
        }
    }

    #[test]
    fn what_is_drawn_is_told_from_names() {
        for drawn in [
            "2822cc585a79b378",
            "0f8fad5b-d9cb-469f-a165-70867728950e",
            "ctx-BURqYnygbiQO4wiGk86IMwTA6DohLAMfrASqgm8w5Yg",
        ] {
            assert!(is_random(drawn), "{drawn}");
        }
        for name in [
            "Qwen2-72B-Instruct-GPTQ-Int4",
            "gpt-5-mini-2026-01-01",
            "TASK_STATE_INPUT_REQUIRED",
            "internationalization",
            "1234567890123456",
            "deadbeef",
        ] {
            assert!(!is_random(name), "{name}");
        }
    }

    #[test]
    fn secrets_in_urls_and_forms_are_not_kept() {
        let form = recorded("https://u:pw@id.example/token?key=abc&q=1", "grant_type=x&client_secret=hush");
        let text = serde_json::to_string(&form).unwrap();
        assert!(!text.contains("hush") && !text.contains("abc") && !text.contains("pw@"), "{text}");
        assert!(text.contains("q=1") && text.contains("grant_type=x"), "{text}");
    }

    #[test]
    fn file_names_say_who_was_asked_and_lead_nowhere_else() {
        assert_eq!(
            recorded("https://api.example/v1", "").file_name("0123456789abcdef"),
            "api.example-0123456789ab.json"
        );
        assert_eq!(recorded("http://[::1]:80/", "").file_name("0123456789abcdef"), "1-0123456789ab.json");
    }

    proptest! {
        #[test]
        fn what_was_kept_has_the_hash_under_which_it_was_kept(body in "\\PC{0,200}", path in "[a-z0-9.:-]{0,60}") {
            let once = recorded(&format!("https://api.example/{path}"), &serde_json::json!({"t": body}).to_string());
            let kept: RecordedRequest = serde_json::from_str(&serde_json::to_string_pretty(&once).unwrap()).unwrap();
            prop_assert_eq!(once.hash(), kept.hash());
            // What was made steady once stays as it is.
            let text = steady(&body);
            prop_assert_eq!(steady(&text), text);
        }
    }
}
