//! Which agent a question is for. `query.site` names something here and is never an address to fetch.
//! NLWeb 3.1; design 22.

use std::sync::Arc;

use forecourt_core::{Address, Handle};
use forecourt_host::{Host, Resident};

use crate::fault::Fault;
use crate::limits::NAMED_AGENTS_MAX;

/// Everything that is here.
const ALL: &str = "all";

/// The agent that is asked at the endpoint of `own`, or at the host's when that is `None`.
pub(crate) fn asked<'a>(host: &'a Host, own: Option<&Handle>, site: Option<&str>) -> Result<&'a Arc<Resident>, Fault> {
    let directory = host.directory();
    let here = match own {
        Some(handle) => directory.find(handle).ok_or_else(|| Fault::NoAgent(known(host)))?,
        None => directory.default_agent(),
    };
    let Some(site) = site.filter(|site| !is_whole(host, site)) else { return Ok(here) };
    let named = handle(host, site).and_then(|handle| directory.find(&handle));
    match named {
        Some(named) if own.is_none_or(|own| named.card.handle() == own) => Ok(named),
        Some(named) => Err(unknown(site, format!("only @{} at this address, and {ALL}", here.card.handle()), named)),
        None => Err(Fault::Site { named: shown(site), known: known(host) }),
    }
}

fn unknown(site: &str, known: String, named: &Resident) -> Fault {
    let known = format!("{known}; ask @{} at its own address, or at /ask", named.card.handle());
    Fault::Site { named: shown(site), known }
}

/// Whether `site` means all that is here.
fn is_whole(host: &Host, site: &str) -> bool {
    site.eq_ignore_ascii_case(ALL) || site.eq_ignore_ascii_case(host.site().domain.as_str())
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

fn shown(site: &str) -> String {
    site.chars().take(100).collect()
}
