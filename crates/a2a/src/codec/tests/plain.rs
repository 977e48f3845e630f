//! What the short way reads means the same on the long one, and nothing else is taken there.

use forecourt_core::json;
use forecourt_core::limits::JSON_DEPTH_MAX;
use forecourt_testkit::{dear, vector_files, vectors};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::DIALECTS;
use super::hostile::{json, spoil};
use super::round_trips::{any_message, item, operation, send};
use crate::codec::limits::{CLIENT_ID_BYTES_MAX, LABEL_BYTES_MAX, MODE_BYTES_MAX, PARTS_MAX};
use crate::codec::{Dialect, DialectValue, Method, PlainCall};
use crate::model::*;
use Dialect::{Json03, Json10, Proto03};

/// What the short way makes of a body, which the long one must agree with.
fn plain(dialect: Dialect, body: &[u8]) -> Option<Send> {
    let send = dialect.read_plain_send(body)?;
    let tree = json::parse(body).expect("what is plain is JSON");
    let long = dialect.read_params(Method::Send, tree).expect("what is plain is right");
    assert_eq!(long, Operation::Send(Box::new(send.clone())), "{dialect:?}");
    Some(send)
}

/// The same in the envelope of JSON-RPC.
fn call(body: &[u8]) -> Option<PlainCall> {
    let call = PlainCall::read(body)?;
    let long = crate::rpc::read(body, Ok(Some(call.version))).expect("what is plain is a request");
    assert_eq!((&long.id, long.method, long.version), (&call.id, call.method, call.version));
    let operation = long.dialect().read_params(Method::Send, long.params).expect("what is plain is right");
    assert_eq!(operation, Operation::Send(call.send.clone()));
    Some(call)
}

/// An answer, likewise.
fn answer(dialect: Dialect, is_framed: bool, body: &[u8]) -> Option<Message> {
    let message = dialect.read_plain_answer(is_framed, body)?;
    let mut tree = json::parse(body).expect("what is plain is JSON");
    let result = if is_framed { tree["result"].take() } else { tree };
    let long = dialect.read_outcome(Method::Send, result);
    assert_eq!(long, Ok(OperationOutcome::Sent(Item::Message(message.clone()))), "{dialect:?}");
    Some(message)
}

#[test]
fn usual_answers_are_plain() {
    let message = |role, parts| json!({"messageId": "m", "role": role, "contextId": "c", "parts": parts});
    let in_1_0 = json!({"message": message("ROLE_AGENT", json!([{"text": "a", "mediaType": "text/markdown"}]))});
    let mut in_0_3 = message("agent", json!([{"kind": "text", "text": "a"}]));
    in_0_3["kind"] = "message".into();
    for (dialect, result) in [(Json10, in_1_0.clone()), (Json03, in_0_3.clone())] {
        let frame = json!({"jsonrpc": "2.0", "id": 1, "result": result}).to_string();
        assert!(answer(dialect, true, frame.as_bytes()).is_some(), "{dialect:?}");
    }
    assert!(answer(Json10, false, in_1_0.to_string().as_bytes()).is_some());
    let task = json!({"jsonrpc": "2.0", "id": 1, "result": {"task": {"id": "t"}}}).to_string();
    let fault = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "x"}}).to_string();
    let mixed = json!({"jsonrpc": "2.0", "id": 1, "result": {"message": in_0_3}}).to_string();
    for body in [task, fault, mixed] {
        assert!(answer(Json10, true, body.as_bytes()).is_none(), "{body}");
    }
}

fn usual(dialect: Dialect) -> serde_json::Value {
    match dialect {
        Json03 => json!({"message": {"kind": "message", "messageId": "m", "role": "user", "contextId": "c",
            "parts": [{"kind": "text", "text": "a \u{e9} \n"}]}, "configuration": {"blocking": false}}),
        Proto03 => json!({"message": {"messageId": "m", "role": "ROLE_USER", "content": [{"text": "a"}]},
            "configuration": {"historyLength": 3}}),
        Json10 => json!({"message": {"messageId": "m", "role": "ROLE_USER", "taskId": "", "metadata": {"a": [1, null]},
            "parts": [{"text": "a"}, {"data": {"x": 1.5}}, {"url": "https://a.example/", "mediaType": "image/png"}]},
            "configuration": {"returnImmediately": true, "acceptedOutputModes": ["text/plain"]}}),
    }
}

#[test]
fn usual_sends_are_plain() {
    for dialect in DIALECTS {
        let params = usual(dialect);
        assert!(plain(dialect, params.to_string().as_bytes()).is_some(), "{dialect:?}");
    }
    for (dialect, method) in [(Json03, "message/send"), (Json10, "SendStreamingMessage")] {
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": usual(dialect)}).to_string();
        assert!(call(body.as_bytes()).is_some_and(|call| call.id == 7), "{method}");
    }
}

#[test]
fn what_is_not_plain_is_for_the_long_way() {
    for spoiled in [
        json!({"message": {"message_id": "m", "role": "ROLE_USER", "parts": [{"text": "a"}]}}),
        json!({"message": {"messageId": "m", "role": 1, "parts": [{"text": "a"}]}}),
        json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "a", "url": "b"}]}}),
        json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": []}}),
        json!({"message": {"messageId": "", "role": "ROLE_USER", "parts": [{"text": "a"}]}}),
        json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "a"}]}, "tenant": "chef"}),
        json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "a"}], "metadata": []}}),
    ] {
        assert!(plain(Json10, spoiled.to_string().as_bytes()).is_none(), "{spoiled}");
    }
    let twice = r#"{"message":{"messageId":"m","messageId":"n","role":"ROLE_USER","parts":[{"text":"a"}]}}"#;
    let inside = r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a"}],"metadata":{"a":1,"a":2}}}"#;
    for body in [twice, inside] {
        assert!(plain(Json10, body.as_bytes()).is_none(), "{body}");
    }
}

#[test]
fn bounds_are_those_of_the_long_way() {
    let with = |id: usize, filename: usize, media_type: usize, parts: usize| {
        let part = json!({"text": "a", "filename": "f".repeat(filename), "mediaType": "t".repeat(media_type)});
        let message = json!({"messageId": "m".repeat(id), "role": "ROLE_USER", "parts": vec![part; parts]});
        plain(Json10, json!({"message": message}).to_string().as_bytes()).is_some()
    };
    assert!(with(CLIENT_ID_BYTES_MAX, LABEL_BYTES_MAX, MODE_BYTES_MAX, PARTS_MAX));
    assert!(!with(CLIENT_ID_BYTES_MAX + 1, 1, 1, 1));
    assert!(!with(1, LABEL_BYTES_MAX + 1, 1, 1));
    assert!(!with(1, 1, MODE_BYTES_MAX + 1, 1));
    assert!(!with(1, 1, 1, PARTS_MAX + 1));
}

#[test]
fn nesting_counts_from_the_outside() {
    fn nested(levels: usize) -> String {
        format!("{}{}", "[".repeat(levels), "]".repeat(levels))
    }
    // Around the metadata of a message stand the parameters and the message, around that of a part two more.
    let of_message = |levels: usize| {
        let (deep, id) = (nested(levels), r#""messageId":"m","role":"ROLE_USER","parts":[{"text":"a"}]"#);
        format!(r#"{{"message":{{{id},"metadata":{{"a":{deep}}}}}}}"#)
    };
    let of_part = |levels: usize| {
        let deep = nested(levels);
        format!(r#"{{"message":{{"messageId":"m","role":"ROLE_USER","parts":[{{"data":{deep}}}]}}}}"#)
    };
    for (body, levels) in [(of_message as fn(usize) -> String, JSON_DEPTH_MAX - 3), (of_part, JSON_DEPTH_MAX - 4)] {
        let [fits, too_deep] = [levels, levels + 1].map(body);
        assert!(plain(Json10, fits.as_bytes()).is_some());
        assert!(plain(Json10, too_deep.as_bytes()).is_none() && json::parse(too_deep.as_bytes()).is_err());
        let in_frame = |params: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{params}}}"#).into_bytes()
        };
        assert!(call(&in_frame(&body(levels - 1))).is_some());
        assert!(call(&in_frame(&fits)).is_none());
    }
}

#[test]
fn hostile_json_is_read_alike_wherever_it_stands() {
    let read = |text: &str| {
        for at in ["{\"a\":1,\"metadata\":X}", "{\"metadata\":X}", "{\"metadata\":{\"a\":X}}", "X"] {
            let extra = at.replace('X', text);
            let message = r#""message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a"},{"data":D}]}"#;
            let body = format!(r#"{{{},"metadata":{extra}}}"#, message.replace('D', &extra));
            plain(Json10, body.as_bytes());
            call(format!(r#"{{"jsonrpc":"2.0","id":{text},"method":"SendMessage","params":{body}}}"#).as_bytes());
        }
    };
    if let Some(bytes) = vectors("json-hostile/cases.json") {
        let cases: Vec<serde_json::Value> = serde_json::from_slice(&bytes).unwrap();
        cases.iter().filter_map(|case| case["json"].as_str()).filter(|json| json.len() < 10_000).for_each(read);
    }
    for file in vector_files("json-parsing").unwrap_or_default() {
        let bytes = std::fs::read(file).unwrap();
        plain(Json10, &bytes);
        call(&bytes);
        if let Ok(text) = String::from_utf8(bytes) {
            read(&text);
        }
    }
}

proptest! {
    #![proptest_config(dear(128))]

    #[test]
    fn what_is_plain_means_the_same(send in send()) {
        for dialect in DIALECTS {
            plain(dialect, &DialectValue(dialect, &*send).to_bytes());
        }
        let mut without = *send;
        without.configuration.push = None;
        without.message.parts.retain(|part| !matches!(part.content, Content::Raw(_) | Content::Data(serde_json::Value::Null)));
        prop_assume!(!without.message.parts.is_empty());
        prop_assert_eq!(plain(Json10, &DialectValue(Json10, &without).to_bytes()), Some(without));
    }

    #[test]
    fn a_spoiled_send_is_never_read_otherwise(
        path in vec(any::<usize>(), 1..6),
        other in json(),
        dialect in proptest::sample::select(DIALECTS.to_vec()),
    ) {
        let mut params = usual(dialect);
        spoil(&mut params, &path, other);
        plain(dialect, params.to_string().as_bytes());
        let frame = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params});
        call(frame.to_string().as_bytes());
    }

    #[test]
    fn a_plain_answer_means_the_same(message in any_message(), path in vec(any::<usize>(), 1..6), other in json()) {
        for dialect in DIALECTS {
            let bare = DialectValue(dialect, &Item::Message(message.clone())).to_value();
            for is_framed in [true, false] {
                let frame = json!({"jsonrpc": "2.0", "id": 1, "result": bare.clone()});
                let mut body = if is_framed { frame } else { bare.clone() };
                answer(dialect, is_framed, body.to_string().as_bytes());
                spoil(&mut body, &path, other.clone());
                answer(dialect, is_framed, body.to_string().as_bytes());
            }
        }
    }

    #[test]
    fn members_are_written_in_order(item in item(), (_, operation) in operation()) {
        for dialect in DIALECTS {
            let item = DialectValue(dialect, &item);
            prop_assert_eq!(item.to_bytes(), serde_json::to_vec(&item.to_value()).unwrap());
            let params = DialectValue(dialect, &operation);
            prop_assert_eq!(params.to_bytes(), serde_json::to_vec(&params.to_value()).unwrap());
        }
    }
}
