//! Hosts that offer little or nothing: what they do not offer is told in a sentence, and no finding is of it.

use forecourt_conform::agtp::{self, Caller};
use forecourt_conform::report::{Finding, OfferStatus, Outcome, ProtocolReport};
use forecourt_conform::web::{self, WebTarget};
use url::Url;

use crate::agtp_server::Script;
use crate::web_server::{Change, listen};
use crate::{PATIENCE, agent, agtp_server, broken, egress, ids, judged, line, nobody, offered, run};

fn seen(change: Change) -> (Vec<ProtocolReport>, Vec<Finding>) {
    run(async {
        let base = Url::parse(&format!("http://127.0.0.1:{}", listen(change).await)).unwrap();
        judged(WebTarget::new(egress(), base, PATIENCE, nobody()), web::SUITES, PATIENCE).await
    })
}

#[track_caller]
fn offers_nothing(change: Change) -> Vec<ProtocolReport> {
    let (protocols, findings) = seen(change);
    assert_eq!(offered(&protocols), Vec::<&str>::new());
    assert_eq!(broken(&findings), Vec::<&str>::new());
    assert!(findings.iter().all(|finding| finding.outcome == Outcome::Skip));
    assert_eq!(protocols.iter().map(|protocol| protocol.checks).sum::<usize>(), findings.len());
    protocols
}

fn reason<'a>(protocols: &'a [ProtocolReport], name: &str) -> &'a str {
    protocols.iter().find(|protocol| protocol.name == name).unwrap().reason.as_deref().unwrap()
}

#[test]
fn a_host_that_has_nothing_is_not_judged() {
    let protocols = offers_nothing(|_, r| {
        r.status = 404;
        r.body.clear();
    });
    let status = |protocol: &ProtocolReport| protocol.status == OfferStatus::NotOffered;
    assert!(protocols.iter().all(status), "{protocols:?}");
    assert!(reason(&protocols, "NLWeb").contains("POST /ask answers 404"), "{protocols:?}");
}

#[test]
fn an_application_of_one_page_offers_nothing() {
    let protocols = offers_nothing(|_, r| {
        r.status = 200;
        r.set("content-type", "text/html");
        r.body = b"<!doctype html><div id=app></div>".to_vec();
    });
    assert!(reason(&protocols, "MCP 2026-07-28").contains("answers 200 (text/html)"), "{protocols:?}");
}

#[test]
fn an_api_that_answers_every_path_in_json_offers_nothing() {
    offers_nothing(|_, r| {
        r.status = 200;
        r.set("content-type", "application/json");
        r.body = b"{\"error\": \"no such route\", \"path\": \"/\"}".to_vec();
    });
}

#[test]
fn a_host_that_lets_nobody_in_is_not_judged() {
    let protocols = offers_nothing(|_, r| {
        r.status = 401;
        r.body.clear();
    });
    let is_untold = |name: &str| protocols.iter().any(|p| p.name == name && p.status == OfferStatus::Untold);
    assert!(is_untold("NLWeb") && is_untold("A2A card"), "{protocols:?}");
    assert!(reason(&protocols, "NLWeb").contains("--token"), "{protocols:?}");
}

#[test]
fn a_host_that_is_busy_for_long_is_not_waited_for_and_not_judged() {
    let protocols = offers_nothing(|_, r| {
        r.status = 429;
        r.set("retry-after", "3600");
        r.body.clear();
    });
    assert!(reason(&protocols, "NLWeb").contains("answers 429"), "{protocols:?}");
}

#[test]
fn a_host_of_one_protocol_is_judged_by_that_alone() {
    let (protocols, findings) = seen(|q, r| {
        if q.path() != "/mcp" {
            r.status = 404;
            r.body = b"{}".to_vec();
        }
    });
    assert_eq!(offered(&protocols), ["MCP with sessions", "MCP 2026-07-28"]);
    assert_eq!(broken(&findings), Vec::<&str>::new());
    assert!(ids(&findings, Outcome::Pass).iter().all(|id| id.starts_with("mcp-")));
}

#[test]
fn an_agent_of_1_0_alone_is_not_asked_for_a_url_of_0_3() {
    let (protocols, findings) = seen(|q, r| {
        if q.path().ends_with("agent-card.json") {
            r.edit(|card| {
                let fields = card.as_object_mut().unwrap();
                fields.retain(|name, _| name != "url" && name != "protocolVersion" && !name.starts_with("https:"));
            });
        }
    });
    let names = offered(&protocols);
    assert!(names.contains(&"A2A 1.0") && !names.contains(&"A2A 0.3") && !names.contains(&"Mentionable hub"));
    assert_eq!(broken(&findings), Vec::<&str>::new());
}

async fn asked_with_scope(script: Script) -> (Vec<ProtocolReport>, Vec<Finding>) {
    let port = agtp_server::listen(script).await;
    let caller = Caller { agent_id: Some(agent()), scope: Some("vault:all".to_owned()), ..Caller::default() };
    judged(agtp::AgtpTarget::new(line(port, PATIENCE), caller), agtp::SUITES, PATIENCE).await
}

#[test]
fn a_scope_that_is_refused_is_one_sentence() {
    let refuse = Script {
        early: |q, r| {
            if q.field("Authority-Scope") == Some("vault:all") {
                *r = agtp_server::Reply::error(262, "scope-claim-invalid", serde_json::json!({}));
            }
        },
        ..Script::default()
    };
    let (protocols, findings) = run(asked_with_scope(refuse));
    assert_eq!(ids(&findings, Outcome::Fail), Vec::<&str>::new(), "{findings:#?}");
    let [note] = protocols[0].notes.as_slice() else { panic!("{protocols:?}") };
    assert!(note.contains("refuses the scope `vault:all`") && note.contains("262"), "{note}");
    let (protocols, _) = run(asked_with_scope(Script::default()));
    assert!(protocols[0].notes.is_empty());
}
