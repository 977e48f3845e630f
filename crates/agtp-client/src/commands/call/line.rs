//! This module connects the commands to a server: it finds the port, the authority that is trusted, and whether TLS is
//! spoken.

use std::path::{Path, PathBuf};

use forecourt_agtp_wire::NAME;
use forecourt_agtp_wire::message::{Request, Response};
use forecourt_agtp_wire::uri::AgtpUri;
use forecourt_client::network;
use forecourt_client::output::Failure;
use forecourt_client::printable::line;
use forecourt_client::serving::Serving;
use forecourt_core::Domain;
use forecourt_egress::{ClientCertificate, EgressError, Purpose};

use crate::client::{Client, ClientError, Server};
use crate::commands::args::{CallArguments, ManifestCheck, Trust};

/// The options of a connection as the flags give them: TLS or not, the certificate to show, whom to trust.
pub(in crate::commands) struct Wish<'a> {
    is_plain: bool,
    certificate: Option<&'a Path>,
    data: Option<PathBuf>,
    trusts_everyone: bool,
}

/// A client with the server that it calls.
pub(in crate::commands) struct Line {
    client: Client,
    server: Server,
    is_local: bool,
}

impl<'a> Wish<'a> {
    /// The wish of whoever calls.
    pub(in crate::commands) fn of(arguments: &'a CallArguments) -> Self {
        Self::new(arguments.plaintext, &arguments.trust).showing(arguments.certificate.as_deref())
    }

    /// The wish of whoever checks a manifest.
    pub(in crate::commands) fn of_check(check: &'a ManifestCheck) -> Self {
        Self::new(check.plaintext, &check.trust)
    }

    fn new(is_plain: bool, trust: &Trust) -> Self {
        Self { is_plain, certificate: None, data: trust.data.clone(), trusts_everyone: trust.insecure }
    }

    fn showing(self, certificate: Option<&'a Path>) -> Self {
        Self { certificate, ..self }
    }

    /// The same with a data folder, if none was named.
    pub(in crate::commands) fn at(self, folder: PathBuf) -> Self {
        Self { data: self.data.or(Some(folder)), ..self }
    }
}

impl Line {
    /// The line to the server of `uri`. Names under `.localhost` mean this machine, at the port of the
    /// deployment that is served here, and its local authority is trusted (design 8).
    pub(in crate::commands) fn to(uri: &AgtpUri, wish: &Wish<'_>) -> Result<Self, Failure> {
        let domain = Domain::parse(uri.host()).ok().filter(Domain::is_local);
        let serving = domain.and_then(|domain| Serving::find(&domain, wish.data.as_deref()));
        // The port that is recorded speaks TLS: with --plaintext another one is meant.
        let recorded =
            serving.as_ref().and_then(|serving| serving.sockets.get(NAME).copied()).filter(|_| !wish.is_plain);
        let port = uri.port().or(recorded).unwrap_or_else(|| uri.port_or_default());
        let folder = wish.data.clone().or(serving.map(|serving| serving.data));
        let server = Server { host: uri.host().to_owned(), port };
        Ok(Self { client: client(wish, folder)?, server, is_local: is_here(uri.host()) })
    }

    /// Where it leads.
    pub(in crate::commands) fn server(&self) -> &Server {
        &self.server
    }

    /// Sends a request and waits for its answer.
    pub(in crate::commands) async fn send(&self, request: &Request) -> Result<Response, Failure> {
        self.client.send(&self.server, request).await.map_err(|error| self.explain(&error))
    }

    fn explain(&self, error: &ClientError) -> Failure {
        let at = format!("{}:{}", self.server.host, self.server.port);
        match error {
            ClientError::Unreachable(EgressError::Unconnected(reason)) if reason.contains("certificate") => {
                network::unconnected(&at, reason, self.is_local)
            }
            ClientError::Unreachable(EgressError::Unconnected(reason)) => {
                let cause = line(reason, 100);
                Failure::unreachable(format!("nobody speaks AGTP at {at} ({cause})")).hint(match self.is_local {
                    true => "is it running, and on that port? `forecourt serve DIR` starts it; --plaintext speaks without TLS",
                    false => "is the name spelled right? AGTP has port 4480 unless another is written",
                })
            }
            ClientError::Unreachable(error) => {
                Failure::unreachable(format!("{at} can't be reached: {}", error.log_reason()))
            }
            ClientError::PlainElsewhere => {
                Failure::yours(error.to_string()).hint("leave --plaintext out: servers elsewhere speak TLS")
            }
            ClientError::Malformed(_) => Failure::unreachable(format!("{at}: {error}"))
                .hint("is it a server of AGTP, and with TLS or without as asked?"),
            ClientError::Closed => Failure::unreachable(format!("{at}: {error}"))
                .hint("is it a server of AGTP? Some want to be shown a --certificate"),
            ClientError::TooMany | ClientError::CutOff | ClientError::Late => {
                Failure::unreachable(format!("{at}: {error}"))
            }
        }
    }
}

fn client(wish: &Wish<'_>, folder: Option<PathBuf>) -> Result<Client, Failure> {
    let wrong = |error: forecourt_egress::SetupError| Failure::yours(error.to_string());
    let builder = Client::builder(network::typed(folder, wish.trusts_everyone)?, Purpose::Upstream);
    let builder = if wish.is_plain { builder.plaintext() } else { builder };
    let builder = match wish.certificate {
        None => builder,
        Some(file) => {
            let pem = std::fs::read(file).map_err(|error| Failure::yours(format!("{}: {error}", file.display())))?;
            builder.certificate(ClientCertificate::from_pem(&pem, &pem).map_err(wrong)?)
        }
    };
    builder.build().map_err(wrong)
}

fn is_here(host: &str) -> bool {
    let is_loopback = host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    is_loopback || host == "localhost" || host.ends_with(".localhost")
}
