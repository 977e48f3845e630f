//! The signature, checked by another way than the one that made it. AGTP-API 8.8; base 6.6, 11.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forecourt_identity::{HostKeys, VerifyKey};

use super::*;

/// Takes a manifest apart by hand and checks its signature with the key that it publishes itself.
fn verified(manifest: &Value) -> bool {
    let mut unsigned = manifest.as_object().unwrap().clone();
    let signature = unsigned.remove("manifest_signature").unwrap();
    let (protected, signature) = signature.as_str().unwrap().split_once("..").unwrap();
    let decode = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
    let header: Value = serde_json::from_slice(&decode(protected)).unwrap();
    let keys = manifest["server"]["signing_keys"]["keys"].as_array().unwrap();
    let key = keys.iter().find(|key| key["kid"] == header["kid"]).unwrap();
    assert_eq!((&key["kty"], &key["crv"]), (&json!("OKP"), &json!("Ed25519")));
    let raw: [u8; 32] = decode(key["x"].as_str().unwrap()).try_into().unwrap();
    let payload = URL_SAFE_NO_PAD.encode(forecourt_core::json::canonical(&unsigned).unwrap());
    VerifyKey::ed25519(&raw).unwrap().verify(format!("{protected}.{payload}").as_bytes(), &decode(signature))
}

#[tokio::test]
async fn s8_8_every_manifest_is_signed_as_its_caller_gets_it() {
    let place = Place::with("agents.disclosure = \"authenticated\"").await;
    let proven = proven(targetless());
    for ask in [targetless(), stranger("/"), proven] {
        let manifest = place.json(&ask).await;
        assert!(verified(&manifest));
        let mut other = manifest.clone();
        other["policies"]["scope_required_for_invocation"] = json!(false);
        assert!(!verified(&other), "section 16.3: the policy is covered");
    }
}

#[tokio::test]
async fn the_header_is_exactly_that_of_the_base_protocol() {
    let manifest = Place::with("").await.manifest().await;
    let protected = manifest["manifest_signature"].as_str().unwrap().split('.').next().unwrap();
    let header: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(protected).unwrap()).unwrap();
    let kid = &manifest["server"]["signing_keys"]["keys"][0]["kid"];
    assert_eq!(header, json!({"alg": "EdDSA", "kid": kid, "typ": "agtp-manifest+jws"}));
}

#[tokio::test]
async fn new_keys_make_a_new_edition() {
    let place = Place::with("").await;
    let before = place.manifest().await;
    let fresh = HostKeys::in_memory(place.mounted.entropy.as_ref());
    place.mounted.mount.keys.store(Arc::new(fresh));
    let after = place.manifest().await;
    assert!(verified(&after));
    assert_ne!(before["document_version"], after["document_version"]);
    assert_ne!(before["server"]["signing_keys"], after["server"]["signing_keys"]);
}

#[tokio::test]
async fn s8_8_what_has_no_canonical_form_goes_out_unsigned() {
    let mut odd = definition("BOOK", "/room");
    odd.input_schema = Some(json!({
        "type": "object", "properties": {"n": {"type": "integer", "maximum": 9_007_199_254_740_993_u64}},
        "additionalProperties": false,
    }));
    let manifest = Place::of_contract(endpoints(vec![odd])).await.manifest().await;
    assert_eq!(manifest["manifest_signature"], Value::Null);
}
