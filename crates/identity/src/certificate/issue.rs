//! Makes certificates of agents, for operators and for tests. AGTP agent certificates (base 6.7).
//!
//! Written out in DER here, since the crates that make certificates have no room for names of extensions that are made
//! of UUIDs, which take 128 bits. RFC 5280 4.1; keys are Ed25519 (RFC 8410).

use forecourt_core::{AgentId, Entropy, Timestamp};
use forecourt_jose::SigningKey;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use x509_parser::prelude::{FromDer, X509Certificate};

use super::der::{self, Tag};
use super::extensions::{
    ACTIVATION_CERTIFICATE_ID, AGTP_CTL_SCT, ARCHETYPE, AUTHORITY_SCOPE_COMMITMENT, GOVERNANCE_ZONE, PRINCIPAL_ID,
    SUBJECT_AGENT_ID, TRUST_TIER,
};
use crate::genesis::TrustTier;
use crate::limits::{CERTIFICATE_SCT_BYTES_MAX, CERTIFICATE_TEXT_CHARS_MAX};

/// What an agent's certificate will say. What is `None` is left out.
#[derive(Debug, Clone, PartialEq)]
pub struct CertificateDraft {
    /// The agent's id, which is also the subject's common name.
    pub agent_id: AgentId,
    /// The principal for whom the agent acts.
    pub principal_id: Option<String>,
    /// The scopes that it may claim at most, as tokens.
    pub scopes: Option<Vec<String>>,
    /// The governance zone in whose rules the agent runs.
    pub governance_zone: Option<String>,
    /// The agent's trust tier.
    pub trust_tier: Option<TrustTier>,
    /// The agent's archetype, such as `analyst`.
    pub archetype: Option<String>,
    /// The certificate by which the agent was put into service.
    pub activation_id: Option<String>,
    /// The receipt of a log of certificates; at most [`CERTIFICATE_SCT_BYTES_MAX`] bytes.
    pub ctl_sct: Option<Vec<u8>>,
    /// The start of its validity.
    pub not_before: Timestamp,
    /// The end of its validity.
    pub not_after: Timestamp,
}

/// Why a certificate can't be issued.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IssueError {
    /// What is given as the authority's certificate can't be read.
    #[error("it is no certificate in PEM")]
    NoCertificate,
    /// It is a certificate, and none of an authority.
    #[error("it is a certificate, but none of an authority (CA:TRUE)")]
    NoAuthority,
    /// Certificate and key don't belong together.
    #[error("the key is not that of the authority's certificate, which must be an Ed25519 key")]
    OtherKey,
    /// A text is longer than readers take, or has control characters.
    #[error("the {0} must have at most {CERTIFICATE_TEXT_CHARS_MAX} characters, and none of them a control character")]
    Text(&'static str),
    /// A receipt is longer than readers take.
    #[error("the receipt of the log must have at most {CERTIFICATE_SCT_BYTES_MAX} bytes")]
    Receipt,
    /// The years that certificates know are 0 to 9999.
    #[error("the time can't be written down in a certificate")]
    Time,
}

/// Who issues certificates of agents: what `ca_bundle_path` names, with its key.
pub struct CertificateAuthority {
    certificate: Vec<u8>,
    /// Its name in DER, to the byte as it stands in its certificate.
    subject: Vec<u8>,
    key: SigningKey,
}

impl CertificateAuthority {
    /// A new authority of this name, which signs itself.
    ///
    /// # Errors
    /// [`IssueError::Text`], [`IssueError::Time`].
    pub fn create(
        name: &str,
        key: SigningKey,
        (not_before, not_after): (Timestamp, Timestamp),
        entropy: &dyn Entropy,
    ) -> Result<Self, IssueError> {
        let subject = der::name(checked(name, "name")?);
        let extensions = [der::basic_constraints(true), der::key_usage(der::KEY_CERT_SIGN)];
        let body = Body { issuer: &subject, subject: &subject, key: key.verifying_bytes(), not_before, not_after };
        let certificate = signed(&body, &extensions.concat(), &key, entropy)?;
        Ok(Self { certificate, subject, key })
    }

    /// The authority of a certificate in PEM, with its key.
    ///
    /// # Errors
    /// [`IssueError::NoCertificate`], [`IssueError::NoAuthority`], [`IssueError::OtherKey`].
    pub fn read(pem: &str, key: SigningKey) -> Result<Self, IssueError> {
        let certificate = CertificateDer::from_pem_slice(pem.as_bytes()).map_err(|_| IssueError::NoCertificate)?;
        let (_, parsed) = X509Certificate::from_der(&certificate).map_err(|_| IssueError::NoCertificate)?;
        if !parsed.is_ca() {
            return Err(IssueError::NoAuthority);
        }
        let subject = parsed.subject().as_raw().to_vec();
        let is_own = *parsed.public_key().subject_public_key.data == key.verifying_bytes();
        match is_own {
            true => Ok(Self { certificate: certificate.to_vec(), subject, key }),
            false => Err(IssueError::OtherKey),
        }
    }

    /// Its certificate, in PEM.
    pub fn to_pem(&self) -> String {
        der::to_pem(&self.certificate)
    }

    /// A certificate for an agent whose key is `key`, in PEM.
    ///
    /// # Errors
    /// [`IssueError::Text`], [`IssueError::Receipt`], [`IssueError::Time`].
    pub fn issue(
        &self,
        draft: &CertificateDraft,
        key: &SigningKey,
        entropy: &dyn Entropy,
    ) -> Result<String, IssueError> {
        let body = Body {
            issuer: &self.subject,
            subject: &der::name(draft.agent_id.as_str()),
            key: key.verifying_bytes(),
            not_before: draft.not_before,
            not_after: draft.not_after,
        };
        Ok(der::to_pem(&signed(&body, &extensions(draft)?, &self.key, entropy)?))
    }
}

impl std::fmt::Debug for CertificateAuthority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CertificateAuthority").finish_non_exhaustive()
    }
}

/// What is between the serial number and the extensions.
struct Body<'a> {
    issuer: &'a [u8],
    subject: &'a [u8],
    key: [u8; 32],
    not_before: Timestamp,
    not_after: Timestamp,
}

/// The certificate in DER. RFC 5280 4.1.
fn signed(body: &Body<'_>, extensions: &[u8], key: &SigningKey, entropy: &dyn Entropy) -> Result<Vec<u8>, IssueError> {
    let time = |moment| der::time(moment).ok_or(IssueError::Time);
    let version = der::wrap(Tag::Explicit(0), &der::wrap(Tag::Integer, &[2]));
    let validity = der::sequence(&[&time(body.not_before)?, &time(body.not_after)?]);
    let extensions = der::wrap(Tag::Explicit(3), &der::sequence(&[extensions]));
    let algorithm = der::ed25519();
    let public = der::sequence(&[&algorithm, &der::bits(&body.key)]);
    let parts: [&[u8]; 8] =
        [&version, &serial(entropy), &algorithm, body.issuer, &validity, body.subject, &public, &extensions];
    let content = der::sequence(&parts);
    let signature = der::bits(&key.sign(&content));
    Ok(der::sequence(&[&content, &algorithm, &signature]))
}

/// A number that nobody else takes: 126 random bits, positive and of 16 bytes. RFC 5280 4.1.2.2.
fn serial(entropy: &dyn Entropy) -> Vec<u8> {
    let mut bytes = [0; 16];
    entropy.fill(&mut bytes);
    // The first bit clear keeps it positive; the second set keeps its DER at 16 bytes, whatever the rest is.
    bytes[0] = bytes[0] & 0x3f | 0x40;
    der::wrap(Tag::Integer, &bytes)
}

fn extensions(draft: &CertificateDraft) -> Result<Vec<u8>, IssueError> {
    let mut all = [der::basic_constraints(false), der::key_usage(der::DIGITAL_SIGNATURE), der::for_clients()].concat();
    let scopes = draft.scopes.as_ref().map(|scopes| {
        let mut sorted = scopes.clone();
        sorted.sort();
        sorted.dedup();
        sorted.join(",")
    });
    // The critical ones bind the certificate: RFC 5280 4.2 has a reader refuse it that does not know one of them.
    let texts: [(&[u8], &'static str, bool, Option<&str>); 6] = [
        (&SUBJECT_AGENT_ID, "agent id", true, Some(draft.agent_id.as_str())),
        (&PRINCIPAL_ID, "principal", true, draft.principal_id.as_deref()),
        (&AUTHORITY_SCOPE_COMMITMENT, "list of scopes", true, scopes.as_deref()),
        (&GOVERNANCE_ZONE, "zone", false, draft.governance_zone.as_deref()),
        (&ARCHETYPE, "archetype", false, draft.archetype.as_deref()),
        (&ACTIVATION_CERTIFICATE_ID, "activation id", false, draft.activation_id.as_deref()),
    ];
    for (oid, name, is_critical, text) in texts {
        if let Some(text) = text {
            let value = der::wrap(Tag::Utf8String, checked(text, name)?.as_bytes());
            all.extend(der::extension(oid, is_critical, &value));
        }
    }
    if let Some(tier) = draft.trust_tier {
        all.extend(der::extension(&TRUST_TIER, false, &der::wrap(Tag::Integer, &[u8::from(tier)])));
    }
    if let Some(receipt) = &draft.ctl_sct {
        if receipt.len() > CERTIFICATE_SCT_BYTES_MAX {
            return Err(IssueError::Receipt);
        }
        all.extend(der::extension(&AGTP_CTL_SCT, false, &der::wrap(Tag::OctetString, receipt)));
    }
    Ok(all)
}

fn checked<'a>(text: &'a str, name: &'static str) -> Result<&'a str, IssueError> {
    let fits = text.chars().count() <= CERTIFICATE_TEXT_CHARS_MAX && !text.chars().any(char::is_control);
    if fits { Ok(text) } else { Err(IssueError::Text(name)) }
}
