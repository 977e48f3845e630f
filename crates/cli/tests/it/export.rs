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
