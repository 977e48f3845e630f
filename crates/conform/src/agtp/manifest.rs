//! Checks of the manifest as a document. AGTP-API 8, 9 and 13.1 item 5.

use forecourt_contract::Catalog;
use forecourt_core::{Timestamp, json};
use forecourt_identity::KeySet;
use forecourt_identity::jws::Jws;
use serde_json::Value;

use super::draft::Draft;
use super::peer::Peer;
use crate::check::{Check, Shortfall, Verdict, check};
use crate::document::Document;
use crate::evidence::Evidence;

pub(super) const CHECKS: &[Check<Peer>] = &[
    check!("agtp-13.1-5a", "13.1 item 5, 8.10", Must, "DISCOVER without an Agent-ID gives the manifest", retrievable),
    check!("agtp-13.1-5b", "13.1 item 5, 8.2", Must, "the manifest says its five versions", versions),
    check!("agtp-8.10", "8.10, 17.2", Must, "the manifest is application/vnd.agtp.manifest+json", media_type),
    check!("agtp-4.8", "4.3, 4.8", Must, "catalog_versions_supported is the catalog in use, and it alone", catalogs),
    check!("agtp-8.3", "8.3", Must, "the server block says who runs the server, and since when", server),
    check!("agtp-8.4", "8.4, 3.1", Must, "the eighteen methods of the floor are listed", floor),
    check!("agtp-8.5", "8.5", Must, "agent_disclosure is one of three, and holds", disclosure),
    check!("agtp-8.7", "8.7", Must, "the five policies are told", policies),
    check!("agtp-9.2", "9.2", Must, "the method policy has its shape, and no alias leads to another", method_policy),
    check!("agtp-8.8", "8.8", Should, "the manifest is signed", signed),
    check!("agtp-8.8-signature", "8.8", Must, "a signature of the manifest, where there is one, holds", signature),
    check!("agtp-8.11", "8.11", Should, "the manifest comes with Cache-Control and ETag", caching),
];

async fn retrievable(peer: &Peer) -> Verdict {
    let exchange = peer.anonymous(Draft::without_target("DISCOVER")).await?;
    match exchange.status() {
        200 => {}
        // The operator may have closed it to the nameless. 8.7.
        262 if exchange.says("anonymous-discovery-disabled") => {
            return Err(Shortfall::skip("anonymous discovery is disabled"));
        }
        _ => return exchange.expect(&[200]),
    }
    let body = exchange.json()?;
    match body.get("agtp_version").is_some() && body.get("server").is_some() {
        true => Ok(()),
        false => Err(exchange.wrong("what came is no manifest: it has no agtp_version or no server")),
    }
}

async fn versions(peer: &Peer) -> Verdict {
    let manifest = peer.manifest().await?;
    let fields = ["agtp_version", "agtp_api_version", "document_version", "catalog_version"];
    let wrong = fields.iter().filter(|name| manifest[**name].as_str().is_none_or(str::is_empty));
    let mut wrong: Vec<String> = wrong.map(|name| format!("{name} is no text")).collect();
    if !is_list_of_text(&manifest["catalog_versions_supported"]) {
        wrong.push("catalog_versions_supported is no list of texts".to_owned());
    }
    manifest.none_wrong(wrong)
}

fn is_list_of_text(value: &Value) -> bool {
    value.as_array().is_some_and(|all| all.iter().all(Value::is_string))
}

async fn media_type(peer: &Peer) -> Verdict {
    let exchange = peer.anonymous(Draft::without_target("DISCOVER")).await?;
    exchange.expect(&[200])?;
    let value = exchange.field("Content-Type").unwrap_or_default();
    match value.split(';').next().unwrap_or_default().trim() {
        "application/vnd.agtp.manifest+json" => Ok(()),
        "application/json" => Err(exchange.advice("it is application/json, which 17.2 suffers for now")),
        _ => Err(exchange.wrong("the media type is another")),
    }
}

async fn catalogs(peer: &Peer) -> Verdict {
    let manifest = peer.manifest().await?;
    let own = &manifest["catalog_version"];
    match manifest["catalog_versions_supported"].as_array().map(Vec::as_slice) {
        Some([only]) if only == own => Ok(()),
        Some(all) if !all.contains(own) => Err(manifest.wrong(format!("catalog_version {own} is not among them"))),
        Some(all) => Err(manifest.wrong(format!("there are {} of them", all.len()))),
        None => Err(manifest.wrong("it is no list")),
    }
}

async fn server(peer: &Peer) -> Verdict {
    let manifest = peer.manifest().await?;
    let server = &manifest["server"];
    let mut wrong = Vec::new();
    for name in ["server_id", "operator"] {
        if server[name].as_str().is_none_or(str::is_empty) {
            wrong.push(format!("server.{name} is no text"));
        }
    }
    for name in ["issued", "updated"] {
        if server[name].as_str().and_then(|text| text.parse::<Timestamp>().ok()).is_none() {
            wrong.push(format!("server.{name} is no time of ISO 8601"));
        }
    }
    manifest.none_wrong(wrong)
}

async fn floor(peer: &Peer) -> Verdict {
    let manifest = peer.manifest().await?;
    let listed = manifest["embedded_methods"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_listed = |name: &str| listed.iter().any(|entry| entry == name || entry["name"] == name);
    let catalog = Catalog::shipped();
    manifest.none_wrong(
        catalog.embedded().filter(|name| !is_listed(name)).map(|name| format!("{name} is missing")).collect(),
    )
}

async fn disclosure(peer: &Peer) -> Verdict {
    let manifest = peer.manifest().await?;
    let hosted = manifest["hosted_agents"].as_array().map_or(0, Vec::len);
    match manifest["agent_disclosure"].as_str() {
        Some("public") => Ok(()),
        // It was asked for by nobody in particular.
        Some(closed @ ("authenticated" | "private")) if hosted > 0 => {
            Err(manifest.wrong(format!("it is {closed}, and {hosted} agents are shown to nobody in particular")))
        }
        Some("authenticated" | "private") => Ok(()),
        _ => Err(manifest.wrong("it is none of public, authenticated and private")),
    }
}

async fn policies(peer: &Peer) -> Verdict {
    let manifest = peer.manifest().await?;
    let policies = &manifest["policies"];
    let toggles = ["wildcards_accepted", "anonymous_discovery", "scope_required_for_invocation", "synthesis_enabled"];
    let wrong = toggles.iter().filter(|name| !policies[**name].is_boolean());
    let mut wrong: Vec<String> = wrong.map(|name| format!("policies.{name} is neither true nor false")).collect();
    if policies["max_synthesis_depth"].as_u64().is_none_or(|depth| depth == 0) {
        wrong.push("policies.max_synthesis_depth is no positive integer".to_owned());
    }
    manifest.none_wrong(wrong)
}

async fn method_policy(peer: &Peer) -> Verdict {
    let manifest = peer.manifest().await?;
    let methods = &manifest["policies"]["methods"];
    if methods.is_null() {
        return Err(manifest.wrong("policies.methods is missing"));
    }
    let mut wrong = Vec::new();
    if !(methods["allow"].is_null() || methods["allow"] == "*" || is_list_of_text(&methods["allow"])) {
        wrong.push("allow is neither \"*\" nor a list".to_owned());
    }
    if !(methods["disallow"].is_null() || is_list_of_text(&methods["disallow"])) {
        wrong.push("disallow is no list".to_owned());
    }
    let legacy = &methods["legacy"];
    if !(legacy.is_null() || legacy == "*" || legacy == "NONE" || is_list_of_text(legacy)) {
        wrong.push("legacy is neither a list nor \"*\" nor \"NONE\"".to_owned());
    }
    if let Some(aliases) = methods["aliases"].as_object() {
        let chained = aliases.iter().filter(|(_, to)| to.as_str().is_none_or(|to| aliases.contains_key(to)));
        wrong.extend(chained.map(|(from, to)| format!("the alias {from} leads to {to}, which is no method")));
    }
    let redirects = methods["redirects"].as_array().map(Vec::as_slice).unwrap_or_default();
    if redirects.iter().any(|entry| !entry["from_method"].is_string() || !entry["to_method"].is_string()) {
        wrong.push("a redirect has no from_method or no to_method".to_owned());
    }
    manifest.none_wrong(wrong)
}

async fn signed(peer: &Peer) -> Verdict {
    let manifest = peer.manifest().await?;
    match &manifest["manifest_signature"] {
        Value::Null => Err(manifest.wrong("there is no manifest_signature")),
        _ => Ok(()),
    }
}

async fn signature(peer: &Peer) -> Verdict {
    let manifest = peer.manifest().await?;
    let compact = match &manifest["manifest_signature"] {
        Value::Null => return Err(Shortfall::skip("the manifest is not signed")),
        Value::String(compact) => compact,
        _ => return Err(manifest.wrong("manifest_signature is no JWS in its compact form")),
    };
    let keys = published_keys(manifest)?;
    let mut body = Value::clone(manifest);
    // A signature can't be within what it signs.
    body.as_object_mut().map(|fields| fields.remove("manifest_signature"));
    let bytes = json::canonical(&body).map_err(|fault| manifest.wrong(fault))?;
    let parts: Vec<&str> = compact.split('.').collect();
    let [protected, payload, made] = parts[..] else {
        return Err(manifest.wrong("manifest_signature does not have three parts"));
    };
    // Both forms are in use: detached, and with the manifest in it once more.
    let jws = match payload.is_empty() {
        true => Jws::detached(protected, &bytes, made),
        false => Jws::parse(compact),
    };
    let jws = jws.map_err(|fault| manifest.wrong(format!("manifest_signature: {fault}")))?;
    match jws.verify(&keys, Timestamp::now()) {
        // A signature that holds may be of another manifest.
        Ok(payload) if payload == bytes => Ok(()),
        Ok(_) => Err(manifest.wrong("what is signed is not the manifest that came")),
        Err(fault) => Err(manifest.wrong(format!("the signature does not hold: {fault}"))),
    }
}

/// The keys that a server signs with, where it publishes any: `server.signing_keys`, a set of JWK. Base 6.6.
pub(super) fn published_keys(manifest: &Document) -> Result<KeySet, Shortfall> {
    match &manifest["server"]["signing_keys"] {
        Value::Null => Err(Shortfall::skip("the server publishes no keys in server.signing_keys")),
        jwks => KeySet::from_jwks(jwks).map_err(|fault| manifest.wrong(format!("server.signing_keys: {fault}"))),
    }
}

async fn caching(peer: &Peer) -> Verdict {
    let exchange = peer.anonymous(Draft::without_target("DISCOVER")).await?;
    exchange.expect(&[200])?;
    match ["Cache-Control", "ETag"].into_iter().find(|name| exchange.field(name).is_none()) {
        Some(name) => Err(exchange.wrong(format!("there is no {name}"))),
        None => Ok(()),
    }
}
