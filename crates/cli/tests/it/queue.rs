//! Questions to the operator: asked over AGTP, seen and answered on the admin listener, read again.

use serde_json::Value;

use crate::receiver::Receiver;
use crate::support::{DOMAIN, Deployment, Served, within};
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

#[test]
fn the_operator_is_told_of_a_question_where_that_was_asked_for() {
    let receiver = Receiver::start();
    let lines = format!("webhook = \"{}\"\nwebhook_secret = \"a-secret-for-posts\"", receiver.webhook_url());
    let served = Deployment::gatehouse().open_to_loopback().with("admin", &lines).serve();
    let question = r#"{"task_id": "t-1", "reason": "ethical_flag", "context": {"question": "May I?"}}"#;
    let asked = call(&served, "ESCALATE", question);
    let post = receiver.post();
    let signed = post.field("x-hub-signature-256").unwrap();
    assert!(forecourt_egress::signature::verify(b"a-secret-for-posts", &post.body, signed));
    let told = post.json();
    assert_eq!((&told["event"], &told["id"]), (&"question".into(), &asked["escalation_id"]), "{told}");
    assert_eq!(told["reason"], "ethical_flag");
    assert!(!told.to_string().contains("May I?") && !told.to_string().contains("t-1"), "{told}");
    within("the post is counted", || {
        let counted = "forecourt_deliveries_total{of=\"operator\",outcome=\"delivered\"} 1";
        served.operator("/metrics").text().contains(counted).then_some(())
    });
}

#[test]
fn a_webhook_that_can_never_be_reached_is_refused_and_not_shown() {
    let secret = "webhook_secret = \"a-secret-for-posts\"";
    for (lines, said) in [
        (format!("webhook = \"http://hooks.example/T0P\"\n{secret}"), "can't be reached"),
        (format!("webhook = \"https://10.0.0.1/T0P\"\n{secret}"), "can't be reached"),
        (format!("webhook = \"https://demo.localhost/T0P\"\n{secret}"), "can't be reached"),
        ("webhook = \"https://hooks.example/T0P\"".to_owned(), "needs `webhook_secret`"),
        (secret.to_owned(), "needs `webhook` beside it"),
        ("webhook = \"https://hooks.example/\"\nwebhook_secret = \"short\"".to_owned(), "16 to 256 bytes"),
        ("alert_webhook = \"https://hooks.example/T0P\"".to_owned(), "`alert_webhook` needs `webhook_secret`"),
        (
            format!("alert_webhook = \"http://hooks.example/T0P\"\n{secret}"),
            "`alert_webhook` in [admin] can't be reached",
        ),
        ("alerts_off = [\"Nothing\"]".to_owned(), "no rule that is shipped"),
        (
            "[[admin.alert]]\nname = \"A\"\nmetric = \"a{\"\nover = 1\nsummary = \"s\"".to_owned(),
            "`metric` of the alert `A` has no `}`",
        ),
        (
            ["warning", "critical"]
                .map(|severity| {
                    format!("[[admin.alert]]\nname = \"A\"\nmetric = \"a\"\nover = 1\nseverity = \"{severity}\"\nsummary = \"s\"")
                })
                .join("\n"),
            "than the one of its name in line",
        ),
    ] {
        let text = Deployment::gatehouse().with("admin", &lines).run("check", ["."]).failed(1);
        assert!(text.contains(said) && !text.contains("a-secret-for-posts"), "{lines}: {text}");
    }
}
