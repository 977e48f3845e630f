//! `forecourt conform` against deployments that are served by the real binary, and against nobody.

use serde_json::Value;

use crate::support::{DOMAIN, Deployment, Served};

/// The names of the checks that came to `outcome`, each with its reason.
fn came_to(report: &Value, outcome: &str) -> Vec<String> {
    let checks = report["checks"].as_array().unwrap().iter().filter(|check| check["outcome"] == outcome);
    checks.map(|check| format!("{}: {}", check["id"], check["reason"])).collect()
}

fn report(served: &Served, target: &str, more: &[&str]) -> Value {
    let ran = served.deployment.run("conform", [&[target, "--json"], more].concat());
    assert!(ran.stderr.is_empty() || ran.code == Some(1), "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn our_own_host_keeps_every_rule_over_http() {
    let served = Deployment::kitchen().serve();
    let found = report(&served, &format!("https://{DOMAIN}"), &["--with-effects"]);
    assert_eq!(came_to(&found, "fail"), Vec::<String>::new(), "{found}");
    assert_eq!(came_to(&found, "warn"), Vec::<String>::new(), "{found}");
    assert!(found["summary"]["pass"].as_u64().unwrap() > 80, "{}", found["summary"]);
    let gate = report(&served, &format!("https://{DOMAIN}"), &["--agent", "@gate", "--only", "rest-"]);
    assert_eq!(came_to(&gate, "fail"), Vec::<String>::new(), "{gate}");
}

/// A small deployment with endpoints, recipes and agents that is served, and the id of one of its agents.
fn hotel() -> (Served, String) {
    let deployment = Deployment::of_example("hotel");
    let served = deployment.serve();
    let id = served.deployment.agent_id("desk");
    (served, id)
}

#[test]
fn our_own_server_of_agtp_keeps_every_rule() {
    let (served, id) = hotel();
    let target = format!("agtp://{DOMAIN}");
    let named = ["--agent-id", id.as_str(), "--with-effects"];
    for more in [&[][..], &named[..2], &named[..]] {
        let found = report(&served, &target, more);
        assert_eq!(came_to(&found, "fail"), Vec::<String>::new(), "{more:?} {found}");
    }
}

#[test]
fn a_broken_rule_ends_with_1_and_nobody_there_with_3() {
    let deployment = Deployment::empty();
    let said = deployment.run("conform", ["https://127.0.0.1:1", "--insecure"]).failed(3);
    assert!(said.contains("nobody answers"), "{said}");
    deployment.run("conform", ["agtp://127.0.0.1:1", "--plaintext"]).failed(3);
    deployment.run("conform", ["http://example.com"]).failed(2);
    deployment.run("conform", ["agtp://127.0.0.1:1", "--only", "no-such-check"]).failed(2);
    deployment.run("conform", ["agtp://127.0.0.1:1", "--agent-id", "x"]).failed(2);
    // A server of HTTP is none of AGTP.
    let served = Deployment::gatehouse().serve();
    let port = served.http.to_string();
    let ran = served.deployment.run("conform", [&format!("agtp://127.0.0.1:{port}"), "--plaintext"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("FAIL  agtp-base-2.1-answer"), "{}", ran.stdout);
}

#[test]
fn checks_are_listed_with_their_sections() {
    let deployment = Deployment::empty();
    let all = deployment.run("conform", ["--list", "--json"]).json();
    let checks = all["checks"].as_array().unwrap();
    let mut ids: Vec<&str> = checks.iter().map(|check| check["id"].as_str().unwrap()).collect();
    let count = ids.len();
    assert!(count > 200, "{count}");
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "a name is there twice");
    // Each item of the list of AGTP-API 13.1 has a check.
    for item in 1..=13 {
        assert!(ids.iter().any(|id| id.starts_with(&format!("agtp-13.1-{item}"))), "item {item}");
    }
    let listed = deployment.run("conform", ["--list", "--only", "rest-4"]).fine();
    assert!(listed.lines().all(|line| line.starts_with("rest-4")), "{listed}");
}
