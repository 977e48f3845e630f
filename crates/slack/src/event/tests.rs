//! Events in the forms that Slack documents.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn envelope(event: Value) -> Vec<u8> {
    let whole = json!({
        "type": "event_callback", "team_id": "T1", "api_app_id": "A1", "event_id": "Ev1", "event": event,
        "authorizations": [{"team_id": "T1", "user_id": "UBOT", "is_bot": true}],
    });
    whole.to_string().into_bytes()
}

fn heard(event: Value) -> Incoming {
    read(&envelope(event), false).unwrap()
}

fn message_of(incoming: Incoming) -> ChatMessage {
    match incoming {
        Incoming::Message(message) | Incoming::Edited(message) => *message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_address_is_verified_by_its_challenge() {
    let body = json!({"type": "url_verification", "token": "x", "challenge": "abc"}).to_string();
    assert_eq!(read(body.as_bytes(), false), Ok(Incoming::Reply(json!({"challenge": "abc"}))));
}

#[test]
fn a_mention_in_a_channel_begins_a_thread_and_a_reply_is_in_one() {
    let event = json!({"type": "app_mention", "channel": "C1", "user": "U1", "text": "<@UBOT> hi", "ts": "1.1"});
    let message = message_of(heard(event));
    assert!(message.mentions_connector && !message.place.is_direct && !message.place.is_reply);
    assert_eq!((message.text.as_str(), message.place.thread.as_deref()), ("hi", Some("1.1")));
    let event = json!({
        "type": "message", "channel": "C1", "channel_type": "channel", "user": "U1", "text": "and salt?",
        "ts": "1.2", "thread_ts": "1.1",
    });
    let message = message_of(heard(event));
    assert!(!message.mentions_connector && message.place.is_reply);
    assert_eq!(message.place.thread.as_deref(), Some("1.1"));
}

#[test]
fn a_direct_message_is_answered_beside_it() {
    let event =
        json!({"type": "message", "channel": "D1", "channel_type": "im", "user": "U1", "text": "hi", "ts": "1.1"});
    let place = message_of(heard(event)).place;
    assert!(place.is_direct && place.thread.is_none() && !place.is_reply);
}

#[test]
fn programs_and_what_only_happens_are_passed_over() {
    for event in [
        json!({"type": "message", "channel": "C1", "bot_id": "B1", "user": "U9", "text": "hi", "ts": "1.1"}),
        json!({"type": "message", "channel": "C1", "user": "UBOT", "text": "hi", "ts": "1.1"}),
        json!({"type": "message", "subtype": "bot_message", "channel": "C1", "text": "hi", "ts": "1.1"}),
        json!({"type": "message", "subtype": "channel_join", "channel": "C1", "user": "U1", "ts": "1.1"}),
        json!({"type": "reaction_added", "user": "U1"}),
    ] {
        assert_eq!(heard(event.clone()), Incoming::Nothing, "{event}");
    }
    assert_eq!(read(b"payload=%7B%7D", true), Ok(Incoming::Nothing));
}

#[test]
fn an_edit_holds_the_message_as_it_is_now_and_a_deletion_its_place() {
    let event = json!({
        "type": "message", "subtype": "message_changed", "channel": "C1", "channel_type": "channel", "ts": "2.0",
        "message": {"type": "message", "user": "U1", "text": "<@UBOT> leek", "ts": "1.1"},
    });
    let Incoming::Edited(message) = heard(event) else { panic!() };
    assert_eq!((message.message.as_str(), message.text.as_str()), ("1.1", "leek"));
    let event = json!({
        "type": "message", "subtype": "message_deleted", "channel": "C1", "deleted_ts": "1.2", "ts": "2.1",
        "previous_message": {"type": "message", "user": "U1", "text": "x", "ts": "1.2", "thread_ts": "1.1"},
    });
    let Incoming::Deleted { place, message } = heard(event) else { panic!() };
    assert_eq!((message.as_str(), place.thread.as_deref()), ("1.2", Some("1.1")));
}

#[test]
fn a_guest_of_a_shared_channel_is_of_its_own_workspace() {
    let event =
        json!({"type": "app_mention", "channel": "C1", "user": "U1", "user_team": "T2", "text": "hi", "ts": "1.1"});
    assert_eq!(message_of(heard(event)).group, "T2");
}

#[test]
fn nobody_in_a_shared_channel_is_taken_for_a_member_whose_workspace_is_not_said() {
    let of = |is_shared: bool, team: Value| {
        let event =
            json!({"type": "app_mention", "channel": "C1", "user": "U1", "team": team, "text": "hi", "ts": "1.1"});
        let body = json!({
            "type": "event_callback", "team_id": "T1", "is_ext_shared_channel": is_shared, "event": event,
        });
        message_of(read(body.to_string().as_bytes(), false).unwrap()).group
    };
    assert_eq!((of(true, json!("T2")), of(true, json!("T1"))), ("T2".to_owned(), "T1".to_owned()));
    assert_eq!((of(true, Value::Null), of(false, Value::Null)), (UNKNOWN_TEAM.to_owned(), "T1".to_owned()));
}

#[test]
fn ids_that_are_too_long_or_could_be_taken_apart_are_refused_at_the_bound() {
    let of = |user: String| {
        read(&envelope(json!({"type": "app_mention", "channel": "C1", "user": user, "text": "x", "ts": "1.1"})), false)
    };
    assert!(of("U".repeat(ID_BYTES_MAX)).is_ok());
    assert!(of("U".repeat(ID_BYTES_MAX + 1)).is_err());
    for user in ["U1/U2", "U 1", "", "U1\n"] {
        assert!(of(user.to_owned()).is_err(), "{user:?}");
    }
}

proptest! {
    #[test]
    fn no_bytes_panic(body in proptest::collection::vec(any::<u8>(), 0..200), is_form: bool) {
        let _ = read(&body, is_form);
    }

    #[test]
    fn no_event_panics(kind in "(message|app_mention|x)", subtype in "(message_changed|message_deleted|file_share|y)",
                       text in ".{0,40}", ts in "[0-9.]{0,12}") {
        let _ = read(&envelope(json!({"type": kind, "subtype": subtype, "text": text, "ts": ts, "channel": "C1",
            "user": "U1", "deleted_ts": ts, "message": {"ts": ts, "user": "U1", "text": text}})), false);
    }
}
