//! `[tls]`: certificates, and what browsers are told of HTTPS.

use std::path::PathBuf;

use forecourt_acme::AcmeSettings;
use forecourt_server::tls::CertificateFiles;
use schemars::JsonSchema;
use serde::Deserialize;

/// Seconds of a year.
const YEAR: u32 = 365 * 24 * 3600;

/// `[tls]`: a certificate of your own. Without one it is ordered from an authority where HTTPS listens off loopback
/// and the domain is a public one (`[tls.acme]`); on loopback a local authority in the data folder makes one.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tls {
    /// The certificate chain, PEM. Read again when it changes.
    pub cert: Option<PathBuf>,
    /// Its private key, PEM.
    pub key: Option<PathBuf>,
    /// For how many seconds browsers that came over HTTPS come back over HTTPS only (HSTS), off loopback; 0 tells them
    /// nothing.
    pub hsts_seconds: u32,
    /// Certificates from an authority.
    pub acme: AcmeSettings,
}

impl Default for Tls {
    fn default() -> Self {
        Self { cert: None, key: None, hsts_seconds: YEAR, acme: AcmeSettings::default() }
    }
}

impl Tls {
    /// The files, when there are both.
    pub fn files(&self) -> Option<CertificateFiles> {
        let (certificate, key) = (self.cert.clone()?, self.key.clone()?);
        Some(CertificateFiles { certificate, key })
    }
}
