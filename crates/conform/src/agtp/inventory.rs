//! Checks of the inventories: agents, their genesis, tools, APIs, patterns and contracts. AGTP-API 5.8.1, 5.8.2 and
//! 5.8.4 to 5.8.7.

use forecourt_core::{AgentId, json};
use serde_json::{Map, Value};

use super::discover::is_listed;
use super::draft::Draft;
use super::exchange::Exchange;
use super::peer::Peer;
use crate::check::{Check, Shortfall, Verdict, check};
use crate::evidence::Evidence;

pub(super) const CHECKS: &[Check<Peer>] = &[
    check!("agtp-5.8.2a", "5.8.2", Must, "a server with agents gives an array at DISCOVER /agents", agents),
    check!("agtp-5.8.2b", "5.8.2", Must, "each agent has its id, name, trust_tier and verification_path", agent_fields),
    check!("agtp-5.8.2c", "5.8.2, base 6.5", Should, "an agent of tier 2 has a trust_warning", trust_warning),
    check!(
        "agtp-5.8.1",
        "5.8.1, base 6.2",
        Must,
        "DISCOVER /genesis gives the document whose hash is the Agent-ID, or 404",
        genesis
    ),
    check!("agtp-5.8.4", "5.8.4", Must, "DISCOVER /tools, where it is, gives an array of what has a name", tools),
    check!("agtp-5.8.5", "5.8.5", Must, "DISCOVER /apis, where it is, gives what has a name", apis),
    check!("agtp-5.8.6a", "5.8.6", Should, "DISCOVER /patterns is there, also while nothing is negotiated", patterns),
    check!(
        "agtp-5.8.6b",
        "5.8.6",
        Must,
        "patterns have rcns_enabled, and each its recipe, its method and one path",
        pattern_fields
    ),
    check!("agtp-5.8.7", "5.8.7", Must, "DISCOVER /contracts gives the caller's own contracts, whole", contracts),
];

/// What a reserved path gives, if it is there.
async fn at(peer: &Peer, path: &str) -> Result<(Exchange, Value), Shortfall> {
    let exchange = peer.ask(Draft::new("DISCOVER", path)).await?;
    // A path that the directory lists must be there; of the others each server has what it has.
    if exchange.status() == 404 && !is_listed(peer, path).await {
        return Err(Shortfall::skip(format!("the server has no DISCOVER {path}")));
    }
    exchange.expect(&[200])?;
    let body = exchange.json()?;
    Ok((exchange, body))
}

async fn array_at(peer: &Peer, path: &str) -> Result<(Exchange, Vec<Value>), Shortfall> {
    match at(peer, path).await? {
        (exchange, Value::Array(all)) => Ok((exchange, all)),
        (exchange, _) => Err(exchange.wrong("the body is no JSON array")),
    }
}

async fn agents(peer: &Peer) -> Verdict {
    let manifest = peer.manifest().await?;
    let hosted = manifest["hosted_agents"].as_array().map_or(0, Vec::len);
    match array_at(peer, "/agents").await {
        Err(Shortfall::Skipped(_)) if hosted > 0 => {
            Err(manifest.wrong(format!("it shows {hosted} agents, and there is no DISCOVER /agents")))
        }
        other => other.map(drop),
    }
}

/// The agents, for checks of what is said of each.
async fn listed_agents(peer: &Peer) -> Result<(Exchange, Vec<Value>), Shortfall> {
    let why = || Shortfall::skip("there is no array of agents; agtp-5.8.2a says more");
    let (exchange, all) = array_at(peer, "/agents").await.map_err(|_| why())?;
    match all.is_empty() {
        true => Err(Shortfall::skip("no agent is listed for this caller")),
        false => Ok((exchange, all)),
    }
}

async fn agent_fields(peer: &Peer) -> Verdict {
    let wrong = |agent: &Value| {
        let paths = ["dns-anchored", "log-anchored", "hybrid", "org-asserted"];
        let rules = [
            ("agent_id", agent["agent_id"].as_str().is_some_and(|id| AgentId::parse(id).is_ok())),
            ("name", agent["name"].as_str().is_some_and(|name| !name.is_empty())),
            ("trust_tier", matches!(agent["trust_tier"].as_u64(), Some(1..=3))),
            ("verification_path", agent["verification_path"].as_str().is_some_and(|path| paths.contains(&path))),
        ];
        let wrong: Vec<&str> = rules.into_iter().filter(|(_, fine)| !fine).map(|(name, _)| name).collect();
        (!wrong.is_empty()).then(|| format!("{}: missing or not valid: {}", agent["name"], wrong.join(", ")))
    };
    let (exchange, all) = listed_agents(peer).await?;
    exchange.none_wrong(all.iter().filter_map(wrong).collect())
}

async fn trust_warning(peer: &Peer) -> Verdict {
    let (exchange, all) = listed_agents(peer).await?;
    let unwarned = all.iter().filter(|agent| agent["trust_tier"] == 2 && !agent["trust_warning"].is_string());
    exchange.none_wrong(unwarned.map(|agent| format!("{} has none", agent["name"])).collect())
}

async fn genesis(peer: &Peer) -> Verdict {
    let id = peer.agent()?;
    let exchange = peer.ask(Draft::new("DISCOVER", "/genesis")).await?;
    // An agent that was not born of a genesis has none.
    if exchange.status() == 404 {
        return Ok(());
    }
    exchange.expect(&[200])?;
    let Value::Object(mut document) = exchange.json()? else {
        return Err(exchange.wrong("the body is no JSON object"));
    };
    if document.remove("signature").is_none_or(|signature| !signature.is_string()) {
        return Err(exchange.wrong("the document has no signature"));
    }
    // It is the hash, so it can't be within what is hashed.
    document.remove("agent_id");
    match hashes(&document).iter().any(|hash| hash == id) {
        true => Ok(()),
        false => Err(exchange.wrong("the hash of the document is not the Agent-ID")),
    }
}

/// The hash of a document: of its canonical form in UTF-8, and of the older one that escapes what is not ASCII.
fn hashes(document: &Map<String, Value>) -> Vec<String> {
    let Ok(text) = json::canonical_text(document) else { return Vec::new() };
    let escaped: String = text.chars().flat_map(escaped).collect();
    [text, escaped].iter().map(|form| super::records::sha256(form.as_bytes())).collect()
}

fn escaped(c: char) -> Vec<char> {
    match c.is_ascii() {
        true => vec![c],
        false => {
            let mut units = [0; 2];
            c.encode_utf16(&mut units)
                .iter()
                .flat_map(|unit| format!("\\u{unit:04x}").chars().collect::<Vec<_>>())
                .collect()
        }
    }
}

fn nameless(exchange: &Exchange, all: &[Value]) -> Verdict {
    let nameless = all.iter().filter(|one| one["name"].as_str().is_none_or(str::is_empty));
    exchange.none_wrong(nameless.map(|one| format!("has no name: {one}")).collect())
}

async fn tools(peer: &Peer) -> Verdict {
    let (exchange, all) = array_at(peer, "/tools").await?;
    nameless(&exchange, &all)
}

async fn apis(peer: &Peer) -> Verdict {
    let (exchange, body) = at(peer, "/apis").await?;
    // The section lays down no shape around them.
    let all = body.as_array().or_else(|| body["apis"].as_array());
    nameless(&exchange, all.ok_or_else(|| exchange.wrong("there is no list of them"))?)
}

async fn patterns(peer: &Peer) -> Verdict {
    let exchange = peer.ask(Draft::new("DISCOVER", "/patterns")).await?;
    exchange.expect(&[200])
}

async fn pattern_fields(peer: &Peer) -> Verdict {
    let body = peer.patterns().await?;
    let Some(all) = body["patterns"].as_array().filter(|_| body["rcns_enabled"].is_boolean()) else {
        return Err(body.wrong("there is no boolean rcns_enabled, or no array of patterns"));
    };
    let wrong = |pattern: &Value| {
        let is_named = ["recipe_name", "recipe_version", "method"].iter().all(|name| pattern[*name].is_string());
        let places = ["path_exact", "path_regex"].iter().filter(|name| pattern[**name].is_string()).count();
        (!is_named || places != 1).then(|| format!("not whole: {pattern}"))
    };
    body.none_wrong(all.iter().filter_map(wrong).collect())
}

async fn contracts(peer: &Peer) -> Verdict {
    let id = peer.agent()?;
    let (exchange, all) = array_at(peer, "/contracts").await?;
    // Whoever may inspect all is shown the contracts of others.
    let sees_all = peer.scope().is_some_and(|scope| scope.contains("inspect:all"));
    let fields = ["synthesis_id", "method", "path", "originating_agent_id", "contract_hash", "negotiation_origin"];
    let wrong = |contract: &Value| {
        let missing: Vec<&str> = fields.into_iter().filter(|name| !contract[*name].is_string()).collect();
        match contract["originating_agent_id"].as_str() {
            _ if !missing.is_empty() => Some(format!("a contract has no {}", missing.join(", "))),
            _ if contract.get("recipe_lineage").is_none() => Some("a contract has no recipe_lineage".to_owned()),
            Some(owner) if owner != id && !sees_all => Some("a contract is another agent's".to_owned()),
            _ => None,
        }
    };
    exchange.none_wrong(all.iter().filter_map(wrong).collect())
}
