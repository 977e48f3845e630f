//! What a server behind this host says, in whatever shape: the words of a JSON value, before its caller sees them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use forecourt_core::PolicyPart;
use futures::future::BoxFuture;
use serde::Serialize;
use serde_json::{Map, Value};

use super::ReplyGuards;

/// Members of a file that hold its bytes, in base64.
const BYTES: [&str; 2] = ["blob", "data"];

impl ReplyGuards {
    /// Holds what is said against the guardrails: its texts, numbers, names of members, and files of text. Texts may be
    /// replaced, which is `true`; where anything else would have to be, or what lies across several texts, it is denied.
    pub fn value<'a>(&'a self, value: &'a mut Value) -> BoxFuture<'a, Result<bool, Box<PolicyPart>>> {
        Box::pin(async move {
            if self.judge(&words(value), "").await?.is_none() {
                return Ok(false);
            }
            let mut said = Vec::new();
            texts(value, &mut said);
            for text in said {
                if let Some(other) = self.judge(text, "").await? {
                    *text = other;
                }
            }
            self.whole(&words(value)).await?;
            Ok(true)
        })
    }
}

/// All words of what can be written as JSON: [`words`].
pub(super) fn words_of(said: &impl Serialize) -> String {
    serde_json::to_value(said).map(|value| words(&value)).unwrap_or_default()
}

/// All words of a value, a line each, as its reader may put them together: unescaped, since a line feed that is written
/// as a letter would hide where a word begins.
pub(super) fn words(value: &Value) -> String {
    let mut all = Vec::new();
    gather(value, &mut all);
    all.join("\n")
}

fn gather(value: &Value, all: &mut Vec<String>) {
    match value {
        Value::String(text) => all.push(text.clone()),
        Value::Number(number) => all.push(number.to_string()),
        Value::Null | Value::Bool(_) => {}
        Value::Array(items) => items.iter().for_each(|item| gather(item, all)),
        Value::Object(members) => {
            for (name, member) in members {
                all.push(name.clone());
                match bytes_of_file(name, members) {
                    // Of bytes that are text, whatever they are called, the words count.
                    Some(bytes) => all.extend(String::from_utf8(bytes)),
                    None => gather(member, all),
                }
            }
        }
    }
}

/// The texts of a value that may be replaced.
fn texts<'a>(value: &'a mut Value, all: &mut Vec<&'a mut String>) {
    match value {
        Value::String(text) => all.push(text),
        Value::Array(items) => items.iter_mut().for_each(|item| texts(item, all)),
        Value::Object(members) => {
            let files: Vec<&str> = BYTES.into_iter().filter(|name| bytes_of_file(name, members).is_some()).collect();
            let rest = members.iter_mut().filter(|(name, _)| !files.contains(&name.as_str()));
            rest.for_each(|(_, member)| texts(member, all));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The bytes that a member holds of an image, of sound or of a resource. `None`: it holds none, and what it says are
/// words, whatever stands beside it.
fn bytes_of_file(name: &str, members: &Map<String, Value>) -> Option<Vec<u8>> {
    let is_file = match name {
        "data" => matches!(members.get("type").and_then(Value::as_str), Some("image" | "audio")),
        "blob" => members.get("uri").is_some_and(Value::is_string),
        _ => false,
    };
    STANDARD.decode(members.get(name).filter(|_| is_file)?.as_str()?).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use forecourt_core::policy::RefusalKind;
    use forecourt_core::{Handle, PolicyPart};
    use serde_json::json;

    use super::*;
    use crate::guard::{GuardCounter, Guardrail, Patterns, Seat, Side};
    use crate::limits::GUARD_TIME_MAX;

    struct Uncounted;

    impl GuardCounter for Uncounted {
        fn count(&self, _: &Handle, _: Side, _: &'static str) {}
    }

    /// Guardrails of one pattern, and who is told of what they deny.
    fn guards(pattern: &str, replacement: Option<&str>) -> (ReplyGuards, Arc<Mutex<Vec<String>>>) {
        let judge = Patterns::new(&[pattern.to_owned()], replacement.map(str::to_owned)).unwrap();
        let told = |words: &str| PolicyPart::new(RefusalKind::Forbidden, words);
        let guard = Guardrail {
            rule: "no-cards".to_owned(),
            judges_messages: true,
            judges_replies: true,
            seats: vec![Seat { judge: Arc::new(judge), time_max: GUARD_TIME_MAX, fails_open: false }],
            window_chars: 1_000,
            of_message: told("not taken"),
            of_reply: told("held back"),
        };
        let noted = Arc::new(Mutex::new(Vec::new()));
        let notes = noted.clone();
        let guards = ReplyGuards {
            guards: vec![Arc::new(guard)],
            agent: Handle::parse("far").unwrap(),
            counter: Arc::new(Uncounted),
            note: Box::new(move |rule, _| notes.lock().unwrap().push(rule.to_owned())),
        };
        (guards, noted)
    }

    async fn judged(replacement: Option<&str>, value: Value) -> Result<(bool, Value), String> {
        let (guards, noted) = guards("4111", replacement);
        let mut value = value;
        let outcome = guards.value(&mut value).await;
        assert_eq!(noted.lock().unwrap().len(), usize::from(outcome.is_err()), "what is denied is noted, once");
        outcome.map(|is_changed| (is_changed, value)).map_err(|part| part.message)
    }

    #[tokio::test]
    async fn what_fits_nothing_passes_as_it_is() {
        let value = json!({"content": [{"type": "text", "text": "four"}], "n": 4, "none": null, "is": true});
        assert_eq!(judged(Some("****"), value.clone()).await, Ok((false, value)));
    }

    #[tokio::test]
    async fn texts_are_replaced_wherever_they_lie() {
        let value = json!({"content": [{"text": "no 4111"}], "structured": {"a": ["4111", "b"]}});
        let shown = json!({"content": [{"text": "no ****"}], "structured": {"a": ["****", "b"]}});
        assert_eq!(judged(Some("****"), value).await, Ok((true, shown)));
    }

    #[tokio::test]
    async fn what_can_not_be_replaced_is_held_back() {
        let encoded = STANDARD.encode("no 4111");
        for value in [
            json!({"n": 4111}),
            json!({"4111": "a name"}),
            json!({"resource": {"uri": "a:b", "mimeType": "application/pdf", "blob": encoded}}),
            json!({"type": "image", "mimeType": "image/svg+xml", "data": encoded}),
        ] {
            assert_eq!(judged(Some("****"), value.clone()).await, Err("held back".to_owned()), "{value}");
        }
        assert_eq!(judged(None, json!({"text": "4111"})).await, Err("held back".to_owned()));
        let (guards, _) = guards(r"41\s11", Some("****"));
        let mut across = json!(["41", "11"]);
        assert!(guards.value(&mut across).await.is_err(), "it lies across two texts");
    }

    #[tokio::test]
    async fn bytes_hold_no_words_and_nothing_else_passes_as_bytes() {
        let picture = STANDARD.encode([0xff, 0xd8, 0xff]);
        let image = json!({"type": "image", "mimeType": "image/jpeg", "data": picture});
        assert_eq!(judged(None, image.clone()).await, Ok((false, image)));
        for words in [
            json!({"data": "4111"}),
            json!({"mimeType": "application/pdf", "data": "4111"}),
            json!({"mimeType": "application/pdf", "data": {"body": "4111"}}),
            json!({"type": "image", "mimeType": "image/png", "data": "no 4111"}),
            json!({"uri": "a:b", "mimeType": "image/png", "blob": ["4111"]}),
        ] {
            assert!(judged(None, words.clone()).await.is_err(), "{words}");
        }
    }

    #[tokio::test]
    async fn words_begin_where_their_reader_sees_them_begin() {
        let (guards, _) = guards(r"\b4111\b", None);
        for between in ["\n", "\t", "\"", "\u{1}"] {
            let mut value = json!({"text": format!("card:{between}4111")});
            assert!(guards.value(&mut value).await.is_err(), "{between:?}");
        }
    }
}
