//! Certificates that clients show, and who may issue them.
//!
//! A certificate is issued by one of the authorities itself: chains are not followed, so a bundle also
//! names the intermediate authorities that issue. It may have critical extensions that are known to the
//! protocol and to nobody else, for which the usual checks of chains have no room.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{WebPkiSupportedAlgorithms, aws_lc_rs, verify_tls13_signature_with_raw_key};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, Error, PeerIncompatible, SignatureScheme};
use rustls_pki_types::{CertificateDer, SubjectPublicKeyInfoDer, UnixTime};
use spki::AlgorithmIdentifierRef;
use spki::der::asn1::{AnyRef, BitStringRef};
use spki::der::{Decode, Reader, SliceReader};
use x509_parser::oid_registry::{
    OID_PKCS1_SHA256WITHRSA, OID_PKCS1_SHA384WITHRSA, OID_PKCS1_SHA512WITHRSA, OID_SIG_ECDSA_WITH_SHA256,
    OID_SIG_ECDSA_WITH_SHA384, OID_SIG_ED25519, Oid,
};
use x509_parser::prelude::{ASN1Time, FromDer, ParsedExtension, X509Certificate, X509Version};

use super::files::{chain, content, read};
use crate::error::TlsError;
use crate::limits::{AUTHORITIES_MAX, CLIENT_CERTIFICATE_BYTES_MAX};

/// Whether a listener asks clients for certificates, and whose it takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ClientCertificates {
    /// None is asked for.
    #[default]
    Ignored,
    /// One is asked for, and checked when it is shown.
    Optional(Authorities),
    /// A client without one gets no connection.
    Required(Authorities),
}

/// Whose certificates are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorities {
    /// The certificates of those who issue, PEM. Read when a listener is set up.
    pub bundle: PathBuf,
    /// Critical extensions that the protocol looks at itself: the content octets of their names.
    pub understood: &'static [&'static [u8]],
}

impl ClientCertificates {
    /// The verifier for rustls; `None` when no certificate is asked for.
    ///
    /// # Errors
    /// When the bundle can't be read, or holds something else than authorities.
    pub(crate) fn verifier(&self) -> Result<Option<Arc<dyn ClientCertVerifier>>, TlsError> {
        let (authorities, required) = match self {
            Self::Ignored => return Ok(None),
            Self::Optional(authorities) => (authorities, false),
            Self::Required(authorities) => (authorities, true),
        };
        let issuers = read_bundle(&authorities.bundle)?;
        let hints = issuers.iter().map(|issuer| DistinguishedName::from(issuer.subject.clone())).collect();
        let algorithms = aws_lc_rs::default_provider().signature_verification_algorithms;
        Ok(Some(Arc::new(Verifier { issuers, hints, understood: authorities.understood, required, algorithms })))
    }
}

/// An authority that issues certificates to clients.
#[derive(Debug)]
struct Issuer {
    subject: Vec<u8>,
    certificate: CertificateDer<'static>,
}

#[derive(Debug)]
struct Verifier {
    issuers: Vec<Issuer>,
    hints: Vec<DistinguishedName>,
    understood: &'static [&'static [u8]],
    required: bool,
    algorithms: WebPkiSupportedAlgorithms,
}

fn read_bundle(path: &Path) -> Result<Vec<Issuer>, TlsError> {
    let certificates = chain(path, &read(path)?)?;
    if certificates.len() > AUTHORITIES_MAX {
        return Err(content(path, format!("holds more than {AUTHORITIES_MAX} authorities")));
    }
    let issuer = |(n, certificate): (usize, CertificateDer<'static>)| match subject_of_authority(&certificate) {
        Ok(subject) => Ok(Issuer { subject, certificate }),
        Err(reason) => Err(content(path, format!("its certificate {} {reason}", n + 1))),
    };
    certificates.into_iter().enumerate().map(issuer).collect()
}

/// The name under which an authority issues, if it is one whose every rule is kept here.
fn subject_of_authority(der: &[u8]) -> Result<Vec<u8>, &'static str> {
    let certificate = parse(der).map_err(|_| "can't be read")?;
    let is_authority = certificate.basic_constraints().ok().flatten().is_some_and(|found| found.value.ca);
    let usage = certificate.key_usage().map_err(|_| "can't be read")?;
    let issues = usage.is_none_or(|usage| usage.value.key_cert_sign());
    match certificate.name_constraints() {
        Ok(None) if is_authority && issues => Ok(certificate.subject().as_raw().to_vec()),
        Ok(None) => Err("is none of an authority"),
        // Refused when it is read, not ignored: the authority must not vouch for names that it was kept from.
        Ok(Some(_)) | Err(_) => Err("is limited to some names, which is not supported"),
    }
}

impl Verifier {
    /// Whether a client's own certificate holds at `now`. RFC 5280 6, for a path of one.
    fn check(&self, der: &[u8], now: UnixTime) -> Result<(), CertificateError> {
        let certificate = parse(der)?;
        let now = i64::try_from(now.as_secs()).ok().and_then(|now| ASN1Time::from_timestamp(now).ok());
        let now = now.ok_or(CertificateError::Expired)?;
        is_for_clients(&certificate, self.understood)?;
        // Several may have one name: an authority that renewed its key keeps its name, and both keys count for a while.
        let named = self.issuers.iter().filter(|issuer| issuer.subject == certificate.issuer().as_raw());
        let tried = named.map(|issuer| is_issued_by(&certificate, &issuer.certificate, now));
        tried.reduce(Result::or).unwrap_or(Err(CertificateError::UnknownIssuer))?;
        holds_at(&certificate, now)
    }
}

fn parse(der: &[u8]) -> Result<X509Certificate<'_>, CertificateError> {
    let parsed = (der.len() <= CLIENT_CERTIFICATE_BYTES_MAX).then(|| X509Certificate::from_der(der));
    let (_, certificate) = parsed.and_then(Result::ok).filter(|(rest, _)| rest.is_empty()).ok_or(BAD)?;
    // RFC 5280 4.1.1.2: the algorithm stands within and outside of what is signed, and both must agree.
    let consistent = certificate.tbs_certificate.signature == certificate.signature_algorithm;
    (consistent && is_spelled_strictly(der) && certificate.version() == X509Version::V3)
        .then_some(certificate)
        .ok_or(BAD)
}

/// Whether what is around the signed part has the one spelling of DER, so that no certificate has two: the
/// parser takes tags of other classes and bits that are left out. X.690 10.
fn is_spelled_strictly(der: &[u8]) -> bool {
    let parts = |reader: &mut SliceReader<'_>| {
        AnyRef::decode(reader)?;
        AlgorithmIdentifierRef::decode(reader)?;
        BitStringRef::decode(reader).map(|signature| signature.as_bytes().is_some())
    };
    SliceReader::new(der).and_then(|mut reader| reader.sequence(parts)).unwrap_or(false)
}

const BAD: CertificateError = CertificateError::BadEncoding;

fn holds_at(certificate: &X509Certificate<'_>, now: ASN1Time) -> Result<(), CertificateError> {
    let validity = certificate.validity();
    match () {
        () if now < validity.not_before => Err(CertificateError::NotValidYet),
        () if now > validity.not_after => Err(CertificateError::Expired),
        () => Ok(()),
    }
}

fn is_for_clients(certificate: &X509Certificate<'_>, understood: &[&[u8]]) -> Result<(), CertificateError> {
    let is_authority = certificate.basic_constraints().map_err(|_| BAD)?.is_some_and(|found| found.value.ca);
    let usage = certificate.key_usage().map_err(|_| BAD)?;
    let signs = usage.is_none_or(|usage| usage.value.digital_signature());
    let purpose = certificate.extended_key_usage().map_err(|_| BAD)?;
    let for_clients = purpose.is_none_or(|purpose| purpose.value.client_auth || purpose.value.any);
    if is_authority || !signs || !for_clients {
        return Err(CertificateError::InvalidPurpose);
    }
    let mut seen = std::collections::HashSet::new();
    for extension in certificate.iter_extensions() {
        // RFC 5280 4.2 forbids a second one, of which this check and the protocol could each read another.
        if !seen.insert(extension.oid.as_bytes()) {
            return Err(BAD);
        }
        let known = match extension.parsed_extension() {
            // Names are of no interest: the client is who the protocol finds in its own extensions.
            ParsedExtension::BasicConstraints(_)
            | ParsedExtension::KeyUsage(_)
            | ParsedExtension::ExtendedKeyUsage(_)
            | ParsedExtension::SubjectAlternativeName(_) => true,
            _ => understood.contains(&extension.oid.as_bytes()),
        };
        if extension.critical && !known {
            return Err(CertificateError::UnhandledCriticalExtension);
        }
    }
    Ok(())
}

fn is_issued_by(
    certificate: &X509Certificate<'_>,
    issuer: &CertificateDer<'_>,
    now: ASN1Time,
) -> Result<(), CertificateError> {
    let issuer = parse(issuer)?;
    holds_at(&issuer, now)?;
    let algorithm = &certificate.signature_algorithm.algorithm;
    if !SIGNATURES.contains(algorithm) {
        return Err(CertificateError::BadSignature);
    }
    certificate.verify_signature(Some(issuer.public_key())).map_err(|_| CertificateError::BadSignature)
}

/// What authorities sign with: nothing that is as weak as SHA-1.
const SIGNATURES: [Oid<'static>; 6] = [
    OID_SIG_ED25519,
    OID_SIG_ECDSA_WITH_SHA256,
    OID_SIG_ECDSA_WITH_SHA384,
    OID_PKCS1_SHA256WITHRSA,
    OID_PKCS1_SHA384WITHRSA,
    OID_PKCS1_SHA512WITHRSA,
];

impl ClientCertVerifier for Verifier {
    fn client_auth_mandatory(&self) -> bool {
        self.required
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.hints
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(end_entity, now).map(|()| ClientCertVerified::assertion()).map_err(Error::InvalidCertificate)
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        // It is offered with TLS 1.3 alone.
        Err(PeerIncompatible::Tls12NotOffered.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let certificate = parse(cert).map_err(Error::InvalidCertificate)?;
        let key = SubjectPublicKeyInfoDer::from(certificate.public_key().raw);
        verify_tls13_signature_with_raw_key(message, &key, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests;
