//! What an operator does so that agents are found in the Fediverse, and whether they are: their addresses asked for as
//! other servers do.

use std::sync::Arc;

use forecourt_core::{AgentCard, Handle, Site, json};
use forecourt_egress::{Egress, Purpose, UpstreamRequest};
use forecourt_jose::VerifyKey;
use futures::future::BoxFuture;
use http::HeaderValue;
use http::header::ACCEPT;
use serde_json::Value;

use crate::names::{self, MEDIA_TYPE};
use crate::{NAME, doubts, wire};

/// The steps for these agents, which are actors where the section is there.
pub(crate) fn steps(site: &Site, actors: &[&AgentCard]) -> String {
    let Some(first) = actors.first() else {
        return format!(
            "No agent is in the Fediverse yet. Write into forecourt.toml:\n\n[{NAME}]\nenabled = true\n\nThen this \
             command shows their addresses, and what is lacking.\n"
        );
    };
    let line =
        |card: &&AgentCard| format!("  @{}@{}  {}\n", card.handle(), site.domain, names::actor(site, card.handle()));
    let addresses: String = actors.iter().map(line).collect();
    let lacking = doubts::of(site, actors);
    let lacking = match lacking.is_empty() {
        true => "Nothing is lacking that can be seen from here.\n".to_owned(),
        false => lacking.iter().map(|doubt| format!("  - {doubt}\n")).collect(),
    };
    format!(
        "1. The agents, as people find them, and their actors:\n\n{addresses}\n\
         2. What others would miss:\n\n{lacking}\n\
         3. Other servers must reach, over HTTPS with a certificate that everybody trusts:\n\n  {webfinger}\n  \
         {inbox}\n  everything below {users}\n\n\
         4. Serve, then `forecourt check --connect` asks for these addresses as another server does.\n\
         5. Search for @{handle}@{domain} on any server of the Fediverse, and mention it:\n\n  \
         @{handle}@{domain} what can you do?\n\n\
         The manual page `activitypub` has the rest; FEDERATION.md in the sources is for those who write other \
         servers.\n",
        webfinger = webfinger(site, first.handle()),
        inbox = names::shared_inbox(site),
        users = site.url("/activitypub/users/"),
        handle = first.handle(),
        domain = site.domain,
    )
}

/// Asks for the address of each agent: its WebFinger record, its actor, its key. By agent: its actor, or a sentence
/// about what is wrong.
pub(crate) fn try_addresses(
    site: Site,
    agents: Vec<Handle>,
    egress: Arc<Egress>,
) -> BoxFuture<'static, Vec<(Handle, Result<String, String>)>> {
    Box::pin(async move {
        let mut found = Vec::with_capacity(agents.len());
        for agent in agents {
            let tried = try_address(&site, &agent, &egress).await;
            found.push((agent, tried));
        }
        found
    })
}

async fn try_address(site: &Site, agent: &Handle, egress: &Egress) -> Result<String, String> {
    let url = webfinger(site, agent);
    let record = document(egress, &url, "application/jrd+json").await?;
    let own = names::actor(site, agent);
    let is_self = |link: &&Value| {
        link.get("rel").and_then(Value::as_str) == Some("self")
            && link.get("type").and_then(Value::as_str) == Some(MEDIA_TYPE)
    };
    let link = wire::entries(record.get("links")).find(is_self).and_then(|link| link.get("href")?.as_str());
    match link {
        Some(link) if link == own => {}
        Some(link) => return Err(format!("{url} leads to {link}, and not to {own}: another server answers there")),
        None => return Err(format!("{url} has no link `self` to an actor: the daemon serves other settings")),
    }
    let actor = document(egress, &own, MEDIA_TYPE).await?;
    if actor.get("id").and_then(Value::as_str) != Some(own.as_str()) {
        return Err(format!("{own} is not the actor of that name: another server answers there"));
    }
    let key = actor.pointer("/publicKey/publicKeyPem").and_then(Value::as_str).unwrap_or_default();
    match VerifyKey::from_pem(key, None) {
        Ok(_) => Ok(own),
        Err(_) => Err(format!("{own} has no key: the daemon's log says why")),
    }
}

/// A document as another server gets it.
async fn document(egress: &Egress, url: &str, kind: &'static str) -> Result<Value, String> {
    let request = UpstreamRequest::get(url).header(ACCEPT, HeaderValue::from_static(kind));
    let fetched = egress.fetch(Purpose::Federation, request).await;
    let fetched = fetched.map_err(|error| format!("{url} can't be had: {}", error.log_reason()))?;
    json::parse(&fetched.bytes).map_err(|_| format!("{url} is no JSON: another server answers there"))
}

/// The WebFinger record of an agent, at the domain of its address.
fn webfinger(site: &Site, agent: &Handle) -> String {
    let (scheme, host) = site.origin().split_once("://").unwrap_or(("https", site.domain.as_str()));
    // Behind another name than its own the record is where addresses are looked up, which is the domain.
    let is_own = host.split(':').next() == Some(site.domain.as_str());
    let host = if is_own { host } else { site.domain.as_str() };
    format!("{scheme}://{host}/.well-known/webfinger?resource=acct:{agent}@{}", site.domain)
}

#[cfg(test)]
mod tests {
    use forecourt_core::Domain;
    use forecourt_testkit::card;

    use super::*;

    fn site(base: &str) -> Site {
        Site { domain: Domain::parse("example.com").unwrap(), name: String::new(), base: base.to_owned() }
    }

    #[test]
    fn the_steps_name_each_address_and_what_is_lacking() {
        let (chef, public) = (card("chef"), site("https://example.com"));
        let told = steps(&public, &[&chef]);
        for piece in [
            "@chef@example.com  https://example.com/activitypub/users/chef",
            "without a picture: @chef",
            "https://example.com/.well-known/webfinger?resource=acct:chef@example.com",
            "https://example.com/activitypub/inbox",
        ] {
            assert!(told.contains(piece), "{piece}: {told}");
        }
        assert!(steps(&public, &[]).contains("[activitypub]\nenabled = true"));
    }

    #[test]
    fn an_address_is_looked_up_at_its_domain() {
        let (chef, of) = (Handle::parse("chef").unwrap(), |base| site(base));
        let path = "/.well-known/webfinger?resource=acct:chef@example.com";
        for (base, origin) in [
            ("https://example.com", "https://example.com"),
            ("http://example.com:8080", "http://example.com:8080"),
            ("https://agents.example.com", "https://example.com"),
        ] {
            assert_eq!(webfinger(&of(base), &chef), format!("{origin}{path}"), "{base}");
        }
    }
}
