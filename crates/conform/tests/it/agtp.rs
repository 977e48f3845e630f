//! Each rule that a server of AGTP breaks is found by its check, and by no other.

use forecourt_conform::agtp::{AgtpTarget, Caller, SUITES};
use forecourt_conform::report::{Finding, Outcome};

use crate::agtp_server::{Change, Script, listen};
use crate::{PATIENCE, agent, broken, findings, ids, line, run};

/// What is known not to be followed by the scripted server, and is only advice.
const ADVICE: [&str; 2] = ["agtp-8.8", "agtp-base-8.1c"];

async fn tested(script: Script) -> Vec<Finding> {
    let port = listen(script).await;
    let caller = Caller { agent_id: Some(agent()), with_effects: true, ..Caller::default() };
    findings(AgtpTarget::new(line(port, PATIENCE), caller), SUITES, PATIENCE).await
}

fn found(script: Script) -> Vec<&'static str> {
    let all = run(tested(script));
    broken(&all).into_iter().filter(|id| !ADVICE.contains(id)).collect()
}

fn early(early: Change) -> Vec<&'static str> {
    found(Script { early, ..Script::default() })
}

fn late(late: Change) -> Vec<&'static str> {
    found(Script { late, ..Script::default() })
}

#[test]
fn a_server_that_keeps_the_rules_passes_and_little_is_left_untold() {
    let all = run(tested(Script::default()));
    assert_eq!(ids(&all, Outcome::Fail), Vec::<&str>::new(), "{all:#?}");
    assert_eq!(ids(&all, Outcome::Warn), ADVICE);
    assert!(ids(&all, Outcome::Skip).len() < 24, "{:?}", ids(&all, Outcome::Skip));
}

#[test]
fn nobody_in_particular_learns_less_and_nothing_wrong() {
    let all = run(async {
        let port = listen(Script::default()).await;
        findings(AgtpTarget::new(line(port, PATIENCE), Caller::default()), SUITES, PATIENCE).await
    });
    assert_eq!(ids(&all, Outcome::Fail), Vec::<&str>::new(), "{all:#?}");
    let skipped = all.iter().find(|finding| finding.id == "agtp-5.8.7").unwrap();
    assert!(skipped.reason.as_deref().unwrap().contains("--agent-id"), "{skipped:?}");
}

#[test]
fn s13_1_broken_methods_are_found() {
    finds! {
        early;
        "agtp-13.1-2a" => |q, r| if q.method == "QEURYX" { r.status = 404 };
        "agtp-13.1-2b" => |q, r| if q.method.len() == 33 { r.status = 400 };
        "agtp-3.2-case" => |q, r| if q.method == "query" { r.status = 404 };
        "agtp-13.1-2c" => |q, r| if q.is("BOOK", "/conform-nowhere") { r.status = 459 };
        "agtp-13.1-4a" => |q, r| if q.method == "TRANSFER" { r.status = 404 };
        "agtp-3.1-floor" => |q, r| if q.is("PLAN", "/") { r.status = 405 };
        "agtp-9.2-alias" => |q, r| if q.method == "GET" { r.status = 459 };
    }
}

#[test]
fn s13_1_broken_paths_are_found() {
    finds! {
        early;
        "agtp-13.1-3b" => |q, r| if q.is("QUERY", "/conform/Dis-Co_ver") { r.status = 404 };
        "agtp-5.1-slash" => |q, r| if q.path() == "/conform-nowhere/" { r.status = 404 };
        "agtp-5.1-segment" => |q, r| if q.method == "QUERY" && r.status == 460 { r.edit(|body| body["error"]["segment"] = "x".into()) };
        "agtp-5.5" => |q, r| if q.target.as_deref().is_some_and(|t| t.contains("?place")) { r.status = 460 };
        "agtp-5.3" => |q, r| if q.path().starts_with("/Conform") { r.status = 460 };
    }
}

#[test]
fn s11_a_405_that_helps_nobody_is_found() {
    finds! {
        early;
        "agtp-11-allowed" => |_, r| if r.status == 405 { r.edit(|body| body["error"]["allowed_methods_for_path"] = "QUERY".into()) };
        "agtp-11-redirects" => |_, r| if r.status == 405 { r.edit(|body| body["error"]["redirects_for_path"] = "none".into()) };
        "agtp-11-allowed" => |_, r| if r.status == 405 { r.edit(|body| body["error"]["allowed_methods_for_path"] = serde_json::json!(["BOOK"])) };
    }
}

/// Breaks the manifest.
fn manifest(change: Change) -> Vec<&'static str> {
    early(change)
}

#[test]
fn s8_a_broken_manifest_is_found() {
    finds! {
        manifest;
        "agtp-13.1-5b" => |q, r| if q.target.is_none() { r.edit(|m| m["document_version"] = 2.into()) };
        "agtp-8.10" => |q, r| if q.target.is_none() { r.set("Content-Type", "text/plain") };
        "agtp-4.8" => |q, r| if q.target.is_none() { r.edit(|m| m["catalog_versions_supported"] = serde_json::json!(["0.9.0"])) };
        "agtp-8.3" => |q, r| if q.target.is_none() { r.edit(|m| m["server"]["issued"] = "yesterday".into()) };
        "agtp-8.4" => |q, r| if q.target.is_none() { r.edit(|m| drop(m["embedded_methods"].as_array_mut().unwrap().pop())) };
        "agtp-8.5" => |q, r| if q.target.is_none() { r.edit(|m| m["agent_disclosure"] = "limited".into()) };
        "agtp-8.7" => |q, r| if q.target.is_none() { r.edit(|m| m["policies"]["max_synthesis_depth"] = 0.into()) };
        "agtp-9.2" => |q, r| if q.target.is_none() { r.edit(|m| m["policies"]["methods"]["aliases"]["READ"] = "GET".into()) };
        "agtp-8.11" => |q, r| if q.target.is_none() { r.without("ETag") };
    }
}

#[test]
fn s8_9_handlers_that_leak_and_endpoints_that_lack_are_found() {
    fn at(m: &mut serde_json::Value) -> &mut serde_json::Value {
        &mut m["endpoints"][5]
    }
    finds! {
        manifest;
        "agtp-13.1-6" => |q, r| if q.target.is_none() { r.edit(|m| at(m)["handler"]["function"] = "rooms.book".into()) };
        "agtp-13.1-9" => |q, r| if q.target.is_none() { r.edit(|m| at(m)["semantic"]["confidence"] = 2.into()) };
        "agtp-13.1-1" => |q, r| if q.target.is_none() { r.edit(|m| at(m)["errors"] = serde_json::Value::Null) };
        "agtp-6.4-input" => |q, r| if q.target.is_none() { r.edit(|m| drop(at(m)["input_schema"].as_object_mut().unwrap().remove("additionalProperties"))) };
        "agtp-12.1" => |q, r| if q.target.is_none() { r.edit(|m| m["endpoints"][9]["errors"] = serde_json::json!([])) };
        "agtp-12.3" => |q, r| if q.target.is_none() { r.edit(|m| m["endpoints"][10]["errors"] = serde_json::json!(["upstream_error"])) };
    }
}

#[test]
fn s5_9_a_shadowed_reserved_path_is_found() {
    let shadow = early(|q, r| {
        if q.target.is_none() {
            r.edit(|m| {
                let mut own = m["endpoints"][5].clone();
                own["method"] = "DISCOVER".into();
                own["path"] = "/toolset".into();
                m["endpoints"].as_array_mut().unwrap().push(own);
            });
        }
        if q.is("DISCOVER", "/methods") && r.status == 200 {
            let entry = serde_json::json!({"method": "DISCOVER", "path": "/toolset", "description": "x", "tier": "B"});
            r.edit(|all| all.as_array_mut().unwrap().push(entry));
        }
    });
    assert_eq!(shadow, ["agtp-5.9"]);
}

#[test]
fn s5_8_broken_inventories_are_found() {
    finds! {
        early;
        "agtp-13.1-13a" => |q, r| if q.is("DISCOVER", "/methods") && r.status == 200 { r.edit(|all| *all = serde_json::json!({"methods": all})) };
        "agtp-13.1-13b" => |q, r| if q.is("DISCOVER", "/methods") && r.status == 200 { r.edit(|all| all[7]["tier"] = "D".into()) };
        "agtp-5.8-itself" => |q, r| if q.is("DISCOVER", "/methods") && r.status == 200 { r.edit(|all| all[1]["tier"] = "C".into()) };
        "agtp-5.8.2b" => |q, r| if q.is("DISCOVER", "/agents") { r.edit(|all| all[0]["trust_tier"] = 9.into()) };
        "agtp-5.8.6b" => |q, r| if q.is("DISCOVER", "/patterns") { r.edit(|all| all["patterns"][0]["path_regex"] = ".*".into()) };
        "agtp-5.10a" => |q, r| if q.json()["target"] == "agents" { r.status = 200 };
        "agtp-5.8.7" => |q, r| if q.is("DISCOVER", "/contracts") { r.body = b"{}".to_vec() };
    }
}

#[test]
fn s13_3_inputs_and_outputs_that_are_not_held_to_their_schemas_are_found() {
    finds! {
        early;
        "agtp-13.1-10a" => |q, r| { if q.body.windows(18).any(|part| part == b"conform_undeclared") && r.status == 422 && !q.is("QUERY", "/old") { r.status = 200 } };
        "agtp-13.1-10b" => |q, r| if q.is("FETCH", "/named") && q.body == b"{}" { r.status = 200 };
        "agtp-5.5-query" => |q, r| if q.is("QUERY", "/catalog") && r.status == 422 && q.target.as_deref() != Some("/catalog") { r.status = 200 };
        "agtp-13.2-scopes" => |q, r| if q.is("FETCH", "/secret") && r.status == 455 { r.status = 200 };
        "agtp-13.1-10c" => |q, r| if q.is("FETCH", "/secret") && r.status == 200 { r.body = b"{}".to_vec() };
        "agtp-13.1-12" => |q, r| if q.is("QUERY", "/old") { r.without("AGTP-Endpoint-Warning") };
        "agtp-13.1-12" => |q, r| if q.is("QUERY", "/old") { r.set("AGTP-Endpoint-Warning", "old") };
        "agtp-4.4-none" => |q, r| if q.is("DISCOVER", "/methods") { r.set("AGTP-Catalog-Warning", "deprecated") };
    }
}

#[test]
fn s10_6_broken_proposals_are_found() {
    finds! {
        early;
        "agtp-10.6-1" => |q, r| if q.method == "PROPOSE" && r.status == 459 { r.status = 463 };
        "agtp-10.6-2" => |q, r| if q.method == "PROPOSE" && r.status == 460 { r.status = 463 };
        "agtp-10.6-5" => |q, r| if q.method == "PROPOSE" && r.status == 262 { r.status = 463 };
        "agtp-10.6-6" => |q, r| if q.method == "PROPOSE" && r.status == 463 { r.edit(|body| body["error"]["reason"] = "no".into()); r.edit(|body| body["error"]["code"] = "no".into()) };
        "agtp-10.4.3" => |q, r| if q.method == "PROPOSE" && r.status == 263 { r.edit(|body| body["path"] = "/other".into()) };
        "agtp-11-261" => |q, r| if q.path().starts_with("/proposals") { r.status = 200 };
    }
}

#[test]
fn base_2_broken_framing_and_fields_are_found() {
    finds! {
        late;
        "agtp-5.6" => |q, r| if r.status == 400 && q.target.as_deref() == Some("/a#b") { r.edit(|body| body["error"] = serde_json::json!({"code": "bad"})) };
        "agtp-base-2.5-server" => |_, r| if r.status == 400 { r.without("Server-ID") };
        "agtp-17.4" => |_, r| r.without("AGTP-API-Version");
        "agtp-base-2.5-echo" => |_, r| r.without("Task-ID");
        "agtp-base-2.2-type" => |q, r| if q.is("QUERY", "/conform/nowhere") { r.without("Content-Type") };
    }
}

#[test]
fn base_8_1_broken_records_are_found() {
    finds! {
        late;
        "agtp-base-8.1a" => |q, r| if q.is("QUERY", "/conform-nowhere") { r.without("Attribution-Record") };
        "agtp-base-8.1b", "agtp-base-8.1g", "agtp-base-3.3-audit" => |q, r| if q.is("DISCOVER", "/methods") { r.set("Audit-ID", &"0".repeat(64)) };
    }
    finds! {
        early;
        "agtp-base-3.3-audit" => |q, r| if q.is("INSPECT", "/") && r.status == 200 && q.json()["target"] == "audit" { r.edit(|body| body["jws"] = "a.b.c".into()) };
    }
    // The status is put into the record before it is changed.
    finds! {
        late;
        "agtp-base-8.1f" => |q, r| if q.is("DISCOVER", "/methods") && q.field("Request-ID").is_some_and(|id| id.ends_with('2')) { r.set("Response-ID", "another") };
    }
}

#[test]
fn no_token_is_ever_shown() {
    let all = run(async {
        let port = listen(Script { early: |_, r| r.status = 500, ..Script::default() }).await;
        let caller = Caller { agent_id: Some(agent()), token: Some("s3cr3t-t0k3n".to_owned()), ..Caller::default() };
        findings(AgtpTarget::new(line(port, PATIENCE), caller), SUITES, PATIENCE).await
    });
    assert!(ids(&all, Outcome::Fail).len() > 20);
    let text = serde_json::to_string(&all).unwrap();
    assert!(text.contains("[secret]") && !text.contains("s3cr3t"), "{text}");
}
