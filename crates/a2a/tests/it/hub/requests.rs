//! What is no request, on each wire. The table of errors.

use forecourt_testkit::ScriptedAgent;
use serde_json::{Value, json};

use crate::hub::support::{Place, alone, bot, done, request, taking_pictures, text};
use crate::hub::wire::{ID, Op, Wire, merged};

/// Bytes of the largest body that is read.
const BODY_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Nesting of the deepest JSON that is read.
const JSON_DEPTH_MAX: usize = 64;

async fn echo() -> Place {
    bot(vec![text("hi"), done()]).await
}

async fn posted(place: &Place, version: &str, body: impl Into<axum::body::Body>) -> Value {
    let head = request("POST", "/a2a").header("content-type", "application/json").header("a2a-version", version);
    place.send(head, body).await.is(200).json()
}

#[tokio::test]
async fn bodies_that_are_no_call_get_the_codes_of_json_rpc() {
    let place = echo().await;
    let cases = [
        ("", -32700, Value::Null),
        ("{", -32700, Value::Null),
        ("nonsense", -32700, Value::Null),
        ("\u{feff}{}", -32700, Value::Null),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tasks/get"}"#, -32700, Value::Null),
        ("[]", -32600, Value::Null),
        ("null", -32600, Value::Null),
        ("{}", -32600, Value::Null),
        (r#"{"jsonrpc":"1.0","id":7,"method":"tasks/get"}"#, -32600, json!(7)),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"tasks/get"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":7}"#, -32600, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":{}}"#, -32600, json!(7)),
        (r#"{"jsonrpc":"2.0","id":"a","method":"tasks/eat"}"#, -32601, json!("a")),
        (r#"{"jsonrpc":"2.0","id":"a","method":""}"#, -32601, json!("a")),
        (r#"{"jsonrpc":"2.0","id":"a","method":"tasks/get","params":[]}"#, -32602, json!("a")),
        (r#"{"jsonrpc":"2.0","id":"a","method":"tasks/get","params":"x"}"#, -32602, json!("a")),
        (r#"{"jsonrpc":"2.0","id":"a","method":"tasks/get"}"#, -32602, json!("a")),
    ];
    for (body, code, id) in cases {
        let answer = posted(&place, "", body).await;
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{body}: {answer}");
        assert_eq!(answer["jsonrpc"], "2.0");
    }
    let no_text = posted(&place, "", &b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\"}"[..]).await;
    assert_eq!(no_text["error"]["code"], -32700);
}

#[tokio::test]
async fn ids_come_back_in_their_own_type() {
    let place = echo().await;
    for id in [json!("a"), json!(7), json!(null), json!(-1), json!("")] {
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "message/send",
            "params": {"message": Wire::Rpc03.said("hi")}});
        assert_eq!(posted(&place, "", call.to_string()).await["id"], id);
    }
}

#[tokio::test]
async fn bodies_of_http_json_that_are_no_object_are_400() {
    let place = echo().await;
    for (path, version) in [("/a2a/message:send", "1.0"), ("/a2a/v1/message:send", "")] {
        for body in ["{", "nonsense", "[]", "1", "", "{}"] {
            let head = request("POST", path).header("content-type", "application/json").header("a2a-version", version);
            let error = place.send(head, body).await.is(400).json()["error"].clone();
            assert_eq!((&error["code"], &error["status"]), (&json!(400), &json!("INVALID_ARGUMENT")), "{body:?}");
        }
    }
}

#[tokio::test]
async fn messages_that_are_wrong_are_invalid_params_and_the_field_is_named() {
    let place = echo().await;
    for wire in Wire::ALL {
        let parts = if wire == Wire::Rest03 { "content" } else { "parts" };
        let good = wire.said("hi");
        let without = |key: &str| {
            let mut message = good.clone();
            message.as_object_mut().unwrap().remove(key);
            message
        };
        let cases = [
            ("message", Value::Null),
            ("message", json!("hi")),
            ("message", json!([])),
            ("messageId", without("messageId")),
            ("messageId", merged(good.clone(), json!({"messageId": 7}))),
            ("messageId", merged(good.clone(), json!({"messageId": ""}))),
            ("role", without("role")),
            ("role", merged(good.clone(), json!({"role": "robot"}))),
            ("role", merged(good.clone(), json!({"role": if wire == Wire::Rpc03 { "agent" } else { "ROLE_AGENT" }}))),
            (parts, without(parts)),
            (parts, merged(good.clone(), json!({parts: []}))),
            (parts, merged(good.clone(), json!({parts: "hi"}))),
            (parts, merged(good.clone(), json!({parts: [{}]}))),
            (parts, merged(good.clone(), json!({parts: [wire.text("a"), 1]}))),
            ("contextId", merged(good.clone(), json!({"contextId": 7}))),
            ("contextId", merged(good.clone(), json!({"contextId": "x".repeat(257)}))),
            ("metadata", merged(good.clone(), json!({"metadata": "x"}))),
        ];
        for (field, message) in cases {
            for op in [Op::Send, Op::Stream] {
                let answer = wire.at(&place).call(op, json!({"message": message})).await;
                answer.is_fault(wire, -32602);
                assert!(answer.text().contains(field), "{field}: {}", answer.text());
            }
        }
    }
}

#[tokio::test]
async fn parameters_of_other_types_are_invalid_params() {
    let place = echo().await;
    for wire in Wire::RPC {
        let cases = [
            (Op::Send, merged(wire.sending(wire.said("hi")), json!({"configuration": 1}))),
            (Op::Send, merged(wire.sending(wire.said("hi")), json!({"configuration": {"historyLength": "all"}}))),
            (Op::Get, json!({"id": 7})),
            (Op::Get, json!({"id": ""})),
            (Op::Get, json!({"id": "x", "historyLength": -1})),
            (Op::Cancel, json!({})),
            (Op::Subscribe, json!({"id": null})),
            (Op::PushSet, json!({"taskId": "x"})),
            (Op::PushGet, json!({})),
            (Op::PushList, json!({"x": 1})),
            (Op::PushDelete, json!({"id": "x", "task": "y"})),
        ];
        for (op, params) in cases {
            wire.at(&place).call(op, params.clone()).await.is_fault(wire, -32602);
        }
    }
    for wire in [Wire::Rest03, Wire::Rest10] {
        wire.at(&place).call(Op::Get, json!({"id": "x", "historyLength": "-1"})).await.is_fault(wire, -32602);
        wire.at(&place).call(Op::Get, json!({"id": "x", "historyLength": "many"})).await.is_fault(wire, -32602);
        wire.at(&place).call(Op::List, json!({"pageSize": "x"})).await.is_fault(wire, -32602);
        wire.at(&place).call(Op::PushSet, json!({"id": "x"})).await.is_fault(wire, -32602);
    }
}

#[tokio::test]
async fn unknown_fields_are_passed_over_and_snake_case_is_understood() {
    let place = echo().await;
    let message =
        json!({"message_id": "m1", "role": "ROLE_USER", "parts": [{"text": "hi"}], "context_id": "c", "x": 1});
    for wire in Wire::V1_0 {
        let params = json!({"message": message, "configuration": {"history_length": 0, "y": {}}, "z": []});
        let task = wire.at(&place).call(Op::Send, params).await.task(wire);
        assert_eq!((&task["contextId"], task.get("history")), (&json!("c"), None));
    }
}

#[tokio::test]
async fn versions_that_are_not_spoken_are_refused() {
    let place = echo().await;
    for wire in Wire::ALL {
        for version in ["2.0", "0.2", "1", "one", "1.1", "9.9.9"] {
            let answer = wire.at(&place).with("a2a-version", version).says("hi").await;
            answer.is_fault(wire, -32009);
            assert!(answer.text().contains("1.0") && answer.text().contains("0.3"), "{}", answer.text());
        }
    }
}

#[tokio::test]
async fn a_method_of_one_version_is_refused_in_the_other() {
    let place = echo().await;
    for (wire, version) in
        [(Wire::Rpc03, "1.0"), (Wire::Rpc10, "0.3"), (Wire::Rpc10, ""), (Wire::Rest03, "1.0"), (Wire::Rest10, "0.3")]
    {
        let answer = wire.at(&place).with("a2a-version", version).says("hi").await;
        answer.is_fault(wire, -32009);
    }
    // Paths say which version they are of, so that naming it is not needed.
    Wire::Rest10.at(&place).with("a2a-version", "").says("hi").await.task(Wire::Rest10);
}

#[tokio::test]
async fn the_query_may_name_the_version_and_patches_mean_nothing() {
    let place = echo().await;
    let call =
        json!({"jsonrpc": "2.0", "id": ID, "method": "SendMessage", "params": {"message": Wire::Rpc10.said("hi")}});
    let head = request("POST", "/a2a?A2A-Version=1.0").header("content-type", "application/json");
    place.send(head, call.to_string()).await.task(Wire::Rpc10);
    for (wire, version) in [(Wire::Rpc10, "1.0.1"), (Wire::Rpc03, "0.3.0"), (Wire::Rest10, "1.0.0")] {
        wire.at(&place).with("a2a-version", version).says("hi").await.task(wire);
    }
}

#[tokio::test]
async fn a_body_that_is_not_json_is_not_read() {
    let agent = ScriptedAgent::saying(["hi"]);
    let place = alone(agent.clone()).await;
    let call =
        json!({"jsonrpc": "2.0", "id": ID, "method": "message/send", "params": {"message": Wire::Rpc03.said("a")}});
    for media_type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "json"]
    {
        let head = request("POST", "/a2a").header("content-type", media_type);
        place.send(head, call.to_string()).await.is_fault(Wire::Rpc03, -32005);
        let head = request("POST", "/a2a/message:send").header("content-type", media_type);
        let body = json!({"message": Wire::Rest10.said("hi")}).to_string();
        place.send(head, body).await.is_fault(Wire::Rest10, -32005);
    }
    place.send(request("POST", "/a2a"), call.to_string()).await.is_fault(Wire::Rpc03, -32005);
    let both = request("POST", "/a2a").header("content-type", "application/json").header("content-type", "text/plain");
    place.send(both, call.to_string()).await.is_fault(Wire::Rpc03, -32005);
    assert!(agent.heard().is_empty(), "a page of another site can't make a person's browser ask");
    for media_type in ["application/json", "Application/JSON; charset=utf-8", "application/a2a+json"] {
        let head = request("POST", "/a2a").header("content-type", media_type);
        place.send(head, call.to_string()).await.task(Wire::Rpc03);
    }
}

#[tokio::test]
async fn bodies_are_bounded() {
    let place = echo().await;
    for wire in Wire::ALL {
        let path = match wire {
            Wire::Rest03 => "/a2a/v1/message:send",
            Wire::Rest10 => "/a2a/message:send",
            Wire::Rpc03 | Wire::Rpc10 => "/a2a",
        };
        let version = if wire.is_1_0() { "1.0" } else { "0.3" };
        let head = || request("POST", path).header("content-type", "application/json").header("a2a-version", version);
        let method = if wire.is_1_0() { "SendMessage" } else { "message/send" };
        let call = match wire.is_rpc() {
            true => json!({"jsonrpc": "2.0", "id": ID, "method": method, "params": wire.sending(wire.said("hi"))}),
            false => wire.sending(wire.said("hi")),
        };
        let call = call.to_string();
        let of_size = |size: usize| format!("{call}{}", " ".repeat(size - call.len()));
        place.send(head(), of_size(BODY_BYTES_MAX)).await.task(wire);
        let refused = place.send(head(), of_size(BODY_BYTES_MAX + 1)).await.is(413);
        let code = if wire.is_rpc() { json!(-32600) } else { json!(413) };
        assert_eq!(refused.json()["error"]["code"], code, "{wire:?}");
    }
}

#[tokio::test]
async fn json_is_bounded_in_depth() {
    let place = echo().await;
    // `params`, `message` and `metadata` are around it, and the call itself.
    let deep = |depth: usize| format!("{}1{}", "[".repeat(depth - 4), "]".repeat(depth - 4));
    let call = |depth| {
        let message = Wire::Rpc10.said("hi").to_string();
        let message = message.replacen('{', &format!(r#"{{"metadata":{{"a":{}}},"#, deep(depth)), 1);
        format!(r#"{{"jsonrpc":"2.0","id":"{ID}","method":"SendMessage","params":{{"message":{message}}}}}"#)
    };
    assert!(posted(&place, "1.0", call(JSON_DEPTH_MAX)).await.get("result").is_some());
    assert_eq!(posted(&place, "1.0", call(JSON_DEPTH_MAX + 1)).await["error"]["code"], -32700);
    assert_eq!(posted(&place, "1.0", call(100_000)).await["error"]["code"], -32700);
}

#[tokio::test]
async fn a_media_type_that_the_agent_does_not_take_is_named() {
    let agent = ScriptedAgent::saying(["hi"]);
    let place = crate::hub::support::Setup::default().with(taking_pictures("bot"), agent.clone()).start().await;
    for wire in Wire::ALL {
        let sent = |file: Value| wire.at(&place).call(Op::Send, wire.sending(wire.saying(&[wire.text("see"), file])));
        for media_type in ["application/pdf", "video/mp4", "images/png"] {
            let answer = sent(wire.file("eA==", media_type)).await;
            answer.is_fault(wire, -32005);
            assert!(answer.text().contains(media_type) && answer.text().contains("image/*"), "{}", answer.text());
        }
        sent(wire.file("eA==", "image/png")).await.task(wire);
        sent(wire.file("eA==", "IMAGE/PNG; q=1")).await.task(wire);
        let streamed = json!({"message": wire.saying(&[wire.file("eA==", "application/pdf")])});
        wire.at(&place).call(Op::Stream, streamed).await.is_fault(wire, -32005);
    }
    assert_eq!(agent.heard().len(), 2 * Wire::ALL.len());
}

#[tokio::test]
async fn extensions_are_echoed_under_the_name_that_was_used() {
    const POLICY: &str = "https://mentionable.dev/ns/policy/v0.1";
    let agent = ScriptedAgent::saying(["hi"]);
    let place = alone(agent.clone()).await;
    let wanted = format!("https://other.example/x, {POLICY},{POLICY}");
    for wire in Wire::ALL {
        for (name, other) in [("a2a-extensions", "x-a2a-extensions"), ("x-a2a-extensions", "a2a-extensions")] {
            let answer = wire.at(&place).with(name, &wanted).says("hi").await;
            assert_eq!((answer.field(name), answer.field(other)), (Some(POLICY), None), "{wire:?}");
            let told = agent.heard().pop().unwrap().extensions;
            assert_eq!(told, ["https://other.example/x", POLICY], "the agent sees what was asked for");
            let response = wire.at(&place).with(name, POLICY).open(Op::Stream, wire.sending(wire.said("hi"))).await;
            assert_eq!(response.headers()[name], POLICY, "streams too");
            let unknown = wire.at(&place).with(name, "https://other.example/x").says("hi").await;
            assert_eq!(unknown.field(name), None);
        }
    }
}

#[tokio::test]
async fn http_json_answers_in_the_media_type_of_its_version() {
    let place = echo().await;
    let said = |wire: Wire, accept: &'static str| {
        let call = wire.at(&place).with("accept", accept);
        async move { call.says("hi").await.field("content-type").unwrap().to_owned() }
    };
    assert_eq!(said(Wire::Rest10, "*/*").await, "application/a2a+json");
    assert_eq!(said(Wire::Rest10, "application/json").await, "application/json");
    assert_eq!(said(Wire::Rest10, "application/json, application/a2a+json").await, "application/a2a+json");
    assert_eq!(said(Wire::Rest03, "*/*").await, "application/json");
    assert_eq!(said(Wire::Rpc10, "*/*").await, "application/json");
    assert_eq!(said(Wire::Rpc03, "text/html").await, "application/json");
}

#[tokio::test]
async fn answers_are_not_to_be_kept() {
    let place = echo().await;
    for wire in Wire::ALL {
        assert_eq!(wire.at(&place).says("hi").await.field("cache-control"), Some("no-store"));
        let response = wire.at(&place).open(Op::Stream, wire.sending(wire.said("hi"))).await;
        assert_eq!(response.headers()["cache-control"], "no-store");
        assert_eq!(response.headers()["x-accel-buffering"], "no");
    }
}

#[tokio::test]
async fn errors_before_a_stream_are_json_in_1_0_and_a_frame_over_json_rpc_of_0_3() {
    let place = echo().await;
    for wire in Wire::ALL {
        let answer = wire.at(&place).about(Op::Subscribe, "none").await;
        answer.is_fault(wire, -32001);
        assert_eq!(answer.is_stream(), wire == Wire::Rpc03, "{wire:?}");
        let answer = wire.at(&place).call(Op::Stream, json!({"message": 1})).await;
        answer.is_fault(wire, -32602);
        assert_eq!(answer.is_stream(), wire == Wire::Rpc03, "{wire:?}");
    }
}

#[tokio::test]
async fn hostile_json_never_breaks_anything() {
    let Some(bytes) = forecourt_testkit::vectors("json-hostile/cases.json") else { return };
    let cases: Vec<Value> = serde_json::from_slice(&bytes).unwrap();
    let place = echo().await;
    for text in cases.iter().filter_map(|case| case["json"].as_str()) {
        let json = || request("POST", "/a2a").header("content-type", "application/json");
        let error = place.send(json(), text.to_owned()).await.is(200).json()["error"]["code"].as_i64();
        assert!(matches!(error, Some(-32700 | -32600 | -32601)), "{error:?} {text}");
        let inside = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{text}}}"#);
        let error = place.send(json(), inside).await.is(200).json()["error"]["code"].as_i64();
        assert!(matches!(error, Some(-32700 | -32600 | -32602 | -32601 | -32001)), "{error:?} {text}");
    }
}
