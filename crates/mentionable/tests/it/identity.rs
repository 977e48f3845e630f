//! REST 7: who is speaking, from fields alone.

use forecourt_identity::{BearerConfig, IdentityConfig, KeyConfig};
use forecourt_testkit::{ScriptedAgent, card};

use crate::support::{Setup, form, get, post_to};

#[tokio::test]
async fn s7_1_without_proof_the_sender_is_nobody() {
    let agent = ScriptedAgent::saying(["hi"]);
    let place = Setup::default().with(card("bot"), agent.clone()).start().await;
    place.send(get("/~bot?user=a")).await.is(200);
    let sender = agent.heard().remove(0).sender;
    assert_eq!((sender.address.as_str(), sender.auth_method.as_str(), sender.verified), ("", "none", false));
    assert_eq!(sender.peer, Some("192.0.2.1".parse().unwrap()));
}

#[tokio::test]
async fn s7_4_from_is_a_hint_and_proves_nothing() {
    let agent = ScriptedAgent::saying(["hi"]);
    let place = Setup::default().with(card("bot"), agent.clone()).start().await;
    for (from, hint) in [("@a@b.example", Some("@a@b.example")), ("<script>", None), ("@a", None)] {
        place.send(get("/~bot?user=a").header("x-mentionable-from", from)).await.is(200);
        let sender = agent.heard().pop().unwrap().sender;
        assert_eq!(sender.claimed_address.as_deref(), hint);
        assert!(!sender.verified && sender.owner().is_none());
    }
}

#[tokio::test]
async fn s7_3_evidence_that_does_not_hold_is_left_out() {
    let agent = ScriptedAgent::saying(["hi"]);
    let place = Setup::default().with(card("bot"), agent.clone()).start().await;
    let long = "A".repeat(20_000);
    for name in ["mentionable-identity-evidence", "mentionable-identity", "x-mentionable-identity"] {
        for value in ["", "%%%", "e30", "W10", "W3t9XQ", &long] {
            place.send(get("/~bot?user=a").header(name, value)).await.is(200);
            let sender = agent.heard().pop().unwrap().sender;
            assert!(sender.identities.is_empty() && !sender.verified);
        }
    }
}

fn issuer() -> IdentityConfig {
    let jwk = serde_json::json!({"kty": "oct", "alg": "HS256", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA"});
    let bearer = BearerConfig {
        issuer: "https://login.example".into(),
        audience: vec!["demo".into()],
        jwks_url: None,
        keys: vec![KeyConfig { jwk: jwk.as_object().cloned(), ..KeyConfig::default() }],
        subject_prefix: None,
        require_not_before: false,
    };
    IdentityConfig { bearer: vec![bearer], ..IdentityConfig::default() }
}

#[tokio::test]
async fn s7_3_credentials_that_do_not_hold_are_401() {
    let agent = ScriptedAgent::saying(["hi"]);
    let setup = Setup { identity: Some(issuer()), ..Setup::default().with(card("bot"), agent.clone()) };
    let place = setup.start().await;
    for token in ["x", "a.b.c", "eyJhbGciOiJub25lIn0.e30."] {
        let bearer = format!("Bearer {token}");
        let answer = place.send(get("/~bot?user=a").header("authorization", &bearer)).await.is(401);
        let metadata = "https://demo.localhost/.well-known/oauth-protected-resource/~bot";
        let challenge =
            format!(r#"Bearer error="invalid_token", realm="demo.localhost", resource_metadata="{metadata}""#);
        assert_eq!(answer.field("www-authenticate"), Some(challenge.as_str()));
        answer.has_required_fields("@bot@demo.localhost");
        let posted = post_to("/~bot").header("authorization", &bearer);
        let policy = place.send_with(posted, form(&[("user", "a")])).await.is(401).json()["policy"].clone();
        assert_eq!(
            (policy["kind"].as_str(), policy["code"].as_str()),
            (Some("unauthorized"), Some("oauth:invalid_token"))
        );
    }
    assert!(agent.heard().is_empty());
    place.send(get("/~bot?user=a").header("authorization", "Basic YTpi")).await.is(200);
}

#[tokio::test]
async fn s7_2_a_signature_that_does_not_hold_is_told_by_the_check_that_failed() {
    let place = Setup::default().start().await;
    let signature = "s=:AAAA:";
    for (input, why) in [
        (r#"s=("@method")"#, "the signature must cover @target-uri"),
        (r#"s=("@target-uri")"#, "the signature must cover @method"),
        (r#"s=("@method" "@target-uri");keyid="@a@b.example""#, "`created` is missing"),
        (r#"s=("@method" "@target-uri");created=1;keyid="@a@b.example""#, "it has expired"),
        (r#"s=("@method" "@target-uri");created=99999999999;keyid="@a@b.example""#, "it is not valid yet"),
        ("s=(", "malformed"),
    ] {
        let request = get("/~echo?user=a").header("accept", "application/json");
        let request = request.header("signature-input", input).header("signature", signature);
        let answer = place.send(request).await.is(401);
        let policy = answer.json()["policy"].clone();
        assert_eq!(policy["code"], "http-signature:invalid");
        assert!(policy["message"].as_str().unwrap().contains(why), "{input}: {policy}");
        assert_eq!(answer.field("www-authenticate"), Some(r#"Bearer realm="demo.localhost""#));
    }
}
