//! What listeners speak within TLS: versions, suites, protocols, tickets.
//!
//! Every suite that the provider has is of TLS 1.3, or of 1.2 with ECDHE and AEAD; rustls renegotiates nothing and
//! compresses nothing.

use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, ResolvesServerCert};
use rustls::{ServerConfig, SupportedProtocolVersion};

use super::certificates::Certificates;
use super::challenge::ACME_ALPN;
use super::client_certificates::ClientCertificates;
use crate::error::TlsError;

/// What HTTP listeners offer, best first.
pub const HTTP_ALPN: &[&[u8]] = &[b"h2", b"http/1.1"];

impl Certificates {
    /// A server's side of TLS: AEAD suites, no early data, rotating tickets. `versions` are TLS 1.3
    /// and 1.2 for HTTP ([`rustls::ALL_VERSIONS`]), `alpn` is [`HTTP_ALPN`] there.
    ///
    /// # Errors
    /// [`TlsError::Setup`] when no suite fits the versions.
    pub fn server_config(
        self: &Arc<Self>,
        versions: &[&'static SupportedProtocolVersion],
        alpn: &[&[u8]],
    ) -> Result<ServerConfig, TlsError> {
        self.config(versions, alpn, None)
    }

    /// [`Certificates::server_config`] for a protocol that is not HTTP: TLS 1.3 alone. A client that
    /// names no protocol is served, one that names only others is not. Where clients show certificates
    /// each connection is opened in full, so that one that has ended opens none.
    ///
    /// # Errors
    /// As there, and when the authorities of clients can't be read.
    pub fn stream_config(
        self: &Arc<Self>,
        alpn: &[u8],
        clients: &ClientCertificates,
    ) -> Result<ServerConfig, TlsError> {
        self.config(&[&rustls::version::TLS13], &[alpn], clients.verifier()?)
    }

    /// [`Certificates::server_config`] for the HTTP listeners, where certificate authorities ask, too.
    ///
    /// # Errors
    /// As there.
    pub fn http_config(self: &Arc<Self>) -> Result<Arc<ServerConfig>, TlsError> {
        let alpn = [HTTP_ALPN, &[ACME_ALPN]].concat();
        self.server_config(rustls::ALL_VERSIONS, &alpn).map(Arc::new)
    }

    fn config(
        self: &Arc<Self>,
        versions: &[&'static SupportedProtocolVersion],
        alpn: &[&[u8]],
        clients: Option<Arc<dyn ClientCertVerifier>>,
    ) -> Result<ServerConfig, TlsError> {
        let setup = |error: rustls::Error| TlsError::Setup(error.to_string());
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder = ServerConfig::builder_with_provider(provider).with_protocol_versions(versions).map_err(setup)?;
        let resolver = Arc::clone(self) as Arc<dyn ResolvesServerCert>;
        let mut config = match clients {
            None => {
                let mut config = builder.with_no_client_auth().with_cert_resolver(resolver);
                config.ticketer = aws_lc_rs::Ticketer::new().map_err(setup)?;
                config
            }
            Some(clients) => {
                let mut config = builder.with_client_cert_verifier(clients).with_cert_resolver(resolver);
                // A resumed session skips the client's certificate, which may have expired or lost its issuer since.
                config.send_tls13_tickets = 0;
                config.session_storage = Arc::new(NoServerSessionStorage {});
                config
            }
        };
        // Every suite is good, and ours is the order of strength, which is what scanners look for.
        config.ignore_client_order = true;
        config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::{CipherSuite, ProtocolVersion};

    #[test]
    fn every_suite_is_forward_secret_and_authenticated() {
        let config = Certificates::empty().http_config().unwrap();
        let provider = config.crypto_provider();
        let mut suites: Vec<CipherSuite> = provider.cipher_suites.iter().map(|suite| suite.suite()).collect();
        suites.sort_by_key(|suite| u16::from(*suite));
        assert_eq!(
            suites,
            [
                CipherSuite::TLS13_AES_128_GCM_SHA256,
                CipherSuite::TLS13_AES_256_GCM_SHA384,
                CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
                CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
                CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
                CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
                CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
                CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
                CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
            ]
        );
        let versions: Vec<ProtocolVersion> =
            provider.cipher_suites.iter().map(|suite| suite.version().version).collect();
        assert!(versions.iter().all(|version| matches!(version, ProtocolVersion::TLSv1_2 | ProtocolVersion::TLSv1_3)));
        assert!(config.ignore_client_order);
        assert_eq!(config.max_early_data_size, 0, "early data can be replayed");
    }
}
