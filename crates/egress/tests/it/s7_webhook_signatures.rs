//! `X-Hub-Signature-256`. Mentionable REST 5.5.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use forecourt_egress::signature::{sign, verify};
use forecourt_testkit::vectors;
use proptest::prelude::*;
use serde_json::Value;

#[test]
fn rest_5_5_signatures_are_those_of_the_vectors() {
    let Some(bytes) = vectors("webhooks/hmac.json") else { return };
    for case in serde_json::from_slice::<Vec<Value>>(&bytes).unwrap() {
        let (secret, header) = (case["secret"].as_str().unwrap(), case["header"].as_str().unwrap());
        let body = STANDARD.decode(case["body_b64"].as_str().unwrap()).unwrap();
        let valid = case["valid"].as_bool().unwrap();
        assert_eq!(verify(secret.as_bytes(), &body, header), valid, "{case}");
        assert_eq!(sign(secret.as_bytes(), &body) == header, valid, "{case}");
    }
}

proptest! {
    #[test]
    fn s0_no_value_makes_the_check_panic(value in ".{0,100}", body in ".{0,50}") {
        prop_assert!(!verify(b"secret", body.as_bytes(), &value));
    }

    #[test]
    fn what_was_signed_verifies_and_nothing_else(body in ".{0,50}", other in ".{0,50}") {
        let value = sign(b"secret", body.as_bytes());
        prop_assert!(verify(b"secret", body.as_bytes(), &value));
        prop_assert_eq!(verify(b"secret", other.as_bytes(), &value), body == other);
        prop_assert!(!verify(b"another", body.as_bytes(), &value));
    }
}
