//! Forwarded identity evidence. Mentionable REST 7.3 and identity-evidence v0.1.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
use forecourt_core::json::canonical;
use forecourt_identity::evidence::{HEADERS, UnverifiedEvidence, decode};
use forecourt_identity::limits::{
    EVIDENCE_BYTES_MAX, EVIDENCE_ENTRIES_MAX, EVIDENCE_ENTRY_BYTES_MAX, EVIDENCE_LIFETIME_MAX,
};
use forecourt_identity::{PresentedCredentials, RequestSigner, SigningKey, Verifier, jws};
use forecourt_testkit::CountedEntropy;
use http::{HeaderMap, HeaderValue, Method};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Sent, Shelf, book, key, later, now, other_key};

const CARD: &str = "https://slack.example/.well-known/adapter-card";
const TRUST: &str = r#"
[[trusted_issuers]]
issuer = "slack.example"
methods = ["urn:mentionable:auth:slack-workspace-member:v0.1"]
assurance = ["platform"]
subject_prefixes = ["slack:T1/"]
authenticated_as = ["oauth:https://idp.example#connector"]
"#;

fn shelf() -> Arc<Shelf> {
    let shelf = Shelf::default();
    shelf.put(CARD, json!({"signing_key": key().public().to_card(), "callback": "https://slack.example/cb"}));
    Arc::new(shelf)
}

fn evidence() -> Value {
    json!({
        "id": "e1", "subject": "slack:T1/U456", "issuer": "slack.example",
        "method": "urn:mentionable:auth:slack-workspace-member:v0.1", "assurance": "platform",
        "audience": "@chef@demo.localhost", "issued_at": now(), "expires_at": later(300),
        "a_later_field": {"kept": true},
        "proof": {"type": "signed-attestation", "alg": "Ed25519", "kid": key().kid()},
    })
}

fn attested(mut evidence: Value, key: &SigningKey) -> Value {
    let signature = key.sign(&canonical(&evidence).unwrap());
    evidence["proof"]["value"] = URL_SAFE_NO_PAD.encode(signature).into();
    evidence
}

fn carrying(entries: &[Value]) -> Sent {
    Sent::default().with("mentionable-identity-evidence", &URL_SAFE_NO_PAD.encode(json!(entries).to_string()))
}

async fn subjects(sent: &Sent, verifier: &Verifier) -> Vec<String> {
    let verified = sent.to(verifier).await;
    assert_eq!(verified.sender.verified, !verified.sender.identities.is_empty());
    verified.sender.identities.into_iter().map(|evidence| evidence.subject).collect()
}

async fn holds(change: impl FnOnce(&mut Value)) -> bool {
    let mut entry = evidence();
    change(&mut entry);
    let sent = carrying(&[attested(entry, &key())]);
    !subjects(&sent, &crate::support::verifier(TRUST, shelf())).await.is_empty()
}

#[tokio::test]
async fn a_signed_attestation_of_a_trusted_connector_names_the_sender() {
    let verified = carrying(&[attested(evidence(), &key())]).to(&crate::support::verifier(TRUST, shelf())).await;
    assert_eq!(verified.presented, PresentedCredentials::Nothing, "evidence is no credential of the request");
    assert_eq!(verified.sender.owner(), Some("slack:T1/U456"));
    assert_eq!((verified.sender.auth_method.as_str(), verified.sender.address.as_str()), ("none", ""));
}

#[tokio::test]
async fn rest_7_3_what_was_verified_can_not_be_shown_again_by_who_reads_it() {
    let entry = attested(evidence(), &key());
    let value = entry["proof"]["value"].as_str().unwrap().to_owned();
    let verified = carrying(&[entry]).to(&crate::support::verifier(TRUST, shelf())).await;
    let told = serde_json::to_value(&verified.sender).unwrap();
    assert_eq!(told["identities"][0]["proof"]["type"], "signed-attestation");
    assert!(!told.to_string().contains(&value), "{told}");
}

#[tokio::test]
async fn rest_7_3_nothing_is_fetched_for_whom_nobody_trusts() {
    for (field, value) in [
        ("issuer", "evil.example"),
        ("method", "urn:mentionable:auth:other:v0.1"),
        ("assurance", "wallet"),
        ("subject", "slack:T2/U1"),
        ("audience", "demo.localhost"),
        ("audience", "@gate@demo.localhost"),
        ("issued_at", "2025-12-31T23:00:00Z"),
        ("issuer", "slack.example@evil.example"),
        ("issuer", "slack.example/../evil"),
    ] {
        let mut entry = evidence();
        entry[field] = value.into();
        let shelf = shelf();
        let sent = carrying(&[attested(entry, &key())]);
        assert!(subjects(&sent, &crate::support::verifier(TRUST, shelf.clone())).await.is_empty(), "{field} {value}");
        assert_eq!(shelf.count(), 0, "{field} {value}");
    }
}

#[tokio::test]
async fn s5_3_audiences_are_compared_as_addresses() {
    assert!(holds(|e| e["audience"] = "CHEF@Demo.Localhost".into()).await);
    assert!(holds(|e| e["audience"] = json!(["@gate@demo.localhost", "acct:chef@demo.localhost"])).await);
    assert!(!holds(|e| e["audience"] = json!([])).await);
}

#[tokio::test]
async fn s5_3_evidence_is_fresh_and_short_lived() {
    let lifetime = EVIDENCE_LIFETIME_MAX.as_secs() as i64;
    for (issued, expires, expected) in [
        (0, Some(lifetime), true),
        (0, Some(lifetime + 1), false),
        (60, Some(120), true),
        (61, Some(120), false),
        (-60, Some(0), false),
        (-60, Some(1), true),
        (1 - lifetime, None, true),
        (-lifetime, None, false),
    ] {
        let found = holds(|e| {
            e["issued_at"] = json!(later(issued));
            e["expires_at"] = json!(expires.map(later));
        });
        assert_eq!(found.await, expected, "{issued} {expires:?}");
    }
    assert!(holds(|e| e["not_before"] = json!(later(60))).await);
    assert!(!holds(|e| e["not_before"] = json!(later(61))).await);
}

#[tokio::test]
async fn s5_3_only_the_connectors_key_over_the_canonical_form_counts() {
    let verifier = crate::support::verifier(TRUST, shelf());
    let mut changed = attested(evidence(), &key());
    changed["subject"] = "slack:T1/U457".into();
    let mut changed_extra = attested(evidence(), &key());
    changed_extra["a_later_field"] = json!({"kept": false});
    let foreign = attested(evidence(), &other_key());
    for entry in [changed, changed_extra, foreign] {
        assert!(subjects(&carrying(&[entry]), &verifier).await.is_empty());
    }
    for (field, value) in [("alg", "RS256"), ("alg", "none"), ("kid", "other"), ("canonicalization", "none")] {
        assert!(!holds(|e| e["proof"][field] = value.into()).await, "{field} {value}");
    }
    for (field, value) in [("alg", "EdDSA"), ("canonicalization", "RFC8785"), ("canonicalization", "JCS")] {
        assert!(holds(|e| e["proof"][field] = value.into()).await, "{field} {value}");
    }
    let mut standard = attested(evidence(), &key());
    let signature = URL_SAFE_NO_PAD.decode(standard["proof"]["value"].as_str().unwrap()).unwrap();
    standard["proof"]["value"] = STANDARD.encode(signature).into();
    assert_eq!(subjects(&carrying(&[standard]), &verifier).await.len(), 1);
}

#[tokio::test]
async fn s5_4_the_keys_of_a_card_come_in_several_forms() {
    let public = key().public().clone();
    let kid = key().kid().to_owned();
    let forms = [
        json!({"signing_key": {"kid": kid, "alg": "EdDSA", "jwk": public.to_jwk()}}),
        json!({"signing_keys": [{"kid": kid, "public_key": public.x}]}),
        json!({"signing_key": other_key().public().to_card(), "previous_signing_keys": [public.to_card()]}),
        json!({"signing_key": public.to_card(), "previous_signing_keys": [public.to_card()]}),
        json!({"signing_key": {"alg": "Ed25519", "pem": public.pem}}),
        json!({"signing_keys": ["junk", {"kid": 7}, public.to_card()]}),
    ];
    for card in forms {
        let shelf = Arc::new(Shelf::default());
        shelf.put(CARD, card.clone());
        let sent = carrying(&[attested(evidence(), &key())]);
        assert_eq!(subjects(&sent, &crate::support::verifier(TRUST, shelf)).await.len(), 1, "{card}");
    }
    let mut ended = public.to_card();
    ended["not_after"] = json!(now());
    let mut rsa = public.to_card();
    rsa["alg"] = "RS256".into();
    for card in [json!({"previous_signing_keys": [ended]}), json!({"signing_key": rsa}), json!({}), json!([])] {
        let shelf = Arc::new(Shelf::default());
        shelf.put(CARD, card.clone());
        let sent = carrying(&[attested(evidence(), &key())]);
        assert!(subjects(&sent, &crate::support::verifier(TRUST, shelf)).await.is_empty(), "{card}");
    }
}

#[tokio::test]
async fn rest_7_3_unsigned_evidence_counts_only_from_the_connector_itself() {
    let mut entry = evidence();
    entry["proof"] = json!({"type": "transport", "verified_by": "slack.example"});
    let verifier = with_connector();
    assert!(subjects(&carrying(&[entry.clone()]), &verifier).await.is_empty());
    for (subject, expected) in [("connector", true), ("somebody", false)] {
        let claims = json!({"iss": "https://idp.example", "aud": "us", "sub": subject, "exp": later(60).as_second()});
        let token = jws::sign(&key(), "JWT", claims.to_string().as_bytes());
        let sent = carrying(&[entry.clone()]).with("authorization", &format!("Bearer {token}"));
        let found = subjects(&sent, &verifier).await;
        assert_eq!(found[0] == "slack:T1/U456", expected, "{found:?}");
    }
    entry["proof"]["type"] = "made-up".into();
    let found = subjects(&carrying(&[entry]), &verifier).await;
    assert!(found.is_empty());
}

/// Trusts a bearer issuer beside the connector.
fn with_connector() -> Verifier {
    let pem = key().public().pem.clone();
    let bearer = format!(
        "[[bearer]]\nissuer = \"https://idp.example\"\naudience = [\"us\"]\nkeys = [{{ pem = '''{pem}''' }}]\n{TRUST}"
    );
    crate::support::verifier(&bearer, shelf())
}

#[tokio::test]
async fn rest_7_3_a_signature_of_an_agent_on_the_connectors_host_is_the_connector() {
    let trust = TRUST.replace("issuer = \"slack.example\"", "issuer = \"peer.example\"");
    let mut entry = evidence();
    entry["issuer"] = "peer.example".into();
    entry["proof"] = json!({"type": "transport"});
    let mut sent = carrying(&[entry]);
    let signer = RequestSigner { key: key(), keyid: "acct:bot@peer.example".to_owned() };
    let url = sent.target_uri.parse().unwrap();
    signer.sign(&Method::POST, &url, &mut sent.headers, b"hello", now(), &CountedEntropy::default()).unwrap();
    let verifier = crate::support::verifier(&trust, shelf()).with_directory(book(&key()));
    assert_eq!(subjects(&sent, &verifier).await, ["slack:T1/U456", "@bot@peer.example"]);
}

#[tokio::test]
async fn malformed_entries_are_left_out_one_by_one_and_the_good_ones_stay() {
    let mut lacking = evidence();
    lacking.as_object_mut().unwrap().remove("subject");
    let huge = json!({"x": "y".repeat(EVIDENCE_ENTRY_BYTES_MAX)});
    let sent = carrying(&[json!(7), huge, lacking, attested(evidence(), &key())]);
    assert_eq!(subjects(&sent, &crate::support::verifier(TRUST, shelf())).await, ["slack:T1/U456"]);
}

#[tokio::test]
async fn one_time_evidence_is_good_for_one_request() {
    let sent = carrying(&[attested(evidence(), &key())]);
    let many = crate::support::verifier(TRUST, shelf());
    let once = crate::support::verifier(&format!("one_time_evidence = true\n{TRUST}"), shelf());
    for (verifier, second) in [(many, 1), (once, 0)] {
        assert_eq!(subjects(&sent, &verifier).await.len(), 1);
        assert_eq!(subjects(&sent, &verifier).await.len(), second);
    }
}

#[tokio::test]
async fn rest_7_4_the_hint_is_a_hint() {
    let verifier = crate::support::verifier("", Arc::default());
    let verified = Sent::default().with("x-mentionable-from", "@Bot@Peer.Example").to(&verifier).await;
    assert_eq!(verified.sender.claimed_address.as_deref(), Some("@bot@peer.example"));
    assert_eq!((verified.sender.verified, verified.sender.address.as_str()), (false, ""));
    let verified = Sent::default().with("x-mentionable-from", "<script>@x").to(&verifier).await;
    assert_eq!(verified.sender.claimed_address, None);
}

#[test]
fn the_header_is_read_with_or_without_padding_under_its_three_names() {
    let text = json!([{"a": "??>>"}]).to_string();
    for name in HEADERS {
        for value in [URL_SAFE.encode(&text), URL_SAFE_NO_PAD.encode(&text)] {
            let mut headers = HeaderMap::new();
            headers.insert(name.clone(), HeaderValue::from_str(&value).unwrap());
            assert_eq!(decode(&headers).entries, [json!({"a": "??>>"})], "{name}");
        }
    }
    for value in [STANDARD.encode(text.replace('?', "\u{fff}")), URL_SAFE_NO_PAD.encode("{}"), "%%%".to_owned()] {
        let mut headers = HeaderMap::new();
        headers.insert(&HEADERS[0], HeaderValue::from_str(&value).unwrap());
        let carried = decode(&headers);
        assert_eq!((carried.entries.len(), carried.dropped), (0, 1), "{value}");
    }
}

#[test]
fn four_entries_are_read_and_the_others_dropped() {
    let mut carried = UnverifiedEvidence::default();
    carried.take(vec![json!({}); EVIDENCE_ENTRIES_MAX]);
    assert_eq!((carried.entries.len(), carried.dropped), (EVIDENCE_ENTRIES_MAX, 0));
    carried.take(vec![json!({})]);
    assert_eq!((carried.entries.len(), carried.dropped), (EVIDENCE_ENTRIES_MAX, 1));
    let fitting = |bytes: usize| json!({"a": "x".repeat(bytes - r#"{"a":""}"#.len())});
    for (bytes, kept) in [(EVIDENCE_ENTRY_BYTES_MAX, 1), (EVIDENCE_ENTRY_BYTES_MAX + 1, 0)] {
        let mut carried = UnverifiedEvidence::default();
        carried.take(vec![fitting(bytes)]);
        assert_eq!(carried.entries.len(), kept, "{bytes}");
    }
}

#[test]
fn a_field_holds_at_most_sixty_four_kibibytes() {
    for (bytes, kept) in [(EVIDENCE_BYTES_MAX, 3), (EVIDENCE_BYTES_MAX + 1, 0)] {
        let head = r#"[{},{},{}"#;
        let text = format!("{head}{:1$}]", "", bytes - head.len() - 1);
        let mut headers = HeaderMap::new();
        headers.insert(&HEADERS[0], HeaderValue::from_str(&URL_SAFE_NO_PAD.encode(text)).unwrap());
        assert_eq!(decode(&headers).entries.len(), kept, "{bytes}");
    }
}

proptest! {
    #[test]
    fn s0_no_header_makes_the_reader_panic(text in "[ -~]{0,200}", inner in ".{0,200}") {
        for value in [text, URL_SAFE_NO_PAD.encode(inner)] {
            let mut headers = HeaderMap::new();
            headers.insert(&HEADERS[0], HeaderValue::from_str(&value).unwrap());
            let _ = decode(&headers);
        }
    }
}
