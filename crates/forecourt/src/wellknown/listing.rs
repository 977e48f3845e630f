//! What the documents list: the agents of a host, as one request sees them.

use std::borrow::Cow;

use forecourt_core::AgentCard;
use forecourt_core::Site;
use forecourt_host::Host;
use forecourt_surface::BaseUrl;

use super::limits::AGENTS_LISTED_MAX;

/// The site and its agents, under the origin of one request.
pub(crate) struct SiteListing<'a> {
    pub(crate) site: Cow<'a, Site>,
    /// At most [`AGENTS_LISTED_MAX`], the default agent first.
    pub(crate) agents: Vec<Cow<'a, AgentCard>>,
    /// Whether there are more.
    pub(crate) is_cut: bool,
}

impl<'a> SiteListing<'a> {
    /// What a host shows under the origin `base`.
    pub(crate) fn of(host: &'a Host, base: BaseUrl<'a>) -> Self {
        let directory = host.directory();
        let first = &directory.default_agent().card;
        let others = directory.iter().map(|agent| &agent.card).filter(|card| card.handle() != first.handle());
        // The default agent first, so that a list that is cut has it.
        let mut cards = std::iter::once(first).chain(others).map(|card| base.card(card));
        let agents: Vec<_> = cards.by_ref().take(AGENTS_LISTED_MAX).collect();
        let is_cut = cards.next().is_some();
        Self { site: base.site(), agents, is_cut }
    }
}

/// A text on one line, so that it can't begin anything in the document that it stands in.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
