//! What `export` writes: the documents that any web host can serve. Hub card 5; design 26.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{DOMAIN, Deployment};

fn read(deployment: &Deployment, name: &str) -> Value {
    serde_json::from_str(&deployment.read(&format!("out/{name}"))).unwrap()
}

fn export(deployment: &Deployment) -> crate::support::Ran {
    deployment.run("export", ["cards", ".", "--out", "out"])
}

#[test]
fn cards_lists_and_keys_lie_where_they_would_be_served() {
    let gatehouse = Deployment::gatehouse();
    let text = export(&gatehouse).fine();
    let names = [
        ".well-known/agent-card.json",
        ".well-known/agent.json",
        ".well-known/agent-card/gate",
        ".well-known/agent-card/echo",
        ".well-known/mentionable-agents.json",
        ".well-known/jwks.json",
        "a2a/gate/.well-known/agent-card.json",
        "a2a/echo/.well-known/agent-card.json",
    ];
    for name in names {
        assert!(read(&gatehouse, name).is_object(), "{name}");
        assert!(text.contains(name), "{text}");
    }
    let again = gatehouse.run("export", ["cards", ".", "--out", "out", "--json"]).json();
    assert_eq!(again.as_array().unwrap().len(), names.len());
}

#[test]
fn s5_the_card_speaks_of_the_domain_and_of_no_listener() {
    let gatehouse = Deployment::gatehouse();
    export(&gatehouse).fine();
    let hub = read(&gatehouse, ".well-known/agent-card.json");
    assert_eq!(hub["url"], format!("https://{DOMAIN}/a2a"));
    assert_eq!(hub["https://mentionable.dev/ns/v1#defaultAgent"], "gate");
    assert_eq!(hub, read(&gatehouse, ".well-known/agent.json"));
    assert_eq!(read(&gatehouse, "a2a/echo/.well-known/agent-card.json")["url"], format!("https://{DOMAIN}/a2a/echo"));
    assert!(!gatehouse.read("out/.well-known/agent-card.json").contains(":8443"));
}

#[test]
fn public_url_goes_before_the_domain() {
    let gatehouse = Deployment::gatehouse();
    gatehouse.edit("forecourt.toml", "domain =", "public_url = \"https://agents.demo.localhost:9443\"\ndomain =");
    export(&gatehouse).fine();
    assert_eq!(read(&gatehouse, ".well-known/agent-card.json")["url"], "https://agents.demo.localhost:9443/a2a");
}

#[test]
fn the_keys_are_those_of_the_daemon_which_need_not_stop() {
    let served = Deployment::gatehouse().serve();
    export(&served.deployment).fine();
    let keys = read(&served.deployment, ".well-known/jwks.json");
    assert_eq!(keys, served.curl("/.well-known/jwks.json", &[]).with_status(200).json());
    served.curl("/~echo?user=still+there", &[]).with_status(200);
}

#[test]
fn s3_4_a_deployment_whose_card_is_refused_is_not_exported() {
    let nameless = Deployment::gatehouse();
    nameless.edit("agents/echo.toml", "name = \"", "name = \"\" #");
    let text = export(&nameless).failed(1);
    assert!(text.contains("@echo") && text.contains("/name"), "{text}");
    assert!(!nameless.path().join("out").exists());
    let without_default = Deployment::gatehouse();
    without_default.edit("forecourt.toml", "default_agent = \"gate\"", "default_agent = \"nobody\"");
    assert!(export(&without_default).failed(1).contains("nobody"));
}

#[test]
fn a_folder_that_cannot_be_written_is_the_user_s_problem() {
    let gatehouse = Deployment::gatehouse().and("out", "a file");
    let text = export(&gatehouse).failed(1);
    assert!(text.contains("cannot be written"), "{text}");
    assert!(Path::new(&gatehouse.path().join("out")).is_file());
    assert_eq!(json!(gatehouse.read("out")), "a file");
}

/// What registries of servers hold an entry to: lengths in characters, and the form of its name and address.
fn assert_entry(entry: &Value) {
    let length = |key: &str| entry[key].as_str().unwrap_or_else(|| panic!("{key}: {entry}")).chars().count();
    for (key, least, most) in [("name", 3, 200), ("title", 1, 100), ("description", 1, 100), ("version", 1, 255)] {
        assert!((least..=most).contains(&length(key)), "{key}: {entry}");
    }
    let name = regex::Regex::new(r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$").unwrap();
    assert!(name.is_match(entry["name"].as_str().unwrap()), "{entry}");
    let remote = &entry["remotes"][0];
    assert_eq!(remote["type"], "streamable-http");
    assert!(remote["url"].as_str().unwrap().starts_with("https://"), "{entry}");
    assert!(entry["$schema"].as_str().unwrap().ends_with("/2025-12-11/server.schema.json"), "{entry}");
}

#[test]
fn registries_are_told_of_the_host_and_of_each_agent() {
    let gatehouse = Deployment::gatehouse();
    gatehouse.edit("agents/echo.toml", "Repeats what", &format!("{}Repeats what", "words ".repeat(40)));
    let written = gatehouse.run("export", ["registry", ".", "--out", "out", "--json"]).json();
    assert_eq!(written.as_array().unwrap().len(), 6, "{written}");
    let host = read(&gatehouse, "mcp/server.json");
    assert_eq!(
        (host["name"].as_str(), &host["remotes"][0]["url"]),
        (Some("localhost.demo/host"), &json!(format!("https://{DOMAIN}/mcp")))
    );
    let echo = read(&gatehouse, "mcp/echo/server.json");
    assert_eq!(
        (echo["name"].as_str(), &echo["remotes"][0]["url"]),
        (Some("localhost.demo/echo"), &json!(format!("https://{DOMAIN}/mcp/echo")))
    );
    assert!(echo["description"].as_str().unwrap().ends_with('…'), "{echo}");
    [&host, &echo, &read(&gatehouse, "mcp/gate/server.json")].into_iter().for_each(assert_entry);
    assert_eq!(read(&gatehouse, "a2a/agent-card.json")["url"], format!("https://{DOMAIN}/a2a"));
    assert_eq!(read(&gatehouse, "a2a/echo/agent-card.json")["url"], format!("https://{DOMAIN}/a2a/echo"));
    let told = gatehouse.run("export", ["registry", ".", "--out", "out"]);
    assert!(told.stderr.contains("no registry takes it") && told.stdout.contains("mcp-publisher publish"), "{told:?}");
}

#[test]
fn what_registries_refuse_is_said_before_they_do() {
    let gatehouse = Deployment::gatehouse();
    gatehouse.edit(
        "agents/echo.toml",
        "description = \"Repeats what",
        "version = \"^1.0\"\ndescription = \"Repeats what",
    );
    let words = gatehouse.run("export", ["registry", ".", "--out", "out"]).failed(1);
    assert!(words.contains("@echo names no release") && !gatehouse.path().join("out").exists(), "{words}");
}
