//! Which certificates are trusted: those of the system, and those the operator adds.

use std::path::Path;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use crate::egress::SetupError;

/// Certificate authorities on their way into a TLS configuration.
#[derive(Default)]
pub(crate) struct Trust {
    roots: Vec<CertificateDer<'static>>,
}

impl Trust {
    /// Adds the certificates of a PEM text. Fails when there is none, or one is broken.
    pub(crate) fn add_pem(&mut self, pem: &[u8], source: &str) -> Result<(), SetupError> {
        let wrong = || SetupError::Certificates { source_name: source.to_owned() };
        let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
        let found = found.map_err(|_| wrong())?;
        if found.is_empty() {
            return Err(wrong());
        }
        self.roots.extend(found);
        Ok(())
    }

    pub(crate) fn add_file(&mut self, path: &Path) -> Result<(), SetupError> {
        let unreadable = |error| SetupError::Unreadable { path: path.to_owned(), error };
        let pem = std::fs::read(path).map_err(unreadable)?;
        self.add_pem(&pem, &path.display().to_string())
    }

    /// A TLS configuration that speaks `protocols`. `SSL_CERT_FILE` and `SSL_CERT_DIR` replace the
    /// system's certificates, as they do for other programs.
    pub(crate) fn into_tls(self) -> Result<ClientConfig, SetupError> {
        let mut store = RootCertStore::empty();
        let system = rustls_native_certs::load_native_certs();
        for error in &system.errors {
            tracing::warn!(%error, "a certificate of the system can't be read");
        }
        store.add_parsable_certificates(system.certs);
        for root in self.roots {
            store.add(root).map_err(|_| SetupError::Certificates { source_name: "the added roots".to_owned() })?;
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.map_err(|error| SetupError::Tls(error.to_string()))?;
        Ok(builder.with_root_certificates(store).with_no_client_auth())
    }
}

/// The configuration for guarded requests: HTTP/1.1 only, and nothing remembered between requests.
pub(crate) fn guarded(tls: &ClientConfig) -> ClientConfig {
    let mut tls = tls.clone();
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    tls.resumption = Resumption::disabled();
    tls
}

/// The configuration for backends of the operator.
pub(crate) fn upstream(tls: &ClientConfig) -> ClientConfig {
    let mut tls = tls.clone();
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    tls
}
