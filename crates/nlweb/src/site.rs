//! Who a question is for. `query.site` names something here and is never an address to fetch: an agent, the
//! domain, all of them, or a host of the web whose items are here. NLWeb 3.1; design 22.

use std::sync::Arc;

use forecourt_core::{Address, Handle};
use forecourt_host::{Host, HostedAgent};

use crate::api_error::ApiError;
use crate::limits::{ASKED_AT_ONCE_MAX, NAMED_AGENTS_MAX};

/// The value of `query.site` that asks every agent that finds items.
pub(crate) const ALL: &str = "all";

/// Who is asked, and for which part of what they have.
#[derive(Clone)]
pub(crate) struct ChosenAgent {
    /// The agent, or the first of several.
    pub(crate) resident: Arc<HostedAgent>,
    /// Who is asked beside it.
    pub(crate) beside: Vec<Arc<HostedAgent>>,
    /// The host of the web that all items are to be from.
    pub(crate) host: Option<String>,
}

impl ChosenAgent {
    /// One agent, for all that it has.
    pub(crate) fn one(resident: &Arc<HostedAgent>) -> Self {
        Self { resident: resident.clone(), beside: Vec::new(), host: None }
    }

    /// What each of them is asked for, when so many items are wanted of all.
    pub(crate) fn share(&self, results: Option<usize>) -> Option<usize> {
        results.map(|wanted| wanted.div_ceil(1 + self.beside.len()))
    }

    /// The first of several, which there are.
    fn of(residents: Vec<&Arc<HostedAgent>>, host: Option<String>) -> Option<Self> {
        let (first, others) = residents.split_first()?;
        // One question must not become work for thousands of agents.
        let beside = others.iter().take(ASKED_AT_ONCE_MAX - 1).map(|resident| (*resident).clone()).collect();
        Some(Self { beside, host, ..Self::one(first) })
    }
}

/// Who is asked at the endpoint of `own`, or at the host's when that is `None`.
pub(crate) fn asked(host: &Host, own: Option<&Handle>, site: Option<&str>) -> Result<ChosenAgent, ApiError> {
    let directory = host.directory();
    let here = match own {
        Some(handle) => directory.find(handle).ok_or_else(|| ApiError::NoAgent(known(host)))?,
        None => directory.default_agent(),
    };
    let Some(site) = site else { return Ok(ChosenAgent::one(here)) };
    if site.eq_ignore_ascii_case(ALL) && own.is_none() {
        return Ok(everybody(host).unwrap_or_else(|| ChosenAgent::one(here)));
    }
    if site.eq_ignore_ascii_case(ALL) || site.eq_ignore_ascii_case(host.site().domain.as_str()) {
        return Ok(ChosenAgent::one(here));
    }
    match handle(host, site).and_then(|handle| directory.find(&handle)) {
        Some(named) if own.is_none_or(|own| named.card.handle() == own) => Ok(ChosenAgent::one(named)),
        Some(named) => Err(unknown(site, format!("only @{} at this address, and {ALL}", here.card.handle()), named)),
        None => part(host, own, site).ok_or_else(|| ApiError::Site { named: printable_site(site), known: known(host) }),
    }
}

/// All agents that find items, when there are several: the others have nothing to put beside them.
fn everybody(host: &Host) -> Option<ChosenAgent> {
    let finding: Vec<_> = host.directory().iter().filter(|resident| resident.card.finds).collect();
    ChosenAgent::of(finding, None).filter(|chosen| !chosen.beside.is_empty())
}

/// The agents that have items of a host of the web.
fn part(host: &Host, own: Option<&Handle>, site: &str) -> Option<ChosenAgent> {
    let name = host_name(site);
    let asked = host.directory().iter().filter(|resident| own.is_none_or(|own| resident.card.handle() == own));
    ChosenAgent::of(asked.filter(|resident| resident.has_host(&name)).collect(), Some(name.clone()))
}

/// A host as items have it: without scheme, path, port and `www.`, in lower case.
fn host_name(site: &str) -> String {
    let site = site.split_once("://").map_or(site, |(_, rest)| rest).to_ascii_lowercase();
    let name = site.split(['/', '?', '#', ':']).next().unwrap_or_default();
    name.strip_prefix("www.").unwrap_or(name).to_owned()
}

fn unknown(site: &str, known: String, named: &HostedAgent) -> ApiError {
    let known = format!("{known}; ask @{} at its own address, or at /ask", named.card.handle());
    ApiError::Site { named: printable_site(site), known }
}

/// The handle that `site` names, if it is one of this domain.
fn handle(host: &Host, site: &str) -> Option<Handle> {
    match Address::parse(site) {
        Ok(address) => (*address.domain() == host.site().domain).then(|| address.local().clone()),
        Err(_) => Handle::parse(site).ok(),
    }
}

/// What there is, for who asked for something else.
pub(crate) fn known(host: &Host) -> String {
    let handles = host.directory().iter().take(NAMED_AGENTS_MAX).map(|resident| resident.card.handle().as_str());
    format!("{}, and {ALL}", handles.collect::<Vec<_>>().join(", "))
}

fn printable_site(site: &str) -> String {
    site.chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_known_however_it_is_written() {
        for site in ["a.example", "https://www.A.example/", "http://a.example:8080/x?y#z", "www.a.example"] {
            assert_eq!(host_name(site), "a.example", "{site}");
        }
        assert_eq!(host_name("://"), "");
    }
}
