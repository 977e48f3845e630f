//! Bytes of strangers: refused or read, never a panic.

use forecourt_testkit::dear;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{DIALECTS, message};
use crate::codec::{Dialect, DialectValue, Method};
use crate::model::{OperationError, Part, Role};

/// Reads `value` as everything that it could be.
fn read_as_everything(value: &Value) {
    read_as(value, &Method::ALL);
}

/// Reads `value` as the parameters and as the result of `methods`.
fn read_as(value: &Value, methods: &[Method]) {
    for dialect in DIALECTS {
        for &method in methods {
            if let Err(fault) = dialect.read_params(method, value.clone()) {
                assert!(matches!(&fault, OperationError::InvalidParams(all) if !all.is_empty()), "{fault:?}");
            }
            if let Err(fault) = dialect.read_outcome(method, value.clone()) {
                assert_eq!(fault, OperationError::InvalidAgentResponse);
            }
        }
    }
}

#[test]
fn hostile_json_is_refused_or_read() {
    let Some(bytes) = forecourt_testkit::vectors("json-hostile/cases.json") else { return };
    let cases: Vec<Value> = serde_json::from_slice(&bytes).unwrap();
    for case in cases {
        let Some(json) = case["json"].as_str() else { continue };
        let Ok(value) = forecourt_core::json::parse(json.as_bytes()) else { continue };
        // The large ones take long to copy: they are read as what is read most.
        let methods = if json.len() > 10_000 { &[Method::Send] } else { Method::ALL.as_slice() };
        read_as(&value, methods);
        read_as(&json!({"message":value,"id":value,"taskId":value,"name":value,"status":value}), methods);
        read_as(&json!({"message":{"messageId":"m","role":"ROLE_USER","parts":value,"metadata":value}}), methods);
        read_as(&json!({"task":{"id":"t","status":value,"artifacts":value,"history":[value]}}), methods);
    }
}

/// Keys and words that mean something to some dialect, so that random trees get deep.
fn word() -> impl Strategy<Value = String> {
    const WORDS: &str = "message task status artifact parts content text raw url data file kind role id name taskId \
        task_id messageId contextId configuration pushNotificationConfig config parent url bytes uri metadata \
        artifacts history statusUpdate artifactUpdate state timestamp user agent ROLE_USER submitted tasks/t \
        TASK_STATE_WORKING historyLength pageSize authentication scheme schemes token configs tasks";
    let known = proptest::sample::select(WORDS.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    prop_oneof![9 => known, 1 => ".{0,8}"]
}

pub(super) fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(word(), inner, 0..6).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// A good request with one of its values replaced by `other`.
pub(super) fn spoil(value: &mut Value, path: &[usize], other: Value) {
    let child = match (path, &mut *value) {
        ([step, ..], Value::Array(items)) if !items.is_empty() => {
            let index = step % items.len();
            items.get_mut(index)
        }
        ([step, ..], Value::Object(map)) if !map.is_empty() => {
            let index = step % map.len();
            map.values_mut().nth(index)
        }
        _ => None,
    };
    match child {
        Some(child) => spoil(child, &path[1..], other),
        None => *value = other,
    }
}

proptest! {
    #![proptest_config(dear(64))]

    #[test]
    fn any_json_is_refused_or_read(value in json()) {
        read_as_everything(&value);
    }

    #[test]
    fn any_spoilt_request_is_refused_or_read(path in vec(any::<usize>(), 1..6), other in json()) {
        for dialect in DIALECTS {
            let written = DialectValue(dialect, &message(Role::User, vec![Part::text("x"), Part::data(json!({}))])).to_value();
            let mut params = json!({"message":written,"configuration":{"historyLength":1,"blocking":true}});
            spoil(&mut params, &path, other.clone());
            read_as_everything(&params);
        }
    }

    #[test]
    fn an_id_is_kept_byte_for_byte(id in ".{1,60}") {
        let params = json!({"message":{"messageId":id,"contextId":id,"role":1,"parts":[{"text":id}]}});
        let message = super::sent(Dialect::Json10, params).message;
        prop_assert_eq!(&message.id, &id);
        prop_assert_eq!(message.context, Some(id.clone()));
        prop_assert_eq!(message.parts, vec![Part::text(id)]);
    }
}
