//! From an address to where its card is. WebFinger 2.2 and 2.3, RFC 7033.

use forecourt_core::Site;
use forecourt_core::{Address, AgentCard, Handle};
use forecourt_host::{Directory, HostedAgent};
use url::{Url, form_urlencoded};

use forecourt_surface::document::DocumentError;

use super::acct::Acct;
use super::names::{CARDS_PATH, REL_AGENT_CARD, REL_MAILTO, REL_PROFILE_PAGE, REL_SELF, WEBFINGER_PATH};
use super::wire::{Jrd, Link};
use crate::NAME;

/// The protocol whose endpoint is the actor of an agent, where the host serves one.
pub(crate) const ACTOR: &str = "activitypub";
/// The protocol whose endpoint is a mailbox, where the host takes mail.
const MAIL: &str = "email";

/// A question to WebFinger: one resource, and the kinds of links that are wanted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Query {
    resource: String,
    rels: Vec<String>,
}

impl Query {
    /// Reads a query string. RFC 7033 4.2: a resource that is missing or no URI is a bad request.
    pub(crate) fn parse(query: &str) -> Result<Self, DocumentError> {
        // RFC 7033 4.1 escapes as URIs do, where a plus sign is itself and not a space.
        let plain = query.replace('+', "%2B");
        let mut resources = Vec::new();
        let mut rels = Vec::new();
        for (name, value) in form_urlencoded::parse(plain.as_bytes()) {
            match name.as_ref() {
                "resource" => resources.push(value.into_owned()),
                "rel" => rels.push(value.into_owned()),
                _ => {}
            }
        }
        match resources.as_slice() {
            [] => {
                Err(DocumentError::Malformed("the query parameter `resource` is missing: ?resource=acct:agent@domain"))
            }
            [resource] if Url::parse(resource).is_ok() => Ok(Self { resource: resource.clone(), rels }),
            [_] => Err(DocumentError::Malformed("`resource` must be a URI such as acct:agent@domain")),
            _ => Err(DocumentError::Malformed("`resource` may occur only once")),
        }
    }

    /// The agent that is asked for, if it lives here: by its address, or by a URL that is listed as its own
    /// (RFC 7033 4.1 admits any URI). Other domains, other schemes and other characters are no agents of ours.
    pub(crate) fn resident<'a>(&self, site: &Site, directory: &'a Directory) -> Option<&'a HostedAgent> {
        match Acct::parse_uri(&self.resource) {
            Some(acct) if *acct.domain() == site.domain => find(directory, acct.local()),
            Some(_) => None,
            None => self.listed(site, directory),
        }
    }

    /// The agent whose page or card is at the URL that is asked for. Its last segment is the handle, with a tilde
    /// or without; whether the URL is the agent's is what its own record says.
    fn listed<'a>(&self, site: &Site, directory: &'a Directory) -> Option<&'a HostedAgent> {
        let asked = Url::parse(&self.resource).ok()?;
        let last = asked.path_segments()?.next_back()?;
        let resident = find(directory, last.strip_prefix('~').unwrap_or(last))?;
        let Jrd { aliases, links, .. } = jrd(site, &resident.card);
        let mut own = aliases.into_iter().chain(links.into_iter().filter_map(|link| link.href));
        own.any(|url| Url::parse(&url).is_ok_and(|url| url == asked)).then_some(resident)
    }

    /// The answer about an agent. Without `rel` it has all links. RFC 7033 4.3.
    pub(crate) fn answer(&self, site: &Site, card: &AgentCard) -> Jrd {
        let mut jrd = jrd(site, card);
        jrd.links.retain(|link| self.rels.is_empty() || self.rels.contains(&link.rel));
        jrd
    }
}

/// All that is said about an agent. The order of links is normative: its actor where one is served, its card, then its
/// page, then its mailbox where mail is taken.
fn jrd(site: &Site, card: &AgentCard) -> Jrd {
    let page = card.endpoint(NAME);
    let card_link = link(REL_AGENT_CARD.canonical, "application/json", &card_url(site, card.handle()));
    let page_link = page.map(|url| link(REL_PROFILE_PAGE, "text/html", url));
    let actor = card.endpoint(ACTOR).map(|url| link(REL_SELF, "application/activity+json", url));
    let mailbox = card.endpoint(MAIL).map(|url| Link { kind: None, ..link(REL_MAILTO, "", url) });
    Jrd {
        subject: card.address.to_acct(),
        aliases: page.map(str::to_owned).into_iter().collect(),
        links: actor.into_iter().chain([card_link]).chain(page_link).chain(mailbox).collect(),
    }
}

/// Strictly by its handle: an address with a mention's `@` is none.
fn find<'a>(directory: &'a Directory, local: &str) -> Option<&'a HostedAgent> {
    let handle = Handle::parse(local).ok().filter(|_| !local.starts_with('@'))?;
    directory.find(&handle).map(AsRef::as_ref)
}

fn link(rel: &str, kind: &str, href: &str) -> Link {
    Link { rel: rel.to_owned(), kind: Some(kind.to_owned()), href: Some(href.to_owned()) }
}

/// Where the card of an agent is.
pub(crate) fn card_url(site: &Site, handle: &Handle) -> String {
    site.url(&format!("{CARDS_PATH}{handle}"))
}

/// Where an address of ours is looked up.
pub(crate) fn lookup_url(site: &Site, address: &Address) -> String {
    site.url(&lookup_path(&address.to_acct()))
}

/// The path and query that ask for `resource`.
pub(crate) fn lookup_path(resource: &str) -> String {
    let resource: String = form_urlencoded::byte_serialize(resource.as_bytes()).collect();
    format!("{WEBFINGER_PATH}?resource={resource}")
}
