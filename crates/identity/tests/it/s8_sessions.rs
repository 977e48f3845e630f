//! Sessions of people: security sheet, sections 2 and 8.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::{Account, Clock, MachineTime, Store, Timestamp};
use forecourt_identity::limits::{SESSION_TOKEN_AGE_MAX, SESSION_TOKEN_GRACE};
use forecourt_identity::sessions::{Sessions, SignedIn};
use forecourt_store::Memory;
use forecourt_testkit::{CountedEntropy, HandClock, HandMachine};
use serde_json::{Map, json};

const LIFETIME: Duration = Duration::from_secs(8 * 3_600);
const IDLE: Duration = Duration::from_secs(3_600);
const SECOND: Duration = Duration::from_secs(1);

struct Desk {
    store: Arc<dyn Store>,
    entropy: CountedEntropy,
    now: Timestamp,
}

impl Desk {
    fn new() -> Self {
        Self { store: Arc::new(Memory::new()), entropy: CountedEntropy::default(), now: HandClock::new().now() }
    }

    /// Sessions as another process sees them: nothing but the store is shared.
    fn sessions(&self) -> Sessions {
        Sessions::new(self.store.clone(), LIFETIME, IDLE)
    }

    async fn begin(&self) -> String {
        let token = self.sessions().begin(ada(self.now), self.now, &self.entropy).await.unwrap();
        token.expose().to_owned()
    }

    async fn opens(&self, token: &str, after: Duration) -> bool {
        let now = self.now.checked_add(after).unwrap();
        self.sessions().find(token, now).await.unwrap().is_some()
    }

    async fn replace(&self, token: &str, after: Duration) -> Option<String> {
        let now = self.now.checked_add(after).unwrap();
        let session = self.sessions().find(token, now).await.unwrap().unwrap();
        let replaced = self.sessions().replace(token, &session, now, &self.entropy).await.unwrap();
        replaced.map(|token| token.expose().to_owned())
    }
}

fn ada(at: Timestamp) -> SignedIn {
    let claims = Map::from_iter([("name".to_owned(), json!("Ada"))]);
    SignedIn {
        subject: "oidc:https://a.example#1".into(),
        issuer: "https://a.example".into(),
        claims,
        at,
        id_token: None,
    }
}

#[tokio::test]
async fn s8_a_token_is_256_bits_and_only_it_opens_its_session() {
    let desk = Desk::new();
    let (one, two) = (desk.begin().await, desk.begin().await);
    assert_ne!(one, two);
    assert_eq!(one.len(), 43);
    let found = desk.sessions().find(&one, desk.now).await.unwrap().unwrap();
    assert_eq!((found.person.name(), found.token_is_old), ("Ada", false));
    for none in ["", "x", &one[1..], &format!("{one}A"), &one.to_lowercase(), &"A".repeat(43), &"/".repeat(43)] {
        assert!(!desk.opens(none, Duration::ZERO).await, "{none}");
    }
}

#[tokio::test]
async fn s8_a_session_ends_when_nobody_comes_and_at_its_end() {
    let desk = Desk::new();
    let token = desk.begin().await;
    assert!(desk.opens(&token, IDLE - SECOND).await);
    // That was a visit: the idle time begins anew.
    assert!(desk.opens(&token, IDLE + IDLE - SECOND - SECOND).await);
    assert!(!desk.opens(&token, IDLE * 3).await);

    let token = desk.begin().await;
    let mut at = Duration::ZERO;
    while at + IDLE / 2 < LIFETIME {
        at += IDLE / 2;
        assert!(desk.opens(&token, at).await, "{at:?}");
    }
    assert!(desk.opens(&token, LIFETIME - SECOND).await);
    assert!(!desk.opens(&token, LIFETIME).await);
}

#[tokio::test]
async fn s8_an_end_is_an_end_for_every_token_and_every_process() {
    let desk = Desk::new();
    let first = desk.begin().await;
    let second = desk.replace(&first, SECOND).await.unwrap();
    let now = desk.now.checked_add(SECOND).unwrap();
    let ended = desk.sessions().end(&second, now).await.unwrap().unwrap();
    assert_eq!(ended.subject, "oidc:https://a.example#1");
    for after in [SECOND, IDLE, IDLE * 2, LIFETIME - SECOND, LIFETIME * 2] {
        assert!(!desk.opens(&first, after).await && !desk.opens(&second, after).await, "{after:?}");
    }
    assert!(desk.sessions().end(&second, now).await.unwrap().is_none());
}

#[tokio::test]
async fn s8_a_session_that_was_ended_stays_so_where_the_clock_was_set() {
    for jump in [86_400, 3_600, -3_600, -86_400] {
        let mut desk = Desk::new();
        let machine = HandMachine::new(desk.now);
        let read = |store: Arc<dyn Store>| {
            let now = MachineTime::read(&machine);
            async move { store.time(now).await.unwrap() }
        };
        desk.now = read(desk.store.clone()).await;
        let token = desk.begin().await;
        machine.jump(jump);
        desk.now = read(desk.store.clone()).await;
        desk.sessions().end(&token, desk.now).await.unwrap();
        for after in (0..48).map(|half_hours| IDLE / 2 * half_hours) {
            assert!(!desk.opens(&token, after).await, "{jump}: {after:?}");
            let open = desk.sessions().open(9, desk.now + after).await.unwrap();
            assert!(open.is_empty(), "{jump}: {after:?}");
        }
    }
}

#[tokio::test]
async fn s8_an_old_token_is_replaced_once_and_opens_for_a_moment_more() {
    let desk = Desk::new();
    let first = desk.begin().await;
    let find = |after: Duration| {
        let (sessions, now, first) = (desk.sessions(), desk.now.checked_add(after).unwrap(), first.clone());
        async move { sessions.find(&first, now).await.unwrap().unwrap() }
    };
    assert!(!find(SESSION_TOKEN_AGE_MAX - SECOND).await.token_is_old);
    let seen_by_both = find(SESSION_TOKEN_AGE_MAX).await;
    assert!(seen_by_both.token_is_old);
    let second = desk.replace(&first, SESSION_TOKEN_AGE_MAX).await.unwrap();
    let now = desk.now.checked_add(SESSION_TOKEN_AGE_MAX).unwrap();
    let late = desk.sessions().replace(&first, &seen_by_both, now, &desk.entropy).await.unwrap();
    assert!(late.is_none(), "of two requests at once, one replaces it");
    assert!(!find(SESSION_TOKEN_AGE_MAX).await.token_is_old);
    let grace = SESSION_TOKEN_AGE_MAX + SESSION_TOKEN_GRACE;
    assert!(desk.opens(&first, grace - SECOND).await);
    assert!(!desk.opens(&first, grace).await);
    assert!(desk.opens(&second, grace).await);
}

#[tokio::test]
async fn s8_what_is_good_once_is_given_once() {
    let desk = Desk::new();
    let until = desk.now.checked_add(SECOND).unwrap();
    let sessions = desk.sessions();
    for name in ["one", "two"] {
        sessions.keep_once(name, json!({"a": name}), Account::HOST, (desk.now, until)).await.unwrap();
    }
    let (mine, yours) = tokio::join!(sessions.take_once("one", desk.now), sessions.take_once("one", desk.now));
    let given: Vec<_> = [mine.unwrap(), yours.unwrap()].into_iter().flatten().collect();
    assert_eq!(given, [json!({"a": "one"})]);
    assert_eq!(sessions.take_once("one", desk.now).await.unwrap(), None);
    assert_eq!(sessions.take_once("two", until).await.unwrap(), None, "it has expired");
    assert_eq!(sessions.take_once("three", desk.now).await.unwrap(), None);
}

#[tokio::test]
async fn s8_no_secret_is_written_down() {
    let desk = Desk::new();
    let sessions = desk.sessions();
    let token = sessions.begin(ada(desk.now), desk.now, &desk.entropy).await.unwrap();
    assert!(!format!("{token:?}").contains(token.expose()));
    assert!(!format!("{:?}", ada(desk.now)).contains("#1"), "a subject is personal");
}

#[tokio::test]
async fn who_is_signed_in_is_listed_and_ended_by_names_that_open_nothing() {
    let desk = Desk::new();
    let (one, other) = (desk.begin().await, desk.begin().await);
    let sessions = desk.sessions();
    let listed = sessions.open(10, desk.now).await.unwrap();
    assert_eq!((listed.len(), listed[0].person.name(), listed[0].until), (2, "Ada", desk.now + LIFETIME));
    assert_ne!(listed[0].name, listed[1].name);
    for session in &listed {
        assert!(!desk.opens(&session.name, SECOND).await, "a name opens nothing");
    }
    assert_eq!(sessions.open(1, desk.now).await.unwrap().len(), 1);
    // The last one that was begun is the first one.
    assert!(sessions.end_named(&listed[0].name, desk.now).await.unwrap());
    assert!(!desk.opens(&other, SECOND).await && desk.opens(&one, SECOND).await);
    assert!(!sessions.end_named(&listed[0].name, desk.now).await.unwrap());
    assert!(!sessions.end_named("", desk.now).await.unwrap());
    assert_eq!(sessions.open(10, desk.now + IDLE - SECOND).await.unwrap().len(), 1);
    assert_eq!(sessions.open(10, desk.now + IDLE + SECOND * 2).await.unwrap().len(), 0);
}
