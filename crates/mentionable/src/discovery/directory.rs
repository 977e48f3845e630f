//! Who lives on this domain. Agent directory.

use forecourt_core::AgentCard;
use forecourt_core::Site;
use forecourt_host::Host;

use super::card::protocols;
use super::webfinger::{card_url, lookup_url};
use super::wire::{ContactPoint, Directory};

/// The directory of a host, the default agent first, and then in the order of configuration. Its URLs are
/// those of `site`: the host's own, or that under the origin at which it was asked.
pub(crate) fn directory<'a>(host: &'a Host, site: &'a Site) -> Directory<'a> {
    directory_of(site, host.directory().iter().map(|resident| &*resident.card))
}

fn directory_of<'a>(site: &'a Site, cards: impl Iterator<Item = &'a AgentCard>) -> Directory<'a> {
    Directory {
        context: "https://schema.org",
        kind: "Organization",
        url: site.url("/"),
        name: &site.name,
        contact_point: cards.map(|card| contact(site, card)).collect(),
    }
}

/// The same of some of them as text, for the page of them: that is where it is authoritative, and the file beside
/// it saves a client from reading HTML.
pub fn json_ld<'a>(site: &'a Site, cards: impl Iterator<Item = &'a AgentCard>) -> String {
    serde_json::to_string(&directory_of(site, cards)).unwrap_or_default()
}

fn contact<'a>(site: &Site, card: &'a AgentCard) -> ContactPoint<'a> {
    ContactPoint {
        kind: "ContactPoint",
        contact_type: "AI assistant",
        name: &card.name,
        // An address, not a mailbox: there need not be one behind it.
        email: format!("{}@{}", card.handle(), site.domain),
        url: card_url(site, card.handle()),
        description: &card.description,
        protocols: protocols(card),
        webfinger: lookup_url(site, &card.address),
    }
}
