//! `Authorization: Bearer`. Mentionable REST 7.2; RFC 6750, 7519 and 8725.

use std::path::Path;
use std::sync::Arc;

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forecourt_core::json::parse;
use forecourt_core::{Domain, ScopeSet};
use forecourt_identity::agents::{self, AgentHome, AgentIdentitySettings, KnownAgents};
use forecourt_identity::limits::{KEYS_FRESH, KEYS_MAX, KEYS_RETRY, SUBJECT_BYTES_MAX, TOKEN_BYTES_MAX};
use forecourt_identity::{HostKeys, KeySet, PresentedCredentials, ProofError, SigningKey, Verifier, jws};
use forecourt_testkit::{CountedEntropy, card, dear};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::support::{Sent, Shelf, key, later, now, other_key, verifier};

const JWKS: &str = "https://idp.example/jwks";

fn fixed(key: &SigningKey) -> Verifier {
    let pem = key.public().pem.clone();
    let toml = format!(
        "[[bearer]]\nissuer = \"https://idp.example\"\naudience = [\"https://demo.localhost\"]\n\
         [[bearer.keys]]\nkid = \"{}\"\npem = '''{pem}'''\n",
        key.kid()
    );
    verifier(&toml, Arc::default())
}

fn claims() -> Map<String, Value> {
    let claims = json!({
        "iss": "https://idp.example", "aud": ["https://demo.localhost"], "sub": "u1", "iat": now().as_second(),
        "nbf": now().as_second(), "exp": later(300).as_second(), "jti": "t1", "scope": "chat",
    });
    claims.as_object().unwrap().clone()
}

fn signed(key: &SigningKey, claims: &Map<String, Value>) -> String {
    jws::sign(key, "JWT", json!(claims).to_string().as_bytes())
}

fn bearing(token: &str) -> Sent {
    Sent::default().with("authorization", &format!("Bearer {token}"))
}

async fn verdict(change: impl FnOnce(&mut Map<String, Value>)) -> PresentedCredentials {
    let mut claims = claims();
    change(&mut claims);
    bearing(&signed(&key(), &claims)).presented(&fixed(&key())).await
}

fn invalid(fault: ProofError) -> PresentedCredentials {
    PresentedCredentials::Invalid(fault)
}

#[tokio::test]
async fn a_good_token_names_its_subject_under_its_issuer() {
    let verified = bearing(&signed(&key(), &claims())).to(&fixed(&key())).await;
    assert_eq!(verified.presented, PresentedCredentials::Valid);
    let sender = verified.sender;
    assert_eq!((sender.auth_method.as_str(), sender.verified, sender.address.as_str()), ("http-bearer", true, ""));
    assert_eq!(sender.owner(), Some("oauth:https://idp.example#u1"));
    let evidence = &sender.identities[0];
    assert_eq!((evidence.assurance.as_str(), evidence.issuer.as_str()), ("oauth", "https://idp.example"));
    assert_eq!(evidence.claims, *json!({"scope": "chat"}).as_object().unwrap());
    let printed = format!("{sender:?}");
    assert!(!printed.contains("eyJ"), "the token itself is not kept: {printed}");
}

#[tokio::test]
async fn rfc7519_4_1_each_claim_is_checked() {
    let at = |seconds: i64| json!(later(seconds).as_second());
    assert_eq!(verdict(|c| drop(c.remove("exp"))).await, invalid(ProofError::Missing("exp")));
    assert_eq!(verdict(|c| drop(c.insert("exp".into(), at(-60)))).await, invalid(ProofError::Expired));
    assert_eq!(verdict(|c| drop(c.insert("exp".into(), at(-59)))).await, PresentedCredentials::Valid);
    assert_eq!(verdict(|c| drop(c.insert("nbf".into(), at(61)))).await, invalid(ProofError::NotYetValid));
    assert_eq!(verdict(|c| drop(c.insert("nbf".into(), at(60)))).await, PresentedCredentials::Valid);
    assert_eq!(verdict(|c| drop(c.insert("iat".into(), at(61)))).await, invalid(ProofError::NotYetValid));
    assert_eq!(verdict(|c| drop(c.remove("aud"))).await, invalid(ProofError::Missing("aud")));
    assert_eq!(verdict(|c| drop(c.insert("aud".into(), json!("https://a")))).await, invalid(ProofError::WrongAudience));
    assert_eq!(verdict(|c| drop(c.insert("aud".into(), json!([1])))).await, invalid(ProofError::WrongAudience));
    assert_eq!(verdict(|c| drop(c.remove("iss"))).await, invalid(ProofError::Missing("iss")));
    assert_eq!(verdict(|c| drop(c.insert("iss".into(), json!("https://a")))).await, invalid(ProofError::UnknownIssuer));
    for sub in [json!(""), json!(7), json!("a\nb"), json!("x".repeat(SUBJECT_BYTES_MAX + 1))] {
        assert_eq!(verdict(|c| drop(c.insert("sub".into(), sub))).await, invalid(ProofError::Missing("sub")));
    }
    assert_eq!(
        verdict(|c| drop(c.insert("sub".into(), json!("x".repeat(SUBJECT_BYTES_MAX))))).await,
        PresentedCredentials::Valid
    );
    for exp in [json!("1"), json!(1e300), json!(null)] {
        assert_eq!(verdict(|c| drop(c.insert("exp".into(), exp))).await, invalid(ProofError::Malformed("token")));
    }
}

#[tokio::test]
async fn a_token_must_say_since_when_it_holds_where_that_is_required() {
    let key = key();
    let pem = key.public().pem.clone();
    let toml = format!(
        "[[bearer]]\nissuer = \"https://idp.example\"\naudience = [\"https://demo.localhost\"]\n\
         require_not_before = true\nkeys = [{{ pem = '''{pem}''' }}]\n"
    );
    let verifier = verifier(&toml, Arc::default());
    let mut claims = claims();
    assert_eq!(bearing(&signed(&key, &claims)).presented(&verifier).await, PresentedCredentials::Valid);
    claims.remove("nbf");
    assert_eq!(bearing(&signed(&key, &claims)).presented(&verifier).await, invalid(ProofError::Missing("nbf")));
}

#[tokio::test]
async fn rfc8725_3_1_the_key_decides_the_algorithm() {
    let payload = URL_SAFE_NO_PAD.encode(json!(claims()).to_string());
    let head = |alg: &str| URL_SAFE_NO_PAD.encode(json!({"alg": alg, "kid": key().kid()}).to_string());
    // The public key as a shared secret, in the two forms in which an attacker has it.
    for secret in [key().public().pem.clone().into_bytes(), URL_SAFE_NO_PAD.decode(&key().public().x).unwrap()] {
        let input = format!("{}.{payload}", head("HS256"));
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &secret), input.as_bytes());
        let token = format!("{input}.{}", URL_SAFE_NO_PAD.encode(tag.as_ref()));
        assert_eq!(bearing(&token).presented(&fixed(&key())).await, invalid(ProofError::WrongAlgorithm));
    }
    for none in ["none", "None", "NONE", ""] {
        let token = format!("{}.{payload}.", head(none));
        assert_eq!(bearing(&token).presented(&fixed(&key())).await, invalid(ProofError::WrongAlgorithm), "{none}");
    }
}

#[tokio::test]
async fn a_token_of_another_key_or_with_changed_content_does_not_hold() {
    let foreign = bearing(&signed(&other_key(), &claims()));
    assert_eq!(foreign.presented(&fixed(&key())).await, invalid(ProofError::UnknownKey));
    let good = signed(&key(), &claims());
    let mut parts: Vec<&str> = good.split('.').collect();
    let mut changed = claims();
    changed.insert("sub".to_owned(), json!("admin"));
    let payload = URL_SAFE_NO_PAD.encode(json!(changed).to_string());
    parts[1] = &payload;
    assert_eq!(bearing(&parts.join(".")).presented(&fixed(&key())).await, invalid(ProofError::BadSignature));
}

#[tokio::test]
async fn no_credentials_are_not_the_same_as_bad_ones() {
    let verifier = fixed(&key());
    assert_eq!(Sent::default().presented(&verifier).await, PresentedCredentials::Nothing);
    let basic = Sent::default().with("authorization", "Basic dTpw");
    assert_eq!(basic.presented(&verifier).await, PresentedCredentials::Nothing);
    let unconfigured = crate::support::verifier("", Arc::default());
    assert_eq!(bearing("whatever").presented(&unconfigured).await, PresentedCredentials::Nothing);
    let malformed = ProofError::Malformed("authorization");
    for value in ["Bearer", "Bearer ", "bearer a b", &format!("Bearer {}", "a".repeat(TOKEN_BYTES_MAX + 1))] {
        assert_eq!(Sent::default().with("authorization", value).presented(&verifier).await, invalid(malformed));
    }
    let good = signed(&key(), &claims());
    let twice = bearing(&good).with("authorization", &format!("Bearer {good}"));
    assert_eq!(twice.presented(&verifier).await, invalid(malformed));
}

fn remote(shelf: Arc<Shelf>) -> Verifier {
    let toml = format!(
        "[[bearer]]\nissuer = \"https://idp.example\"\naudience = [\"https://demo.localhost\"]\njwks_url = \"{JWKS}\"\n"
    );
    verifier(&toml, shelf)
}

#[tokio::test]
async fn fetched_keys_are_kept_and_an_unknown_one_is_asked_for_once_in_a_while() {
    let shelf = Arc::new(Shelf::default());
    shelf.put(JWKS, json!({"keys": [key().public().to_jwk()]}));
    let verifier = remote(shelf.clone());
    let mut claims = claims();
    claims.insert("exp".to_owned(), json!(later(100_000).as_second()));
    let (good, foreign) = (bearing(&signed(&key(), &claims)), bearing(&signed(&other_key(), &claims)));
    for _ in 0..3 {
        assert_eq!(good.presented(&verifier).await, PresentedCredentials::Valid);
        assert_eq!(foreign.presented(&verifier).await, invalid(ProofError::UnknownKey));
    }
    assert_eq!(shelf.count(), 1);
    shelf.put(JWKS, json!({"keys": [key().public().to_jwk(), other_key().public().to_jwk()]}));
    let retry = later(KEYS_RETRY.as_secs() as i64);
    assert_eq!(foreign.clone().at(retry).presented(&verifier).await, PresentedCredentials::Valid);
    assert_eq!(shelf.count(), 2);
    let stale = later((KEYS_RETRY + KEYS_FRESH).as_secs() as i64);
    assert_eq!(good.at(stale).presented(&verifier).await, PresentedCredentials::Valid);
    assert_eq!(shelf.count(), 3);
}

#[tokio::test]
async fn keys_that_are_away_serve_for_a_while_and_are_not_asked_for_at_will() {
    let shelf = Arc::new(Shelf::default());
    let verifier = remote(shelf.clone());
    let good = bearing(&signed(&key(), &claims()));
    for _ in 0..5 {
        assert_eq!(good.presented(&verifier).await, invalid(ProofError::KeysUnavailable));
    }
    assert_eq!(shelf.count(), 1);
    shelf.put(JWKS, json!({"keys": [key().public().to_jwk()]}));
    let mut claims = claims();
    claims.insert("exp".to_owned(), json!(later(100_000).as_second()));
    let (fetched, fresh) = (KEYS_RETRY.as_secs() as i64, KEYS_FRESH.as_secs() as i64);
    let good = bearing(&signed(&key(), &claims));
    assert_eq!(good.clone().at(later(fetched)).presented(&verifier).await, PresentedCredentials::Valid);
    shelf.documents.lock().unwrap().clear();
    for (seconds, expected) in
        [(6 * fresh - 1, PresentedCredentials::Valid), (6 * fresh, invalid(ProofError::KeysUnavailable))]
    {
        assert_eq!(good.clone().at(later(fetched + seconds)).presented(&verifier).await, expected, "{seconds}");
    }
}

#[test]
fn a_set_has_at_most_sixty_four_keys_and_no_name_twice() {
    let named = |kid: usize| {
        let mut jwk = key().public().to_jwk();
        jwk["kid"] = kid.to_string().into();
        jwk
    };
    for (count, fits) in [(KEYS_MAX, true), (KEYS_MAX + 1, false)] {
        let jwks = json!({"keys": (0..count).map(named).collect::<Vec<_>>()});
        assert_eq!(KeySet::from_jwks(&jwks).is_ok(), fits, "{count}");
    }
    assert!(KeySet::from_jwks(&json!({"keys": [named(1), named(1)]})).is_err());
}

#[tokio::test]
async fn a_fetched_secret_is_no_key() {
    let secret = "a".repeat(43);
    let shelf = Arc::new(Shelf::default());
    shelf.put(JWKS, json!({"keys": [{"kty": "oct", "alg": "HS256", "k": secret, "kid": "s"}]}));
    let head = URL_SAFE_NO_PAD.encode(json!({"alg": "HS256", "kid": "s"}).to_string());
    let input = format!("{head}.{}", URL_SAFE_NO_PAD.encode(json!(claims()).to_string()));
    let raw = URL_SAFE_NO_PAD.decode(&secret).unwrap_or_default();
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &raw), input.as_bytes());
    let token = format!("{input}.{}", URL_SAFE_NO_PAD.encode(tag.as_ref()));
    assert_eq!(bearing(&token).presented(&remote(shelf)).await, invalid(ProofError::UnknownKey));
}

#[test]
fn rfc7515_4_1_11_critical_extensions_are_refused() {
    for extension in [json!({"alg": "EdDSA", "crit": ["x"], "x": 1}), json!({"alg": "EdDSA", "b64": false})] {
        let head = URL_SAFE_NO_PAD.encode(extension.to_string());
        assert_eq!(jws::Jws::parse(&format!("{head}.e30.e30")).unwrap_err(), ProofError::CriticalExtension);
    }
    let twice = URL_SAFE_NO_PAD.encode(r#"{"alg":"EdDSA","alg":"none"}"#);
    assert_eq!(jws::Jws::parse(&format!("{twice}.e30.e30")).unwrap_err(), ProofError::Malformed("token"));
}

#[test]
fn a_detached_signature_is_over_its_payload_alone() {
    let payload = forecourt_core::json::canonical(&parse(br#"{"b":1,"a":2}"#).unwrap()).unwrap();
    let detached = jws::sign_detached(&key(), "JOSE", &payload);
    let read = |payload: &[u8]| jws::Jws::detached(&detached.protected, payload, &detached.signature).unwrap();
    let verify = |payload: &[u8]| read(payload).verify_with(&key().verify_key().unwrap()).map(<[u8]>::to_vec);
    assert_eq!(verify(&payload), Ok(payload.clone()));
    assert_eq!(verify(b"{}"), Err(ProofError::BadSignature));
    assert_eq!(read(&payload).kid(), Some(key().kid()));
}

proptest! {
    #![proptest_config(dear(100))]

    #[test]
    fn s0_no_token_makes_the_reader_panic(token in ".{0,200}", parts in "[A-Za-z0-9_-]{0,40}(\\.[A-Za-z0-9_-]{0,40}){0,4}") {
        let _ = jws::Jws::parse(&token);
        let _ = jws::Jws::parse(&parts);
    }

    #[test]
    fn what_was_signed_verifies_until_a_byte_changes(payload in proptest::collection::vec(any::<u8>(), 0..100), at in 0usize..200) {
        let key = key();
        let token = jws::sign(&key, "JWT", &payload);
        let verifying = key.verify_key().unwrap();
        let read = jws::Jws::parse(&token).unwrap();
        prop_assert_eq!(read.verify_with(&verifying).unwrap(), &payload[..]);
        let mut bytes = token.into_bytes();
        let at = at % bytes.len();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(bytes).unwrap();
        let verified = jws::Jws::parse(&changed).and_then(|jws| jws.verify_with(&verifying).map(<[u8]>::to_vec));
        prop_assert!(verified.is_err());
    }
}

/// Two issuers on one host, as identity providers with realms or tenants are.
fn two(first: &str, second: &str, more: &str) -> String {
    let entry = |issuer: &str, key: &SigningKey| {
        let pem = key.public().pem.clone();
        format!(
            "[[bearer]]\nissuer = \"{issuer}\"\naudience = [\"https://demo.localhost\"]\n{more}\
             [[bearer.keys]]\nkid = \"{}\"\npem = \'\'\'{pem}\'\'\'\n",
            key.kid()
        )
    };
    format!("{}{}", entry(first, &key()), entry(second, &other_key()))
}

#[tokio::test]
async fn s7_2_two_issuers_on_one_host_never_name_the_same_subject() {
    let attempts = [
        ("https://h/realms/a", "ada", "https://h/realms/b", "ada"),
        ("https://h:8443", "ada", "https://h:9443", "ada"),
        ("https://h", "ada", "https://h/", "ada"),
        ("https://h", "/a#ada", "https://h/a", "ada"),
        ("https://h", "#ada", "https://h", "ada"),
        ("https://h/a", "b", "https://h/a/b", "b"),
    ];
    for (first, first_sub, second, second_sub) in attempts {
        let verifier = verifier(&two(first, second, ""), Arc::default());
        let subject = async |key: SigningKey, issuer: &str, sub: &str| {
            let mut claims = claims();
            claims.insert("iss".into(), issuer.into());
            claims.insert("sub".into(), sub.into());
            bearing(&signed(&key, &claims)).to(&verifier).await.sender.owner().map(str::to_owned)
        };
        let second_key = if first == second { key() } else { other_key() };
        let (one, other) = (subject(key(), first, first_sub).await, subject(second_key, second, second_sub).await);
        assert!(one.is_some() && other.is_some(), "{first} {second}");
        assert_ne!(one, other, "{first} {second}");
    }
}

#[test]
fn s7_2_issuers_whose_subjects_could_be_mixed_up_are_refused() {
    let refused = |toml: &str| {
        let built = Verifier::new(&toml::from_str(toml).unwrap(), Path::new("."), Arc::new(Shelf::default()));
        built.err().unwrap_or_default().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let same = two("https://h/realms/a", "https://h/realms/b", "subject_prefix = \"corp:\"\n");
    let found = refused(&same);
    assert!(found.contains("bearer[1].subject_prefix") && found.contains("collides with `corp:`"), "{found}");
    for (prefix, why) in [("", "collides"), ("@", "collides with `@`"), ("agtp://x", "collides with `agtp://`")] {
        let found = refused(&two("https://a", "https://a", &format!("subject_prefix = \"{prefix}\"\n")));
        assert!(found.contains(why), "{prefix}: {found}");
    }
    let found = refused(&two("https://a#b", "https://c", ""));
    assert!(found.contains("bearer[0].issuer") && found.contains('#'), "{found}");
    assert_eq!(refused(&two("https://h/realms/a", "https://h/realms/b", "")), "");
}

/// The agent `chef` of this domain, which declared `booking:*` and `documents:query`.
fn chef() -> Arc<KnownAgents> {
    let entropy = CountedEntropy::default();
    let (domain, keys) = (Domain::parse("demo.localhost").unwrap(), HostKeys::in_memory(&entropy));
    let folder = tempfile::tempdir().unwrap();
    let home = AgentHome {
        folder: folder.path(),
        data: None,
        keeps: false,
        domain: &domain,
        keys: &keys,
        now: now(),
        entropy: &entropy,
    };
    let scopes = ScopeSet::parse_list("booking:*, documents:query").ok();
    let settings = AgentIdentitySettings { scopes, ..AgentIdentitySettings::default() };
    Arc::new(agents::load(&home, [(&card("chef"), &settings)]).0)
}

#[tokio::test]
async fn base_7_whoever_proves_to_be_a_known_agent_may_do_no_more_than_it_over_any_protocol() {
    let agents = chef();
    let id = agents.hosted()[0].agent_id.to_string();
    let verifier = fixed(&key()).with_agents(agents, Domain::parse("demo.localhost").unwrap());
    let said = async |sub: &str, scope: &str| {
        let mut claims = claims();
        claims.insert("sub".into(), sub.into());
        claims.insert("scope".into(), scope.into());
        let sender = bearing(&signed(&key(), &claims)).to(&verifier).await.sender;
        let held: Vec<String> = sender.authority.held().iter().map(ToString::to_string).collect();
        (held.join(" "), sender.agent.map(|agent| agent.to_string()))
    };
    for sub in [id.clone(), format!("agtp://{id}"), "@chef@demo.localhost".to_owned()] {
        let chef = Some("chef".to_owned());
        assert_eq!(said(&sub, "booking:room payments:pay").await, ("booking:room".to_owned(), chef.clone()), "{sub}");
        assert_eq!(said(&sub, "*:*").await, ("booking:* documents:query".to_owned(), chef), "{sub}");
    }
    for sub in ["ada", "@chef@elsewhere.example", "chef", &"0".repeat(64)] {
        assert_eq!(said(sub, "payments:pay").await, ("payments:pay".to_owned(), None), "{sub}");
    }
}
