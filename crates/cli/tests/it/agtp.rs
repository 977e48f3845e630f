//! `forecourt agtp` and `forecourt manifest check` against a deployment that is being served, over TLS
//! with its local authority.

use serde_json::Value;

use crate::support::{DOMAIN, Deployment, Ran, Served};

/// Calls a path of the deployment, found by its domain alone.
fn call(served: &Served, method: &str, path: &str, more: &[&str]) -> Ran {
    let uri = format!("agtp://{DOMAIN}{path}");
    served.deployment.run("agtp", [&[method, uri.as_str()], more].concat())
}

#[test]
fn a_server_is_found_by_its_name_and_shows_everything_in_one_call() {
    let served = Deployment::gatehouse().serve();
    let manifest = call(&served, "DISCOVER", "", &[]).json();
    assert_eq!((&manifest["agtp_version"], &manifest["catalog_version"]), (&"1.0".into(), &"1.0.0".into()));
    let methods = call(&served, "DISCOVER", "/methods", &[]).json();
    let is_there = |path: &str| methods.as_array().is_some_and(|all| all.iter().any(|one| one["path"] == path));
    assert!(is_there("/") && is_there("/agents"), "{methods}");
    let whole = call(&served, "DISCOVER", "", &["--json"]).json();
    assert_eq!(whole["status"], 200);
    assert_eq!(whole["headers"]["Content-Type"], "application/vnd.agtp.manifest+json");
}

#[test]
fn requests_are_counted_by_the_methods_that_every_host_has() {
    let served = Deployment::gatehouse().serve();
    call(&served, "DISCOVER", "", &[]).fine();
    call(&served, "QEURY", "/x", &[]).failed(1);
    let metrics = served.operator("/metrics").text();
    let counted = |method: &str, status: &str| {
        let labels = format!("{{protocol=\"agtp\",method=\"{method}\",status=\"{status}\"}}");
        metrics.contains(&format!("forecourt_stream_requests_total{labels} 1"))
    };
    assert!(counted("DISCOVER", "2xx") && counted("other", "4xx"), "{metrics}");
    assert!(!metrics.contains("QEURY"), "labels are a closed set: {metrics}");
}

#[test]
fn refusals_of_a_real_server_come_with_what_helps() {
    let served = Deployment::gatehouse().serve();
    let said = call(&served, "QEURY", "/x", &[]).failed(1);
    assert!(said.contains("459") && said.contains("did you mean QUERY"), "{said}");
    let said = call(&served, "QUERY", "/order/5", &[]).failed(1);
    assert!(said.contains("460") && said.contains("`order`"), "{said}");
    let said = call(&served, "QUERY", "/nowhere", &[]).failed(1);
    assert!(said.contains("404") && said.contains("/methods"), "{said}");
}

#[test]
fn s8_our_own_manifest_keeps_every_rule_and_is_signed() {
    let served = Deployment::gatehouse().serve();
    let uri = format!("agtp://{DOMAIN}");
    for what in [uri.as_str(), "."] {
        let told: Value = served.deployment.run("manifest", ["check", what, "--json"]).json();
        // Advice may be given, such as to name a contact.
        assert_eq!(told["ok"], true, "{told}");
        assert!(told["verdict"]["signature"]["valid"]["kid"].is_string(), "{told}");
    }
    let file = served.deployment.path().join("manifest.json");
    std::fs::write(&file, call(&served, "DISCOVER", "", &[]).fine()).unwrap();
    let said = served.deployment.run("manifest", ["check", "manifest.json"]).fine();
    assert!(said.contains("signed by"), "{said}");
    let changed = std::fs::read_to_string(&file)
        .unwrap()
        .replace("\"anonymous_discovery\":true", "\"anonymous_discovery\":false");
    std::fs::write(&file, changed).unwrap();
    let ran = served.deployment.run("manifest", ["check", "manifest.json"]);
    assert!(ran.code == Some(1) && ran.stdout.contains("signature"), "{ran:?}");
}

#[test]
fn strangers_to_the_local_authority_are_not_fooled() {
    let served = Deployment::gatehouse().serve();
    let stranger = tempfile::tempdir().unwrap();
    let data = stranger.path().display().to_string();
    let recorded = std::fs::read_to_string(served.deployment.data().join("serving.json")).unwrap();
    let port = serde_json::from_str::<Value>(&recorded).unwrap()["sockets"]["agtp"].to_string();
    let uri = format!("agtp://{DOMAIN}:{port}");
    let said = served.deployment.run("agtp", ["DISCOVER", &uri, "--data", &data]).failed(3);
    assert!(said.contains("certificate") && said.contains("--data"), "{said}");
    served.deployment.run("agtp", ["DISCOVER", &uri, "--data", &data, "--insecure"]).fine();
}

#[test]
fn agents_are_told_with_addresses_that_lead_to_them() {
    let served = Deployment::gatehouse().serve();
    let about = served.curl("/~echo", &["-H", "Accept: application/json"]).with_status(200).json();
    let endpoints = about["endpoints"].as_array().unwrap();
    let uri = endpoints.iter().find(|endpoint| endpoint["protocol"] == "agtp").expect("an address")["url"].as_str();
    let document = served.deployment.run("agtp", ["DESCRIBE", uri.unwrap()]).json();
    assert_eq!(document["name"], "echo", "{document}");
    let card = served.curl("/.well-known/agent-card/echo", &[]).json();
    let inbound = card["mentionable"]["supported_inbound"].as_array().unwrap();
    assert!(inbound.contains(&"agtp".into()), "{card}");
    let others = &call(&served, "DISCOVER", "", &[]).json()["hosted_protocols"];
    assert!(others.as_array().unwrap().iter().all(|other| other["protocol"] != "agtp"), "{others}");
}

#[test]
fn a_server_on_this_machine_alone_has_no_address_under_a_public_domain() {
    let deployment = Deployment::gatehouse();
    deployment.edit("forecourt.toml", "domain = \"demo.localhost\"", "domain = \"kitchen.example\"");
    let agtp = |deployment: &Deployment| {
        let told = deployment.run("check", [".", "--json"]).json()["agents"][0]["endpoints"].clone();
        told.as_array().unwrap().iter().find(|one| one["protocol"] == "agtp").map(|one| one["url"].clone())
    };
    assert_eq!(agtp(&deployment), None);
    let deployment = deployment.with("agtp.server", "domain = \"agtp.kitchen.example\"");
    assert_eq!(agtp(&deployment), Some("agtp://agtp.kitchen.example/agents/gate".into()));
}
