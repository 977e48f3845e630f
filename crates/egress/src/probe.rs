//! Handshakes that are made to see how a server encrypts, and certificates that are judged apart from a connection. For
//! a tool whose user asked for that; nothing is sent on such a connection.

use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures::future::BoxFuture;
use rustls::ProtocolVersion;
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::server::ParsedCertificate;
use rustls::version::{TLS12, TLS13};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use tokio::time::{Instant, timeout_at};

use crate::egress::Egress;
use crate::error::{EgressError, Refusal};
use crate::purpose::Purpose;
use crate::stream;
use crate::target::CheckedUrl;
use crate::trust;

/// A version of TLS that is offered alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsVersion {
    /// TLS 1.2, with authenticated encryption and forward secrecy only.
    V1_2,
    /// TLS 1.3.
    V1_3,
}

/// What a server showed in a handshake.
#[derive(Debug, Clone)]
pub struct TlsHandshake {
    /// The cipher suite that it chose, by its name.
    pub cipher_suite: String,
    /// Its certificates in DER, its own first.
    pub certificates: Vec<Vec<u8>>,
}

/// What is wrong with certificates, in a sentence each. `None`: nothing is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CertificateFaults {
    /// The first is not of the host.
    pub name: Option<String>,
    /// They do not lead to an authority that is trusted.
    pub chain: Option<String>,
}

/// Why a handshake came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum HandshakeError {
    /// The server refused it with a fatal alert of this code. RFC 8446 6.2.
    #[error("the server refused with the alert {0}")]
    Alert(u8),
    /// The server took the ClientHello and closed the connection.
    #[error("the server closed the connection")]
    Closed,
    /// It tells nothing of what the server speaks: there was no connection, no answer in time, or one that is no TLS.
    #[error(transparent)]
    Untold(#[from] EgressError),
}

impl From<Refusal> for HandshakeError {
    fn from(refusal: Refusal) -> Self {
        Self::Untold(refusal.into())
    }
}

impl From<io::Error> for HandshakeError {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
        match error.get_ref().and_then(|inner| inner.downcast_ref()) {
            Some(rustls::Error::AlertReceived(alert)) => Self::Alert((*alert).into()),
            Some(_) => Self::Untold(EgressError::Failed(error.to_string())),
            None => match error.kind() {
                BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof => Self::Closed,
                _ => Self::Untold(EgressError::Failed(error.to_string())),
            },
        }
    }
}

impl HandshakeError {
    /// What happened, for a log.
    pub fn log_reason(&self) -> String {
        match self {
            Self::Alert(_) | Self::Closed => self.to_string(),
            Self::Untold(error) => error.log_reason(),
        }
    }
}

impl Egress {
    /// Shakes hands with a host in this version of TLS alone, whatever certificate it shows, and hangs up. `usual_port`
    /// as in [`Egress::tls`].
    ///
    /// # Errors
    /// It is forbidden, nobody answers, or the server refuses this version or what is offered within it.
    pub fn shake_hands<'a>(
        &'a self,
        host: &'a str,
        port: u16,
        usual_port: u16,
        version: TlsVersion,
        protocol: &'a [u8],
    ) -> BoxFuture<'a, Result<TlsHandshake, HandshakeError>> {
        Box::pin(async move {
            let purpose = Purpose::Upstream;
            let version = match version {
                TlsVersion::V1_2 => &TLS12,
                TlsVersion::V1_3 => &TLS13,
            };
            let config = self.inner.judge.unverified_tls(version);
            let config = config.map_err(|error| EgressError::Failed(error.to_string()))?;
            let config = Arc::new(trust::raw(config, protocol));
            let target = CheckedUrl::of_host(host, port, true)?.usually_on(usual_port);
            let bounds = purpose.deadlines(self.config());
            let _turn = self.inner.turn_by(purpose, &target, Instant::now() + bounds.total).await?;
            let addresses = self.inner.guard.admit(purpose, &target).await?;
            let until = Instant::now() + bounds.connect;
            let name = stream::name(&target)?;
            let (stream, _) = stream::dial(&addresses, bounds.connect).await?;
            let shaken = timeout_at(until, stream::shake_hands(stream, name, &config)).await;
            let stream = shaken.map_err(|_| EgressError::timed_out("the TLS handshake"))??;
            Ok(seen(stream.get_ref().1))
        })
    }

    /// Judges the certificates that a host showed, its own first: whether they are its, and lead to an authority that is
    /// trusted here at `now`. Whether `trust_everyone` was asked for makes no difference.
    pub fn judge_certificates(&self, host: &str, certificates: &[Vec<u8>], now: SystemTime) -> CertificateFaults {
        let all: Vec<CertificateDer<'_>> =
            certificates.iter().map(|der| CertificateDer::from(der.as_slice())).collect();
        let parsed = all.split_first().map(|(own, others)| (ParsedCertificate::try_from(own), others));
        let Some((Ok(own), others)) = parsed else {
            let chain = Some("the server shows no certificate that can be read".to_owned());
            return CertificateFaults { name: None, chain };
        };
        let name = ServerName::try_from(host).ok().map(|name| verify_server_name(&own, &name));
        let name = name.and_then(Result::err).map(|error| error.to_string());
        let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let chain = self.inner.judge.chain(&own, others, UnixTime::since_unix_epoch(since));
        CertificateFaults { name, chain: chain.err().map(|error| error.to_string()) }
    }
}

impl trust::Judge {
    fn chain(
        &self,
        own: &ParsedCertificate<'_>,
        others: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<(), rustls::Error> {
        let algorithms = self.algorithms();
        verify_server_cert_signed_by_trust_anchor(own, &self.roots(), others, now, algorithms.all)
    }
}

fn seen(connection: &rustls::ClientConnection) -> TlsHandshake {
    debug_assert!(matches!(connection.protocol_version(), Some(ProtocolVersion::TLSv1_2 | ProtocolVersion::TLSv1_3)));
    let suite = connection.negotiated_cipher_suite().map(|suite| format!("{:?}", suite.suite()));
    let certificates = connection.peer_certificates().unwrap_or_default();
    TlsHandshake {
        cipher_suite: suite.unwrap_or_default(),
        certificates: certificates.iter().map(|certificate| certificate.to_vec()).collect(),
    }
}
