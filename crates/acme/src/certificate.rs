//! Until when a chain is good, and when the next one is due.

use jiff::{SignedDuration, Timestamp};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use serde::{Deserialize, Serialize};
use x509_parser::prelude::{FromDer, X509Certificate};

/// What an authority signed, and the key that it is for, both PEM.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssuedCertificate {
    /// The chain, the server's own certificate first.
    pub chain: String,
    /// Its private key.
    pub key: String,
    /// The directory that it is from: another one's is not kept.
    pub directory: String,
}

impl std::fmt::Debug for IssuedCertificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IssuedCertificate").field("directory", &self.directory).finish_non_exhaustive()
    }
}

/// From when to when a certificate is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Life {
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
}

impl Life {
    /// The life of the first certificate of a chain.
    pub(crate) fn of(chain: &str) -> Option<Self> {
        let leaf = CertificateDer::pem_slice_iter(chain.as_bytes()).next()?.ok()?;
        let (_, certificate) = X509Certificate::from_der(&leaf).ok()?;
        let validity = certificate.validity();
        let from = Timestamp::from_second(validity.not_before.timestamp()).ok()?;
        let to = Timestamp::from_second(validity.not_after.timestamp()).ok()?;
        (to > from).then_some(Self { from, to })
    }

    /// When it is renewed: when a third of its life is left, as authorities recommend.
    pub(crate) fn renew_at(&self) -> Timestamp {
        let seconds = self.to.as_second() - self.from.as_second();
        self.from.saturating_add(SignedDuration::from_secs(seconds / 3 * 2)).unwrap_or(self.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_renewed_when_a_third_of_its_life_is_left() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let life = |to| Life { from: at(0), to: at(to) };
        assert_eq!(life(90 * 86_400).renew_at(), at(60 * 86_400));
        assert_eq!(life(30).renew_at(), at(20));
        assert_eq!(life(1).renew_at(), at(0));
    }
}
