//! Contracts that are negotiated, with a server that keeps the rules of them and with such that break one.
//! AGTP-API 10.1.

use forecourt_conform::agtp::{CHECKS, Caller, Peer};
use forecourt_conform::report::{Finding, Outcome};

use crate::agtp_server::{Change, Script, listen};
use forecourt_core::AgentId;

use crate::{OTHER, PATIENCE, agent, broken, findings, line, run};

fn tested(early: Change) -> Vec<Finding> {
    run(async {
        let port = listen(Script { early, negotiates: true, ..Script::default() }).await;
        let scope = Some("rcns:negotiate".to_owned());
        let other_agent_id = Some(AgentId::parse(OTHER).unwrap());
        let caller = Caller { agent_id: Some(agent()), other_agent_id, scope, with_effects: true, ..Caller::default() };
        findings(&Peer::new(line(port, PATIENCE), caller), CHECKS, PATIENCE).await
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
        "agtp-10.1-reason" => |_, r| if r.status == 464 { r.edit(|body| body["error"] = serde_json::json!({"reason": "no"})) };
        "agtp-10.1.4-unknown" => |q, r| if q.field("Contract-Synthesized") == Some("conform-never-made") { r.status = 464 };
        "agtp-10.1.3" => |_, r| if r.status == 461 { r.edit(|body| body["contract_hash"] = serde_json::Value::Null) };
        "agtp-10.1.4-accept" => |q, r| if q.field("Contract-Synthesized").is_some() && r.status == 200 { r.status = 464 };
        "agtp-10.1.4-owner" => |_, r| if r.status == 464 { r.body = String::from_utf8_lossy(&r.body).replace("contract-not-yours", "contract-revoked").into_bytes() };
        "agtp-10.1.4-release" => |q, r| if q.path() == "/made" && r.status == 404 && q.field("Contract-Synthesized").is_some() { r.status = 200 };
        "agtp-10.1.5-rate" => |_, r| if r.status == 429 { r.edit(|body| body["error"]["scope"] = "all".into()) };
    }
}
