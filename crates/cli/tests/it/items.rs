//! `ask --via nlweb`, and what a deployment serves over that protocol.

use serde_json::{Value, json};

use crate::support::{Deployment, Ran, Served};
use crate::wire::Answer;

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
    ask(&served, &["@gate@demo.localhost", "fail"]).failed(3);
    assert!(ask(&served, &["@nobody@demo.localhost", "hi"]).failed(1).contains("has no agent"));
    assert!(ask(&served, &["--task", "none", "@gate@demo.localhost"]).failed(1).contains("no such promise"));
    assert!(ask(&served, &[&served.url("/nothing"), "hi"]).failed(1).contains("NLWeb"));
}

#[test]
fn a_promise_is_kept_under_its_token() {
    let served = Deployment::gatehouse().with("nlweb", "sync_wait_seconds = 0\n").serve();
    let promise: Value =
        serde_json::from_str(&ask(&served, &["--json", "@gate@demo.localhost", "slow"]).fine()).unwrap();
    let token = promise["promise"]["token"].as_str().unwrap();
    let said = ask(&served, &["--task", token, "@gate@demo.localhost"]).fine();
    assert_eq!(said, ask(&served, &["@gate@demo.localhost", "slow"]).fine());
}

/// Asks the search agent of the example over HTTP.
fn posted(served: &Served, body: &Value) -> Answer {
    served.curl("/ask", &["-H", "Content-Type: application/json", "-d", &body.to_string()])
}

#[test]
fn a_real_search_is_grounded_honest_and_fit_for_actions() {
    let action = "sync_wait_seconds = 60\n\n[[nlweb.actions]]\nitem_type = \"Recipe\"\nname = \"buy\"\n\
                  description = \"Buy {name}\"\nprotocol = \"MCP\"\nserver = \"shop\"\ntool = \"buy\"\n\
                  arguments = { items = \"{recipeIngredient}\" }\n";
    let kitchen = Deployment::kitchen().with("nlweb", action);
    kitchen.edit("agents/chef.toml", "results = 10", "results = 3");
    let served = kitchen.serve();
    let query = json!({"text": "soup under 30 minutes", "itemType": "Recipe", "price": "less than $20"});
    let asked = json!({"query": query, "prefer": {"mode": "list, summarize"}});
    let answer = posted(&served, &asked).with_status(200).json();
    assert_eq!(answer["_meta"]["forecourt/ignored_filters"], json!(["price"]));
    let results = answer["results"].as_array().unwrap();
    assert_eq!(results[0]["@type"], "SearchSummary");
    for item in &results[1..] {
        assert_eq!((&item["@type"], &item["grounding"]["source_urls"][0]), (&json!("Recipe"), &item["url"]));
        assert_eq!(item["actions"][0]["arguments"]["items"], item["recipeIngredient"]);
    }
    let nothing = posted(&served, &json!({"query": {"text": "zzxqqq"}})).with_status(200).json();
    assert_eq!(nothing["error"]["code"], "NO_RESULTS");
    let first = posted(&served, &json!({"query": {"text": "chickpeas"}})).json();
    let session = &first["_meta"]["session_context"];
    let more = posted(&served, &json!({"query": {"text": "more"}, "meta": {"session_context": session}})).json();
    let shown = first["results"].as_array().unwrap();
    assert!(more["results"].as_array().unwrap().iter().all(|item| !shown.contains(item)), "{more}");
    let after = json!({"query": {"text": "only vegetarian ones"}, "context": {"prev": ["soup"]}});
    assert_eq!(posted(&served, &after).json()["_meta"]["response_type"], "answer");
}
