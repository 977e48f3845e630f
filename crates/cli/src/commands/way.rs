//! The way from the command line to a domain: which port, which authority, which addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forecourt_core::{Domain, SystemClock};
use forecourt_egress::{Egress, EgressBuilder, EgressConfig};
use forecourt_server::local_ca::ca_certificate;
use ipnet::IpNet;

use super::printable::line;
use crate::args::{Ask, Discover};
use crate::output::Failure;
use forecourt::registry::discovery::{Acct, Obstacle, ResolveError, ResolvedAgent, Resolver};
use forecourt::serving::Serving;

/// The port of https.
const HTTPS_PORT: u16 = 443;
/// How many neighbours a hint names.
const NEIGHBOURS_MAX: usize = 12;

/// Whom a caller trusts beside the system's authorities.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trust<'a> {
    /// The data folder whose local authority is trusted.
    pub(super) data: Option<&'a Path>,
    /// A file of more authorities, in PEM.
    pub(super) cacert: Option<&'a Path>,
    /// Everybody, whatever certificate they show.
    pub(super) insecure: bool,
}

impl Ask {
    /// Whom it trusts.
    pub(super) fn trust(&self) -> Trust<'_> {
        Trust { data: self.data.as_deref(), cacert: self.cacert.as_deref(), insecure: self.insecure }
    }
}

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
        let serving = if domain.is_local() { Serving::all(domain, trust.data) } else { Vec::new() };
        let ports: Vec<(u16, Option<PathBuf>)> = match port {
            Some(port) => {
                let own = serving.iter().find(|serving| serving.https_port == port).or(serving.first());
                vec![(port, own.map(|serving| serving.data.clone()))]
            }
            None if domain.is_local() => {
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

/// A way out under `config` that trusts the authority in `folder`, if there is one.
pub(super) fn build(config: EgressConfig, folder: Option<PathBuf>) -> Result<Egress, Failure> {
    begin(config, folder).build().map_err(|error| Failure::yours(error.to_string()))
}

/// The same, which trusts whom else the caller named.
pub(super) fn trusting(config: EgressConfig, folder: Option<PathBuf>, trust: Trust<'_>) -> Result<Egress, Failure> {
    let mut builder = begin(config, folder);
    if let Some(file) = trust.cacert {
        let pem = std::fs::read(file)
            .map_err(|error| Failure::yours(format!("--cacert {} cannot be read: {error}", file.display())))?;
        builder = builder.trust_pem(pem);
    }
    if trust.insecure {
        builder = builder.trust_everyone();
    }
    builder.build().map_err(|error| Failure::yours(error.to_string()))
}

/// A way out to wherever somebody typed, which trusts everyone if they asked for that.
pub(super) fn typed(folder: Option<PathBuf>, trusts_everyone: bool) -> Result<Egress, Failure> {
    let builder = begin(EgressConfig::default(), folder);
    let builder = if trusts_everyone { builder.trust_everyone() } else { builder };
    builder.build().map_err(|error| Failure::yours(error.to_string()))
}

fn begin(config: EgressConfig, folder: Option<PathBuf>) -> EgressBuilder {
    let authority = folder.and_then(|folder| std::fs::read(ca_certificate(&folder)).ok());
    let builder = Egress::builder(config);
    match authority {
        Some(pem) => builder.trust_pem(pem),
        None => builder,
    }
}

/// No connection to `at`, a host with its port: because nobody listens, or because of who does.
pub(super) fn unconnected(at: &str, reason: &str, is_local: bool) -> Failure {
    let cause = line(reason.rsplit(": ").next().unwrap_or(reason), 100);
    if reason.contains("certificate") {
        let failure = Failure::unreachable(format!("the certificate of {at} is not trusted here ({cause})"));
        return match is_local {
            true => failure.hint("--data DIR names the data folder whose local authority is to be trusted"),
            false => failure.hint("SSL_CERT_FILE, or --cacert FILE of ask and discover, names more authorities"),
        };
    }
    let failure = Failure::unreachable(format!("nobody answers at {at} ({cause})"));
    match is_local {
        true => failure.hint("is it running? `forecourt serve DIR` starts it"),
        false => failure.hint("is the name spelled right, and does it speak https?"),
    }
}

fn not_served(domain: &Domain) -> Failure {
    Failure::unreachable(format!("no deployment of {domain} is served on this machine"))
        .hint(format!("`forecourt serve DIR` starts one; if it is served, name its port ({domain}:8443) and --data"))
}
