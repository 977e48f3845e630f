//! Contracts that are made while a real daemon serves `examples/hotel`: an agent that knows the manifest alone,
//! recipes that the operator edits, and what survives a crash. AGTP-API 10.

use std::path::PathBuf;
use std::process::Command;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::{DOMAIN, Deployment, Ran, Served};

/// What the agent claims who negotiates.
const SCOPES: &str = "room:read,room:book,rcns:negotiate";

/// The example, in a folder of its own.
fn hotel() -> Deployment {
    Deployment::of_example("hotel")
}

/// A call by an agent of the hotel.
fn call(served: &Served, by: (&str, &str), line: (&str, &str), more: &[&str]) -> Ran {
    let (uri, id) = (format!("agtp://{DOMAIN}{}", line.1), served.deployment.agent_id(by.0));
    let fixed = [line.0, &uri, "--agent-id", &id, "--scope", by.1, "--session", "s-1"];
    served.deployment.run("agtp", [&fixed, more].concat())
}

const GUEST: (&str, &str) = ("guest", SCOPES);
const DESK: (&str, &str) = ("desk", "inspect:all");

fn agtp_port(served: &Served) -> String {
    let recorded = std::fs::read_to_string(served.deployment.data().join("serving.json")).unwrap();
    serde_json::from_str::<Value>(&recorded).unwrap()["sockets"]["agtp"].to_string()
}

/// A visit of the example's agent; what it says of it.
fn visit(served: &Served) -> String {
    let script: PathBuf = served.deployment.path().join("traveller.py");
    let mut command = Command::new("python3");
    command.arg(script).args([DOMAIN, &agtp_port(served), &served.ca(), &served.deployment.agent_id("guest")]);
    let output = command.current_dir(served.deployment.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

/// What is proposed.
pub(crate) fn weekend() -> Value {
    json!({
        "method": "RESERVE", "path": "/weekend", "description": "Books a room for a weekend.",
        "semantic": {
            "intent": "Book a room for a weekend.", "actor": "agent", "outcome": "The room is booked.",
            "capability": "transaction", "confidence": 0.9, "impact": "reversible", "is_idempotent": false,
        },
        "input_schema": {
            "type": "object", "additionalProperties": false, "required": ["room_id", "guest"],
            "properties": {"room_id": {"type": "string"}, "guest": {"type": "string"}},
        },
        "output_schema": {"type": "object", "required": ["reservation_id"]},
    })
}

/// Proposes the weekend for good.
fn propose(served: &Served) -> Value {
    let proposal = json!({"endpoint": weekend(), "persistent": true}).to_string();
    let ran = call(served, GUEST, ("PROPOSE", ""), &["-d", &proposal]);
    assert!(ran.stderr.contains("Contract-Synthesized: "), "the next command is told: {ran:?}");
    ran.json()
}

const STAY: &str = r#"{"room_id": "7", "guest": "Ada"}"#;

fn reserve(served: &Served, more: &[&str]) -> Ran {
    call(served, GUEST, ("RESERVE", "/weekend"), &[&["-d", STAY], more].concat())
}

fn sweep(served: &Served, mode: &str) -> Value {
    let parameters = json!({"target": "stale-contracts", "mode": mode, "actor": "ops"}).to_string();
    call(served, DESK, ("REVOKE", ""), &["-d", &parameters]).json()
}

fn restarted(served: Served) -> Served {
    served.signal(Signal::SIGTERM);
    served.ended().2.serve()
}

#[test]
fn s10_an_agent_that_knows_the_manifest_alone_negotiates_what_is_lacking() {
    let served = hotel().serve();
    let said = visit(&served);
    for words in ["lacks RESERVE /weekend", "offered ", "for 2 nights", "released"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let refused = reserve(&served, &[]).failed(1);
    assert!(refused.contains("404"), "nothing is left: {refused}");
}

#[test]
fn s10_1_3_the_same_agent_is_served_at_once_where_the_operator_says_so() {
    let deployment = hotel();
    deployment.edit("forecourt.toml", "mode = \"confirm-first\"", "mode = \"optimistic\"");
    let said = visit(&deployment.serve());
    assert!(!said.contains("offered") && said.contains("for 2 nights") && said.contains("released"), "{said}");
}

#[test]
fn s10_1_3_an_offer_is_told_with_the_command_that_accepts_it() {
    let served = hotel().serve();
    let ran = reserve(&served, &["-H", "Allow-RCNS: true", "--json"]);
    let id = serde_json::from_str::<Value>(&ran.stdout).unwrap()["body"]["synthesis_id"].as_str().unwrap().to_owned();
    let said = ran.failed(1);
    assert!(said.contains("nothing was done yet") && said.contains(&id), "{said}");
    let header = format!("Contract-Synthesized: {id}");
    assert_eq!(reserve(&served, &["-H", &header]).json()["nights"], 2);
    let theirs = ("rival", SCOPES);
    let said = call(&served, theirs, ("RESERVE", "/weekend"), &["-d", STAY, "-H", &header]).failed(1);
    assert!(said.contains("464") && said.contains("contract of your own"), "{said}");
}

#[test]
fn s10_5_a_recipe_that_is_edited_changes_no_contract_until_it_is_swept() {
    let served = hotel().serve();
    let first = propose(&served);
    assert_eq!(first["recipe_lineage"]["recipe_version"], "1");
    assert_eq!(reserve(&served, &[]).json()["nights"], 2);
    served.deployment.edit("recipes.toml", "version = \"1\"", "version = \"2\"");
    served.deployment.edit("recipes.toml", "value = 2 }", "value = 3 }");
    let served = restarted(served);
    assert_eq!(reserve(&served, &[]).json()["nights"], 2, "it goes on under the version that it was made from");
    let record = |swept: &Value| {
        swept["records"]
            .as_array()
            .unwrap()
            .iter()
            .find(|r| r["synthesis_id"] == first["synthesis_id"])
            .cloned()
            .unwrap()
    };
    let grandfathered = record(&sweep(&served, "grandfather"));
    assert_eq!(
        (&grandfathered["disposition"], &grandfathered["current_version"]),
        (&json!("grandfathered"), &json!("2"))
    );
    assert_eq!(reserve(&served, &[]).json()["nights"], 2);
    let second = propose(&served);
    assert_eq!(second["recipe_lineage"]["recipe_version"], "2");
    assert_ne!(first["synthesis_id"], second["synthesis_id"]);
    let swept = sweep(&served, "invalidate");
    assert_eq!(record(&swept)["disposition"], "evicted");
    assert_eq!(swept["records"].as_array().unwrap().len(), 2, "every contract is listed: {swept}");
    let header = format!("Contract-Synthesized: {}", first["synthesis_id"].as_str().unwrap());
    assert!(reserve(&served, &["-H", &header]).failed(1).contains("404"));
    assert_eq!(reserve(&served, &[]).json()["nights"], 3, "the newer one serves");
}

#[test]
fn s10_8_a_persistent_contract_survives_a_crash_and_stands_in_the_manifest() {
    let served = hotel().serve();
    let made = propose(&served);
    let manifest = |served: &Served| served.deployment.run("agtp", ["DISCOVER", &format!("agtp://{DOMAIN}")]).json();
    let before = manifest(&served);
    let stands = |manifest: &Value| manifest["endpoints"].as_array().unwrap().iter().any(|e| e["path"] == "/weekend");
    assert!(stands(&before));
    let served = served.killed().serve();
    assert_eq!(reserve(&served, &[]).json()["nights"], 2);
    let after = manifest(&served);
    assert!(stands(&after));
    assert_eq!(before["endpoints"], after["endpoints"]);
    let checked = served.deployment.run("manifest", ["check", &format!("agtp://{DOMAIN}"), "--json"]).json();
    assert_eq!(checked["ok"], true, "{checked}");
    let id = made["synthesis_id"].as_str().unwrap();
    let revoke = json!({"target": "contract", "synthesis_id": id, "reason": "over"}).to_string();
    call(&served, DESK, ("REVOKE", ""), &["-d", &revoke]).fine();
    let served = served.killed().serve();
    let header = format!("Contract-Synthesized: {id}");
    let said = reserve(&served, &["-H", &header]).failed(1);
    assert!(said.contains("464"), "what was revoked serves nobody after a crash either: {said}");
    assert!(!stands(&manifest(&served)));
}
