//! Calls that become tasks of the protocol: the extension `io.modelcontextprotocol/tasks`. Sheet, section 4.

use std::time::Duration;

use forecourt_core::reply::{Progress, Question};
use forecourt_core::{Ending, Event, Sender, TaskId};
use forecourt_testkit::{ScriptedAgent, Step, card};
use http::StatusCode;
use serde_json::{Value, json};

use crate::support::{Answer, Place, Setup, ends, modern, says};

fn with_tasks() -> Value {
    json!({"extensions": {"io.modelcontextprotocol/tasks": {}}})
}

fn with_tasks_and_forms() -> Value {
    json!({"extensions": {"io.modelcontextprotocol/tasks": {}}, "elicitation": {"form": {}}})
}

async fn place(steps: Vec<Step>) -> Place {
    Setup { issuer: true, ..Setup::default() }.with(card("chef"), ScriptedAgent::new(steps)).start().await
}

async fn send(place: &Place, method: &str, params: Value, capabilities: Value) -> Answer {
    place.send(modern("/mcp", method, params, capabilities)).await
}

async fn begin(place: &Place, capabilities: Value) -> Value {
    let call = json!({"name": "ask_chef", "arguments": {"message": "soup"}});
    send(place, "tools/call", call, capabilities).await.last()["result"].clone()
}

async fn get(place: &Place, task: &Value) -> Value {
    send(place, "tasks/get", json!({"taskId": task}), with_tasks_and_forms()).await.last()["result"].clone()
}

fn slowly(end: Ending) -> Vec<Step> {
    let half = Event::Progress(Progress { fraction: Some(0.5), note: Some("Stirring.".into()) });
    vec![Step::Do(half), Step::Wait(Duration::from_secs(60)), says("soup."), ends(end)]
}

#[tokio::test(start_paused = true)]
async fn s4_what_takes_long_is_given_as_a_task_with_its_result() {
    let place = place(slowly(Ending::Complete)).await;
    let began = tokio::time::Instant::now();
    let created = begin(&place, with_tasks()).await;
    assert!(began.elapsed() < Duration::from_secs(5), "not the whole patience");
    assert_eq!((&created["resultType"], &created["status"]), (&json!("task"), &json!("working")));
    assert_eq!((&created["ttlMs"], &created["pollIntervalMs"]), (&json!(3_600_000), &json!(1000)));
    let id = created["taskId"].clone();
    let working = get(&place, &id).await;
    assert_eq!((&working["resultType"], &working["status"]), (&json!("complete"), &json!("working")));
    assert_eq!(working["statusMessage"], "Stirring.");
    tokio::time::sleep(Duration::from_secs(61)).await;
    let done = get(&place, &id).await;
    assert_eq!(done["status"], "completed");
    assert_eq!(done["result"]["structuredContent"]["text"], "soup.");
    assert_eq!((&done["result"]["isError"], &done["result"]["content"][0]["text"]), (&json!(false), &json!("soup.")));
}

#[tokio::test(start_paused = true)]
async fn s4_the_same_task_is_there_by_its_id_for_every_protocol() {
    let place = place(slowly(Ending::Complete)).await;
    let created = begin(&place, with_tasks()).await;
    let id = TaskId::parse(created["taskId"].as_str().unwrap()).unwrap();
    assert_eq!(place.host().task(&id, forecourt_host::TaskAccess::ById).await.unwrap().agent.as_str(), "chef");
    // And a task that began elsewhere is there over this one.
    let other = place.begun_elsewhere("chef", Sender::anonymous()).await;
    assert_eq!(get(&place, &json!(other.expose())).await["status"], "working");
}

#[tokio::test(start_paused = true)]
async fn s4_clients_that_declare_no_tasks_are_given_none() {
    let place = place(slowly(Ending::Complete)).await;
    let answer = begin(&place, json!({})).await;
    assert_eq!((&answer["resultType"], &answer["structuredContent"]["state"]), (&json!("complete"), &json!("working")));
    let id = &answer["structuredContent"]["task_id"];
    for method in ["tasks/get", "tasks/cancel"] {
        let refused = send(&place, method, json!({"taskId": id}), json!({})).await;
        assert_eq!((refused.status, &refused.last()["error"]["code"]), (StatusCode::BAD_REQUEST, &json!(-32021)));
    }
    for method in ["tasks/list", "tasks/result"] {
        let gone = send(&place, method, json!({"taskId": id}), with_tasks()).await;
        assert_eq!(gone.last()["error"]["code"], -32601, "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn s4_a_quick_answer_is_no_task_and_a_failure_is_a_result() {
    let place = place(vec![says("soup"), ends(Ending::Complete)]).await;
    let answer = begin(&place, with_tasks()).await;
    assert_eq!((&answer["resultType"], answer.get("taskId")), (&json!("complete"), None));
    let place = self::place(slowly(Ending::failed("No gas."))).await;
    let id = begin(&place, with_tasks()).await["taskId"].clone();
    tokio::time::sleep(Duration::from_secs(61)).await;
    let done = get(&place, &id).await;
    assert_eq!((&done["status"], &done["result"]["isError"]), (&json!("completed"), &json!(true)));
}

#[tokio::test(start_paused = true)]
async fn s4_a_task_is_cancelled_as_often_as_one_likes() {
    let place = place(vec![Step::Hang]).await;
    let id = begin(&place, with_tasks()).await["taskId"].clone();
    for _ in 0..2 {
        let answer = send(&place, "tasks/cancel", json!({"taskId": id}), with_tasks()).await;
        assert_eq!(answer.last()["result"]["resultType"], "complete");
        assert_eq!(get(&place, &id).await["status"], "cancelled");
    }
}

#[tokio::test(start_paused = true)]
async fn s4_tasks_of_others_do_not_exist() {
    let place = place(vec![Step::Hang]).await;
    let as_who = async |name: Option<&str>, method: &str, params: Value| {
        let mut request = modern("/mcp", method, params, with_tasks());
        if let Some(name) = name {
            request.headers_mut().insert("authorization", place.token(name).parse().unwrap());
        }
        place.send(request).await.last().clone()
    };
    let call = json!({"name": "ask_chef", "arguments": {"message": "soup"}});
    let id = as_who(Some("ann"), "tools/call", call).await["result"]["taskId"].clone();
    for stranger in [Some("bob"), None] {
        for (method, params) in [
            ("tasks/get", json!({"taskId": id})),
            ("tasks/cancel", json!({"taskId": id})),
            ("tasks/update", json!({"taskId": id, "inputResponses": {}})),
        ] {
            let error = &as_who(stranger, method, params).await["error"];
            assert_eq!((&error["code"], &error["message"]), (&json!(-32602), &json!("no such task")), "{method}");
        }
    }
    assert_eq!(as_who(Some("ann"), "tasks/get", json!({"taskId": id})).await["result"]["status"], "working");
    for none in ["", "x", &"A".repeat(43)] {
        let params = json!({"taskId": none});
        assert!(as_who(None, "tasks/get", params).await["error"].is_object(), "{none}");
    }
}

fn asking() -> Vec<Step> {
    let one = json!({"id": "diet", "text": "Which diet?", "type": "single_select", "options": ["vegan", "any"]});
    slowly(Ending::Question(Question { text: "Tell me more.".into(), questions: vec![one] }))
}

#[tokio::test(start_paused = true)]
async fn s4_a_task_that_asks_is_answered_and_goes_on() {
    let agent = ScriptedAgent::new(asking());
    let place = Setup::default().with(card("chef"), agent.clone()).start().await;
    let id = begin(&place, with_tasks_and_forms()).await["taskId"].clone();
    tokio::time::sleep(Duration::from_secs(61)).await;
    let waiting = get(&place, &id).await;
    assert_eq!(waiting["status"], "input_required");
    let (key, request) = waiting["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(request["method"], "elicitation/create");
    let update = |key: &str, response: Value| json!({"taskId": id, "inputResponses": {key: response}});
    let accept = || json!({"action": "accept", "content": {"diet": "vegan"}});
    send(&place, "tasks/update", update("another", accept()), with_tasks_and_forms()).await;
    assert_eq!(get(&place, &id).await["status"], "input_required", "unknown keys are passed over");
    let wrong = send(&place, "tasks/update", update(key, json!(7)), with_tasks_and_forms()).await;
    assert_eq!(wrong.last()["error"]["code"], -32602);
    let taken = send(&place, "tasks/update", update(key, accept()), with_tasks_and_forms()).await;
    assert_eq!(taken.last()["result"]["resultType"], "complete");
    assert_eq!(get(&place, &id).await["status"], "working");
    assert_eq!(agent.heard().last().unwrap().text(), "Which diet? vegan");
    tokio::time::sleep(Duration::from_secs(61)).await;
    let again = get(&place, &id).await;
    assert!(again["inputRequests"].as_object().is_some_and(|all| !all.contains_key(key)), "a key is used once");
    let declined =
        update(again["inputRequests"].as_object().unwrap().keys().next().unwrap(), json!({"action": "decline"}));
    send(&place, "tasks/update", declined, with_tasks_and_forms()).await;
    assert_eq!(get(&place, &id).await["status"], "cancelled");
}

#[tokio::test(start_paused = true)]
async fn s4_a_client_without_forms_is_told_the_question_as_the_result() {
    let place = place(asking()).await;
    let id = begin(&place, with_tasks()).await["taskId"].clone();
    tokio::time::sleep(Duration::from_secs(61)).await;
    let answer = send(&place, "tasks/get", json!({"taskId": id}), with_tasks()).await;
    let result = &answer.last()["result"];
    assert_eq!(result["status"], "completed");
    assert_eq!(result["result"]["structuredContent"]["state"], "input_required");
}
