//! An event of a room, as far as it is read here.

use forecourt_connectors::ChatFile;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::ids::{self, Us, is_id};
use crate::limits::NAME_CHARS_MAX;

/// The members of an event that are read; others are passed over.
#[derive(Debug, Deserialize)]
pub(crate) struct RoomEvent {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) event_id: String,
    pub(crate) room_id: String,
    pub(crate) sender: String,
    pub(crate) state_key: Option<String>,
    #[serde(default)]
    pub(crate) content: Map<String, Value>,
    /// What a redaction takes back; in newer rooms it stands in the content.
    redacts: Option<String>,
}

/// How a message is bound to others.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Relation {
    /// The first message of the thread that it is in.
    pub(crate) thread: Option<String>,
    /// The message that it answers, which a person chose.
    pub(crate) reply_to: Option<String>,
    /// The message whose words it replaces.
    pub(crate) replaces: Option<String>,
    /// Whether its text may begin with a copy of what it answers.
    pub(crate) may_quote: bool,
}

/// Whether an event can ask for something: its kind, and that the bot did not send it itself.
pub(crate) fn concerns_us(event: &Value, us: &Us) -> bool {
    match event["type"].as_str() {
        Some("m.room.message" | "m.room.encrypted" | "m.room.redaction") => event["sender"] != us.user.as_str(),
        // Also what the bot did: who is in a room may be known here.
        Some("m.room.member") => true,
        _ => false,
    }
}

impl RoomEvent {
    /// Reads an event. `None`: it is none that a homeserver sends.
    pub(crate) fn read(event: Value) -> Option<Self> {
        let event: Self = serde_json::from_value(event).ok()?;
        let fits = is_id(&event.event_id, '$') && is_id(&event.room_id, '!') && ids::user(&event.sender).is_some();
        fits.then_some(event)
    }

    /// The event that this one takes back.
    pub(crate) fn redacts(&self) -> Option<&str> {
        let redacts = self.redacts.as_deref().or_else(|| self.content.get("redacts")?.as_str());
        redacts.filter(|id| is_id(id, '$'))
    }

    /// How it is bound to other messages.
    pub(crate) fn relation(&self) -> Relation {
        let Some(relates) = self.content.get("m.relates_to") else { return Relation::default() };
        let event = |value: &Value| value["event_id"].as_str().filter(|id| is_id(id, '$')).map(str::to_owned);
        let is = |kind: &str| relates["rel_type"] == kind;
        let answers = event(&relates["m.in_reply_to"]);
        let thread = event(relates).filter(|_| is("m.thread"));
        // In a thread, clients that know none are shown a reply that nobody chose.
        let is_fallback = thread.is_some() && relates["is_falling_back"] == true;
        Relation {
            replaces: event(relates).filter(|_| is("m.replace")),
            may_quote: answers.is_some(),
            reply_to: answers.filter(|_| !is_fallback),
            thread,
        }
    }
}

/// Who took an event back, where somebody did. Homeservers give the redaction along with it.
pub(crate) fn redacted_by(event: &Value) -> Option<&str> {
    event["unsigned"]["redacted_because"]["sender"].as_str()
}

/// The words of a message and what came with it. `None`: a program says it, or it is nothing that is said.
pub(crate) fn said(content: &Map<String, Value>) -> Option<(String, Vec<ChatFile>)> {
    let text = |key: &str| content.get(key).and_then(Value::as_str);
    let body = text("body").unwrap_or_default();
    match text("msgtype")? {
        "m.text" | "m.emote" => Some((body.to_owned(), Vec::new())),
        "m.image" | "m.file" | "m.audio" | "m.video" => {
            // With a name of its own, what else is there are words about it.
            let caption = text("filename").filter(|name| *name != body).map(|_| body.to_owned());
            Some((caption.unwrap_or_default(), vec![file(content, text("filename").unwrap_or(body))]))
        }
        // What programs say, by which none of them answers another, and what is no message.
        _ => None,
    }
}

/// A file. One that is encrypted has no `url`, and can't be handed on.
fn file(content: &Map<String, Value>, name: &str) -> ChatFile {
    let info = content.get("info").unwrap_or(&Value::Null);
    let name: String =
        name.replace(['/', '\\'], "_").chars().filter(|c| !c.is_control()).take(NAME_CHARS_MAX).collect();
    let mime = info["mimetype"].as_str().filter(|mime| mime.len() < 128 && mime.contains('/'));
    ChatFile {
        url: content.get("url").and_then(Value::as_str).unwrap_or_default().to_owned(),
        name: Some(name).filter(|name| !name.trim().is_empty()).unwrap_or_else(|| "file".to_owned()),
        mime: mime.unwrap_or("application/octet-stream").to_owned(),
        // Nobody must say it: what is downloaded has a bound of its own.
        size_bytes: info["size"].as_u64().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn event(content: Value) -> RoomEvent {
        RoomEvent::read(json!({
            "type": "m.room.message", "event_id": "$1", "room_id": "!r:example.org", "sender": "@ann:example.org",
            "origin_server_ts": 1, "content": content, "unsigned": {"age": 1},
        }))
        .unwrap()
    }

    #[test]
    fn a_message_is_in_a_thread_answers_another_or_replaces_one() {
        let of = |relates: Value| event(json!({"m.relates_to": relates})).relation();
        let thread = of(json!({
            "rel_type": "m.thread", "event_id": "$root", "is_falling_back": true, "m.in_reply_to": {"event_id": "$last"},
        }));
        let chosen = Relation { thread: Some("$root".to_owned()), may_quote: true, ..Relation::default() };
        assert_eq!(thread, chosen);
        let reply = of(json!({"m.in_reply_to": {"event_id": "$last"}}));
        assert_eq!((reply.reply_to.as_deref(), reply.thread), (Some("$last"), None));
        assert_eq!(of(json!({"rel_type": "m.replace", "event_id": "$1"})).replaces.as_deref(), Some("$1"));
        for odd in [json!(7), json!({"rel_type": "m.thread"}), json!({"rel_type": "m.replace", "event_id": "x"})] {
            assert_eq!(of(odd.clone()), Relation::default(), "{odd}");
        }
    }

    #[test]
    fn programs_are_passed_over_and_files_have_names_and_words() {
        let of = |content: Value| said(content.as_object().unwrap());
        assert_eq!(of(json!({"msgtype": "m.notice", "body": "x"})), None);
        assert_eq!(of(json!({"body": "redacted, without a kind"})), None);
        assert_eq!(of(json!({"msgtype": "m.text", "body": "hi"})), Some(("hi".to_owned(), Vec::new())));
        let file = json!({"msgtype": "m.file", "body": "a/b.txt", "url": "mxc://x/1", "info": {"size": 5}});
        let (words, files) = of(file).unwrap();
        assert_eq!((words.as_str(), files[0].name.as_str(), files[0].size_bytes), ("", "a_b.txt", 5));
        let named = json!({"msgtype": "m.image", "body": "look", "filename": "soup.png", "url": "mxc://x/1"});
        let (words, files) = of(named).unwrap();
        assert_eq!((words.as_str(), files[0].name.as_str()), ("look", "soup.png"));
    }

    #[test]
    fn redactions_name_what_they_take_back_in_old_and_new_rooms() {
        let of = |more: Value| {
            let mut event = json!({"type": "m.room.redaction", "event_id": "$2", "room_id": "!r", "sender": "@a:b"});
            event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            RoomEvent::read(event).unwrap().redacts().map(str::to_owned)
        };
        assert_eq!(of(json!({"redacts": "$1"})).as_deref(), Some("$1"));
        assert_eq!(of(json!({"content": {"redacts": "$1"}})).as_deref(), Some("$1"));
        assert_eq!(of(json!({"content": {"redacts": 7}})), None);
    }

    #[test]
    fn it_is_known_who_took_an_event_back() {
        let of = |unsigned: Value| redacted_by(&json!({"content": {}, "unsigned": unsigned})).map(str::to_owned);
        assert_eq!(
            of(json!({"redacted_because": {"sender": "@mod:example.org"}})).as_deref(),
            Some("@mod:example.org")
        );
        for none in [json!({"age": 1}), json!({"redacted_because": "x"}), Value::Null] {
            assert_eq!(of(none), None);
        }
    }

    #[test]
    fn ids_that_are_none_are_passed_over() {
        for (key, id) in
            [("event_id", "1"), ("room_id", "r"), ("sender", "ann"), ("sender", "@a:b/c"), ("event_id", "$a\n")]
        {
            let mut event = json!({"type": "m.room.message", "event_id": "$1", "room_id": "!r", "sender": "@a:b"});
            event[key] = json!(id);
            assert!(RoomEvent::read(event).is_none(), "{key} {id:?}");
        }
    }

    proptest! {
        #[test]
        fn no_event_panics(kind in "m\\.(text|file|x)", body in ".{0,40}", id in "[$a1]{0,4}", text in ".{0,20}") {
            let content = json!({"msgtype": kind, "body": body, "filename": text, "url": text, "info": text,
                "m.relates_to": {"rel_type": "m.thread", "event_id": id, "m.in_reply_to": text}});
            let _ = said(content.as_object().unwrap());
            let _ = RoomEvent::read(json!({"type": "x", "event_id": id, "room_id": text, "sender": text}));
            let _ = event(content).relation();
        }
    }
}
