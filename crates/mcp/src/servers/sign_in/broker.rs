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

use super::client::ConfiguredClient;
use super::failure::SignInFailure;
use super::kept::{KeptSignIn, KeptSignIns};
use super::paths::CALLBACK;
use super::refusals::{Refusals, unkept};
use super::settings::CheckedSignIn;
use crate::limits::REFRESH_BEFORE;
use crate::person::{KnownPerson, WhoAsks};
use crate::upstream::call_error::CallError;

/// The sign-ins of people at one server.
pub(crate) struct Broker {
    pub(super) name: Handle,
    pub(super) resource: DelegatedResource,
    pub(super) client: Option<ConfiguredClient>,
    pub(super) kept: KeptSignIns,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) entropy: Arc<dyn Entropy>,
    pub(super) refusals: Refusals,
    /// Where browsers come back to.
    pub(super) redirect_uri: String,
    /// Who refreshes on this node at the moment: one call for each person.
    pub(super) refreshing: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
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
        if renewed != *refused {
            return Ok(renewed);
        }
        match self.kept.of(person).await.map_err(unkept)? {
            // It was given anew and is the same: no other will come.
            Some((last, _)) if last != number => Err(self.unusable(who, refused).await),
            // There is no other one at the moment.
            _ => Err(self.refusals.away()),
        }
    }

    /// What a caller is told whose token the server did not take though it was new: the sign-in is forgotten, or each
    /// call would ask for yet another token.
    pub(crate) async fn unusable(&self, who: &WhoAsks, refused: &HeaderValue) -> CallError {
        self.end(who, refused).await.unwrap_or_else(|error| error)
    }

    async fn end(&self, who: &WhoAsks, refused: &HeaderValue) -> Result<CallError, CallError> {
        let person = self.person(who)?;
        let (number, kept) = self.kept.of(person).await.map_err(unkept)?.ok_or_else(|| self.refusals.unsigned())?;
        // Signed in anew meanwhile, or refreshed by another call.
        if self.shown(&kept.tokens)? != *refused {
            return Ok(self.refusals.away());
        }
        tracing::info!(server = %self.name, "a server does not take the tokens of a sign-in");
        if self.kept.forget(person, Some(number), self.clock.now()).await.map_err(unkept)? {
            self.revoke(&kept).await;
        }
        Ok(self.refusals.unsigned())
    }

    pub(super) fn shown(&self, tokens: &DelegatedTokens) -> Result<HeaderValue, CallError> {
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
        let made_with = flow.registration();
        let client = self.client_of(&server.issuer, made_with);
        let tokens = match self.resource.redeem((&server, client), flow, code, now).await {
            Ok(tokens) => tokens,
            Err(error) => match self.meaning(error, &server.issuer, made_with) {
                TokenError::Unavailable => return Err(SignInFailure::Away),
                TokenError::UnknownClient => {
                    self.unregister(&server.issuer, made_with).await?;
                    return Err(SignInFailure::Invalid);
                }
                TokenError::Refused => return Err(SignInFailure::Invalid),
            },
        };
        let before = self.kept.of(person).await?.map(|(_, before)| before);
        let next = KeptSignIn { issuer: server.issuer.clone(), registration: client.clone(), tokens };
        if let Err(error) = self.kept.keep(person, next.clone(), None, now).await {
            // Nobody could end it later.
            self.revoke_beside(&next, before.as_ref()).await;
            return Err(error.into());
        }
        if let Some(before) = before {
            self.revoke_beside(&before, Some(&next)).await;
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

    /// Ends the tokens of a sign-in that is not kept, beside one that is. Where both are of one client they are left to
    /// end by themselves: some servers end all that a person allowed a client, and some give the same token again.
    pub(super) async fn revoke_beside(&self, ended: &KeptSignIn, kept: Option<&KeptSignIn>) {
        let is_same = |kept: &KeptSignIn| {
            kept.issuer == ended.issuer && kept.registration.client_id == ended.registration.client_id
        };
        if !kept.is_some_and(is_same) {
            self.revoke(ended).await;
        }
    }

    async fn revoke(&self, kept: &KeptSignIn) {
        let Ok(server) = self.resource.server(self.clock.now()).await else { return };
        if server.issuer == kept.issuer {
            let token = kept.tokens.refresh_token.as_ref().unwrap_or(&kept.tokens.access_token);
            let client = self.client_of(&kept.issuer, &kept.registration);
            self.resource.revoke((&server, client), token).await;
        }
    }

    /// Who this host is at `issuer`, where it was `made_with` once: the operator may have given that client another
    /// secret since.
    pub(super) fn client_of<'a>(&'a self, issuer: &str, made_with: &'a Registration) -> &'a Registration {
        self.configured(issuer, made_with).unwrap_or(made_with)
    }

    fn configured(&self, issuer: &str, made_with: &Registration) -> Option<&Registration> {
        let own = self.client.as_ref()?.at(issuer)?;
        (own.client_id == made_with.client_id).then_some(own)
    }

    /// What an error of the token endpoint of `issuer` means for a sign-in. That a client which the operator has
    /// configured is not taken is the operator's to mend, and no reason to sign in anew.
    pub(super) fn meaning(&self, error: TokenError, issuer: &str, made_with: &Registration) -> TokenError {
        if error == TokenError::UnknownClient && self.configured(issuer, made_with).is_some() {
            let client_id = &made_with.client_id;
            tracing::error!(server = %self.name, issuer, client_id, "`client_id` and secret of `sign_in` are not taken");
            return TokenError::Unavailable;
        }
        error
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
    pub(super) async fn unregister(&self, issuer: &str, registration: &Registration) -> Result<(), Error> {
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
