//! Push registrations: which addresses are taken, whose they are, and how many.

use forecourt_core::TaskId;
use forecourt_core::limits::WEBHOOKS_PER_TASK_MAX;
use forecourt_egress::EgressConfig;
use forecourt_host::TaskAccess;
use serde_json::{Value, json};

use crate::hub::answer::Answer;
use crate::hub::support::{Place, Setup, alone, bot, done, hanging, text};
use crate::hub::wire::{Op, Wire};

/// An address that is public, and that nothing is sent to: the tasks here do not end.
const HOOK: &str = "https://93.184.216.34/hook";
/// Bytes of a token.
const TOKEN_BYTES_MAX: usize = 4 * 1024;

async fn begun(place: &Place, wire: Wire, by: &str) -> String {
    let params = json!({"message": wire.said("hi"), "configuration": wire.at_once()});
    let task = wire.at(place).by(by).call(Op::Send, params).await.task(wire);
    task["id"].as_str().unwrap().to_owned()
}

/// Registers `push` with a task.
async fn set(place: &Place, wire: Wire, by: &str, task: &str, push: Value) -> Answer {
    let params = match wire.is_1_0() {
        true => crate::hub::wire::merged(push, json!({"taskId": task})),
        false => json!({"taskId": task, "pushNotificationConfig": push}),
    };
    wire.at(place).by(by).call(Op::PushSet, params).await
}

/// A registration without what 0.3 has around it.
fn config(wire: Wire, value: Value) -> Value {
    if wire.is_1_0() { value } else { value["pushNotificationConfig"].clone() }
}

async fn listed(place: &Place, wire: Wire, task: &str) -> Vec<Value> {
    let result = wire.at(place).about(Op::PushList, task).await.result(wire);
    let configs = if wire == Wire::Rpc03 { result } else { result["configs"].clone() };
    configs.as_array().cloned().unwrap_or_default().into_iter().map(|one| config(wire, one)).collect()
}

/// Parameters that name a registration.
fn named(wire: Wire, task: &str, id: &str) -> Value {
    match wire.is_1_0() {
        true => json!({"taskId": task, "id": id}),
        false => json!({"id": task, "pushNotificationConfigId": id}),
    }
}

#[tokio::test]
async fn hostile_addresses_are_invalid_when_registered_and_inline() {
    let agent = hanging();
    let place = alone(agent.clone()).await;
    for wire in Wire::ALL {
        let task = begun(&place, wire, "").await;
        let before = agent.heard().len();
        for url in [
            "http://93.184.216.34/hook",
            "https://127.0.0.1/hook",
            "https://[::1]/hook",
            "https://169.254.169.254/latest/meta-data/",
            "https://10.0.0.1/",
            "https://192.168.1.1/",
            "https://100.64.0.1/",
            "https://[fd00::1]/",
            "https://0.0.0.0/",
            "https://2130706433/",
            "https://localhost/hook",
            "https://demo.localhost/a2a",
            "https://user@93.184.216.34/",
            "https://93.184.216.34:22/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "not a url",
            "",
        ] {
            let answer = set(&place, wire, "", &task, json!({"url": url})).await;
            answer.is_fault(wire, -32602);
            assert!(answer.text().contains("url") && !answer.text().contains("loopback"), "{}", answer.text());
            let inline = json!({"message": wire.said("hi"), "configuration": wire.pushing(json!({"url": url}))});
            wire.at(&place).call(Op::Send, inline.clone()).await.is_fault(wire, -32602);
            wire.at(&place).call(Op::Stream, inline).await.is_fault(wire, -32602);
        }
        assert!(listed(&place, wire, &task).await.is_empty());
        assert_eq!(agent.heard().len(), before, "nothing was begun");
    }
}

#[tokio::test]
async fn an_operator_may_open_addresses() {
    let egress = EgressConfig { allow: vec!["127.0.0.0/8".parse().unwrap()], allow_http: true, ..Default::default() };
    let place = Setup { egress, ..Setup::default() }.with(forecourt_testkit::card("bot"), hanging()).start().await;
    for wire in Wire::ALL {
        let task = begun(&place, wire, "").await;
        set(&place, wire, "", &task, json!({"url": "http://127.0.0.1:9/hook"})).await.result(wire);
        set(&place, wire, "", &task, json!({"url": "http://10.0.0.1/hook"})).await.is_fault(wire, -32602);
    }
}

#[tokio::test]
async fn registrations_are_made_read_listed_and_removed() {
    let place = alone(hanging()).await;
    for wire in Wire::ALL {
        let task = begun(&place, wire, "").await;
        let how = match wire.is_1_0() {
            true => json!({"scheme": "Bearer", "credentials": "c"}),
            false => json!({"schemes": ["Bearer"], "credentials": "c"}),
        };
        let push = json!({"id": "mine", "url": HOOK, "token": "t", "authentication": how});
        let made = config(wire, set(&place, wire, "", &task, push.clone()).await.result(wire));
        assert_eq!((&made["id"], &made["url"]), (&push["id"], &push["url"]), "{wire:?} {made}");
        let other = config(wire, set(&place, wire, "", &task, json!({"url": HOOK})).await.result(wire));
        match wire.is_1_0() {
            true => assert!(other["id"].as_str().is_some_and(|id| !id.is_empty()), "an id is made up: {other}"),
            false => assert_eq!(other["id"], "default", "{wire:?}"),
        }
        assert_eq!(listed(&place, wire, &task).await, [made.clone(), other.clone()]);
        let read = wire.at(&place).call(Op::PushGet, named(wire, &task, "mine")).await.result(wire);
        assert_eq!(config(wire, read), made);
        for _ in 0..2 {
            let removed = wire.at(&place).call(Op::PushDelete, named(wire, &task, "mine")).await;
            let nothing = if wire == Wire::Rpc03 { Value::Null } else { json!({}) };
            assert_eq!(removed.result(wire), nothing, "twice is no fault");
        }
        wire.at(&place).call(Op::PushGet, named(wire, &task, "mine")).await.is_fault(wire, -32001);
        assert_eq!(listed(&place, wire, &task).await, [other]);
    }
}

#[tokio::test]
async fn secrets_of_registrations_can_be_written_and_never_read() {
    let place = alone(hanging()).await;
    for wire in Wire::ALL {
        for by in ["", "ann"] {
            let task = begun(&place, wire, by).await;
            let how = json!({"scheme": "Bearer", "schemes": ["Bearer"], "credentials": "the-credentials"});
            let push = json!({"id": "a", "url": HOOK, "token": "the-token", "authentication": how});
            let made = set(&place, wire, by, &task, push.clone()).await;
            let read = wire.at(&place).by(by).call(Op::PushGet, named(wire, &task, "a")).await;
            let all = wire.at(&place).by(by).about(Op::PushList, &task).await;
            let configuration = crate::hub::wire::merged(wire.pushing(push), wire.at_once());
            let params = json!({"message": wire.said("hi"), "configuration": configuration});
            let sent = wire.at(&place).by(by).call(Op::Send, params).await;
            for answer in [made, read, all, sent] {
                answer.result(wire);
                assert!(!answer.text().contains("the-token"), "{wire:?} {}", answer.text());
                assert!(!answer.text().contains("the-credentials"), "{wire:?} {}", answer.text());
            }
        }
    }
}

#[tokio::test]
async fn a_registration_of_the_same_id_takes_the_place_of_the_other() {
    let place = alone(hanging()).await;
    for wire in Wire::ALL {
        let task = begun(&place, wire, "").await;
        set(&place, wire, "", &task, json!({"id": "a", "url": HOOK})).await.result(wire);
        let other = "https://93.184.216.34/other";
        set(&place, wire, "", &task, json!({"id": "a", "url": other})).await.result(wire);
        let all = listed(&place, wire, &task).await;
        assert_eq!((all.len(), &all[0]["url"]), (1, &json!(other)));
    }
}

#[tokio::test]
async fn registrations_per_task_are_bounded() {
    let place = alone(hanging()).await;
    for wire in Wire::ALL {
        let task = begun(&place, wire, "").await;
        for n in 0..WEBHOOKS_PER_TASK_MAX {
            set(&place, wire, "", &task, json!({"id": n.to_string(), "url": HOOK})).await.result(wire);
        }
        set(&place, wire, "", &task, json!({"id": "more", "url": HOOK})).await.is_fault(wire, -32602);
        assert_eq!(listed(&place, wire, &task).await.len(), WEBHOOKS_PER_TASK_MAX);
    }
}

#[tokio::test]
async fn tokens_are_bounded_and_fit_into_a_header() {
    let place = alone(hanging()).await;
    for wire in Wire::ALL {
        let task = begun(&place, wire, "").await;
        let token = |token: String| json!({"url": HOOK, "token": token});
        set(&place, wire, "", &task, token("t".repeat(TOKEN_BYTES_MAX))).await.result(wire);
        set(&place, wire, "", &task, token("t".repeat(TOKEN_BYTES_MAX + 1))).await.is_fault(wire, -32602);
        set(&place, wire, "", &task, token("a\r\nX: b".to_owned())).await.is_fault(wire, -32602);
        let how = json!({"scheme": "Bearer", "schemes": ["Bearer"], "credentials": "a\nb"});
        set(&place, wire, "", &task, json!({"url": HOOK, "authentication": how})).await.is_fault(wire, -32602);
    }
}

#[tokio::test]
async fn the_registrations_of_others_do_not_exist() {
    let place = alone(hanging()).await;
    for wire in Wire::ALL {
        let task = begun(&place, wire, "ann").await;
        set(&place, wire, "ann", &task, json!({"id": "a", "url": HOOK, "token": "secret"})).await.result(wire);
        for by in ["bob", ""] {
            set(&place, wire, by, &task, json!({"url": HOOK})).await.is_fault(wire, -32001);
            for op in [Op::PushGet, Op::PushDelete] {
                wire.at(&place).by(by).call(op, named(wire, &task, "a")).await.is_fault(wire, -32001);
            }
            wire.at(&place).by(by).about(Op::PushList, &task).await.is_fault(wire, -32001);
        }
    }
}

#[tokio::test]
async fn a_task_that_ended_takes_registrations_too() {
    let place = bot(vec![text("hi"), done()]).await;
    for wire in Wire::ALL {
        let task = wire.at(&place).says("hi").await.task(wire)["id"].as_str().unwrap().to_owned();
        let made = config(wire, set(&place, wire, "", &task, json!({"id": "a", "url": HOOK})).await.result(wire));
        assert_eq!(listed(&place, wire, &task).await, std::slice::from_ref(&made));
        let read = wire.at(&place).call(Op::PushGet, named(wire, &task, "a")).await.result(wire);
        assert_eq!(config(wire, read), made);
        wire.at(&place).call(Op::PushDelete, named(wire, &task, "a")).await.result(wire);
        assert!(listed(&place, wire, &task).await.is_empty());
    }
}

#[tokio::test]
async fn a_message_may_bring_its_registration() {
    let place = alone(hanging()).await;
    for wire in Wire::ALL {
        let mut configuration = wire.pushing(json!({"id": "inline", "url": HOOK}));
        configuration = crate::hub::wire::merged(configuration, wire.at_once());
        let params = json!({"message": wire.said("hi"), "configuration": configuration});
        let task = wire.at(&place).call(Op::Send, params).await.task(wire);
        let all = listed(&place, wire, task["id"].as_str().unwrap()).await;
        assert_eq!((all.len(), &all[0]["id"], &all[0]["url"]), (1, &json!("inline"), &json!(HOOK)), "{wire:?}");
    }
}

#[tokio::test]
async fn what_is_posted_is_in_the_version_that_registered_it() {
    let place = alone(hanging()).await;
    for wire in Wire::ALL {
        let id = begun(&place, wire, "").await;
        let how = json!({"scheme": "Bearer", "schemes": ["Bearer"], "credentials": "c"});
        set(&place, wire, "", &id, json!({"url": HOOK, "token": "t", "authentication": how})).await.result(wire);
        let task = TaskId::parse(&id).unwrap();
        let webhook = place.host.task(&task, TaskAccess::ById).await.unwrap().webhooks().await.unwrap().remove(0);
        place.host.task(&task, TaskAccess::ById).await.unwrap().remove_webhook(&webhook.id).await.unwrap();
        let canceled = wire.at(&place).about(Op::Cancel, &id).await.task(wire);
        let post = place.envelope()(&place.host.task(&task, TaskAccess::ById).await.unwrap(), &webhook);
        let body: Value = serde_json::from_slice(&post.body).unwrap();
        let (told, media_type) = match wire.is_1_0() {
            true => (&body["task"], "application/a2a+json"),
            false => (&body, "application/json"),
        };
        assert_eq!((&told["id"], &post.headers["content-type"]), (&json!(id), &media_type.parse().unwrap()));
        assert_eq!(crate::hub::answer::state(told), "canceled");
        assert_eq!(told.get("kind"), (!wire.is_1_0()).then_some(&json!("task")), "{wire:?}");
        assert_eq!(told["contextId"], canceled["contextId"]);
        assert_eq!(post.headers["authorization"], "Bearer c");
        assert_eq!(post.headers["x-a2a-notification-token"], "t");
    }
}
