use forecourt_jose::SigningKey;
use serde_json::json;

use super::*;

/// The private key with the bytes 0 to 31, as the published example has it.
fn key() -> SigningKey {
    #[derive(Debug)]
    struct Counting;
    impl forecourt_core::Entropy for Counting {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.iter_mut().zip(0..).for_each(|(byte, n)| *byte = n);
        }
    }
    SigningKey::generate(&Counting)
}

const NAME: &str = "27f2653c2f2b4c0ed8c8e18c6b8385ad2796d343311736d089d1949f78b6ee42";

fn draft() -> GenesisDraft {
    GenesisDraft {
        name: None,
        owner: "acme.tld".to_owned(),
        archetype: Archetype::Executor,
        governance_zone: "development".to_owned(),
        scope: vec!["booking:room".to_owned(), "rcns:negotiate".to_owned()],
        trust_tier: TrustTier::OrgAsserted,
        verification_path: "org-asserted".to_owned(),
        issued_at: "2026-01-15T09:00:00Z".parse().unwrap(),
    }
}

fn read(document: &Value) -> Result<Genesis, GenesisError> {
    Genesis::parse(document.to_string().as_bytes(), None)
}

#[test]
fn base_6_2_the_published_example_has_its_name_and_signature() {
    let genesis = draft().sign(&key()).unwrap();
    assert_eq!(genesis.id().as_str(), NAME);
    let signature = "ORngFF4iD1W88Gz1RZHHgGETqvgKztMrAgbU6lDkSFgVkwjKXQBK7OA7ZipmeWiE59o3M4ZFhpDCkV0ksOO9BQ";
    assert_eq!(genesis.document()["signature"], signature);
    assert_eq!(genesis.document()["issuer_public_key"], "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg");
    let fingerprint = "56475aa75463474c0285df5dbf2bcab73da651358839e9b77481b2eab107708c";
    assert_eq!(genesis.issuer_fingerprint().as_deref(), Some(fingerprint));
    assert_eq!((genesis.owner(), genesis.trust_tier()), (Some("acme.tld"), Some(TrustTier::OrgAsserted)));
    assert_eq!(genesis.scope().collect::<Vec<_>>(), ["booking:room", "rcns:negotiate"]);
    assert_eq!(genesis.issued_at(), Some(draft().issued_at));
}

#[test]
fn s5_8_1_what_was_served_is_read_again_under_the_same_name() {
    let genesis = draft().sign(&key()).unwrap();
    let served = serde_json::to_vec_pretty(genesis.document()).unwrap();
    assert_eq!(Genesis::parse(&served, Some(genesis.id())), Ok(genesis.clone()));
    let mut nameless = genesis.document().clone();
    nameless.remove("agent_id");
    assert_eq!(Genesis::check(nameless, None).unwrap().id(), genesis.id());
}

#[test]
fn what_was_changed_is_no_longer_signed() {
    let genesis = draft().sign(&key()).unwrap();
    for (field, value) in [("owner", json!("evil.tld")), ("trust_tier", json!(1)), ("extra", json!(true))] {
        let mut changed = genesis.document().clone();
        changed.insert(field.to_owned(), value);
        assert_eq!(Genesis::check(changed, None), Err(GenesisError::Signature), "{field}");
    }
    let other = AgentId::of_hash(&[1; 32]);
    let found = genesis.id().clone();
    assert_eq!(Genesis::check(genesis.document().clone(), Some(&other)), Err(GenesisError::AgentId { found }));
    let mut renamed = genesis.document().clone();
    renamed.insert("agent_id".to_owned(), other.as_str().into());
    assert!(matches!(Genesis::check(renamed, None), Err(GenesisError::AgentId { .. })));
}

#[test]
fn what_is_no_document_says_what_is_missing() {
    let whole = Value::Object(draft().sign(&key()).unwrap().document().clone());
    for (field, value) in [
        ("signature", json!(null)),
        ("signature", json!("not base64!")),
        ("issuer_public_key", json!("AAAA")),
        ("issuer_public_key", json!("-----BEGIN PUBLIC KEY-----\nnonsense\n-----END PUBLIC KEY-----")),
    ] {
        let mut broken = whole.clone();
        broken[field] = value;
        assert_eq!(read(&broken), Err(GenesisError::Field(field)));
    }
    assert!(matches!(read(&json!([1])), Err(GenesisError::Malformed(_))));
    assert!(matches!(Genesis::parse(b"{", None), Err(GenesisError::Malformed(_))));
    assert!(matches!(Genesis::parse(br#"{"a":1,"a":2}"#, None), Err(GenesisError::Malformed(_))));
}

/// A document as the reference implementation writes it: escapes, a PEM key, other names of fields.
#[test]
fn base_6_2_the_other_spelling_of_what_is_not_ascii_is_taken_and_told() {
    let mut document = json!({
        "agtp_genesis_version": "agtp-genesis/1", "name": "café 🍰", "owner_id": "acme.tld",
        "issuer_public_key": key().public().pem,
    });
    let escaped = canonical::escaped(&canonical::plain(document.as_object().unwrap(), &NOT_HASHED).unwrap());
    assert!(escaped.contains("caf\\u00e9 \\ud83c\\udf70"), "{escaped}");
    document["signature"] = forecourt_jose::encoding::to_base64url(&key().sign(escaped.as_bytes())).into();
    let genesis = read(&document).unwrap();
    assert_eq!((genesis.is_escaped(), genesis.owner()), (true, Some("acme.tld")));
    assert_eq!(*genesis.id(), canonical::hash(escaped.as_bytes()));
    assert!(!draft().sign(&key()).unwrap().is_escaped());
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_an_origin_or_a_fault(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
        let _ = Genesis::parse(&bytes, None);
    }
}
