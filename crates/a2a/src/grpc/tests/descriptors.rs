//! The descriptors say what peers of both versions say: bytes that peers wrote are read and written.

use prost_reflect::prost::Message;
use serde_json::{Value, json};

use crate::codec::Method;
use crate::grpc::schema::{Rpc, service};
use crate::grpc::{schema, transcode};
use crate::model::Version::{self, V0_3, V1_0};

fn bytes(hex: &str) -> Vec<u8> {
    let pair = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("it is hexadecimal");
    (0..hex.len()).step_by(2).map(pair).collect()
}

fn rpc(version: Version, name: &str) -> Rpc {
    Rpc::find(version, name).expect("there is such a method")
}

#[test]
fn s10_each_method_is_described_in_both_packages() {
    for version in [V0_3, V1_0] {
        let described = service(version).expect("there is a service");
        for method in Method::ALL {
            let found = Rpc::find(version, method.grpc_name(version)).map(|rpc| rpc.method);
            // 0.3 describes no list of tasks.
            let expected = (version == V1_0 || method != Method::List).then_some(method);
            assert_eq!(found, expected, "{version:?} {method:?}");
        }
        for described in described.methods() {
            let method = rpc(version, described.name()).method;
            let streams = matches!(method, Method::Stream | Method::Subscribe);
            assert_eq!(described.is_server_streaming(), streams, "{version:?} {method:?}");
            assert!(!described.is_client_streaming());
        }
    }
}

/// Requests and stream items as clients and servers of each version wrote them, and what they say.
fn written() -> Vec<(Version, bool, &'static str, Value)> {
    vec![
        (
            V0_3,
            true,
            "0a2e0a026d3120012a040a0268692a141a120a100a0e0a016e120911000000000000f03f2a0a12080a01751a03\
             612f621207120312016820011a0a0a080a016b12031a0176",
            json!({
                "message": {"messageId": "m1", "role": "ROLE_USER", "content": [
                    {"text": "hi"}, {"data": {"data": {"n": 1}}}, {"file": {"fileWithUri": "u", "mimeType": "a/b"}}]},
                "configuration": {"pushNotification": {"url": "h"}, "blocking": true},
                "metadata": {"k": "v"},
            }),
        ),
        (
            V0_3,
            false,
            "1a1c0a01741201631a12080512060a026d3220021a060880f2d6ca062001",
            json!({"statusUpdate": {"taskId": "t", "contextId": "c", "final": true, "status": {
                "state": "TASK_STATE_CANCELLED", "message": {"messageId": "m2", "role": "ROLE_AGENT"},
                "timestamp": "2026-01-01T00:00:00Z"}}}),
        ),
        (
            V0_3,
            false,
            "22150a01741201631a0b0a01611a016e2a030a01782801",
            json!({"artifactUpdate": {"taskId": "t", "contextId": "c", "lastChunk": true,
                "artifact": {"artifactId": "a", "name": "n", "parts": [{"text": "x"}]}}}),
        ),
        (
            V1_0,
            true,
            "0a046368656612300a026d3120012a040a0268692a1422122a100a0e0a016e120911000000000000f03f2a0c12\
             02000132016e3a03612f621a09120322016818002001220a0a080a016b12031a0176",
            json!({
                "tenant": "chef",
                "message": {"messageId": "m1", "role": "ROLE_USER", "parts": [
                    {"text": "hi"}, {"data": {"n": 1}}, {"raw": "AAE=", "filename": "n", "mediaType": "a/b"}]},
                "configuration": {"taskPushNotificationConfig": {"url": "h"}, "historyLength": 0,
                    "returnImmediately": true},
                "metadata": {"k": "v"},
            }),
        ),
        (
            V1_0,
            false,
            "1a1a0a01741201631a12080512060a026d3220021a060880f2d6ca06",
            json!({"statusUpdate": {"taskId": "t", "contextId": "c", "status": {
                "state": "TASK_STATE_CANCELED", "message": {"messageId": "m2", "role": "ROLE_AGENT"},
                "timestamp": "2026-01-01T00:00:00Z"}}}),
        ),
        (
            V1_0,
            false,
            "22150a01741201631a0b0a016112016e22030a01782801",
            json!({"artifactUpdate": {"taskId": "t", "contextId": "c", "lastChunk": true,
                "artifact": {"artifactId": "a", "name": "n", "parts": [{"text": "x"}]}}}),
        ),
    ]
}

#[test]
fn s10_bytes_of_peers_are_read_and_the_same_bytes_are_written() {
    for (version, is_request, hex, json) in written() {
        let rpc = rpc(version, "SendStreamingMessage");
        let kind = if is_request { rpc.input } else { rpc.output };
        assert_eq!(transcode::read(&kind, bytes(hex).as_slice()), Ok(json.clone()), "{version:?}");
        let message = transcode::write(&kind, json).expect("it fits");
        assert_eq!(message.encode_to_vec(), bytes(hex), "{version:?}");
    }
}

#[test]
fn what_a_message_has_no_field_for_is_left_out() {
    let kind = rpc(V1_0, "GetTask").output;
    let message = transcode::write(&kind, json!({"id": "t", "kind": "task", "later": [1]})).expect("it fits");
    assert_eq!(transcode::read(&kind, message.encode_to_vec().as_slice()), Ok(json!({"id": "t"})));
}

#[test]
fn a_value_that_does_not_fit_its_field_is_an_error() {
    let kind = rpc(V1_0, "GetTask").output;
    for wrong in [json!({"id": 1}), json!({"status": "done"}), json!({"history": {}}), json!([])] {
        assert!(transcode::write(&kind, wrong.clone()).is_err(), "{wrong}");
    }
}

#[test]
fn numbers_are_integers_only_where_they_are_whole() {
    let kind = rpc(V1_0, "GetTask").output;
    let numbers = json!({"a": 1, "b": -3, "c": 1.5, "d": 9_007_199_254_740_992_u64, "e": 1e300, "f": 0});
    let message = transcode::write(&kind, json!({"metadata": numbers})).expect("it fits");
    let back = transcode::read(&kind, message.encode_to_vec().as_slice());
    assert_eq!(back, Ok(json!({"metadata": numbers})));
}

#[test]
fn the_details_of_errors_are_described() {
    let kind = schema::status().expect("it is described");
    let json = json!({"code": 5, "message": "m", "details": [
        {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "R", "domain": "d", "metadata": {"a": "b"}},
        {"@type": "type.googleapis.com/google.rpc.BadRequest",
         "fieldViolations": [{"field": "f", "description": "d"}]},
    ]});
    let message = transcode::write(&kind, json.clone()).expect("it fits");
    assert_eq!(transcode::read(&kind, message.encode_to_vec().as_slice()), Ok(json));
}
