//! Who a card comes from: a signature for each version's verifiers.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forecourt_a2a::card::limits::SIGNATURES_MAX;
use forecourt_a2a::card::names::{AGENTS, JWKS_PATH};
use forecourt_a2a::card::{SignatureError, SignatureScope, verify_signature};
use forecourt_a2a::model::Version;
use forecourt_core::{AgentCard, Timestamp};
use forecourt_identity::{HostKeys, KeySet};
use forecourt_testkit::card;
use serde_json::{Value, json};

use crate::card::support::{ORIGIN, Published, Setup, skilled, two};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn verified(published: &Published, card: &Value) -> Result<SignatureScope, SignatureError> {
    verify_signature(card, &published.key_set(), NOW)
}

/// The card with one of its signatures.
fn with_signature(mut card: Value, index: usize) -> Value {
    card["signatures"] = json!([card["signatures"][index]]);
    card
}

#[tokio::test]
async fn the_default_form_is_signed_for_the_verifiers_of_both_versions() {
    let published = Setup::of([skilled("chef", "cook"), card("gate")]).with_identity().publish().await;
    for hub in [published.hub(), published.agent("chef")] {
        assert_eq!(hub["signatures"].as_array().unwrap().len(), 2);
        assert_eq!(verified(&published, &with_signature(hub.clone(), 0)), Ok(SignatureScope::V1_0));
        assert_eq!(verified(&published, &with_signature(hub, 1)), Ok(SignatureScope::V0_3));
    }
}

#[tokio::test]
async fn the_form_of_1_0_has_the_signature_of_1_0() {
    let published = two().await;
    let hub = published.hub_1_0();
    assert_eq!(hub["signatures"].as_array().unwrap().len(), 1);
    assert_eq!(verified(&published, &hub), Ok(SignatureScope::V1_0));
    // What is covered is the same in both forms, and so is the signature.
    assert_eq!(hub["signatures"][0], published.hub()["signatures"][0]);
}

#[tokio::test]
async fn design_21_the_header_says_where_the_keys_are() {
    let published = two().await;
    for signature in published.hub()["signatures"].as_array().unwrap() {
        let header = URL_SAFE_NO_PAD.decode(signature["protected"].as_str().unwrap()).unwrap();
        let header: Value = serde_json::from_slice(&header).unwrap();
        let kid = published.keys.load().current().kid().to_owned();
        let expected = json!({"alg": "EdDSA", "typ": "JOSE", "kid": kid, "jku": format!("{ORIGIN}{JWKS_PATH}")});
        assert_eq!(header, expected);
    }
}

#[tokio::test]
async fn a_card_that_was_changed_is_not_believed() {
    let published = two().await;
    let mut hub = published.hub();
    hub["name"] = "Another".into();
    assert!(matches!(verified(&published, &hub), Err(SignatureError::Invalid(_))));
    let mut hub = published.hub();
    hub["supportedInterfaces"][0]["url"] = "https://evil.example/a2a".into();
    // The fields of 0.3 are as they were, and that is all that is said.
    assert_eq!(verified(&published, &hub), Ok(SignatureScope::V0_3));
    hub["url"] = "https://evil.example/a2a".into();
    assert!(verified(&published, &hub).is_err());
}

#[tokio::test]
async fn mentionable_s_own_keys_are_not_covered_but_the_extension_is() {
    let published = two().await;
    let mut hub = published.hub();
    hub[AGENTS] = json!([]);
    assert_eq!(verified(&published, &hub), Ok(SignatureScope::V1_0));
    hub["capabilities"]["extensions"][0]["params"]["defaultAgent"] = "gate".into();
    assert!(verified(&published, &hub).is_err());
}

#[tokio::test]
async fn a_card_without_signatures_is_unsigned() {
    let published = two().await;
    let mut hub = published.hub();
    hub.as_object_mut().unwrap().remove("signatures");
    assert_eq!(verified(&published, &hub), Err(SignatureError::Unsigned));
    for nonsense in [json!("x"), json!([]), json!({})] {
        hub["signatures"] = nonsense;
        assert_eq!(verified(&published, &hub), Err(SignatureError::Unsigned));
    }
    for nonsense in [json!([7]), json!([{}]), json!([{"protected": "e30", "signature": "AA"}])] {
        hub["signatures"] = nonsense;
        assert!(matches!(verified(&published, &hub), Err(SignatureError::Invalid(_))));
    }
}

#[tokio::test]
async fn a_key_that_is_not_the_host_s_verifies_nothing() {
    let published = two().await;
    let other = HostKeys::in_memory(published.entropy.as_ref());
    let others = KeySet::from_jwks(&other.jwks(NOW)).unwrap();
    assert!(verify_signature(&published.hub(), &others, NOW).is_err());
}

#[tokio::test]
async fn one_good_signature_is_enough_within_a_bound() {
    let published = two().await;
    let mut hub = published.hub();
    let good = hub["signatures"][0].clone();
    let bad = json!({"protected": good["protected"], "signature": "AA"});
    let mut signatures = vec![bad.clone(); SIGNATURES_MAX - 1];
    signatures.push(good);
    hub["signatures"] = json!(signatures);
    assert_eq!(verified(&published, &hub), Ok(SignatureScope::V1_0));
    signatures.insert(0, bad);
    hub["signatures"] = json!(signatures);
    assert!(verified(&published, &hub).is_err());
}

#[tokio::test]
async fn text_of_every_script_is_signed_for_both() {
    let agent =
        AgentCard { name: "Kürbis 🎃".to_owned(), description: "a\u{7f}b \"x\" \\ \n".to_owned(), ..card("chef") };
    let published = Setup::of([agent]).publish().await;
    assert_eq!(verified(&published, &with_signature(published.hub(), 0)), Ok(SignatureScope::V1_0));
    assert_eq!(verified(&published, &with_signature(published.hub(), 1)), Ok(SignatureScope::V0_3));
}

#[tokio::test]
async fn empties_and_unknown_fields_change_nothing() {
    let published = two().await;
    let mut hub = published.hub();
    hub["documentationUrl"] = "".into();
    hub["skills"][0]["examples"] = json!([]);
    hub["x-unknown"] = json!({"a": 1});
    hub["capabilities"]["extensions"][0]["required"] = false.into();
    assert_eq!(verified(&published, &hub), Ok(SignatureScope::V1_0));
    hub["capabilities"]["extensions"][0]["required"] = true.into();
    assert!(verified(&published, &hub).is_err());
}

#[tokio::test]
async fn cards_are_signed_anew_after_a_rotation() {
    let published = two().await;
    let before = published.hub();
    published.keys.store(HostKeys::in_memory(published.entropy.as_ref()).into());
    assert!(verified(&published, &before).is_err());
    assert_eq!(verified(&published, &published.hub()), Ok(SignatureScope::V1_0));
    assert!(published.cards.agent(&crate::card::support::handle_of("gate"), Version::V1_0).is_some());
}
