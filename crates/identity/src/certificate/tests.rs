use forecourt_jose::SigningKey;
use forecourt_testkit::{CountedEntropy, dear};
use proptest::prelude::*;
use rcgen::{CertificateParams, CustomExtension, KeyPair, PKCS_ED25519};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use x509_parser::prelude::{FromDer, X509Certificate};

use super::extensions::*;
use super::*;

const NAME: &str = "27f2653c2f2b4c0ed8c8e18c6b8385ad2796d343311736d089d1949f78b6ee42";

/// A certificate with extensions of ours. The maker of certificates knows no arcs beyond 64 bits, so it is
/// given names that take as many octets, and those are replaced; nobody looks at the signature here.
fn certificate(extensions: &[(&[u8], &[u8])]) -> Vec<u8> {
    let key = KeyPair::generate_for(&PKCS_ED25519).unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    let mut replaced = Vec::new();
    for (n, (oid, value)) in extensions.iter().enumerate() {
        let n = n as u64;
        // Ten octets and the rest.
        let arcs = [2, 25, (1 << 63) + n, (1 << (7 * (oid.len() - 12))) + n];
        params.custom_extensions.push(CustomExtension::from_oid_content(&arcs, value.to_vec()));
        replaced.push((encoded(&arcs), oid.to_vec()));
    }
    let mut der = params.self_signed(&key).unwrap().der().to_vec();
    for (placeholder, oid) in replaced {
        assert_eq!(placeholder.len(), oid.len());
        let at = der.windows(placeholder.len()).position(|window| window == placeholder).unwrap();
        der[at..at + oid.len()].copy_from_slice(&oid);
    }
    der
}

/// The content octets of an object identifier below 2.25.
fn encoded(arcs: &[u64]) -> Vec<u8> {
    let mut bytes = vec![105];
    for arc in &arcs[2..] {
        let groups = (64 - arc.leading_zeros()).div_ceil(7);
        bytes.extend((0..groups).rev().map(|n| (arc >> (7 * n)) as u8 & 0x7f | if n > 0 { 0x80 } else { 0 }));
    }
    bytes
}

fn utf8(text: &str) -> Vec<u8> {
    [&[0x0c, text.len() as u8], text.as_bytes()].concat()
}

fn whole() -> Vec<u8> {
    certificate(&[
        (&SUBJECT_AGENT_ID, &utf8(NAME)),
        (&PRINCIPAL_ID, b"acme.tld"),
        (&AUTHORITY_SCOPE_COMMITMENT, b"booking:*,documents:query"),
        (&GOVERNANCE_ZONE, &utf8("production")),
        (&TRUST_TIER, &[2, 1, 1]),
        (&ARCHETYPE, b"executor"),
        (&ACTIVATION_CERTIFICATE_ID, b"act-1"),
        (&AGTP_CTL_SCT, &[0x04, 2, 0xca, 0xfe]),
    ])
}

fn name() -> AgentId {
    AgentId::parse(NAME).unwrap()
}

fn scopes(list: &str) -> ScopeSet {
    ScopeSet::parse_list(list).unwrap()
}

fn now() -> Timestamp {
    "2026-06-01T00:00:00Z".parse().unwrap()
}

fn claim<'a>(agent_id: &'a AgentId, scopes: Option<&'a ScopeSet>) -> CertificateClaim<'a> {
    CertificateClaim { agent_id, agent: None, principal_id: None, scopes, zone: None, now: now() }
}

#[test]
fn base_6_7_every_extension_is_read() {
    let read = AgentCertificate::parse(&whole()).unwrap();
    assert_eq!(read.agent_id, Some(name()));
    assert_eq!(read.principal_id.as_deref(), Some("acme.tld"));
    assert_eq!(read.scopes, Some(scopes("booking:*,documents:query")));
    assert_eq!((read.governance_zone.as_deref(), read.trust_tier), (Some("production"), Some(TrustTier::Verified)));
    assert_eq!((read.archetype.as_deref(), read.activation_id.as_deref()), (Some("executor"), Some("act-1")));
    assert_eq!(read.ctl_sct.as_deref(), Some(&[0xca, 0xfe][..]));
    assert!(read.not_before < now() && now() < read.not_after);
}

#[test]
fn base_6_7_a_certificate_without_extensions_is_its_key() {
    let read = AgentCertificate::parse(&certificate(&[])).unwrap();
    assert_eq!((read.agent_id.as_ref(), read.scopes.as_ref()), (None, None));
    let own = AgentId::parse(read.fingerprint.as_deref().unwrap()).unwrap();
    assert_eq!(read.check(claim(&own, Some(&scopes("booking:room")))), Ok(()));
    assert_eq!(read.check(claim(&name(), None)), Err(Mismatch::Agent));
}

#[test]
fn base_6_7_the_agent_is_the_one_of_the_certificate() {
    let read = AgentCertificate::parse(&whole()).unwrap();
    assert_eq!(read.check(claim(&name(), None)), Ok(()));
    let other = AgentId::of_hash(&[1; 32]);
    assert_eq!(read.check(claim(&other, None)), Err(Mismatch::Agent));
    // What it says goes before its key.
    let own = AgentId::parse(read.fingerprint.as_deref().unwrap()).unwrap();
    assert_eq!(read.check(claim(&own, None)), Err(Mismatch::Agent));
}

#[test]
fn base_6_7_claims_stay_within_the_commitment() {
    let read = AgentCertificate::parse(&whole()).unwrap();
    let claimed = scopes("booking:room, documents:query");
    assert_eq!(read.check(claim(&name(), Some(&claimed))), Ok(()));
    let beyond = scopes("booking:room, payments:send");
    let fault = Mismatch::Scopes(vec![Scope::parse("payments:send").unwrap()]);
    assert_eq!(read.check(claim(&name(), Some(&beyond))), Err(fault));
    let nothing = AgentCertificate::parse(&certificate(&[(&AUTHORITY_SCOPE_COMMITMENT, b"")])).unwrap();
    assert_eq!(nothing.scopes, Some(ScopeSet::default()));
}

#[test]
fn base_6_7_principal_zone_and_time_fit() {
    let read = AgentCertificate::parse(&whole()).unwrap();
    let name = name();
    let claim = claim(&name, None);
    assert_eq!(
        read.check(CertificateClaim { principal_id: Some("acme.tld"), zone: Some("production"), ..claim }),
        Ok(())
    );
    assert_eq!(read.check(CertificateClaim { principal_id: Some("evil.tld"), ..claim }), Err(Mismatch::Principal));
    let zone = Mismatch::Zone { certified: "production".to_owned() };
    assert_eq!(read.check(CertificateClaim { zone: Some("test"), ..claim }), Err(zone));
    for now in ["1970-01-01T00:00:00Z", "9998-01-01T00:00:00Z"] {
        assert_eq!(read.check(CertificateClaim { now: now.parse().unwrap(), ..claim }), Err(Mismatch::Time));
    }
}

#[test]
fn extensions_that_make_no_sense_are_refused() {
    let long = "x".repeat(crate::limits::CERTIFICATE_TEXT_CHARS_MAX + 1);
    let fits = &long[1..];
    assert!(AgentCertificate::parse(&certificate(&[(&ARCHETYPE, fits.as_bytes())])).is_ok());
    for (oid, value) in [
        (SUBJECT_AGENT_ID.as_slice(), b"lauren".as_slice()),
        (&SUBJECT_AGENT_ID, NAME.to_uppercase().as_bytes()),
        (&SUBJECT_AGENT_ID, &utf8(NAME)[..20]),
        (&SUBJECT_AGENT_ID, b""),
        (&PRINCIPAL_ID, &[0xff, 0xfe]),
        (&PRINCIPAL_ID, b"acme\0.tld"),
        (&AUTHORITY_SCOPE_COMMITMENT, b"booking"),
        (&AUTHORITY_SCOPE_COMMITMENT, b"booking:room,,"),
        (&TRUST_TIER, b"4"),
        (&TRUST_TIER, &[2, 1, 0]),
        (&TRUST_TIER, &[2, 2, 0, 1]),
        (&ARCHETYPE, long.as_bytes()),
        (&ARCHETYPE, &[0x0c, 0x84, 1, 1, 1, 1]),
    ] {
        let read = AgentCertificate::parse(&certificate(&[(oid, value)]));
        assert!(matches!(read, Err(AgentCertificateError::Extension(_))), "{value:?}: {read:?}");
    }
    let twice = certificate(&[(&PRINCIPAL_ID, b"a"), (&PRINCIPAL_ID, b"b")]);
    assert!(AgentCertificate::parse(&twice).is_err());
}

#[test]
fn a_receipt_of_a_log_is_carried_as_it_came() {
    let receipt = |value: &[u8]| AgentCertificate::parse(&certificate(&[(&AGTP_CTL_SCT, value)])).map(|c| c.ctl_sct);
    assert_eq!(receipt(&[0xff; 3]), Ok(Some(vec![0xff; 3])));
    let most = vec![0; crate::limits::CERTIFICATE_SCT_BYTES_MAX];
    assert_eq!(receipt(&most), Ok(Some(most.clone())));
    let over = [most.as_slice(), &[0]].concat();
    assert_eq!(receipt(&over), Err(AgentCertificateError::Extension("agtp-ctl-sct")));
}

#[test]
fn long_strings_have_long_lengths() {
    for length in [0x7f, 0x80, 0xff, 0x100, 0x7ff] {
        let text = "x".repeat(length);
        let prefix = match length {
            0..0x80 => vec![0x0c, length as u8],
            0x80..0x100 => vec![0x0c, 0x81, length as u8],
            _ => vec![0x0c, 0x82, (length >> 8) as u8, length as u8],
        };
        let value = [prefix.as_slice(), text.as_bytes()].concat();
        let read = AgentCertificate::parse(&certificate(&[(&ARCHETYPE, &value)])).unwrap();
        assert_eq!(read.archetype.as_deref(), Some(text.as_str()));
    }
}

#[test]
fn a_certificate_is_as_large_as_it_may_be() {
    let der = whole();
    let mut padded = der.clone();
    padded.push(0);
    assert_eq!(AgentCertificate::parse(&padded), Err(AgentCertificateError::Malformed));
    assert_eq!(
        AgentCertificate::parse(&vec![0x30; crate::limits::CERTIFICATE_BYTES_MAX + 1]),
        Err(AgentCertificateError::Malformed)
    );
    assert_eq!(AgentCertificate::parse(b""), Err(AgentCertificateError::Malformed));
}

fn draft() -> CertificateDraft {
    CertificateDraft {
        agent_id: name(),
        principal_id: Some("acme.tld".to_owned()),
        scopes: Some(vec!["documents:query".to_owned(), "booking:*".to_owned(), "booking:*".to_owned()]),
        governance_zone: Some("pröduction".to_owned()),
        trust_tier: Some(TrustTier::OrgAsserted),
        archetype: Some("executor".to_owned()),
        activation_id: Some("act-1".to_owned()),
        ctl_sct: Some(vec![7; 300]),
        not_before: "2026-01-01T00:00:00Z".parse().unwrap(),
        not_after: "2051-01-01T00:00:00Z".parse().unwrap(),
    }
}

fn authority(entropy: &CountedEntropy) -> (CertificateAuthority, SigningKey) {
    let (own, key) = (SigningKey::generate(entropy), SigningKey::generate(entropy));
    let times = ("2026-01-01T00:00:00Z".parse().unwrap(), "2036-01-01T00:00:00Z".parse().unwrap());
    (CertificateAuthority::create("Agents of acme.tld", own, times, entropy).unwrap(), key)
}

fn der(pem: &str) -> Vec<u8> {
    CertificateDer::from_pem_slice(pem.as_bytes()).unwrap().to_vec()
}

#[test]
fn base_6_7_what_is_issued_is_read_and_signed() {
    let entropy = CountedEntropy::default();
    let (authority, key) = authority(&entropy);
    let issued = der(&authority.issue(&draft(), &key, &entropy).unwrap());
    let read = AgentCertificate::parse(&issued).unwrap();
    let whole = draft();
    assert_eq!((read.agent_id, read.principal_id), (Some(whole.agent_id), whole.principal_id));
    assert_eq!(read.scopes, Some(scopes("booking:*,documents:query")));
    assert_eq!((read.governance_zone, read.trust_tier), (whole.governance_zone, whole.trust_tier));
    assert_eq!(
        (read.archetype, read.activation_id, read.ctl_sct),
        (whole.archetype, whole.activation_id, whole.ctl_sct)
    );
    assert_eq!((read.not_before, read.not_after), (whole.not_before, whole.not_after));
    assert_eq!(read.fingerprint, Some(crate::canonical::hash(&key.verifying_bytes()).as_str().to_owned()));
    let bundle = der(&authority.to_pem());
    let (_, issuer) = X509Certificate::from_der(&bundle).unwrap();
    let (_, certificate) = X509Certificate::from_der(&issued).unwrap();
    assert!(certificate.verify_signature(Some(issuer.public_key())).is_ok());
    assert!(issuer.verify_signature(None).is_ok() && issuer.is_ca() && !certificate.is_ca());
    assert_eq!(certificate.issuer().as_raw(), issuer.subject().as_raw());
    let critical = certificate.iter_extensions().filter(|e| e.critical && CRITICAL.contains(&e.oid.as_bytes()));
    assert_eq!(critical.count(), CRITICAL.len());
    // The list is sorted, as the draft wants it, and names nothing twice.
    assert!(issued.windows(25).any(|window| window == b"booking:*,documents:query"));
}

#[test]
fn base_6_7_an_authority_is_found_again_with_its_key_and_with_no_other() {
    let entropy = CountedEntropy::default();
    let own = SigningKey::generate(&entropy);
    let times = (draft().not_before, draft().not_after);
    let pem = CertificateAuthority::create("Agents", own.clone(), times, &entropy).unwrap().to_pem();
    assert!(CertificateAuthority::read(&pem, own.clone()).is_ok());
    let (found, other) = (CertificateAuthority::read(&pem, own.clone()).unwrap(), SigningKey::generate(&entropy));
    assert_eq!(CertificateAuthority::read(&pem, other.clone()).unwrap_err(), IssueError::OtherKey);
    let issued = found.issue(&draft(), &other, &entropy).unwrap();
    assert_eq!(CertificateAuthority::read(&issued, other).unwrap_err(), IssueError::NoAuthority);
    assert_eq!(CertificateAuthority::read("junk", own).unwrap_err(), IssueError::NoCertificate);
}

#[test]
fn base_6_7_nothing_is_issued_that_nobody_reads() {
    let entropy = CountedEntropy::default();
    let (authority, key) = authority(&entropy);
    let issue = |draft: CertificateDraft| authority.issue(&draft, &key, &entropy).map(|_| ());
    let zone = |length: usize| CertificateDraft { governance_zone: Some("é".repeat(length)), ..draft() };
    assert_eq!(issue(zone(crate::limits::CERTIFICATE_TEXT_CHARS_MAX)), Ok(()));
    assert_eq!(issue(zone(crate::limits::CERTIFICATE_TEXT_CHARS_MAX + 1)), Err(IssueError::Text("zone")));
    assert_eq!(
        issue(CertificateDraft { archetype: Some("a\0".to_owned()), ..draft() }),
        Err(IssueError::Text("archetype"))
    );
    let receipt = |length: usize| CertificateDraft { ctl_sct: Some(vec![0; length]), ..draft() };
    assert_eq!(issue(receipt(crate::limits::CERTIFICATE_SCT_BYTES_MAX)), Ok(()));
    assert_eq!(issue(receipt(crate::limits::CERTIFICATE_SCT_BYTES_MAX + 1)), Err(IssueError::Receipt));
    assert_eq!(issue(CertificateDraft { not_before: Timestamp::MIN, ..draft() }), Err(IssueError::Time));
}

proptest! {
    #![proptest_config(dear(64))]

    #[test]
    fn any_bytes_are_a_certificate_or_a_fault(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = AgentCertificate::parse(&bytes);
    }

    #[test]
    fn any_damage_gives_a_certificate_or_a_fault(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut in any::<prop::sample::Index>()) {
        let mut der = whole();
        for (at, byte) in changes {
            let at = at.index(der.len());
            der[at] = byte;
        }
        let _ = AgentCertificate::parse(&der);
        der.truncate(cut.index(der.len()));
        let _ = AgentCertificate::parse(&der);
    }

    #[test]
    fn any_value_of_an_extension_is_read_or_refused(value in proptest::collection::vec(any::<u8>(), 0..60), n in 0..4usize) {
        let oid: &[u8] = [&SUBJECT_AGENT_ID[..], &AUTHORITY_SCOPE_COMMITMENT, &TRUST_TIER, &PRINCIPAL_ID][n];
        let _ = AgentCertificate::parse(&certificate(&[(oid, &value)]));
    }
}
