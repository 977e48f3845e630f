//! Finding agents elsewhere: from an address over WebFinger to a card that can be believed.
//! WebFinger 2.4.

mod agent;
mod error;
mod fetch;
mod keys;
mod listing;

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::{Clock, Domain, Timestamp};
use forecourt_egress::{Egress, Purpose};
use futures::future::BoxFuture;
use moka::future::Cache;
use serde::Deserialize;
use serde_json::Value;

use super::acct::Acct;
use super::https_host::https_host;
use super::limits::{KEPT_BYTES_MAX, KEPT_MAX, KEPT_MIN};
use super::names::{DIRECTORY_PATH, REL_AGENT_CARD};
use super::validate::{CardError, ExpectedCard, validate_agent_card};
use super::webfinger::lookup_path;
use super::wire::{Jrd, Link};
use fetch::FetchedDocument;

pub use agent::ResolvedAgent;
pub use error::{Obstacle, ResolveError, ResolveSource};
pub use listing::{DirectoryAgent, DirectoryListing};

/// The port of https, where agents are found unless somebody says otherwise.
const HTTPS_PORT: u16 = 443;

/// Finds agents by their addresses. Keeps what it found, and what it did not, as long as the servers
/// say, but at least [`KEPT_MIN`] and at most [`KEPT_MAX`].
pub struct Resolver {
    egress: Arc<Egress>,
    clock: Arc<dyn Clock>,
    kept: Cache<(Acct, u16), Arc<CachedOutcome>>,
}

/// An outcome, and how long it holds.
struct CachedOutcome {
    until: Timestamp,
    outcome: Result<Arc<ResolvedAgent>, ResolveError>,
}

impl Resolver {
    /// A resolver that goes out through `egress`.
    pub fn new(egress: Arc<Egress>, clock: Arc<dyn Clock>) -> Self {
        let kept = Cache::builder()
            .max_capacity(KEPT_BYTES_MAX)
            .weigher(|_: &(Acct, u16), kept: &Arc<CachedOutcome>| kept.bytes())
            .build();
        Self { egress, clock, kept }
    }

    /// The agent of an address.
    pub fn resolve<'a>(&'a self, acct: &'a Acct) -> BoxFuture<'a, Result<Arc<ResolvedAgent>, ResolveError>> {
        Box::pin(async move { self.resolve_at(acct, HTTPS_PORT).await })
    }

    /// The agent of an address whose domain answers on another port. Those who ask at once share one
    /// lookup.
    pub fn resolve_at<'a>(
        &'a self,
        acct: &'a Acct,
        port: u16,
    ) -> BoxFuture<'a, Result<Arc<ResolvedAgent>, ResolveError>> {
        Box::pin(async move {
            let now = self.clock.now();
            let entry = self.kept.entry((acct.clone(), port));
            let found = entry.or_insert_with_if(self.look_up(acct, port), |kept| kept.until <= now).await;
            found.into_value().outcome.clone()
        })
    }

    /// Who lives on a domain, as its directory says. Kept by nobody: people ask for it.
    pub fn directory<'a>(
        &'a self,
        domain: &'a Domain,
        port: u16,
    ) -> BoxFuture<'a, Result<DirectoryListing, ResolveError>> {
        Box::pin(async move {
            let url = url_on(domain, port, DIRECTORY_PATH);
            let fetched: FetchedDocument<Value> =
                fetch::json(&self.egress, Purpose::Document, ResolveSource::Directory, &url).await?;
            DirectoryListing::read(fetched.value)
                .ok_or(ResolveError::Unreadable { what: ResolveSource::Directory, url })
        })
    }

    /// A JSON document on a domain, for those who know what is in it.
    pub fn document<'a>(
        &'a self,
        domain: &'a Domain,
        port: u16,
        path: &'a str,
    ) -> BoxFuture<'a, Result<Value, ResolveError>> {
        Box::pin(async move {
            let url = url_on(domain, port, path);
            Ok(fetch::json(&self.egress, Purpose::Document, ResolveSource::Document, &url).await?.value)
        })
    }

    async fn look_up(&self, acct: &Acct, port: u16) -> Arc<CachedOutcome> {
        let (outcome, fresh) = match self.find(acct, port).await {
            Ok(found) => (Ok(Arc::new(found.value)), found.fresh),
            // Kept for [`KEPT_MIN`] all the same, so that nobody can make this host ask again and again.
            Err(error) => (Err(error), Duration::ZERO),
        };
        let now = self.clock.now();
        Arc::new(CachedOutcome { until: now.checked_add(fresh.clamp(KEPT_MIN, KEPT_MAX)).unwrap_or(now), outcome })
    }

    /// The steps of WebFinger 2.4, in order.
    async fn find(&self, acct: &Acct, port: u16) -> Result<FetchedDocument<ResolvedAgent>, ResolveError> {
        let url = url_on(acct.domain(), port, &lookup_path(&acct.to_uri()));
        // WebFinger may redirect once, a card not at all: the purposes decide that (WebFinger 2.4 step 3).
        let record: FetchedDocument<Value> =
            fetch::json(&self.egress, Purpose::WebFinger, ResolveSource::WebFinger, &url)
                .await
                .map_err(|error| error.or_unknown(acct))?;
        let jrd = Jrd::deserialize(&record.value)
            .map_err(|_| ResolveError::Unreadable { what: ResolveSource::WebFinger, url })?;
        // Step 5: a record about another address would let one agent pass for another.
        if Acct::parse_uri(&jrd.subject).as_ref() != Some(acct) {
            return Err(ResolveError::OtherSubject);
        }
        let (card_url, canonical_host) = card_link(&jrd.links)?;
        let card = fetch::json(&self.egress, Purpose::Document, ResolveSource::Card, &card_url).await?;
        check(&card.value, acct, &canonical_host)?;
        // The record leads to the card, so that the whole holds no longer than either.
        let fresh = card.fresh.min(record.fresh);
        Ok(FetchedDocument {
            value: ResolvedAgent { acct: acct.clone(), card_url, canonical_host, card: card.value },
            fresh,
        })
    }
}

impl CachedOutcome {
    fn bytes(&self) -> u32 {
        const SMALL: usize = 512;
        let card = self.outcome.as_ref().map_or(0, |agent| agent.card.to_string().len());
        u32::try_from(card + SMALL).unwrap_or(u32::MAX)
    }
}

/// Where the card is, and the host that everything of the agent must be on: that of `self` where
/// there is one, else that of the card. WebFinger 2.4 step 6, 2.5.
fn card_link(links: &[Link]) -> Result<(String, String), ResolveError> {
    let href = |rel: &str| links.iter().filter(|link| link.rel == rel).find_map(|link| link.href.as_deref());
    let card = href(REL_AGENT_CARD.canonical).or_else(|| href(REL_AGENT_CARD.legacy)).ok_or(ResolveError::NoCard)?;
    let card_host = https_host(card).ok_or(ResolveError::NotHttps)?;
    Ok((card.to_owned(), self_host(links).unwrap_or(card_host)))
}

/// The canonical host of the agent that a WebFinger record, which came over https, is about: that of its link
/// `self`, else that of its card. `None` when neither is an https URL. PolicyPart 3.2, 5.2; WebFinger 2.5.
pub fn get_canonical_host(jrd: &Value) -> Option<String> {
    let jrd = Jrd::deserialize(jrd).ok()?;
    self_host(&jrd.links).or_else(|| card_link(&jrd.links).ok().map(|(_, host)| host))
}

/// The host of the first link `self`.
fn self_host(links: &[Link]) -> Option<String> {
    links.iter().filter(|link| link.rel == "self").find_map(|link| link.href.as_deref()).and_then(https_host)
}

/// A card that breaks a rule is not believed. One rule is for those who publish only: an agent whose
/// REST entry names no endpoint has none, and that is all (REST 2).
fn check(card: &Value, acct: &Acct, canonical_host: &str) -> Result<(), ResolveError> {
    let mut problems =
        validate_agent_card(card, ExpectedCard { acct: Some(acct), canonical_host: Some(canonical_host) });
    problems.retain(|problem| problem.code != CardError::RestEndpointMissing);
    if problems.is_empty() { Ok(()) } else { Err(ResolveError::Malformed { problems }) }
}

fn url_on(domain: &Domain, port: u16, path: &str) -> String {
    match port {
        HTTPS_PORT => format!("https://{domain}{path}"),
        port => format!("https://{domain}:{port}{path}"),
    }
}

impl std::fmt::Debug for Resolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resolver").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn policy5_2_the_canonical_host_is_that_of_self_and_else_that_of_the_card() {
        let host = |links: Value| get_canonical_host(&json!({"subject": "acct:a@b.example", "links": links}));
        let of = |rel: &str, href: &str| json!({"rel": rel, "href": href});
        let card = of(REL_AGENT_CARD.canonical, "https://cards.example/a");
        let own = of("self", "https://Agent.Example:8443/users/a");
        assert_eq!(host(json!([card, own])).as_deref(), Some("agent.example:8443"));
        assert_eq!(host(json!([card])).as_deref(), Some("cards.example"));
        // PolicyPart 3.2: nothing that came without TLS binds anything.
        assert_eq!(host(json!([of("self", "http://agent.example/")])), None);
        assert_eq!(host(json!([])), None);
        assert_eq!(get_canonical_host(&json!("no record")), None);
    }
}
