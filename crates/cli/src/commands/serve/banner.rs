//! What the terminal says once the daemon answers: every address, each one clickable.

use std::path::Path;

use forecourt_host::Host;

use super::listeners::Listeners;

/// Prints where to find everything.
pub(super) fn print(host: &Host, listeners: &Listeners, data: &Path) {
    let site = host.site();
    println!("{} is open.", site.name);
    println!();
    if let Some(port) = listeners.http_port() {
        println!("  in a browser   http://{}:{port}/", site.domain);
    }
    println!("  public base    {}/", site.origin);
    println!("  operator       http://{}/metrics (also /healthz, /readyz)", listeners.admin_address());
    println!();
    for resident in host.directory().iter() {
        let card = &resident.card;
        println!("  {}  {}", card.address, card.name);
        for endpoint in &card.endpoints {
            println!("    {:<12} {}", endpoint.protocol, endpoint.url);
        }
    }
    println!();
    let first = host.directory().default_agent();
    println!("Try:  forecourt ask {} \"hello\"", first.card.address);
    if listeners.is_local() {
        let ca = forecourt_server::local_ca::ca_certificate(data);
        println!("      curl --cacert {} '{}/~{}?user=hello'", ca.display(), site.origin, first.card.handle());
        println!("This is development: loopback only, with a certificate from a local authority.");
    }
}
