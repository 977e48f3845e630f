//! Contracts that are negotiated, with a server that keeps the rules of them and with such that break one.
//! AGTP-API 10.1.

use forecourt_conform::agtp::{AgtpTarget, Caller, SUITES};
use forecourt_conform::report::{Finding, Outcome};

use crate::agtp_server::{Change, Reply, Request, Script, listen};
use forecourt_core::AgentId;

use crate::{OTHER, PATIENCE, agent, broken, findings, line, run};

fn tested(early: Change) -> Vec<Finding> {
    tested_with(None, true, early)
}

fn tested_with(pair: Option<(&str, &str)>, negotiates: bool, early: Change) -> Vec<Finding> {
    let pair = pair.map(|(method, path)| (method.to_owned(), path.to_owned()));
    run(async {
        let port = listen(Script { early, negotiates, ..Script::default() }).await;
        let scope = Some("rcns:negotiate".to_owned());
        let other_agent_id = Some(AgentId::parse(OTHER).unwrap());
        let agent_id = Some(agent());
        let caller = Caller { agent_id, other_agent_id, scope, pair, with_effects: true, ..Caller::default() };
        findings(AgtpTarget::new(line(port, PATIENCE), caller), SUITES, PATIENCE).await
    })
}

fn found(early: Change) -> Vec<&'static str> {
    let all = tested(early);
    broken(&all).into_iter().filter(|id| id.contains("10.1")).collect()
}

#[test]
fn s10_1_a_server_that_keeps_the_rules_passes_them_all() {
    let all = tested(|_, _| {});
    let untold = all.iter().filter(|finding| finding.id.contains("10.1") && finding.outcome != Outcome::Pass);
    let untold: Vec<_> = untold.map(|finding| (finding.id, &finding.reason)).collect();
    assert_eq!(untold.iter().map(|(id, _)| *id).collect::<Vec<_>>(), ["agtp-10.1.2-off"], "{untold:?}");
}

#[test]
fn s10_1_each_broken_rule_is_found() {
    finds! {
        found;
        "agtp-10.1.2-consent" => |q, r| if q.field("Allow-RCNS") == Some("maybe") { r.status = 464 };
        "agtp-10.1.2-scope" => |_, r| if r.status == 262 { r.edit(|body| body["error"]["scope"] = "other".into()) };
        "agtp-10.1-reason" => |q, r| if r.status == 464 && q.field("Contract-Synthesized").is_none() { r.edit(|body| body["error"] = serde_json::json!({"reason": "no"})) };
        "agtp-10.1.4-unknown" => |q, r| if q.field("Contract-Synthesized") == Some("conform-never-made") { r.status = 464 };
        "agtp-10.1.3" => |_, r| if r.status == 461 { r.edit(|body| body["contract_hash"] = serde_json::Value::Null) };
        "agtp-10.1.4-accept" => |q, r| if q.field("Contract-Synthesized").is_some() && r.status == 200 { r.status = 464 };
        "agtp-10.1.4-owner" => |_, r| if r.status == 464 { r.body = String::from_utf8_lossy(&r.body).replace("contract-not-yours", "contract-revoked").into_bytes() };
        "agtp-10.1.4-release" => |q, r| if q.path() == "/made" && r.status == 404 && q.field("Contract-Synthesized").is_some() { r.status = 200 };
        "agtp-10.1.5-rate" => |_, r| if r.status == 429 { r.edit(|body| body["error"]["scope"] = "all".into()) };
    }
}

/// Takes the patterns away.
fn no_patterns(q: &Request, r: &mut Reply) {
    if q.is("DISCOVER", "/patterns") {
        *r = Reply::error(404, "endpoint-not-found", serde_json::json!({}));
    }
}

#[test]
fn s10_1_contracts_are_tested_by_a_pair_where_no_patterns_are_told() {
    let told = |all: &[Finding]| -> Vec<&str> {
        let passed = all.iter().filter(|finding| finding.outcome == Outcome::Pass);
        passed.map(|finding| finding.id).filter(|id| id.contains("10.1.4") || *id == "agtp-10.1.3").collect()
    };
    let without = tested_with(None, true, no_patterns);
    assert!(!told(&without).contains(&"agtp-10.1.4-accept"), "{without:#?}");
    let why = without.iter().find(|finding| finding.id == "agtp-10.1.4-accept").unwrap().reason.as_deref().unwrap();
    assert!(why.contains("--pair METHOD /path"), "{why}");
    let with = tested_with(Some(("BOOK", "/made")), true, no_patterns);
    let all = [
        "agtp-10.1.4-unknown",
        "agtp-10.1.4-inspect",
        "agtp-10.1.3",
        "agtp-10.1.4-accept",
        "agtp-10.1.4-owner",
        "agtp-10.1.4-release",
    ];
    assert_eq!(told(&with), all);
    let off = tested_with(Some(("BOOK", "/made")), false, no_patterns);
    assert_eq!(off.iter().find(|finding| finding.id == "agtp-10.1.2-off").unwrap().outcome, Outcome::Pass, "{off:#?}");
}
