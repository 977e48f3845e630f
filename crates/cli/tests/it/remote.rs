//! `ask --via a2a`, and an agent that fronts another one: two daemons, one before the other.

use serde_json::Value;

use crate::support::{Deployment, Ran, Served};

fn ask(served: &Served, arguments: &[&str]) -> Ran {
    let data = served.deployment.data().display().to_string();
    served.deployment.run("ask", [&["--via", "a2a", "--data", &data], arguments].concat())
}

/// The task that a command named on standard error.
fn task(ran: &Ran) -> String {
    let line = ran.stderr.lines().find_map(|line| line.strip_prefix("task ")).expect("a line about the task");
    line.split(';').next().unwrap().to_owned()
}

#[test]
fn an_agent_is_asked_by_address_by_domain_and_by_url() {
    let served = Deployment::gatehouse().serve();
    for (agent, words) in [
        ("@echo@demo.localhost".to_owned(), "hello"),
        ("demo.localhost".to_owned(), "@echo hello"),
        (served.https_url("/"), "@echo hello"),
        (served.https_url("/a2a/echo"), "hello"),
        (served.url("/a2a/echo"), "hello"),
    ] {
        let ran = ask(&served, &[&agent, words]);
        let said = ran.fine();
        assert!(said.trim().ends_with("hello"), "{agent}: {said}");
    }
    let lines = ask(&served, &["@echo@demo.localhost", "--json", "hello"]).fine();
    let last: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert!(last.is_object(), "one item a line: {lines}");
}

#[test]
fn a_refusal_is_1_a_failure_is_2_and_what_is_not_there_is_said() {
    let served = Deployment::gatehouse().serve();
    let refused = ask(&served, &["@gate@demo.localhost", "pay"]).failed(1);
    assert!(refused.contains("payment_required") && refused.contains("https://demo.localhost"), "{refused}");
    ask(&served, &["@gate@demo.localhost", "fail"]).failed(3);
    assert!(ask(&served, &["@nobody@demo.localhost", "hi"]).failed(1).contains("has no agent"));
    assert!(ask(&served, &["--task", "none", "@gate@demo.localhost"]).failed(1).contains("task not found"));
}

#[test]
fn the_result_of_a_task_can_be_read_later() {
    let served = Deployment::gatehouse().serve();
    let ran = ask(&served, &["@gate@demo.localhost", "slow"]);
    let task = task(&ran);
    let said = ran.fine();
    assert_eq!(ask(&served, &["--task", &task, "@gate@demo.localhost"]).fine(), said);
}

#[test]
fn two_hosts_talk_by_address_alone() {
    let far = Deployment::gatehouse().serve();
    for (url, words) in [
        (format!("@echo@demo.localhost:{}", far.http), "hello"),
        (format!("demo.localhost:{}", far.http), "@echo hello"),
        (far.url("/a2a/echo/.well-known/agent-card.json"), "hello"),
    ] {
        let near = Deployment::of_backend(&format!("kind = \"a2a\"\nurl = \"{url}\"\n")).serve();
        assert_eq!(ask(&near, &["@agent@demo.localhost", words]).fine().trim(), "hello", "{url}");
    }
}

#[test]
fn an_agent_in_front_passes_everything_on() {
    let far = Deployment::gatehouse().serve();
    let backend = format!("kind = \"a2a\"\nurl = \"{}\"\n", far.url("/a2a/gate"));
    let near = Deployment::of_backend(&backend).serve();
    let agent = "@agent@demo.localhost";
    let slow = ask(&far, &["@gate@demo.localhost", "slow"]).fine();
    assert_eq!(ask(&near, &[agent, "slow"]).fine(), slow);
    let refused = ask(&near, &[agent, "pay"]).failed(1);
    assert!(refused.contains("payment_required"), "{refused}");
    assert!(refused.contains(&format!("https://demo.localhost:{}/", far.https)), "the link is in the words: {refused}");
    ask(&near, &[agent, "fail"]).failed(3);
}
