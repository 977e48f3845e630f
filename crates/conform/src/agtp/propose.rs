//! Checks of PROPOSE. AGTP-API 8.7, 10.4, 10.6 and 13.1 item 7. What no server can accept is sent to any; what a
//! careless one might accept only where effects are wanted.

use serde_json::{Value, json};

use super::draft::Draft;
use super::exchange::Exchange;
use super::peer::Peer;
use crate::check::{Check, Shortfall, Verdict, check};
use crate::evidence::Evidence;

pub(super) const CHECKS: &[Check<Peer>] = &[
    check!(
        "agtp-13.1-7a",
        "13.1 item 7, 8.7",
        Must,
        "with synthesis off, PROPOSE is refused with 463 synthesis-disabled",
        disabled
    ),
    check!(
        "agtp-10.4",
        "10.4.2",
        Must,
        "a proposal in both forms at once is refused with 400 ambiguous-body",
        ambiguous
    ),
    check!(
        "agtp-10.6-1",
        "10.6 step 1",
        Must,
        "a proposal of a method outside the catalog is refused with 459",
        method
    ),
    check!("agtp-10.6-2", "10.6 step 2", Must, "a proposal of a path with a method in it is refused with 460", path),
    check!(
        "agtp-10.6-3",
        "10.6 step 3",
        Must,
        "a proposal whose semantic block is not whole is refused with 400",
        semantic
    ),
    check!("agtp-10.6-4", "10.6 step 4", Must, "a proposal with an invalid schema is refused with 400", schema),
    check!(
        "agtp-10.6-5",
        "10.6 step 5",
        Must,
        "a proposal beyond the caller's authority is refused with 262 scope-required",
        authority
    ),
    check!(
        "agtp-10.6-6",
        "10.6 step 6",
        Must,
        "a proposal that nothing can fulfil is refused with 463 composition-impossible",
        impossible
    ),
    check!("agtp-10.4.3", "10.4.3", Must, "a proposal that fits a pattern is approved with 263, whole", approved),
    check!(
        "agtp-11-261",
        "11, base 9.6",
        Must,
        "a proposal that nobody made is answered with 404 when it is polled",
        poll
    ),
];

/// An endpoint that could be proposed, at a place that no server has.
fn proposal(method: &str, path: &str) -> Value {
    json!({
        "method": method,
        "path": path,
        "description": "Notarizes nothing; a conformance test.",
        "semantic": {
            "intent": "Notarize nothing.", "actor": "agent", "outcome": "Nothing is notarized.",
            "capability": "transaction", "confidence": 0.5, "impact": "informational", "is_idempotent": true
        },
        "input_schema": {"type": "object", "properties": {}, "additionalProperties": false},
        "output_schema": {"type": "object", "properties": {}},
        "errors": ["composition_failed"],
        "required_scopes": []
    })
}

/// A proposal that is whole and valid, and that nothing on any server can fulfil.
fn nonsense() -> Value {
    proposal("NOTARIZE", "/conform-nothing/of-the-kind")
}

async fn propose(peer: &Peer, parameters: Value) -> Result<Exchange, Shortfall> {
    peer.agent()?;
    let body = json!({"method": "PROPOSE", "task_id": "conform-propose", "parameters": parameters});
    peer.ask(Draft::new("PROPOSE", "/").field("Session-ID", SESSION).json(&body)).await
}

/// The session that what is made here belongs to, so that it ends with it.
pub(super) const SESSION: &str = "conform-5f1c0d6e2b7a4c93a1d8";

/// Synthesis must be on for what stands behind its switch.
async fn is_on(peer: &Peer) -> Verdict {
    match peer.manifest().await?["policies"]["synthesis_enabled"].as_bool() {
        Some(true) => Ok(()),
        _ => Err(Shortfall::skip("policies.synthesis_enabled is not true")),
    }
}

/// A refusal with this status, and one of these words where there are any.
fn refused(exchange: &Exchange, status: u16, word: Option<&str>) -> Verdict {
    exchange.expect(&[status])?;
    match word {
        Some(word) if !exchange.says(word) => Err(exchange.wrong(format!("the reason is not {word}"))),
        _ => Ok(()),
    }
}

async fn disabled(peer: &Peer) -> Verdict {
    if peer.manifest().await?["policies"]["synthesis_enabled"] != false {
        return Err(Shortfall::skip("policies.synthesis_enabled is not false"));
    }
    refused(&propose(peer, json!({"endpoint": nonsense()})).await?, 463, Some("synthesis-disabled"))
}

async fn ambiguous(peer: &Peer) -> Verdict {
    is_on(peer).await?;
    let parameters = json!({"endpoint": nonsense(), "name": "both-at-once"});
    refused(&propose(peer, parameters).await?, 400, Some("ambiguous-body"))
}

async fn method(peer: &Peer) -> Verdict {
    is_on(peer).await?;
    let endpoint = proposal("QEURYX", "/conform-nothing");
    refused(&propose(peer, json!({"endpoint": endpoint})).await?, 459, None)
}

async fn path(peer: &Peer) -> Verdict {
    is_on(peer).await?;
    let endpoint = proposal("NOTARIZE", "/conform/discover");
    refused(&propose(peer, json!({"endpoint": endpoint})).await?, 460, None)
}

async fn semantic(peer: &Peer) -> Verdict {
    is_on(peer).await?;
    peer.effects()?;
    let mut endpoint = nonsense();
    endpoint["semantic"] = json!({"intent": "Notarize nothing."});
    refused(&propose(peer, json!({"endpoint": endpoint})).await?, 400, None)
}

async fn schema(peer: &Peer) -> Verdict {
    is_on(peer).await?;
    peer.effects()?;
    let mut endpoint = nonsense();
    endpoint["input_schema"]["properties"] = json!({"a": {"type": "no-such-type"}});
    refused(&propose(peer, json!({"endpoint": endpoint})).await?, 400, None)
}

async fn authority(peer: &Peer) -> Verdict {
    is_on(peer).await?;
    peer.effects()?;
    let mut endpoint = nonsense();
    endpoint["required_scopes"] = json!(["conform:nobody-has-this"]);
    refused(&propose(peer, json!({"endpoint": endpoint})).await?, 262, Some("scope-required"))
}

async fn impossible(peer: &Peer) -> Verdict {
    is_on(peer).await?;
    peer.effects()?;
    refused(&propose(peer, json!({"endpoint": nonsense()})).await?, 463, Some("composition-impossible"))
}

async fn approved(peer: &Peer) -> Verdict {
    is_on(peer).await?;
    peer.effects()?;
    let patterns = peer.patterns().await?["patterns"].as_array();
    let exact = patterns.into_iter().flatten().find(|pattern| pattern["path_exact"].is_string());
    let pattern = exact.ok_or_else(|| Shortfall::skip("no pattern has a path_exact to propose"))?;
    let (method, path) = (pattern["method"].as_str().unwrap_or_default(), pattern["path_exact"].as_str());
    let path = path.unwrap_or_default();
    let exchange = propose(peer, json!({"endpoint": proposal(method, path), "persistent": false})).await?;
    match exchange.status() {
        263 => {}
        // What is proposed here has neither input nor output; a recipe may want some.
        261 => return pending(&exchange),
        463 | 262 => return Err(Shortfall::skip(format!("the server does not approve it ({})", exchange.status()))),
        _ => return exchange.expect(&[263]),
    }
    let body = exchange.json()?;
    let id = body["synthesis_id"].as_str().unwrap_or_default().to_owned();
    release(peer, &id).await;
    let rules = [
        ("status 263", body["status"] == 263),
        ("the method that was proposed", body["method"] == method),
        ("the path that was proposed", body["path"] == path),
        ("a synthesis_id", !id.is_empty()),
        ("the endpoint", body["endpoint"].is_object()),
    ];
    match rules.into_iter().find(|(_, fine)| !fine) {
        Some((what, _)) => Err(exchange.wrong(format!("the body does not have {what}"))),
        None => Ok(()),
    }
}

fn pending(exchange: &Exchange) -> Verdict {
    match exchange.json()?["proposal_id"].is_string() {
        true => Ok(()),
        false => Err(exchange.wrong("261 does not have a proposal_id")),
    }
}

/// Gives a contract back that was made for a check. Whether that works is another check's matter.
pub(super) async fn release(peer: &Peer, synthesis_id: &str) {
    let body = json!({"synthesis_id": synthesis_id, "reason": "resource_limit"});
    drop(peer.ask(Draft::new("SUSPEND", "/").field("Session-ID", SESSION).json(&body)).await);
}

async fn poll(peer: &Peer) -> Verdict {
    peer.agent()?;
    is_on(peer).await?;
    peer.ask(Draft::new("QUERY", "/proposals/conform-no-such-proposal")).await?.expect(&[404])
}
