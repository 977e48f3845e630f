use forecourt_testkit::dear;
use proptest::prelude::*;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, CustomExtension, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, PKCS_ED25519, date_time_ymd,
};

use super::*;

/// A critical extension that only the protocol knows: 1.3.6.1.4.1.32473.1.
const KNOWN: [u64; 8] = [1, 3, 6, 1, 4, 1, 32473, 1];
const KNOWN_OCTETS: &[u8] = &[0x2b, 6, 1, 4, 1, 0x81, 0xfd, 0x59, 1];

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority(change: impl FnOnce(&mut CertificateParams)) -> Authority {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    change(&mut params);
    CertifiedIssuer::self_signed(params, KeyPair::generate_for(&PKCS_ED25519).unwrap()).unwrap()
}

fn client(issuer: &Authority, change: impl FnOnce(&mut CertificateParams)) -> Vec<u8> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    change(&mut params);
    params.signed_by(&KeyPair::generate_for(&PKCS_ED25519).unwrap(), issuer).unwrap().der().to_vec()
}

fn critical(params: &mut CertificateParams, name: &[u64]) {
    let mut extension = CustomExtension::from_oid_content(name, b"agent".to_vec());
    extension.set_criticality(true);
    params.custom_extensions.push(extension);
}

fn verifier(authorities: &[&Authority]) -> Verifier {
    let issuer = |authority: &&Authority| Issuer {
        subject: subject_of_authority(authority.der()).unwrap(),
        certificate: authority.der().clone(),
    };
    Verifier {
        issuers: authorities.iter().map(issuer).collect(),
        hints: Vec::new(),
        understood: &[KNOWN_OCTETS],
        required: true,
        algorithms: aws_lc_rs::default_provider().signature_verification_algorithms,
    }
}

/// 2026-01-01.
fn now() -> UnixTime {
    UnixTime::since_unix_epoch(std::time::Duration::from_secs(1_767_225_600))
}

#[test]
fn rfc5280_6_each_rule_that_is_broken_has_its_fault() {
    type Change = fn(&mut CertificateParams);
    let one = authority(|_| {});
    let verifier = verifier(&[&one]);
    let cases: [(CertificateError, Change); 8] = [
        (CertificateError::Expired, |params| params.not_after = date_time_ymd(2025, 12, 31)),
        (CertificateError::NotValidYet, |params| params.not_before = date_time_ymd(2026, 1, 2)),
        (CertificateError::InvalidPurpose, |params| params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained)),
        (CertificateError::InvalidPurpose, |params| {
            params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        }),
        (CertificateError::InvalidPurpose, |params| params.key_usages = vec![KeyUsagePurpose::KeyEncipherment]),
        (CertificateError::UnhandledCriticalExtension, |params| critical(params, &[1, 3, 6, 1, 4, 1, 32473, 2])),
        (CertificateError::BadEncoding, |params| {
            critical(params, &KNOWN);
            critical(params, &KNOWN);
        }),
        (CertificateError::BadEncoding, |params| {
            let large = CustomExtension::from_oid_content(&KNOWN, vec![b'x'; CLIENT_CERTIFICATE_BYTES_MAX]);
            params.custom_extensions.push(large);
        }),
    ];
    for (n, (error, change)) in cases.into_iter().enumerate() {
        assert_eq!(verifier.check(&client(&one, change), now()), Err(error), "case {n}");
    }
    assert_eq!(verifier.check(&client(&one, |params| critical(params, &KNOWN)), now()), Ok(()));
    assert_eq!(verifier.check(&client(&one, |_| {}), now()), Ok(()));
}

#[test]
fn only_a_trusted_authority_that_still_holds_issues() {
    let (one, namesake) = (authority(|_| {}), authority(|_| {}));
    let stranger = authority(|params| params.distinguished_name.push(rcgen::DnType::CommonName, "stranger"));
    let ended = authority(|params| params.not_after = date_time_ymd(2025, 12, 31));
    assert_eq!(verifier(&[&one]).check(&client(&namesake, |_| {}), now()), Err(CertificateError::BadSignature));
    assert_eq!(verifier(&[&one]).check(&client(&stranger, |_| {}), now()), Err(CertificateError::UnknownIssuer));
    assert_eq!(verifier(&[&ended]).check(&client(&ended, |_| {}), now()), Err(CertificateError::Expired));
    // One of two of the same name, as while an authority changes its key.
    assert_eq!(verifier(&[&one, &namesake]).check(&client(&namesake, |_| {}), now()), Ok(()));
}

/// Every byte of a certificate with every other value: nothing outside of what is signed may differ unseen.
#[test]
fn no_damage_is_trusted() {
    let one = authority(|_| {});
    let der = client(&one, |params| critical(params, &KNOWN));
    let verifier = verifier(&[&one]);
    for at in 0..der.len() {
        for flip in (0..8).map(|bit| 1 << bit) {
            let mut damaged = der.clone();
            damaged[at] ^= flip;
            assert!(verifier.check(&damaged, now()).is_err(), "byte {at} of {} with {:#04x}", der.len(), damaged[at]);
        }
    }
}

proptest! {
    #![proptest_config(dear(200))]

    #[test]
    fn any_bytes_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(verifier(&[]).check(&bytes, now()).is_err());
    }
}
