//! Tokens of people for one server: shown to it, refreshed before they end, and forgotten.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::{Clock, Entropy, Error, Handle, Timestamp};
use forecourt_oidc::delegated::{
    AuthorizationServer, DelegatedFlow, DelegatedResource, DelegatedTokens, DelegationSettings, DelegationStart,
    Registration, TokenError,
};
use forecourt_surface::Mount;
use http::HeaderValue;
use parking_lot::Mutex;
use tokio::time::sleep;

use super::client::ConfiguredClient;
use super::failure::SignInFailure;
use super::kept::{KeptSignIn, KeptSignIns, RefreshTurn};
use super::paths::CALLBACK;
use super::refusals::{Refusals, unkept};
use super::settings::CheckedSignIn;
use crate::limits::{REFRESH_BEFORE, REFRESH_LOOKED_FOR, REFRESH_LOOKS_MAX};
use crate::person::{KnownPerson, WhoAsks};
use crate::upstream::call_error::CallError;

/// The sign-ins of people at one server.
pub(crate) struct Broker {
    name: Handle,
    resource: DelegatedResource,
    client: Option<ConfiguredClient>,
    kept: KeptSignIns,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    refusals: Refusals,
    /// Where browsers come back to.
    redirect_uri: String,
    /// Who refreshes on this node at the moment: one call for each person.
    refreshing: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

impl Broker {
    pub(in crate::servers) fn new(mount: &Mount, name: &Handle, checked: &CheckedSignIn) -> Self {
        let (host, site) = (&mount.host, mount.host.site());
        let settings = DelegationSettings {
            resource: checked.resource.clone(),
            issuer: checked.issuer.clone(),
            scopes: checked.scopes.clone(),
            client_name: site.name.clone(),
        };
        Self {
            name: name.clone(),
            resource: DelegatedResource::new(settings, mount.egress.clone()),
            client: checked.client.clone(),
            kept: KeptSignIns::new(host.ledger("server-sign-in"), name.as_str(), checked.resource.as_str()),
            clock: host.clock().clone(),
            entropy: host.entropy().clone(),
            refusals: Refusals::new(site, name),
            redirect_uri: site.url(CALLBACK),
            refreshing: Mutex::default(),
        }
    }

    /// What the server is shown in the name of a caller.
    ///
    /// # Errors
    /// The caller is not known, or has not signed in there yet; the token has ended and there is no new one at the
    /// moment.
    pub(crate) async fn authorization(self: &Arc<Self>, who: &WhoAsks) -> Result<HeaderValue, CallError> {
        let person = self.person(who)?;
        let (number, kept) = self.kept.of(person).await.map_err(unkept)?.ok_or_else(|| self.refusals.unsigned())?;
        match is_due(&kept.tokens, self.clock.now()) {
            true => self.renewed(person, number).await,
            false => self.shown(&kept.tokens),
        }
    }

    /// What the server is shown instead of a token that it did not take.
    ///
    /// # Errors
    /// As of [`Broker::authorization`].
    pub(crate) async fn instead_of(
        self: &Arc<Self>,
        who: &WhoAsks,
        refused: &HeaderValue,
    ) -> Result<HeaderValue, CallError> {
        let person = self.person(who)?;
        let (number, kept) = self.kept.of(person).await.map_err(unkept)?.ok_or_else(|| self.refusals.unsigned())?;
        let own = self.shown(&kept.tokens)?;
        // Another call may have met the same, and has a new one.
        if own != *refused {
            return Ok(own);
        }
        let renewed = self.renewed(person, number).await?;
        // There is no other one at the moment.
        if renewed != *refused { Ok(renewed) } else { Err(self.refusals.away()) }
    }

    /// A new token in the place of that of an entry. Of all who want one at once, one asks for it.
    async fn renewed(self: &Arc<Self>, person: &KnownPerson, number: u64) -> Result<HeaderValue, CallError> {
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
            let now = self.clock.now();
            match self.kept.take_turn(person, number, now).await.map_err(unkept)? {
                RefreshTurn::Ours => return self.refresh(person, number, kept, now).await,
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
        kept: KeptSignIn,
        now: Timestamp,
    ) -> Result<HeaderValue, CallError> {
        let asked = match kept.tokens.refresh_token.as_deref() {
            Some(token) => self.ask(&kept, token, now).await,
            None => Err(TokenError::Refused),
        };
        match asked {
            Ok(tokens) => {
                // Written down before it is used: the old refresh token may be void by now.
                let next = KeptSignIn { tokens: tokens.clone(), ..kept };
                if self.kept.keep(person, next.clone(), Some(number), now).await.map_err(unkept)? {
                    return self.shown(&tokens);
                }
                // Forgotten meanwhile, or signed in anew: nobody may have these.
                self.revoke(&next).await;
                let (_, newer) = self.kept.of(person).await.map_err(unkept)?.ok_or_else(|| self.refusals.unsigned())?;
                self.shown(&newer.tokens)
            }
            Err(TokenError::Unavailable) => {
                self.kept.fail_turn(person, number, now).await.map_err(unkept)?;
                self.still_good(&kept.tokens, now)
            }
            Err(error) => {
                tracing::info!(server = %self.name, %error, "a sign-in at a server has ended");
                if error == TokenError::UnknownClient {
                    self.unregister(&kept.issuer, &kept.registration).await.map_err(unkept)?;
                }
                self.kept.forget(person, Some(number), now).await.map_err(unkept)?;
                Err(self.refusals.unsigned())
            }
        }
    }

    async fn ask(&self, kept: &KeptSignIn, refresh_token: &str, now: Timestamp) -> Result<DelegatedTokens, TokenError> {
        let server = self.resource.server(now).await.map_err(|_| TokenError::Unavailable)?;
        // The server has another authorization server by now, which must not see tokens of the one before.
        if server.issuer != kept.issuer {
            return Err(TokenError::Refused);
        }
        self.resource.refresh((&server, &kept.registration), refresh_token, now).await
    }

    /// A token that could not be refreshed, as long as it has not ended.
    fn still_good(&self, tokens: &DelegatedTokens, now: Timestamp) -> Result<HeaderValue, CallError> {
        match tokens.expires_at.is_some_and(|end| now < end) {
            true => self.shown(tokens),
            false => Err(self.refusals.away()),
        }
    }

    fn shown(&self, tokens: &DelegatedTokens) -> Result<HeaderValue, CallError> {
        let mut value =
            HeaderValue::from_str(&format!("Bearer {}", tokens.access_token)).map_err(|_| self.refusals.unsigned())?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// Begins a sign-in.
    pub(crate) async fn begin(&self) -> Result<DelegationStart, SignInFailure> {
        let server = self.resource.server(self.clock.now()).await?;
        let registration = self.registration(&server).await?;
        Ok(self.resource.begin(&server, registration, &self.redirect_uri, &*self.entropy))
    }

    /// Ends a sign-in that came back with a code: it is kept for the person.
    pub(crate) async fn finish(
        &self,
        person: &KnownPerson,
        flow: &DelegatedFlow,
        (code, issuer): (&str, Option<&str>),
    ) -> Result<(), SignInFailure> {
        let now = self.clock.now();
        let server = self.resource.server(now).await?;
        // Before the code is used: it must not be sent to another server than the one that gave it. RFC 9207 2.4.
        if server.issuer != flow.issuer || !server.is_of_issuer(issuer) {
            tracing::warn!(server = %self.name, "a sign-in came back from another issuer");
            return Err(SignInFailure::Invalid);
        }
        let registration = flow.registration().clone();
        let tokens = match self.resource.redeem(&server, flow, code, now).await {
            Ok(tokens) => tokens,
            Err(TokenError::Unavailable) => return Err(SignInFailure::Away),
            Err(error) => {
                if error == TokenError::UnknownClient {
                    self.unregister(&server.issuer, &registration).await?;
                }
                return Err(SignInFailure::Invalid);
            }
        };
        let before = self.kept.of(person).await?;
        let next = KeptSignIn { issuer: server.issuer.clone(), registration, tokens };
        if let Err(error) = self.kept.keep(person, next.clone(), None, now).await {
            // Nobody could end it later.
            self.revoke(&next).await;
            return Err(error.into());
        }
        if let Some((_, before)) = before {
            self.revoke(&before).await;
        }
        Ok(())
    }

    /// Whether a person has signed in there.
    pub(crate) async fn has_signed_in(&self, person: &KnownPerson) -> Result<bool, SignInFailure> {
        Ok(self.kept.of(person).await?.is_some())
    }

    /// Forgets a person's sign-in, and ends its tokens at the authorization server as far as that can be done.
    pub(crate) async fn forget(&self, person: &KnownPerson) -> Result<(), SignInFailure> {
        let Some((_, kept)) = self.kept.of(person).await? else { return Ok(()) };
        self.kept.forget(person, None, self.clock.now()).await?;
        self.revoke(&kept).await;
        Ok(())
    }

    async fn revoke(&self, kept: &KeptSignIn) {
        let Ok(server) = self.resource.server(self.clock.now()).await else { return };
        if server.issuer == kept.issuer {
            let token = kept.tokens.refresh_token.as_ref().unwrap_or(&kept.tokens.access_token);
            self.resource.revoke((&server, &kept.registration), token).await;
        }
    }

    /// Who this host is at an authorization server: as configured, as it registered itself before, or anew.
    async fn registration(&self, server: &AuthorizationServer) -> Result<Registration, SignInFailure> {
        if let Some(client) = &self.client {
            return client.at(&server.issuer).cloned().ok_or(SignInFailure::Invalid);
        }
        let (last, known) = self.kept.registration(&server.issuer, &self.redirect_uri).await?;
        if let Some(known) = known {
            return Ok(known);
        }
        let made = self.resource.register(server, &self.redirect_uri).await?;
        // Where another node was first, this one is used for this sign-in alone.
        self.kept.keep_registration((&server.issuer, &self.redirect_uri), Some(&made), last).await?;
        Ok(made)
    }

    /// Forgets a registration that the authorization server does not know any more.
    async fn unregister(&self, issuer: &str, registration: &Registration) -> Result<(), Error> {
        let (last, known) = self.kept.registration(issuer, &self.redirect_uri).await?;
        match known.is_some_and(|known| known == *registration) {
            true => self.kept.keep_registration((issuer, &self.redirect_uri), None, last).await,
            false => Ok(()),
        }
    }

    fn person<'a>(&self, who: &'a WhoAsks) -> Result<&'a KnownPerson, CallError> {
        match who {
            WhoAsks::Person(person) => Ok(person),
            WhoAsks::Stranger => Err(self.refusals.unknown()),
            WhoAsks::Other => Err(self.refusals.no_person()),
        }
    }
}

/// Whether a token has to be refreshed before it is shown: a little before its end, if it can be.
fn is_due(tokens: &DelegatedTokens, now: Timestamp) -> bool {
    let before = if tokens.refresh_token.is_some() { REFRESH_BEFORE } else { Duration::ZERO };
    tokens.expires_at.is_some_and(|end| now.checked_add(before).is_ok_and(|soon| soon >= end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_refreshed_a_little_before_its_end_if_it_can_be() {
        let now = Timestamp::UNIX_EPOCH;
        let due = |refresh: Option<&str>, seconds: i64| {
            let expires_at = Timestamp::from_second(seconds).ok();
            let refresh_token = refresh.map(str::to_owned);
            is_due(&DelegatedTokens { access_token: "a".to_owned(), refresh_token, expires_at }, now)
        };
        let before = REFRESH_BEFORE.as_secs().cast_signed();
        assert!(due(Some("r"), before) && !due(Some("r"), before + 1));
        assert!(due(None, 0) && !due(None, 1));
        assert!(!is_due(&DelegatedTokens { access_token: "a".to_owned(), refresh_token: None, expires_at: None }, now));
    }
}
