//! Handshakes that are made to see how a server encrypts, and certificates that are judged apart from a connection. For
//! a tool whose user asked for that; nothing is sent on such a connection.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures::future::BoxFuture;
use rustls::ProtocolVersion;
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::server::ParsedCertificate;
use rustls::version::{TLS12, TLS13};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use tokio::time::Instant;

use crate::egress::Egress;
use crate::error::EgressError;
use crate::purpose::Purpose;
use crate::stream::{self, NetStream};
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

impl Egress {
    /// Shakes hands with a host in this version of TLS alone, whatever certificate it shows, and hangs up. `usual_port`
    /// as in [`Egress::tls`].
    ///
    /// # Errors
    /// It is refused, nobody answers, or the server does not speak this version.
    pub fn shake_hands<'a>(
        &'a self,
        host: &'a str,
        port: u16,
        usual_port: u16,
        version: TlsVersion,
        protocol: &'a [u8],
    ) -> BoxFuture<'a, Result<TlsHandshake, EgressError>> {
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
            match stream::open(&target, &addresses, Some(&config), bounds.connect).await? {
                (NetStream::Tls(stream), _) => Ok(seen(stream.get_ref().1)),
                (NetStream::Plain(_), _) => Err(EgressError::Failed("the connection is not encrypted".to_owned())),
            }
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
