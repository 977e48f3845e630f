//! The way from the command line to a domain: which port, which authority, which addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) use forecourt_client::network::{Trust, build, trusting, unconnected};
use forecourt_core::{Domain, SystemClock};
use forecourt_egress::{Egress, EgressConfig};
use ipnet::IpNet;

use crate::args::Discover;
use crate::output::Failure;
use forecourt::registry::discovery::{Acct, Obstacle, ResolveError, ResolvedAgent, Resolver};
use forecourt::serving::Serving;

/// The port of https.
const HTTPS_PORT: u16 = 443;
/// How many neighbours a hint names.
const NEIGHBOURS_MAX: usize = 12;

impl Discover {
    /// Whom it trusts.
    pub(super) fn trust(&self) -> Trust<'_> {
        Trust { data: self.data.as_deref(), cacert: self.cacert.as_deref(), insecure: self.insecure }
    }
}

/// The way to one domain.
pub(super) struct Way {
    pub(super) egress: Arc<Egress>,
    pub(super) resolver: Resolver,
    pub(super) port: u16,
    domain: Domain,
    /// The ways to the other deployments of it that are served here.
    others: Vec<Way>,
}

impl Way {
    /// The way to `domain`. Names under `.localhost` mean this machine, at the port of the
    /// deployment that is served here, and its local authority is trusted (design 8); all others are
    /// reached as any host reaches them. Where several are served here, an agent is looked for in all.
    pub(super) fn to(domain: &Domain, port: Option<u16>, trust: Trust<'_>) -> Result<Self, Failure> {
        // Only for `.localhost`: what is served on this machine must not be taken for a domain of the outside.
        let serving = if domain.is_local() { Serving::all(domain, trust.data) } else { Vec::new() };
        let ports: Vec<(u16, Option<PathBuf>)> = match port {
            Some(port) => {
                let own = serving.iter().find(|serving| serving.https_port == port).or(serving.first());
                vec![(port, own.map(|serving| serving.data.clone()))]
            }
            None if domain.is_local() => {
                let (plain, serving): (Vec<_>, Vec<_>) = serving.into_iter().partition(Serving::is_plain);
                if let (Some(plain), true) = (plain.first(), serving.is_empty()) {
                    return Err(worked_on(domain, plain.https_port));
                }
                serving.into_iter().map(|serving| (serving.https_port, Some(serving.data))).collect()
            }
            None => vec![(HTTPS_PORT, None)],
        };
        let mut ways = Vec::with_capacity(ports.len());
        for (port, folder) in ports {
            let folder = trust.data.map(Path::to_path_buf).or(folder);
            let egress = Arc::new(egress(domain, port, folder, trust)?);
            let resolver = Resolver::new(egress.clone(), Arc::new(SystemClock));
            ways.push(Self { egress, resolver, port, domain: domain.clone(), others: Vec::new() });
        }
        let mut ways = ways.into_iter();
        let first = ways.next().ok_or_else(|| not_served(domain))?;
        Ok(Self { others: ways.collect(), ..first })
    }

    /// The agent of an address on this domain. From here on this is the way to the deployment that has it.
    pub(super) async fn resolve(&mut self, acct: &Acct) -> Result<Arc<ResolvedAgent>, Failure> {
        let error = match self.resolver.resolve_at(acct, self.port).await {
            Ok(agent) => return Ok(agent),
            Err(error) => error,
        };
        for other in std::mem::take(&mut self.others) {
            if let Ok(agent) = other.resolver.resolve_at(acct, other.port).await {
                *self = other;
                return Ok(agent);
            }
        }
        Err(self.explain(error).await)
    }

    /// What went wrong, with what may help.
    pub(super) async fn explain(&self, error: ResolveError) -> Failure {
        let at = format!("{}:{}", self.domain, self.port);
        match &error {
            ResolveError::Unknown(acct) => {
                let failure = Failure::yours(format!("{} has no agent {acct}", self.domain));
                match self.neighbours().await {
                    Some(hint) => failure.hint(hint),
                    None => failure,
                }
            }
            ResolveError::Unavailable { obstacle: Obstacle::Unconnected(reason), .. } => {
                unconnected(&at, reason, self.domain.is_local())
            }
            ResolveError::Unavailable { obstacle: Obstacle::Unresolved, .. } => {
                Failure::unreachable(format!("{} does not resolve to any address", self.domain))
                    .hint("is it spelled right, and is this machine online?")
            }
            ResolveError::Unavailable { obstacle: Obstacle::Status(500..), .. } => {
                Failure::unreachable(error.to_string())
            }
            _ => Failure::yours(error.to_string()),
        }
    }

    /// Who else is there, if the domain says so.
    async fn neighbours(&self) -> Option<String> {
        let listing = self.resolver.directory(&self.domain, self.port).await.ok()?;
        let all: Vec<String> = listing.agents.iter().map(|agent| agent.acct.to_string()).collect();
        let shown = all.get(..NEIGHBOURS_MAX).unwrap_or(&all).join(", ");
        match all.len() {
            0 => None,
            n if n > NEIGHBOURS_MAX => Some(format!("there are {shown} and {} more", n - NEIGHBOURS_MAX)),
            _ => Some(format!("there are {shown}")),
        }
    }
}

/// A way out that trusts the authority in `folder`, if there is one.
fn egress(domain: &Domain, port: u16, folder: Option<PathBuf>, trust: Trust<'_>) -> Result<Egress, Failure> {
    let loopback = || [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)].map(IpNet::from).to_vec();
    let allow = if domain.is_local() { loopback() } else { Vec::new() };
    trusting(EgressConfig { allow, ports: vec![port], ..EgressConfig::default() }, folder, trust)
}

fn worked_on(domain: &Domain, port: u16) -> Failure {
    Failure::unreachable(format!(
        "{domain} is worked on with `forecourt dev`, over plain HTTP: addresses are found over HTTPS"
    ))
    .hint(format!("ask an agent by its URL, such as http://{domain}:{port}/~AGENT"))
}

fn not_served(domain: &Domain) -> Failure {
    Failure::unreachable(format!("no deployment of {domain} is served on this machine"))
        .hint(format!("`forecourt serve DIR` starts one; if it is served, name its port ({domain}:8443) and --data"))
}
