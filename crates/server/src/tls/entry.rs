//! A certificate with the names that it is for.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use rustls::sign::CertifiedKey;

use super::files::{CertificateFiles, LoadedCertificate};
use crate::error::TlsError;
use crate::hosts::AllowedHosts;

/// A certificate with the names that it is for. Cheap to clone.
#[derive(Clone)]
pub struct CertificateEntry {
    hosts: AllowedHosts,
    certified: Arc<CertifiedKey>,
    expires_at: Timestamp,
    /// Where it is read from again; `None` when whoever made it brings the next one.
    files: Option<CertificateFiles>,
    loaded: Arc<LoadedCertificate>,
    /// Whether it only stands in for one that is not there yet.
    is_provisional: bool,
}

impl CertificateEntry {
    /// Reads files, which [`super::Certificates::reload`] looks at again.
    ///
    /// # Errors
    /// When a file can't be read, holds no certificate or key, or the two do not belong together.
    pub fn from_files(files: CertificateFiles, hosts: AllowedHosts) -> Result<Self, TlsError> {
        let loaded = LoadedCertificate::read(&files)?;
        let (certified, expires_at) = loaded.certified(&files)?;
        Ok(Self {
            hosts,
            certified: Arc::new(certified),
            expires_at,
            files: Some(files),
            loaded: Arc::new(loaded),
            is_provisional: false,
        })
    }

    /// Takes a chain and a key, both PEM, that are kept elsewhere: `name` is what problems call them.
    ///
    /// # Errors
    /// When there is no certificate or key in them, or the two do not belong together.
    pub fn from_pem(chain: &str, key: &str, name: &str, hosts: AllowedHosts) -> Result<Self, TlsError> {
        let loaded = LoadedCertificate { certificate: chain.into(), key: key.into() };
        let named = CertificateFiles { certificate: PathBuf::from(name), key: PathBuf::from(format!("{name} (key)")) };
        let (certified, expires_at) = loaded.certified(&named)?;
        Ok(Self {
            hosts,
            certified: Arc::new(certified),
            expires_at,
            files: None,
            loaded: Arc::new(loaded),
            is_provisional: false,
        })
    }

    /// The same, standing in for one that is not there yet: metrics say that there is none.
    #[must_use]
    pub fn provisional(self) -> Self {
        Self { is_provisional: true, ..self }
    }

    pub(super) fn is_provisional(&self) -> bool {
        self.is_provisional
    }

    /// What its files hold by now; `None` when that is the same, or it has no files.
    pub(super) fn renewed(&self) -> Result<Option<Self>, TlsError> {
        let Some(files) = &self.files else { return Ok(None) };
        let loaded = LoadedCertificate::read(files)?;
        // By content, not by time: tools rewrite the same certificate, and times of a restored folder lie.
        if *self.loaded == loaded {
            return Ok(None);
        }
        let (certified, expires_at) = loaded.certified(files)?;
        Ok(Some(Self { certified: Arc::new(certified), expires_at, loaded: Arc::new(loaded), ..self.clone() }))
    }

    /// The names that it is shown for.
    pub fn hosts(&self) -> &AllowedHosts {
        &self.hosts
    }

    /// Until when it is good.
    pub fn expires_at(&self) -> Timestamp {
        self.expires_at
    }

    pub(super) fn certified(&self) -> &Arc<CertifiedKey> {
        &self.certified
    }

    /// Whether it is for just this name, rather than for a pattern that has it.
    pub(super) fn names(&self, name: &str) -> bool {
        self.hosts.names().iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

impl fmt::Debug for CertificateEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { hosts, expires_at, files, .. } = self;
        f.debug_struct("CertificateEntry")
            .field("hosts", hosts)
            .field("expires_at", expires_at)
            .field("files", files)
            .finish_non_exhaustive()
    }
}
