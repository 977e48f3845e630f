//! Whom an address on the command line means: agents are found by the cards of their domain.

use std::sync::Arc;

use forecourt::registry::discovery::ResolvedAgent;
use forecourt::serving::Serving;
use forecourt_client::ask::{AddressBook, AddressedAgent, Addressee, AskArguments};
use forecourt_core::Domain;
use forecourt_egress::{Egress, EgressConfig};
use futures::future::BoxFuture;
use url::Url;

use crate::commands::named::NamedTarget;
use crate::commands::way::{self, Way};
use crate::output::Failure;

/// The cards of domains.
pub(super) struct CardDirectory {
    /// Whether a domain as a whole can be asked.
    pub(super) takes_domains: bool,
}

impl AddressBook for CardDirectory {
    fn resolve<'a>(&'a self, arguments: &'a AskArguments) -> BoxFuture<'a, Result<Addressee, Failure>> {
        Box::pin(async move {
            match NamedTarget::parse(&arguments.agent)? {
                NamedTarget::Url(url) => Ok(Addressee::Url { egress: Arc::new(way_out(&url, arguments)?), url }),
                NamedTarget::Agent(acct, port) => {
                    let mut way = Way::to(acct.domain(), port, arguments.trust())?;
                    let agent = addressed(&*way.resolve(&acct).await?);
                    Ok(Addressee::Agent { agent, egress: way.egress })
                }
                NamedTarget::Domain(domain, _) if !self.takes_domains => {
                    Err(Failure::usage(format!("{domain} is a domain and not an agent"))
                        .hint(format!("`forecourt discover {}` lists its agents", arguments.agent)))
                }
                NamedTarget::Domain(domain, port) => {
                    let way = Way::to(&domain, port, arguments.trust())?;
                    Ok(Addressee::Domain { domain, port: way.port, egress: way.egress })
                }
            }
        })
    }
}

/// The way out to a URL that somebody typed, which trusts the local authority for names on this
/// machine.
fn way_out(url: &Url, ask: &AskArguments) -> Result<Egress, Failure> {
    let served = url.host_str().and_then(|host| Domain::parse(host).ok()).filter(Domain::is_local);
    let serving = served.and_then(|domain| Serving::find(&domain, ask.data.as_deref()));
    let folder = ask.data.clone().or(serving.map(|serving| serving.data));
    way::trusting(EgressConfig::default(), folder, ask.trust())
}

fn addressed(agent: &ResolvedAgent) -> AddressedAgent {
    let named = |(via, endpoint): (&'static str, &str)| (via, endpoint.to_owned());
    AddressedAgent {
        address: agent.acct.to_string(),
        local: agent.acct.local().to_owned(),
        canonical_host: agent.canonical_host.clone(),
        protocols: agent.protocols().map(str::to_owned).collect(),
        endpoints: agent.endpoints().map(named).collect(),
    }
}
