//! New tokens in the place of those that end: asked for once, by one caller on one node, and written down before they
//! are used.

use std::sync::Arc;

use forecourt_core::Timestamp;
use forecourt_oidc::delegated::{AuthorizationServer, DelegatedTokens, TokenError};
use http::HeaderValue;
use tokio::time::sleep;

use super::broker::Broker;
use super::kept::{KeptSignIn, RefreshTurn};
use super::refusals::unkept;
use crate::limits::{REFRESH_LOOKED_FOR, REFRESH_LOOKS_MAX};
use crate::person::KnownPerson;
use crate::upstream::call_error::CallError;

impl Broker {
    /// A new token in the place of that of an entry. Of all who want one at once, one asks for it.
    pub(super) async fn renewed(self: &Arc<Self>, person: &KnownPerson, number: u64) -> Result<HeaderValue, CallError> {
        let (broker, person) = (self.clone(), person.clone());
        // In a task of its own: a caller who gives up must not have a new token lost whose old one is void.
        let renewed = tokio::spawn(async move { broker.renewed_in_turn(&person, number).await }).await;
        renewed.unwrap_or_else(|_| Err(self.refusals.away()))
    }

    async fn renewed_in_turn(&self, person: &KnownPerson, number: u64) -> Result<HeaderValue, CallError> {
        let turn = self.refreshing.lock().entry(person.subject.clone()).or_default().clone();
        let held = turn.lock().await;
        let renewed = self.refreshed(person, number).await;
        drop(held);
        // Nobody waits for it any more: the map has those alone for whom somebody does.
        let mut refreshing = self.refreshing.lock();
        if Arc::strong_count(&turn) <= 2 {
            refreshing.remove(&person.subject);
        }
        renewed
    }

    async fn refreshed(&self, person: &KnownPerson, number: u64) -> Result<HeaderValue, CallError> {
        for _ in 0..REFRESH_LOOKS_MAX {
            let (last, kept) = self.kept.of(person).await.map_err(unkept)?.ok_or_else(|| self.refusals.unsigned())?;
            if last != number {
                return self.shown(&kept.tokens);
            }
            if kept.tokens.refresh_token.is_none() {
                return Err(self.ended(person, number, TokenError::Refused).await);
            }
            // Before the turn is taken: what the server says of itself may take longer to have than a turn lasts.
            let server = self.resource.server(self.clock.now()).await;
            let now = self.clock.now();
            let Ok(server) = server else { return self.still_good(&kept.tokens, now) };
            match self.kept.take_turn(person, number, now).await.map_err(unkept)? {
                RefreshTurn::Ours => return self.refresh(person, number, (kept, &server), now).await,
                RefreshTurn::FailedLately => return self.still_good(&kept.tokens, now),
                // Another node is at it, and has it written down in a moment.
                RefreshTurn::Others => sleep(REFRESH_LOOKED_FOR).await,
            }
        }
        Err(self.refusals.away())
    }

    async fn refresh(
        &self,
        person: &KnownPerson,
        number: u64,
        (kept, server): (KeptSignIn, &AuthorizationServer),
        now: Timestamp,
    ) -> Result<HeaderValue, CallError> {
        match self.ask(&kept, server, now).await {
            Ok(tokens) => {
                // Written down before it is used: the old refresh token may be void by now.
                let next = KeptSignIn { tokens: tokens.clone(), ..kept };
                if self.kept.keep(person, next.clone(), Some(number), now).await.map_err(unkept)? {
                    return self.shown(&tokens);
                }
                // Forgotten meanwhile, or signed in anew: nobody may have these.
                let newer = self.kept.of(person).await.map_err(unkept)?.map(|(_, newer)| newer);
                self.revoke_beside(&next, newer.as_ref()).await;
                self.shown(&newer.ok_or_else(|| self.refusals.unsigned())?.tokens)
            }
            Err(TokenError::Unavailable) => {
                self.kept.fail_turn(person, number, now).await.map_err(unkept)?;
                self.still_good(&kept.tokens, now)
            }
            Err(error) => {
                if error == TokenError::UnknownClient {
                    self.unregister(&kept.issuer, &kept.registration).await.map_err(unkept)?;
                }
                Err(self.ended(person, number, error).await)
            }
        }
    }

    async fn ask(
        &self,
        kept: &KeptSignIn,
        server: &AuthorizationServer,
        now: Timestamp,
    ) -> Result<DelegatedTokens, TokenError> {
        let Some(refresh_token) = kept.tokens.refresh_token.as_deref() else { return Err(TokenError::Refused) };
        // The server has another authorization server by now, which must not see tokens of the one before.
        if server.issuer != kept.issuer {
            return Err(TokenError::Refused);
        }
        let client = self.client_of(&kept.issuer, &kept.registration);
        let given = self.resource.refresh((server, client), refresh_token, now).await;
        given.map_err(|error| self.meaning(error, &kept.issuer, &kept.registration))
    }

    /// Forgets a sign-in that is of no use any more; gives what its person is told.
    async fn ended(&self, person: &KnownPerson, number: u64, error: TokenError) -> CallError {
        tracing::info!(server = %self.name, %error, "a sign-in at a server has ended");
        let forgotten = self.kept.forget(person, Some(number), self.clock.now()).await;
        forgotten.map_or_else(unkept, |_| self.refusals.unsigned())
    }

    /// A token that could not be refreshed, as long as it has not ended.
    fn still_good(&self, tokens: &DelegatedTokens, now: Timestamp) -> Result<HeaderValue, CallError> {
        match tokens.expires_at.is_some_and(|end| now < end) {
            true => self.shown(tokens),
            false => Err(self.refusals.away()),
        }
    }
}

#[cfg(test)]
mod tests {
    use forecourt_core::{Clock, Domain, Handle, Site};
    use forecourt_egress::{Egress, EgressConfig};
    use forecourt_host::Ledger;
    use forecourt_oidc::delegated::{DelegatedResource, DelegationSettings, Registration};
    use forecourt_store::Memory;
    use forecourt_testkit::{CountedEntropy, HandClock};

    use super::super::kept::KeptSignIns;
    use super::super::refusals::Refusals;
    use super::*;

    /// The sign-ins at a server that nobody can reach.
    fn broker(clock: &Arc<HandClock>) -> Broker {
        let site = Site {
            domain: Domain::parse("near.example").unwrap(),
            name: "Near".to_owned(),
            base: "https://near.example".to_owned(),
        };
        let settings = DelegationSettings {
            resource: "http://127.0.0.1:9/mcp".parse().unwrap(),
            issuer: None,
            scopes: Vec::new(),
            client_name: "Near".to_owned(),
        };
        let name = Handle::parse("far").unwrap();
        let egress = Arc::new(Egress::builder(EgressConfig::default()).build().unwrap());
        Broker {
            resource: DelegatedResource::new(settings, egress),
            client: None,
            kept: KeptSignIns::new(Ledger::new(Arc::new(Memory::new()), clock.clone(), "test"), "far", "http://far"),
            clock: clock.clone(),
            entropy: Arc::new(CountedEntropy::default()),
            refusals: Refusals::new(&site, &name),
            redirect_uri: "https://near.example/back".to_owned(),
            refreshing: Default::default(),
            name,
        }
    }

    #[tokio::test]
    async fn a_turn_is_taken_by_who_knows_the_server_already() {
        let clock = Arc::new(HandClock::new());
        let (broker, ada) = (Arc::new(broker(&clock)), KnownPerson::new("ada".to_owned()));
        let registration = Registration::configured("us".to_owned(), None);
        let refresh_token = Some("r".to_owned());
        let tokens = DelegatedTokens { access_token: "a".to_owned(), refresh_token, expires_at: Some(clock.now()) };
        let kept = KeptSignIn { issuer: "https://id.example".to_owned(), registration, tokens };
        broker.kept.keep(&ada, kept, None, clock.now()).await.unwrap();
        let (number, _) = broker.kept.of(&ada).await.unwrap().unwrap();
        assert!(broker.renewed(&ada, number).await.is_err());
        // Whoever has to find out first where tokens are refreshed keeps nobody else from refreshing.
        assert_eq!(broker.kept.take_turn(&ada, number, clock.now()).await.unwrap(), RefreshTurn::Ours);
        assert!(broker.kept.of(&ada).await.unwrap().is_some(), "and nobody has to sign in anew");
    }
}
