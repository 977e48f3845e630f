//! Checks of what DISCOVER tells of the server itself. AGTP-API 5.8, 5.8.3, 5.10 and 13.1 item 13.

use serde_json::{Value, json};

use super::draft::Draft;
use super::endpoints::{RESERVED, endpoints};
use super::exchange::Exchange;
use super::peer::Peer;
use crate::check::{Check, Shortfall, Verdict, check};
use crate::evidence::Evidence;

pub(super) const CHECKS: &[Check<Peer>] = &[
    check!("agtp-13.1-13a", "13.1 item 13, 5.8", Must, "DISCOVER /methods gives an array of what there is", methods),
    check!("agtp-13.1-13b", "5.8, 6.1", Must, "each entry has method, path, description and tier", entries),
    check!("agtp-5.8-itself", "5.8", Must, "DISCOVER /methods lists itself, as of tier A", itself),
    check!(
        "agtp-5.8-manifest",
        "5.8",
        Must,
        "what the manifest shows is listed, and the other way round",
        as_in_manifest
    ),
    check!("agtp-5.8.3a", "5.8.3", Must, "DISCOVER / gives the directory of what is reserved", directory),
    check!("agtp-5.8.3b", "5.8.3, 5.8", Must, "what the directory lists is there", directory_holds),
    check!("agtp-5.10a", "5.10", Must, "a target in the body that contradicts the path is refused with 400", conflict),
    check!("agtp-8.7-anonymous", "8.7", Must, "anonymous discovery is as the manifest says", anonymous),
];

async fn listed(peer: &Peer) -> Result<(Exchange, Vec<Value>), Shortfall> {
    let exchange = peer.ask(Draft::new("DISCOVER", "/methods")).await?;
    exchange.expect(&[200])?;
    match exchange.json()? {
        Value::Array(all) => Ok((exchange, all)),
        _ => Err(exchange.wrong("the body is no JSON array")),
    }
}

/// The same for checks of its content, which say nothing where there is none.
async fn entries_of(peer: &Peer) -> Result<(Exchange, Vec<Value>), Shortfall> {
    let why = || Shortfall::skip("DISCOVER /methods gives no array; agtp-13.1-13a says so");
    listed(peer).await.map_err(|_| why())
}

async fn methods(peer: &Peer) -> Verdict {
    listed(peer).await.map(drop)
}

async fn entries(peer: &Peer) -> Verdict {
    let (exchange, all) = entries_of(peer).await?;
    let is_whole = |entry: &Value| {
        let texts = ["method", "path", "description"].iter().all(|name| entry[*name].is_string());
        texts && matches!(entry["tier"].as_str(), Some("A" | "B" | "C"))
    };
    exchange
        .none_wrong(all.iter().filter(|entry| !is_whole(entry)).map(|entry| format!("not whole: {entry}")).collect())
}

async fn itself(peer: &Peer) -> Verdict {
    let (exchange, all) = entries_of(peer).await?;
    let own = all.iter().find(|entry| entry["method"] == "DISCOVER" && entry["path"] == "/methods");
    match own.map(|entry| entry["tier"] == "A") {
        Some(true) => Ok(()),
        Some(false) => Err(exchange.wrong("its tier is not A")),
        None => Err(exchange.wrong("it is not there")),
    }
}

async fn as_in_manifest(peer: &Peer) -> Verdict {
    let shown = endpoints(peer).await?;
    let (exchange, all) = entries_of(peer).await?;
    let pair = |entry: &Value| format!("{} {}", text(&entry["method"]), text(&entry["path"]));
    let known: Vec<String> = all.iter().map(pair).collect();
    let missing = shown.iter().map(|endpoint| endpoint.name()).filter(|name| !known.contains(name));
    let mut wrong: Vec<String> = missing.map(|name| format!("{name} is not listed")).collect();
    // The methods of the floor at the root are no endpoints of the manifest's list everywhere.
    let unseen = all.iter().filter(|entry| entry["tier"] == "B").map(pair);
    let unseen = unseen.filter(|name| !shown.iter().any(|endpoint| endpoint.name() == *name));
    wrong.extend(unseen.map(|name| format!("{name} is not in the manifest")));
    exchange.none_wrong(wrong)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

async fn directory_of(peer: &Peer) -> Result<(Exchange, Vec<Value>), Shortfall> {
    let exchange = peer.ask(Draft::new("DISCOVER", "/")).await?;
    exchange.expect(&[200])?;
    match exchange.json()?["directory"].take() {
        Value::Array(all) => Ok((exchange, all)),
        _ => Err(exchange.wrong("the body has no array `directory`")),
    }
}

async fn directory(peer: &Peer) -> Verdict {
    let (exchange, all) = directory_of(peer).await?;
    let has = |path: &str| all.iter().any(|entry| entry["path"] == path);
    if !has("/methods") {
        return Err(exchange.wrong("/methods is not in it"));
    }
    let is_right = |entry: &Value| {
        let place = text(&entry["path"]).strip_prefix('/').unwrap_or_default();
        // The operator's own are of tier B.
        entry["tier"] == "B" || (entry["tier"] == "A" && (place.is_empty() || RESERVED.contains(&place)))
    };
    match all.iter().find(|entry| !is_right(entry)) {
        Some(entry) => Err(exchange.wrong(format!("an entry is neither reserved nor of tier B: {entry}"))),
        None => Ok(()),
    }
}

/// The reserved paths that the directory lists.
pub(super) async fn is_listed(peer: &Peer, path: &str) -> bool {
    directory_of(peer).await.is_ok_and(|(_, all)| all.iter().any(|entry| entry["path"] == path))
}

async fn directory_holds(peer: &Peer) -> Verdict {
    let why = || Shortfall::skip("there is no directory; agtp-5.8.3a says so");
    let (_, all) = directory_of(peer).await.map_err(|_| why())?;
    for place in RESERVED {
        let path = format!("/{place}");
        // Without an agent there is no genesis, and 404 belongs there.
        if place == "genesis" || !all.iter().any(|entry| entry["path"] == path) {
            continue;
        }
        let exchange = peer.ask(Draft::new("DISCOVER", &path)).await?;
        if [404, 405, 459, 460].contains(&exchange.status()) {
            return Err(exchange.wrong(format!("{path} is in the directory, and answered with {}", exchange.status())));
        }
    }
    Ok(())
}

async fn conflict(peer: &Peer) -> Verdict {
    let draft = Draft::new("DISCOVER", "/methods").json(&json!({"target": "agents"}));
    peer.ask(draft).await?.expect(&[400])
}

async fn anonymous(peer: &Peer) -> Verdict {
    // Whoever shows the manifest to nobody in particular must show what is read-only, too.
    let is_open = &peer.manifest().await?["policies"]["anonymous_discovery"];
    let exchange = peer.anonymous(Draft::new("DISCOVER", "/methods")).await?;
    match (is_open.as_bool(), exchange.status()) {
        (Some(true), 200) | (Some(false), 262 | 401) | (None, _) => Ok(()),
        (Some(true), _) => Err(exchange.wrong("the manifest says that anonymous discovery is open")),
        (Some(false), _) => Err(exchange.wrong("the manifest says that anonymous discovery is closed")),
    }
}
