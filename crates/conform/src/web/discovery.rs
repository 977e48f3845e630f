//! Checks of how agents are found: WebFinger, cards, and the list of agents. RFC 7033; Mentionable's WebFinger, agent
//! card and agent directory.

use serde_json::Value;

use super::peer::{Draft, Peer};
use crate::check::{Check, Shortfall, Verdict, check, none_wrong};

pub(super) const CHECKS: &[Check<Peer>] = &[
    check!(
        "discovery-6a",
        "Mentionable agent directory",
        Should,
        "mentionable-agents.json lists the agents",
        directory
    ),
    check!(
        "discovery-6b",
        "Mentionable agent directory",
        Must,
        "each agent in the list has its name, address and card",
        contacts
    ),
    check!(
        "discovery-2.2a",
        "Mentionable WebFinger, RFC 7033 4.2",
        Must,
        "WebFinger tells an agent's card, as application/jrd+json",
        webfinger
    ),
    check!("discovery-2.2b", "RFC 7033 4.2", Must, "WebFinger without a resource is answered with 400", no_resource),
    check!("discovery-2.2c", "RFC 7033 4.2", Must, "WebFinger of nobody is answered with 404", nobody),
    check!(
        "discovery-2.2d",
        "RFC 7033 5",
        Must,
        "WebFinger can be asked from pages: Access-Control-Allow-Origin",
        cors
    ),
    check!("discovery-2.1", "Mentionable WebFinger", Should, "an address is found whatever its case", any_case),
    check!("discovery-4.3", "RFC 7033 4.3", Should, "WebFinger gives only links of the rel that was asked for", by_rel),
    check!("discovery-3a", "Mentionable agent card", Must, "a card has what one must have, and its own address", card),
    check!("discovery-3b", "Mentionable agent card", Must, "a card of nobody is answered with 404", no_card),
    check!(
        "discovery-3.2",
        "Mentionable agent card",
        Must,
        "a card's endpoint and extensions are absolute https URLs",
        card_urls
    ),
];

/// The link to a card, and its older name.
const RELS: [&str; 2] = ["https://mentionable.dev/ns/rel/agent-card", "https://mentionable.dev/agent-card"];

/// The list of agents.
async fn listed(peer: &Peer) -> Result<&Value, Shortfall> {
    let fetched = peer.learnt.directory.get_or_init(|| async {
        let exchange = peer.anonymous(Draft::get("/.well-known/mentionable-agents.json")).await.ok()?;
        exchange.json().ok().filter(|_| exchange.status() == 200)
    });
    fetched.await.as_ref().ok_or_else(|| Shortfall::skip("the host has no list of agents; discovery-6a says more"))
}

/// The agent under test: its handle and domain. The one that was named, or the first of the list.
pub(super) async fn address(peer: &Peer) -> Result<(String, String), Shortfall> {
    let addresses = match listed(peer).await {
        Ok(list) => list["contactPoint"].as_array().cloned().unwrap_or_default(),
        Err(_) => Vec::new(),
    };
    let split = |point: &Value| point["email"].as_str()?.split_once('@').map(|(l, d)| (l.to_owned(), d.to_owned()));
    let mut all = addresses.iter().filter_map(split);
    let Some(handle) = peer.handle() else {
        return all.next().ok_or_else(|| Shortfall::skip("the host lists no agent: give --agent @handle"));
    };
    let host = || peer.base().host_str().unwrap_or_default().to_owned();
    // An agent need not be listed to be asked; then it is of the host that was named.
    Ok(all.find(|(local, _)| local.eq_ignore_ascii_case(handle)).unwrap_or_else(|| (handle.to_owned(), host())))
}

/// The card of the agent under test.
pub(super) async fn agent_card(peer: &Peer) -> Result<&Value, Shortfall> {
    let fetched = peer.learnt.card.get_or_init(|| async {
        let (handle, _) = address(peer).await.ok()?;
        let exchange = peer.anonymous(Draft::get(&format!("/.well-known/agent-card/{handle}"))).await.ok()?;
        exchange.json().ok().filter(|_| exchange.status() == 200)
    });
    fetched.await.as_ref().ok_or_else(|| Shortfall::skip("the agent has no card that could be had"))
}

async fn directory(peer: &Peer) -> Verdict {
    let exchange = peer.anonymous(Draft::get("/.well-known/mentionable-agents.json")).await?;
    exchange.expect(&[200])?;
    match (exchange.media_type(), exchange.json()?["contactPoint"].is_array()) {
        ("application/json" | "application/ld+json", true) => Ok(()),
        (_, true) => Err(exchange.wrong("it is not application/json")),
        (_, false) => Err(exchange.wrong("there is no array `contactPoint`")),
    }
}

async fn contacts(peer: &Peer) -> Verdict {
    let points = listed(peer).await?["contactPoint"].as_array();
    let wrong = |point: &Value| {
        let fine = ["@type", "name", "email", "url"].iter().all(|name| point[*name].is_string());
        (!fine).then(|| format!("not whole: {point}"))
    };
    none_wrong(points.into_iter().flatten().filter_map(wrong).collect())
}

fn lookup(handle: &str, domain: &str) -> Draft {
    Draft::get(&format!("/.well-known/webfinger?resource=acct%3A{handle}%40{domain}"))
}

async fn webfinger(peer: &Peer) -> Verdict {
    let (handle, domain) = address(peer).await?;
    let exchange = peer.anonymous(lookup(&handle, &domain)).await?;
    exchange.expect(&[200])?;
    let record = exchange.json()?;
    let is_own = record["subject"].as_str().is_some_and(|s| s.eq_ignore_ascii_case(&format!("acct:{handle}@{domain}")));
    let card = record["links"].as_array().into_iter().flatten().find(|link| RELS.iter().any(|rel| link["rel"] == *rel));
    let href = card.and_then(|link| link["href"].as_str()).unwrap_or_default();
    // Plain http is spoken to this machine alone, where a deployment may have no certificate.
    let is_secure = href.starts_with("https://") || peer.base().scheme() == "http";
    match exchange.media_type() {
        _ if !is_own => Err(exchange.wrong("the subject is not the address that was asked for")),
        _ if href.is_empty() => Err(exchange.wrong("no link leads to the agent's card")),
        _ if !is_secure => Err(exchange.wrong("the link to the card is not https")),
        "application/jrd+json" => Ok(()),
        _ => Err(exchange.wrong("it is not application/jrd+json")),
    }
}

/// Whether there is WebFinger at all, without which nothing more can be said of it.
async fn has_webfinger(peer: &Peer) -> Verdict {
    let (handle, domain) = address(peer).await?;
    match peer.anonymous(lookup(&handle, &domain)).await?.status() {
        200 => Ok(()),
        _ => Err(Shortfall::skip("WebFinger does not know the agent; discovery-2.2a says more")),
    }
}

async fn no_resource(peer: &Peer) -> Verdict {
    has_webfinger(peer).await?;
    peer.anonymous(Draft::get("/.well-known/webfinger")).await?.expect(&[400])
}

async fn nobody(peer: &Peer) -> Verdict {
    has_webfinger(peer).await?;
    let (handle, domain) = address(peer).await?;
    peer.anonymous(lookup("conform-nobody", &domain)).await?.expect(&[404])?;
    // Of another domain nobody is known either.
    peer.anonymous(lookup(&handle, "conform.invalid")).await?.expect(&[404])
}

async fn cors(peer: &Peer) -> Verdict {
    has_webfinger(peer).await?;
    let (handle, domain) = address(peer).await?;
    let exchange = peer.anonymous(lookup(&handle, &domain)).await?;
    match exchange.field("Access-Control-Allow-Origin") {
        Some(_) => Ok(()),
        None => Err(exchange.wrong("there is no Access-Control-Allow-Origin")),
    }
}

async fn any_case(peer: &Peer) -> Verdict {
    has_webfinger(peer).await?;
    let (handle, domain) = address(peer).await?;
    let draft = lookup(&handle.to_uppercase(), &domain.to_uppercase());
    peer.anonymous(draft).await?.expect(&[200])
}

async fn by_rel(peer: &Peer) -> Verdict {
    has_webfinger(peer).await?;
    let (handle, domain) = address(peer).await?;
    let url = format!("/.well-known/webfinger?resource=acct%3A{handle}%40{domain}&rel=conform-no-such-rel");
    let exchange = peer.anonymous(Draft::get(&url)).await?;
    exchange.expect(&[200])?;
    match exchange.json()?["links"].as_array().is_none_or(Vec::is_empty) {
        true => Ok(()),
        false => Err(exchange.wrong("there are links of other rels")),
    }
}

async fn card(peer: &Peer) -> Verdict {
    let (handle, domain) = address(peer).await?;
    let exchange = peer.anonymous(Draft::get(&format!("/.well-known/agent-card/{handle}"))).await?;
    exchange.expect(&[200])?;
    let card = exchange.json()?;
    let own = format!("@{handle}@{domain}");
    let a2a = &card["a2a"];
    let rules = [
        ("address is that of the agent", card["address"].as_str().is_some_and(|text| text.eq_ignore_ascii_case(&own))),
        ("name is a text", card["name"].is_string()),
        ("version is a text", card["version"].is_string()),
        ("protocol_version is 0.1", card["protocol_version"] == "0.1"),
        ("a2a.endpoint is a text", a2a["endpoint"].is_string()),
        ("a2a.transport is a text", a2a["transport"].is_string()),
        ("a2a.skills is a list", a2a["skills"].is_array()),
        ("a2a.input_modes is a list", a2a["input_modes"].is_array()),
        ("a2a.output_modes is a list", a2a["output_modes"].is_array()),
        ("a2a.auth is an object", a2a["auth"].is_object()),
        ("mentionable is an object", card["mentionable"].is_object()),
    ];
    match rules.into_iter().find(|(_, fine)| !fine) {
        Some((rule, _)) => Err(exchange.wrong(format!("not so: {rule}"))),
        None => Ok(()),
    }
}

async fn no_card(peer: &Peer) -> Verdict {
    agent_card(peer).await?;
    peer.anonymous(Draft::get("/.well-known/agent-card/conform-nobody")).await?.expect(&[404])
}

async fn card_urls(peer: &Peer) -> Verdict {
    let a2a = &agent_card(peer).await?["a2a"];
    let is_plain = peer.base().scheme() == "http";
    let is_url = |url: &Value| {
        url.as_str().is_some_and(|url| url.starts_with("https://") || (is_plain && url.starts_with("http://")))
    };
    let mut wrong = Vec::new();
    if !is_url(&a2a["endpoint"]) {
        wrong.push(format!("a2a.endpoint is {}", a2a["endpoint"]));
    }
    let extensions = a2a["capabilities"]["extensions"].as_array();
    for extension in extensions.into_iter().flatten().filter(|extension| !is_url(&extension["uri"])) {
        wrong.push(format!("an extension has the uri {}", extension["uri"]));
    }
    none_wrong(wrong)
}
