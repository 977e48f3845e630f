//! This module finds the way to the server that somebody named: which port, whose authority, over TLS or not.

use std::path::{Path, PathBuf};
use std::time::Duration;

use forecourt_client::network::{Trust, trusting};
use forecourt_client::output::Failure;
use forecourt_client::serving::Serving;
use forecourt_core::Domain;
use forecourt_egress::{ClientCertificate, Egress, EgressConfig};
use url::Url;

use crate::agtp;
use crate::tls::TlsTarget;

/// The port of AGTP. Base 1.
const AGTP_PORT: u16 = 4480;
/// The port of https.
const HTTPS_PORT: u16 = 443;
/// What AGTP is called in the record of a deployment's sockets, and in the handshake of TLS.
const AGTP: &str = "agtp";

/// How a server may be reached.
#[derive(Debug, Default)]
pub struct Reach {
    /// The data folder whose local authority is trusted. Found by itself for names under `.localhost`.
    pub data: Option<PathBuf>,
    /// A PEM file of more authorities.
    pub cacert: Option<PathBuf>,
    /// Whether every certificate is taken.
    pub insecure: bool,
    /// Whether AGTP is spoken without TLS, to this machine alone.
    pub plaintext: bool,
    /// The PEM files of a client certificate and of its key, which may be one.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// How long one exchange may take.
    pub patience: Duration,
}

/// A server that was named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A server of AGTP, and its port if one was written.
    Agtp(String, Option<u16>),
    /// A host over HTTP: scheme, host and port, without a path.
    Web(Url),
}

impl Target {
    /// Reads what somebody typed.
    ///
    /// # Errors
    /// It names no server that can be asked.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let hint = "they look like agtp://demo.localhost, https://demo.localhost or http://127.0.0.1:8080";
        let wrong = |why: &str| Failure::usage(format!("`{text}`: {why}")).hint(hint);
        let url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(|| wrong("it names no host"))?;
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() || url.fragment().is_some() {
            return Err(wrong("only scheme, host and port are written"));
        }
        if !matches!(url.path(), "" | "/") {
            return Err(wrong("a whole server is tested: leave the path out"));
        }
        match url.scheme() {
            AGTP => Ok(Self::Agtp(host.to_owned(), url.port())),
            "https" => Ok(Self::Web(url)),
            "http" if is_here(host) => Ok(Self::Web(url)),
            "http" => Err(wrong("plain http is for this machine alone")),
            _ => Err(wrong("neither agtp://, https:// nor http://")),
        }
    }
}

/// Whether a host is this machine.
fn is_here(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    is_loopback || host == "localhost" || host.ends_with(".localhost")
}

/// The deployment of a name under `.localhost` that is served here.
fn served(host: &str, data: Option<&Path>) -> Option<Serving> {
    let domain = Domain::parse(host).ok().filter(Domain::is_local)?;
    Serving::find(&domain, data)
}

impl Reach {
    /// The line to a server of AGTP.
    ///
    /// # Errors
    /// A file can't be read or is not what it should be.
    pub fn line(&self, host: &str, port: Option<u16>) -> Result<agtp::Line, Failure> {
        let serving = served(host, self.data.as_deref());
        // The port that a deployment records is the one with TLS.
        let recorded = serving.as_ref().filter(|_| !self.plaintext).and_then(|serving| serving.sockets.get(AGTP));
        let port = port.or(recorded.copied()).unwrap_or(AGTP_PORT);
        // The caller's token would go over the network for everybody to read.
        if self.plaintext && !is_here(host) {
            return Err(Failure::yours("without TLS only this machine is spoken to").hint("leave --plaintext out"));
        }
        let egress = self.egress(serving)?;
        let certificate = self.certificate()?;
        let wrong = |error: forecourt_egress::SetupError| Failure::yours(error.to_string());
        let tls = match self.plaintext {
            true => None,
            false => Some(egress.tls(AGTP.as_bytes(), AGTP_PORT, certificate.as_ref()).map_err(wrong)?),
        };
        Ok(agtp::Line { egress, tls, host: host.to_owned(), port, patience: self.patience })
    }

    /// The way to a host over HTTP, and where it is: a deployment that is served here is found by its name.
    ///
    /// # Errors
    /// A file can't be read or is not what it should be.
    pub fn web(&self, url: &Url) -> Result<(Egress, Url), Failure> {
        let host = url.host_str().unwrap_or_default();
        let serving = served(host, self.data.as_deref());
        let mut base = url.clone();
        let port = serving.as_ref().map(|serving| serving.https_port);
        if let Some(port) = port.filter(|_| url.scheme() == "https" && url.port().is_none()) {
            // A URL with a host always takes one.
            let _ = base.set_port(Some(port));
        }
        Ok((self.egress(serving)?, base))
    }

    /// Where a server of AGTP encrypts.
    pub(crate) fn agtp_endpoint(&self, line: &agtp::Line) -> TlsTarget {
        TlsTarget {
            egress: line.egress.clone(),
            host: line.host.clone(),
            port: line.port,
            usual_port: AGTP_PORT,
            protocol: AGTP,
            is_encrypted: line.tls.is_some(),
            is_insecure: self.insecure,
            patience: self.patience,
        }
    }

    /// Where a host over HTTP encrypts.
    pub(crate) fn web_endpoint(&self, egress: &Egress, base: &Url) -> TlsTarget {
        TlsTarget {
            egress: egress.clone(),
            host: base.host_str().unwrap_or_default().to_owned(),
            port: base.port_or_known_default().unwrap_or(HTTPS_PORT),
            usual_port: HTTPS_PORT,
            protocol: "http/1.1",
            is_encrypted: base.scheme() == "https",
            is_insecure: self.insecure,
            patience: self.patience,
        }
    }

    fn egress(&self, serving: Option<Serving>) -> Result<Egress, Failure> {
        let folder = self.data.clone().or(serving.map(|serving| serving.data));
        let trust = Trust { data: self.data.as_deref(), cacert: self.cacert.as_deref(), insecure: self.insecure };
        trusting(EgressConfig::default(), folder, trust)
    }

    fn certificate(&self) -> Result<Option<ClientCertificate>, Failure> {
        let Some((chain, key)) = &self.certificate else { return Ok(None) };
        let read =
            |file: &Path| std::fs::read(file).map_err(|error| Failure::yours(format!("{}: {error}", file.display())));
        let certificate = ClientCertificate::from_pem(&read(chain)?, &read(key)?);
        certificate.map(Some).map_err(|error| Failure::yours(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_named_by_scheme_host_and_port() {
        let agtp = |host: &str, port| Target::Agtp(host.to_owned(), port);
        assert_eq!(Target::parse("agtp://demo.localhost").unwrap(), agtp("demo.localhost", None));
        assert_eq!(Target::parse("agtp://[::1]:4480/").unwrap(), agtp("[::1]", Some(4480)));
        assert!(matches!(Target::parse("https://example.com").unwrap(), Target::Web(_)));
        assert!(matches!(Target::parse("http://127.0.0.1:8080").unwrap(), Target::Web(_)));
        assert!(matches!(Target::parse("http://demo.localhost:8080/").unwrap(), Target::Web(_)));
    }

    #[test]
    fn what_names_no_server_is_said() {
        for text in [
            "",
            "demo.localhost",
            "agtp://",
            "agtp://host/agents/chef",
            "https://user@host",
            "https://host/path",
            "https://host/?a=b",
            "https://host/#a",
            "http://example.com",
            "http://10.0.0.1",
            "ftp://host",
        ] {
            assert!(Target::parse(text).is_err(), "{text}");
        }
    }
}
