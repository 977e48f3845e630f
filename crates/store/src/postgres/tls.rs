//! This module secures connections to PostgreSQL as `sslmode` says, with libpq's meaning.

use std::error::Error as _;
use std::sync::Arc;

use deadpool_postgres::Connect;
use forecourt_core::StoreError;
use futures::future::BoxFuture;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::task::JoinHandle;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, Error};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::error::unusable;

/// How the server's certificate is verified, by `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// Whoever answers: `disable`, `allow`, `prefer`, and `require` without authorities.
    Anybody,
    /// Whoever has a certificate of a known authority: `verify-ca`, and `require` with authorities.
    Authority,
    /// The same, for this very host: `verify-full`.
    Host,
}

/// The TLS settings of a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Security {
    /// The mode that is tried first.
    pub(super) mode: SslMode,
    /// The mode that is tried when the server refuses the first.
    pub(super) otherwise: Option<SslMode>,
    pub(super) trust: Trust,
    /// The file of the authorities; `system` for those of the system.
    pub(super) roots: Option<String>,
}

impl Security {
    /// What these values of `sslmode` and `sslrootcert` ask for; `None` where the URL has none.
    pub(super) fn of(mode: Option<&str>, roots: Option<String>) -> Result<Self, StoreError> {
        use SslMode::{Disable, Prefer, Require};
        let is_named = roots.is_some();
        let (mode, otherwise, trust) = match mode.unwrap_or("prefer") {
            "disable" => (Disable, None, Trust::Anybody),
            "allow" => (Disable, Some(Require), Trust::Anybody),
            "prefer" => (Prefer, Some(Disable), Trust::Anybody),
            // As libpq: with `sslrootcert`, `require` verifies as `verify-ca` does.
            "require" if is_named => (Require, None, Trust::Authority),
            "require" => (Require, None, Trust::Anybody),
            "verify-ca" => (Require, None, Trust::Authority),
            "verify-full" => (Require, None, Trust::Host),
            other => {
                return Err(unusable(format!(
                    "unknown sslmode `{other}` (known: disable, allow, prefer, require, verify-ca, verify-full)"
                )));
            }
        };
        if roots.as_deref() == Some("system") && trust != Trust::Host {
            // A public authority certifies any host: without the check of the name, every certificate of theirs would
            // pass.
            return Err(unusable("with sslrootcert=system, sslmode has to be verify-full"));
        }
        Ok(Self { mode, otherwise, trust, roots })
    }

    /// The connector by which connections are opened.
    pub(super) fn connector(&self) -> Result<MakeRustlsConnect, StoreError> {
        tls(self.trust, self.roots.as_deref()).map(MakeRustlsConnect::new)
    }
}

/// Opens connections, where `sslmode` leaves a choice one way after the other.
pub(super) struct Opener {
    pub(super) tls: MakeRustlsConnect,
    pub(super) otherwise: Option<SslMode>,
}

impl Connect for Opener {
    fn connect(&self, config: &Config) -> BoxFuture<'_, Result<(Client, JoinHandle<()>), Error>> {
        let config = config.clone();
        Box::pin(async move {
            match (open(&config, self.tls.clone()).await, self.otherwise) {
                (Err(refusal), Some(mode)) if is_of_the_way(&refusal) => {
                    let mut config = config;
                    config.ssl_mode(mode);
                    // The error of the first way: that of the fallback would hide why the better one failed.
                    open(&config, self.tls.clone()).await.map_err(|_| refusal)
                }
                (opened, _) => opened,
            }
        })
    }
}

/// Whether a server may take the connection in another way: it has no TLS that fits, or wants it, or does not want it.
/// A wrong password is wrong in every way, and is not sent again without TLS.
fn is_of_the_way(error: &Error) -> bool {
    match error.code() {
        Some(code) => *code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
        // Connection refused is no question of TLS: the other way would be refused too.
        None => !error.source().and_then(|cause| cause.downcast_ref()).is_some_and(is_refused),
    }
}

fn is_refused(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::ConnectionRefused
}

async fn open(config: &Config, tls: MakeRustlsConnect) -> Result<(Client, JoinHandle<()>), Error> {
    let (client, connection) = config.connect(tls).await?;
    let serve = async move {
        if let Err(error) = connection.await {
            tracing::warn!(%error, "a connection to the database was lost");
        }
    };
    Ok((client, tokio::spawn(serve)))
}

fn tls(trust: Trust, roots: Option<&str>) -> Result<ClientConfig, StoreError> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(unusable)?;
    if trust == Trust::Anybody {
        let verifier = Arc::new(Lenient { provider, chain: None });
        return Ok(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth());
    }
    let roots = Arc::new(authorities(roots)?);
    if trust == Trust::Host {
        return Ok(builder.with_root_certificates(roots).with_no_client_auth());
    }
    let chain = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider)).build().map_err(unusable)?;
    let verifier = Arc::new(Lenient { provider, chain: Some(chain) });
    Ok(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
}

/// The authorities of a file, or of the system.
fn authorities(file: Option<&str>) -> Result<RootCertStore, StoreError> {
    let mut roots = RootCertStore::empty();
    match file {
        Some(path) if path != "system" => {
            let wrong = |error: &dyn std::fmt::Display| unusable(format!("sslrootcert {path}: {error}"));
            for certificate in CertificateDer::pem_file_iter(path).map_err(|error| wrong(&error))? {
                roots.add(certificate.map_err(|error| wrong(&error))?).map_err(|error| wrong(&error))?;
            }
        }
        _ => drop(roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs)),
    }
    if roots.is_empty() {
        return Err(unusable("no certificate authority is known; name a file with sslrootcert="));
    }
    Ok(roots)
}

/// Takes certificates as libpq does below `verify-full`: any, or any of a known authority whatever the name in it.
/// Signatures of the handshake are always checked.
#[derive(Debug)]
struct Lenient {
    provider: Arc<CryptoProvider>,
    chain: Option<Arc<WebPkiServerVerifier>>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        match chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
