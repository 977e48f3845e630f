//! Single use: the life of a state token (`policy/tokens.json`), as far as it is the store's.

use futures::future::join_all;

use super::*;

/// Once, and never again while it lasts.
pub async fn tok_state_replay(store: Fresh) {
    assert!(store.claim_once("state:S", after(0), after(60)).await.unwrap());
    assert!(!store.claim_once("state:S", after(0), after(60)).await.unwrap());
    assert!(!store.claim_once("state:S", after(59), after(600)).await.unwrap());
}

/// 64 at once.
pub async fn tok_state_race(store: Fresh) {
    let claims = (0..64).map(|_| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.claim_once("state:S", after(0), after(60)).await.unwrap() })
    });
    let won = join_all(claims).await.into_iter().filter(|claimed| *claimed.as_ref().unwrap());
    assert_eq!(won.count(), 1);
}

/// What has expired can't be claimed, seen before or not.
pub async fn tok_state_expired(store: Fresh) {
    assert!(!store.claim_once("state:S", after(60), after(60)).await.unwrap());
    assert!(!store.claim_once("state:S", after(61), after(60)).await.unwrap());
    assert!(store.claim_once("state:T", after(0), after(60)).await.unwrap());
    assert!(!store.claim_once("state:T", after(61), after(60)).await.unwrap());
}

/// A claim that is over, whether or not it was removed, and one until the end of time.
pub async fn a_key_can_be_claimed_again_once_its_claim_has_expired(store: Fresh) {
    assert!(store.claim_once("key", after(0), after(60)).await.unwrap());
    assert!(store.claim_once("key", after(60), Timestamp::MAX).await.unwrap());
    assert!(!store.claim_once("key", after(1_000_000), Timestamp::MAX).await.unwrap());
}

/// Keys that are nearly the same, or long, or empty.
pub async fn keys_do_not_meet(store: Fresh) {
    let long = "k".repeat(10_000);
    for key in ["", "a", "A", "a ", "a\u{0}", "%", &long] {
        assert!(store.claim_once(key, after(0), after(60)).await.unwrap(), "{key:?}");
    }
}
