//! The REST transport as a whole: a route for each agent, and what all requests share.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use forecourt_core::{Handle, MessageId};
use forecourt_egress::Egress;
use forecourt_host::Host;
use forecourt_identity::Verifier;
use forecourt_pages::Pages;
use forecourt_payments::PaymentNetworks;
use forecourt_surface::agent_path::agent_named;

use super::agent_route::AgentRoute;
use super::answer::RestError;
use super::request::RequestHead;
use super::responder::Responder;
use crate::section::MentionableSettings;

/// The transport, made once at start.
pub(crate) struct Rest {
    pub(crate) host: Arc<Host>,
    pub(crate) verifier: Arc<Verifier>,
    pub(crate) egress: Arc<Egress>,
    /// How pages look.
    pub(crate) pages: Arc<Pages>,
    pub(crate) settings: MentionableSettings,
    /// The networks on which is paid, as people and wallets know them.
    pub(crate) networks: Arc<PaymentNetworks>,
    /// The handles of all agents in the order in which people look for them.
    pub(super) listed: Vec<Handle>,
    doors: HashMap<Handle, Arc<AgentRoute>>,
    pub(super) ids: Ids,
    /// The default agent's.
    pub(crate) default: Arc<AgentRoute>,
}

impl Rest {
    /// Makes the transport, with a route for each agent of the host.
    pub(crate) fn new(
        host: Arc<Host>,
        verifier: Arc<Verifier>,
        egress: Arc<Egress>,
        pages: Arc<Pages>,
        settings: MentionableSettings,
    ) -> Self {
        let door = |card: &Arc<_>| Arc::new(AgentRoute::new(Arc::clone(card), &pages.branding));
        let residents = host.directory().iter();
        let doors: HashMap<_, _> = residents.map(|r| (r.card.handle().clone(), door(&r.card))).collect();
        let default = host.directory().default_agent();
        let default = doors.get(default.card.handle()).cloned().unwrap_or_else(|| door(&default.card));
        let ids = Ids { run: MessageId::mint(&**host.entropy()), last: AtomicU64::new(0) };
        let listed = listed(&host);
        let networks = Arc::default();
        Self { host, verifier, egress, pages, settings, networks, listed, doors, ids, default }
    }

    /// The same for a deployment with networks of its own.
    pub(crate) fn paid_on(self, networks: Arc<PaymentNetworks>) -> Self {
        Self { networks, ..self }
    }

    /// Writes responses to a request, in the name of the agent of `route`.
    pub(crate) fn responder<'a>(&'a self, route: &'a AgentRoute, request: RequestHead<'a>) -> Responder<'a> {
        let (branding, policy_header) = (&self.pages.branding, self.settings.policy_header);
        Responder { request, route, branding, policy_header, person: None }
    }

    /// Counts a request that carries no message against its caller's limits. REST 8.4.
    pub(crate) fn meter(&self, request: &RequestHead<'_>) -> Result<(), RestError> {
        Ok(self.host.meter(request.peer())?)
    }

    /// The route of an agent; that of the default agent when it has left.
    pub(crate) fn door(&self, agent: &Handle) -> &AgentRoute {
        self.doors.get(agent).unwrap_or(&self.default)
    }

    /// The route at a path such as `/~chef`; `None` when no agent is there.
    pub(crate) fn door_at(&self, path: &str) -> Option<&AgentRoute> {
        self.doors.get(&agent_named(path)?).map(|door| &**door)
    }
}

/// The agents in the order in which people look for them: the default one, those that find things, those that compose
/// answers, and then the others, which are most often there to try things out. Within each, as they are configured.
fn listed(host: &Host) -> Vec<Handle> {
    let default = host.directory().default_agent().card.handle().clone();
    let mut cards: Vec<_> = host.directory().iter().map(|resident| &resident.card).collect();
    cards.sort_by_key(|card| (*card.handle() != default, !card.finds, !card.composes));
    cards.into_iter().map(|card| card.handle().clone()).collect()
}

/// Names for messages, which have none on this wire. They open nothing, so that a name for this run
/// and a count is enough, and randomness is kept for what must not be guessed.
pub(super) struct Ids {
    run: MessageId,
    last: AtomicU64,
}

impl Ids {
    pub(super) fn next(&self) -> MessageId {
        self.run.numbered(self.last.fetch_add(1, Ordering::Relaxed))
    }
}
