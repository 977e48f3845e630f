//! `ask --via mcp`: the tool `ask` of an agent, of a host, and of servers that have none.

use serde_json::Value;

use crate::support::{Deployment, Ran, Served};

fn ask(served: &Served, arguments: &[&str]) -> Ran {
    let data = served.deployment.data().display().to_string();
    served.deployment.run("ask", [&["--via", "mcp", "--data", &data], arguments].concat())
}

#[test]
fn an_agent_is_asked_by_address_by_domain_and_by_url() {
    let served = Deployment::gatehouse().serve();
    for (agent, words) in [
        ("@echo@demo.localhost".to_owned(), "hello there"),
        (served.https_url("/mcp/echo"), "hello there"),
        (served.url("/mcp/echo"), "hello there"),
    ] {
        assert_eq!(ask(&served, &[&agent, words]).fine(), "hello there\n", "{agent}");
    }
    assert!(ask(&served, &["demo.localhost", "hello"]).fine().contains("Say one of these"), "the default agent");
    let whole: Value = ask(&served, &["@echo@demo.localhost", "--json", "hi"]).json();
    assert_eq!(whole["structuredContent"]["results"][0]["text"], "hi");
}

#[test]
fn progress_is_shown_aside_and_a_promise_is_waited_for() {
    let served = Deployment::gatehouse().with("nlweb", "sync_wait_seconds = 60\n").serve();
    let ran = ask(&served, &["@gate@demo.localhost", "slow"]);
    assert!(ran.stderr.contains("[50% half way]"), "{}", ran.stderr);
    assert_eq!(ran.fine(), "This takes a while... Done.\n");
    let served = Deployment::gatehouse().with("nlweb", "sync_wait_seconds = 0\n").serve();
    let ran = ask(&served, &["@gate@demo.localhost", "slow"]);
    let token = ran.stderr.lines().find_map(|line| line.strip_prefix("hear of it later with: --task ")).unwrap();
    let token = token.to_owned();
    assert_eq!(ran.fine(), "This takes a while... Done.\n");
    assert_eq!(ask(&served, &["--task", &token, "@gate@demo.localhost"]).fine(), "This takes a while... Done.\n");
}

#[test]
fn a_refusal_is_1_a_failure_is_3_and_what_is_not_there_is_said() {
    let served = Deployment::gatehouse().serve();
    let refused = ask(&served, &["@gate@demo.localhost", "pay"]).failed(1);
    assert!(refused.contains("payment_required") && refused.contains("https://demo.localhost"), "{refused}");
    ask(&served, &["@gate@demo.localhost", "fail"]).failed(3);
    assert!(ask(&served, &["@nobody@demo.localhost", "hi"]).failed(1).contains("has no agent"));
    assert!(ask(&served, &["--task", "none", "@gate@demo.localhost"]).failed(1).contains("no such promise"));
    assert!(ask(&served, &[&served.url("/nothing"), "hi"]).failed(1).contains("speaks no MCP"));
    let nobody = ask(&served, &["http://127.0.0.1:9/mcp", "hi"]).failed(3);
    assert!(nobody.contains("nobody answers at 127.0.0.1:9") && nobody.contains("hint: "), "{nobody}");
    let attached = ask(&served, &["@echo@demo.localhost", "--attach", "forecourt.toml", "hi"]).failed(2);
    assert!(attached.contains("--via rest"), "{attached}");
}
