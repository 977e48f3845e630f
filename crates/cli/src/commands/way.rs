//! The way from the command line to a domain: which port, which authority, which addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forecourt_core::{Domain, SystemClock};
use forecourt_egress::{Egress, EgressBuilder, EgressConfig};
use forecourt_server::local_ca::ca_certificate;
use ipnet::IpNet;

use super::printable::line;
use crate::output::Failure;
use crate::registry::discovery::{Acct, Obstacle, ResolveError, ResolvedAgent, Resolver};
use crate::state::Serving;

/// The port of https.
const HTTPS_PORT: u16 = 443;
/// How many neighbours a hint names.
const NEIGHBOURS_MAX: usize = 12;

/// The way to one domain.
pub(super) struct Way {
    pub(super) egress: Arc<Egress>,
    pub(super) resolver: Resolver,
    pub(super) port: u16,
    domain: Domain,
}

impl Way {
    /// The way to `domain`. Names under `.localhost` mean this machine, at the port of the
    /// deployment that is served here, and its local authority is trusted (design 8); all others are
    /// reached as any host reaches them.
    pub(super) fn to(domain: &Domain, port: Option<u16>, data: Option<&Path>) -> Result<Self, Failure> {
        let serving = domain.is_local().then(|| Serving::find(domain, data)).flatten();
        let port = match (port, &serving) {
            (Some(port), _) => port,
            (None, Some(serving)) => serving.https_port,
            (None, None) if domain.is_local() => return Err(not_served(domain)),
            (None, None) => HTTPS_PORT,
        };
        let folder = data.map(Path::to_path_buf).or(serving.map(|serving| serving.data));
        let egress = Arc::new(egress(domain, port, folder)?);
        let resolver = Resolver::new(egress.clone(), Arc::new(SystemClock));
        Ok(Self { egress, resolver, port, domain: domain.clone() })
    }

    /// The agent of an address on this domain.
    pub(super) async fn resolve(&self, acct: &Acct) -> Result<Arc<ResolvedAgent>, Failure> {
        match self.resolver.resolve_at(acct, self.port).await {
            Ok(agent) => Ok(agent),
            Err(error) => Err(self.explain(error).await),
        }
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
fn egress(domain: &Domain, port: u16, folder: Option<PathBuf>) -> Result<Egress, Failure> {
    let loopback = || [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)].map(IpNet::from).to_vec();
    let allow = if domain.is_local() { loopback() } else { Vec::new() };
    build(EgressConfig { allow, ports: vec![port], ..EgressConfig::default() }, folder)
}

/// A way out under `config` that trusts the authority in `folder`, if there is one.
pub(super) fn build(config: EgressConfig, folder: Option<PathBuf>) -> Result<Egress, Failure> {
    begin(config, folder).build().map_err(|error| Failure::yours(error.to_string()))
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
            false => failure.hint("SSL_CERT_FILE names a file of more authorities"),
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
