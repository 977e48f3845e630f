//! Everything that grows has a bound: what fits is read, one more is refused.

use serde_json::{Value, json};

use super::{refused, sent};
use crate::codec::limits::*;
use crate::codec::{Dialect, Method};
use crate::model::OperationError;

use Dialect::Json10;

fn send(message: Value, configuration: Value) -> Value {
    let mut whole = json!({"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]});
    let Value::Object(members) = message else { panic!("an object") };
    members.into_iter().for_each(|(name, value)| whole[name] = value);
    json!({"message":whole,"configuration":configuration})
}

/// `make` of the bound is read; of one more it is refused at `field`.
fn bounded(max: usize, field: &str, make: impl Fn(usize) -> Value) {
    sent(Json10, make(max));
    assert_eq!(refused(Json10, Method::Send, make(max + 1)), [field]);
}

fn many(item: Value) -> impl Fn(usize) -> Value {
    move |n| vec![item.clone(); n].into()
}

fn long(n: usize) -> Value {
    "x".repeat(n).into()
}

#[test]
fn lists_of_a_message() {
    let rows = [
        ("parts", PARTS_MAX, json!({"text":"x"})),
        ("referenceTaskIds", REFERENCES_MAX, json!("t")),
        ("extensions", EXTENSIONS_MAX, json!("https://e.example")),
    ];
    for (member, max, item) in rows {
        let list = many(item);
        bounded(max, &format!("message.{member}"), |n| send(json!({member:list(n)}), Value::Null));
    }
}

#[test]
fn texts_of_a_message() {
    for (member, max) in
        [("messageId", CLIENT_ID_BYTES_MAX), ("contextId", CLIENT_ID_BYTES_MAX), ("taskId", CLIENT_ID_BYTES_MAX)]
    {
        bounded(max, &format!("message.{member}"), |n| send(json!({member:long(n)}), Value::Null));
    }
    for (member, max) in [("referenceTaskIds", CLIENT_ID_BYTES_MAX), ("extensions", URL_BYTES_MAX)] {
        bounded(max, &format!("message.{member}"), |n| send(json!({member:[long(n)]}), Value::Null));
    }
    for (member, max) in [("filename", LABEL_BYTES_MAX), ("mediaType", MODE_BYTES_MAX)] {
        let make = |n| send(json!({"parts":[{"text":"x",member:long(n)}]}), Value::Null);
        bounded(max, &format!("message.parts[0].{member}"), make);
    }
}

#[test]
fn a_configuration() {
    let modes = "configuration.acceptedOutputModes";
    let list = many(json!("a/b"));
    bounded(MODES_MAX, modes, |n| send(json!({}), json!({"acceptedOutputModes":list(n)})));
    bounded(MODE_BYTES_MAX, modes, |n| send(json!({}), json!({"acceptedOutputModes":[long(n)]})));
    let push = |config: Value| send(json!({}), json!({"taskPushNotificationConfig":config}));
    let at = |field: &str| format!("configuration.taskPushNotificationConfig.{field}");
    bounded(URL_BYTES_MAX, &at("url"), |n| push(json!({"url":long(n)})));
    bounded(CLIENT_ID_BYTES_MAX, &at("id"), |n| push(json!({"url":"u","id":long(n)})));
    bounded(SECRET_BYTES_MAX, &at("token"), |n| push(json!({"url":"u","token":long(n)})));
    let how = |how: Value| push(json!({"url":"u","authentication":how}));
    let list = many(json!("Bearer"));
    let make = |n| how(json!({"scheme":"Bearer","schemes":list(n)}));
    bounded(SCHEMES_MAX, &at("authentication.schemes"), make);
    let make = |n| how(json!({"scheme":"Bearer","credentials":long(n)}));
    bounded(SECRET_BYTES_MAX, &at("authentication.credentials"), make);
}

#[test]
fn a_page_token() {
    let query = |n| json!({"pageToken":long(n)});
    assert!(Json10.read_params(Method::List, query(PAGE_TOKEN_BYTES_MAX)).is_ok());
    assert_eq!(refused(Json10, Method::List, query(PAGE_TOKEN_BYTES_MAX + 1)), ["pageToken"]);
}

#[test]
fn an_answer() {
    let list = many(json!({"artifactId":"a","parts":[]}));
    let read = |n| Json10.read_item(json!({"task":{"id":"t","status":{},"artifacts":list(n)}}));
    assert!(read(ANSWER_ITEMS_MAX).is_ok());
    assert_eq!(read(ANSWER_ITEMS_MAX + 1), Err(OperationError::InvalidAgentResponse));
}
