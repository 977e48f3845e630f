//! This module opens the way out to an address that somebody typed, and explains why nobody answered there.

use std::path::{Path, PathBuf};

use forecourt_egress::{Egress, EgressBuilder, EgressConfig};
use forecourt_server::local_ca::ca_certificate;
use url::{Host, Url};

use crate::output::Failure;
use crate::printable::line;

/// Whom a caller trusts beside the system's authorities.
#[derive(Debug, Clone, Copy)]
pub struct Trust<'a> {
    /// The data folder whose local authority is trusted.
    pub data: Option<&'a Path>,
    /// A file of more authorities, in PEM.
    pub cacert: Option<&'a Path>,
    /// Everybody, whatever certificate they show.
    pub insecure: bool,
}

/// A way out under `config` that trusts the authority in `folder`, if there is one.
pub fn build(config: EgressConfig, folder: Option<PathBuf>) -> Result<Egress, Failure> {
    begin(config, folder).build().map_err(|error| Failure::yours(error.to_string()))
}

/// The same, which trusts whom else the caller named.
pub fn trusting(config: EgressConfig, folder: Option<PathBuf>, trust: Trust<'_>) -> Result<Egress, Failure> {
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
pub fn typed(folder: Option<PathBuf>, trusts_everyone: bool) -> Result<Egress, Failure> {
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
pub fn unconnected(at: &str, reason: &str, is_local: bool) -> Failure {
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

/// Whether a URL leads to this machine.
pub fn is_here(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
