//! Where programs reach everything that a deployment has: what is put into the settings of a client.

use forecourt::settings::Listen;
use forecourt_core::{AgentCard, Site};

/// The addresses for programs in one line, such as `http://127.0.0.1:8080/a2a and /mcp`: the plain one on somebody's own
/// machine, where no program knows the local authority, else the public one. `None` where no protocol has one for all
/// agents. `agent` is any of them.
pub(crate) fn for_programs(site: &Site, agent: &AgentCard, listen: Listen) -> Option<String> {
    let hubs = agent.endpoints.iter().filter_map(|endpoint| endpoint.hub.as_deref());
    let paths: Vec<&str> = hubs.filter_map(|url| url.strip_prefix(site.base.as_str())).collect();
    let first = paths.first()?;
    let base = if is_plain(site, listen) { format!("http://{}", listen.http) } else { site.base.clone() };
    let more: String = paths[1..].iter().map(|path| format!(" and {path}")).collect();
    Some(format!("{base}{first}{more}"))
}

/// Whether the plain listener is what programs on this machine use: it is open to them alone, and no other address was
/// given to the deployment.
fn is_plain(site: &Site, listen: Listen) -> bool {
    let is_local = listen.https.ip().is_loopback() && listen.http.ip().is_loopback() && listen.http.port() != 0;
    let port = site.canonical_host().strip_prefix(site.domain.as_str());
    is_local && port.is_some_and(|port| port.is_empty() || port.starts_with(':'))
}

#[cfg(test)]
mod tests {
    use forecourt_core::{Domain, Endpoint};
    use forecourt_testkit::card;

    use super::*;

    #[test]
    fn programs_are_told_the_address_that_they_can_use() {
        let told = |origin: &str, http: &str| {
            let domain = Domain::parse("demo.localhost").unwrap();
            let site = Site { domain, name: "Demo".to_owned(), base: origin.to_owned() };
            let hub = |protocol, path| Endpoint::new(protocol, site.url("/x")).behind_hub(site.url(path));
            let endpoints = vec![Endpoint::new("rest", site.url("/~chef")), hub("a2a", "/a2a"), hub("mcp", "/mcp")];
            let listen = Listen {
                http: http.parse().unwrap(),
                https: http.replace("8080", "8443").parse().unwrap(),
                admin: "127.0.0.1:9080".parse().unwrap(),
            };
            for_programs(&site, &AgentCard { endpoints, ..card("chef") }, listen).unwrap()
        };
        let local = "https://demo.localhost:8443";
        assert_eq!(told(local, "127.0.0.1:8080"), "http://127.0.0.1:8080/a2a and /mcp");
        // Nobody knows the port yet, others come too, or a proxy stands before it.
        for (origin, http) in [
            (local, "127.0.0.1:0"),
            (local, "0.0.0.0:8080"),
            ("https://public.example", "127.0.0.1:8080"),
            ("https://demo.localhost.example", "127.0.0.1:8080"),
        ] {
            assert_eq!(told(origin, http), format!("{origin}/a2a and /mcp"), "{http}");
        }
    }
}
