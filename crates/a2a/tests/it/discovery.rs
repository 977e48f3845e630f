//! Which cards are found, kept and believed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::http::header;
use axum::response::IntoResponse;
use forecourt_a2a::client::{Discovery, DiscoveryError, Rules};
use forecourt_a2a::model::Version;
use forecourt_egress::Purpose;
use serde_json::{Value, json};
use url::Url;

use crate::peer::*;

fn discovery(rules: Rules) -> (Discovery, Arc<forecourt_testkit::HandClock>) {
    let (context, clock) = context();
    (Discovery::new(context.egress.clone(), clock.clone(), rules), clock)
}

fn rules() -> Rules {
    Rules {
        purpose: Purpose::Upstream,
        headers: axum::http::HeaderMap::new(),
        origins: Vec::new(),
        signed_only: false,
        kept_max: Duration::from_secs(3_600),
    }
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

async fn found(card: impl Fn(&str) -> Value + Send + Sync + 'static, rules: Rules) -> Result<String, DiscoveryError> {
    let peer = peer(move |base| json_answer(card(base)), |_, _| not_found()).await;
    discovery(rules).0.find(&url(&peer.base)).await.map(|found| found.endpoint.url.path().to_owned())
}

#[tokio::test]
async fn a_card_is_kept_as_long_as_its_server_says_and_then_asked_for_by_its_tag() {
    let (asked, kept) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (count, same) = (asked.clone(), kept.clone());
    let peer = peer(
        move |base| match count.fetch_add(1, Ordering::SeqCst) {
            0 => {
                let fields = [(header::ETAG, "\"1\""), (header::CACHE_CONTROL, "max-age=600")];
                (fields, card_10(base, "JSONRPC", true).to_string()).into_response()
            }
            _ => {
                same.fetch_add(1, Ordering::SeqCst);
                axum::http::StatusCode::NOT_MODIFIED.into_response()
            }
        },
        |_, _| not_found(),
    )
    .await;
    let (discovery, clock) = discovery(rules());
    let base = url(&peer.base);
    let first = discovery.find(&base).await.unwrap();
    clock.advance(Duration::from_secs(599));
    discovery.find(&base).await.unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    clock.advance(Duration::from_secs(1));
    let later = discovery.find(&base).await.unwrap();
    assert_eq!((asked.load(Ordering::SeqCst), kept.load(Ordering::SeqCst)), (2, 1));
    assert!(later.read_at > first.read_at);
}

#[tokio::test]
async fn an_endpoint_is_spoken_to_in_the_best_version_of_its_hub() {
    let peer = peer(|base| json_answer(card_10(base, "JSONRPC", true)), |_, _| not_found()).await;
    let named = url(&format!("{}/a2a/chef", peer.base));
    let found = discovery(rules()).0.find(&named).await.unwrap();
    assert_eq!((&found.endpoint.url, found.endpoint.version), (&named, Version::V1_0));
}

#[tokio::test]
async fn an_endpoint_that_was_named_is_asked_wherever_its_card_leads() {
    let elsewhere = |_: &str| json_answer(card_10("https://x.example", "JSONRPC", true));
    let peer = peer(elsewhere, |_, _| not_found()).await;
    let named = url(&format!("{}/a2a/chef", peer.base));
    let found = discovery(rules()).0.find(&named).await.unwrap();
    assert_eq!((&found.endpoint.url, found.endpoint.version), (&named, Version::V1_0));
    assert_eq!(found.canonical_host, "x.example", "PolicyPart 3.2");
}

#[tokio::test]
async fn an_endpoint_without_any_card_is_taken_for_0_3() {
    let peer = peer(|_| not_found(), |_, _| not_found()).await;
    let found = discovery(rules()).0.find(&url(&format!("{}/a2a", peer.base))).await.unwrap();
    assert_eq!((found.endpoint.version, found.card.is_none()), (Version::V0_3, true));
    let error = discovery(rules()).0.find(&url(&peer.base)).await.unwrap_err();
    assert!(matches!(error, DiscoveryError::NoCard(_)));
}

#[tokio::test]
async fn that_there_is_no_card_is_known_for_a_minute() {
    let asked = Arc::new(AtomicUsize::new(0));
    let (root, other) = (asked.clone(), asked.clone());
    let counted = move |count: &AtomicUsize| {
        count.fetch_add(1, Ordering::SeqCst);
        not_found()
    };
    let peer = peer(move |_| counted(&root), move |_, _| counted(&other)).await;
    let (discovery, clock) = discovery(rules());
    let endpoint = url(&format!("{}/a2a", peer.base));
    for (seconds, wanted) in [(0, 3), (59, 3), (1, 6)] {
        clock.advance(Duration::from_secs(seconds));
        discovery.find(&endpoint).await.unwrap();
        assert_eq!(asked.load(Ordering::SeqCst), wanted);
    }
}

#[tokio::test]
async fn those_who_ask_at_once_share_one_request_and_its_fault() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let peer = peer(
        move |base| match count.fetch_add(1, Ordering::SeqCst) {
            0 => axum::http::StatusCode::INTERNAL_SERVER_ERROR.into_response(),
            _ => json_answer(card_10(base, "JSONRPC", true)),
        },
        |_, _| not_found(),
    )
    .await;
    let (discovery, _) = discovery(rules());
    let base = url(&peer.base);
    let all = || futures::future::join_all((0..8).map(|_| discovery.find(&base)));
    assert!(all().await.iter().all(|found| matches!(found, Err(DiscoveryError::Unavailable(_)))));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert!(all().await.iter().all(Result::is_ok), "a fault is not kept");
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn interfaces_elsewhere_are_followed_only_when_the_operator_says_so() {
    let elsewhere = |_: &str| {
        let mut card = card_10("https://x.example", "JSONRPC", true);
        card["supportedInterfaces"][0]["url"] = json!("https://api.example/a2a");
        card
    };
    let wanted = DiscoveryError::OtherOrigin("https://api.example".to_owned());
    assert_eq!(found(elsewhere, rules()).await, Err(wanted));
    let named = Rules { origins: vec![url("https://api.example").origin()], ..rules() };
    assert_eq!(found(elsewhere, named).await, Ok("/a2a".to_owned()));
}

#[tokio::test]
async fn what_is_no_card_is_said() {
    for card in [json!([]), json!({}), json!({"name": "x"}), json!("no")] {
        let answer = card.clone();
        let error = found(move |_| answer.clone(), rules()).await.unwrap_err();
        assert!(matches!(error, DiscoveryError::Unreadable(..)), "{card}: {error}");
    }
}

#[tokio::test]
async fn a_wrong_signature_refuses_the_card_and_one_of_elsewhere_is_none() {
    let signed = |jku: String| {
        move |base: &str| {
            let mut card = card_10(base, "JSONRPC", true);
            let header = json!({"alg": "EdDSA", "kid": "k", "typ": "JOSE", "jku": jku.replace("BASE", base)});
            let encode = |bytes: &[u8]| {
                use base64::Engine;
                base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes)
            };
            card["signatures"] =
                json!([{"protected": encode(header.to_string().as_bytes()), "signature": encode(&[0; 64])}]);
            card
        }
    };
    let keys = json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "k", "alg": "EdDSA",
        "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]});
    let card = signed("BASE/keys".to_owned());
    let peer = peer(
        move |base| json_answer(card(base)),
        move |_, heard| if heard.path == "/keys" { json_answer(keys.clone()) } else { not_found() },
    )
    .await;
    let error = discovery(rules()).0.find(&url(&peer.base)).await.unwrap_err();
    assert!(matches!(error, DiscoveryError::Signature(_)), "{error}");
    let foreign = || signed("https://elsewhere.example/keys".to_owned());
    assert_eq!(found(foreign(), rules()).await, Ok("/a2a".to_owned()));
    let strict = Rules { signed_only: true, ..rules() };
    assert!(matches!(found(foreign(), strict).await, Err(DiscoveryError::Signature(_))));
}
