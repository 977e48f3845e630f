//! This module reads what a certificate says of itself. RFC 5280 4.1.

use forecourt_core::Timestamp;
use x509_parser::prelude::{ASN1Time, FromDer, GeneralName, X509Certificate};

use crate::limits::{CERTIFICATE_BYTES_MAX, NAMED_MAX};

/// A certificate, as far as a report tells of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Certificate {
    subject: String,
    issuer: String,
    names: Vec<String>,
    /// From when on it is valid. `None`: it can't be read.
    pub(super) not_before: Option<Timestamp>,
    /// Until when.
    pub(super) not_after: Option<Timestamp>,
}

impl Certificate {
    /// Reads DER. What can't be read says nothing.
    pub(super) fn read(der: &[u8]) -> Self {
        let parsed = (der.len() <= CERTIFICATE_BYTES_MAX).then(|| X509Certificate::from_der(der));
        let Some(Ok((_, certificate))) = parsed else { return Self::default() };
        let names = certificate.subject_alternative_name().ok().flatten();
        let names = names.into_iter().flat_map(|names| &names.value.general_names).filter_map(named);
        Self {
            subject: certificate.subject().to_string(),
            issuer: certificate.issuer().to_string(),
            names: names.collect(),
            not_before: time(&certificate.validity().not_before),
            not_after: time(&certificate.validity().not_after),
        }
    }
}

fn named(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => match *bytes {
            [a, b, c, d] => Some(std::net::Ipv4Addr::new(*a, *b, *c, *d).to_string()),
            bytes => Some(std::net::Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).to_string()),
        },
        _ => None,
    }
}

fn time(at: &ASN1Time) -> Option<Timestamp> {
    Timestamp::from_second(at.timestamp()).ok()
}

impl std::fmt::Display for Certificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Some(from), Some(until)) = (self.not_before, self.not_after) else {
            return f.write_str("a certificate that can't be read");
        };
        write!(f, "a certificate of {} by {}, valid from {from} until {until}", self.subject, self.issuer)?;
        match self.names.len() {
            0 => Ok(()),
            count => {
                let shown = self.names.get(..NAMED_MAX).unwrap_or(&self.names).join(", ");
                write!(f, ", for {shown}")?;
                if count > NAMED_MAX { write!(f, " and {} more", count - NAMED_MAX) } else { Ok(()) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_bytes_are_too_strange(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Certificate::read(&bytes).to_string();
        }
    }

    #[test]
    fn what_is_too_large_is_not_read() {
        assert!(Certificate::read(&vec![0x30; CERTIFICATE_BYTES_MAX + 1]).not_after.is_none());
    }
}
