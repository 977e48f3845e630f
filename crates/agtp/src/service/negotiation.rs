//! What makes contracts while the host serves, set up for one state of the deployment. AGTP-API 10.

use std::num::NonZeroU32;
use std::sync::Arc;

use forecourt_core::AgentId;
use forecourt_surface::Mount;
use forecourt_synthesis::contracts::Contracts;
use forecourt_synthesis::negotiator::{ContractEvent, ContractEvents, NegotiationMemory, Negotiator, NegotiatorParts};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::records::Records;
use crate::settings::AgtpSettings;

/// The negotiator of a deployment, known to the host from now on. The contracts outlive it, and what happens to them
/// is an event in the chain of records of their agent.
pub(crate) fn negotiator(mount: &Mount, settings: &AgtpSettings, records: Arc<Records>) -> Arc<Negotiator> {
    let host = &mount.host;
    let contracts = mount.services.keep(|| {
        Contracts::new(
            host.ledger(forecourt_synthesis::contracts::LEDGER_OWNER),
            host.clock().clone(),
            host.entropy().clone(),
        )
    });
    let negotiator = Negotiator::new(NegotiatorParts {
        contracts,
        memory: mount.services.keep(NegotiationMemory::default),
        host: mount.services.handle().clone(),
        synthesis: settings.synthesis.clone(),
        rcns: settings.policies.rcns.clone(),
        is_synthesis_enabled: settings.policies.synthesis_enabled,
        steps_max: steps_max(settings.policies.max_synthesis_depth),
        requires_proof: settings.negotiates_with_proven_only(),
        clock: host.clock().clone(),
        entropy: host.entropy().clone(),
        events: Arc::new(RecordedEvents(records)),
    });
    mount.services.publish_negotiation(negotiator.clone());
    // The operator lists and ends contracts by it.
    mount.services.publish(negotiator.clone());
    negotiator
}

fn steps_max(depth: NonZeroU32) -> usize {
    usize::try_from(depth.get()).unwrap_or(usize::MAX)
}

/// What happens to contracts, recorded in the chains of their agents. Base 8.2.
struct RecordedEvents(Arc<Records>);

impl ContractEvents for RecordedEvents {
    fn happened<'a>(&'a self, event: ContractEvent<'a>) -> BoxFuture<'a, ()> {
        async move {
            let contract = event.contract();
            let (synthesis_id, agent) = (&*contract.synthesis_id, &*contract.holder.agent_id);
            tracing::info!(event = event.word(), synthesis_id, agent, "a contract has changed");
            if let Ok(agent) = AgentId::parse(agent) {
                self.0.event(&agent, record_of(&event)).await;
            }
        }
        .boxed()
    }
}

/// An event as its record says it. AGTP-API 10.1.4, 10.1.4.1.
fn record_of(event: &ContractEvent<'_>) -> Map<String, Value> {
    let contract = event.contract();
    let (status, reason, actor) = match event {
        ContractEvent::Accepted { .. } => ("active", None, Some(&*contract.holder.agent_id)),
        ContractEvent::Released { reason, actor, .. } => ("released", Some(reason.text()), Some(*actor)),
        ContractEvent::Revoked { reason, actor, .. } => ("revoked", *reason, *actor),
    };
    let all = json!({
        "event_type": event.word(),
        "synthesis_id": contract.synthesis_id,
        "contract_hash": contract.contract_hash,
        "negotiation_origin": contract.origin,
        "contract_status": status,
        "method": contract.method,
        "path": contract.path.as_str(),
        "recipe_lineage": contract.lineage,
        "expires_at": contract.expires_at,
        "reason": reason,
        "actor": actor,
    });
    let fields = all.as_object().cloned().unwrap_or_default();
    fields.into_iter().filter(|(_, value)| !value.is_null()).collect()
}
