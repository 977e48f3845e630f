//! Putting a host together, and setting it to work.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use forecourt_contract::Dispatcher;
use forecourt_core::policy::PaymentScheme;
use forecourt_core::{Bus, Clock, Entropy, Error, NoBus, Store, SystemClock};
use forecourt_egress::Egress;
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::attachments::Attachments;
use crate::audit::{self, Audit};
use crate::conversations::{ConversationWriter, Conversations};
use crate::counters::HostCounters;
use crate::deliver::{Courier, Deliverer, DeliveryWakeup, Envelope, Outbound};
use crate::deployment_id::{DeploymentId, DeploymentIdError};
use crate::directory::Directory;
use crate::heartbeat;
use crate::idempotency::Idempotency;
use crate::issuance::{Desk, IssuanceParts, Issuances};
use crate::lease::{Lease, LeaseSettings};
use crate::ledger::Ledger;
use crate::lifecycle::Lifecycle;
use crate::limits::{LimitSettings, Throttle};
use crate::metrics::Metrics;
use crate::notifier::{OperatorNotifier, OperatorWebhook};
use crate::operator_queue::OperatorQueue;
use crate::random::SystemEntropy;
use crate::rates::RateTable;
use crate::receive::Host;
use crate::tasks::{TaskParts, Tasks};
use crate::upkeep;
use forecourt_core::Site;
use forecourt_rules::RuleServices;

/// What a host is made of. The rest has defaults: the machine's clock and randomness.
pub struct HostBuilder {
    /// What the outside calls this place.
    pub site: Site,
    /// Who lives here.
    pub directory: Directory,
    /// Where things are kept.
    pub store: Arc<dyn Store>,
    /// Where it is kept where agents stand, when that is another place: the store of a deployment that
    /// another process serves too.
    pub standings: Option<Arc<dyn Store>>,
    /// What other nodes are told by; nobody by default.
    pub bus: Arc<dyn Bus>,
    /// Whether nobody else has the store: then what another run left is taken over at once, and otherwise when it
    /// has been silent for as long as a lease holds.
    pub alone: bool,
    /// How this host holds its tasks, where others have the store too.
    pub lease: LeaseSettings,
    /// The way out.
    pub egress: Arc<Egress>,
    /// What callers may do.
    pub limits: LimitSettings,
    /// The endpoints; none by default.
    pub contract: Arc<Dispatcher>,
    /// Where the operator is told that a question waits; nowhere by default.
    pub operator: Option<OperatorWebhook>,
    /// How each protocol writes its posts, by the protocol's name.
    pub envelopes: HashMap<String, Envelope>,
    /// What carries the deliveries of protocols that do not post, by the protocol's name.
    pub couriers: HashMap<String, Arc<dyn Courier>>,
    /// What leads the agents' rules to this host's counters.
    pub rules: RuleServices,
    /// Ways to pay that this host can check and settle; none by default.
    pub schemes: Vec<Arc<dyn PaymentScheme>>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl HostBuilder {
    /// A host of these parts with the machine's clock and randomness.
    pub fn new(site: Site, directory: Directory, store: Arc<dyn Store>, egress: Arc<Egress>) -> Self {
        Self {
            site,
            directory,
            store,
            standings: None,
            bus: Arc::new(NoBus),
            alone: true,
            lease: LeaseSettings::default(),
            egress,
            limits: LimitSettings::default(),
            contract: Arc::default(),
            operator: None,
            envelopes: HashMap::new(),
            couriers: HashMap::new(),
            rules: RuleServices::default(),
            schemes: Vec::new(),
            clock: Arc::new(SystemClock),
            entropy: Arc::new(SystemEntropy),
        }
    }

    /// The same host with another clock and other randomness.
    #[must_use]
    pub fn with_ambient(mut self, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        self.clock = clock;
        self.entropy = entropy;
        self
    }

    /// Recovers what an earlier run left, then begins to work in the background until `stop`.
    ///
    /// Fails when the store can't be read: a host that can't see its tasks must not take more.
    pub fn start(self, stop: CancellationToken) -> BoxFuture<'static, Result<Arc<Host>, Error>> {
        Box::pin(async move {
            let metrics = Arc::new(Metrics::default());
            let wakeup = DeliveryWakeup::default();
            let writer = ConversationWriter::new(self.store.clone(), self.clock.clone(), stop.clone(), self.alone);
            let writer = Arc::new(writer);
            let conversations =
                Conversations { writer: writer.clone(), clock: self.clock.clone(), entropy: self.entropy.clone() };
            let rates = match self.alone {
                true => RateTable::new(),
                false => self.shared_rates().await?,
            };
            let rates = Arc::new(rates);
            let run = forecourt_core::ids::mint(&*self.entropy);
            let parts = TaskParts {
                site: Arc::new(self.site.clone()),
                store: self.store.clone(),
                conversations: conversations.clone(),
                clock: self.clock.clone(),
                entropy: self.entropy.clone(),
                metrics: metrics.clone(),
                wakeup: wakeup.clone(),
                bus: self.bus.clone(),
                rates: rates.clone(),
                lease: Lease::new(self.lease, self.alone, run),
            };
            let tasks = Arc::new(Tasks::new(parts, &self.limits));
            self.rules.set(Arc::new(HostCounters { rates: rates.clone(), tasks: tasks.clone() }));
            let ended = tasks.recover().await?;
            if ended > 0 {
                tracing::warn!(ended, "tasks of an earlier run were cut off and have been ended as failed");
            }
            let cut_off = if self.alone { self.store.release_deliveries(self.clock.now()).await? } else { 0 };
            if cut_off > 0 {
                tracing::info!(cut_off, "posts that an earlier run had begun are due again");
            }
            let standings = self.standings.unwrap_or_else(|| self.store.clone());
            let lifecycle = Lifecycle::read(standings, self.clock.clone(), self.bus.clone(), &self.directory).await?;
            let lifecycle = Arc::new(lifecycle);
            let notifier = self.operator.map(|webhook| OperatorNotifier {
                webhook,
                store: self.store.clone(),
                clock: self.clock.clone(),
                entropy: self.entropy.clone(),
                wakeup: wakeup.clone(),
            });
            let operator = OperatorQueue {
                store: self.store.clone(),
                clock: self.clock.clone(),
                entropy: self.entropy.clone(),
                metrics: metrics.clone(),
                bus: self.bus.clone(),
                notifier,
            };
            let ledger = Arc::new(Ledger::new(self.store.clone(), self.clock.clone()));
            let own_outbound =
                Arc::new(Outbound { egress: self.egress.clone(), envelopes: self.envelopes, couriers: self.couriers });
            let outbound = Arc::new(ArcSwap::new(own_outbound.clone()));
            let deliverer = Deliverer {
                store: self.store.clone(),
                clock: self.clock.clone(),
                entropy: self.entropy.clone(),
                outbound: outbound.clone(),
                metrics: metrics.clone(),
                wakeup: wakeup.clone(),
            };
            let (audit, records) = Audit::new();
            let kept = Duration::from_secs(self.limits.audit_days.get().saturating_mul(24 * 60 * 60));
            let audited = audit::write(records, self.store.clone(), self.clock.clone(), kept, stop.clone());
            let issuances = Arc::new(Issuances::new(IssuanceParts {
                site: self.site.clone(),
                limits: self.limits.clone(),
                schemes: self.schemes,
                tasks: tasks.clone(),
                desk: Arc::new(Desk::new(audit)),
            }));
            issuances.take_over();
            let indeterminate = issuances.recover().await?;
            if indeterminate > 0 {
                tracing::warn!(
                    indeterminate,
                    "payments of an earlier run are being asked about: nobody knows whether they were settled"
                );
            }
            let posting = TaskTracker::new();
            posting.spawn(audited);
            tokio::spawn(issuances.clone().reconcile(stop.clone()));
            posting.spawn(deliverer.run(stop.clone()));
            posting.spawn(writer.run());
            posting.spawn(tasks.clone().keep_lease(stop.clone()));
            posting.close();
            tokio::spawn(heartbeat::hear(tasks.clone(), lifecycle.clone(), &*self.bus, stop.clone()));
            tokio::spawn(upkeep::sweep(self.store.clone(), self.clock.clone(), stop.clone()));
            Ok(Arc::new(Host {
                site: self.site,
                directory: self.directory,
                throttle: Arc::new(Throttle::new(&self.limits, rates)),
                conversations,
                lifecycle,
                operator,
                idempotency: Idempotency::new(tasks.clone(), &self.limits),
                ledger,
                contract: self.contract,
                attachments: Attachments { egress: self.egress },
                issuances,
                outbound,
                own_outbound,
                wakeup,
                tasks,
                store: self.store,
                clock: self.clock,
                entropy: self.entropy,
                metrics,
                posting,
                stop,
            }))
        })
    }

    /// The counters of a host that others count with.
    async fn shared_rates(&self) -> Result<RateTable, Error> {
        let agreed = DeploymentId::agree(&*self.store, &*self.clock, &*self.entropy, &self.site.domain).await;
        let deployment = agreed.map_err(|error| match error {
            DeploymentIdError::Store(error) => error.into(),
            error @ DeploymentIdError::OtherDeployment { .. } => Error::internal(error),
        })?;
        let mut node = [0; 8];
        self.entropy.fill(&mut node);
        Ok(RateTable::shared(deployment.seed(), u64::from_be_bytes(node), self.bus.clone()))
    }
}
