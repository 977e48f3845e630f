//! Whom a question goes to over a protocol that no document gives the addresses of.

use std::sync::Arc;

use forecourt_egress::Purpose;
use url::{Position, Url};

use super::{Line, way_out};
use crate::args::Ask;
use crate::commands::named::NamedTarget;
use crate::commands::printable::line;
use crate::commands::way::Way;
use crate::output::Failure;
use forecourt::registry::discovery::ResolvedAgent;

/// A protocol, and where agents and hosts are asked over it.
pub(super) struct Wire {
    /// What cards call it.
    pub(super) name: &'static str,
    /// What people call it.
    pub(super) title: &'static str,
    /// The endpoint of an agent.
    pub(super) of_agent: fn(&ResolvedAgent) -> String,
    /// The path of a host's endpoint.
    pub(super) of_host: &'static str,
    /// The endpoint that is meant by a URL that somebody typed.
    pub(super) typed: fn(Url) -> Url,
}

impl Wire {
    /// The endpoint of whoever `ask` names, and the way there.
    pub(super) async fn connect(&self, ask: &Ask) -> Result<Line, Failure> {
        match NamedTarget::parse(&ask.agent)? {
            NamedTarget::Url(url) => {
                let egress = Arc::new(way_out(&url, ask)?);
                let (canonical_host, shown) = (host_of(&url), url.to_string());
                Ok(Line { egress, purpose: Purpose::Upstream, endpoint: (self.typed)(url), canonical_host, shown })
            }
            NamedTarget::Agent(acct, port) => {
                let mut way = Way::to(acct.domain(), port, ask.trust())?;
                let agent = way.resolve(&acct).await?;
                if !agent.protocols().any(|name| name == self.name) {
                    let spoken = agent.protocols().map(|name| line(name, 40)).collect::<Vec<_>>().join(", ");
                    return Err(Failure::yours(format!("{acct} is not available over {}", self.title))
                        .hint(format!("its card says that it speaks {spoken}")));
                }
                Ok(Line {
                    egress: way.egress,
                    purpose: Purpose::RemoteAgent,
                    endpoint: read(&(self.of_agent)(&agent))?,
                    canonical_host: agent.canonical_host.clone(),
                    shown: acct.to_string(),
                })
            }
            NamedTarget::Domain(domain, port) => {
                let way = Way::to(&domain, port, ask.trust())?;
                let endpoint = read(&format!("https://{domain}:{}{}", way.port, self.of_host))?;
                let (canonical_host, shown) = (host_of(&endpoint), domain.to_string());
                Ok(Line { egress: way.egress, purpose: Purpose::RemoteAgent, endpoint, canonical_host, shown })
            }
        }
    }
}

fn host_of(url: &Url) -> String {
    url[Position::BeforeHost..Position::AfterPort].to_owned()
}

fn read(url: &str) -> Result<Url, Failure> {
    Url::parse(url).map_err(|error| Failure::yours(error.to_string()))
}
