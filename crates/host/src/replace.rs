//! A host takes the place of another one: the agents, the endpoints and the rules are new, and everything
//! that is under way or was kept goes on.

use std::collections::HashMap;
use std::sync::Arc;

use forecourt_contract::Dispatcher;
use forecourt_core::Error;
use forecourt_core::policy::PaymentScheme;
use forecourt_egress::Egress;
use futures::future::BoxFuture;

use crate::attachments::Attachments;
use crate::counters::HostCounters;
use crate::deliver::{Courier, Envelope, Outbound};
use crate::directory::Directory;
use crate::idempotency::Idempotency;
use crate::limits::{LimitSettings, Throttle};
use crate::notifier::{OperatorNotifier, OperatorWebhook};
use crate::operator_queue::OperatorQueue;
use crate::receive::Host;
use forecourt_core::Site;
use forecourt_rules::RuleServices;

/// What of a host is replaced while it works.
pub struct HostParts {
    /// What the outside calls this place. The domain stays the same: what is kept belongs to it.
    pub site: Site,
    /// Who lives here.
    pub directory: Directory,
    /// The way out.
    pub egress: Arc<Egress>,
    /// What callers may do.
    pub limits: LimitSettings,
    /// The endpoints.
    pub contract: Arc<Dispatcher>,
    /// Where the operator is told that a question waits.
    pub operator: Option<OperatorWebhook>,
    /// How each protocol writes its posts, by the protocol's name.
    pub envelopes: HashMap<String, Envelope>,
    /// What carries the deliveries of protocols that do not post, by the protocol's name.
    pub couriers: HashMap<String, Arc<dyn Courier>>,
    /// What leads the agents' rules to the counters, which go on.
    pub rules: RuleServices,
    /// Ways to pay that it can check and settle.
    pub schemes: Vec<Arc<dyn PaymentScheme>>,
}

impl Host {
    /// A host of these parts that goes on with everything else of this one: the store, tasks and replies under
    /// way with the places that they take, counters of limits, keys of calls that are made once, deliveries,
    /// the lifecycle of agents. This one works on beside it, for the requests that it has.
    ///
    /// Buckets go on too, at the new rates. How many answers and tasks may run at once stays
    /// what it was at the start.
    ///
    /// # Errors
    /// The store can't tell where the agents stand.
    pub fn replaced_by(&self, parts: HostParts) -> BoxFuture<'_, Result<Arc<Host>, Error>> {
        Box::pin(async move {
            let HostParts { site, directory, egress, limits, contract, operator, envelopes, couriers, rules, schemes } =
                parts;
            for agent in directory.iter() {
                self.lifecycle.state(agent.card.handle()).await?;
            }
            let rates = self.throttle.rates.clone();
            rules.set(Arc::new(HostCounters { rates: rates.clone(), tasks: self.tasks.clone() }));
            let throttle = Arc::new(Throttle::new(&limits, rates));
            let notifier = operator.map(|webhook| OperatorNotifier {
                webhook,
                store: self.store.clone(),
                clock: self.clock.clone(),
                entropy: self.entropy.clone(),
                wakeup: self.wakeup.clone(),
            });
            let issuances = Arc::new(self.issuances.replaced_by(site.clone(), limits.clone(), schemes));
            Ok(Arc::new(Host {
                site,
                directory,
                throttle,
                conversations: self.conversations.clone(),
                lifecycle: self.lifecycle.clone(),
                operator: OperatorQueue {
                    store: self.store.clone(),
                    clock: self.clock.clone(),
                    entropy: self.entropy.clone(),
                    metrics: self.metrics.clone(),
                    bus: self.tasks.bus.clone(),
                    notifier,
                },
                idempotency: Idempotency::new(self.tasks.clone(), &limits),
                ledger: self.ledger.clone(),
                contract,
                attachments: Attachments { egress: egress.clone() },
                issuances,
                outbound: self.outbound.clone(),
                own_outbound: Arc::new(Outbound { egress, envelopes, couriers }),
                wakeup: self.wakeup.clone(),
                tasks: self.tasks.clone(),
                store: self.store.clone(),
                clock: self.clock.clone(),
                entropy: self.entropy.clone(),
                metrics: self.metrics.clone(),
                posting: self.posting.clone(),
                stop: self.stop.clone(),
            }))
        })
    }

    /// Has deliveries and the settling of payments, which all hosts after one another have in common, go on by what
    /// this one says.
    pub fn take_over(&self) {
        self.outbound.store(self.own_outbound.clone());
        self.issuances.take_over();
    }
}
