//! What clients of others' making stumbled over.

use forecourt_surface::base_url::PlainOrigin;
use http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::hub::answer::Answer;
use crate::hub::support::{InTurn, Place, alone, ask, bot, done, hanging, request, text, two};
use crate::hub::wire::{Op, Wire, merged};

fn said_by_user(task: &Value) -> Value {
    task["history"].as_array().unwrap()[0].clone()
}

#[tokio::test]
async fn metadata_extensions_and_references_are_kept_in_history() {
    let place = bot(vec![text("hi"), done()]).await;
    for wire in Wire::ALL {
        let fields = json!({
            "metadata": {"urn:example:a": {"x": [1]}},
            "extensions": ["urn:example:a"],
            "referenceTaskIds": ["t-1"],
        });
        let part = merged(wire.text("hello"), json!({"metadata": {"urn:example:b": 2}}));
        let message = merged(wire.saying(&[wire.text("first"), part]), fields);
        let sent = wire.at(&place).call(Op::Send, wire.sending(message)).await.task(wire);
        let read = wire.at(&place).about(Op::Get, sent["id"].as_str().unwrap()).await.task(wire);
        for task in [sent, read] {
            let shown = said_by_user(&task);
            assert_eq!(shown["metadata"], json!({"urn:example:a": {"x": [1]}}), "{wire:?} {shown}");
            assert_eq!(shown["extensions"], json!(["urn:example:a"]), "{wire:?}");
            if wire != Wire::Rest03 {
                assert_eq!(shown["referenceTaskIds"], json!(["t-1"]), "{wire:?}; not in the buffers of 0.3");
            }
            let parts = if wire == Wire::Rest03 { &shown["content"] } else { &shown["parts"] };
            assert_eq!(parts[0].get("metadata"), None, "{wire:?} {shown}");
            assert_eq!(parts[1]["metadata"], json!({"urn:example:b": 2}), "{wire:?} {shown}");
        }
    }
}

#[tokio::test]
async fn what_proves_something_is_not_kept_in_history() {
    let place = bot(vec![text("hi"), done()]).await;
    let own = json!({"mentionable": {"identity_evidence": [{"secret": "the-proof"}], "kept": 1}});
    for wire in Wire::ALL {
        let task = wire.at(&place).says_with("hello", json!({"metadata": own})).await;
        assert!(!task.text().contains("the-proof"), "{wire:?} {}", task.text());
        assert_eq!(said_by_user(&task.task(wire))["metadata"], json!({"mentionable": {"kept": 1}}));
    }
}

#[tokio::test]
async fn s4_4_6_a_tenant_names_an_agent_over_json_too() {
    let (place, ..) = two().await;
    for wire in Wire::V1_0 {
        let to = async |base: &'static str, tenant: &str| {
            let params = merged(wire.sending(wire.said("hi")), json!({"tenant": tenant}));
            wire.at(&place).to(base).call(Op::Send, params).await
        };
        for (base, tenant, expected) in [("/a2a", "gate", "gate"), ("/a2a", "", "chef"), ("/a2a/gate", "gate", "gate")]
        {
            let task = to(base, tenant).await.task(wire);
            assert_eq!(crate::hub::answer::artifact_text(&task), expected, "{wire:?} {base} {tenant}");
        }
        to("/a2a", "nobody").await.is_fault(wire, -32600);
        to("/a2a", "no handle!").await.is_fault(wire, -32602);
        to("/a2a/chef", "gate").await.is_fault(wire, -32602);
        let begun = to("/a2a", "gate").await.task(wire);
        let params = json!({"id": begun["id"], "tenant": "chef"});
        if wire.is_rpc() {
            wire.at(&place).call(Op::Get, params).await.is_fault(wire, -32001);
        }
    }
}

#[tokio::test]
async fn kindless_parts_are_what_they_hold_in_0_3() {
    let place = bot(vec![text("hi"), done()]).await;
    let send = async |part: Value| {
        let message = Wire::Rpc03.saying(&[json!({"text": "hi"}), part]);
        Wire::Rpc03.at(&place).call(Op::Send, json!({"message": message})).await
    };
    for part in [json!({"text": "there"}), json!({"data": {"n": 1}})] {
        let task = send(part.clone()).await.task(Wire::Rpc03);
        assert_eq!(crate::hub::answer::artifact_text(&task), "hi");
        assert_eq!(task["history"][0]["parts"][1].as_object().map(|part| part.contains_key("kind")), Some(true));
    }
    for part in [json!({}), json!({"text": "a", "data": {}}), json!({"kind": "data", "text": "a"})] {
        let answer = send(part).await;
        answer.is_fault(Wire::Rpc03, -32602);
        assert!(answer.text().contains("message.parts[1]"), "{}", answer.text());
    }
    // The protocol buffers of 0.3 have none.
    Wire::Rest03.at(&place).says("hi").await.task(Wire::Rest03);
}

#[tokio::test]
async fn an_unknown_task_is_not_found_in_words_too() {
    let place = alone(hanging()).await;
    for wire in Wire::ALL {
        let answer = wire.at(&place).about(Op::Get, "nonexistent").await;
        answer.is_fault(wire, -32001);
        assert!(answer.text().contains("not found"), "{}", answer.text());
    }
}

#[tokio::test]
async fn a_configuration_without_an_id_is_the_default_one_in_0_3() {
    let place = alone(hanging()).await;
    let wire = Wire::Rpc03;
    let params = merged(wire.sending(wire.said("hi")), json!({"configuration": wire.at_once()}));
    let task = wire.at(&place).call(Op::Send, params).await.task(wire);
    let push = json!({"taskId": task["id"], "pushNotificationConfig": {"url": "https://93.184.216.34/hook"}});
    let made = wire.at(&place).call(Op::PushSet, push).await.result(wire);
    assert_eq!(made["pushNotificationConfig"]["id"], "default");
    let named = json!({"id": task["id"], "pushNotificationConfigId": "default"});
    assert_eq!(wire.at(&place).call(Op::PushGet, named).await.result(wire), made);
}

#[tokio::test]
async fn the_root_of_the_domain_takes_what_the_hub_takes() {
    let place = bot(vec![text("hi"), done()]).await;
    for wire in Wire::RPC {
        assert_eq!(crate::hub::answer::artifact_text(&wire.at(&place).to("/").says("hi").await.task(wire)), "hi");
    }
}

#[tokio::test]
async fn s8_6_the_card_says_since_when_it_is_what_it_is() {
    let place = bot(vec![done()]).await;
    let card = |fields: &[(&str, &str)]| {
        let head = request("GET", "/.well-known/agent-card.json");
        place.send(fields.iter().fold(head, |head, (name, value)| head.header(*name, *value)), "")
    };
    let first = card(&[]).await.is(200);
    let since = first.field("last-modified").expect("a date").to_owned();
    assert!(since.ends_with(" GMT"), "{since}");
    card(&[("if-modified-since", &since)]).await.is(304);
    card(&[("if-modified-since", "Thu, 01 Jan 1970 00:00:00 GMT")]).await.is(200);
    card(&[("if-modified-since", "yesterday")]).await.is(200);
    card(&[("if-modified-since", &since), ("if-none-match", "\"other\"")]).await.is(200);
}

/// A GET that came to a plain listener in development.
async fn plainly(place: &Place, path: &str, host: &str) -> Value {
    let mut head = request("GET", path);
    head.extensions_mut().unwrap().insert(PlainOrigin::new(host, 8080));
    place.send(head, "").await.is(200).json()
}

#[tokio::test]
async fn design_18_a_card_names_the_plain_origin_at_which_it_was_fetched() {
    let (place, ..) = two().await;
    for host in ["127.0.0.1", "localhost", "[::1]", "demo.localhost"] {
        for path in ["/.well-known/agent-card.json", "/a2a/gate/.well-known/agent-card.json"] {
            let card = plainly(&place, path, host).await;
            let origin = format!("http://{host}:8080");
            assert!(card["url"].as_str().unwrap().starts_with(&format!("{origin}/a2a")), "{card}");
            for one in card["supportedInterfaces"].as_array().unwrap() {
                assert!(one["url"].as_str().unwrap().starts_with(&origin), "{one}");
            }
            assert!(!card.to_string().contains("https://demo.localhost/"), "{card}");
        }
    }
    let usual = place.send(request("GET", "/.well-known/agent-card.json"), "").await.json();
    assert!(!usual.to_string().contains("http://"), "{usual}");
}

#[tokio::test]
async fn a_client_of_grpc_may_ask_what_there_is_and_how_it_is() {
    let place = bot(vec![done()]).await;
    let ask = async |path: &str, message: &[u8]| {
        let framed = [&[0, 0, 0, 0, message.len() as u8], message].concat();
        let head = Request::builder().method("POST").uri(path).header("host", "demo.localhost");
        let head = head.header("content-type", "application/grpc").header("te", "trailers");
        let response = place.open(head, framed).await;
        let headers = response.headers().clone();
        let body = response.into_body().collect().await.unwrap();
        let trailers = body.trailers().cloned().unwrap_or_default();
        let status = trailers.get("grpc-status").or(headers.get("grpc-status")).cloned();
        (status.unwrap(), body.to_bytes())
    };
    let (status, body) = ask("/grpc.health.v1.Health/Check", b"").await;
    assert_eq!((status.as_bytes(), &body[5..]), (&b"0"[..], &[8, 1][..]), "it serves");
    let (status, _) = ask("/grpc.health.v1.Health/Check", b"\x0a\x03any").await;
    assert_eq!(status, "5", "such a service is not found");
    // list_services of ServerReflectionRequest is its field 7.
    for version in ["v1", "v1alpha"] {
        let path = format!("/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo");
        let (status, body) = ask(&path, b"\x3a\x00").await;
        let names = String::from_utf8_lossy(&body);
        assert_eq!(status, "0");
        assert!(names.contains("lf.a2a.v1.A2AService") && names.contains("a2a.v1.A2AService"), "{names}");
    }
}

#[tokio::test]
async fn of_two_answers_to_one_question_one_is_taken_and_the_other_is_told() {
    for wire in Wire::ALL {
        let place = alone(InTurn::of([vec![ask("Which?")], vec![text("red it is"), done()]])).await;
        let asked = wire.at(&place).says("paint it").await.task(wire);
        let answer = async |words: &str| wire.at(&place).says_with(words, json!({"taskId": asked["id"]})).await;
        let (red, blue) = tokio::join!(answer("red"), answer("blue"));
        let is_fault =
            |answer: &Answer| answer.text().contains("takes no message now") || answer.text().contains("the task is ");
        let (taken, told) = if is_fault(&red) { (blue, red) } else { (red, blue) };
        told.is_fault(wire, -32004);
        let task = taken.task(wire);
        assert_eq!(crate::hub::answer::state(&task), "completed", "{wire:?}");
        let read = wire.at(&place).about(Op::Get, task["id"].as_str().unwrap()).await.task(wire);
        assert_eq!(read, task);
    }
}
