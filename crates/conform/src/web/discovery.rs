//! Checks of how agents are found: WebFinger, cards, and the list of agents. RFC 7033; Mentionable's WebFinger, agent
//! card and agent directory.

use std::ops::Deref;
use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;

use super::exchange::Draft;
use super::target::WebTarget;
use crate::check::{Check, Shortfall, Verdict, check};
use crate::document::Document;
use crate::evidence::Evidence;
use crate::offer::{Absence, OfferedProtocol};

const CHECKS: &[Check<Discovery>] = &[
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

/// A host on which agents of Mentionable were found.
pub(crate) struct Discovery {
    host: Arc<WebTarget>,
}

impl OfferedProtocol for Discovery {
    type Target = WebTarget;
    const NAME: &'static str = "Mentionable discovery";
    const CHECKS: &'static [&'static [Check<Self>]] = &[CHECKS];

    fn find(host: Arc<WebTarget>) -> BoxFuture<'static, Result<Self, Absence>> {
        Box::pin(async move {
            let absence = match directory_of(&host).await {
                Ok(_) => return Ok(Self { host }),
                Err(absence) => absence.clone(),
            };
            // An agent that nobody lists can still be found by its name.
            let Some(_) = host.handle() else { return Err(absence) };
            match card_of(&host).await {
                Ok(_) => Ok(Self { host }),
                Err(_) => {
                    let (handle, domain) = address(&host).await.map_err(|_| absence.clone())?;
                    let found = host.look_for(lookup(&handle, &domain), |record| link_to_card(record).is_some()).await;
                    found.map(|_| Self { host }).map_err(|_| absence)
                }
            }
        })
    }
}

impl Deref for Discovery {
    type Target = WebTarget;

    fn deref(&self) -> &WebTarget {
        &self.host
    }
}

/// The list of agents, asked for once.
async fn directory_of(host: &WebTarget) -> &Result<Document, Absence> {
    let is_list = |body: &Value| ["contactPoint", "@context", "@type"].iter().any(|name| body.get(*name).is_some());
    let draft = || Draft::get("/.well-known/mentionable-agents.json");
    host.learnt.directory.get_or_init(|| host.look_for(draft(), is_list)).await
}

/// The card of the agent under test, asked for once.
pub(super) async fn card_of(host: &WebTarget) -> &Result<Document, Absence> {
    let is_card = |body: &Value| ["address", "a2a", "mentionable"].iter().any(|name| body.get(*name).is_some());
    let look = || async {
        let nobody = |_| Absence::NotOffered("no agent is listed, and none was named: give --agent @handle".to_owned());
        let (handle, _) = address(host).await.map_err(nobody)?;
        host.look_for(Draft::get(&format!("/.well-known/agent-card/{handle}")), is_card).await
    };
    host.learnt.card.get_or_init(look).await
}

/// The link of a WebFinger record that leads to a card.
fn link_to_card(record: &Value) -> Option<&Value> {
    let mut links = record["links"].as_array()?.iter();
    links.find(|link| RELS.iter().any(|rel| link["rel"] == *rel))
}

/// The link to a card, and its older name.
const RELS: [&str; 2] = ["https://mentionable.dev/ns/rel/agent-card", "https://mentionable.dev/agent-card"];

/// The list of agents.
async fn listed(host: &WebTarget) -> Result<&Document, Shortfall> {
    let why = |_: &Absence| Shortfall::skip("the host has no list of agents; discovery-6a says more");
    directory_of(host).await.as_ref().map_err(why)
}

/// The agent under test: its handle and domain. The one that was named, or the first of the list.
pub(super) async fn address(host: &WebTarget) -> Result<(String, String), Shortfall> {
    let addresses = match listed(host).await {
        Ok(list) => list["contactPoint"].as_array().cloned().unwrap_or_default(),
        Err(_) => Vec::new(),
    };
    let split = |point: &Value| point["email"].as_str()?.split_once('@').map(|(l, d)| (l.to_owned(), d.to_owned()));
    let mut all = addresses.iter().filter_map(split);
    let Some(handle) = host.handle() else {
        return all.next().ok_or_else(|| Shortfall::skip("the host lists no agent: give --agent @handle"));
    };
    let domain = || host.base().host_str().unwrap_or_default().to_owned();
    // An agent need not be listed to be asked; then it is of the host that was named.
    Ok(all.find(|(local, _)| local.eq_ignore_ascii_case(handle)).unwrap_or_else(|| (handle.to_owned(), domain())))
}

/// The card of the agent under test.
async fn agent_card(host: &WebTarget) -> Result<&Document, Shortfall> {
    card_of(host)
        .await
        .as_ref()
        .map_err(|_| Shortfall::skip("the agent has no card that could be had; discovery-3a says more"))
}

async fn directory(host: &Discovery) -> Verdict {
    let exchange = host.anonymous(Draft::get("/.well-known/mentionable-agents.json")).await?;
    exchange.expect(&[200])?;
    match (exchange.media_type(), exchange.json()?["contactPoint"].is_array()) {
        ("application/json" | "application/ld+json", true) => Ok(()),
        (_, true) => Err(exchange.wrong("it is not application/json")),
        (_, false) => Err(exchange.wrong("there is no array `contactPoint`")),
    }
}

async fn contacts(host: &Discovery) -> Verdict {
    let list = listed(host).await?;
    let points = list["contactPoint"].as_array();
    let wrong = |point: &Value| {
        let fine = ["@type", "name", "email", "url"].iter().all(|name| point[*name].is_string());
        (!fine).then(|| format!("not whole: {point}"))
    };
    list.none_wrong(points.into_iter().flatten().filter_map(wrong).collect())
}

fn lookup(handle: &str, domain: &str) -> Draft {
    Draft::get(&format!("/.well-known/webfinger?resource=acct%3A{handle}%40{domain}"))
}

async fn webfinger(host: &Discovery) -> Verdict {
    let (handle, domain) = address(host).await?;
    let exchange = host.anonymous(lookup(&handle, &domain)).await?;
    exchange.expect(&[200])?;
    let record = exchange.json()?;
    let is_own = record["subject"].as_str().is_some_and(|s| s.eq_ignore_ascii_case(&format!("acct:{handle}@{domain}")));
    let href = link_to_card(&record).and_then(|link| link["href"].as_str()).unwrap_or_default();
    // Plain http is spoken to this machine alone, where a deployment may have no certificate.
    let is_secure = href.starts_with("https://") || host.base().scheme() == "http";
    match exchange.media_type() {
        _ if !is_own => Err(exchange.wrong("the subject is not the address that was asked for")),
        _ if href.is_empty() => Err(exchange.wrong("no link leads to the agent's card")),
        _ if !is_secure => Err(exchange.wrong("the link to the card is not https")),
        "application/jrd+json" => Ok(()),
        _ => Err(exchange.wrong("it is not application/jrd+json")),
    }
}

/// Whether there is WebFinger at all, without which nothing more can be said of it.
async fn has_webfinger(host: &Discovery) -> Verdict {
    let (handle, domain) = address(host).await?;
    match host.anonymous(lookup(&handle, &domain)).await?.status() {
        200 => Ok(()),
        _ => Err(Shortfall::skip("WebFinger does not know the agent; discovery-2.2a says more")),
    }
}

async fn no_resource(host: &Discovery) -> Verdict {
    has_webfinger(host).await?;
    host.anonymous(Draft::get("/.well-known/webfinger")).await?.expect(&[400])
}

async fn nobody(host: &Discovery) -> Verdict {
    has_webfinger(host).await?;
    let (handle, domain) = address(host).await?;
    host.anonymous(lookup("conform-nobody", &domain)).await?.expect(&[404])?;
    // Of another domain nobody is known either.
    host.anonymous(lookup(&handle, "conform.invalid")).await?.expect(&[404])
}

async fn cors(host: &Discovery) -> Verdict {
    has_webfinger(host).await?;
    let (handle, domain) = address(host).await?;
    let exchange = host.anonymous(lookup(&handle, &domain)).await?;
    match exchange.field("Access-Control-Allow-Origin") {
        Some(_) => Ok(()),
        None => Err(exchange.wrong("there is no Access-Control-Allow-Origin")),
    }
}

async fn any_case(host: &Discovery) -> Verdict {
    has_webfinger(host).await?;
    let (handle, domain) = address(host).await?;
    let draft = lookup(&handle.to_uppercase(), &domain.to_uppercase());
    host.anonymous(draft).await?.expect(&[200])
}

async fn by_rel(host: &Discovery) -> Verdict {
    has_webfinger(host).await?;
    let (handle, domain) = address(host).await?;
    let url = format!("/.well-known/webfinger?resource=acct%3A{handle}%40{domain}&rel=conform-no-such-rel");
    let exchange = host.anonymous(Draft::get(&url)).await?;
    exchange.expect(&[200])?;
    match exchange.json()?["links"].as_array().is_none_or(Vec::is_empty) {
        true => Ok(()),
        false => Err(exchange.wrong("there are links of other rels")),
    }
}

async fn card(host: &Discovery) -> Verdict {
    let (handle, domain) = address(host).await?;
    let exchange = host.anonymous(Draft::get(&format!("/.well-known/agent-card/{handle}"))).await?;
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
    exchange.holds(&rules)
}

async fn no_card(host: &Discovery) -> Verdict {
    agent_card(host).await?;
    host.anonymous(Draft::get("/.well-known/agent-card/conform-nobody")).await?.expect(&[404])
}

async fn card_urls(host: &Discovery) -> Verdict {
    let card = agent_card(host).await?;
    let a2a = &card["a2a"];
    let is_plain = host.base().scheme() == "http";
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
    card.none_wrong(wrong)
}
