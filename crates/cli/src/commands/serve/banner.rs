//! What the terminal says once the daemon answers: every address, each one clickable.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use forecourt_host::Host;

use crate::commands::reach;
use forecourt::Domain;
use forecourt::server::Addresses;

/// Agents that are shown, the default one first. More than a screen or two nobody reads, and whoever
/// starts the daemon from a program may not read at all.
const AGENTS_SHOWN: usize = 20;

/// Prints where to find everything. Whoever reads may stop reading: that is no reason to stop.
pub(super) fn print(host: &Host, addresses: &Addresses, data: &Path, notice: Option<String>) {
    let mut text = text(host, addresses, data).unwrap_or_default();
    text.extend(notice.map(|notice| format!("{notice}\n")));
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

/// Prints which other domains are served.
pub(super) fn others(domains: &[Domain]) {
    let text = domains.iter().map(|domain| format!("also {domain}\n")).collect::<String>();
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

fn text(host: &Host, addresses: &Addresses, data: &Path) -> Result<String, std::fmt::Error> {
    let site = host.site();
    let mut out = String::new();
    writeln!(out, "{} is open.", site.name)?;
    writeln!(out)?;
    writeln!(out, "  in a browser   http://{}:{}/", site.domain, addresses.shared.http.port())?;
    if let Some(hubs) = reach::for_programs(site, &host.directory().default_agent().card, addresses.shared) {
        writeln!(out, "  for programs   {hubs}")?;
    }
    writeln!(out, "  public base    {}/", site.base)?;
    for (name, address) in &addresses.own {
        writeln!(out, "  {name:<14} {address}")?;
    }
    writeln!(out, "  operator       http://{}/metrics (also /healthz, /readyz)", addresses.shared.admin)?;
    writeln!(out)?;
    for resident in host.directory().iter().take(AGENTS_SHOWN) {
        let card = &resident.card;
        writeln!(out, "  {}  {}", card.address, card.name)?;
        for endpoint in &card.endpoints {
            writeln!(out, "    {:<12} {}", endpoint.protocol, endpoint.url)?;
        }
    }
    if let Some(more) = host.directory().iter().count().checked_sub(AGENTS_SHOWN + 1) {
        writeln!(out, "  and {} more: forecourt discover {}", more + 1, site.domain)?;
    }
    writeln!(out)?;
    let first = host.directory().default_agent();
    writeln!(out, "Try:  forecourt ask {} \"hello\"", first.card.address)?;
    if addresses.is_local {
        let ca = forecourt_server::local_ca::ca_certificate(data);
        writeln!(out, "      curl --cacert {} '{}/~{}?user=hello'", ca.display(), site.base, first.card.handle())?;
        writeln!(out, "This is development: loopback only, with a certificate from a local authority.")?;
    }
    Ok(out)
}
