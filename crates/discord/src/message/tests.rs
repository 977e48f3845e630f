use proptest::prelude::*;
use serde_json::json;

use super::*;

const US: &str = "1";

fn written(more: Value) -> Value {
    let author = json!({"id": "7", "username": "ann", "global_name": "Ann"});
    let mut message = json!({
        "id": "100", "channel_id": "50", "guild_id": "60", "author": author, "type": 0, "content": "hi",
        "edited_timestamp": null, "mentions": [], "mention_roles": [], "attachments": [], "pinned": false,
    });
    message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    message
}

fn chat(more: Value, is_thread: bool) -> Option<ChatMessage> {
    match read("MESSAGE_CREATE", written(more), US)? {
        Happening::Written { message, .. } => {
            message.to_chat(&Surroundings { us: US, our_roles: &["2".to_owned()], is_thread })
        }
        Happening::Gone { .. } => None,
    }
}

#[test]
fn a_message_has_its_place_its_speaker_and_what_it_says() {
    let file = json!({"id": "9", "filename": "a/b.txt", "content_type": "text/plain", "size": 3, "url": "https://x/y"});
    let message = chat(json!({"content": "<@1> hello", "attachments": [file], "member": {"nick": "Annie"}}), false);
    let message = message.unwrap();
    assert_eq!((message.text.as_str(), message.user.as_str(), message.mentions_connector), ("hello", "7", true));
    assert_eq!(message.profile.unwrap().display_name.as_deref(), Some("Annie"));
    assert_eq!((message.files[0].name.as_str(), message.files[0].size_bytes), ("a_b.txt", 3));
    assert!(!message.place.is_direct && !message.place.is_reply && message.place.channel == "50");
    let direct = chat(json!({"guild_id": null}), false).unwrap();
    assert!(direct.place.is_direct && direct.profile.unwrap().display_name.as_deref() == Some("Ann"));
    assert!(chat(json!({"content": "<@&2> hi"}), false).unwrap().mentions_connector, "a role of ours");
}

#[test]
fn replies_and_threads_go_on_unless_they_are_for_others() {
    let to = |id: &str| json!({"type": 19, "referenced_message": {"author": {"id": id}}});
    let mut ours = to(US);
    ours["referenced_message"]["id"] = json!("99");
    let ours = chat(ours, false).unwrap();
    assert!(ours.place.is_reply && !ours.is_for_others && ours.replies_to.as_deref() == Some("99"));
    let thread = chat(json!({}), true).unwrap();
    assert!(thread.place.is_reply && !thread.is_for_others);
    assert!(chat(to("8"), true).unwrap().is_for_others);
    let mut mention = to("8");
    mention["content"] = json!("<@1> what do you say?");
    assert!(!chat(mention, false).unwrap().is_for_others);
}

#[test]
fn what_programs_and_discord_itself_write_is_passed_over() {
    for more in [
        json!({"author": {"id": "7", "bot": true}}),
        json!({"author": {"id": US}}),
        json!({"author": null}),
        json!({"webhook_id": "5"}),
        json!({"type": 7}),
        json!({"content": ""}),
        json!({"id": "../../x"}),
        json!({"channel_id": "x"}),
        json!({"guild_id": "@me"}),
        json!({"author": {"id": "x/y"}}),
    ] {
        assert_eq!(chat(more.clone(), false), None, "{more}");
    }
    assert!(read("MESSAGE_UPDATE", written(json!({})), US).is_none(), "a preview of a link");
    let edited = read("MESSAGE_UPDATE", written(json!({"edited_timestamp": "2026-01-01T00:00:00Z"})), US);
    assert!(matches!(edited, Some(Happening::Written { is_edit: true, .. })));
    assert!(read("TYPING_START", written(json!({})), US).is_none());
}

#[test]
fn one_or_many_messages_are_gone() {
    let gone = |kind: &str, data: Value| match read(kind, data, US) {
        Some(Happening::Gone { channel, messages }) => Some((channel, messages)),
        _ => None,
    };
    let one = gone("MESSAGE_DELETE", json!({"id": "100", "channel_id": "50"}));
    assert_eq!(one, Some(("50".to_owned(), vec!["100".to_owned()])));
    let many = gone("MESSAGE_DELETE_BULK", json!({"ids": ["1", "x", "2"], "channel_id": "50"}));
    assert_eq!(many, Some(("50".to_owned(), vec!["1".to_owned(), "2".to_owned()])));
    assert_eq!(gone("MESSAGE_DELETE", json!({"id": "x", "channel_id": "50"})), None);
}

#[test]
fn a_thread_is_asked_for_only_where_nothing_else_says_for_whom_a_message_is() {
    let needs = |more: Value| match read("MESSAGE_CREATE", written(more), US) {
        Some(Happening::Written { message, .. }) => message.needs_thread(US),
        _ => false,
    };
    assert!(needs(json!({})));
    assert!(!needs(json!({"guild_id": null})));
    // It may be said anew in a channel, or go on in a thread.
    assert!(needs(json!({"mentions": [{"id": US}]})));
    assert!(!needs(json!({"referenced_message": {"author": {"id": US}}})));
}

proptest! {
    #[test]
    fn no_event_panics(kind in "MESSAGE_(CREATE|UPDATE|DELETE)", key in "(id|author|mentions|content|type)", text in ".{0,20}") {
        let _ = read(&kind, written(json!({key: text})), US);
    }
}
