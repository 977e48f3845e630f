//! API keys: secrets of programs. Security 7, 8, 12.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::Store;
use forecourt_core::Timestamp;
use forecourt_core::scope::ScopeSet;
use forecourt_core::store::Span;
use forecourt_identity::api_keys::{ApiKeyError, ApiKeyRequest, ApiKeys, CreatedApiKey};
use forecourt_identity::limits::{API_KEY_NAME_CHARS_MAX, API_KEYS_MAX};
use forecourt_identity::{PresentedCredentials, ProofError, Verifier};
use forecourt_store::Memory;
use forecourt_testkit::CountedEntropy;

use crate::support::{Sent, later, now};

struct Desk {
    store: Arc<Memory>,
    keys: Arc<ApiKeys>,
    entropy: CountedEntropy,
    verifier: Verifier,
}

fn desk() -> Desk {
    let store = Arc::new(Memory::new());
    let keys = Arc::new(ApiKeys::new(store.clone()));
    let verifier = crate::support::verifier("", Arc::default()).with_api_keys(keys.clone());
    Desk { store, keys, entropy: CountedEntropy::default(), verifier }
}

fn wish(name: &str) -> ApiKeyRequest {
    ApiKeyRequest { name: name.to_owned(), scopes: ScopeSet::default(), limit: None, expires_at: None }
}

impl Desk {
    async fn create(&self, wish: ApiKeyRequest) -> Result<CreatedApiKey, ApiKeyError> {
        self.keys.create(wish, &self.entropy, now()).await
    }

    async fn presented(&self, token: &str, at: Timestamp) -> PresentedCredentials {
        bearing(token).at(at).presented(&self.verifier).await
    }
}

fn bearing(token: &str) -> Sent {
    Sent::default().with("authorization", &format!("Bearer {token}"))
}

const REFUSED: PresentedCredentials = PresentedCredentials::Invalid(ProofError::UnknownKey);

#[tokio::test]
async fn s7_a_key_names_its_bearer_and_grants_its_scopes() {
    let desk = desk();
    let scopes = ScopeSet::parse_list("booking:room, documents:*").unwrap();
    let made = desk.create(ApiKeyRequest { scopes, ..wish("nightly") }).await.unwrap();
    let verified = bearing(made.secret.expose()).to(&desk.verifier).await;
    assert_eq!(verified.presented, PresentedCredentials::Valid);
    let sender = verified.sender;
    assert_eq!((sender.owner(), sender.auth_method.as_str()), (Some("key:nightly"), "api-key"));
    assert_eq!(sender.identities[0].method, "urn:forecourt:auth:api-key");
    assert_eq!(sender.identities[0].assurance, "api-key");
    let held: Vec<String> = sender.authority.held().iter().map(ToString::to_string).collect();
    assert_eq!(held, ["booking:room", "documents:*"]);
    assert!(sender.showed_token(), "endpoints that want a token have one");
    assert!(!serde_json::to_string(&sender).unwrap().contains(made.secret.expose()));
}

#[tokio::test]
async fn s8_what_is_kept_is_a_hash() {
    let desk = desk();
    let made = desk.create(wish("nightly")).await.unwrap();
    let secret = made.secret.expose();
    assert_eq!(secret.len(), 4 + 43, "256 bits");
    assert!(!format!("{made:?}").contains(secret));
    let index = desk.store.entries("identity:api-keys", Span::After(0), 10, now()).await.unwrap();
    assert_eq!(index.len(), 1);
    assert!(!index[0].1.body.to_string().contains(&secret[4..]));
    assert!(
        desk.store.entries(&format!("identity:api-key:{secret}"), Span::After(0), 1, now()).await.unwrap().is_empty()
    );
}

#[tokio::test]
async fn s8_unknown_revoked_and_expired_keys_get_the_same_answer() {
    let desk = desk();
    let (revoked, expiring) = (desk.create(wish("a")).await.unwrap(), wish("b"));
    let expiring = desk.create(ApiKeyRequest { expires_at: Some(later(60)), ..expiring }).await.unwrap();
    assert_eq!(desk.presented(revoked.secret.expose(), now()).await, PresentedCredentials::Valid);
    assert_eq!(desk.presented(expiring.secret.expose(), later(59)).await, PresentedCredentials::Valid);
    desk.keys.revoke("a", now()).await.unwrap();
    assert_eq!(desk.presented(revoked.secret.expose(), now()).await, REFUSED);
    assert_eq!(desk.presented(expiring.secret.expose(), later(60)).await, REFUSED);
    let never = format!("fck_{}", "A".repeat(43));
    let longer = format!("{}A", expiring.secret.expose());
    for token in [never.as_str(), "fck_", "fck_x", &longer, &expiring.secret.expose().replace("fck_", "fck_ ")] {
        let expected = if token.contains(' ') { PresentedCredentials::Nothing } else { REFUSED };
        assert_eq!(desk.presented(token, now()).await, expected, "{token}");
    }
    assert_eq!(desk.presented("another-scheme", now()).await, PresentedCredentials::Nothing);
}

#[tokio::test]
async fn s8_another_process_revokes_and_it_holds_at_once() {
    let desk = desk();
    let made = desk.create(wish("nightly")).await.unwrap();
    assert_eq!(desk.presented(made.secret.expose(), now()).await, PresentedCredentials::Valid);
    let elsewhere = ApiKeys::new(desk.store.clone());
    let id = elsewhere.list(now()).await.unwrap()[0].key.id.clone();
    elsewhere.revoke(&id, now()).await.unwrap();
    assert_eq!(desk.presented(made.secret.expose(), now()).await, REFUSED);
    let listed = desk.keys.list(now()).await.unwrap();
    assert_eq!(listed[0].revoked_at, Some(now()));
    assert!(matches!(desk.keys.revoke(&id, now()).await, Err(ApiKeyError::Unknown(_))));
}

#[tokio::test]
async fn s12_a_key_has_a_limit_of_its_own_which_is_named() {
    let desk = desk();
    let limited = |name: &str| ApiKeyRequest { limit: Some("2/min".parse().unwrap()), ..wish(name) };
    let one = desk.create(limited("one")).await.unwrap();
    let other = desk.create(limited("other")).await.unwrap();
    for _ in 0..2 {
        assert_eq!(desk.presented(one.secret.expose(), now()).await, PresentedCredentials::Valid);
    }
    let PresentedCredentials::Limited { limit, retry_after_seconds } = desk.presented(one.secret.expose(), now()).await
    else {
        panic!("the third of two");
    };
    assert_eq!((limit.in_words().as_str(), retry_after_seconds), ("2 requests a minute", 31));
    assert_eq!(desk.presented(other.secret.expose(), now()).await, PresentedCredentials::Valid);
    assert_eq!(desk.presented(one.secret.expose(), later(31)).await, PresentedCredentials::Valid);
}

#[tokio::test]
async fn a_name_is_one_key_in_force() {
    let desk = desk();
    let first = desk.create(wish("nightly")).await.unwrap();
    assert!(matches!(desk.create(wish("nightly")).await, Err(ApiKeyError::NameTaken(_))));
    desk.keys.revoke("nightly", now()).await.unwrap();
    let second = desk.create(wish("nightly")).await.unwrap();
    assert_eq!(desk.presented(first.secret.expose(), now()).await, REFUSED);
    assert_eq!(desk.presented(second.secret.expose(), now()).await, PresentedCredentials::Valid);
    for (name, fits) in [
        ("n".repeat(API_KEY_NAME_CHARS_MAX), true),
        ("n".repeat(API_KEY_NAME_CHARS_MAX + 1), false),
        (String::new(), false),
        ("Nightly".to_owned(), false),
        ("a b".to_owned(), false),
        ("a:b".to_owned(), false),
        ("@chef".to_owned(), false),
    ] {
        let made = desk.create(wish(&name)).await;
        assert_eq!(made.is_ok(), fits, "{name}");
    }
    let over = ApiKeyRequest { expires_at: Some(now()), ..wish("over") };
    assert!(matches!(desk.create(over).await, Err(ApiKeyError::AlreadyExpired)));
}

#[tokio::test]
async fn s0_a_deployment_has_a_thousand_keys_and_not_one_more() {
    let desk = desk();
    desk.create(wish("key-0")).await.unwrap();
    let index = "identity:api-keys";
    let first = desk.store.entries(index, Span::After(0), 1, now()).await.unwrap().remove(0).1;
    // As `create` would write them, without reading all of them each time.
    for n in 1..API_KEYS_MAX {
        let mut entry = first.clone();
        entry.body["created"]["key"]["id"] = format!("{n:012x}").into();
        entry.body["created"]["key"]["name"] = format!("key-{n}").into();
        desk.store.append_entry(index, entry, None).await.unwrap();
    }
    assert_eq!(desk.keys.list(now()).await.unwrap().len(), API_KEYS_MAX);
    let error = desk.create(wish("one-more")).await.unwrap_err();
    assert!(matches!(error, ApiKeyError::TooMany) && error.to_string().contains("1000"), "{error}");
    desk.keys.revoke("key-7", now()).await.unwrap();
    desk.create(wish("one-more")).await.unwrap();
}

#[tokio::test]
async fn the_last_use_is_written_down_at_most_once_a_minute() {
    let desk = desk();
    let made = desk.create(wish("nightly")).await.unwrap();
    assert_eq!(desk.keys.list(now()).await.unwrap()[0].last_used_at, None);
    for at in [now(), later(30), later(59), later(60), later(119)] {
        assert_eq!(desk.presented(made.secret.expose(), at).await, PresentedCredentials::Valid);
    }
    // What is written behind the caller's back is a task of this runtime.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    let stream = format!("identity:api-key-used:{}", made.key.id);
    let written = desk.store.entries(&stream, Span::After(0), 10, later(119)).await.unwrap();
    let moments: Vec<_> = written.iter().map(|(_, entry)| entry.at).collect();
    assert_eq!(moments, [now(), later(60)]);
    assert_eq!(desk.keys.list(later(119)).await.unwrap()[0].last_used_at, Some(later(60)));
    let much_later = later(Duration::from_hours(48).as_secs().cast_signed());
    assert_eq!(desk.keys.list(much_later).await.unwrap()[0].last_used_at, Some(now()), "then to the day");
}

#[test]
fn s7_2_nobody_else_names_the_bearers_of_keys() {
    let refused = |toml: &str| {
        let built = Verifier::new(
            &crate::support::config(toml),
            std::path::Path::new("."),
            Arc::new(crate::support::Shelf::default()),
        );
        built.err().unwrap_or_default().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    for prefix in ["key:", "key", "k", "key:nightly"] {
        let bearer = format!(
            "[[bearer]]\nissuer = \"https://a\"\naudience = [\"x\"]\njwks_url = \"https://a.example/j\"\nsubject_prefix = \"{prefix}\"\n"
        );
        assert!(refused(&bearer).contains("collides with `key:`"), "{prefix}: {}", refused(&bearer));
        let connector = format!(
            "[[trusted_issuers]]\nissuer = \"a.example\"\nmethods = [\"m\"]\nassurance = [\"platform\"]\nsubject_prefixes = [\"{prefix}\"]\n"
        );
        assert!(refused(&connector).contains("collides with `key:`"), "{prefix}: {}", refused(&connector));
    }
}
