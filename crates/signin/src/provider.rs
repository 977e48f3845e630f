//! The provider at which people sign in, and who they are there.

use std::sync::Arc;

use forecourt_core::Timestamp;
use forecourt_egress::Egress;
use forecourt_identity::sessions::SignedIn;
use forecourt_identity::{Logout, OidcSettings};
use forecourt_oidc::{ClientSettings, Flow, Provider};
use url::Url;

use crate::error::SignInError;
use crate::limits::ID_TOKEN_BYTES_MAX;
use crate::person;

/// The provider of this host.
pub(crate) struct PeopleProvider {
    settings: OidcSettings,
    provider: Provider,
}

impl PeopleProvider {
    pub(crate) fn new(settings: OidcSettings, egress: Arc<Egress>) -> Self {
        let client = ClientSettings {
            issuer: settings.issuer.clone(),
            client_id: settings.client_id.clone(),
            client_secret: settings.client_secret.clone(),
            scopes: settings.scopes.clone(),
        };
        Self { settings, provider: Provider::new(client, egress) }
    }

    /// The way there and back.
    pub(crate) fn way(&self) -> &Provider {
        &self.provider
    }

    /// Exchanges the code for verified claims, and reads the person out of them.
    pub(crate) async fn person(
        &self,
        code: String,
        way: (&Flow, &str),
        now: Timestamp,
    ) -> Result<SignedIn, SignInError> {
        let wants_more = |claims: &_| person::wants_more(&self.settings, claims);
        let identified = self.provider.identified(code, way, now, &wants_more).await?;
        let mut person = person::person(&self.settings, identified.claims, now)?;
        // The token is needed as `id_token_hint` when the person signs out there, and for nothing else.
        let keeps = self.settings.logout == Logout::Provider && identified.id_token.len() <= ID_TOKEN_BYTES_MAX;
        person.id_token = keeps.then_some(identified.id_token);
        Ok(person)
    }

    /// Where the browser goes so that the provider ends its session too, if that is wanted and offered.
    pub(crate) async fn sign_out_url(&self, person: &SignedIn, back: &str, now: Timestamp) -> Option<Url> {
        match self.settings.logout {
            Logout::Host => None,
            Logout::Provider => self.provider.sign_out_url(person.id_token.as_deref(), back, now).await,
        }
    }
}
