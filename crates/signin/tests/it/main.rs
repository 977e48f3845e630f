//! Signing in against a provider that says what it should not: what of an ID token must hold. OpenID Connect Core
//! 3.1.3.7. A real provider is in the tests of the whole program.

mod account;
mod host;

use forecourt_testhost::openid::CLIENT;
use host::Desk;
use serde_json::{Value, json};

/// Goes to the provider and comes back with a code, after `change` was done to the claims of the ID token.
async fn come_back(desk: &Desk, change: impl FnOnce(&mut Value)) -> u16 {
    let left = desk.get("/sign-in?return_to=/~echo", &[]).await;
    assert_eq!(left.status, 303, "{}", left.body);
    let away = url::Url::parse(&left.location).unwrap();
    let of = |name: &str| away.query_pairs().find(|(known, _)| known == name).map(|(_, value)| value.into_owned());
    let mut claims = desk.provider.claims(desk.now(), &of("nonce").unwrap());
    change(&mut claims);
    desk.provider.says(claims);
    let back = format!("/sign-in/callback?code=c&state={}", of("state").unwrap());
    let came = desk.get(&back, &[left.cookie.as_str()]).await;
    let has_session = came.cookies.iter().any(|cookie| cookie.starts_with("__Host-session="));
    assert_eq!(has_session, came.status == 303, "{}", came.body);
    came.status
}

#[tokio::test]
async fn core3_1_3_7_an_id_token_that_holds_signs_in() {
    let desk = Desk::open().await;
    assert_eq!(come_back(&desk, |_| {}).await, 303);
    let asked = desk.provider.asked();
    assert_eq!(asked["grant_type"], "authorization_code");
    assert_eq!(asked["code_verifier"].len(), 43);
    assert_eq!(asked["redirect_uri"], "https://demo.localhost/sign-in/callback");
}

#[tokio::test]
async fn core3_1_3_7_an_id_token_that_does_not_hold_signs_nobody_in() {
    let desk = Desk::open().await;
    let now = desk.now().as_second();
    let wrong: Vec<(&str, Value)> = vec![
        ("nonce", json!("another")),
        ("nonce", Value::Null),
        ("iss", json!("https://evil.example")),
        ("aud", json!("another-client")),
        ("aud", json!([CLIENT, "another-client"])),
        ("azp", json!("another-client")),
        ("exp", json!(now)),
        ("exp", json!(now - 1)),
        ("sub", json!("")),
        ("at_hash", json!("AAAAAAAAAAAAAAAAAAAAAA")),
    ];
    for (name, value) in wrong {
        let shown = format!("{name} = {value}");
        let status = come_back(&desk, |claims| match value {
            Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
            value => claims[name] = value,
        })
        .await;
        assert!(matches!(status, 400 | 403), "{shown}: {status}");
    }
    assert_eq!(come_back(&desk, |_| {}).await, 303);
}

#[tokio::test]
async fn core3_1_3_7_a_token_by_another_key_or_without_a_signature_signs_nobody_in() {
    let desk = Desk::open().await;
    for way in ["stranger", "none", "hs256"] {
        desk.provider.answers(way);
        assert_eq!(come_back(&desk, |_| {}).await, 400, "{way}");
    }
}

#[tokio::test]
async fn a_new_key_of_the_provider_is_found() {
    let desk = Desk::open().await;
    assert_eq!(come_back(&desk, |_| {}).await, 303);
    desk.provider.rotates();
    desk.clock().advance(std::time::Duration::from_secs(10));
    assert_eq!(come_back(&desk, |_| {}).await, 303);
}

#[tokio::test]
async fn a_sign_in_takes_ten_minutes_at_most() {
    let desk = Desk::open().await;
    let left = desk.get("/sign-in?return_to=/~echo", &[]).await;
    let state = left.location.split("state=").nth(1).unwrap().split('&').next().unwrap();
    desk.clock().advance(forecourt_oidc::limits::FLOW_TIME_MAX);
    let late = desk.get(&format!("/sign-in/callback?code=c&state={state}"), &[left.cookie.as_str()]).await;
    assert_eq!(late.status, 400);
}

#[tokio::test]
async fn policy3_3_4_a_mentionable_state_never_goes_to_the_provider() {
    let desk = Desk::open().await;
    let secret = "m".repeat(43);
    let left = desk.get(&format!("/sign-in?return_to=/consent/{secret}%3Fstate%3D{secret}"), &[]).await;
    assert_eq!(left.status, 303);
    assert!(!left.location.contains(&secret), "{}", left.location);
}

#[tokio::test]
async fn without_a_provider_there_is_no_such_page() {
    let desk = Desk::without_provider().await;
    for path in ["/sign-in", "/sign-in/callback?state=x"] {
        assert_eq!(desk.get(path, &[]).await.status, 404, "{path}");
    }
}
