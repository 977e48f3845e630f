//! This module reads an agent's certificate from DER.

use forecourt_contract::scope::ScopeSet;
use forecourt_core::{AgentId, Timestamp};
use x509_parser::asn1_rs::{Any, Tag};
use x509_parser::prelude::{ASN1Time, FromDer, X509Certificate};

use super::extensions::{
    ACTIVATION_CERTIFICATE_ID, AGTP_CTL_SCT, ARCHETYPE, AUTHORITY_SCOPE_COMMITMENT, GOVERNANCE_ZONE, PRINCIPAL_ID,
    SUBJECT_AGENT_ID, TRUST_TIER,
};
use super::{AgentCertificate, AgentCertificateError};
use crate::canonical;
use crate::genesis::TrustTier;
use crate::limits::{CERTIFICATE_BYTES_MAX, CERTIFICATE_SCT_BYTES_MAX, CERTIFICATE_TEXT_CHARS_MAX};

/// Tags of DER strings: UTF8String, PrintableString, IA5String. None of them is a character of a text, so
/// that a value without a tag is told from one with.
const STRINGS: [u8; 3] = [0x0c, 0x13, 0x16];
/// The tag of an INTEGER of one octet, with its length.
const SMALL_INTEGER: [u8; 2] = [0x02, 0x01];
const OCTET_STRING: Tag = Tag::OctetString;
/// An Ed25519 key: 1.3.101.112.
const ED25519: [u8; 3] = [0x2b, 0x65, 0x70];

impl AgentCertificate {
    /// Reads a certificate in DER. Values of extensions may be DER strings or bare text: the draft does
    /// not say, and both are found.
    ///
    /// # Errors
    /// [`AgentCertificateError`]; extensions that are not ours are not looked into.
    pub fn parse(der: &[u8]) -> Result<Self, AgentCertificateError> {
        let malformed = AgentCertificateError::Malformed;
        let parsed = (der.len() <= CERTIFICATE_BYTES_MAX).then(|| X509Certificate::from_der(der));
        let (_, certificate) = parsed.and_then(Result::ok).filter(|(rest, _)| rest.is_empty()).ok_or(malformed)?;
        let text = |oid, name| text(&certificate, oid, name);
        let scopes = text(&AUTHORITY_SCOPE_COMMITMENT, "authority-scope-commitment")?;
        let wrong = |name| move || AgentCertificateError::Extension(name);
        let agent_id = text(&SUBJECT_AGENT_ID, "subject-agent-id")?;
        Ok(Self {
            agent_id: agent_id.map(|id| AgentId::parse(&id).map_err(|_| wrong("subject-agent-id")())).transpose()?,
            principal_id: text(&PRINCIPAL_ID, "principal-id")?,
            scopes: scopes.map(|list| commitment(&list).ok_or_else(wrong("authority-scope-commitment"))).transpose()?,
            governance_zone: text(&GOVERNANCE_ZONE, "governance-zone")?,
            trust_tier: tier(&certificate)?,
            archetype: text(&ARCHETYPE, "archetype")?,
            activation_id: text(&ACTIVATION_CERTIFICATE_ID, "activation-certificate-id")?,
            ctl_sct: receipt(&certificate)?,
            fingerprint: fingerprint(&certificate),
            // A start that no clock of ours reaches lies in the future: such a certificate does not hold yet.
            not_before: time(&certificate.validity().not_before, Timestamp::MAX),
            not_after: time(&certificate.validity().not_after, Timestamp::MAX),
        })
    }
}

/// The value of an extension of ours. At most one of each.
fn value<'a>(
    certificate: &X509Certificate<'a>,
    oid: &[u8],
    name: &'static str,
) -> Result<Option<&'a [u8]>, AgentCertificateError> {
    let mut found = certificate.iter_extensions().filter(|extension| extension.oid.as_bytes() == oid);
    match (found.next(), found.next()) {
        (None, _) => Ok(None),
        (Some(extension), None) => Ok(Some(extension.value)),
        // RFC 5280 4.2 allows one of a kind: readers would differ in which of two they take.
        (Some(_), Some(_)) => Err(AgentCertificateError::Extension(name)),
    }
}

/// The text of an extension of ours.
fn text(
    certificate: &X509Certificate<'_>,
    oid: &[u8],
    name: &'static str,
) -> Result<Option<String>, AgentCertificateError> {
    let Some(value) = value(certificate, oid, name)? else { return Ok(None) };
    let wrong = AgentCertificateError::Extension(name);
    let text = std::str::from_utf8(content(value).ok_or(wrong)?).map_err(|_| wrong)?;
    let fits = text.chars().count() <= CERTIFICATE_TEXT_CHARS_MAX && !text.chars().any(char::is_control);
    if fits { Ok(Some(text.to_owned())) } else { Err(wrong) }
}

/// The octets of a DER string, or all of a value that is none.
fn content(value: &[u8]) -> Option<&[u8]> {
    if !value.first().is_some_and(|tag| STRINGS.contains(tag)) {
        return Some(value);
    }
    let (rest, string) = Any::from_der(value).ok()?;
    rest.is_empty().then_some(string.data)
}

/// A list of tokens; an empty one commits to nothing.
fn commitment(list: &str) -> Option<ScopeSet> {
    match list.trim() {
        "" => Some(ScopeSet::default()),
        list => ScopeSet::parse_list(list).ok(),
    }
}

fn tier(certificate: &X509Certificate<'_>) -> Result<Option<TrustTier>, AgentCertificateError> {
    let name = "trust-tier";
    let Some(value) = value(certificate, &TRUST_TIER, name)? else { return Ok(None) };
    let number = match value {
        [first, second, number] if [*first, *second] == SMALL_INTEGER => Some(*number),
        other => content(other).and_then(|text| std::str::from_utf8(text).ok()?.parse().ok()),
    };
    let tier = number.and_then(|number| TrustTier::try_from(number).ok());
    tier.map(Some).ok_or(AgentCertificateError::Extension(name))
}

/// The octets of an OCTET STRING, or all of a value that is none.
fn receipt(certificate: &X509Certificate<'_>) -> Result<Option<Vec<u8>>, AgentCertificateError> {
    let name = "agtp-ctl-sct";
    let Some(value) = value(certificate, &AGTP_CTL_SCT, name)? else { return Ok(None) };
    let whole = Any::from_der(value).ok().filter(|(rest, any)| rest.is_empty() && any.tag() == OCTET_STRING);
    let octets = whole.map_or(value, |(_, any)| any.data);
    if octets.len() <= CERTIFICATE_SCT_BYTES_MAX {
        Ok(Some(octets.to_vec()))
    } else {
        Err(AgentCertificateError::Extension(name))
    }
}

fn fingerprint(certificate: &X509Certificate<'_>) -> Option<String> {
    let info = certificate.public_key();
    let is_edwards = info.algorithm.algorithm.as_bytes() == ED25519 && info.subject_public_key.data.len() == 32;
    is_edwards.then(|| canonical::hash(&info.subject_public_key.data).as_str().to_owned())
}

/// A moment, or `beyond` for one that no clock of ours reaches.
fn time(moment: &ASN1Time, beyond: Timestamp) -> Timestamp {
    Timestamp::from_second(moment.timestamp()).unwrap_or(beyond)
}
