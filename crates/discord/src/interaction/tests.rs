use proptest::prelude::*;
use serde_json::json;

use super::*;

fn now() -> Timestamp {
    Timestamp::from_second(1_700_000_000).unwrap()
}

fn command(options: Value) -> Value {
    json!({
        "id": "900", "application_id": "1", "type": 2, "token": "a-token", "channel_id": "50", "guild_id": "60",
        "locale": "de", "member": {"nick": null, "user": {"id": "7", "username": "ann", "global_name": "Ann"}},
        "data": {"id": "3", "name": "ask", "type": 1, "options": options},
    })
}

fn read_of(value: &Value) -> Result<Incoming, EventError> {
    read(value.to_string().as_bytes(), "1", now())
}

fn question(value: &Value) -> ChatMessage {
    match read_of(value) {
        Ok(Incoming::Message(message)) => *message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_ping_is_answered_and_what_is_for_others_is_not() {
    let ping = json!({"id": "1", "application_id": "1", "type": 1, "token": "t"});
    assert_eq!(read_of(&ping), Ok(Incoming::Reply(json!({"type": 1}))));
    let other = json!({"id": "1", "application_id": "2", "type": 1, "token": "t"});
    assert!(matches!(read_of(&other), Err(EventError::Malformed(_))));
    assert!(read(b"{", "1", now()).is_err());
}

#[test]
fn a_command_asks_the_agent_that_it_names() {
    let asked = question(&command(json!([{"name": "question", "type": 3, "value": " How long? "}])));
    assert_eq!((asked.text.as_str(), asked.user.as_str(), asked.message.as_str()), ("How long?", "7", "900"));
    assert!(asked.mentions_connector && !asked.place.is_direct);
    let ticket = asked.place.ticket.unwrap();
    assert_eq!((ticket.token.as_str(), ticket.until), ("a-token", after(now(), TICKET_TTL)));
    let profile = asked.profile.unwrap();
    assert_eq!((profile.display_name.as_deref(), &profile.more["locale"]), (Some("Ann"), &json!("de")));
    let named = json!([{"name": "question", "value": "hi"}, {"name": "agent", "value": "@Chef"}]);
    assert_eq!(question(&command(named)).text, "@chef hi");
    let mut direct = command(json!([{"name": "question", "value": "hi"}]));
    direct.as_object_mut().unwrap().remove("guild_id");
    direct["user"] = direct["member"]["user"].clone();
    direct.as_object_mut().unwrap().remove("member");
    assert!(question(&direct).place.is_direct);
}

#[test]
fn a_file_comes_with_a_question() {
    let mut with_file = command(json!([{"name": "question", "value": "look"}, {"name": "file", "value": "8"}]));
    with_file["data"]["resolved"] =
        json!({"attachments": {"8": {"filename": "a.txt", "size": 3, "url": "https://x/a"}}});
    let files = question(&with_file).files;
    assert_eq!((files.len(), files[0].name.as_str()), (1, "a.txt"));
}

#[test]
fn what_is_no_command_of_ours_is_refused() {
    let fine = command(json!([{"name": "question", "value": "hi"}]));
    for (pointer, wrong) in [
        ("/token", json!("../@me")),
        ("/token", json!("..")),
        ("/token", json!("")),
        ("/token", json!("t".repeat(TICKET_BYTES_MAX + 1))),
        ("/id", json!("x")),
        ("/channel_id", json!("50/messages")),
        ("/channel_id", Value::Null),
        ("/member", Value::Null),
        ("/data/name", json!("sudo")),
        ("/type", json!(3)),
        ("/data/options", json!([{"name": "agent", "value": "a b"}])),
    ] {
        let mut bad = fine.clone();
        *bad.pointer_mut(pointer).unwrap() = wrong.clone();
        assert!(matches!(read_of(&bad), Err(EventError::Malformed(_))), "{pointer} {wrong}");
    }
    let mut longest = fine;
    longest["token"] = json!("t".repeat(TICKET_BYTES_MAX));
    assert!(read_of(&longest).is_ok());
}

#[test]
fn who_asked_too_much_is_told_so_alone_in_the_own_language() {
    let body = command(json!([])).to_string();
    assert_eq!(acknowledgement(body.as_bytes(), Reception::Taken), json!({"type": 5}));
    let told = acknowledgement(body.as_bytes(), Reception::Dropped);
    assert_eq!((&told["type"], &told["data"]["flags"]), (&json!(4), &json!(64)));
    let german = Sentences::in_language(SpokenLanguage::German).decision_too_many_messages();
    assert_eq!(told["data"]["content"], german);
}

proptest! {
    #[test]
    fn no_body_panics(body in proptest::collection::vec(any::<u8>(), 0..80), key in "(id|token|data|member|type)", text in ".{0,20}") {
        let _ = read(&body, "1", now());
        let mut changed = command(json!([]));
        changed[key] = json!(text);
        let _ = read_of(&changed);
        let _ = acknowledgement(&body, Reception::Dropped);
    }
}
