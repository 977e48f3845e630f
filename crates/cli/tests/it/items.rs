//! `ask --via nlweb`, and what a deployment serves over that protocol.

use serde_json::Value;

use crate::support::{Deployment, Ran, Served};

fn ask(served: &Served, arguments: &[&str]) -> Ran {
    let data = served.deployment.data().display().to_string();
    served.deployment.run("ask", [&["--via", "nlweb", "--data", &data], arguments].concat())
}

#[test]
fn an_agent_is_asked_by_address_and_by_url() {
    let served = Deployment::gatehouse().serve();
    for agent in ["@echo@demo.localhost".to_owned(), served.https_url("/~echo"), served.url("/~echo/ask")] {
        assert_eq!(ask(&served, &[&agent, "hello", "there"]).fine(), "hello there\n", "{agent}");
    }
    let whole: Value = serde_json::from_str(&ask(&served, &["@echo@demo.localhost", "--json", "hi"]).fine()).unwrap();
    assert_eq!(whole["results"][0]["text"], "hi");
}

#[test]
fn a_refusal_is_1_a_failure_is_2_and_what_is_not_there_is_said() {
    let served = Deployment::gatehouse().serve();
    let refused = ask(&served, &["@gate@demo.localhost", "pay"]).failed(1);
    assert!(refused.contains("payment_required") && refused.contains("https://demo.localhost"), "{refused}");
    ask(&served, &["@gate@demo.localhost", "fail"]).failed(2);
    assert!(ask(&served, &["@nobody@demo.localhost", "hi"]).failed(1).contains("has no agent"));
    assert!(ask(&served, &["--task", "none", "@gate@demo.localhost"]).failed(1).contains("no such promise"));
    assert!(ask(&served, &[&served.url("/nothing"), "hi"]).failed(1).contains("NLWeb"));
}

#[test]
fn a_promise_is_kept_under_its_token() {
    let deployment = Deployment::gatehouse();
    let file = std::fs::read_to_string(deployment.path().join("forecourt.toml")).unwrap();
    deployment.write("forecourt.toml", &format!("{file}\n[nlweb]\npromise_after_seconds = 0\n"));
    let served = deployment.serve();
    let promise: Value =
        serde_json::from_str(&ask(&served, &["--json", "@gate@demo.localhost", "slow"]).fine()).unwrap();
    let token = promise["promise"]["token"].as_str().unwrap();
    let said = ask(&served, &["--task", token, "@gate@demo.localhost"]).fine();
    assert_eq!(said, ask(&served, &["@gate@demo.localhost", "slow"]).fine());
}
