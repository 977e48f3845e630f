//! From checked settings to a host: built values, everything wrong found at once.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use forecourt_agents::siblings::{Sibling, Siblings};
use forecourt_agents::{BuiltAgent, Context, IndexedContent};
use forecourt_contract::{Dispatcher, HostApi, HostHandle, HostServices};
use forecourt_core::agent::Icon;
use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{
    AgentCard, Clock, Domain, Entropy, Error, Handle, Message, Policy, Reply, Store, StoreError, SystemClock,
};
use forecourt_egress::{Egress, EgressConfig, Purpose};
use forecourt_host::{Directory, Host, HostBuilder, HostedAgent, OperatorWebhook, Run, Site, SystemEntropy, rules};
use forecourt_identity::agents::IdentityNotice;
use forecourt_identity::{HostKeys, Verifier};
use forecourt_server::RouteClasses;
use forecourt_settings::{Problem, Problems, Section};
use forecourt_store::{Memory, Sqlite, SqliteOptions};
use forecourt_surface::endpoint;
use forecourt_surface::{Mount, PublishedDocument, Surface};
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::deployment::{Loaded, LoadedAgent};
use crate::endpoints::Endpoints;
use crate::identities;
use crate::manual;
use crate::output::Failure;
use crate::registry::backends;
use crate::settings::StoreKind;
use crate::wires::Wires;

/// The database in the data folder.
pub(crate) const DATABASE: &str = "forecourt.db";
/// The stream in the store that says with which key this deployment signs.
pub(crate) const SIGNED: &str = "host:signing-key";

/// The agents of a deployment, built, and the content behind them.
pub(crate) struct Agents {
    pub residents: Vec<HostedAgent>,
    pub content: Vec<Content>,
}

/// Content that an agent answers from.
#[derive(Clone)]
pub(crate) struct Content {
    pub handle: Handle,
    pub indexing: Arc<dyn IndexedContent>,
}

/// What the outside calls this deployment. While a free port is only wished for, none is named.
pub(crate) fn site(loaded: &Loaded) -> Site {
    let domain = &loaded.deployment.domain;
    let origin = match &loaded.deployment.public_url {
        Some(url) => url.trim_end_matches('/').to_owned(),
        None if matches!(loaded.listen.https.port(), 0 | 443) => format!("https://{domain}"),
        None => format!("https://{domain}:{}", loaded.listen.https.port()),
    };
    Site { domain: domain.clone(), name: loaded.name().to_owned(), origin }
}

/// The way out, closed to this host's own names and addresses.
pub(crate) fn egress(loaded: &Loaded, site: &Site, own: &[std::net::SocketAddr]) -> Result<Egress, Problems> {
    let wrong = |error: forecourt_egress::SetupError| {
        Problems::from(loaded.root.problem(None, format!("[egress] cannot be set up: {error}")))
    };
    let mut builder = Egress::builder(loaded.egress.clone()).base(&loaded.dir).own_host(&site.origin).map_err(wrong)?;
    if site.canonical_host() != site.domain.as_str() {
        builder = builder.own_host(site.domain.as_str()).map_err(wrong)?;
    }
    for address in own {
        builder = builder.own_address(*address);
    }
    builder.build().map_err(wrong)
}

/// Builds every agent. Opens nothing: what fails here is wrong in the settings.
pub(crate) fn agents(
    loaded: &Loaded,
    site: &Site,
    egress: &Egress,
    data: &Path,
    endpoints: &Endpoints,
) -> Result<Agents, Problems> {
    let mut problems = Problems::new();
    let mut agents = Agents { residents: Vec::new(), content: Vec::new() };
    let tools = endpoints.tools();
    let siblings = siblings(&loaded.agents, site, endpoints.host.clone());
    for agent in &loaded.agents {
        let context = Context {
            siblings: siblings.clone(),
            endpoints: tools.clone(),
            ..context(agent, &loaded.dir, site, egress, data)
        };
        let built = problems.absorb(build(&agent.backend, &context));
        let rules = problems.absorb(
            rules(&agent.settings.policy.rules, site)
                .map_err(|reason| agent.section.problem(None, format!("[policy] {reason}"))),
        );
        let (Some(built), Some(rules)) = (built, rules) else { continue };
        if let Some(indexing) = built.indexing.clone() {
            agents.content.push(Content { handle: agent.settings.handle.clone(), indexing });
        }
        let card = Arc::new(card(agent, site, &built, &loaded.wires));
        let time_max = Duration::from_secs(agent.settings.timeout_seconds.get().into());
        agents.residents.push(HostedAgent::new(card, built.agent, Policy::new(rules), time_max));
    }
    problems.into_result(agents)
}

/// What is wrong in the backends of agents, found even when the rest of the deployment is in no
/// state to be built: as if it were served on a domain of no meaning.
pub(crate) fn backend_problems(folder: &Path, agents: &[LoadedAgent]) -> Problems {
    let mut problems = Problems::new();
    let (Ok(domain), Ok(egress)) = (Domain::parse("check.localhost"), Egress::builder(EgressConfig::default()).build())
    else {
        return problems;
    };
    let site = Site { origin: format!("https://{domain}"), name: domain.to_string(), domain };
    let siblings = siblings(agents, &site, HostHandle::default());
    for agent in agents {
        let context = Context { siblings: siblings.clone(), ..context(agent, folder, &site, &egress, folder) };
        problems.absorb(build(&agent.backend, &context));
    }
    problems
}

/// The agents as they see each other.
fn siblings(agents: &[LoadedAgent], site: &Site, host: HostHandle) -> Siblings {
    let seen = agents.iter().map(|agent| Sibling {
        address: site.address(&agent.settings.handle),
        name: agent.settings.name.clone(),
        description: agent.settings.description.clone(),
    });
    Siblings::new(seen, host)
}

/// The host as those inside it reach it.
struct Inside {
    host: Arc<Host>,
    services: Arc<HostServices>,
}

impl HostApi for Inside {
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

fn context(agent: &LoadedAgent, folder: &Path, site: &Site, egress: &Egress, data: &Path) -> Context {
    Context {
        handle: agent.settings.handle.clone(),
        host: site.canonical_host().to_owned(),
        language: agent.settings.language.clone(),
        folder: folder.to_path_buf(),
        data_dir: data.to_path_buf(),
        clock: Arc::new(SystemClock),
        entropy: Arc::new(SystemEntropy),
        egress: egress.clone(),
        path_variable: std::env::var("PATH").ok(),
        endpoints: Vec::new(),
        siblings: Siblings::default(),
        builtin: vec![(manual::NAME.to_owned(), manual::folder(data))],
    }
}

fn build(section: &Section, context: &Context) -> Result<BuiltAgent, Problems> {
    let kinds = || backends().map(|b| format!("`{}`", b.kind)).collect::<Vec<_>>().join(", ");
    let Some(kind) = section.text("kind").map(str::to_owned) else {
        return Err(section.problem(None, format!("[backend] needs `kind`: one of {}", kinds())).into());
    };
    let Some(backend) = backends().find(|backend| backend.kind == kind) else {
        let problem = section.problem(Some("kind"), format!("there is no backend `{kind}`"));
        return Err(problem.hint(format!("there are {}", kinds())).into());
    };
    (backend.build)(section.clone(), context)
}

fn card(agent: &LoadedAgent, site: &Site, built: &BuiltAgent, wires: &Wires) -> AgentCard {
    let settings = agent.settings.clone();
    let mut card = AgentCard {
        address: site.address(&settings.handle),
        name: settings.name,
        description: settings.description,
        version: settings.version,
        icon: settings.icon.map(|url| Icon { url, mime: None }),
        skills: settings.skills.into_iter().map(Into::into).collect(),
        input_modes: settings.input_modes.unwrap_or_else(|| built.input_modes.clone()),
        output_modes: settings.output_modes.unwrap_or_else(|| built.output_modes.clone()),
        homepage: settings.homepage,
        language: settings.language,
        streams: built.streams,
        uses_tools: built.uses_tools,
        remembers: settings.sessions.unwrap_or(built.remembers),
        composes: built.composes,
        finds: built.finds,
        cors: settings.cors,
        cache_control: settings.cache_control,
        examples: settings.examples,
        endpoints: Vec::new(),
    };
    card.endpoints = wires.endpoints(site, &card);
    card
}

/// A host at work, with what its protocols listen on.
pub(crate) struct Running {
    pub host: Arc<Host>,
    pub surfaces: Vec<Surface>,
    /// What is mounted where, for metrics and the log.
    pub classes: RouteClasses,
    pub keys: Arc<ArcSwap<HostKeys>>,
    /// What there is to say about the files of agents' identities.
    pub identity_notices: Vec<IdentityNotice>,
    /// What protocols are given.
    pub mount: Mount,
    _inside: Arc<Inside>,
}

impl Running {
    /// What every protocol publishes that is the same for every caller.
    pub(crate) fn documents(&self, loaded: &Loaded) -> Result<Vec<PublishedDocument>, Problems> {
        loaded.wires.documents(&self.mount)
    }
}

/// Where a host keeps things.
pub(crate) enum State<'a> {
    /// In this folder.
    Kept(&'a Path),
    /// In the folder `own`, but for where agents stand: that is the deployment's to say, whose folder
    /// another process holds.
    Apart {
        /// What ends with this process.
        own: &'a Path,
        /// The deployment's.
        deployment: &'a Path,
    },
    /// Nowhere, but its keys are in this folder: for what they sign.
    Signing(&'a Path),
    /// Nowhere: for checking. What is kept in this folder, which may not be there, is looked at.
    Looking(&'a Path),
}

/// What a host is put to work with.
pub(crate) struct HostParts<'a> {
    pub residents: Vec<HostedAgent>,
    pub endpoints: &'a Endpoints,
}

/// Puts a host of these agents and endpoints to work, until `stop`.
pub(crate) async fn start(
    loaded: &Loaded,
    site: Site,
    egress: Egress,
    parts: HostParts<'_>,
    state: State<'_>,
    stop: CancellationToken,
) -> Result<Running, Failure> {
    let HostParts { residents, endpoints } = parts;
    let egress = Arc::new(egress);
    let store = store(loaded, &state)?;
    let keys = Arc::new(ArcSwap::from_pointee(keys(&state)?));
    if let State::Kept(_) = state {
        remember_signing(&store, keys.load().current().kid()).await?;
    }
    let verifier = verifier(loaded, &egress, &store)?;
    let directory = Directory::new(residents, loaded.default_agent()).map_err(|e| Failure::yours(e.to_string()))?;
    let mut builder = HostBuilder::new(site, directory, store, egress.clone());
    builder.standings = standings(loaded, &state)?;
    // A host apart has a queue of its own, so its questions would be told under ids that `/queue` does not know.
    builder.operator = operator(loaded, &egress)?.filter(|_| !matches!(state, State::Apart { .. }));
    builder.limits = loaded.limits.clone();
    builder.envelopes = loaded.wires.envelopes();
    builder.contract = endpoints.contract.clone();
    let host = builder.start(stop).await.map_err(|e| Failure::ours(e.to_string()))?;
    let services = Arc::new(HostServices::new(endpoints.host.clone()));
    services.publish(host.clone());
    let inside = Arc::new(Inside { host: host.clone(), services: services.clone() });
    endpoints.host.bind(&inside);
    let (agents, identity_notices) = identities::load(loaded, &host, &keys.load(), &state);
    let agents = Arc::new(agents);
    let verifier = verifier.with_agents(agents.clone(), host.site().domain.clone());
    let mount = Mount {
        host: host.clone(),
        verifier: Arc::new(verifier),
        agents,
        keys: keys.clone(),
        egress,
        tools: Arc::new([]),
        services,
    };
    let tools = loaded.wires.tools(&mount).chain(endpoint::tools(&mount.host)).collect();
    let mount = Mount { tools, ..mount };
    let (surfaces, classes) = loaded.wires.surfaces(&mount, loaded.root.file())?;
    Ok(Running { host, surfaces, classes, keys, identity_notices, mount, _inside: inside })
}

/// Proof in, sender out: the configured keys, and those that protocols can find.
fn verifier(loaded: &Loaded, egress: &Arc<Egress>, store: &Arc<dyn Store>) -> Result<Verifier, Problems> {
    let verifier = Verifier::new(&loaded.identity, &loaded.dir, egress.clone()).map_err(|wrong| {
        let mut problems = Problems::new();
        wrong.iter().for_each(|w| problems.push(Problem::of_file(loaded.root.file(), w.to_string())));
        problems
    })?;
    let verifier = verifier.with_store(store.clone());
    Ok(match loaded.wires.key_directory(egress) {
        Some(directory) => verifier.with_directory(directory),
        None => verifier,
    })
}

/// Where the operator is told that a question waits. Fails when it can never be reached.
fn operator(loaded: &Loaded, egress: &Egress) -> Result<Option<OperatorWebhook>, Problems> {
    let Some(webhook) = &loaded.operator else { return Ok(None) };
    egress.foresees(Purpose::Webhook, &webhook.url).map_err(|error| {
        // The address itself may hold a secret.
        let problem = Problem::of_file(loaded.root.file(), format!("`webhook` in [admin] can't be reached: {error}"));
        Problems::from(problem.hint("it must be https; networks of your own are opened by `allow` in [egress]"))
    })?;
    Ok(Some(webhook.clone()))
}

fn store(loaded: &Loaded, state: &State<'_>) -> Result<Arc<dyn Store>, Failure> {
    match (state, loaded.store.kind) {
        (State::Kept(data) | State::Apart { own: data, .. }, StoreKind::Sqlite) => open(loaded, data),
        (State::Looking(_) | State::Signing(_), _) | (_, StoreKind::Memory) => {
            Ok(Arc::new(Memory::bounded(loaded.limits.stored_bytes_per_caller)))
        }
    }
}

/// The store in which it is kept where agents stand, if that is another one.
fn standings(loaded: &Loaded, state: &State<'_>) -> Result<Option<Arc<dyn Store>>, Failure> {
    match (state, loaded.store.kind) {
        (State::Apart { deployment, .. }, StoreKind::Sqlite) => open(loaded, deployment).map(Some),
        _ => Ok(None),
    }
}

fn open(loaded: &Loaded, data: &Path) -> Result<Arc<dyn Store>, Failure> {
    let file = data.join(DATABASE);
    let options = SqliteOptions {
        caller_bytes_max: loaded.limits.stored_bytes_per_caller,
        database_bytes_max: loaded.store.size_max,
        ..SqliteOptions::default()
    };
    let store = Sqlite::open(&file, options).map_err(|error| match error {
        StoreError::Full { .. } => Failure::yours(format!("{} cannot be written: {error}", file.display()))
            .hint("make room on the disk, or name another folder with --data DIR"),
        error => Failure::ours(format!("{}: {error}", file.display())),
    })?;
    Ok(store)
}

/// Writes down that this deployment signs, and with which key: so that a key that is gone is missed, and no
/// other one made in silence.
async fn remember_signing(store: &Arc<dyn Store>, kid: &str) -> Result<(), Failure> {
    let wrong = |error: StoreError| Failure::ours(format!("the store: {error}"));
    let now = SystemClock.now();
    let known = store.entries(SIGNED, Span::Before(u64::MAX), 1, now).await.map_err(wrong)?;
    let body = serde_json::json!({ "kid": kid });
    if known.first().is_none_or(|(_, entry)| entry.body != body) {
        store.append_entry(SIGNED, LedgerEntry::new(body, now), None).await.map_err(wrong)?;
    }
    Ok(())
}

fn keys(state: &State<'_>) -> Result<HostKeys, Failure> {
    let entropy: &dyn Entropy = &SystemEntropy;
    match state {
        State::Kept(data) | State::Apart { own: data, .. } | State::Signing(data) => {
            HostKeys::load_or_create(data, entropy).map_err(|e| Failure::ours(e.to_string()))
        }
        State::Looking(_) => Ok(HostKeys::in_memory(entropy)),
    }
}
