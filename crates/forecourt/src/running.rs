//! A host at work in a house, and how another house takes its place.

use std::sync::Arc;

use arc_swap::ArcSwap;
use forecourt_admin::crawlers::LEDGER;
use forecourt_bus::NatsBus;
use forecourt_completions::budget::{AgentBudgets, BudgetRefusal, BudgetRefusals, BudgetStore};
use forecourt_contract::HostServices;
use forecourt_core::{Clock, Store};
use forecourt_egress::{Egress, Purpose};
use forecourt_host::{Directory, Host, HostBuilder, HostedAgent, LimitRefusal, OperatorWebhook, SystemEntropy};
use forecourt_identity::agents::IdentityNotice;
use forecourt_identity::api_keys::ApiKeys;
use forecourt_identity::bots::SignatureAgents;
use forecourt_identity::{HostKeys, OidcConfig, Verifier};
use forecourt_payments::PaymentNetworks;
use forecourt_settings::{Problem, Problems};
use forecourt_store::{MeteredStore, StoreReads};
use forecourt_surface::{BackgroundWork, Mount, PublishedDocument, RegistryEntry, Surface, endpoint};
use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::content::Content;
use crate::content_watcher::ContentWatcher;
use crate::crawl::CrawlBooks;
use crate::deployment::Deployment;
use crate::error::Error;
use crate::house::House;
use crate::identities;
use crate::live::{LiveHouse, OpenHouse};
use crate::nodes::{BusMetrics, NatsHandle, NodeLinks};
use crate::operated;
use crate::questions;
use crate::shared;
use crate::shared::content::{SharedContent, SharedContentError};
use crate::shared::keys::SharedKeys;
use crate::storage::{OpenStore, Storage, clock_of, remember_signing};

/// A host at work, with what lasts from one house to the next: the store, the keys, everything under way.
pub struct Running {
    live: Arc<LiveHouse>,
    storage: Storage,
    store: Arc<dyn Store>,
    /// The same, for what only the operator may ask.
    reads: Arc<dyn StoreReads>,
    keys: Arc<ArcSwap<HostKeys>>,
    api_keys: Arc<ApiKeys>,
    /// What crawlers did, and what they owe.
    books: CrawlBooks,
    /// Where nodes agree on keys and agents, if there may be several.
    agreed: Option<Arc<dyn Store>>,
    /// What was pushed, where it is all nodes'.
    content: Option<Arc<SharedContent>>,
    /// What the nodes of this deployment tell each other by, where that is a server's work.
    nats: Option<Arc<NatsBus>>,
    stop: CancellationToken,
    latest: Mutex<Latest>,
    /// One replacement after another.
    replacing: tokio::sync::Mutex<()>,
    /// What goes on by itself in houses.
    background: TaskTracker,
}

/// What is known of the houses so far.
struct Latest {
    deployment: Arc<Deployment>,
    mount: Mount,
    /// What there is to say about the files of agents' identities.
    notices: Arc<[IdentityNotice]>,
    /// What of its endpoints is refused, while the others are served.
    refused: Problems,
    /// Ends what goes on by itself in the house.
    background: CancellationToken,
}

impl Latest {
    fn of(mounted: &MountedHouse) -> Self {
        Self {
            deployment: mounted.deployment.clone(),
            mount: mounted.mount.clone(),
            notices: mounted.notices.clone(),
            refused: mounted.refused.clone(),
            background: CancellationToken::new(),
        }
    }
}

/// A house that is ready to be opened, with nothing changed so far.
struct MountedHouse {
    open: OpenHouse,
    mount: Mount,
    notices: Arc<[IdentityNotice]>,
    refused: Problems,
    deployment: Arc<Deployment>,
    /// What is to go on by itself.
    background: Vec<BackgroundWork>,
    ended: CancellationToken,
}

impl Running {
    /// Puts a host to work in a house, until `stop`. Nobody can reach it yet but those inside.
    ///
    /// # Errors
    /// What of the settings does not fit the host, at once; or the store can't be opened.
    pub fn start(house: House, storage: Storage, stop: CancellationToken) -> BoxFuture<'static, Result<Self, Error>> {
        Box::pin(async move {
            let OpenStore { store: reads, content } = storage.store(&house.deployment).await?;
            let store: Arc<dyn Store> =
                Arc::new(MeteredStore::new(reads.clone(), house.deployment.meters.store.clone()));
            let clock = clock_of(&store).await?;
            let nodes = NodeLinks::open(&house.deployment, &storage, &store, &*clock).await?;
            let lease = house.deployment.store.lease();
            let agreed = storage.agreed(&house.deployment, &store).await?;
            let keys = signing_keys(&storage, &house, agreed.as_ref(), (&store, &*clock)).await?;
            let content = content.map(|rows| Arc::new(SharedContent::new(rows, nodes.bus.clone())));
            let standings = storage.standings(&house.deployment)?;
            let live = Arc::new(LiveHouse::default());
            let books = CrawlBooks::new(&store, clock.clone());
            let Opening { mut builder, house } = Opening::of(house, (&storage, &store), &books, &keys)?;
            builder.standings = standings;
            builder.bus = nodes.bus.clone();
            (builder.alone, builder.lease) = (nodes.alone, lease);
            // Models call endpoints and other agents through the house, which is opened below.
            builder.opens_later = true;
            let builder = builder.with_store_clock(clock.clone());
            let host = builder.start(stop.clone()).await.map_err(|error| Error::new(error.to_string()))?;
            let api_keys = Arc::new(ApiKeys::new(store.clone()));
            let around = Around {
                live: &live,
                storage: &storage,
                store: &store,
                keys: &keys,
                api_keys: &api_keys,
                books: &books,
                stop: &stop,
            };
            around.agree(&house, &host, agreed.as_ref()).await?;
            let mounted = around.mount(house, host)?;
            if let Some(content) = &content {
                catch_up(content, &mounted.open.contents).await?;
                tokio::spawn(content.clone().follow(live.clone(), stop.clone()));
                let shared = SharedKeys::new(store.clone(), clock, Arc::new(SystemEntropy));
                tokio::spawn(shared.follow(keys.clone(), nodes.bus, stop.clone()));
            }
            let running = Self {
                latest: Mutex::new(Latest::of(&mounted)),
                replacing: tokio::sync::Mutex::default(),
                background: TaskTracker::new(),
                live,
                storage,
                reads,
                store,
                keys,
                api_keys,
                books,
                agreed,
                content,
                nats: nodes.nats,
                stop,
            };
            running.open(mounted);
            Ok(running)
        })
    }

    /// Puts another house in the place of this one, whole: requests, streams and tasks under way keep the old
    /// one to their end, new ones meet the new one. The store, everything under way, counters, sessions and
    /// listeners stay.
    ///
    /// # Errors
    /// What of the new house does not fit the host: then nothing has changed.
    pub fn replace(&self, house: House) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            // Held to the end: two replacements at once could both start from the same host, and one would be lost.
            let _one_at_a_time = self.replacing.lock().await;
            let before = self.host();
            let (now, then) = (&house.site, before.site());
            // Links, sessions and contracts that are out there name the origin: another one would break them.
            if now.domain != then.domain || now.base != then.base {
                let text = format!("{} can't become {} while it is served", then.base, now.base);
                return Err(Error::new(text).hint("restart the server to serve another domain or address"));
            }
            let Opening { builder, house } = Opening::of(house, (&self.storage, &self.store), &self.books, &self.keys)?;
            let host = builder.replace(&before).await.map_err(|error| Error::new(error.to_string()))?;
            let Self { live, storage, store, keys, api_keys, books, stop, .. } = self;
            let around = Around { live, storage, store, keys, api_keys, books, stop };
            around.agree(&house, &host, self.agreed.as_ref()).await?;
            let mounted = around.mount(house, host)?;
            let agents = mounted.open.host.directory().iter().count();
            self.open(mounted);
            tracing::debug!(agents, houses = self.houses(), "the deployment was replaced");
            Ok(())
        })
    }

    /// Opens a house: new requests go to it from here on.
    fn open(&self, mounted: MountedHouse) {
        let MountedHouse { open, mount, notices, refused, deployment, background, ended } = mounted;
        // Only now: deliveries and payments go by the new house from here on, so nothing may fail behind this.
        open.host.take_over();
        if let Storage::Kept(_) | Storage::Apart { .. } = self.storage {
            tokio::spawn(ContentWatcher::new(open.contents.clone(), ended.clone()).run());
        }
        let mut latest = self.latest.lock();
        (latest.mount, latest.notices, latest.refused, latest.deployment) = (mount, notices, refused, deployment);
        // Not when the house before is gone, which may have answers under way for long: two would hear the same.
        let stop = self.stop.child_token();
        std::mem::replace(&mut latest.background, stop.clone()).cancel();
        for work in background {
            self.background.spawn(work(stop.clone()));
        }
        let host = open.host.clone();
        tokio::spawn(self.books.log.clone().keep(host.ledger(LEDGER), ended));
        self.live.open(open);
        host.open();
    }

    /// Waits, after the stop, until what goes on by itself has ended.
    pub(crate) async fn background_ended(&self) {
        self.background.close();
        self.background.wait().await;
    }

    /// The host as it stands now. Hold it for a request and no longer.
    pub fn host(&self) -> Arc<Host> {
        self.latest.lock().mount.host.clone()
    }

    /// How many houses are not gone yet: one, and each that was replaced and still has requests under way.
    pub fn houses(&self) -> usize {
        self.live.houses()
    }

    /// The store, where other nodes keep theirs in it, too.
    pub(crate) fn shared_store(&self) -> Option<Arc<dyn Store>> {
        self.deployment().store.is_shared().then(|| self.store.clone())
    }

    /// The deployment that is served now.
    pub(crate) fn deployment(&self) -> Arc<Deployment> {
        self.latest.lock().deployment.clone()
    }

    /// What its agents answer from.
    pub(crate) fn contents(&self) -> Vec<Content> {
        self.live.now().map(|house| house.contents.clone()).unwrap_or_default()
    }

    /// What of its endpoints is refused, while the others are served.
    pub(crate) fn refused_endpoints(&self) -> Problems {
        self.latest.lock().refused.clone()
    }

    /// What there is to say about the files of agents' identities.
    pub fn identity_notices(&self) -> Arc<[IdentityNotice]> {
        self.latest.lock().notices.clone()
    }

    /// What every protocol publishes that is the same for every caller.
    ///
    /// # Errors
    /// Everything that is wrong with any of them.
    pub fn documents(&self) -> Result<Vec<PublishedDocument>, Problems> {
        let (deployment, mount) = self.deployment_and_mount();
        deployment.wires.documents(&mount)
    }

    /// What registries and directories are told by every protocol.
    ///
    /// # Errors
    /// Everything that is wrong with any of them.
    pub fn registry_entries(&self) -> Result<Vec<RegistryEntry>, Problems> {
        let (deployment, mount) = self.deployment_and_mount();
        deployment.wires.registry_entries(&mount)
    }

    /// Serves one client over standard input and output, by the first protocol that is spoken there.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn stdio(&self) -> Result<Option<BoxFuture<'static, ()>>, Problems> {
        let (deployment, mount) = self.deployment_and_mount();
        deployment.wires.stdio(&mount)
    }

    pub(crate) fn reads(&self) -> &Arc<dyn StoreReads> {
        &self.reads
    }

    pub(crate) fn live(&self) -> &Arc<LiveHouse> {
        &self.live
    }

    /// The bus, where it is more than this process.
    pub(crate) fn nats(&self) -> Option<Arc<NatsBus>> {
        self.nats.clone()
    }

    /// What counts messages of the bus, where there is one.
    pub(crate) fn bus_metrics(&self) -> Option<BusMetrics> {
        Some(BusMetrics(NatsHandle(self.nats.clone()?)))
    }

    /// What was pushed, where it is all nodes'.
    pub(crate) fn content(&self) -> Option<Arc<SharedContent>> {
        self.content.clone()
    }

    pub(crate) fn keys(&self) -> &Arc<ArcSwap<HostKeys>> {
        &self.keys
    }

    fn deployment_and_mount(&self) -> (Arc<Deployment>, Mount) {
        let latest = self.latest.lock();
        (latest.deployment.clone(), latest.mount.clone())
    }
}

/// The keys that sign for the domain.
async fn signing_keys(
    storage: &Storage,
    house: &House,
    agreed: Option<&Arc<dyn Store>>,
    (store, clock): (&Arc<dyn Store>, &dyn Clock),
) -> Result<Arc<ArcSwap<HostKeys>>, Error> {
    // Nodes sign with one key: the first to write it into the store wins.
    let keys = match agreed {
        Some(agreed) => shared::keys_of(agreed).await?.agree(&house.deployment.data).await?,
        None => storage.keys()?,
    };
    // So that a key file that disappears is missed, and no other key signs in silence.
    if let (Storage::Kept(_), None) = (storage, agreed) {
        remember_signing(store, keys.current().kid(), clock.now()).await?;
    }
    Ok(Arc::new(ArcSwap::from_pointee(keys)))
}

/// Brings what was pushed here before it was all nodes' to the others, and what was pushed there to this one.
async fn catch_up(content: &SharedContent, contents: &[Content]) -> Result<(), Error> {
    let behind =
        |error: SharedContentError| Error::new(format!("what was pushed to other nodes can't be read: {error}"));
    content.bring_all(contents).await.map_err(behind)?;
    content.catch_up_all(contents).await.map_err(behind)
}

/// A house taken apart: what the host is made of, and the rest.
struct Opening {
    builder: HostBuilder,
    house: House,
}

impl Opening {
    fn of(
        mut house: House,
        (storage, store): (&Storage, &Arc<dyn Store>),
        books: &CrawlBooks,
        keys: &Arc<ArcSwap<HostKeys>>,
    ) -> Result<Self, Error> {
        let agents: Vec<HostedAgent> = std::mem::take(&mut house.agents);
        let deployment = &house.deployment;
        let default = deployment.top.default_agent.as_ref().ok_or_else(|| Error::new("there is no agent"))?;
        let directory = Directory::new(agents, default).map_err(|error| Error::new(error.to_string()))?;
        // A host apart has a queue of its own, so its questions would be told under ids that `/queue` does not
        // know.
        let is_apart = matches!(storage, Storage::Apart { .. }) && !deployment.store.is_shared();
        let operator = operator(deployment, &house.egress)?.filter(|_| !is_apart);
        let mut builder = HostBuilder::new(house.site.clone(), directory, store.clone(), house.egress.clone());
        builder.limits = deployment.limits.clone();
        builder.contract = house.endpoints.contract.clone();
        builder.operator = operator;
        builder.envelopes = deployment.wires.envelopes();
        builder.couriers = deployment.wires.couriers(&house.egress, &house.site);
        builder.rules = house.rules.clone();
        builder.schemes = house.payments.schemes(&books.debts, keys);
        builder.people = deployment.identity.oidc.as_ref().map(OidcConfig::subject_prefix);
        house.payments.begin_check();
        Ok(Self { builder, house })
    }
}

/// The parts that stay when one house takes the place of another.
struct Around<'a> {
    live: &'a Arc<LiveHouse>,
    storage: &'a Storage,
    store: &'a Arc<dyn Store>,
    keys: &'a Arc<ArcSwap<HostKeys>>,
    api_keys: &'a Arc<ApiKeys>,
    books: &'a CrawlBooks,
    stop: &'a CancellationToken,
}

impl Around<'_> {
    /// Brings what this node knows of its agents in line with what all nodes do.
    async fn agree(&self, house: &House, host: &Host, agreed: Option<&Arc<dyn Store>>) -> Result<(), Error> {
        let Some(store) = agreed else { return Ok(()) };
        identities::agree(&house.deployment, &house.identities, host, &self.keys.load(), store).await
    }

    /// Sets up every protocol of a house on its host.
    fn mount(&self, house: House, host: Arc<Host>) -> Result<MountedHouse, Error> {
        let House { deployment, egress, identities, endpoints, contents, budgets, questions, crawl, .. } = house;
        endpoints.host.bind(self.live);
        let services = Arc::new(HostServices::new(endpoints.host.clone()));
        services.publish(host.clone());
        services.publish(Arc::new(BudgetStore(self.store.clone())));
        services.publish(crawl);
        services.publish(self.books.log.clone());
        services.publish(self.books.debts.clone());
        services.publish(Arc::new(AgentBudgets(budgets)));
        // Checked when the deployment was read.
        if let Ok(networks) = PaymentNetworks::new(&deployment.payments) {
            services.publish(Arc::new(networks));
        }
        let refusing = host.clone();
        let note = move |refused: &BudgetRefusal<'_>| {
            let BudgetRefusal { agent, message, key, is_callers, part } = *refused;
            refusing.note_limit_hit(agent, message, LimitRefusal { limit: key, is_callers, part });
        };
        services.publish(Arc::new(BudgetRefusals(Box::new(note))));
        if let Some(log) = &questions {
            // Pages that show thumbs ask whether there is one.
            services.publish(log.clone());
        }
        let (agents, notices) = identities::load(&deployment, identities, &host, &self.keys.load(), self.storage);
        let agents = Arc::new(agents);
        let verifier = verifier(&deployment, &egress, self.store)?;
        let verifier = verifier.with_api_keys(self.api_keys.clone());
        let verifier = verifier.with_agents(agents.clone(), host.site().domain.clone());
        let mount = Mount {
            host: host.clone(),
            verifier: Arc::new(verifier),
            agents,
            keys: self.keys.clone(),
            egress,
            folder: deployment.dir.clone(),
            data: deployment.data.clone(),
            tools: Arc::new([]),
            pages: deployment.pages.clone(),
            services: services.clone(),
        };
        // Tools of protocols are made from the mount, so it is built twice: first without them.
        let tools = deployment.wires.tools(&mount).chain(endpoint::tools(&mount.host)).collect();
        let mount: Mount = Mount { tools, ..mount };
        operated::publish(&mount, &deployment);
        let (mut surfaces, classes) = deployment.wires.surfaces(&mount, deployment.root.file())?;
        surfaces.extend(questions.map(|log| Surface::Http(questions::feedback_routes(log, mount.host.clone()))));
        let ended = self.stop.child_token();
        let (open, background) = OpenHouse::new(
            host,
            services,
            contents,
            (surfaces, classes),
            deployment.development.as_deref(),
            ended.clone(),
        );
        let (notices, refused, deployment) = (notices.into(), endpoints.refused, Arc::new(deployment));
        Ok(MountedHouse { open, mount, notices, refused, deployment, background, ended })
    }
}

/// The verifier of callers' proofs: with the keys of [identity], and the directory of keys that protocols bring.
fn verifier(deployment: &Deployment, egress: &Arc<Egress>, store: &Arc<dyn Store>) -> Result<Verifier, Problems> {
    let verifier = Verifier::new(&deployment.identity, &deployment.dir, egress.clone()).map_err(|wrong| {
        let mut problems = Problems::new();
        wrong.iter().for_each(|w| problems.push(Problem::of_file(deployment.root.file(), w.to_string())));
        problems
    })?;
    if let Some(oidc) = verifier.oidc() {
        egress.foresees(Purpose::SignIn, &oidc.issuer).map_err(|error| {
            let text = format!("`issuer` in [identity.oidc] can't be reached: {error}");
            let problem = Problem::of_file(deployment.root.file(), text);
            let hint = "networks of your own are opened by `allow` in [egress], other ports than 443 by `ports`, and http \
                        on this machine by `allow_http`";
            Problems::from(problem.hint(hint))
        })?;
    }
    let agents = Arc::new(SignatureAgents::new(egress.clone()));
    let verifier = verifier.with_store(store.clone()).with_signature_agents(agents);
    Ok(match deployment.wires.key_directory(egress) {
        Some(directory) => verifier.with_directory(directory),
        None => verifier,
    })
}

/// Where the operator is told that a question waits. Fails when that, or where alerts are told, can never be reached.
fn operator(deployment: &Deployment, egress: &Egress) -> Result<Option<OperatorWebhook>, Problems> {
    for (key, webhook) in [("webhook", &deployment.operator), ("alert_webhook", &deployment.alerts.webhook)] {
        let Some(webhook) = webhook else { continue };
        egress.foresees(Purpose::Webhook, &webhook.url).map_err(|error| {
            // The address itself may hold a secret.
            let text = format!("`{key}` in [admin] can't be reached: {error}");
            let problem = Problem::of_file(deployment.root.file(), text);
            Problems::from(problem.hint("it must be https; networks of your own are opened by `allow` in [egress]"))
        })?;
    }
    Ok(deployment.operator.clone())
}
