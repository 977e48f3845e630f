//! From a folder to checked settings. Every problem of every file is found in one go.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use forecourt_core::Handle;
use forecourt_egress::EgressConfig;
use forecourt_egress::limits::SECRET_BYTES_MAX;
use forecourt_endpoints::python;
use forecourt_host::{LimitSettings, OperatorWebhook};
use forecourt_identity::IdentityConfig;
use forecourt_identity::agents::AgentIdentitySettings;
use forecourt_server::{AdminToken, HttpLimits};
use forecourt_settings::{Environment, Problem, Problems, Section, files};

use crate::args::ListenFlags;
use crate::host;
use crate::registry::ENDPOINTS;
use crate::settings::{AdminSettings, Agent, Deployment, Listen, Log, StoreSettings, Tls};
use crate::wires::Wires;

/// The file that makes a folder a deployment.
pub(crate) const FILE: &str = "forecourt.toml";
/// Bytes of the secret that signs what the operator is told: fewer could be guessed.
const SECRET_BYTES: RangeInclusive<usize> = AdminToken::BYTES_MIN..=SECRET_BYTES_MAX;
/// Bytes that the database may have at least: fewer hold no deployment's work.
const STORE_BYTES_MIN: u64 = 16 * 1024 * 1024;
/// Agents in one deployment.
pub(crate) const AGENTS_MAX: usize = 10_000;

/// Everything that the files of a deployment say.
pub(crate) struct Loaded {
    pub dir: PathBuf,
    pub deployment: Deployment,
    pub listen: Listen,
    pub tls: Tls,
    /// What opens calls on the operator's listener that change something.
    pub admin_token: Option<AdminToken>,
    /// Where the operator is told that a question waits.
    pub operator: Option<OperatorWebhook>,
    pub store: StoreSettings,
    pub log: Log,
    pub limits: LimitSettings,
    pub egress: EgressConfig,
    pub identity: IdentityConfig,
    pub http: HttpLimits,
    /// How Python functions run.
    pub functions: python::Options,
    /// The protocols, each opened from its section.
    pub wires: Wires,
    /// What holds for all endpoints together.
    pub endpoints: Section,
    pub agents: Vec<LoadedAgent>,
    /// The file's own section, for problems found later.
    pub root: Section,
}

/// One file of `agents/`.
pub(crate) struct LoadedAgent {
    pub settings: Agent,
    pub section: Section,
    pub backend: Section,
    /// Who it is to other agents.
    pub identity: AgentIdentitySettings,
}

impl Loaded {
    /// Reads the deployment in `dir`. The sockets that `flags` name are where those say.
    pub(crate) fn read(dir: &Path, environment: &dyn Environment, flags: &ListenFlags) -> Result<Self, Problems> {
        let mut problems = Problems::new();
        let top = problems.absorb(read_top(dir, environment, flags));
        let (agents, wrong) = read_agents(dir, environment);
        problems.extend(wrong);
        match top {
            Some(mut loaded) if problems.is_empty() => {
                loaded.agents = agents;
                loaded.settle()?;
                Ok(loaded)
            }
            _ => {
                problems.extend(host::backend_problems(dir, &agents));
                Err(problems)
            }
        }
    }

    /// Takes notice of where sockets were opened. `own` gives those that protocols have for themselves, by
    /// name; `None`: it is not open.
    pub(crate) fn bound(&mut self, shared: Listen, own: impl Fn(&str) -> Option<SocketAddr>) {
        self.listen = shared;
        self.wires.bound(own);
    }

    /// What only all files together decide: who is the default agent, and that no two share a name.
    fn settle(&mut self) -> Result<(), Problems> {
        let mut problems = Problems::new();
        let mut seen: HashMap<Handle, String> = HashMap::new();
        for agent in &self.agents {
            let handle = agent.settings.handle.clone();
            if let Some(other) = seen.insert(handle.clone(), agent.section.name()) {
                problems.push(agent.section.problem(None, format!("the handle `{handle}` is taken by {other}")));
            }
        }
        match (&self.deployment.default_agent, self.agents.first()) {
            (_, None) => problems.push(
                Problem::of_file(&self.dir.join("agents"), "there is no agent")
                    .hint("add a file like agents/echo.toml"),
            ),
            (Some(default), _) if !seen.contains_key(default) => {
                problems.push(self.root.problem(Some("default_agent"), format!("there is no agent `{default}`")));
            }
            (Some(_), _) => {}
            (None, Some(first)) => self.deployment.default_agent = Some(first.settings.handle.clone()),
        }
        problems.into_result(())
    }

    /// The agent that takes what nobody else is named for.
    pub(crate) fn default_agent(&self) -> &Handle {
        match &self.deployment.default_agent {
            Some(handle) => handle,
            None => &self.agents[0].settings.handle,
        }
    }

    /// The networks of proxies whose word on the client's address is taken.
    pub(crate) fn trusted_proxies(&self) -> &[ipnet::IpNet] {
        &self.deployment.trusted_proxies
    }

    /// The name of the place, for people.
    pub(crate) fn name(&self) -> &str {
        self.deployment.name.as_deref().unwrap_or(self.deployment.domain.as_str())
    }
}

fn read_top(dir: &Path, environment: &dyn Environment, flags: &ListenFlags) -> Result<Loaded, Problems> {
    let file = dir.join(FILE);
    let hint = "`forecourt init DIR` makes a working deployment";
    let text = files::text_of(&file).map_err(|problem| if file.exists() { problem } else { problem.hint(hint) })?;
    let mut root = Section::parse(&file, &text, environment)?;
    let mut problems = Problems::new();
    let listen = problems.absorb(root.take_or_empty("listen").read()).map(|listen| flags.or(listen));
    let tls = problems.absorb(read_tls(&root.take_or_empty("tls")));
    let admin = problems.absorb(read_admin(&root.take_or_empty("admin")));
    let store = problems.absorb(read_store(&root.take_or_empty("store")));
    let log = problems.absorb(root.take_or_empty("log").read());
    let limits = problems.absorb(root.take_or_empty("limits").read());
    let egress = problems.absorb(root.take_or_empty("egress").read());
    let identity = problems.absorb(root.take_or_empty("identity").read());
    let http = problems.absorb(root.take_or_empty("http").read());
    let path = std::env::var("PATH").ok();
    let functions = problems.absorb(python::Options::read(&root.take_or_empty("functions"), path));
    let endpoints = root.clone().take_or_empty(ENDPOINTS.name);
    let wires = problems.absorb(Wires::open(&mut root, |name| flags.named(name)));
    let deployment = problems.absorb(root.read::<Deployment>());
    if let Some(problem) = deployment.as_ref().and_then(|d| bad_url(&root, d)) {
        problems.push(problem);
    }
    let whole = (|| {
        let (admin_token, operator) = admin?;
        Some(Loaded {
            dir: dir.to_path_buf(),
            deployment: deployment?,
            listen: listen?,
            tls: tls?,
            admin_token,
            operator,
            store: store?,
            log: log?,
            limits: limits?,
            egress: egress?,
            identity: identity?,
            http: http?,
            functions: functions?,
            wires: wires?,
            endpoints,
            agents: Vec::new(),
            root,
        })
    })();
    match whole {
        Some(loaded) if problems.is_empty() => Ok(loaded),
        _ => Err(problems),
    }
}

fn read_store(section: &Section) -> Result<StoreSettings, Problems> {
    let store: StoreSettings = section.read()?;
    match store.size_max >= STORE_BYTES_MIN {
        true => Ok(store),
        false => Err(section.problem(Some("size_max"), format!("must be {STORE_BYTES_MIN} at least")).into()),
    }
}

fn read_tls(section: &Section) -> Result<Tls, Problems> {
    let tls: Tls = section.read()?;
    let whole = |path: &Option<PathBuf>| path.as_ref().map(|path| section.resolve_path(path));
    match (&tls.cert, &tls.key) {
        (Some(_), None) => Err(section.problem(Some("cert"), "`cert` needs `key` beside it").into()),
        (None, Some(_)) => Err(section.problem(Some("key"), "`key` needs `cert` beside it").into()),
        _ => Ok(Tls { cert: whole(&tls.cert), key: whole(&tls.key) }),
    }
}

fn read_admin(section: &Section) -> Result<(Option<AdminToken>, Option<OperatorWebhook>), Problems> {
    let AdminSettings { token, webhook, webhook_secret } = section.read()?;
    let mut problems = Problems::new();
    let token = token.and_then(|token| {
        let least = AdminToken::BYTES_MIN;
        let wrong =
            || section.problem(Some("token"), format!("a token has at least {least} characters, and no spaces"));
        problems.absorb(AdminToken::new(&token).ok_or_else(wrong))
    });
    let operator = match (webhook, webhook_secret) {
        (None, None) => None,
        (None, Some(_)) => {
            problems.push(section.problem(Some("webhook_secret"), "`webhook_secret` needs `webhook` beside it"));
            None
        }
        (Some(_), None) => {
            let problem = section.problem(Some("webhook"), "`webhook` needs `webhook_secret` beside it");
            problems.push(problem.hint("write webhook_secret = \"${FORECOURT_WEBHOOK_SECRET}\""));
            None
        }
        (Some(url), Some(secret)) => {
            if !SECRET_BYTES.contains(&secret.len()) {
                let text = format!("a secret has {} to {} bytes", SECRET_BYTES.start(), SECRET_BYTES.end());
                problems.push(section.problem(Some("webhook_secret"), text));
            }
            Some(OperatorWebhook { url, secret })
        }
    };
    problems.into_result((token, operator))
}

/// The public URL is an https origin and nothing more.
fn bad_url(root: &Section, deployment: &Deployment) -> Option<Problem> {
    let text = deployment.public_url.as_deref()?;
    let url = url::Url::parse(text).ok().filter(|url| url.scheme() == "https" && url.path() == "/");
    match url {
        Some(url) if url.query().is_none() && url.username().is_empty() => None,
        _ => Some(root.problem(Some("public_url"), "must be `https://host` with an optional port, and nothing more")),
    }
}

/// The agents that can be read, and what is wrong with the others.
fn read_agents(dir: &Path, environment: &dyn Environment) -> (Vec<LoadedAgent>, Problems) {
    let files = match files::files_in(&dir.join("agents"), AGENTS_MAX) {
        Ok(files) => files,
        Err(problem) => return (Vec::new(), problem.into()),
    };
    let mut problems = Problems::new();
    let read = files.iter().filter_map(|file| problems.absorb(read_agent(file, environment))).collect();
    (read, problems)
}

fn read_agent(file: &Path, environment: &dyn Environment) -> Result<LoadedAgent, Problems> {
    let mut section = Section::parse(file, &files::text_of(file)?, environment)?;
    let backend = section.take("backend");
    let mut problems = Problems::new();
    let identity = problems.absorb(read_identity(&section.take_or_empty("agtp")));
    let settings = problems.absorb(section.read::<Agent>());
    if backend.is_none() {
        let missing = Problem::of_file(file, "the agent has no [backend]");
        problems.push(missing.hint("add a table such as: [backend] kind = \"echo\""));
    }
    match (settings, backend, identity) {
        (Some(settings), Some(backend), Some(identity)) if problems.is_empty() => {
            Ok(LoadedAgent { settings, section, backend, identity })
        }
        _ => Err(problems),
    }
}

fn read_identity(section: &Section) -> Result<AgentIdentitySettings, Problems> {
    let settings: AgentIdentitySettings = section.read()?;
    match settings.problem() {
        Some((key, right)) => Err(section.problem(Some(key), right).into()),
        None => Ok(settings),
    }
}
