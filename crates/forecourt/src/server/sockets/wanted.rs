//! The sockets that a deployment wants, and how one is opened.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use forecourt_server::{Certificates, ClientCertificates, Listener, ServeError, StreamListener};
use forecourt_surface::{Carries, Listen as OwnListen};
use tokio_util::sync::CancellationToken;

use crate::certificates::CertificateSource;
use crate::deployment::Deployment;
use crate::error::Error;
use crate::settings::Listen;

/// What plain HTTP is called on the command line.
pub(super) const HTTP: &str = "http";
/// What HTTPS is called.
pub(super) const HTTPS: &str = "https";
/// What the operator's listener is called.
pub(super) const ADMIN: &str = "admin";
/// What the socket is called on which the daemon is watched from elsewhere.
const METRICS: &str = "metrics";

/// A socket that a deployment wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WantedSocket {
    /// Names it, and the flag that moves it.
    pub(super) name: &'static str,
    /// Where, as it was asked for.
    pub(super) address: SocketAddr,
    /// Whether nobody chose the address, so that a free port will do where it is taken.
    pub(super) may_move: bool,
    /// What it is for.
    pub(super) kind: SocketKind,
}

/// What a socket is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SocketKind {
    /// HTTP that all protocols share, on loopback.
    Http,
    /// Plain HTTP off loopback: it says where HTTPS is, and answers certificate authorities.
    Redirect,
    /// The same within TLS.
    Https,
    /// The operator's.
    Operator,
    /// Plain HTTP anywhere, for what watches the daemon.
    Monitoring,
    /// HTTP of one protocol.
    OwnHttp,
    /// A protocol as it is.
    Stream,
    /// A protocol within TLS.
    TlsStream {
        /// The protocol's name in the handshake.
        alpn: &'static [u8],
        /// Whether clients show certificates.
        clients: ClientCertificates,
    },
}

impl SocketKind {
    /// Whether it is for whoever runs the daemon and not for its callers: such sockets close last.
    pub(super) fn is_operators(&self) -> bool {
        matches!(self, Self::Operator | Self::Monitoring)
    }
}

/// Every socket that a deployment wants.
pub(super) fn wanted(deployment: &Deployment) -> Vec<WantedSocket> {
    let Listen { http, https, admin } = deployment.listen;
    if deployment.development.is_some() {
        // A port that another program has is no reason not to work on it.
        let plain = [(HTTP, http, SocketKind::Http), (ADMIN, admin, SocketKind::Operator)];
        return plain.map(|(name, address, kind)| WantedSocket { name, address, may_move: true, kind }).into();
    }
    let is_here = http.ip().to_canonical().is_loopback() || deployment.certificate_source() == CertificateSource::Local;
    let shared = [
        (HTTP, http, if is_here { SocketKind::Http } else { SocketKind::Redirect }),
        (HTTPS, https, SocketKind::Https),
        (ADMIN, admin, SocketKind::Operator),
    ];
    let shared = shared.into_iter().map(|(name, address, kind)| WantedSocket { name, address, may_move: false, kind });
    let monitoring = deployment.monitoring.as_ref().map(|settings| WantedSocket {
        name: METRICS,
        address: settings.address,
        may_move: false,
        kind: SocketKind::Monitoring,
    });
    shared.chain(monitoring).chain(deployment.wires.listens().into_iter().filter_map(own)).collect()
}

/// A socket that a protocol has for itself, if it wants one.
fn own(listen: OwnListen) -> Option<WantedSocket> {
    let OwnListen { name, address, may_move, carries } = listen;
    let kind = match carries {
        Carries::Tls { alpn, clients } => SocketKind::TlsStream { alpn, clients },
        Carries::Plain => SocketKind::Stream,
        Carries::Http => SocketKind::OwnHttp,
    };
    Some(WantedSocket { name, address: address?, may_move, kind })
}

/// A socket that is bound.
pub(super) enum BoundSocket {
    /// For HTTP.
    Http(Listener),
    /// For anything else.
    Stream(StreamListener),
}

impl BoundSocket {
    /// Where it is, with the port that the system chose if it was asked to.
    pub(super) fn address(&self) -> SocketAddr {
        match self {
            Self::Http(listener) => listener.address(),
            Self::Stream(listener) => listener.address(),
        }
    }

    /// Is cancelled once nobody holds it any more.
    pub(super) fn closed(&self) -> CancellationToken {
        match self {
            Self::Http(listener) => listener.closed(),
            Self::Stream(listener) => listener.closed(),
        }
    }
}

impl WantedSocket {
    /// Whether it belongs to one protocol.
    pub(super) fn is_own(&self) -> bool {
        matches!(self.kind, SocketKind::OwnHttp | SocketKind::Stream | SocketKind::TlsStream { .. })
    }

    /// Binds it.
    ///
    /// # Errors
    /// The address can't be had, with the flag or the key that moves it.
    pub(super) async fn open(&self, certificates: &Arc<Certificates>) -> Result<BoundSocket, Error> {
        match self.bind(self.address, certificates).await {
            Err(ServeError::Bind { .. }) if self.may_move => {
                let free = SocketAddr::new(self.address.ip(), 0);
                let opened = self.bind(free, certificates).await.map_err(|error| self.taken(&error))?;
                tracing::warn!("{} is taken: {} is on {} instead", self.address, self.name, opened.address());
                Ok(opened)
            }
            opened => opened.map_err(|error| self.taken(&error)),
        }
    }

    async fn bind(&self, address: SocketAddr, certificates: &Arc<Certificates>) -> Result<BoundSocket, ServeError> {
        Ok(match &self.kind {
            SocketKind::Http | SocketKind::Operator | SocketKind::OwnHttp => {
                BoundSocket::Http(Listener::plain(address).await?)
            }
            SocketKind::Monitoring => BoundSocket::Http(Listener::monitoring(address).await?),
            SocketKind::Redirect => BoundSocket::Http(Listener::redirecting(address, self.address.port()).await?),
            SocketKind::Https => {
                let config = certificates.http_config().map_err(ServeError::Tls)?;
                BoundSocket::Http(Listener::tls(address, config).await?)
            }
            SocketKind::Stream => BoundSocket::Stream(StreamListener::plain(address).await?),
            SocketKind::TlsStream { alpn, clients } => {
                let config = certificates.stream_config(alpn, clients).map_err(ServeError::Tls)?;
                BoundSocket::Stream(StreamListener::tls(address, Arc::new(config)).await?)
            }
        })
    }

    fn taken(&self, error: &ServeError) -> Error {
        let flag = self.name;
        let hint = match error {
            _ if self.kind == SocketKind::Monitoring => "`listen` in [metrics] says another address".to_owned(),
            ServeError::PlainOffLoopback(_) => format!("--{flag} 127.0.0.1:PORT listens on loopback"),
            _ if self.is_own() => format!("--{flag} {}:0 takes a free port", Ipv4Addr::LOCALHOST),
            _ => format!("--{flag} ADDR listens elsewhere; port 0 takes a free one"),
        };
        Error::new(error.to_string()).hint(hint)
    }
}
