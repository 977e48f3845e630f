//! What a certificate says of itself, for the operator.

use forecourt_core::Timestamp;
use x509_parser::pem::Pem;
use x509_parser::prelude::{GeneralName, X509Certificate};

/// What a certificate says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateFacts {
    /// The names and addresses that it is for.
    pub names: Vec<String>,
    /// Who made it.
    pub issuer: String,
    /// From when on it holds.
    pub not_before: Timestamp,
    /// When it stops to hold.
    pub not_after: Timestamp,
}

/// What the first certificate of a chain in PEM says. `None` when it can't be read.
pub fn certificate_facts(pem: &[u8]) -> Option<CertificateFacts> {
    let first = Pem::iter_from_buffer(pem).next()?.ok()?;
    let certificate = first.parse_x509().ok()?;
    let validity = certificate.validity();
    Some(CertificateFacts {
        names: names(&certificate),
        issuer: certificate.issuer().to_string(),
        not_before: Timestamp::from_second(validity.not_before.timestamp()).ok()?,
        not_after: Timestamp::from_second(validity.not_after.timestamp()).ok()?,
    })
}

fn names(certificate: &X509Certificate<'_>) -> Vec<String> {
    let Ok(Some(names)) = certificate.subject_alternative_name() else { return Vec::new() };
    let name = |name: &GeneralName<'_>| match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => match (<[u8; 4]>::try_from(*bytes), <[u8; 16]>::try_from(*bytes)) {
            (Ok(four), _) => Some(std::net::Ipv4Addr::from(four).to_string()),
            (_, Ok(sixteen)) => Some(std::net::Ipv6Addr::from(sixteen).to_string()),
            _ => None,
        },
        _ => None,
    };
    names.value.general_names.iter().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::local_ca;

    #[test]
    fn a_certificate_tells_its_names_and_its_time() {
        let folder = tempfile::tempdir().unwrap();
        let now: Timestamp = "2026-11-23T08:00:00Z".parse().unwrap();
        let files = local_ca::ensure(folder.path(), "demo.localhost", now).unwrap();
        let facts = certificate_facts(&std::fs::read(files.certificate).unwrap()).unwrap();
        assert!(facts.names.contains(&"demo.localhost".to_owned()) && facts.names.contains(&"127.0.0.1".to_owned()));
        assert!(facts.names.contains(&"::1".to_owned()) && !facts.issuer.is_empty(), "{facts:?}");
        assert!(facts.not_before <= now && facts.not_after > now + Duration::from_secs(24 * 60 * 60), "{facts:?}");
        assert_eq!(certificate_facts(b"nothing"), None);
    }
}
