//! What opens the console and its API: a token, a provider with roles, or both.

use std::net::SocketAddr;
use std::sync::Arc;

use forecourt_egress::Egress;
use forecourt_server::AdminToken;

use crate::address::ConsoleUrl;
use crate::provider::{LoginProvider, LoginSettings};
use crate::role::Role;
use crate::sessions::{OpenedBy, Session};

/// What opens the console and its API, as the settings say.
#[derive(Debug, Clone, Default)]
pub struct EntranceSettings {
    /// What programs carry, and what people log in with where they have it.
    pub token: Option<AdminToken>,
    /// Where people log in.
    pub login: Option<LoginSettings>,
    /// Where browsers find the console; that of the listener when absent.
    pub url: Option<ConsoleUrl>,
}

/// What opens the console and its API now.
pub struct Entrance {
    pub(crate) token: Option<AdminToken>,
    pub(crate) provider: Option<LoginProvider>,
    pub(crate) url: ConsoleUrl,
}

impl Entrance {
    /// The entrance that settings describe: its provider is asked through `egress`, and browsers find it at `listener`
    /// unless the settings say otherwise.
    pub fn new(settings: &EntranceSettings, egress: &Arc<Egress>, listener: SocketAddr) -> Self {
        let provider = settings.login.clone().map(|login| LoginProvider::new(login, egress.clone()));
        let url = settings.url.clone().unwrap_or_else(|| ConsoleUrl::of_listener(listener));
        Self { token: settings.token.clone(), provider, url }
    }

    /// What programs carry.
    pub fn token(&self) -> Option<&AdminToken> {
        self.token.as_ref()
    }

    /// Whether nobody can be let in.
    pub(crate) fn is_closed(&self) -> bool {
        self.token.is_none() && self.provider.is_none()
    }

    /// What whoever has a session may do now: never more than when they logged in. `None` when what opened it would
    /// not open it any more.
    pub(crate) fn role(&self, session: &Session) -> Option<Role> {
        let now = match &session.opened_by {
            OpenedBy::Token { mark } => self.token.as_ref().filter(|token| token.mark() == *mark).map(|_| session.role),
            OpenedBy::Provider { mark, held } => {
                self.provider.as_ref().filter(|provider| provider.mark() == *mark)?.roles().role(held)
            }
        };
        // Roles that the settings give since then need a new login; those that they take count at once.
        now.map(|role| role.min(session.role))
    }
}
