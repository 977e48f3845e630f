//! A host in memory with a hand-set clock.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::Site;
use forecourt_core::policy::PaymentScheme;
use forecourt_core::{
    Agent, Bus, Clock, Domain, Entropy, Handle, Message, MessageId, NoBus, Part, Policy, Rule, Sender, Store, ThreadId,
    Timestamp,
};
use forecourt_egress::{Egress, EgressConfig};
use forecourt_host::{
    Courier, Directory, Envelope, Host, HostBuilder, HostedAgent, LeaseSettings, LimitSettings, OnLost,
    OperatorWebhook, StoreClock,
};
use forecourt_rules::RuleServices;
use forecourt_rules::guard::Guardrail;
use forecourt_store::Memory;
use forecourt_testkit::{CountedEntropy, HandClock, HandMachine, card};
use tokio_util::sync::CancellationToken;

pub(crate) struct Setup {
    pub store: Arc<dyn Store>,
    pub standings: Option<Arc<dyn Store>>,
    pub clock: Arc<HandClock>,
    /// The clocks of its machine, where its time is that of the store.
    pub machine: Option<Arc<HandMachine>>,
    pub entropy: Arc<CountedEntropy>,
    pub limits: LimitSettings,
    pub rules: Vec<Arc<dyn Rule>>,
    /// What leads them to the host's counters.
    pub services: RuleServices,
    pub schemes: Vec<Arc<dyn PaymentScheme>>,
    pub people: Option<String>,
    pub guards: Vec<Arc<Guardrail>>,
    pub remembers: bool,
    pub time_max: Duration,
    pub egress: EgressConfig,
    pub envelope: Option<Envelope>,
    pub courier: Option<Arc<dyn Courier>>,
    pub operator: Option<OperatorWebhook>,
    pub stop: CancellationToken,
    pub bus: Arc<dyn Bus>,
    pub alone: bool,
    pub lease: LeaseSettings,
    pub on_lost: OnLost,
    pub asked_once: bool,
    pub opens_later: bool,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            store: Arc::new(Memory::new()),
            standings: None,
            clock: Arc::new(HandClock::new()),
            machine: None,
            entropy: Arc::new(CountedEntropy::default()),
            limits: LimitSettings::default(),
            rules: Vec::new(),
            services: RuleServices::default(),
            schemes: Vec::new(),
            people: None,
            guards: Vec::new(),
            remembers: false,
            time_max: Duration::from_secs(120),
            egress: EgressConfig::default(),
            envelope: None,
            courier: None,
            operator: None,
            stop: CancellationToken::new(),
            bus: Arc::new(NoBus),
            alone: true,
            lease: LeaseSettings::default(),
            on_lost: OnLost::default(),
            asked_once: false,
            opens_later: false,
        }
    }
}

impl Setup {
    /// A host whose one agent, `@bot@demo.localhost`, is `agent`.
    pub(crate) async fn host(&self, agent: Arc<dyn Agent>) -> Arc<Host> {
        self.host_of(&["bot"], agent, self.clock.clone(), self.entropy.clone()).await
    }

    /// The same with this time and this randomness.
    pub(crate) async fn host_with(
        &self,
        agent: Arc<dyn Agent>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Arc<Host> {
        self.host_of(&["bot"], agent, clock, entropy).await
    }

    /// The same with a second agent, `@other@demo.localhost`, that is the same one.
    pub(crate) async fn host_of_two(&self, agent: Arc<dyn Agent>) -> Arc<Host> {
        self.host_of(&["bot", "other"], agent, self.clock.clone(), self.entropy.clone()).await
    }

    async fn host_of(
        &self,
        names: &[&str],
        agent: Arc<dyn Agent>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Arc<Host> {
        let resident = |name: &&str| {
            let mut card = card(name);
            card.remembers = self.remembers;
            HostedAgent::new(Arc::new(card), agent.clone(), Policy::new(self.rules.clone()), self.time_max)
                .guarded(self.guards.clone())
                .whose_lost_tasks(self.on_lost)
                .asked_once(self.asked_once)
        };
        let directory = Directory::new(names.iter().map(resident).collect(), &handle()).unwrap();
        let egress = Arc::new(Egress::builder(self.egress.clone()).build().unwrap());
        let mut builder = HostBuilder::new(site(), directory, self.store.clone(), egress).with_ambient(clock, entropy);
        if let Some(machine) = &self.machine {
            builder = builder.with_store_clock(StoreClock::start_on(&*self.store, machine.clone()).await.unwrap());
        }
        builder.envelopes = self.envelope.map(|envelope| ("test".to_owned(), envelope)).into_iter().collect();
        builder.couriers = self.courier.clone().map(|courier| ("test".to_owned(), courier)).into_iter().collect();
        builder.operator = self.operator.clone();
        builder.opens_later = self.opens_later;
        builder.schemes = self.schemes.clone();
        builder.people = self.people.clone();
        builder.limits = self.limits.clone();
        builder.bus = self.bus.clone();
        (builder.alone, builder.lease) = (self.alone, self.lease);
        builder.rules = self.services.clone();
        builder.standings = self.standings.clone();
        builder.start(self.stop.clone()).await.unwrap()
    }
}

pub(crate) fn site() -> Site {
    Site {
        domain: Domain::parse("demo.localhost").unwrap(),
        name: "Demo".to_owned(),
        base: "https://demo.localhost".to_owned(),
    }
}

pub(crate) fn handle() -> Handle {
    Handle::parse("bot").unwrap()
}

pub(crate) fn message(text: &str) -> Message {
    let sender = Sender { peer: Some("192.0.2.1".parse().unwrap()), ..Sender::anonymous() };
    let id = MessageId::parse("m1").unwrap();
    Message { sender, ..Message::new(id, handle(), vec![Part::text(text)], "test", Timestamp::UNIX_EPOCH) }
}

/// A sender that proved to be `name`.
pub(crate) fn signed_in(name: &str) -> Sender {
    Sender { address: name.to_owned(), verified: true, ..message("").sender }
}

pub(crate) fn in_thread(text: &str, thread: Option<ThreadId>) -> Message {
    Message { thread, ..message(text) }
}
