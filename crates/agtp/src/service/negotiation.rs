//! What makes contracts while the host serves, set up for one state of the deployment. AGTP-API 10.

use std::num::NonZeroU32;
use std::sync::Arc;

use forecourt_contract::call::ConnectionId;
use forecourt_surface::Mount;
use forecourt_synthesis::contracts::Contracts;
use forecourt_synthesis::negotiator::{ContractEvent, ContractEvents, Negotiator, NegotiatorParts};
use futures::FutureExt;
use futures::future::BoxFuture;

use super::Service;
use crate::settings::AgtpSettings;

/// The negotiator of a deployment, known to the host from now on. The contracts outlive it.
pub(crate) fn negotiator(mount: &Mount, settings: &AgtpSettings) -> Arc<Negotiator> {
    let host = &mount.host;
    let contracts =
        mount.services.keep(|| Contracts::new(host.ledger().clone(), host.clock().clone(), host.entropy().clone()));
    let negotiator = Negotiator::new(NegotiatorParts {
        contracts,
        host: mount.services.handle().clone(),
        synthesis: settings.synthesis.clone(),
        rcns: settings.policies.rcns.clone(),
        is_synthesis_enabled: settings.policies.synthesis_enabled,
        steps_max: steps_max(settings.policies.max_synthesis_depth),
        requires_proof: settings.negotiates_with_proven_only(),
        clock: host.clock().clone(),
        entropy: host.entropy().clone(),
        events: Arc::new(LoggedEvents),
    });
    mount.services.publish_negotiation(negotiator.clone());
    negotiator
}

fn steps_max(depth: NonZeroU32) -> usize {
    usize::try_from(depth.get()).unwrap_or(usize::MAX)
}

impl Service {
    /// Ends what was bound to a connection that was closed. AGTP-API 10.8.
    pub(crate) async fn connection_ended(&self, id: &ConnectionId) {
        self.negotiator.end_connection(id).await;
    }
}

/// Events of contracts in the log.
struct LoggedEvents;

impl ContractEvents for LoggedEvents {
    fn happened<'a>(&'a self, event: ContractEvent<'a>) -> BoxFuture<'a, ()> {
        let contract = event.contract();
        tracing::info!(
            event = event.word(),
            synthesis_id = &*contract.synthesis_id,
            agent = &*contract.holder.agent_id,
            "a contract has changed"
        );
        async {}.boxed()
    }
}
