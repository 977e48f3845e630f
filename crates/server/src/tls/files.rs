//! Certificates and private keys in PEM form, from files or from wherever they are kept.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustls::crypto::aws_lc_rs;
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use x509_parser::prelude::{FromDer, Validity, X509Certificate};

use crate::error::TlsError;

/// A certificate chain and its private key, both PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The chain, the server's own certificate first.
    pub certificate: PathBuf,
    /// The private key: PKCS#8, SEC1 or PKCS#1.
    pub key: PathBuf,
}

/// The text that a certificate was read from.
#[derive(PartialEq, Eq)]
pub(super) struct LoadedCertificate {
    pub(super) certificate: Vec<u8>,
    pub(super) key: Vec<u8>,
}

impl LoadedCertificate {
    pub(super) fn read(files: &CertificateFiles) -> Result<LoadedCertificate, TlsError> {
        Ok(LoadedCertificate { certificate: read(&files.certificate)?, key: read(&files.key)? })
    }

    /// The certificate with its key, and until when it is good. `files` is what problems name.
    pub(super) fn certified(&self, files: &CertificateFiles) -> Result<(CertifiedKey, Timestamp), TlsError> {
        let chain = chain(&files.certificate, &self.certificate)?;
        let key = private_key(&files.key, &self.key)?;
        let unread = || content(&files.certificate, "holds a certificate that can't be read".to_owned());
        let validity = chain.first().and_then(validity).ok_or_else(unread)?;
        let ends = Timestamp::from_second(validity.not_after.timestamp()).map_err(|_| unread())?;
        let certified = CertifiedKey::from_der(chain, key, &aws_lc_rs::default_provider())
            .map_err(|error| content(&files.key, format!("does not fit {}: {error}", files.certificate.display())))?;
        Ok((certified, ends))
    }
}

/// Whether a listener could use these files at `now`: both can be read, the key fits, and the certificate
/// is good.
///
/// # Errors
/// When a file can't be read, holds no certificate or key, or the two do not belong together; and when the
/// certificate has expired or is not good yet.
pub fn inspect(files: &CertificateFiles, now: Timestamp) -> Result<(), TlsError> {
    let (certified, _) = LoadedCertificate::read(files)?.certified(files)?;
    let path = &files.certificate;
    let Some(validity) = certified.cert.first().and_then(validity) else { return Ok(()) };
    let now = now.as_second();
    if now > validity.not_after.timestamp() {
        return Err(content(path, format!("has expired: it was good until {}", validity.not_after)));
    }
    if now < validity.not_before.timestamp() {
        return Err(content(path, format!("is not good yet: it will be from {}", validity.not_before)));
    }
    Ok(())
}

fn validity(leaf: &CertificateDer<'_>) -> Option<Validity> {
    X509Certificate::from_der(leaf).ok().map(|(_, certificate)| certificate.validity().clone())
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

pub(super) fn content(path: &Path, reason: String) -> TlsError {
    TlsError::Content { path: path.to_owned(), reason }
}
