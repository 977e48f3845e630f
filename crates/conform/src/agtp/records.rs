//! Checks of Attribution-Records. Base 8; AGTP-API 10.1.6.

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forecourt_core::{Timestamp, json as text_json};
use forecourt_identity::jws::Jws;
use serde_json::{Value, json};

use super::draft::Draft;
use super::exchange::Exchange;
use super::manifest::published_keys;
use super::peer::Peer;
use crate::check::{Check, Shortfall, Verdict, check};
use crate::evidence::Evidence;

pub(super) const CHECKS: &[Check<Peer>] = &[
    check!("agtp-base-8.1a", "base 2.5, 8.1", Must, "every answer has an Attribution-Record, refusals too", present),
    check!("agtp-base-8.1b", "base 8.1", Must, "Audit-ID is the SHA-256 of the record", audit_id),
    check!("agtp-base-8.1c", "base 8.1", Must, "a record is a compact JWS, signed with EdDSA or marked none", form),
    check!("agtp-base-8.1d", "base 8.1", Must, "the signature holds under a key that the server publishes", signature),
    check!("agtp-base-8.1e", "base 8.1", Must, "a record says version, server, status, time, and who called", fields),
    check!("agtp-base-8.1f", "base 8.1", Must, "a record agrees with the answer that it is on", agrees),
    check!("agtp-base-8.1g", "base 8.1", Must, "a record of an agent names the one before it", chained),
    check!("agtp-base-8.1h", "base 2.4, 7.4", Must, "a record never holds what authorizes the caller", no_token),
    check!("agtp-10.1.6-absent", "10.1.6", Must, "records of what was done under no contract name none", unstamped),
    check!("agtp-base-3.3-audit", "base 3.3", Must, "INSPECT of an Audit-ID gives the record that was sent", inspected),
];

/// SHA-256 in hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// 64 hexadecimal digits in small letters.
pub(super) fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn plain() -> Draft {
    Draft::new("DISCOVER", "/methods").field("Request-ID", "0197a1b2-0000-7000-8000-000000000002")
}

fn record(exchange: &Exchange) -> Result<&str, Shortfall> {
    let why = || Shortfall::skip("there is no Attribution-Record; agtp-base-8.1a says so");
    exchange.field("Attribution-Record").ok_or_else(why)
}

fn part(exchange: &Exchange, at: usize) -> Result<Value, Shortfall> {
    let parts: Vec<&str> = record(exchange)?.split('.').collect();
    if parts.len() != 3 {
        return Err(exchange.wrong("the record does not have three parts"));
    }
    let bytes = URL_SAFE_NO_PAD.decode(parts[at]).map_err(|_| exchange.wrong("a part is no base64url"))?;
    text_json::parse(&bytes).map_err(|_| exchange.wrong("a part is no JSON"))
}

/// What a record says, unverified.
pub(super) fn payload(exchange: &Exchange) -> Result<Value, Shortfall> {
    part(exchange, 1)
}

async fn present(peer: &Peer) -> Verdict {
    let refused = peer.ask(Draft::new("QUERY", super::methods::NOWHERE)).await?;
    let wrong = peer.raw(b"AGTP/1.0 QUERY /a#b\r\n\r\n").await?;
    for exchange in [peer.ask(plain()).await?, refused, wrong] {
        if exchange.field("Attribution-Record").is_none() {
            return Err(exchange.wrong("there is none"));
        }
    }
    Ok(())
}

async fn audit_id(peer: &Peer) -> Verdict {
    let exchange = peer.ask(plain()).await?;
    match exchange.field("Audit-ID") == Some(&sha256(record(&exchange)?.as_bytes())) {
        true => Ok(()),
        false => Err(exchange.wrong("it is not, or there is none")),
    }
}

async fn form(peer: &Peer) -> Verdict {
    let exchange = peer.ask(plain()).await?;
    let header = part(&exchange, 0)?;
    // A compact JWS that is not signed ends with its second dot.
    let is_signed = !record(&exchange)?.ends_with('.');
    match (header["alg"].as_str(), is_signed) {
        (Some("EdDSA"), true) if header["kid"].is_string() => Ok(()),
        (Some("none"), false) => Err(exchange.advice("the record is not signed, and proves nothing")),
        _ => Err(exchange.wrong("it is neither EdDSA with a kid and a signature, nor none without one")),
    }
}

async fn signature(peer: &Peer) -> Verdict {
    let exchange = peer.ask(plain()).await?;
    let compact = record(&exchange)?;
    if compact.ends_with('.') {
        return Err(Shortfall::skip("the record is not signed"));
    }
    let keys = published_keys(peer.manifest().await?)?;
    let jws = Jws::parse(compact).map_err(|fault| exchange.wrong(format!("the record: {fault}")))?;
    let verified = jws.verify(&keys, Timestamp::now()).map(drop);
    verified.map_err(|fault| exchange.wrong(format!("the signature does not hold: {fault}")))
}

async fn fields(peer: &Peer) -> Verdict {
    let exchange = peer.ask(plain()).await?;
    let payload = payload(&exchange)?;
    let issued = payload["issued_at"].as_str().filter(|time| time.ends_with('Z'));
    let rules = [
        ("audit_record_version is \"1\"", payload["audit_record_version"] == "1"),
        ("server_id is a text", payload["server_id"].is_string()),
        ("status is a number", payload["status"].is_u64()),
        ("issued_at is a time of RFC 3339 with Z", issued.is_some_and(|time| time.parse::<Timestamp>().is_ok())),
        ("agent_id is a text", payload["agent_id"].is_string()),
        ("owner_id is a text", payload["owner_id"].is_string()),
        ("request_id is a text", payload["request_id"].is_string()),
        ("response_id is a text", payload["response_id"].is_string()),
        ("previous_audit_id is a hash", payload["previous_audit_id"].as_str().is_some_and(is_hash)),
    ];
    match rules.into_iter().find(|(_, fine)| !fine) {
        Some((rule, _)) => Err(exchange.wrong(format!("not so: {rule}; it says {payload}"))),
        None => Ok(()),
    }
}

async fn agrees(peer: &Peer) -> Verdict {
    let exchange = peer.ask(plain()).await?;
    let payload = payload(&exchange)?;
    let said = |name: &str| exchange.field(name).unwrap_or_default();
    let caller = peer.caller().agent_id.as_ref().map_or("", |id| id.as_str());
    // A server that does not know the caller need not take its name into the record.
    let is_known = exchange.status() != 401;
    let rules = [
        ("status", payload["status"] == exchange.status()),
        ("server_id", payload["server_id"] == said("Server-ID")),
        ("response_id", payload["response_id"] == said("Response-ID")),
        ("agent_id", !is_known || payload["agent_id"] == caller),
    ];
    match rules.into_iter().find(|(_, fine)| !fine) {
        Some((name, _)) => Err(exchange.wrong(format!("{name} in the record is another: {payload}"))),
        None => Ok(()),
    }
}

async fn chained(peer: &Peer) -> Verdict {
    peer.agent()?;
    let mut before = peer.ask(plain()).await?;
    record(&before)?;
    // The agent may be busy elsewhere in between; not each time.
    for _ in 0..3 {
        let next = peer.ask(plain()).await?;
        let named = payload(&next)?["previous_audit_id"].clone();
        if before.field("Audit-ID").is_some_and(|id| named == id) {
            return Ok(());
        }
        before = next;
    }
    Err(before.wrong("none of three records names the Audit-ID of the answer before it"))
}

async fn no_token(peer: &Peer) -> Verdict {
    let word = "conform-not-a-token-4c93a1d8";
    // A word made up for this: the caller's own token would end up in the report.
    let exchange = peer.anonymous(plain().field("Authorization", &format!("Bearer {word}"))).await?;
    match payload(&exchange)?.to_string().contains(word) {
        true => Err(exchange.wrong("the bearer token of the request is in it")),
        false => Ok(()),
    }
}

async fn unstamped(peer: &Peer) -> Verdict {
    let exchange = peer.ask(plain()).await?;
    let payload = payload(&exchange)?;
    let names = ["synthesis_id", "contract_hash", "negotiation_origin"];
    match names.into_iter().find(|name| payload.get(name).is_some()) {
        Some(name) => Err(exchange.wrong(format!("there is a {name}"))),
        None => Ok(()),
    }
}

async fn inspected(peer: &Peer) -> Verdict {
    let exchange = peer.ask(plain()).await?;
    let sent = record(&exchange)?;
    let id = exchange.field("Audit-ID").ok_or_else(|| Shortfall::skip("there is no Audit-ID"))?;
    let body = json!({"target": "audit", "audit_id": id});
    let found = peer.ask(Draft::new("INSPECT", "/").json(&body)).await?;
    match found.status() {
        // Who may read is the operator's to say.
        401 | 403 => Err(Shortfall::skip(format!("this caller may not read records ({})", found.status()))),
        _ => {
            found.expect(&[200])?;
            match found.member("jws").is_some_and(|jws| jws == sent) {
                true => Ok(()),
                false => Err(found.wrong("its jws is not the record that was sent")),
            }
        }
    }
}
