//! The keys of agents that sign their requests, found by their cards. REST 7.2.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::{Address, Clock};
use forecourt_egress::{Egress, EgressConfig};
use forecourt_identity::{
    FoundKeys, HostKeys, IdentityConfig, KeyDirectory, KeyId, PresentedCredentials, ProofError, RequestProof,
    RequestSigner, VerifiedSender, Verifier,
};
use forecourt_testkit::CountedEntropy;
use http::{HeaderMap, Method};
use serde_json::{Value, json};
use url::Url;

use crate::discovery::elsewhere::{CARD, Elsewhere, Reply, WEBFINGER};

async fn find(far: &Elsewhere, id: &str) -> Result<FoundKeys, ProofError> {
    far.resolver.find(&KeyId::parse(id).unwrap(), far.clock.now()).await
}

fn with_section(far: &Elsewhere, change: impl FnOnce(&mut Value)) {
    let mut card = far.card();
    change(&mut card["mentionable"]);
    far.say(CARD, Reply::Json(card));
    far.clock.advance(Duration::from_secs(61));
}

#[tokio::test]
async fn a_card_url_leads_to_the_agent_and_its_key() {
    let far = Elsewhere::start().await;
    let found = find(&far, &far.url(CARD)).await.unwrap();
    assert_eq!(found.address, Address::parse("@lean@far.localhost").unwrap());
    assert_eq!(found.keys.len(), 1);
}

#[tokio::test]
async fn a_card_that_the_domain_does_not_name_is_no_card() {
    let far = Elsewhere::start().await;
    let mut record = far.record();
    record["links"][1]["href"] = json!(far.url("/elsewhere"));
    far.say(WEBFINGER, Reply::Json(record));
    far.say("/elsewhere", Reply::Json(far.card()));
    assert_eq!(find(&far, &far.url(CARD)).await.unwrap_err(), ProofError::UnknownKey);
}

#[tokio::test]
async fn urls_that_are_no_cards_are_never_fetched() {
    let far = Elsewhere::start().await;
    for path in ["/", "/card.json", "/.well-known/agent-card/", "/.well-known/agent-card/a/b", "/.well-known/jwks.json"]
    {
        assert_eq!(find(&far, &far.url(path)).await.unwrap_err(), ProofError::UnknownKey, "{path}");
    }
    assert_eq!(find(&far, "https://127.0.0.1/.well-known/agent-card/lean").await.unwrap_err(), ProofError::UnknownKey);
    assert_eq!(far.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn an_address_is_asked_for_at_the_port_of_https_only() {
    let far = Elsewhere::start().await;
    assert_eq!(find(&far, "acct:lean@far.localhost").await.unwrap_err(), ProofError::KeysUnavailable);
    assert_eq!(far.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn unknown_agents_have_no_keys_and_failing_hosts_may_have() {
    let far = Elsewhere::start().await;
    far.say(WEBFINGER, Reply::Raw(404, Vec::new()));
    assert_eq!(find(&far, &far.url(CARD)).await.unwrap_err(), ProofError::UnknownKey);
    far.say(WEBFINGER, Reply::Raw(503, Vec::new()));
    far.clock.advance(Duration::from_secs(61));
    assert_eq!(find(&far, &far.url(CARD)).await.unwrap_err(), ProofError::KeysUnavailable);
}

#[tokio::test]
async fn card_3_4_no_key_is_no_key() {
    let far = Elsewhere::start().await;
    with_section(&far, |section| drop(section.as_object_mut().unwrap().remove("signing_key")));
    assert_eq!(find(&far, &far.url(CARD)).await.unwrap_err(), ProofError::UnknownKey);
}

#[tokio::test]
async fn card_3_4_previous_keys_count_until_their_end() {
    let far = Elsewhere::start().await;
    let key = far.keys.current().public().to_card();
    let previous = |kid: &str, not_after: Value| {
        let mut key = key.clone();
        key["kid"] = json!(kid);
        key["not_after"] = not_after;
        key
    };
    let end = far.clock.now().checked_add(Duration::from_secs(3600)).unwrap();
    let list = json!([
        previous("good", json!(end.to_string())),
        previous("endless", Value::Null),
        previous("over", json!("2020-01-01T00:00:00Z")),
        previous("garbled", json!("tomorrow")),
        previous("number", json!(7)),
        previous("good", json!(end.to_string())),
        {"kid": "other", "alg": "ES256", "pem": key["pem"]},
        "junk",
    ]);
    with_section(&far, |section| section["previous_signing_keys"] = list);
    assert_eq!(find(&far, &far.url(CARD)).await.unwrap().keys.len(), 3);
    far.clock.advance(Duration::from_secs(3600));
    assert_eq!(find(&far, &far.url(CARD)).await.unwrap().keys.len(), 2);
}

/// Keys of somebody else: the second draw, where the first made those of the other host.
fn other_keys() -> HostKeys {
    let entropy = CountedEntropy::default();
    HostKeys::in_memory(&entropy);
    HostKeys::in_memory(&entropy)
}

/// What a request is signed and verified as.
struct Posted {
    headers: HeaderMap,
    url: Url,
}

fn posted(far: &Elsewhere, keyid: String) -> Posted {
    let url = Url::parse("https://demo.localhost/~chef").unwrap();
    let mut headers = HeaderMap::new();
    let signer = RequestSigner { key: far.keys.current().clone(), keyid };
    let entropy = CountedEntropy::default();
    signer.sign(&Method::POST, &url, &mut headers, b"hi", far.clock.now(), &entropy).unwrap();
    Posted { headers, url }
}

async fn verified(far: Elsewhere, posted: &Posted) -> VerifiedSender {
    let now = far.clock.now();
    let egress = Arc::new(Egress::builder(EgressConfig::default()).build().unwrap());
    let verifier = Verifier::new(&IdentityConfig::default(), Path::new("."), egress).unwrap();
    let agent = Address::parse("@chef@demo.localhost").unwrap();
    let proof = RequestProof {
        method: "POST",
        target_uri: posted.url.as_str(),
        authority: "demo.localhost",
        path: posted.url.path(),
        query: None,
        headers: &posted.headers,
        body: Some(b"hi"),
        agent: &agent,
        now,
    };
    verifier.with_directory(Arc::new(far.resolver)).verify(&proof).await
}

#[tokio::test]
async fn rest_7_2_a_request_signed_by_an_agent_elsewhere_is_believed() {
    let far = Elsewhere::start().await;
    let posted = posted(&far, far.url(CARD));
    let verified = verified(far, &posted).await;
    assert_eq!(verified.presented, PresentedCredentials::Valid);
    assert_eq!((verified.sender.address.as_str(), verified.sender.verified), ("@lean@far.localhost", true));
}

#[tokio::test]
async fn rest_7_2_a_request_signed_by_somebody_else_is_not() {
    let far = Elsewhere::start().await;
    let posted = posted(&far, far.url(CARD));
    let mut card = far.card();
    card["mentionable"]["signing_key"] = other_keys().current().public().to_card();
    far.say(CARD, Reply::Json(card));
    let verified = verified(far, &posted).await;
    assert_eq!(verified.presented, PresentedCredentials::InvalidSignature(ProofError::BadSignature));
    assert_eq!(verified.sender.address, "");
}
