//! An input as several requests. Between them stands a line of `--`, and `@KEY@` stands for the last text that an
//! answer had under that key: ids that the host draws can be named that way.

use std::collections::BTreeMap;

use axum::body::Body;
use forecourt_core::Handle;
use forecourt_testhost::{MountedHost, ORIGIN};
use http::{HeaderName, HeaderValue, Request};
use serde_json::Value;

use crate::place::Answer;

/// What stands between two requests.
pub const BETWEEN: &[u8] = b"\n--\n";
/// Requests of an input that are made: those after them are not.
const REQUESTS_MAX: usize = 8;
/// Bytes of a key.
const KEY_BYTES_MAX: usize = 32;
/// Levels of an answer in which keys are looked for.
const LEVELS_MAX: usize = 12;

/// The requests of an input.
pub fn requests(input: &[u8]) -> Vec<&[u8]> {
    let (mut rest, mut requests) = (input, Vec::new());
    while let Some(at) = rest.windows(BETWEEN.len()).position(|window| window == BETWEEN) {
        requests.push(&rest[..at]);
        rest = &rest[at + BETWEEN.len()..];
    }
    requests.push(rest);
    requests.truncate(REQUESTS_MAX);
    requests
}

/// What answers said.
#[derive(Debug, Clone)]
pub struct Memory(BTreeMap<String, String>);

impl Memory {
    /// What may be said to a host from the start: a proof of who asks, as `bearer`, and the Agent-ID of an agent that
    /// may negotiate, as `guest`.
    pub fn of(mounted: &MountedHost) -> Self {
        let echo = Handle::parse("echo").expect("a handle");
        let guest = mounted.mount.agents.of_handle(&echo).expect("an agent").agent_id.to_string();
        Self(BTreeMap::from([("bearer".to_owned(), mounted.token("ada")), ("guest".to_owned(), guest)]))
    }

    /// Keeps what `value` has under its keys: of two that are called alike, the one that is less deep.
    pub fn learn(&mut self, value: &Value) {
        let mut known = BTreeMap::new();
        gather(value, 0, &mut known);
        self.0.extend(known.into_iter().map(|(key, (_, text))| (key, text)));
    }

    /// Keeps the fields of an answer, addresses of the host without what stands before their path, and what it says in
    /// JSON.
    pub fn hear(&mut self, answer: &Answer) {
        for (name, value) in answer.head.iter().filter_map(|(name, value)| Some((name, value.to_str().ok()?))) {
            self.keep(name.as_str(), value.strip_prefix(ORIGIN).unwrap_or(value));
        }
        answer.json().iter().for_each(|json| self.learn(json));
    }

    /// Keeps one thing.
    pub fn keep(&mut self, key: &str, text: impl Into<String>) {
        self.0.insert(key.to_owned(), text.into());
    }

    /// One thing that is kept.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// A request with what is known filled in.
    pub fn fill(&self, request: &[u8]) -> Vec<u8> {
        let (mut rest, mut filled) = (request, Vec::with_capacity(request.len()));
        while let Some(at) = rest.iter().position(|byte| *byte == b'@') {
            let (before, behind) = rest.split_at(at);
            filled.extend_from_slice(before);
            let end = behind[1..].iter().take(KEY_BYTES_MAX).position(|byte| *byte == b'@');
            let key = end.and_then(|end| std::str::from_utf8(&behind[1..=end]).ok());
            let (text, taken) = match key.and_then(|key| self.0.get_key_value(key)) {
                Some((key, text)) => (text.as_bytes(), key.len() + 2),
                None => (&behind[..1], 1),
            };
            filled.extend_from_slice(text);
            rest = &behind[taken..];
        }
        filled.extend_from_slice(rest);
        filled
    }
}

fn gather(value: &Value, level: usize, known: &mut BTreeMap<String, (usize, String)>) {
    if level == LEVELS_MAX {
        return;
    }
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| match value {
            // The id of a request, and none that the host drew.
            Value::String(_) if level == 0 && key == "id" => {}
            Value::String(text) if known.get(key).is_none_or(|(other, _)| *other > level) => {
                known.insert(key.clone(), (level, text.clone()));
            }
            value => gather(value, level + 1, known),
        }),
        Value::Array(values) => values.iter().for_each(|value| gather(value, level + 1, known)),
        _ => {}
    }
}

/// A request of HTTP as text: its line without the version, its fields, an empty line, and its body. `None`: it is none
/// that a listener would hand on.
pub fn http(text: &[u8]) -> Option<Request<Body>> {
    let (line, mut rest) = line(text);
    let (method, target) = std::str::from_utf8(line).ok()?.split_once(' ')?;
    let mut request = Request::builder().method(method).uri(target).body(()).ok()?;
    loop {
        let (field, behind) = self::line(rest);
        rest = behind;
        if field.is_empty() {
            break;
        }
        let colon = field.iter().position(|byte| *byte == b':')?;
        let name = HeaderName::from_bytes(&field[..colon]).ok()?;
        request.headers_mut().append(name, HeaderValue::from_bytes(field[colon + 1..].trim_ascii()).ok()?);
    }
    // Listeners take no other targets for these methods.
    let is_path = request.uri().path().starts_with('/') && request.uri().authority().is_none();
    is_path.then(|| request.map(|()| Body::from(rest.to_vec())))
}

/// A line without its end, and what is behind it.
fn line(text: &[u8]) -> (&[u8], &[u8]) {
    match text.iter().position(|byte| *byte == b'\n') {
        Some(end) => (text[..end].strip_suffix(b"\r").unwrap_or(&text[..end]), &text[end + 1..]),
        None => (text, &[]),
    }
}
