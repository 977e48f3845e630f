//! Putting a host together, and setting it to work: the first one of a process, and those that take its place.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use forecourt_audit::{Audit, PendingRecords};
use forecourt_contract::Dispatcher;
use forecourt_core::policy::PaymentScheme;
use forecourt_core::{Bus, Clock, Entropy, Error, NoBus, Site, Store};
use forecourt_egress::Egress;
use forecourt_issuance::{IssuanceParts, Issuances};
use forecourt_rules::RuleServices;
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::attachments::Attachments;
use crate::counters::HostCounters;
use crate::deliver::{Courier, Deliverer, Envelope, Outbound};
use crate::directory::Directory;
use crate::heartbeat;
use crate::host::Host;
use crate::idempotency::Idempotency;
use crate::lease::LeaseSettings;
use crate::limits::{LimitSettings, Throttle};
use crate::operator_queue::{OperatorNotifier, OperatorQueue, OperatorWebhook};
use crate::random::SystemEntropy;
use crate::records::Records;
use crate::residents::Residents;
use crate::store_clock::{HostClock, StoreClock};
use crate::take_up::OrphanCount;
use crate::upkeep;

mod foundation;

use foundation::HostFoundation;

/// What a host is made of: the first one of a process ([`HostBuilder::start`]), and each one that takes the place of
/// another ([`HostBuilder::replace`]). What is not named to [`HostBuilder::new`] has defaults.
pub struct HostBuilder {
    /// What the outside calls this place. The domain of a host and of what replaces it is the same: what is kept
    /// belongs to it.
    pub site: Site,
    /// The agents of this host.
    pub directory: Directory,
    /// The store of tasks, conversations, deliveries and the ledger.
    pub store: Arc<dyn Store>,
    /// Where it is kept where agents stand, when that is another place: the store of a deployment that
    /// another process serves too.
    pub standings: Option<Arc<dyn Store>>,
    /// The bus to other nodes; none by default.
    pub bus: Arc<dyn Bus>,
    /// Whether nobody else has the store: then what another run left is taken over at once, and otherwise when it
    /// has been silent for as long as a lease holds.
    pub alone: bool,
    /// How this host holds its tasks, where others have the store too.
    pub lease: LeaseSettings,
    /// What makes all outgoing connections.
    pub egress: Arc<Egress>,
    /// The limits of callers: rates, work under way, stored bytes, idempotency keys.
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
    /// What the subjects of people begin with who can sign in on this host's pages; nobody can by default.
    pub people: Option<String>,
    /// Whether [`Host::open`] says when its agents can reach what they need of it: work of an earlier run waits for that.
    /// Otherwise they can at once, as is the default.
    pub opens_later: bool,
    /// `None`: the store's, measured at the start.
    clock: Option<HostClock>,
    entropy: Arc<dyn Entropy>,
}

impl HostBuilder {
    /// A host of these parts with the store's clock and the machine's randomness.
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
            people: None,
            opens_later: false,
            clock: None,
            entropy: Arc::new(SystemEntropy),
        }
    }

    /// The same host with the clock of its store that was measured before.
    #[must_use]
    pub fn with_store_clock(mut self, clock: Arc<StoreClock>) -> Self {
        self.clock = Some(HostClock::Store(clock));
        self
    }

    /// The same host with another clock, which is taken at its word, and other randomness.
    #[must_use]
    pub fn with_ambient(mut self, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        self.clock = Some(HostClock::Given(clock));
        self.entropy = entropy;
        self
    }

    /// Recovers what an earlier run left, then begins to work in the background until `stop`.
    ///
    /// Fails when the store can't be read or does not say what time it is: a host that can't see its tasks must not take more.
    pub fn start(self, stop: CancellationToken) -> BoxFuture<'static, Result<Arc<Host>, Error>> {
        Box::pin(async move {
            let kept = Duration::from_secs(self.limits.audit_days.get().saturating_mul(24 * 60 * 60));
            let foundation = HostFoundation::lay(&self, stop).await?;
            foundation.tasks.is_open.send_replace(!self.opens_later);
            let (audit, pending) = Audit::new();
            let issuances = Issuances::new(IssuanceParts {
                site: self.site.clone(),
                limits: self.limits.issuances(),
                schemes: self.schemes.clone(),
                people: self.people.clone(),
                run: foundation.tasks.clone(),
                store: foundation.store.clone(),
                clock: foundation.clock.clone(),
                entropy: foundation.entropy.clone(),
                audit: audit.clone(),
            });
            let records = Records { issuances: Arc::new(issuances), audit, clock: foundation.clock.clone() };
            let host = Arc::new(self.on(foundation, records));
            // First, since payments of an earlier run are asked about by the schemes of whoever took over.
            host.take_over();
            host.recover_payments().await?;
            host.recover_tasks().await?;
            host.begin_work(pending, kept);
            Ok(host)
        })
    }

    /// A host of these parts that goes on with everything else of `before`: the store, tasks and replies under way
    /// with the places that they take, counters of limits, keys of calls that are made once, deliveries, the
    /// lifecycle of agents. That one works on beside it, for the requests that it has, and until
    /// [`Host::take_over`] deliveries go on by what that one says. The store, the standings, the bus, the
    /// lease, whether it is alone, the clock and the randomness of this builder are not looked at.
    ///
    /// Buckets go on too, at the new rates. How many answers and tasks may run at once stays what it was at the
    /// start.
    ///
    /// # Errors
    /// The store can't tell where the agents stand.
    pub fn replace(self, before: &Host) -> BoxFuture<'_, Result<Arc<Host>, Error>> {
        Box::pin(async move {
            for agent in self.directory.iter() {
                // Nothing is at hand of an agent that is new: a store that is away fails the replacement, not requests.
                before.lifecycle.state(agent.card.handle()).await?;
            }
            let foundation = HostFoundation::of(before);
            self.rules.set(Arc::new(HostCounters { tasks: foundation.tasks.clone() }));
            let (site, limits) = (self.site.clone(), self.limits.issuances());
            let issuances =
                before.records.issuances.replaced_by(site, limits, self.schemes.clone(), self.people.clone());
            let records = before.records.replaced_by(issuances);
            Ok(Arc::new(self.on(foundation, records)))
        })
    }

    /// The host of these parts on a foundation.
    fn on(self, foundation: HostFoundation, records: Records) -> Host {
        let operator = self.operator_queue(&foundation);
        let own_outbound = self.outbound();
        let HostFoundation {
            conversations,
            lifecycle,
            outbound,
            wakeup,
            tasks,
            store,
            clock,
            entropy,
            metrics,
            posting,
            stop,
        } = foundation;
        Host {
            site: self.site,
            directory: Arc::new(self.directory),
            throttle: Arc::new(Throttle::new(&self.limits, tasks.rates.clone())),
            operator,
            idempotency: Idempotency::new(tasks.clone(), &self.limits),
            contract: self.contract,
            attachments: Attachments { egress: self.egress },
            records: Arc::new(records),
            own_outbound: Arc::new(own_outbound),
            conversations,
            lifecycle,
            outbound,
            wakeup,
            tasks,
            store,
            clock,
            entropy,
            metrics,
            posting,
            stop,
        }
    }

    fn operator_queue(&self, foundation: &HostFoundation) -> OperatorQueue {
        let HostFoundation { store, clock, entropy, wakeup, .. } = foundation;
        let notifier = self.operator.clone().map(|webhook| OperatorNotifier {
            webhook,
            store: store.clone(),
            clock: clock.clone(),
            entropy: entropy.clone(),
            wakeup: wakeup.clone(),
        });
        OperatorQueue {
            store: store.clone(),
            clock: clock.clone(),
            entropy: entropy.clone(),
            metrics: foundation.metrics.clone(),
            bus: foundation.tasks.bus.clone(),
            notifier,
        }
    }

    /// How posts are made.
    pub(crate) fn outbound(&self) -> Outbound {
        let (envelopes, couriers) = (self.envelopes.clone(), self.couriers.clone());
        Outbound { egress: self.egress.clone(), envelopes, couriers }
    }

    /// The clock.
    async fn host_clock(&self) -> Result<HostClock, Error> {
        match &self.clock {
            Some(clock) => Ok(clock.clone()),
            None => Ok(HostClock::Store(StoreClock::start(&*self.store).await?)),
        }
    }
}

impl Host {
    /// Has deliveries, the settling of payments and the tasks of lost nodes, which all hosts after one another have in
    /// common, go on by what this one says.
    pub fn take_over(&self) {
        self.outbound.store(self.own_outbound.clone());
        let residents = Residents::of(&self.directory, &self.lifecycle, &self.records);
        self.tasks.residents.store(Some(Arc::new(residents)));
        self.records.issuances.take_over();
    }

    /// Its agents can reach what they need of it from here on: their tools, and one another.
    pub fn open(&self) {
        self.tasks.is_open.send_replace(true);
    }

    async fn recover_payments(&self) -> Result<(), Error> {
        let indeterminate = self.records.issuances.recover().await?;
        if indeterminate > 0 {
            tracing::warn!(
                indeterminate,
                "payments of an earlier run are being asked about: nobody knows whether they were settled"
            );
        }
        Ok(())
    }

    /// Ends or takes up the tasks of earlier runs, by its own agents.
    async fn recover_tasks(&self) -> Result<(), Error> {
        let OrphanCount { ended, taken_up } = self.tasks.look_after_orphans().await?;
        if ended > 0 {
            tracing::warn!(ended, "tasks of an earlier run were cut off and have been ended as failed");
        }
        if taken_up > 0 {
            tracing::info!(taken_up, "tasks of an earlier run were cut off and go on");
        }
        Ok(())
    }

    /// Works in the background until the stop that it was started with.
    fn begin_work(&self, pending: PendingRecords, kept: Duration) {
        let deliverer = Deliverer {
            store: self.store.clone(),
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
            outbound: self.outbound.clone(),
            metrics: self.metrics.clone(),
            wakeup: self.wakeup.clone(),
        };
        let (store, clock, stop) = (&self.store, &self.clock, &self.stop);
        let host_clock = self.tasks.host_clock.clone();
        // `stopped` waits for what is spawned on `posting`: each of those has something to write at the end.
        self.posting.spawn(pending.write(store.clone(), clock.clone(), kept, stop.clone()));
        tokio::spawn(self.records.issuances.clone().reconcile(stop.clone()));
        self.posting.spawn(deliverer.run(stop.clone()));
        self.posting.spawn(self.conversations.writer.clone().run());
        self.posting.spawn(self.tasks.clone().keep_lease(stop.clone()));
        self.posting.close();
        let tasks = self.tasks.clone();
        tokio::spawn(heartbeat::hear(tasks, self.lifecycle.clone(), &*self.tasks.bus, stop.clone()));
        tokio::spawn(upkeep::sweep(store.clone(), host_clock, stop.clone()));
    }
}
