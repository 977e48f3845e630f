//! Checks of contracts negotiated at run time. AGTP-API 10.1.

use serde_json::{Value, json};

use super::draft::Draft;
use super::exchange::Exchange;
use super::methods::NOWHERE;
use super::peer::Peer;
use super::propose::{SESSION, release};
use crate::check::{Check, Shortfall, Verdict, check};
use crate::evidence::Evidence;
use crate::limits::EVALUATIONS_MAX;

pub(super) const CHECKS: &[Check<Peer>] = &[
    check!(
        "agtp-10.1.2-consent",
        "10.1.2 lock 2",
        Must,
        "without Allow-RCNS: true a pair that is not there gets 404 or 405 and nothing else",
        no_consent
    ),
    check!(
        "agtp-10.1.2-off",
        "10.1.2 lock 1",
        Must,
        "with negotiation off, who asks for it gets 464 rcns-disabled",
        off
    ),
    check!(
        "agtp-10.1.2-scope",
        "10.1.2 lock 3",
        Must,
        "without rcns:negotiate, who asks for it gets 262 scope-required",
        scope
    ),
    check!("agtp-10.1-reason", "10.1, 11", Must, "464 has a reason of the vocabulary", reason),
    check!("agtp-base-2.5-attempt", "base 2.5", Must, "464 has RCNS-Attempt-Id", attempt),
    check!("agtp-10.1.4-unknown", "10.1.4", Must, "a contract that was never made is answered with 404", unknown),
    check!(
        "agtp-10.1.4-inspect",
        "10.1.1, base 3.3",
        Must,
        "INSPECT of a contract that was never made is answered with 404",
        inspect_unknown
    ),
    check!(
        "agtp-10.1.3",
        "10.1.3",
        Must,
        "a contract is offered with 461, whole, or made use of with Contract-Synthesized",
        offered
    ),
    check!(
        "agtp-10.1.4-accept",
        "10.1.3, 10.1.4",
        Must,
        "a contract that was offered is served when it is presented",
        accepted
    ),
    check!(
        "agtp-10.1.4-owner",
        "10.1.4",
        Must,
        "a contract presented by another agent gets 464 contract-not-yours",
        of_another
    ),
    check!("agtp-10.1.4-release", "10.1.4", Must, "a contract that was given back is served no more", released),
    check!("agtp-10.1.6", "10.1.6", Must, "records of what was done under a contract name it", stamped),
    check!("agtp-10.1.5-key", "10.1.5", Must, "one Idempotency-Key gets one answer", idempotent),
    check!("agtp-10.1.5-rate", "10.1.5", Should, "evaluations have a rate limit: 429 with the scope rcns", rate),
];

/// The reasons of a 464. Base 4.
const REASONS: [&str; 7] = [
    "rcns-disabled",
    "trust-tier-insufficient",
    "composition-impossible",
    "synthesis-error",
    "contract-not-yours",
    "contract-revoked",
    "identity-unverified",
];

/// A request for what no recipe makes, by whoever agrees to negotiate.
fn willing() -> Draft {
    Draft::new("NOTARIZE", NOWHERE).field("Allow-RCNS", "true").field("Session-ID", SESSION).json(&json!({}))
}

/// Whether the server negotiates at all. A server that tells no patterns is asked for the pair that the caller named.
async fn is_on(peer: &Peer) -> Result<bool, Shortfall> {
    let untold = match peer.patterns().await {
        Ok(patterns) => match patterns["rcns_enabled"].as_bool() {
            Some(is_on) => return Ok(is_on),
            None => Shortfall::skip("the server does not say whether it negotiates"),
        },
        Err(why) => why,
    };
    let Some((method, path)) = &peer.caller().pair else { return Err(hinted(untold)) };
    peer.agent()?;
    peer.effects()?;
    let asked = || async {
        let exchange = peer.ask(pair_draft(method, path).field("Allow-RCNS", "true")).await?;
        if let Some(id) = offered_id(&exchange) {
            release(peer, &id).await;
        }
        Ok(!(exchange.status() == 464 && exchange.says("rcns-disabled")))
    };
    peer.negotiates.get_or_try_init(asked).await.copied()
}

/// The same reason, with what helps.
fn hinted(why: Shortfall) -> Shortfall {
    match why {
        Shortfall::Skipped(why) => Shortfall::Skipped(format!("{why}: --pair METHOD /path names one to negotiate")),
        other => other,
    }
}

fn pair_draft(method: &str, path: &str) -> Draft {
    Draft::new(method, path).field("Session-ID", SESSION).json(&json!({}))
}

async fn must_be_on(peer: &Peer) -> Verdict {
    match is_on(peer).await? {
        true => Ok(()),
        false => Err(Shortfall::skip("the server has negotiation off")),
    }
}

async fn no_consent(peer: &Peer) -> Verdict {
    let without = Draft::new("NOTARIZE", NOWHERE);
    peer.ask(without.clone()).await?.expect(&[404, 405])?;
    peer.ask(without.field("Allow-RCNS", "maybe")).await?.expect(&[404, 405])
}

async fn off(peer: &Peer) -> Verdict {
    peer.agent()?;
    if is_on(peer).await? {
        return Err(Shortfall::skip("the server has negotiation on"));
    }
    let exchange = peer.ask(willing()).await?;
    exchange.expect(&[464])?;
    match exchange.says("rcns-disabled") {
        true => Ok(()),
        false => Err(exchange.wrong("the reason is not rcns-disabled")),
    }
}

async fn scope(peer: &Peer) -> Verdict {
    peer.agent()?;
    must_be_on(peer).await?;
    let exchange = peer.ask(willing().instead("Authority-Scope", "discovery:query")).await?;
    exchange.expect(&[262])?;
    let is_named = String::from_utf8_lossy(&exchange.response.body).contains("rcns:negotiate");
    match exchange.says("scope-required") && is_named {
        true => Ok(()),
        // The caller may not have had even this scope.
        false if exchange.says("scope-claim-invalid") => {
            Err(Shortfall::skip("the caller has no scope to claim instead"))
        }
        false => Err(exchange.wrong("it does not say scope-required and rcns:negotiate")),
    }
}

/// A 464, where one can be had without changing anything.
async fn refusal(peer: &Peer) -> Result<Exchange, Shortfall> {
    peer.agent()?;
    if is_on(peer).await? {
        peer.effects()?;
    }
    let exchange = peer.ask(willing()).await?;
    match exchange.status() {
        464 => Ok(exchange),
        status => Err(Shortfall::skip(format!("a request for a contract is answered with {status}, not with 464"))),
    }
}

async fn reason(peer: &Peer) -> Verdict {
    let exchange = refusal(peer).await?;
    match REASONS.iter().any(|word| exchange.says(word)) {
        true => Ok(()),
        false => Err(exchange.wrong("the reason is none of the vocabulary")),
    }
}

async fn attempt(peer: &Peer) -> Verdict {
    let exchange = refusal(peer).await?;
    match exchange.field("RCNS-Attempt-Id").is_some_and(|id| !id.is_empty()) {
        true => Ok(()),
        false => Err(exchange.wrong("there is no RCNS-Attempt-Id")),
    }
}

async fn unknown(peer: &Peer) -> Verdict {
    peer.agent()?;
    let draft = Draft::new("NOTARIZE", NOWHERE).field("Contract-Synthesized", "conform-never-made");
    peer.ask(draft).await?.expect(&[404])
}

async fn inspect_unknown(peer: &Peer) -> Verdict {
    peer.agent()?;
    let body = json!({"target": "contract", "synthesis_id": "conform-never-made"});
    peer.ask(Draft::new("INSPECT", "/").json(&body)).await?.expect(&[404])
}

/// A request that a recipe makes a contract for.
async fn composable(peer: &Peer) -> Result<Draft, Shortfall> {
    peer.agent()?;
    must_be_on(peer).await?;
    peer.effects()?;
    if let Some((method, path)) = &peer.caller().pair {
        return Ok(pair_draft(method, path));
    }
    let patterns = peer.patterns().await?["patterns"].as_array();
    let exact = patterns.into_iter().flatten().find(|pattern| pattern["path_exact"].is_string());
    let why = "no pattern has a path_exact to ask for: --pair METHOD /path names one";
    let pattern = exact.ok_or_else(|| Shortfall::skip(why))?;
    let text = |name: &str| pattern[name].as_str().unwrap_or_default();
    Ok(pair_draft(text("method"), text("path_exact")))
}

/// The contract that an answer offers or made use of.
fn offered_id(exchange: &Exchange) -> Option<String> {
    match exchange.status() {
        // A server may offer the contract, or make use of it at once and name it in a header.
        461 => exchange.json().ok()?["synthesis_id"].as_str().map(str::to_owned),
        _ => exchange.field("Contract-Synthesized").map(str::to_owned),
    }
}

/// The answer to a request that a contract can be made for.
async fn negotiated(peer: &Peer) -> Result<(Exchange, String), Shortfall> {
    let exchange = peer.ask(composable(peer).await?.field("Allow-RCNS", "true")).await?;
    match offered_id(&exchange) {
        Some(id) => Ok((exchange, id)),
        None => Err(Shortfall::skip(format!("no contract is offered ({})", exchange.status()))),
    }
}

async fn offered(peer: &Peer) -> Verdict {
    let exchange = peer.ask(composable(peer).await?.field("Allow-RCNS", "true")).await?;
    match exchange.status() {
        461 => {}
        464 | 262 | 404 | 405 => {
            return Err(Shortfall::skip(format!("no contract is offered ({})", exchange.status())));
        }
        _ => {
            let id = exchange.field("Contract-Synthesized").unwrap_or_default();
            release(peer, id).await;
            return match id.is_empty() {
                true => Err(exchange.wrong("there is no Contract-Synthesized")),
                false => Ok(()),
            };
        }
    }
    let body = exchange.json()?;
    release(peer, body["synthesis_id"].as_str().unwrap_or_default()).await;
    let texts = ["synthesis_id", "method", "path", "contract_hash", "expires_at"];
    let missing = texts.into_iter().find(|name| !body[*name].is_string());
    let missing = missing.or_else(|| (!body["endpoint"].is_object()).then_some("endpoint"));
    match missing.or_else(|| body.get("recipe_lineage").is_none().then_some("recipe_lineage")) {
        Some(name) => Err(exchange.wrong(format!("the body has no {name}"))),
        None => Ok(()),
    }
}

async fn accepted(peer: &Peer) -> Verdict {
    let (_, id) = negotiated(peer).await?;
    let exchange = peer.ask(composable(peer).await?.field("Contract-Synthesized", &id)).await?;
    release(peer, &id).await;
    match exchange.status() {
        404 | 405 | 409 | 461 | 464 => Err(exchange.wrong("the contract that was offered is not honoured")),
        _ => Ok(()),
    }
}

async fn of_another(peer: &Peer) -> Verdict {
    let other = peer.caller().other_agent_id.as_ref();
    let other = other.ok_or_else(|| Shortfall::skip("needs another agent of the server: give --other-agent-id"))?;
    let (_, id) = negotiated(peer).await?;
    // A field that is here is not overwritten by the caller's own.
    let draft = composable(peer).await?.field("Contract-Synthesized", &id).field("Agent-ID", other.as_str());
    let exchange = peer.ask(draft).await?;
    release(peer, &id).await;
    exchange.expect(&[464])?;
    match exchange.says("contract-not-yours") {
        true => Ok(()),
        false => Err(exchange.wrong("the reason is not contract-not-yours")),
    }
}

async fn released(peer: &Peer) -> Verdict {
    let (_, id) = negotiated(peer).await?;
    release(peer, &id).await;
    let exchange = peer.ask(composable(peer).await?.field("Contract-Synthesized", &id)).await?;
    exchange.expect(&[404, 464])
}

async fn stamped(peer: &Peer) -> Verdict {
    let (_, id) = negotiated(peer).await?;
    let exchange = peer.ask(composable(peer).await?.field("Contract-Synthesized", &id)).await?;
    release(peer, &id).await;
    if exchange.status() >= 400 {
        return Err(Shortfall::skip(format!("nothing was done under the contract ({})", exchange.status())));
    }
    let why = || Shortfall::skip("there is no Attribution-Record; agtp-base-8.1a says so");
    let record = super::records::payload(&exchange).map_err(|_| why())?;
    let is_hash = |value: &Value| value.as_str().is_some_and(super::records::is_hash);
    let is_whole = record["synthesis_id"] == id.as_str() && is_hash(&record["contract_hash"]);
    let origins = ["rcns-gate", "propose", "pre-registered"];
    match is_whole && record["negotiation_origin"].as_str().is_some_and(|origin| origins.contains(&origin)) {
        true => Ok(()),
        false => Err(exchange.wrong("the record lacks synthesis_id, contract_hash or negotiation_origin")),
    }
}

async fn idempotent(peer: &Peer) -> Verdict {
    // From the clock: a second run must not get the answers of the first.
    let key = format!("conform-{}", forecourt_core::Timestamp::now().as_nanosecond());
    let draft = composable(peer).await?.field("Allow-RCNS", "true").field("Idempotency-Key", &key);
    let first = peer.ask(draft.clone()).await?;
    let second = peer.ask(draft).await?;
    let id = |exchange: &Exchange| exchange.member("synthesis_id").and_then(|id| id.as_str().map(str::to_owned));
    if let Some(id) = id(&first) {
        release(peer, &id).await;
    }
    match first.status() == second.status() && id(&first) == id(&second) {
        true => Ok(()),
        false => Err(second.wrong("the second answer is another than the first")),
    }
}

async fn rate(peer: &Peer) -> Verdict {
    peer.agent()?;
    must_be_on(peer).await?;
    peer.effects()?;
    let mut last = None;
    for _ in 0..EVALUATIONS_MAX {
        let exchange = last.insert(peer.ask(willing()).await?);
        match exchange.status() {
            429 if exchange.member("scope").is_some_and(|scope| scope == "rcns") => return Ok(()),
            429 => return Err(exchange.wrong("the scope of the limit is not rcns")),
            262 => return Err(Shortfall::skip("the caller may not negotiate (262)")),
            _ => {}
        }
    }
    let why = format!("there was none within {EVALUATIONS_MAX} evaluations");
    Err(last.map_or_else(|| Shortfall::skip(why.clone()), |exchange| exchange.wrong(why.clone())))
}
