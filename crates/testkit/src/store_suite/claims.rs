//! Single use: the life of a state token (`policy/tokens.json`), as far as it is the store's.

use futures::future::join_all;

use super::*;

/// A claimed key can't be claimed again while its claim lasts: state tokens are used once (PolicyPart 5.5).
pub async fn tok_state_replay(store: Fresh) {
    assert!(store.claim_once("state:S", after(0), after(60)).await.unwrap());
    assert!(!store.claim_once("state:S", after(0), after(60)).await.unwrap());
    assert!(!store.claim_once("state:S", after(59), after(600)).await.unwrap());
}

/// Of 64 claims at once exactly one wins.
pub async fn tok_state_race(store: Fresh) {
    let claims = (0..64).map(|_| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.claim_once("state:S", after(0), after(60)).await.unwrap() })
    });
    let won = join_all(claims).await.into_iter().filter(|claimed| *claimed.as_ref().unwrap());
    assert_eq!(won.count(), 1);
}

/// A key whose time is over can't be claimed, whether or not it was claimed before.
pub async fn tok_state_expired(store: Fresh) {
    assert!(!store.claim_once("state:S", after(60), after(60)).await.unwrap());
    assert!(!store.claim_once("state:S", after(61), after(60)).await.unwrap());
    assert!(store.claim_once("state:T", after(0), after(60)).await.unwrap());
    assert!(!store.claim_once("state:T", after(61), after(60)).await.unwrap());
}

/// A key can be claimed again once its claim has expired, whether or not that was removed.
pub async fn a_key_can_be_claimed_again_once_its_claim_has_expired(store: Fresh) {
    assert!(store.claim_once("key", after(0), after(60)).await.unwrap());
    assert!(store.claim_once("key", after(60), Timestamp::MAX).await.unwrap());
    assert!(!store.claim_once("key", after(1_000_000), Timestamp::MAX).await.unwrap());
}

/// Keys that are nearly the same, long or empty are different keys.
pub async fn keys_do_not_meet(store: Fresh) {
    let long = "k".repeat(10_000);
    for key in ["", "a", "A", "a ", "a\u{0}", "%", &long] {
        assert!(store.claim_once(key, after(0), after(60)).await.unwrap(), "{key:?}");
    }
}
