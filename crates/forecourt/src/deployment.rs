//! A deployment as its files describe it: read with every problem of every file found in one go, added to by
//! a program that embeds this crate, and built into a [`House`](crate::House).

mod develop;
mod read;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forecourt_admin::EntranceSettings;
use forecourt_agents::BuiltAgent;
use forecourt_contract::{Failure, Invocation};
use forecourt_core::{Domain, Handle};
use forecourt_egress::EgressConfig;
use forecourt_egress::recordings::Recordings;
use forecourt_endpoints::{Functions, python};
use forecourt_host::{LimitSettings, OperatorWebhook};
use forecourt_identity::IdentityConfig;
use forecourt_identity::agents::AgentIdentitySettings;
use forecourt_pages::Pages;
use forecourt_payments::PaymentsSettings;
use forecourt_rules::CountryTable;
use forecourt_server::HttpLimits;
use forecourt_settings::{Environment, KeyMove, Problem, Problems, ProcessEnvironment, Section};
use forecourt_surface::{CONNECTORS, SERVERS, ServerDefinition};
use serde_json::Value;

use self::read::{AGENTS, read_agents, read_top};
use crate::agents::{self, AgentDefinition, Backing, HubMembership};
use crate::alerts::AlertPlan;
use crate::development::Development;
use crate::domains_file::DomainsFile;
use crate::hubs::{HUBS, HubFile, HubLists, OpenHub, read_hubs};
use crate::meters::Meters;
use crate::oversights::unread_files;
use crate::rules::HostRule;
use crate::servers::{ConnectorFile, ServerFile, read_connectors, read_servers};
use crate::settings;
pub use crate::settings::FILE;
use crate::settings::telemetry::Telemetry;
use crate::settings::{
    AgentSettings, BusSettings, DrainSettings, Listen, ListenOverrides, Log, MonitoringSettings, QuestionSettings,
    ReloadSettings, StoreSettings, Tls, TopSettings,
};
use crate::wires::Wires;

/// The data folder within that of a deployment, unless another one is named.
pub const DATA: &str = ".forecourt";
/// Agents in one deployment.
pub(crate) const AGENTS_MAX: usize = 10_000;

/// Everything that the files of a deployment say, and what a program adds to it.
///
/// ```
/// use forecourt::Deployment;
///
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// std::fs::write(folder.join("forecourt.toml"), "domain = \"demo.localhost\"\nnmae = \"Demo\"")?;
/// let problems = Deployment::read(folder).err().expect("a key is misspelled");
/// assert!(problems.to_string().contains("forecourt.toml:2"), "{problems}");
///
/// std::fs::write(folder.join("forecourt.toml"), "domain = \"demo.localhost\"")?;
/// assert_eq!(Deployment::read(folder)?.domain().as_str(), "demo.localhost");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Deployment {
    pub(crate) dir: PathBuf,
    pub(crate) top: TopSettings,
    pub(crate) listen: Listen,
    pub(crate) tls: Tls,
    /// What opens the operator's listener.
    pub(crate) entrance: EntranceSettings,
    /// Whether operators change its files from the console.
    pub(crate) editor: bool,
    /// Where the operator is told that a question waits.
    pub(crate) operator: Option<OperatorWebhook>,
    /// What is worth an alert, and where the operator is told of it.
    pub(crate) alerts: AlertPlan,
    pub(crate) store: StoreSettings,
    pub(crate) bus: BusSettings,
    pub(crate) questions: QuestionSettings,
    pub(crate) log: Log,
    /// Where it is watched from elsewhere.
    pub(crate) monitoring: Option<MonitoringSettings>,
    /// Whether changes of its files are taken up by themselves.
    pub(crate) reload: ReloadSettings,
    /// How the process goes.
    pub(crate) drain: DrainSettings,
    pub(crate) telemetry: Telemetry,
    /// What is counted, from one deployment to the next.
    pub(crate) meters: Meters,
    pub(crate) limits: LimitSettings,
    pub(crate) egress: EgressConfig,
    pub(crate) identity: IdentityConfig,
    pub(crate) http: HttpLimits,
    /// How Python functions run.
    pub(crate) functions: python::Options,
    /// The protocols, each opened from its section.
    pub(crate) wires: Wires,
    /// How agents are paid.
    pub(crate) payments: PaymentsSettings,
    /// How pages look, and who may embed the search box.
    pub(crate) pages: Arc<Pages>,
    /// Rules before several agents.
    pub(crate) host_rules: Vec<HostRule>,
    /// Which country an address is in.
    pub(crate) countries: Option<Arc<CountryTable>>,
    /// What holds for all endpoints together.
    pub(crate) endpoints: Section,
    pub(crate) agents: Vec<AgentDefinition>,
    /// The servers behind it.
    pub(crate) servers: Vec<ServerFile>,
    /// The platforms that its agents are mentioned on.
    pub(crate) connectors: Vec<ConnectorFile>,
    /// The hubs elsewhere whose agents it fronts.
    pub(crate) hubs: Vec<HubFile>,
    /// What is known of them, from one deployment to the next.
    pub(crate) hub_lists: Arc<HubLists>,
    /// The same hubs, once it is built.
    pub(crate) open_hubs: Vec<OpenHub>,
    /// The functions of the program around us.
    pub(crate) own_functions: Functions,
    /// Where this very process listens: no caller may make it call itself.
    pub(crate) own_addresses: Vec<SocketAddr>,
    /// The folder in which state is kept.
    pub(crate) data: PathBuf,
    /// What stands in for the network while it is tested.
    pub(crate) recordings: Option<Arc<Recordings>>,
    /// Where providers find the keys that no file names.
    pub(crate) variable: fn(&str) -> Option<String>,
    /// Whether it is tested, and nobody is to find it.
    pub(crate) is_sandboxed: bool,
    /// The file's own section, for problems found later.
    pub(crate) root: Section,
    /// What was found while reading that a check tells.
    pub(crate) oversights: Vec<Problem>,
    /// What watches it, where it is worked on and not served.
    pub(crate) development: Option<Arc<Development>>,
}

/// What the files of a deployment take from elsewhere.
#[derive(Debug, Clone, Default)]
pub struct EnvironmentNotices {
    /// Keys with the variable that goes before each, never its value.
    pub overrides: Vec<String>,
    /// Warnings about files with secrets, a sentence each.
    pub secrets: Vec<String>,
}

impl Deployment {
    /// Gives its servers, each behind its gate, and its connectors to the protocols that have them.
    ///
    /// # Errors
    /// Everything in their files that is wrong.
    pub(crate) fn set_definitions(&mut self, servers: Vec<ServerDefinition>) -> Result<(), Problems> {
        let mut problems = Problems::new();
        problems.absorb(self.wires.set_servers(servers));
        problems.absorb(self.wires.set_connectors(std::mem::take(&mut self.connectors)));
        problems.into_result(())
    }

    /// The file of the access log, if it has one.
    pub(crate) fn access_log(&self) -> Option<PathBuf> {
        self.log.access_file.as_ref().map(|file| self.dir.join(file))
    }

    /// Reads the deployment in `folder`, with `${VAR}` from the environment of this process.
    ///
    /// # Errors
    /// Everything that is wrong, each with its file and its line where they are known.
    pub fn read(folder: impl AsRef<Path>) -> Result<Self, Problems> {
        Self::read_with(folder.as_ref(), &ProcessEnvironment, &ListenOverrides::default())
    }

    /// The same with another environment, and with sockets where `overrides` wants them.
    ///
    /// # Errors
    /// As [`Deployment::read`].
    pub fn read_with(
        folder: &Path,
        environment: &dyn Environment,
        overrides: &ListenOverrides,
    ) -> Result<Self, Problems> {
        Self::read_beside(folder, environment, overrides, None)
    }

    /// The same of one of several domains, where `beside` says what they share.
    ///
    /// # Errors
    /// As [`Deployment::read`].
    pub fn read_beside(
        folder: &Path,
        environment: &dyn Environment,
        overrides: &ListenOverrides,
        beside: Option<&DomainsFile>,
    ) -> Result<Self, Problems> {
        let mut problems = Problems::new();
        let top = problems.absorb(read_top(folder, environment, overrides, beside));
        let (agents, wrong) = read_agents(folder, environment);
        problems.extend(wrong);
        let (servers, wrong) = read_servers(folder, environment);
        problems.extend(wrong);
        let (connectors, wrong) = read_connectors(folder, environment);
        problems.extend(wrong);
        let (hubs, wrong) = read_hubs(folder, environment);
        problems.extend(wrong);
        let unread =
            [AGENTS, SERVERS, CONNECTORS, HUBS].into_iter().flat_map(|settings| unread_files(&folder.join(settings)));
        match top {
            Some(mut deployment) if problems.is_empty() => {
                deployment.agents = agents;
                deployment.servers = servers;
                deployment.connectors = connectors;
                deployment.hubs = hubs;
                deployment.oversights.extend(unread);
                Ok(deployment)
            }
            _ => {
                // The backends are checked although the deployment is refused: one run of `check` tells all there is to
                // mend.
                problems.extend(agents::backend_problems(folder, &agents));
                problems.extend(unread);
                Err(problems)
            }
        }
    }

    /// Gives the keys that the files have by their old names. All of them are known once the deployment was built,
    /// which takes it: so this is asked for before, and called after.
    pub fn moved_keys(&self) -> impl Fn() -> Vec<KeyMove> + use<> {
        // Of thousands of agents the values would be kept with them.
        let agents = self.agents.iter().map(|agent| agent.section.without_values());
        let sections: Vec<Section> = std::iter::once(self.root.without_values()).chain(agents).collect();
        move || sections.iter().flat_map(Section::moved_keys).collect()
    }

    /// What its files take from elsewhere, for the operator: the keys that variables of the environment go before,
    /// without their values, and secrets in files that others can read.
    pub fn environment_notices(&self) -> EnvironmentNotices {
        let agents = self.agents.iter().map(|agent| &agent.section);
        let servers = self.servers.iter().map(|server| &server.section);
        let hubs = self.hubs.iter().flat_map(|hub| [&hub.section, &hub.backend]);
        let sections: Vec<&Section> = std::iter::once(&self.root).chain(agents).chain(servers).chain(hubs).collect();
        let overrides = sections.iter().flat_map(|section| {
            let file = section.file().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            section.overrides().into_iter().map(move |one| format!("{file}: {one}"))
        });
        EnvironmentNotices {
            overrides: overrides.collect(),
            secrets: sections.iter().flat_map(|section| section.secret_notices()).collect(),
        }
    }

    /// The same deployment with its state in `folder`: by default that is `.forecourt` within its own.
    #[must_use]
    pub fn with_data_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.data = folder.into();
        self
    }

    /// The same deployment with an agent that is code of this program, as any file of `agents/` would add one.
    /// A panic in it ends one answer, honestly, and nothing else.
    #[must_use]
    pub fn with_agent(mut self, settings: AgentSettings, agent: BuiltAgent) -> Self {
        let section = Section::empty(self.root.file(), settings.handle.as_str());
        let (backing, identity) = (Backing::Program(agent), AgentIdentitySettings::default());
        let (rule_places, of_hub) = (Vec::new(), None);
        self.agents.push(AgentDefinition { settings, section, backing, identity, rule_places, of_hub });
        self
    }

    /// The same deployment with a function of this program, which files of `endpoints/` bind under `name` as
    /// `handler = { type = "registered_function", function = "NAME" }`.
    #[must_use]
    pub fn with_function<F, R>(mut self, name: impl Into<String>, function: F) -> Self
    where
        F: Fn(Invocation) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Value, Failure>> + Send + 'static,
    {
        self.own_functions = self.own_functions.with(name, function);
        self
    }

    /// The domain of every address here.
    pub fn domain(&self) -> &Domain {
        &self.top.domain
    }

    /// The folder of its files.
    pub fn folder(&self) -> &Path {
        &self.dir
    }

    /// The folder in which its state is kept.
    pub fn data_folder(&self) -> &Path {
        &self.data
    }

    /// Whether it may have several nodes, which share a store.
    pub fn is_shared(&self) -> bool {
        self.store.is_shared()
    }

    /// What is worth knowing of what nodes share, though nothing is wrong with it.
    pub fn node_notice(&self) -> Option<String> {
        settings::notice(&self.store, &self.bus)
    }

    /// What is doubtful about who the callers of its domain are: a proxy that is trusted with nothing makes all of them
    /// one.
    pub fn proxy_notice(&self) -> Option<String> {
        let is_public = self.top.public_url.is_some() && !self.top.domain.is_local();
        let is_behind = is_public && self.listen.https.ip().is_loopback();
        (is_behind && self.top.trusted_proxies.is_empty()).then(|| {
            format!(
                "{}: `public_url` is set, HTTPS listens on loopback alone and `trusted_proxies` is empty: all callers that \
                 come by a proxy have its address, and share one rate limit and one part of every other bound; set \
                 `trusted_proxies` to the networks of the proxy, such as \
                 trusted_proxies = [\"127.0.0.1/32\", \"::1/128\"]",
                self.top.domain
            )
        })
    }

    /// What is logged, and how.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Where it listens.
    pub fn listen(&self) -> Listen {
        self.listen
    }

    /// Connections of one listener at once, at most.
    pub fn connections_max(&self) -> usize {
        self.http.connections_max
    }

    /// Lets everything that is published name this port of HTTPS, whatever the files listen on.
    pub fn publish_https_port(&mut self, port: u16) {
        self.listen.https.set_port(port);
    }

    /// Takes notice of where sockets were opened. `own` gives those that protocols have for themselves, by
    /// name; `None`: it is not open.
    pub(crate) fn bound(&mut self, shared: Listen, own: impl Fn(&str) -> Option<SocketAddr>) {
        self.listen = shared;
        self.wires.bound(own);
    }

    /// What only all agents together decide: who is the default agent, and that no two share a name.
    pub(crate) fn settle(&mut self) -> Result<(), Problems> {
        let mut problems = Problems::new();
        if self.agents.len() > AGENTS_MAX {
            let text = format!("with the agents of its hubs it has {}, and {AGENTS_MAX} at most", self.agents.len());
            let problem = Problem::of_file(&self.dir.join(HUBS), text);
            problems.push(problem.hint("choose some with `only` and `except`"));
        }
        let mut seen: HashMap<Handle, String> = HashMap::new();
        for agent in &self.agents {
            let handle = agent.settings.handle.clone();
            if let Some(other) = seen.insert(handle.clone(), agent.section.name()) {
                problems.push(match &agent.of_hub {
                    None => agent.section.problem(None, format!("the handle `{handle}` is taken by {other}")),
                    Some(HubMembership { hub, .. }) => {
                        let text = format!("the hub `{hub}` has an agent `{handle}`, a handle that {other} has here");
                        let hint = "`prefix` gives its agents other handles here, and `except` leaves some of them out";
                        agent.section.problem(Some("address"), text).hint(hint)
                    }
                });
            }
        }
        for server in &self.servers {
            if let Some(agent) = seen.get(&server.name) {
                let text = format!("the name `{}` is taken by {agent}: both would be at one path", server.name);
                problems.push(server.section.problem(None, text).hint("give the file another name"));
            }
        }
        match (&self.top.default_agent, self.agents.first()) {
            (_, None) => problems.push(Problem::of_file(&self.dir.join("agents"), "there is no agent").hint(
                match self.open_hubs.is_empty() {
                    true => "add a file like agents/echo.toml",
                    false => "add a file like agents/echo.toml, or import the hub, so that it is known who is there",
                },
            )),
            (Some(default), _) if !seen.contains_key(default) => {
                problems.push(self.root.problem(Some("default_agent"), format!("there is no agent `{default}`")));
            }
            (Some(_), _) => {}
            (None, Some(first)) => self.top.default_agent = Some(first.settings.handle.clone()),
        }
        problems.into_result(())
    }

    /// The networks of proxies whose word on the client's address is taken.
    pub(crate) fn trusted_proxies(&self) -> &[ipnet::IpNet] {
        &self.top.trusted_proxies
    }

    /// The name of the place, for people.
    pub(crate) fn name(&self) -> &str {
        self.top.site_name()
    }
}
