//! Certificates that can be replaced while connections are open.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use rustls::crypto::aws_lc_rs;
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{ClientHello, NoServerSessionStorage, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{ServerConfig, SupportedProtocolVersion};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::time::{MissedTickBehavior, interval};

use jiff::Timestamp;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::client_certificates::ClientCertificates;
use crate::error::TlsError;
use crate::hosts::AllowedHosts;

/// What HTTP listeners offer, best first.
pub const HTTP_ALPN: &[&[u8]] = &[b"h2", b"http/1.1"];

/// How often the files are looked at.
pub const WATCH_INTERVAL: Duration = Duration::from_secs(60);

/// A certificate chain and its private key, both PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The chain, the server's own certificate first.
    pub certificate: PathBuf,
    /// The private key: PKCS#8, SEC1 or PKCS#1.
    pub key: PathBuf,
}

/// The certificate in use, for any number of listeners.
#[derive(Debug)]
pub struct Certificates {
    files: CertificateFiles,
    hosts: AllowedHosts,
    current: ArcSwap<CertifiedKey>,
    loaded: Mutex<Loaded>,
}

/// The text that the current certificate was read from.
#[derive(Debug, PartialEq, Eq)]
struct Loaded {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl Certificates {
    /// Reads the files. A client that asks for a name outside `hosts` gets no certificate; one that
    /// names none, as when it connects to an address, gets this one.
    ///
    /// # Errors
    /// When a file can't be read, holds no certificate or key, or the two do not belong together.
    pub fn load(files: CertificateFiles, hosts: AllowedHosts) -> Result<Arc<Certificates>, TlsError> {
        let loaded = Loaded::read(&files)?;
        let current = ArcSwap::from_pointee(loaded.certified(&files)?);
        Ok(Arc::new(Certificates { files, hosts, current, loaded: Mutex::new(loaded) }))
    }

    /// Reads the files again and takes what they hold for all handshakes from now on. Whether it
    /// was something new.
    ///
    /// # Errors
    /// As [`Certificates::load`]; the certificate in use stays.
    pub fn reload(&self) -> Result<bool, TlsError> {
        let mut loaded = self.loaded.lock();
        let read = Loaded::read(&self.files)?;
        if *loaded == read {
            return Ok(false);
        }
        self.current.store(Arc::new(read.certified(&self.files)?));
        *loaded = read;
        Ok(true)
    }

    /// Calls `before` (which may renew the files) and reloads, every `every`, until dropped.
    pub async fn watch(&self, every: Duration, before: impl Fn()) {
        let mut ticks = interval(every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            before();
            match self.reload() {
                Ok(true) => tracing::info!("a new certificate is in use"),
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, "the old certificate stays in use"),
            }
        }
    }

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
                config.send_tls13_tickets = 0;
                config.session_storage = Arc::new(NoServerSessionStorage {});
                config
            }
        };
        config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
        Ok(config)
    }

    /// [`Certificates::server_config`] for the HTTP listeners.
    ///
    /// # Errors
    /// As there.
    pub fn http_config(self: &Arc<Self>) -> Result<Arc<ServerConfig>, TlsError> {
        self.server_config(rustls::ALL_VERSIONS, HTTP_ALPN).map(Arc::new)
    }
}

/// Whether a listener could use these files at `now`: both can be read, the key fits, and the certificate
/// is good.
///
/// # Errors
/// As [`Certificates::load`], and when it has expired or is not good yet.
pub fn inspect(files: &CertificateFiles, now: Timestamp) -> Result<(), TlsError> {
    let loaded = Loaded::read(files)?;
    let certified = loaded.certified(files)?;
    let path = &files.certificate;
    let Some(leaf) = certified.cert.first() else { return Ok(()) };
    let unread = |_| content(path, "holds a certificate that can't be read".to_owned());
    let (_, certificate) = X509Certificate::from_der(leaf).map_err(unread)?;
    let validity = certificate.validity();
    let now = now.as_second();
    if now > validity.not_after.timestamp() {
        return Err(content(path, format!("has expired: it was good until {}", validity.not_after)));
    }
    if now < validity.not_before.timestamp() {
        return Err(content(path, format!("is not good yet: it will be from {}", validity.not_before)));
    }
    Ok(())
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let served = hello.server_name().is_none_or(|name| self.hosts.serves(name));
        served.then(|| self.current.load_full())
    }
}

impl Loaded {
    fn read(files: &CertificateFiles) -> Result<Loaded, TlsError> {
        Ok(Loaded { certificate: read(&files.certificate)?, key: read(&files.key)? })
    }

    fn certified(&self, files: &CertificateFiles) -> Result<CertifiedKey, TlsError> {
        let chain = chain(&files.certificate, &self.certificate)?;
        let key = private_key(&files.key, &self.key)?;
        CertifiedKey::from_der(chain, key, &aws_lc_rs::default_provider())
            .map_err(|error| content(&files.key, format!("does not fit {}: {error}", files.certificate.display())))
    }
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|source| TlsError::File { path: path.to_owned(), source })
}

pub(crate) fn chain(path: &Path, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    match CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>() {
        Ok(chain) if !chain.is_empty() => Ok(chain),
        Ok(_) => Err(content(path, "holds no certificate in PEM form".to_owned())),
        Err(_) => Err(content(path, "is not a certificate in PEM form".to_owned())),
    }
}

fn private_key(path: &Path, pem: &[u8]) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_slice(pem).map_err(|_| content(path, "holds no private key in PEM form".to_owned()))
}

pub(crate) fn content(path: &Path, reason: String) -> TlsError {
    TlsError::Content { path: path.to_owned(), reason }
}
