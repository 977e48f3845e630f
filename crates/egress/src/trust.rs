//! Which certificates are trusted: those of the system, and those the operator adds.

use std::path::Path;
use std::sync::{Arc, LazyLock, OnceLock};

use rustls::client::Resumption;
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, aws_lc_rs};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use crate::certificate::{AnyCertificate, ClientCertificate};
use crate::setup_error::SetupError;

/// The certificate authorities of the system. Read once and when a certificate is to be judged for the first time:
/// a process makes several ways out, and reading and parsing some 140 certificates is a good part of its start.
static SYSTEM_ROOTS: LazyLock<Arc<RootCertStore>> = LazyLock::new(|| {
    let system = rustls_native_certs::load_native_certs();
    for error in &system.errors {
        // A broken file among the system's is no reason not to start; a broken one of the operator's is (`add_pem`).
        tracing::warn!(%error, "a certificate of the system can't be read");
    }
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(system.certs);
    Arc::new(store)
});

/// Certificate authorities on their way into a TLS configuration.
#[derive(Default)]
pub(crate) struct Trust {
    roots: Vec<CertificateDer<'static>>,
    everyone: bool,
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

    /// Trusts whoever answers from here on.
    pub(crate) fn add_everyone(&mut self) {
        self.everyone = true;
    }

    /// What judges certificates. `SSL_CERT_FILE` and `SSL_CERT_DIR` replace the system's certificates,
    /// as they do for other programs.
    pub(crate) fn into_judge(self) -> Result<Judge, SetupError> {
        let mut added = RootCertStore::empty();
        for root in self.roots {
            added.add(root).map_err(|_| SetupError::Certificates { source_name: "the added roots".to_owned() })?;
        }
        let provider = Arc::new(aws_lc_rs::default_provider());
        Ok(Judge { added, roots: OnceLock::new(), everyone: self.everyone, provider })
    }
}

/// Judges the certificates of servers.
pub(crate) struct Judge {
    /// Those beside the system's.
    added: RootCertStore,
    /// All of them, once they are wanted.
    roots: OnceLock<Arc<RootCertStore>>,
    everyone: bool,
    provider: Arc<CryptoProvider>,
}

impl Judge {
    pub(crate) fn roots(&self) -> Arc<RootCertStore> {
        let all = || match self.added.is_empty() {
            true => SYSTEM_ROOTS.clone(),
            false => {
                let mut all = (**SYSTEM_ROOTS).clone();
                all.extend(self.added.roots.iter().cloned());
                Arc::new(all)
            }
        };
        self.roots.get_or_init(all).clone()
    }

    /// The signatures that are known.
    pub(crate) fn algorithms(&self) -> WebPkiSupportedAlgorithms {
        self.provider.signature_verification_algorithms
    }

    /// A TLS configuration of one version that takes whatever certificate is shown.
    pub(crate) fn unverified_tls(
        &self,
        version: &'static SupportedProtocolVersion,
    ) -> Result<ClientConfig, SetupError> {
        let wrong = |error: rustls::Error| SetupError::Tls(error.to_string());
        let builder = ClientConfig::builder_with_provider(self.provider.clone());
        let builder = builder.with_protocol_versions(&[version]).map_err(wrong)?;
        let unverified = Arc::new(AnyCertificate::new(&self.provider));
        Ok(builder.dangerous().with_custom_certificate_verifier(unverified).with_no_client_auth())
    }

    /// A TLS configuration of these versions that shows `certificate` to servers which ask for one.
    pub(crate) fn tls(
        &self,
        versions: &[&'static SupportedProtocolVersion],
        certificate: Option<&ClientCertificate>,
    ) -> Result<ClientConfig, SetupError> {
        let wrong = |error: rustls::Error| SetupError::Tls(error.to_string());
        let builder = ClientConfig::builder_with_provider(self.provider.clone());
        let builder = builder.with_protocol_versions(versions).map_err(wrong)?;
        let builder = match self.everyone {
            false => builder.with_root_certificates(self.roots()),
            true => {
                let unverified = Arc::new(AnyCertificate::new(&self.provider));
                builder.dangerous().with_custom_certificate_verifier(unverified)
            }
        };
        Ok(match certificate {
            None => builder.with_no_client_auth(),
            Some(shown) => builder.with_client_cert_resolver(Arc::new(shown.clone())),
        })
    }
}

/// The configuration for guarded requests: HTTP/1.1 only, and nothing remembered between requests.
pub(crate) fn guarded(tls: &ClientConfig) -> ClientConfig {
    let mut tls = tls.clone();
    // A connection of one exchange has no use for HTTP/2, which is there to share one.
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    // A session ticket would let a server join the requests of different callers.
    tls.resumption = Resumption::disabled();
    tls
}

/// The configuration for backends of the operator.
pub(crate) fn upstream(tls: &ClientConfig) -> ClientConfig {
    let mut tls = tls.clone();
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    tls
}

/// The configuration for connections that speak a protocol of their own: nothing remembered between
/// them either.
pub(crate) fn raw(mut tls: ClientConfig, protocol: &[u8]) -> ClientConfig {
    tls.alpn_protocols = vec![protocol.to_vec()];
    tls.resumption = Resumption::disabled();
    tls
}

/// The same for protocols that are older than ALPN.
pub(crate) fn nameless(mut tls: ClientConfig) -> ClientConfig {
    tls.resumption = Resumption::disabled();
    tls
}
