//! What a client did wrong is refused and named.

use serde_json::{Value, json};

use super::{DIALECTS, refused};
use crate::codec::limits::VIOLATIONS_MAX;
use crate::codec::{Dialect, Method};
use crate::model::{Operation, OperationError};

use Dialect::{Json03, Json10, Proto03};

/// A good send with one member of its message replaced, or removed by `null`.
fn send_with(dialect: Dialect, member: &str, value: Value) -> Value {
    let mut message = match dialect {
        Json03 => json!({"messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]}),
        Proto03 => json!({"messageId":"m","role":"ROLE_USER","content":[{"text":"x"}]}),
        Json10 => json!({"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}),
    };
    message[member] = value;
    json!({ "message": message })
}

fn parts(dialect: Dialect) -> &'static str {
    if dialect == Proto03 { "content" } else { "parts" }
}

#[test]
fn params_that_are_no_object_are_refused() {
    for dialect in DIALECTS {
        for params in [json!("x"), json!([]), json!(1), json!(true)] {
            for method in Method::ALL {
                assert_eq!(refused(dialect, method, params.clone()), ["params"]);
            }
        }
    }
}

#[test]
fn what_is_required_is_named_when_it_is_missing() {
    let rows = [
        (Method::Send, ["message", "message", "message"]),
        (Method::Stream, ["message", "message", "message"]),
        (Method::Get, ["id", "name", "id"]),
        (Method::Cancel, ["id", "name", "id"]),
        (Method::Subscribe, ["id", "name", "id"]),
        (Method::PushCreate, ["pushNotificationConfig", "url", "url"]),
        (Method::PushGet, ["id", "name", "taskId"]),
        (Method::PushList, ["id", "parent", "taskId"]),
        (Method::PushDelete, ["id", "name", "taskId"]),
    ];
    for (method, fields) in rows {
        for (dialect, field) in DIALECTS.into_iter().zip(fields) {
            for params in [json!({}), json!(null)] {
                assert_eq!(refused(dialect, method, params)[0], field, "{dialect:?} {method:?}");
            }
        }
    }
    assert_eq!(refused(Json10, Method::PushCreate, json!({"url":"https://h.example"})), ["taskId"]);
    assert_eq!(refused(Proto03, Method::PushCreate, json!({"url":"https://h.example"})), ["parent"]);
    assert_eq!(refused(Json10, Method::PushGet, json!({"taskId":"t"})), ["id"]);
    assert_eq!(refused(Json03, Method::PushDelete, json!({"id":"t"})), ["pushNotificationConfigId"]);
}

#[test]
fn a_bad_message_names_each_field() {
    for dialect in DIALECTS {
        let (list, first) = (parts(dialect), format!("message.{}[0]", parts(dialect)));
        let rows = [
            (list, json!(null), format!("message.{list}")),
            (list, json!([]), format!("message.{list}")),
            (list, json!("x"), format!("message.{list}")),
            (list, json!(["x"]), first.clone()),
            (list, json!([{}]), first.clone()),
            (list, json!([{"text":"x","data":{}}]), first.clone()),
            (list, json!([{"text":1}]), format!("{first}.text")),
            (list, json!([{"kind":"text","text":"x","metadata":[]}]), format!("{first}.metadata")),
            ("messageId", json!(null), "message.messageId".to_owned()),
            ("messageId", json!(""), "message.messageId".to_owned()),
            ("messageId", json!(7), "message.messageId".to_owned()),
            ("role", json!(null), "message.role".to_owned()),
            ("role", json!("robot"), "message.role".to_owned()),
            ("role", json!({}), "message.role".to_owned()),
            ("role", json!(dialect.role_name(crate::model::Role::Agent)), "message.role".to_owned()),
            ("contextId", json!([]), "message.contextId".to_owned()),
            ("taskId", json!(1), "message.taskId".to_owned()),
            ("extensions", json!("x"), "message.extensions".to_owned()),
            ("extensions", json!([1]), "message.extensions".to_owned()),
            ("referenceTaskIds", json!({}), "message.referenceTaskIds".to_owned()),
            ("metadata", json!("x"), "message.metadata".to_owned()),
        ];
        for (member, value, field) in rows {
            let params = send_with(dialect, member, value);
            let fields = refused(dialect, Method::Send, params.clone());
            assert_eq!(fields.len(), 1, "{dialect:?} {params}: {fields:?}");
            assert!(fields[0] == field, "{dialect:?} {params}: {fields:?}");
        }
    }
}

#[test]
fn enums_of_another_dialect_are_unknown() {
    assert_eq!(refused(Json10, Method::Send, send_with(Json10, "role", json!("user"))), ["message.role"]);
    assert_eq!(refused(Json10, Method::Send, send_with(Json10, "role", json!(0))), ["message.role"]);
    assert_eq!(refused(Json03, Method::Send, send_with(Json03, "role", json!("ROLE_USER"))), ["message.role"]);
    assert_eq!(refused(Json10, Method::List, json!({"status":"completed"})), ["status"]);
    assert_eq!(refused(Json10, Method::List, json!({"status":"TASK_STATE_PAUSED"})), ["status"]);
    assert_eq!(refused(Json10, Method::List, json!({"status":9})), ["status"]);
    assert_eq!(refused(Json03, Method::List, json!({"status":"TASK_STATE_WORKING"})), ["status"]);
}

#[test]
fn kinds_that_lie_are_refused() {
    let kind = |part: Value| refused(Json03, Method::Send, send_with(Json03, "parts", json!([part])));
    assert_eq!(kind(json!({"kind":"file","text":"x"})), ["message.parts[0].kind"]);
    assert_eq!(kind(json!({"kind":"video","video":{}})), ["message.parts[0]"]);
    assert_eq!(kind(json!({"kind":"file","file":{}})), ["message.parts[0].file"]);
    assert_eq!(kind(json!({"kind":"file","file":"x"})), ["message.parts[0].file"]);
    assert_eq!(kind(json!({"kind":"file","file":{"uri":"u","bytes":"aGk="}})), ["message.parts[0].file"]);
    assert_eq!(kind(json!({"kind":"file","file":{"bytes":"%"}})), ["message.parts[0].file.bytes"]);
    assert_eq!(refused(Json03, Method::Send, send_with(Json03, "kind", json!("task"))), ["message.kind"]);
}

#[test]
fn bad_base64_and_empty_urls_are_refused() {
    let field = |part: Value| refused(Json10, Method::Send, send_with(Json10, "parts", json!([part])));
    for raw in ["%%%", "a", "aGk=aGk=", "+_", "ä"] {
        assert_eq!(field(json!({ "raw": raw })), ["message.parts[0].raw"], "{raw}");
    }
    assert_eq!(field(json!({"raw":1})), ["message.parts[0].raw"]);
    assert_eq!(field(json!({"url":""})), ["message.parts[0].url"]);
}

#[test]
fn a_bad_configuration_names_each_field() {
    let field = |configuration: Value| {
        let mut params = send_with(Json10, "taskId", Value::Null);
        params["configuration"] = configuration;
        refused(Json10, Method::Send, params)
    };
    assert_eq!(field(json!([])), ["configuration"]);
    for length in [json!(-1), json!(1.5), json!("x"), json!(true), json!(4_294_967_296_u64), json!(2_147_483_648_u64)] {
        assert_eq!(field(json!({ "historyLength": length })), ["configuration.historyLength"]);
    }
    assert_eq!(field(json!({"returnImmediately":"yes"})), ["configuration.returnImmediately"]);
    assert_eq!(field(json!({"blocking":1})), ["configuration.blocking"]);
    assert_eq!(field(json!({"acceptedOutputModes":[{}]})), ["configuration.acceptedOutputModes"]);
    let push = |config: Value| field(json!({ "taskPushNotificationConfig": config }));
    assert_eq!(push(json!({})), ["configuration.taskPushNotificationConfig.url"]);
    assert_eq!(push(json!({"url":1})), ["configuration.taskPushNotificationConfig.url"]);
    assert_eq!(push(json!({"url":"u","token":"a\r\nb"})), ["configuration.taskPushNotificationConfig.token"]);
    let scheme = "configuration.taskPushNotificationConfig.authentication.scheme";
    assert_eq!(push(json!({"url":"u","authentication":{}})), [scheme]);
    assert_eq!(push(json!({"url":"u","authentication":{"scheme":"a\n"}})), [scheme]);
}

#[test]
fn s3_1_4_pages_have_1_to_100_tasks() {
    for size in [json!(1), json!(100)] {
        assert!(matches!(Json10.read_params(Method::List, json!({ "pageSize": size })), Ok(Operation::List(_))));
    }
    for size in [json!(0), json!(101), json!(-1), json!("many"), json!([])] {
        assert_eq!(refused(Json10, Method::List, json!({ "pageSize": size })), ["pageSize"]);
    }
}

#[test]
fn moments_must_be_moments() {
    for at in [json!("yesterday"), json!("2026-01-31"), json!("2026-13-01T00:00:00Z"), json!(5), json!({})] {
        assert_eq!(refused(Json10, Method::List, json!({ "statusTimestampAfter": at })), ["statusTimestampAfter"]);
    }
}

#[test]
fn names_must_be_paths() {
    for name in ["t", "tasks/", "task/t", "tasks/t/pushNotificationConfigs/", "tasks//pushNotificationConfigs/p"] {
        assert_eq!(refused(Proto03, Method::PushDelete, json!({ "name": name }))[0], "name", "{name}");
    }
}

#[test]
fn every_problem_is_named_up_to_a_bound() {
    let params = json!({"message":{"parts":[{},{"text":1}]},"metadata":1});
    let fields = refused(Json10, Method::Send, params);
    assert_eq!(fields, ["message.messageId", "message.role", "message.parts[0]", "message.parts[1].text", "metadata"]);
    let many = vec![json!({}); VIOLATIONS_MAX + 1];
    assert_eq!(refused(Json10, Method::Send, send_with(Json10, "parts", many.into())).len(), VIOLATIONS_MAX);
}

#[test]
fn the_message_of_a_refusal_says_what_would_be_right() {
    let fault = Json10.read_params(Method::Send, send_with(Json10, "parts", json!([]))).unwrap_err();
    assert_eq!(fault.to_string(), "message.parts: must have at least one item");
    assert!(matches!(fault, OperationError::InvalidParams(_)));
}
