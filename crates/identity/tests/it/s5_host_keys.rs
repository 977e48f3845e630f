//! The host's own keys, and what stands in `[identity]`.

use std::path::Path;
use std::sync::Arc;

use forecourt_identity::limits::PREVIOUS_KEY_TTL;
use forecourt_identity::{HostKeys, IdentityConfig, SigningKey, Verifier, VerifyKey};
use forecourt_testkit::CountedEntropy;
use proptest::prelude::*;

use crate::support::{Shelf, config, key, later, now};

#[test]
fn a_key_is_made_once_and_kept_for_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("keys");
    let entropy = CountedEntropy::default();
    let first = HostKeys::load_or_create(&dir, &entropy).unwrap();
    let second = HostKeys::load_or_create(&dir, &entropy).unwrap();
    assert_eq!(first.current().kid(), second.current().kid());
    let names: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["signing.pem"], "no drafts stay behind");
    #[cfg(unix)]
    {
        let mode = std::fs::metadata(dir.join("signing.pem")).unwrap();
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode.permissions()) & 0o777, 0o600);
    }
}

#[test]
fn u20_a_replaced_key_is_published_for_a_day() {
    let folder = tempfile::tempdir().unwrap();
    let entropy = CountedEntropy::default();
    let mut keys = HostKeys::load_or_create(folder.path(), &entropy).unwrap();
    let old = keys.current().kid().to_owned();
    keys.rotate(folder.path(), &entropy, now()).unwrap();
    assert_ne!(keys.current().kid(), old);
    let again = HostKeys::load_or_create(folder.path(), &entropy).unwrap();
    assert_eq!(again.current().kid(), keys.current().kid());
    let day = PREVIOUS_KEY_TTL.as_secs() as i64;
    for (seconds, published) in [(0, 1), (day - 1, 1), (day, 0)] {
        let previous: Vec<_> = again.previous(later(seconds)).map(|key| key.kid.clone()).collect();
        assert_eq!(previous.len(), published, "{seconds}");
        assert!(previous.iter().all(|kid| *kid == old));
        assert_eq!(again.jwks(later(seconds))["keys"].as_array().unwrap().len(), 1 + published);
    }
}

#[test]
fn a_broken_key_file_is_an_error_and_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("signing.pem"), "not a key").unwrap();
    let error = HostKeys::load_or_create(folder.path(), &CountedEntropy::default()).unwrap_err();
    assert!(error.to_string().contains("signing.pem"), "{error}");
    assert_eq!(std::fs::read_to_string(folder.path().join("signing.pem")).unwrap(), "not a key");
}

#[test]
fn keys_read_back_in_every_form_and_are_never_printed() {
    let key = key();
    let pem = key.to_private_pem().unwrap();
    assert_eq!(SigningKey::from_pem(&pem).unwrap().kid(), key.kid());
    let signature = key.sign(b"x");
    let jwk = key.public().to_jwk();
    let read = [
        VerifyKey::from_pem(&key.public().pem, None).unwrap(),
        VerifyKey::from_jwk(jwk.as_object().unwrap()).unwrap(),
        key.verify_key().unwrap(),
    ];
    assert!(read.iter().all(|key| key.verify(b"x", &signature) && !key.verify(b"y", &signature)));
    let body = pem.lines().nth(1).unwrap();
    assert!(!format!("{key:?}").contains(body));
}

/// The seed of RFC 8037 A.1, as PKCS #8 of version 1 and of version 2 (RFC 8410 10.3).
const VERSION_1: &str = "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g";
const VERSION_2: &str = "MFECAQEwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
gSEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

fn pem(body: &str) -> String {
    format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n")
}

#[test]
fn rfc8410_7_a_key_is_written_in_the_form_that_every_reader_has() {
    let written = SigningKey::from_pem(&pem(VERSION_1)).unwrap().to_private_pem().unwrap();
    assert_eq!(written.lines().nth(1), Some(VERSION_1), "without the public half, which OpenSSL 3.0 refuses");
}

#[test]
fn rfc8410_7_a_key_file_of_version_2_is_still_read() {
    let key = SigningKey::from_pem(&pem(VERSION_2)).unwrap();
    assert_eq!(key.kid(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
}

#[test]
fn openssl_reads_a_key_of_this_host() {
    let folder = tempfile::tempdir().unwrap();
    HostKeys::load_or_create(folder.path(), &CountedEntropy::default()).unwrap();
    let mut openssl = std::process::Command::new("openssl");
    openssl.args(["pkey", "-noout", "-text", "-in"]).arg(folder.path().join("signing.pem"));
    match openssl.output() {
        Ok(read) => assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr)),
        Err(_) => eprintln!("SKIPPED: openssl is not installed"),
    }
}

#[test]
fn rfc8037_a_3_the_thumbprint_is_the_one_of_the_example() {
    // The seed of RFC 8037 A.1 in PKCS #8.
    let pem = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n\
               -----END PRIVATE KEY-----\n";
    assert_eq!(SigningKey::from_pem(pem).unwrap().kid(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
}

fn problems(toml: &str) -> Vec<String> {
    let built = Verifier::new(&config(toml), Path::new("."), Arc::new(Shelf::default()));
    built.err().unwrap_or_default().into_iter().map(|problem| problem.to_string()).collect()
}

#[test]
fn every_problem_of_the_configuration_is_told_at_once() {
    let found = problems(
        r#"
        http_signatures = { algorithms = ["ed25519", "md5"] }
        [[bearer]]
        issuer = "a"
        audience = []
        [[bearer]]
        issuer = "b"
        audience = ["x"]
        [[bearer]]
        issuer = "c"
        audience = ["x"]
        jwks_url = "http://c.example/jwks"
        [[bearer]]
        issuer = "d"
        audience = ["x"]
        keys = [{ pem = "junk" }]
        [[trusted_issuers]]
        issuer = "a b"
        methods = ["m"]
        assurance = ["a"]
        subject_prefixes = ["s"]
        [[trusted_issuers]]
        issuer = "a.example"
        methods = ["m"]
        assurance = ["a"]
        subject_prefixes = [""]
        "#,
    );
    let keys = [
        "identity.bearer[0].audience:",
        "identity.bearer[1]:",
        "identity.bearer[2].jwks_url: must begin with https",
        "identity.bearer[3].keys[0]:",
        "identity.trusted_issuers[0].issuer:",
        "identity.trusted_issuers[1].subject_prefixes:",
        "identity.http_signatures.algorithms: `md5`",
    ];
    assert_eq!(found.len(), keys.len(), "{found:#?}");
    for (problem, key) in found.iter().zip(keys) {
        assert!(problem.starts_with(key), "{problem} / {key}");
    }
}

#[test]
fn unknown_keys_are_refused_and_an_empty_section_is_fine() {
    assert!(toml::from_str::<IdentityConfig>("bearer_tokens = []").is_err());
    assert!(toml::from_str::<IdentityConfig>("http_signatures = { enable = true }").is_err());
    assert!(problems("").is_empty());
}

proptest! {
    #[test]
    fn s0_no_text_makes_a_key_reader_panic(pem in ".{0,200}", x in "[A-Za-z0-9_=-]{0,60}", kty in "OKP|EC|RSA|oct|x") {
        let _ = SigningKey::from_pem(&pem);
        let _ = VerifyKey::from_pem(&pem, None);
        let jwk = serde_json::json!({
            "kty": kty, "crv": "Ed25519", "x": x, "y": x, "n": x, "e": x, "k": x, "alg": "HS256", "use": "sig",
        });
        if let Ok(key) = VerifyKey::from_jwk(jwk.as_object().unwrap()) {
            key.verify(b"message", pem.as_bytes());
        }
    }
}
