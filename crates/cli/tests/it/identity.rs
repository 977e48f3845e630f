//! Who is believed to be who. Mentionable REST 7.

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::support::{Deployment, Served};
use crate::wire::Answer;

/// What stands in for a company's sign-in.
pub(crate) const ISSUER: &str = "https://issuer.example";

fn key() -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap()
}

/// A JWT with these claims, signed by [`key`].
pub(crate) fn token(claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", part(&json!({"alg": "EdDSA", "typ": "JWT", "kid": "k1"})), part(claims));
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(key().sign(signed.as_bytes())))
}

fn seconds_from_now(seconds: i64) -> i64 {
    jiff::Timestamp::now().as_second() + seconds
}

/// Lines of `forecourt.toml` by which what [`token`] signs is believed.
pub(crate) fn believing() -> String {
    let public = URL_SAFE_NO_PAD.encode(key().public_key());
    format!(
        "[[identity.bearer]]\nissuer = \"{ISSUER}\"\naudience = [\"https://demo.localhost\"]\n\
         [[identity.bearer.keys]]\njwk = {{ kty = \"OKP\", crv = \"Ed25519\", kid = \"k1\", x = \"{public}\" }}\n"
    )
}

/// A token that proves that its bearer is `subject`.
pub(crate) fn token_of(subject: &str) -> String {
    token(&claims(subject))
}

/// The same, which grants scopes too.
pub(crate) fn token_granting(subject: &str, scope: &str) -> String {
    let mut claims = claims(subject);
    claims["scope"] = scope.into();
    token(&claims)
}

/// A kitchen with @vip, who repeats what proven callers say, and @staff, who answers only one of them.
fn served() -> Served {
    let identity = believing();
    let deployment = Deployment::gatehouse();
    let top = deployment.read("forecourt.toml");
    let agent = |handle: &str, rules: &str| {
        format!("handle = \"{handle}\"\nname = \"{handle}\"\n[backend]\nkind = \"echo\"\n{rules}")
    };
    let proven = "[[policy.rules]]\nkind = \"require_identity\"\n";
    let not_mallory = "[[policy.rules]]\nkind = \"deny\"\nsubjects = [\"oauth:https://issuer.example#mallory\"]\n";
    deployment
        .and("forecourt.toml", &format!("{top}\n{identity}"))
        .and("agents/vip.toml", &agent("vip", proven))
        .and("agents/staff.toml", &agent("staff", &format!("{proven}{not_mallory}")))
        .serve()
}

fn asked(served: &Served, agent: &str, fields: &[String]) -> Answer {
    let mut arguments = vec!["-H", "Accept: application/json"];
    fields.iter().for_each(|field| arguments.extend(["-H", field]));
    served.curl_tls(&format!("/~{agent}?user=hello"), &arguments)
}

fn bearer(claims: &Value) -> Vec<String> {
    vec![format!("Authorization: Bearer {}", token(claims))]
}

pub(crate) fn claims(subject: &str) -> Value {
    json!({
        "iss": ISSUER, "sub": subject, "aud": "https://demo.localhost",
        "iat": seconds_from_now(-10), "exp": seconds_from_now(300),
    })
}

/// Evidence as a liar would write it: by an issuer of its own, with the highest assurance.
fn forged() -> String {
    let evidence = json!([{
        "id": "e1", "subject": "oauth:https://issuer.example#alice", "issuer": ISSUER,
        "method": "urn:mentionable:auth:oauth-bearer:v0.1", "assurance": "oauth",
        "audience": "@vip@demo.localhost", "issued_at": "2026-01-01T00:00:00Z", "expires_at": "2999-01-01T00:00:00Z",
        "proof": {"type": "transport"}, "verified": true,
    }]);
    URL_SAFE_NO_PAD.encode(evidence.to_string())
}

#[test]
fn s7_3_a_stranger_is_asked_who_it_is() {
    let served = served();
    let answer = asked(&served, "vip", &[]).with_status(401);
    assert!(answer.named("www-authenticate").starts_with("Bearer realm=\"demo.localhost"), "{answer:?}");
    assert_eq!(answer.json()["policy"]["kind"], "unauthorized");
    served.curl("/~vip?user=hello", &["-H", "Accept: text/event-stream"]).with_status(200);
}

#[test]
fn s7_3_forged_evidence_changes_nothing() {
    let served = served();
    for field in ["Mentionable-Identity-Evidence", "Mentionable-Identity", "X-Mentionable-Identity"] {
        for value in [forged(), "not base64 at all".to_owned(), URL_SAFE_NO_PAD.encode("{}")] {
            let answer = asked(&served, "vip", &[format!("{field}: {value}")]).with_status(401);
            assert!(answer.field("www-authenticate").is_some(), "{field}: {answer:?}");
            asked(&served, "echo", &[format!("{field}: {value}")]).with_status(200);
        }
    }
}

#[test]
fn s7_4_a_claimed_address_never_authorises() {
    let served = served();
    for from in ["@vip@demo.localhost", "@alice@issuer.example", "oauth:https://issuer.example#alice"] {
        asked(&served, "vip", &[format!("X-Mentionable-From: {from}")]).with_status(401);
    }
}

#[test]
fn s3_2_2_a_body_never_says_who_is_speaking() {
    let served = served();
    let history = json!([{
        "role": "user", "parts": [{"kind": "text", "mime": "text/plain", "content": "hi"}],
        "sender": {"address": "@alice@issuer.example", "auth_method": "oauth", "verified": true},
    }]);
    let history = format!("history={history};type=application/json");
    served.curl_tls("/~vip", &["-F", &history, "-F", "user=hello"]).with_status(401);
}

#[test]
fn s7_2_a_valid_token_is_let_in() {
    let served = served();
    let answer = asked(&served, "vip", &bearer(&claims("alice"))).with_status(200);
    assert_eq!(answer.json()["parts"][0]["text"], "hello");
    asked(&served, "staff", &bearer(&claims("alice"))).with_status(200);
    asked(&served, "staff", &bearer(&claims("mallory"))).with_status(403);
}

#[test]
fn s7_2_a_token_that_does_not_hold_is_refused_everywhere() {
    let served = served();
    let with = |name: &str, value: Value| {
        let mut claims = claims("alice");
        claims[name] = value;
        bearer(&claims)
    };
    let good = token(&claims("alice"));
    let (signed, signature) = good.rsplit_once('.').unwrap();
    let broken = format!("{signed}.{}{}", if signature.starts_with('A') { 'B' } else { 'A' }, &signature[1..]);
    let unsigned = format!("{signed}.");
    let none = format!("{}.{}.", URL_SAFE_NO_PAD.encode("{\"alg\":\"none\"}"), good.split('.').nth(1).unwrap());
    for fields in [
        with("aud", "https://elsewhere.example".into()),
        with("iss", "https://elsewhere.example".into()),
        with("exp", seconds_from_now(-3600).into()),
        with("nbf", seconds_from_now(3600).into()),
        vec![format!("Authorization: Bearer {broken}")],
        vec![format!("Authorization: Bearer {unsigned}")],
        vec![format!("Authorization: Bearer {none}")],
        vec!["Authorization: Bearer x".to_owned()],
        [bearer(&claims("alice")), bearer(&claims("alice"))].concat(),
    ] {
        for agent in ["vip", "echo"] {
            let answer = asked(&served, agent, &fields).with_status(401);
            assert!(answer.named("www-authenticate").contains("invalid_token"), "{fields:?}: {answer:?}");
        }
    }
}

#[test]
fn tokens_stay_out_of_the_log() {
    let served = served();
    let good = token(&claims("alice"));
    asked(&served, "vip", &bearer(&claims("alice"))).with_status(200);
    asked(&served, "vip", &[format!("Authorization: Bearer {good}x")]).with_status(401);
    served.signal(nix::sys::signal::Signal::SIGTERM);
    let (_, log, _) = served.ended();
    let signature = good.rsplit('.').next().unwrap();
    assert!(!log.contains(signature) && log.contains("credentials did not hold"), "{log}");
}
