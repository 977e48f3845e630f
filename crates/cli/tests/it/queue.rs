//! Questions to the operator: asked over AGTP, seen and answered on the admin listener, read again.

use serde_json::Value;

use crate::support::{DOMAIN, Deployment, Served};
use crate::wire::{Answer, curl};

const TOKEN: &str = "a-token-of-the-operator";

/// A call on the admin listener, with these words for curl.
fn operator(served: &Served, path: &str, words: &[&str]) -> Answer {
    let authorization = format!("Authorization: Bearer {TOKEN}");
    curl(&format!("http://127.0.0.1:{}{path}", served.admin), &[&["-H", &authorization], words].concat())
}

/// A method of the floor, called by the first agent of the deployment.
fn call(served: &Served, method: &str, parameters: &str) -> Value {
    let uri = format!("agtp://{DOMAIN}");
    let agents: Value = served.deployment.run("agtp", ["DISCOVER", &format!("{uri}/agents")]).json();
    let id = agents[0]["agent_id"].as_str().expect("an agent").to_owned();
    served.deployment.run("agtp", [method, &uri, "--agent-id", &id, "-d", parameters]).json()
}

#[test]
fn a_question_waits_for_the_operator_and_its_answer_is_read() {
    let served = Deployment::gatehouse().with("admin", &format!("token = \"{TOKEN}\"")).serve();
    let question =
        r#"{"task_id": "t-1", "reason": "scope_limit", "context": {"question": "May I?"}, "priority": "urgent"}"#;
    let asked = call(&served, "ESCALATE", question);
    let id = asked["escalation_id"].as_str().expect("a name").to_owned();

    let waiting = operator(&served, "/queue", &[]).json();
    assert_eq!((&waiting["waiting"], &waiting["questions"][0]["id"]), (&1.into(), &id.as_str().into()), "{waiting}");
    assert_eq!(waiting["questions"][0]["context"]["question"], "May I?");
    let served = served.killed().serve();
    let path = format!("/queue/{id}");
    assert_eq!(operator(&served, &path, &["-d", "yes"]).status, 400);
    let answer = ["-d", r#"{"decision": "accepted", "reason": "Only today."}"#];
    assert_eq!(operator(&served, &path, &answer).json()["answer"]["reason"], "Only today.");
    assert_eq!(operator(&served, &path, &answer).status, 409);
    assert_eq!(operator(&served, "/queue", &[]).json()["waiting"], 0);
    assert_eq!(operator(&served, "/queue/nothing", &answer).status, 404);
    let read = call(&served, "INSPECT", &format!(r#"{{"target": "escalation", "escalation_id": "{id}"}}"#));
    assert_eq!((&read["status"], &read["answer"]["by"]), (&"accepted".into(), &"operator".into()), "{read}");
}

#[test]
fn the_queue_is_closed_without_the_token() {
    let served = Deployment::gatehouse().with("admin", &format!("token = \"{TOKEN}\"")).serve();
    for path in ["/queue", "/queue/x"] {
        let url = format!("http://127.0.0.1:{}{path}", served.admin);
        assert_eq!(curl(&url, &[]).status, 401, "{path}");
    }
}
