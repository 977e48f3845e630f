//! An agent that asks the agents beside it. Hub card 3.5, pattern C.

use serde_json::{Value, json};

use crate::receiver::Receiver;
use crate::support::Deployment;

/// An answer of a model in one piece.
fn says(message: &Value) -> Value {
    json!({"choices": [{"message": message, "finish_reason": "stop"}]})
}

/// An answer that asks these agents.
fn asks(agents: &[(&str, &str)]) -> Value {
    let call = |(agent, message): &(&str, &str)| {
        let arguments = json!({"agent": agent, "message": message}).to_string();
        json!({"id": agent, "type": "function", "function": {"name": "ask_agent", "arguments": arguments}})
    };
    says(&json!({"content": null, "tool_calls": agents.iter().map(call).collect::<Vec<_>>()}))
}

fn model(receiver: &Receiver) -> String {
    format!("kind = \"model\"\nbase_url = \"{}\"\nmodel = \"tiny\"\nstream = false\n", receiver.webhook_url())
}

fn other(handle: &str, more: &str) -> String {
    format!("handle = \"{handle}\"\nname = \"{handle}\"\n[backend]\nkind = \"echo\"\n{more}")
}

#[test]
fn s3_5_the_first_agent_asks_the_others_and_weaves_their_words() {
    let asked = asks(&[("pantry", "Any eggs?"), ("vault", "Any gold?")]);
    let provider = Receiver::answering(vec![asked, says(&json!({"content": "No gold, but eggs."}))]);
    let rule =
        "[[policy.rules]]\nkind = \"deny\"\nnetworks = [\"127.0.0.0/8\", \"::1/128\"]\nmessage = \"No visitors.\"\n";
    let served = Deployment::of_backend(&model(&provider))
        .and("agents/pantry.toml", &other("pantry", ""))
        .and("agents/vault.toml", &other("vault", rule))
        .serve();
    let answer = served.curl("/~agent?user=hi", &["-H", "Accept: text/markdown"]).with_status(200);
    assert!(answer.text().contains("No gold, but eggs."), "{}", answer.text());
    let first = provider.post().json();
    assert_eq!(first["tools"][0]["function"]["parameters"]["properties"]["agent"]["enum"], json!(["pantry", "vault"]));
    let second = provider.post().json();
    let told: Vec<&str> = second["messages"].as_array().unwrap().iter().filter_map(|m| m["content"].as_str()).collect();
    let [.., pantry, vault] = &told[..] else { panic!("{second}") };
    assert!(pantry.contains("\"text\":\"Any eggs?\""), "{pantry}");
    assert!(vault.contains("@vault declined (forbidden): No visitors."), "the rule sees the caller's address: {vault}");
}

#[test]
fn an_agent_that_is_not_there_is_found_before_a_port_opens() {
    let deployment = Deployment::of_backend(
        "kind = \"model\"\nbase_url = \"http://127.0.0.1:1/v1\"\nmodel = \"tiny\"\nsiblings = [\"nobody\"]\n",
    );
    let said = deployment.run("check", ["."; 0]).failed(1);
    assert!(said.contains("there is no agent `nobody` beside this one"), "{said}");
}
