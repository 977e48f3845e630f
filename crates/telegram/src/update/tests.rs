//! Events in the forms that the Bot API documents.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn bot() -> Bot {
    Bot { id: 42, username: "cook_bot".to_owned() }
}

fn heard(message: Value) -> Incoming {
    read(json!({"update_id": 1, "message": message}).to_string().as_bytes(), &bot()).unwrap()
}

fn of(more: Value) -> Value {
    let mut message = json!({
        "message_id": 7, "date": 1, "chat": {"id": -100, "type": "supergroup"},
        "from": {"id": 5, "is_bot": false, "first_name": "Ann", "last_name": "Lee", "language_code": "de"},
    });
    message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    message
}

fn message_of(incoming: Incoming) -> ChatMessage {
    match incoming {
        Incoming::Message(message) | Incoming::Edited(message) => *message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_direct_message_is_for_us_and_tells_who_speaks() {
    let message = message_of(heard(of(json!({"chat": {"id": 5, "type": "private"}, "text": "hi"}))));
    assert!(message.place.is_direct && message.place.thread.is_none());
    assert_eq!((message.user.as_str(), message.place.channel.as_str()), ("5", "5"));
    let profile = message.profile.unwrap();
    assert_eq!((profile.display_name.as_deref(), &profile.more["locale"]), (Some("Ann Lee"), &json!("de")));
}

#[test]
fn in_groups_mentions_commands_and_replies_to_us_are() {
    let mention = json!({"text": "@cook_bot hi", "entities": [{"type": "mention", "offset": 0, "length": 9}]});
    let message = message_of(heard(of(mention)));
    assert!(message.mentions_connector && message.text == "hi");
    let reply = json!({"text": "and salt?", "reply_to_message": {"message_id": 6, "from": {"id": 42, "is_bot": true}}});
    let reply = message_of(heard(of(reply)));
    assert!(reply.place.is_reply && reply.replies_to.as_deref() == Some("6"));
    let reply = json!({"text": "and salt?", "reply_to_message": {"message_id": 6, "from": {"id": 43, "is_bot": true}}});
    assert!(!message_of(heard(of(reply))).place.is_reply);
    let topic = json!({"text": "hi", "message_thread_id": 9, "is_topic_message": true});
    assert_eq!(message_of(heard(of(topic))).place.thread.as_deref(), Some("9"));
}

#[test]
fn programs_channels_and_what_only_happens_are_passed_over() {
    for more in [
        json!({"text": "hi", "from": {"id": 9, "is_bot": true, "first_name": "B"}}),
        json!({"text": "hi", "chat": {"id": -1, "type": "channel"}}),
        json!({"text": "hi", "sender_chat": {"id": -2, "type": "channel"}, "from": {"id": 777000, "is_bot": false}}),
        json!({"text": "/start", "chat": {"id": 5, "type": "private"}}),
        json!({"new_chat_title": "x"}),
    ] {
        assert_eq!(heard(of(more.clone())), Incoming::Nothing, "{more}");
    }
    assert_eq!(read(b"{\"update_id\": 1}", &bot()), Ok(Incoming::Nothing));
}

#[test]
fn an_edit_holds_the_message_as_it_is_now_and_a_picture_its_largest_size() {
    let edit = json!({"update_id": 1, "edited_message": of(json!({"text": "leek"}))}).to_string();
    assert!(matches!(read(edit.as_bytes(), &bot()), Ok(Incoming::Edited(message)) if message.text == "leek"));
    let photo = json!({"caption": "what is it?", "photo": [{"file_id": "a", "file_size": 1}, {"file_id": "b", "file_size": 9}]});
    let message = message_of(heard(of(photo)));
    assert_eq!((message.text.as_str(), message.files[0].url.as_str()), ("what is it?", "b"));
    assert_eq!(message.files.len(), 1);
}

proptest! {
    #[test]
    fn no_bytes_panic(body in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&body, &bot());
    }
}
