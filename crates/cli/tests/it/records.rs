//! Signed records through the real program: kept, verified while it serves, whole after a hard end, exported.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::nodes::Nodes;
use crate::support::{DOMAIN, Deployment, FREE_PORTS, Ran, Served, within};

fn agtp(served: &Served, method: &str, more: &[&str]) -> Value {
    let uri = format!("agtp://{DOMAIN}");
    served.deployment.run("agtp", [&[method, uri.as_str(), "--json"], more].concat()).json()
}

fn verified(deployment: &Deployment) -> Value {
    deployment.run("audit", ["verify", ".", "--json"]).json()
}

/// The Agent-ID of `gate`.
fn gate(served: &Served) -> String {
    let document = agtp(served, "DESCRIBE", &[]);
    document["headers"]["Agent-ID"].as_str().or(document["body"]["agent_id"].as_str()).expect("an id").to_owned()
}

#[test]
fn records_are_verified_and_exported_while_the_program_serves() {
    let served = Deployment::gatehouse().serve();
    let gate = gate(&served);
    let published = agtp(&served, "DISCOVER", &[])["body"].to_string();
    let whole = agtp(&served, "DISCOVER", &["--agent-id", &gate]);
    let (jws, audit_id) = (&whole["headers"]["Attribution-Record"], &whole["headers"]["Audit-ID"]);
    assert!(jws.is_string() && audit_id.is_string(), "{whole}");
    let sent = format!(r#"{{"target": "audit", "audit_id": {audit_id}}}"#);
    let found = agtp(&served, "INSPECT", &["--agent-id", &gate, "-d", &sent]);
    assert_eq!(&found["body"]["jws"], jws, "{found}");
    let told = verified(&served.deployment);
    assert!(told["ok"] == true && told["records"] == 4, "{told}");
    assert_eq!(told["held_against"], json!(["the store"]));
    // With keys from elsewhere, as a stranger would.
    let manifest = served.deployment.path().join("manifest.json");
    fs::write(&manifest, published).unwrap();
    let said = served.deployment.run("audit", ["verify", ".", "--manifest", "manifest.json"]).fine();
    assert!(said.contains("all is as it was written"), "{said}");
    served.deployment.run("audit", ["export", ".", "--out", "records.jsonl"]).fine();
    let text = fs::read_to_string(served.deployment.path().join("records.jsonl")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[2]["jws"], &lines[2]["audit_id"], &lines[2]["kind"]), (jws, audit_id, &json!("record")));
    assert!(lines.last().unwrap()["checkpoint"].is_string(), "{text}");
}

#[test]
fn what_was_changed_is_named_by_file_byte_and_audit_id() {
    let served = Deployment::gatehouse().serve();
    let second = (0..3).map(|_| agtp(&served, "DISCOVER", &[])["headers"]["Audit-ID"].clone()).nth(1).unwrap();
    served.signal(Signal::SIGTERM);
    let deployment = served.ended().2;
    let path = deployment.data().join("records/segment-0000000001.log");
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    fs::write(&path, bytes).unwrap();
    let ran: Ran = deployment.run("audit", ["verify", "."]);
    assert!(ran.code == Some(1) && ran.stdout.contains("segment-0000000001.log, byte "), "{ran:?}");
    let told: Value = serde_json::from_str(&deployment.run("audit", ["verify", ".", "--json"]).stdout).unwrap();
    assert_eq!(told["ok"], false, "{told} {second}");
    // Nobody goes on behind what was changed.
    let said = deployment.run("serve", [&["."][..], &FREE_PORTS].concat()).failed(1);
    assert!(said.contains("damaged") && said.contains("audit verify"), "{said}");
}

#[test]
fn a_hard_end_in_the_middle_leaves_whole_chains_that_go_on() {
    let mut deployment = Deployment::gatehouse();
    let mut records = 0;
    for round in 0..3u64 {
        let served = deployment.serve();
        let gate = gate(&served);
        let before = verified(&served.deployment);
        assert!(before["ok"] == true && before["records"].as_u64() > Some(records), "{round}: {before}");
        let callers: Vec<_> = (0..2).map(|_| calling(&served, &gate)).collect();
        within("some were answered", || {
            (verified(&served.deployment)["records"].as_u64() > before["records"].as_u64().map(|count| count + 3))
                .then_some(())
        });
        thread::sleep(Duration::from_millis(round * 7));
        deployment = served.killed();
        callers.into_iter().for_each(|caller| caller.join().unwrap());
        let after = verified(&deployment);
        assert_eq!(after["ok"], true, "{round}: {after}");
        records = after["records"].as_u64().unwrap();
    }
}

#[test]
fn what_was_cut_off_emptied_or_set_back_is_told_and_not_gone_on_with_until_an_operator_says_so() {
    let deployment = Deployment::gatehouse();
    let said = deployment.run("audit", ["verify", "."]).failed(1);
    assert!(said.contains("no records are kept"), "{said}");
    let served = deployment.serve();
    agtp(&served, "DISCOVER", &[]);
    served.signal(Signal::SIGTERM);
    let deployment = served.ended().2;
    let (records, older) = (deployment.data().join("records"), deployment.path().join("older"));
    copy(&records, &older);
    let served = deployment.serve();
    (0..3).for_each(|_| drop(agtp(&served, "DISCOVER", &[])));
    served.signal(Signal::SIGTERM);
    let deployment = served.ended().2;
    assert_eq!(verified(&deployment)["ok"], true);
    let newer = deployment.path().join("newer");
    copy(&records, &newer);
    let segment = "segment-0000000001.log";
    for (case, files) in [("emptied", None), ("tail and mark gone", Some(false)), ("set back", Some(true))] {
        if records.exists() {
            fs::remove_dir_all(&records).unwrap();
        }
        if let Some(is_whole) = files {
            copy(if is_whole { &older } else { &newer }, &records);
            fs::copy(older.join(segment), records.join(segment)).unwrap();
            if !is_whole {
                fs::remove_file(records.join("mark.jws")).unwrap();
            }
        }
        let ran = deployment.run("audit", ["verify", "."]);
        assert!(ran.code == Some(1) && ran.stdout.contains("records are gone"), "{case}: {ran:?}");
    }
    // The older folder, whole in itself.
    let served = deployment.serve();
    let refused = served.deployment.run("agtp", ["DISCOVER", &format!("agtp://{DOMAIN}"), "--json"]);
    assert!(refused.stdout.contains("record-not-kept"), "{refused:?}");
    served.deployment.run("audit", ["accept", ".", "--reason", "restored from Monday"]).fine();
    within("it goes on", || {
        let ran = served.deployment.run("agtp", ["DISCOVER", &format!("agtp://{DOMAIN}"), "--json"]);
        ran.stdout.contains("Audit-ID").then_some(())
    });
    let told = verified(&served.deployment);
    assert!(told["ok"] == true && told["notes"].to_string().contains("restored from Monday"), "{told}");
}

#[test]
fn records_of_several_nodes_are_one_view_and_outlast_the_folder_of_a_node() {
    let Some(mut nodes) = Nodes::start(2) else { return eprintln!("skipped: PostgreSQL or NATS is not installed") };
    let gate = gate(&nodes.nodes[0]);
    let call = |nodes: &Nodes, at: usize, method: &str, more: &[&str]| -> Value {
        let uri = format!("agtp://{DOMAIN}");
        let arguments = [&[method, uri.as_str(), "--json", "--agent-id", &gate], more].concat();
        nodes.run(&nodes.nodes[at].deployment, "agtp", &arguments).json()
    };
    let first = call(&nodes, 0, "DISCOVER", &[])["headers"].clone();
    let second = call(&nodes, 1, "DISCOVER", &[])["headers"].clone();
    let sent = |name: &Value| format!(r#"{{"target": "audit", "audit_id": {name}}}"#);
    let found = call(&nodes, 1, "INSPECT", &["-d", &sent(&first["Audit-ID"])]);
    assert_eq!(found["body"]["jws"], first["Attribution-Record"], "{found}");
    let found = call(&nodes, 0, "INSPECT", &["-d", &sent(&second["Audit-ID"])]);
    assert_eq!(found["body"]["payload"]["previous_audit_id"], first["Audit-ID"], "joined over nodes: {found}");
    let gone = nodes.nodes.remove(0).killed();
    assert!(!gone.data().join("records").exists(), "nothing of it lay with the node");
    let node = &nodes.nodes[0].deployment;
    let told = nodes.run(node, "audit", &["verify", ".", "--json"]).json();
    assert!(told["ok"] == true && told["records"] == 5, "{told}");
    nodes.run(node, "audit", &["export", ".", "--out", "records.jsonl"]).fine();
    let lines = fs::read_to_string(node.path().join("records.jsonl")).unwrap();
    assert!(lines.lines().count() == 6 && lines.contains(first["Audit-ID"].as_str().unwrap()), "{lines}");
    // Files that a node left behind when it was alone, which neither the store nor a second place was told of.
    let alone = Deployment::gatehouse().serve();
    agtp(&alone, "DISCOVER", &[]);
    alone.signal(Signal::SIGTERM);
    copy(&alone.ended().2.data().join("records"), &node.data().join("records"));
    fs::write(node.path().join("heads"), "").unwrap();
    let told = nodes.run(node, "audit", &["verify", ".", "--json", "--head-copy", "heads"]).json();
    assert!(told["ok"] == true && told["records"] == 6, "{told}");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// Calls as the agent, again and again, until nobody answers any more.
fn calling(served: &Served, agent: &str) -> thread::JoinHandle<()> {
    let (data, agent) = (served.deployment.data(), agent.to_owned());
    let folder = served.deployment.path().to_owned();
    thread::spawn(move || {
        let call = || {
            Command::new(env!("CARGO_BIN_EXE_forecourt"))
                .args(["agtp", "DISCOVER", &format!("agtp://{DOMAIN}/methods"), "--agent-id", &agent, "--data"])
                .arg(&data)
                .current_dir(&folder)
                .env("XDG_STATE_HOME", folder.join("state"))
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
        };
        while call().is_ok_and(|status| status.success()) {}
    })
}
