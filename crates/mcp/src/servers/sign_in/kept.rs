//! What is kept of sign-ins at a server: the tokens of a person, and who this host is there. The store seals it.

use std::time::Duration;

use forecourt_core::{Error, Timestamp};
use forecourt_host::Ledger;
use forecourt_identity::sessions::hash;
use forecourt_oidc::delegated::{DelegatedTokens, Registration};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::limits::{REFRESH_RETRY, REFRESH_TURN, SIGN_IN_KEPT};
use crate::person::KnownPerson;

/// What an entry of a turn says.
const BEGUN: &str = "begun";
const FAILED: &str = "failed";

/// The sign-in of a person at a server.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct KeptSignIn {
    /// The authorization server that gave the tokens: nobody else is shown them but the server itself.
    pub(super) issuer: String,
    pub(super) registration: Registration,
    pub(super) tokens: DelegatedTokens,
}

/// An entry of a person's stream; the last one counts.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Entry {
    SignedIn(Box<KeptSignIn>),
    Forgotten,
}

/// Whose turn it is to refresh a sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RefreshTurn {
    /// Ours.
    Ours,
    /// Another node is at it.
    Others,
    /// It failed a moment ago.
    FailedLately,
}

/// The sign-ins at one server, at one address.
pub(super) struct KeptSignIns {
    ledger: Ledger,
    server: String,
}

impl KeptSignIns {
    pub(super) fn new(ledger: Ledger, name: &str, url: &str) -> Self {
        Self { ledger, server: format!("{name}\n{url}") }
    }

    /// The stream of a person: another address of the server is another stream.
    fn stream(&self, person: &KnownPerson) -> String {
        format!("person:{}", hash(&format!("{}\n{}", self.server, person.subject)))
    }

    /// What is kept for a person, with the number of its entry.
    pub(super) async fn of(&self, person: &KnownPerson) -> Result<Option<(u64, KeptSignIn)>, Error> {
        let Some((number, entry)) = self.ledger.last(&self.stream(person)).await? else { return Ok(None) };
        // What a later version wrote is no sign-in to this one.
        Ok(match serde_json::from_value(entry.body) {
            Ok(Entry::SignedIn(kept)) => Some((number, *kept)),
            Ok(Entry::Forgotten) | Err(_) => None,
        })
    }

    /// Keeps a sign-in. With `last` only behind the entry of that number: `false` when there is another by now.
    pub(super) async fn keep(
        &self,
        person: &KnownPerson,
        kept: KeptSignIn,
        last: Option<u64>,
        now: Timestamp,
    ) -> Result<bool, Error> {
        self.write(person, &Entry::SignedIn(Box::new(kept)), last, now).await
    }

    /// Forgets a sign-in.
    pub(super) async fn forget(&self, person: &KnownPerson, last: Option<u64>, now: Timestamp) -> Result<bool, Error> {
        // It stays as long as what is before it could, or that would be the last one again.
        self.write(person, &Entry::Forgotten, last, now).await
    }

    async fn write(
        &self,
        person: &KnownPerson,
        entry: &Entry,
        last: Option<u64>,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let body = serde_json::to_value(entry).unwrap_or_default();
        let until = Some(later(now, SIGN_IN_KEPT));
        let stream = self.stream(person);
        Ok(self.ledger.append_on(person.account.clone(), &stream, body, until, last).await?.is_some())
    }

    /// Takes the turn to refresh the entry of a number, which is one caller's on one node for [`REFRESH_TURN`].
    pub(super) async fn take_turn(
        &self,
        person: &KnownPerson,
        number: u64,
        now: Timestamp,
    ) -> Result<RefreshTurn, Error> {
        let name = self.turn(person, number);
        let last = self.ledger.last(&name).await?;
        let place = last.as_ref().map_or(0, |(place, _)| *place);
        if let Some((_, entry)) = last {
            let has_failed = entry.body == json!(FAILED);
            let wait = if has_failed { REFRESH_RETRY } else { REFRESH_TURN };
            if now < later(entry.at, wait) {
                return Ok(if has_failed { RefreshTurn::FailedLately } else { RefreshTurn::Others });
            }
        }
        let until = Some(later(now, REFRESH_TURN));
        // Of all who read the same, the store lets one append behind it.
        let taken = self.ledger.append(&name, json!(BEGUN), until, Some(place)).await?;
        Ok(if taken.is_some() { RefreshTurn::Ours } else { RefreshTurn::Others })
    }

    /// Says that a turn came to nothing, so that nobody waits for it.
    pub(super) async fn fail_turn(&self, person: &KnownPerson, number: u64, now: Timestamp) -> Result<(), Error> {
        let until = Some(later(now, REFRESH_TURN));
        self.ledger.append(&self.turn(person, number), json!(FAILED), until, None).await.map(drop)
    }

    fn turn(&self, person: &KnownPerson, number: u64) -> String {
        format!("{}:{number}", self.stream(person))
    }

    /// Who this host has registered itself as at an authorization server, with the number of the entry, 0 for none.
    pub(super) async fn registration(
        &self,
        issuer: &str,
        redirect_uri: &str,
    ) -> Result<(u64, Option<Registration>), Error> {
        let last = self.ledger.last(&self.client(issuer, redirect_uri)).await?;
        let read = |(number, entry): (u64, forecourt_core::store::LedgerEntry)| {
            (number, serde_json::from_value(entry.body).ok())
        };
        Ok(last.map_or((0, None), read))
    }

    /// Keeps a registration, or that there is none any more, behind the entry of a number.
    pub(super) async fn keep_registration(
        &self,
        (issuer, redirect_uri): (&str, &str),
        registration: Option<&Registration>,
        last: u64,
    ) -> Result<(), Error> {
        let body = registration.map_or(Value::Null, |made| serde_json::to_value(made).unwrap_or_default());
        self.ledger.append(&self.client(issuer, redirect_uri), body, None, Some(last)).await.map(drop)
    }

    fn client(&self, issuer: &str, redirect_uri: &str) -> String {
        format!("client:{}", hash(&format!("{}\n{issuer}\n{redirect_uri}", self.server)))
    }
}

fn later(now: Timestamp, time: Duration) -> Timestamp {
    now.checked_add(time).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use forecourt_core::Clock;
    use forecourt_store::Memory;
    use forecourt_testkit::HandClock;

    use super::*;

    fn places() -> (Arc<HandClock>, [KeptSignIns; 2]) {
        let clock = Arc::new(HandClock::new());
        let ledger = Ledger::new(Arc::new(Memory::new()), clock.clone(), "test");
        let at = |url: &str| KeptSignIns::new(ledger.clone(), "far", url);
        let both = ["https://far.example/mcp", "https://other.example/mcp"].map(at);
        (clock, both)
    }

    fn sign_in(token: &str) -> KeptSignIn {
        let tokens = DelegatedTokens { access_token: token.to_owned(), refresh_token: None, expires_at: None };
        let registration = Registration::configured("us".to_owned(), None);
        KeptSignIn { issuer: "https://id.example".to_owned(), registration, tokens }
    }

    async fn token(place: &KeptSignIns, person: &KnownPerson) -> Option<String> {
        place.of(person).await.unwrap().map(|(_, kept)| kept.tokens.access_token)
    }

    #[tokio::test]
    async fn a_sign_in_is_of_one_person_and_one_address_and_ends() {
        let (clock, [place, elsewhere]) = places();
        let [ada, bob] = ["ada", "bob"].map(|name| KnownPerson::new(name.to_owned()));
        assert!(place.keep(&ada, sign_in("one"), None, clock.now()).await.unwrap());
        assert_eq!(token(&place, &ada).await.as_deref(), Some("one"));
        assert_eq!((token(&place, &bob).await, token(&elsewhere, &ada).await), (None, None));
        // Behind an entry that is not the last one any more, nothing is written.
        let (number, _) = place.of(&ada).await.unwrap().unwrap();
        assert!(place.keep(&ada, sign_in("two"), Some(number), clock.now()).await.unwrap());
        assert!(!place.keep(&ada, sign_in("late"), Some(number), clock.now()).await.unwrap());
        assert!(!place.forget(&ada, Some(number), clock.now()).await.unwrap());
        assert_eq!(token(&place, &ada).await.as_deref(), Some("two"));
        clock.advance(SIGN_IN_KEPT - Duration::from_secs(1));
        assert!(token(&place, &ada).await.is_some());
        assert!(place.forget(&ada, None, clock.now()).await.unwrap());
        assert_eq!(token(&place, &ada).await, None);
        clock.advance(Duration::from_secs(1));
        assert_eq!(token(&place, &ada).await, None);
    }

    #[tokio::test]
    async fn one_refreshes_at_a_time_and_another_may_when_that_one_is_gone() {
        let (clock, [place, _]) = places();
        let ada = KnownPerson::new("ada".to_owned());
        let turn = async |number| place.take_turn(&ada, number, clock.now()).await.unwrap();
        assert_eq!(
            (turn(1).await, turn(1).await, turn(2).await),
            (RefreshTurn::Ours, RefreshTurn::Others, RefreshTurn::Ours)
        );
        clock.advance(REFRESH_TURN - Duration::from_secs(1));
        assert_eq!(turn(1).await, RefreshTurn::Others);
        clock.advance(Duration::from_secs(1));
        assert_eq!(turn(1).await, RefreshTurn::Ours);
        place.fail_turn(&ada, 1, clock.now()).await.unwrap();
        assert_eq!(turn(1).await, RefreshTurn::FailedLately);
        clock.advance(REFRESH_RETRY);
        assert_eq!((turn(1).await, turn(1).await), (RefreshTurn::Ours, RefreshTurn::Others));
    }
}
