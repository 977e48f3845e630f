//! A host in memory, for the tests of protocols: no socket, a hand-set clock, an issuer of tokens. What
//! is wrong with the setting-up of a test is a panic.

pub mod openid;

use std::num::{NonZeroU8, NonZeroU32};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use axum::Router;
use forecourt_agents::Context;
use forecourt_agents::budget::BudgetSettings;
use forecourt_agents::siblings::Siblings;
use forecourt_agents::usage::NoUsage;
use forecourt_contract::{Dispatcher, HostApi, HostServices};
use forecourt_core::Site;
use forecourt_core::gate::RuleVerdict;
use forecourt_core::policy::{ConsentTerms, Demand, PaymentScheme, Requirement};
use forecourt_core::{Agent, AgentCard, Clock, Domain, Entropy, Error, Handle, Language, Message, Policy, Reply, Rule};
use forecourt_egress::{Egress, EgressConfig};
use forecourt_host::{Directory, Host, HostBuilder, HostedAgent, LimitSettings, Rate, Run, ServerGate, ServerRule};
use forecourt_identity::agents::{self, AgentHome, AgentIdentitySettings, KnownAgents};
use forecourt_identity::{BearerConfig, HostKeys, IdentityConfig, KeyConfig, SigningKey, Verifier, jws};
use forecourt_pages::Pages;
use forecourt_settings::{Problems, Section};
use forecourt_store::Memory;
use forecourt_surface::tool::Tool;
use forecourt_surface::{FileDefinitions, Mount, Protocol, ServerDefinition, Surface, Wire, protected_resource};
use forecourt_testkit::{CountedEntropy, HandClock};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Where the host is, unless a test says otherwise.
pub const ORIGIN: &str = "https://demo.localhost";
/// The `iss` and the `aud` of tokens that count there.
const ISSUER: &str = "https://login.example";
const AUDIENCE: &str = "demo";
/// How long an agent may take, unless a test says otherwise: longer than any test waits.
const TIME_MAX: Duration = Duration::from_secs(100_000);
/// Ids that a node draws before it would draw those of the next one.
const IDS_PER_NODE: u32 = 10_000;
const MANY: NonZeroU32 = NonZeroU32::MAX;

/// A host in the making.
pub struct Blueprint {
    /// Its agents. The first is the default one.
    pub residents: Vec<HostedAgent>,
    /// The way out.
    pub egress: EgressConfig,
    /// Whose proofs count. `None`: those of [`MountedHost::token`] and no others.
    pub identity: Option<IdentityConfig>,
    /// Whether people sign in with a browser where the tokens come from.
    pub signs_people_in: bool,
    /// How much is taken.
    pub limits: LimitSettings,
    /// The endpoints.
    pub contract: Arc<Dispatcher>,
    /// What the agents say of their own identity.
    pub identities: AgentIdentitySettings,
    /// What other protocols offer.
    pub tools: Vec<Tool>,
    /// How pages look, and who may embed the search box: `[pages]`, as TOML.
    pub pages: String,
    /// Ways to pay that it can check and settle.
    pub schemes: Vec<Arc<dyn PaymentScheme>>,
    /// The protocol's own section, as TOML.
    pub section: String,
    /// Where it is.
    pub origin: String,
    /// The nodes that it is one of. `None`: it is alone.
    pub node: Option<Node>,
}

/// One of several hosts with one store.
#[derive(Clone)]
pub struct Node {
    /// What they have in common.
    pub store: Arc<Memory>,
    /// Which one it is: each draws other ids.
    pub number: u32,
}

impl Node {
    /// So many hosts with one store.
    pub fn many<const N: usize>() -> [Self; N] {
        let (store, mut number) = (Arc::new(Memory::new()), 0);
        std::array::from_fn(|_| {
            number += 1;
            Self { store: store.clone(), number }
        })
    }
}

impl Default for Blueprint {
    fn default() -> Self {
        Self {
            residents: Vec::new(),
            egress: EgressConfig::default(),
            identity: None,
            signs_people_in: false,
            limits: unlimited(),
            contract: Arc::default(),
            identities: AgentIdentitySettings::default(),
            tools: Vec::new(),
            schemes: Vec::new(),
            pages: String::new(),
            section: String::new(),
            origin: ORIGIN.to_owned(),
            node: None,
        }
    }
}

/// Tests ask as fast as they can; those about limits set their own.
pub fn unlimited() -> LimitSettings {
    let rate = Rate { burst: MANY, per_second: MANY };
    LimitSettings {
        per_address: rate,
        per_session: rate,
        tasks_per_caller_max: 1_000,
        replies_per_caller_max: 1_000,
        strangers_percent: NonZeroU8::MAX,
        ..LimitSettings::default()
    }
}

/// An agent behind rules that may take as long as it likes.
pub fn resident(card: AgentCard, agent: Arc<dyn Agent>, rules: Vec<Arc<dyn Rule>>) -> HostedAgent {
    HostedAgent::new(Arc::new(card), agent, Policy::new(rules), TIME_MAX)
}

/// A server behind a host in the making.
#[derive(Default)]
pub struct ServerBlueprint {
    /// Its name.
    pub name: String,
    /// Its file, as TOML, without rules.
    pub section: String,
    /// The rules before it, each with patterns of the tools that it stands before; before all when empty.
    pub rules: Vec<(&'static str, Arc<dyn Rule>)>,
}

/// A running host, and what a test may turn under it. Dropping it stops the host.
pub struct MountedHost {
    /// What protocols are given.
    pub mount: Mount,
    /// The protocol's own section.
    pub section: Section,
    /// The servers behind it, where its protocol is opened from now on.
    pub servers: Vec<ServerBlueprint>,
    /// Its clock.
    pub clock: Arc<HandClock>,
    /// Its randomness.
    pub entropy: Arc<CountedEntropy>,
    key: SigningKey,
    /// The protocol that it was started with, whose courier it has.
    wire: Option<Box<dyn Wire>>,
    _data: TempDir,
    _standing: Arc<StandingHost>,
    _stop: DropGuard,
}

/// A host that is never replaced, as those inside it reach it.
struct StandingHost {
    host: Arc<Host>,
    services: Arc<HostServices>,
}

impl HostApi for StandingHost {
    fn receive(self: Arc<Self>, message: Message) -> BoxFuture<'static, Result<Reply, Error>> {
        Box::pin(async move { self.host.receive(message, Run::without_task()).await })
    }

    fn dispatcher(self: Arc<Self>) -> Option<Arc<Dispatcher>> {
        Some(self.host.contract().clone())
    }

    fn services(self: Arc<Self>) -> Option<Arc<HostServices>> {
        Some(self.services.clone())
    }
}

impl Blueprint {
    /// Starts the host. Its agents can be reached over `protocol`, as the registry arranges it.
    pub async fn start(self, protocol: Option<&Protocol>) -> MountedHost {
        let clock = Arc::new(HandClock::new());
        let entropy = Arc::new(CountedEntropy::default());
        let key = SigningKey::generate(entropy.as_ref());
        let egress = Egress::builder(self.egress).own_host("demo.localhost").expect("a name").build();
        let egress = Arc::new(egress.expect("a way out"));
        let domain = Domain::parse("demo.localhost").expect("a domain");
        let site = Site { domain: domain.clone(), name: "Demo".to_owned(), base: self.origin };
        let default = self.residents[0].card.handle().clone();
        let keys = HostKeys::in_memory(entropy.as_ref());
        let agents = Arc::new(known(&self.residents, &self.identities, &domain, &keys, entropy.as_ref()));
        let section = Section::parse(Path::new("forecourt.toml"), &self.section, &|_: &str| None);
        let section = section.expect("a section");
        let pages = Section::parse(Path::new("forecourt.toml"), &self.pages, &|_: &str| None).expect("TOML");
        let pages = Pages::read(&pages).expect("pages");
        // What is wrong with the section is for the test to see, which opens it again.
        let wire = protocol.and_then(|protocol| (protocol.open)(section.clone()).ok());
        let residents =
            self.residents.into_iter().map(|resident| reachable(resident, wire.as_deref(), &site)).collect();
        let directory = Directory::new(residents, &default).expect("a directory");
        let courier = wire.as_ref().and_then(|wire| wire.courier(egress.clone(), &site));
        let node = self.node;
        for _ in 0..node.as_ref().map_or(0, |node| node.number * IDS_PER_NODE) {
            entropy.fill(&mut [0]);
        }
        let is_alone = node.is_none();
        let store = node.map_or_else(|| Arc::new(Memory::new()), |node| node.store);
        let mut builder = HostBuilder::new(site, directory, store.clone(), egress.clone())
            .with_ambient(clock.clone(), entropy.clone());
        builder.alone = is_alone;
        builder.limits = self.limits;
        builder.schemes = self.schemes;
        builder.contract = self.contract;
        let envelope = wire.as_ref().and_then(|wire| wire.envelope());
        builder.envelopes = protocol.map(|protocol| protocol.name.to_owned()).zip(envelope).into_iter().collect();
        builder.couriers = protocol.map(|protocol| protocol.name.to_owned()).zip(courier).into_iter().collect();
        let stop = CancellationToken::new();
        let host = builder.start(stop.clone()).await.expect("a host");
        let mut identity = self.identity.unwrap_or_else(|| trusting(&key));
        if self.signs_people_in {
            let people = json!({"issuer": ISSUER, "client_id": "us"});
            identity.oidc = Some(serde_json::from_value(people).expect("a provider"));
        }
        let verifier = Verifier::new(&identity, Path::new("."), egress.clone()).expect("issuers");
        let verifier = match wire.as_ref().and_then(|wire| wire.key_directory(egress.clone())) {
            Some(directory) => verifier.with_directory(directory),
            None => verifier,
        };
        let verifier = verifier.with_store(store).with_agents(agents.clone(), domain);
        let services = Arc::new(HostServices::new(host.contract().host.clone()));
        let standing = Arc::new(StandingHost { host: host.clone(), services: services.clone() });
        host.contract().host.bind(&standing);
        let data = data_folder();
        let mount = Mount {
            host,
            verifier: Arc::new(verifier),
            agents,
            keys: Arc::new(ArcSwap::from_pointee(keys)),
            egress,
            folder: data.path().to_path_buf(),
            data: data.path().to_path_buf(),
            tools: self.tools.into(),
            pages: Arc::new(pages),
            services,
        };
        MountedHost {
            mount,
            section,
            servers: Vec::new(),
            clock,
            entropy,
            key,
            wire,
            _data: data,
            _standing: standing,
            _stop: stop.drop_guard(),
        }
    }
}

/// Who the agents are, with origins that are made anew for each test and are the same in each.
fn known(
    residents: &[HostedAgent],
    settings: &AgentIdentitySettings,
    domain: &Domain,
    keys: &HostKeys,
    entropy: &CountedEntropy,
) -> KnownAgents {
    let now = HandClock::new().now();
    let home = AgentHome { folder: Path::new("no-such-folder"), data: None, keeps: false, domain, keys, now, entropy };
    agents::load(&home, residents.iter().map(|resident| (resident.card.as_ref(), settings))).0
}

/// A data folder: where the environment wants what is temporary, else in memory where there is a place for that.
fn data_folder() -> TempDir {
    let in_memory = || tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    std::env::var_os("TMPDIR").map_or_else(in_memory, tempfile::tempdir_in).expect("a folder")
}

/// The resident with its endpoints gathered.
fn reachable(mut resident: HostedAgent, wire: Option<&dyn Wire>, site: &Site) -> HostedAgent {
    let Some(wire) = wire else { return resident };
    let mut card = AgentCard::clone(&resident.card);
    card.endpoints = wire.endpoints(site, &card);
    resident.card = Arc::new(card);
    resident
}

fn trusting(key: &SigningKey) -> IdentityConfig {
    let key = KeyConfig { jwk: key.public().to_jwk().as_object().cloned(), ..KeyConfig::default() };
    let bearer = BearerConfig {
        issuer: ISSUER.to_owned(),
        audience: vec![AUDIENCE.to_owned()],
        jwks_url: None,
        keys: vec![key],
        subject_prefix: None,
        require_not_before: false,
    };
    IdentityConfig { bearer: vec![bearer], ..IdentityConfig::default() }
}

impl MountedHost {
    /// A protocol opened from its section, or what is wrong with that.
    pub fn open(&self, protocol: &Protocol) -> Result<Box<dyn Wire>, Problems> {
        let mut wire = (protocol.open)(self.section.clone())?;
        if !self.servers.is_empty() {
            let servers = self.servers.iter().map(|server| self.definition(server)).collect();
            wire.set_definitions(FileDefinitions::Servers(servers))?;
        }
        Ok(wire)
    }

    fn definition(&self, server: &ServerBlueprint) -> ServerDefinition {
        let name = Handle::parse(&server.name).expect("a name");
        let file = self.mount.folder.join(format!("servers/{name}.toml"));
        let section = Section::parse(&file, &server.section, &|_: &str| None).expect("TOML");
        let rule = |(tools, rule): &(&str, Arc<dyn Rule>)| ServerRule {
            tools: tools.split_whitespace().map(|glob| glob.parse().expect("a pattern")).collect(),
            rule: rule.clone(),
        };
        let gate =
            ServerGate::new(Arc::new(forecourt_testkit::card(&server.name)), server.rules.iter().map(rule).collect());
        let context = Context {
            handle: name.clone(),
            host: self.mount.host.site().canonical_host().to_owned(),
            language: Language::english(),
            folder: self.mount.folder.clone(),
            data_dir: self.mount.data.clone(),
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
            egress: (*self.mount.egress).clone(),
            path_variable: std::env::var("PATH").ok(),
            variable: |_| None,
            budget: BudgetSettings::default(),
            usage: Arc::new(NoUsage),
            endpoints: Vec::new(),
            siblings: Siblings::default(),
            goes_on: false,
            builtin: Vec::new(),
        };
        ServerDefinition { name, section, gate, context }
    }

    /// The paths of a protocol, or what is wrong with its section.
    pub fn router(&self, protocol: &Protocol) -> Result<Router, Problems> {
        self.router_of(&*self.open(protocol)?)
    }

    /// The paths of the protocol that the host was started with: what they take is answered over its courier, where the
    /// protocol has one.
    pub fn answering_router(&self) -> Result<Router, Problems> {
        self.wire.as_ref().map_or_else(|| Ok(Router::new()), |wire| self.router_of(&**wire))
    }

    fn router_of(&self, wire: &dyn Wire) -> Result<Router, Problems> {
        let resource = wire.protected_resource();
        let merge = |router: Router, surface| match (surface, resource) {
            (Surface::Http(routes), Some(resource)) => {
                router.merge(protected_resource::leading(routes, &self.mount, resource).router)
            }
            (Surface::Http(routes), None) => router.merge(routes.router),
            (Surface::Stream { .. } | Surface::OwnHttp { .. } | Surface::Background(_), _) => router,
        };
        let router = wire.surfaces(&self.mount)?.into_iter().fold(Router::new(), merge);
        let metadata = protected_resource::routes(&self.mount, resource.into_iter().collect());
        Ok(router.merge(metadata.router))
    }

    /// The value of `Authorization` that proves to this host who `name` is, for an hour.
    pub fn token(&self, name: &str) -> String {
        let now = self.mount.host.clock().now().as_second();
        self.signed(json!({"iss": ISSUER, "aud": AUDIENCE, "sub": name, "iat": now, "exp": now + 3_600}))
    }

    /// The same with scopes, as RFC 8693 4.2 writes them.
    pub fn token_for(&self, name: &str, scope: &str) -> String {
        let now = self.mount.host.clock().now().as_second();
        let (who, until) = ((ISSUER, AUDIENCE, name), now + 3_600);
        self.signed(json!({"iss": who.0, "aud": who.1, "sub": who.2, "iat": now, "exp": until, "scope": scope}))
    }

    /// The same with one more claim.
    pub fn token_with(&self, name: &str, claim: &str, value: &Value) -> String {
        let now = self.mount.host.clock().now().as_second();
        let mut claims = json!({"iss": ISSUER, "aud": AUDIENCE, "sub": name, "iat": now, "exp": now + 3_600});
        claims[claim] = value.clone();
        self.signed(claims)
    }

    fn signed(&self, claims: Value) -> String {
        format!("Bearer {}", jws::sign(&self.key, "JWT", claims.to_string().as_bytes()))
    }
}

/// A rule that wants a consent for each message.
pub fn consent_first() -> Arc<dyn Rule> {
    struct ConsentFirst;
    impl Rule for ConsentFirst {
        fn judge<'a>(&'a self, _: &'a AgentCard, _: &'a Message) -> BoxFuture<'a, RuleVerdict> {
            let scope = serde_json::Map::from_iter([("text".to_owned(), "We keep what you say.".into())]);
            let demand = Demand::Consent(ConsentTerms { scope, lifetime_seconds: Some(0) });
            let (rule, message) = ("terms".to_owned(), "Agree to the terms first.".to_owned());
            let required = Requirement { rule, title: None, message, message_translations: Default::default(), demand };
            Box::pin(std::future::ready(Err(required.into())))
        }
    }
    Arc::new(ConsentFirst)
}
