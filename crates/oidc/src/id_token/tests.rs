//! ID tokens of every algorithm that counts, and what must hold of each.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, ECDSA_P521_SHA512_FIXED_SIGNING, EcdsaKeyPair,
    EcdsaSigningAlgorithm, KeyPair as _, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256,
    RSA_PSS_SHA384, RSA_PSS_SHA512, RsaEncoding, RsaKeyPair,
};
use forecourt_jose::SigningKey;
use forecourt_testkit::CountedEntropy;
use serde_json::json;

use super::*;

const NOW: i64 = 1_800_000_000;

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn claims() -> Value {
    json!({"iss": "https://a.example", "aud": "us", "sub": "u1", "nonce": "n", "iat": NOW, "exp": NOW + 60})
}

/// A token with this head, signed by `sign`.
fn token(head: &Value, claims: &Value, sign: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let input = format!("{}.{}", encoded(head.to_string()), encoded(claims.to_string()));
    let signature = sign(input.as_bytes());
    format!("{input}.{}", encoded(signature))
}

fn read(token: &str, jwks: &Value) -> Result<Map<String, Value>, TokenError> {
    let now = Timestamp::from_second(NOW).unwrap();
    let expected = ExpectedClaims { issuer: "https://a.example", client_id: "us", nonce: "n", access_token: "a", now };
    ProviderToken::parse(token)?.id_claims(jwks, &expected)
}

struct Rsa(RsaKeyPair);

impl Rsa {
    fn new() -> Self {
        Self(RsaKeyPair::generate(KeySize::Rsa2048).unwrap())
    }

    fn jwk(&self) -> Value {
        let key = self.0.public_key();
        let (n, e) = (key.modulus(), key.exponent());
        let (n, e) = (n.big_endian_without_leading_zero(), e.big_endian_without_leading_zero());
        json!({"kty": "RSA", "kid": "k", "use": "sig", "n": encoded(n), "e": encoded(e)})
    }

    fn sign(&self, encoding: &'static dyn RsaEncoding, message: &[u8]) -> Vec<u8> {
        let mut signature = vec![0; self.0.public_modulus_len()];
        self.0.sign(encoding, &SystemRandom::new(), message, &mut signature).unwrap();
        signature
    }
}

fn elliptic(curve: &'static EcdsaSigningAlgorithm, name: &str) -> (EcdsaKeyPair, Value) {
    let key = EcdsaKeyPair::generate(curve).unwrap();
    let point = key.public_key().as_ref()[1..].to_vec();
    let (x, y) = point.split_at(point.len() / 2);
    let jwk = json!({"kty": "EC", "crv": name, "kid": "k", "x": encoded(x), "y": encoded(y)});
    (key, jwk)
}

#[test]
fn core3_1_3_7_rsa_of_each_padding_and_hash_counts_by_a_key_that_names_none() {
    let key = Rsa::new();
    let ways: [(&str, &'static dyn RsaEncoding); 6] = [
        ("RS256", &RSA_PKCS1_SHA256),
        ("RS384", &RSA_PKCS1_SHA384),
        ("RS512", &RSA_PKCS1_SHA512),
        ("PS256", &RSA_PSS_SHA256),
        ("PS384", &RSA_PSS_SHA384),
        ("PS512", &RSA_PSS_SHA512),
    ];
    let jwks = json!({"keys": [{"kty": "oct", "kid": "k", "k": "AAAA"}, key.jwk()]});
    for (name, encoding) in ways {
        let head = json!({"alg": name, "kid": "k", "typ": "JWT"});
        let good = token(&head, &claims(), |message| key.sign(encoding, message));
        assert_eq!(read(&good, &jwks).map(|claims| claims["sub"].clone()), Ok(json!("u1")), "{name}");
        // A key that is for another algorithm is none for this one.
        let mut other = key.jwk();
        other["alg"] = json!(if name == "RS256" { "PS256" } else { "RS256" });
        assert_eq!(read(&good, &json!({"keys": [other]})), Err(ProofError::UnknownKey.into()), "{name}");
    }
    let forged = token(&json!({"alg": "RS256"}), &claims(), |message| Rsa::new().sign(&RSA_PKCS1_SHA256, message));
    assert_eq!(read(&forged, &jwks), Err(ProofError::BadSignature.into()));
}

#[test]
fn core3_1_3_7_two_curves_count_and_a_third_does_not() {
    for (curve, name, algorithm, counts) in [
        (&ECDSA_P256_SHA256_FIXED_SIGNING, "P-256", "ES256", true),
        (&ECDSA_P384_SHA384_FIXED_SIGNING, "P-384", "ES384", true),
        (&ECDSA_P521_SHA512_FIXED_SIGNING, "P-521", "ES512", false),
    ] {
        let (key, jwk) = elliptic(curve, name);
        let sign = |message: &[u8]| key.sign(&SystemRandom::new(), message).unwrap().as_ref().to_vec();
        let good = token(&json!({"alg": algorithm}), &claims(), sign);
        let read = read(&good, &json!({"keys": [jwk]}));
        assert_eq!(read.is_ok(), counts, "{algorithm}");
    }
}

#[test]
fn rfc8725_3_1_neither_none_nor_a_shared_secret_signs() {
    let key = Rsa::new();
    let jwks = json!({"keys": [key.jwk(), {"kty": "oct", "alg": "HS256", "kid": "s", "k": encoded([7; 32])}]});
    for name in ["none", "HS256", "HS512"] {
        let head = json!({"alg": name, "kid": "s"});
        let secret = aws_lc_rs::hmac::Key::new(aws_lc_rs::hmac::HMAC_SHA256, &[7; 32]);
        let made = token(&head, &claims(), |message| aws_lc_rs::hmac::sign(&secret, message).as_ref().to_vec());
        assert_eq!(read(&made, &jwks), Err(ProofError::WrongAlgorithm.into()), "{name}");
    }
}

fn edwards() -> (SigningKey, Value) {
    let key = SigningKey::generate(&CountedEntropy::default());
    let jwks = json!({"keys": [key.public().to_jwk()]});
    (key, jwks)
}

#[test]
fn core3_1_3_7_each_claim_must_hold() {
    let (key, jwks) = edwards();
    let head = json!({"alg": "EdDSA", "kid": key.kid()});
    let read = |claims: &Value| read(&token(&head, claims, |message| key.sign(message).to_vec()), &jwks);
    let with = |name: &str, value: Value| {
        let mut claims = claims();
        match value {
            Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
            value => claims[name] = value,
        }
        read(&claims)
    };
    let good = [
        ("aud", json!(["us"])),
        ("azp", json!("us")),
        ("auth_time", json!(NOW - 5)),
        ("exp", json!(NOW as f64 + 0.5 + 1.0)),
        // Clocks differ, and the nonce says that it was made for us just now.
        ("iat", json!(NOW + 60)),
        ("at_hash", json!(token_hash(Algorithm::Ed25519, "a"))),
    ];
    for (name, value) in good {
        assert!(with(name, value.clone()).is_ok(), "{name} = {value}");
    }
    let wrong = [
        ("iss", json!("https://a.example/")),
        ("iss", Value::Null),
        ("aud", json!("them")),
        ("aud", json!([])),
        ("aud", json!(["us", "them"])),
        ("aud", json!(["us", 7])),
        ("aud", Value::Null),
        ("azp", json!("them")),
        ("azp", json!(["us"])),
        ("exp", json!(NOW)),
        ("exp", json!("soon")),
        ("exp", Value::Null),
        ("iat", Value::Null),
        ("auth_time", json!("lately")),
        ("nonce", json!("m")),
        ("nonce", json!(7)),
        ("nonce", Value::Null),
        ("sub", Value::Null),
        ("at_hash", json!(token_hash(Algorithm::Ed25519, "b"))),
        ("at_hash", json!(7)),
    ];
    for (name, value) in wrong {
        assert!(with(name, value.clone()).is_err(), "{name} = {value}");
    }
}

#[test]
fn rfc7515_4_1_only_what_is_a_jwt_is_read() {
    let (key, jwks) = edwards();
    let read = |more: Value| {
        let mut head = json!({"alg": "EdDSA", "kid": key.kid()});
        head.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        read(&token(&head, &claims(), |message| key.sign(message).to_vec()), &jwks)
    };
    for good in [json!({"typ": "JWT"}), json!({"typ": "application/jwt"}), json!({"typ": "JOSE"})] {
        assert!(read(good.clone()).is_ok(), "{good}");
    }
    for wrong in [json!({"typ": "at+jwt"}), json!({"typ": 7}), json!({"cty": "JWT"}), json!({"crit": ["exp"]})] {
        assert!(read(wrong.clone()).is_err(), "{wrong}");
    }
}

#[test]
fn core10_1_a_key_is_found_by_its_name_or_where_none_is_named_among_a_few() {
    let (key, other) = (SigningKey::generate(&CountedEntropy::default()), Rsa::new());
    let mut mine = key.public().to_jwk();
    let jwks = |mine: &Value| json!({"keys": [other.jwk(), mine]});
    let named = token(&json!({"alg": "EdDSA", "kid": key.kid()}), &claims(), |message| key.sign(message).to_vec());
    let nameless = token(&json!({"alg": "EdDSA"}), &claims(), |message| key.sign(message).to_vec());
    assert!(read(&named, &jwks(&mine)).is_ok() && read(&nameless, &jwks(&mine)).is_ok());
    mine["use"] = json!("enc");
    assert_eq!(read(&named, &jwks(&mine)), Err(ProofError::UnknownKey.into()));
    mine["use"] = json!("sig");
    mine["kid"] = json!("another");
    assert_eq!(read(&named, &jwks(&mine)), Err(ProofError::UnknownKey.into()));
}

#[test]
fn core_a_3_the_hash_of_an_access_token() {
    let example = token_hash(Algorithm::Rs256, "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y");
    assert_eq!(example.as_deref(), Some("77QmUPtjPfzWtF2AnpK9RQ"));
    let lengths = [Algorithm::Es256, Algorithm::Ps384, Algorithm::Rs512].map(|a| token_hash(a, "a").unwrap().len());
    assert_eq!(lengths, [22, 32, 43]);
    assert_eq!(token_hash(Algorithm::Hs256, "a"), None);
}

#[test]
fn a_token_has_its_bound() {
    let long = "a".repeat(ID_TOKEN_BYTES_MAX);
    assert!(ProviderToken::parse(&format!("{long}.a.a")).is_err());
    let (key, jwks) = edwards();
    let mut claims = claims();
    claims["groups"] = json!("g".repeat(ID_TOKEN_BYTES_MAX / 2));
    let head = json!({"alg": "EdDSA", "kid": key.kid()});
    assert!(read(&token(&head, &claims, |message| key.sign(message).to_vec()), &jwks).is_ok());
}
