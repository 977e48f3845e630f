//! This module reads the files of a deployment, and finds everything that is wrong in any of them.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forecourt_admin::{ConsoleUrl, EntranceSettings};
use forecourt_egress::EgressConfig;
use forecourt_egress::limits::SECRET_BYTES_MAX;
use forecourt_endpoints::{Functions, policy, python};
use forecourt_host::{LimitSettings, OperatorWebhook};
use forecourt_identity::IdentityConfig;
use forecourt_identity::agents::AgentIdentitySettings;
use forecourt_pages::Pages;
use forecourt_payments::PaymentsSettings;
use forecourt_rules::CountryTable;
use forecourt_server::{AdminToken, HttpLimits};
use forecourt_settings::{
    Environment, EnvironmentOverride, MovedKey, OVERRIDE_PREFIX, Problem, Problems, Section, files, nearest,
};

use super::{AGENTS_MAX, DATA, Deployment};
use crate::agents::{AgentDefinition, Backing};
use crate::alerts::{AlertPlan, AlertProblem, check_all};
use crate::domains_file::{DomainsFile, SHARED, divided, several_instead_of_one};
use crate::meters::Meters;
use crate::oversights::{idle_questions, plain_facilitator};
use crate::payments::read_payments;
use crate::registry::PROTOCOLS;
use crate::rules::{HostRule, read_countries, read_host_rules};
use crate::settings::telemetry::Telemetry;
use crate::settings::{
    AdminSettings, AgentSettings, BusSettings, DrainSettings, FILE, Listen, ListenOverrides, Log, MonitoringSettings,
    QuestionSettings, ReloadSettings, StoreSettings, Tls, TopSettings, check_together, read_bus, read_drain,
    read_metrics, read_store,
};
use crate::wires::Wires;
use forecourt_questions::limits::KEEP_DAYS_MAX;

/// The folder of agents, and the table of variables that go before keys of its files.
pub(super) const AGENTS: &str = "agents";
/// Bytes of the secret that signs what the operator is told: fewer could be guessed.
const SECRET_BYTES: RangeInclusive<usize> = AdminToken::BYTES_MIN..=SECRET_BYTES_MAX;

/// Keys of sections that no protocol owns and that had other names.
const MOVED: &[MovedKey] = &[
    MovedKey { old: "egress.at_once", new: "egress.max_concurrent" },
    MovedKey { old: "egress.at_once_per_host", new: "egress.max_concurrent_per_host" },
];

/// The tables of a deployment's file, and of the one that several domains share, if there is one.
struct Tables {
    root: Section,
    shared: Option<Section>,
}

impl Tables {
    /// Reads the file, with what goes before its keys.
    fn open(dir: &Path, environment: &dyn Environment, beside: Option<&DomainsFile>) -> Result<Self, Problems> {
        let file = dir.join(FILE);
        let hint = "`forecourt init DIR` makes a working deployment";
        let text = files::text_of(&file).map_err(|problem| if file.exists() { problem } else { problem.hint(hint) })?;
        let mut root = Section::parse(&file, &text, environment)?;
        let mut variables = environment_overrides(environment).0;
        if beside.is_some() {
            // The others belong to the file that several domains share, which reads them itself.
            variables = divided(variables).1;
        }
        root.override_from(&variables)?;
        if let Some(problem) = several_instead_of_one(&root, &text) {
            return Err(problem.into());
        }
        root.accept_moved(MOVED);
        PROTOCOLS.iter().for_each(|protocol| root.accept_moved(protocol.moved));
        Ok(Self { root, shared: beside.map(DomainsFile::shared) })
    }

    /// A table of this domain.
    fn own(&mut self, table: &str) -> Section {
        self.root.take_or_empty(table)
    }

    /// A table of what domains share: the file says it that names them.
    fn shared(&mut self, table: &str) -> Section {
        self.shared.as_mut().unwrap_or(&mut self.root).take_or_empty(table)
    }
}

/// What of a deployment is for its operator: where it listens and keeps its state, what it logs and tells.
struct OperationSettings {
    listen: Listen,
    tls: Tls,
    operator: OperatorParts,
    store: StoreSettings,
    bus: BusSettings,
    questions: QuestionSettings,
    idle_questions: Option<Problem>,
    telemetry: Telemetry,
    log: Log,
    metrics: Option<MonitoringSettings>,
    reload: ReloadSettings,
    drain: DrainSettings,
}

/// Reads what is for the operator. Of a store and a bus that were read, whether they fit each other is told by what is
/// given beside it, at the end.
fn read_operation(
    tables: &mut Tables,
    environment: &dyn Environment,
    overrides: &ListenOverrides,
    beside: Option<&DomainsFile>,
    problems: &mut Problems,
) -> (Option<OperationSettings>, Result<(), Problems>) {
    let listen = problems.absorb(tables.shared("listen").read()).map(|listen| overrides.or(listen));
    let tls = problems.absorb(read_tls(&tables.own("tls")));
    let admin = problems.absorb(read_admin(&tables.own("admin")));
    let store = problems.absorb(read_store(&tables.own("store")));
    let bus_section = tables.own("bus");
    let bus = problems.absorb(read_bus(&bus_section));
    let asked = tables.root.take("questions");
    let idle_questions = idle_questions(asked.as_ref());
    let asked = asked.unwrap_or_else(|| Section::empty(tables.root.file(), "questions"));
    let questions = problems.absorb(read_questions(&asked));
    let telemetry = problems.absorb(Telemetry::read(&tables.shared("telemetry"), environment));
    let log = problems.absorb(read_log(&tables.shared("log"), beside));
    let metrics = problems.absorb(read_metrics(&tables.shared("metrics")));
    let reload = problems.absorb(tables.own("reload").read());
    let drain = problems.absorb(read_drain(&tables.shared("drain")));
    // Only where both could be read: else this would tell of a fault that is gone once the first one is mended.
    let fit = match (&store, &bus) {
        (Some(store), Some(bus)) => check_together(&bus_section, store, bus).map_err(Problems::from),
        _ => Ok(()),
    };
    let whole = (|| {
        Some(OperationSettings {
            listen: listen?,
            tls: tls?,
            operator: admin?,
            store: store?,
            bus: bus?,
            questions: questions?,
            idle_questions,
            telemetry: telemetry?,
            log: log?,
            metrics: metrics?,
            reload: reload?,
            drain: drain?,
        })
    })();
    (whole, fit)
}

/// What of a deployment is for its callers: what it lets in and out, what answers, and how that looks.
struct ServingSettings {
    limits: LimitSettings,
    egress: EgressConfig,
    identity: IdentityConfig,
    http: HttpLimits,
    functions: python::Options,
    endpoints: Section,
    host_rules: Vec<HostRule>,
    countries: Option<Arc<CountryTable>>,
    payments: PaymentsSettings,
    plain_facilitator: Option<Problem>,
    pages: Pages,
    wires: Wires,
}

fn read_serving(tables: &mut Tables, overrides: &ListenOverrides, problems: &mut Problems) -> Option<ServingSettings> {
    let limits = problems.absorb(tables.own("limits").read());
    let egress = problems.absorb(tables.own("egress").read());
    let identity = problems.absorb(tables.own("identity").read());
    let http = problems.absorb(tables.shared("http").read());
    let path = std::env::var("PATH").ok();
    let functions = problems.absorb(python::Options::read(&tables.own("functions"), path));
    let endpoints = tables.own(policy::SECTION);
    let host_rules = problems.absorb(read_host_rules(&mut tables.root));
    let countries = problems.absorb(read_countries(&tables.own("geo")));
    let section = tables.own("payments");
    let payments = problems.absorb(read_payments(&section));
    let both = payments.as_ref().zip(egress.as_ref());
    let plain_facilitator = both.and_then(|(payments, egress)| plain_facilitator(&section, payments, egress));
    let pages = problems.absorb(Pages::read(&tables.own("pages")));
    let wires = problems.absorb(Wires::open(&mut tables.root, |name| overrides.named(name)));
    Some(ServingSettings {
        limits: limits?,
        egress: egress?,
        identity: identity?,
        http: http?,
        functions: functions?,
        endpoints,
        host_rules: host_rules?,
        countries: countries?,
        payments: payments?,
        plain_facilitator,
        pages: pages?,
        wires: wires?,
    })
}

pub(super) fn read_top(
    dir: &Path,
    environment: &dyn Environment,
    overrides: &ListenOverrides,
    beside: Option<&DomainsFile>,
) -> Result<Deployment, Problems> {
    let mut tables = Tables::open(dir, environment, beside)?;
    let mut problems = Problems::new();
    if let Some(file) = beside {
        problems.extend(file.duplicated_tables(&tables.root));
        // Taken out after they were reported, so that they are not told a second time as unknown keys.
        SHARED.iter().for_each(|table| drop(tables.root.take(table)));
    }
    let (operation, fit) = read_operation(&mut tables, environment, overrides, beside, &mut problems);
    let serving = read_serving(&mut tables, overrides, &mut problems);
    let root = tables.root;
    let top = read_top_settings(&root, beside, &mut problems);
    problems.absorb(fit);
    match (top, operation, serving) {
        (Some(top), Some(operation), Some(serving)) if problems.is_empty() => {
            Ok(assemble(dir, root, top, operation, serving))
        }
        _ => Err(problems),
    }
}

/// The deployment of what was read, without agents yet.
fn assemble(
    dir: &Path,
    root: Section,
    top: TopSettings,
    operation: OperationSettings,
    serving: ServingSettings,
) -> Deployment {
    Deployment {
        dir: dir.to_path_buf(),
        listen: operation.listen,
        tls: operation.tls,
        entrance: operation.operator.entrance,
        editor: operation.operator.editor,
        operator: operation.operator.questions,
        alerts: operation.operator.alerts,
        store: operation.store,
        bus: operation.bus,
        log: operation.log,
        monitoring: operation.metrics,
        reload: operation.reload,
        drain: operation.drain,
        telemetry: operation.telemetry,
        meters: Meters::default(),
        limits: serving.limits,
        egress: serving.egress,
        identity: serving.identity,
        http: serving.http,
        functions: serving.functions,
        payments: serving.payments,
        pages: branded(serving.pages, &top, operation.questions.log).into(),
        questions: operation.questions,
        host_rules: serving.host_rules,
        countries: serving.countries,
        wires: serving.wires,
        endpoints: serving.endpoints,
        agents: Vec::new(),
        servers: Vec::new(),
        connectors: Vec::new(),
        hubs: Vec::new(),
        hub_lists: Arc::default(),
        open_hubs: Vec::new(),
        own_functions: Functions::new(),
        own_addresses: Vec::new(),
        data: dir.join(DATA),
        recordings: None,
        variable: |name| std::env::var(name).ok(),
        is_sandboxed: false,
        root,
        top,
        oversights: operation.idle_questions.into_iter().chain(serving.plain_facilitator).collect(),
        development: None,
    }
}

/// Pages that say whose they are, and whether answers are rated.
fn branded(mut pages: Pages, top: &TopSettings, are_rated: bool) -> Pages {
    pages.branding = pages.branding.below(top.public_path()).named(top.site_name()).rated(are_rated);
    pages
}

/// Reads what is left at the top of the file.
fn read_top_settings(root: &Section, beside: Option<&DomainsFile>, problems: &mut Problems) -> Option<TopSettings> {
    let top = problems.absorb(root.read::<TopSettings>()).map(|top| match beside {
        Some(file) => TopSettings { trusted_proxies: file.trusted_proxies().to_vec(), ..top },
        None => top,
    });
    if let Some(problem) = top.as_ref().and_then(|top| bad_url(root, top)) {
        problems.push(problem);
    }
    top
}

/// The file of the access log is named from the folder on of whoever names it.
fn read_log(section: &Section, beside: Option<&DomainsFile>) -> Result<Log, Problems> {
    let mut log: Log = section.read()?;
    if beside.is_some() {
        let whole = |file| std::path::absolute(section.resolve_path(&file)).unwrap_or(file);
        log.access_file = log.access_file.map(whole);
    }
    Ok(log)
}

fn read_questions(section: &Section) -> Result<QuestionSettings, Problems> {
    let questions: QuestionSettings = section.read()?;
    match (1..=KEEP_DAYS_MAX).contains(&questions.keep_days) {
        true => Ok(questions),
        false => {
            Err(section.problem(Some("keep_days"), format!("`keep_days` must be between 1 and {KEEP_DAYS_MAX}")).into())
        }
    }
}

fn read_tls(section: &Section) -> Result<Tls, Problems> {
    let mut tls: Tls = section.read()?;
    match (&tls.cert, &tls.key) {
        (Some(_), None) => return Err(section.problem(Some("cert"), "`cert` needs `key` beside it").into()),
        (None, Some(_)) => return Err(section.problem(Some("key"), "`key` needs `cert` beside it").into()),
        // Both would be a certificate that is ordered and never shown.
        (Some(_), Some(_)) if tls.acme.enabled == Some(true) => {
            let text = "`cert` and `key` are used, and `enabled` in [tls.acme] orders others: take one of them out";
            return Err(section.problem(Some("acme"), text).into());
        }
        _ => {}
    }
    if let Some((key, right)) = tls.acme.problem() {
        return Err(section.clone().take_or_empty("acme").problem(Some(key), right).into());
    }
    for path in [&mut tls.cert, &mut tls.key, &mut tls.acme.ca_file].into_iter().flatten() {
        *path = section.resolve_path(&*path);
    }
    Ok(tls)
}

/// The variables of the environment that go before keys of files: those for `forecourt.toml`, and those for the
/// files of agents.
fn environment_overrides(environment: &dyn Environment) -> (Vec<EnvironmentOverride>, Vec<EnvironmentOverride>) {
    let (agents, top): (Vec<_>, Vec<_>) =
        EnvironmentOverride::all(environment).into_iter().partition(|one| one.first() == AGENTS);
    (top, agents.iter().map(EnvironmentOverride::inner).collect())
}

/// What of a deployment is for its operator alone.
struct OperatorParts {
    entrance: EntranceSettings,
    editor: bool,
    /// Where the operator is told that a question waits.
    questions: Option<OperatorWebhook>,
    alerts: AlertPlan,
}

fn read_admin(section: &Section) -> Result<OperatorParts, Problems> {
    let settings: AdminSettings = section.read()?;
    let AdminSettings { token, oidc, public_url, editor, webhook, webhook_secret, alert_webhook, .. } = &settings;
    let mut problems = Problems::new();
    let token = token.as_ref().and_then(|token| {
        let least = AdminToken::BYTES_MIN;
        let wrong =
            || section.problem(Some("token"), format!("a token has at least {least} characters, and no spaces"));
        problems.absorb(AdminToken::new(token).ok_or_else(wrong))
    });
    let login = oidc.clone().and_then(|oidc| {
        let wrong = |found: Vec<(&str, String)>| {
            let (section, mut problems) = (section.clone().take_or_empty("oidc"), Problems::new());
            problems.extend(found.into_iter().map(|(key, text)| section.problem(Some(key), text)));
            problems
        };
        problems.absorb(oidc.check().map_err(wrong))
    });
    let url = public_url.as_ref().and_then(|text| {
        let wrong = |right: String| section.problem(Some("public_url"), format!("`public_url` {right}"));
        problems.absorb(ConsoleUrl::parse(text).map_err(wrong))
    });
    let entrance = EntranceSettings { token, login, url };
    let to = |url: &Option<String>| Some(OperatorWebhook { url: url.clone()?, secret: webhook_secret.clone()? });
    let (questions, told) = (to(webhook), to(alert_webhook));
    problems.extend(webhook_problems(section, &settings));
    let rules = check_all(&settings.alert, &settings.alerts_off);
    let rules = rules.unwrap_or_else(|wrong| {
        problems.extend(wrong.into_iter().map(|wrong| alert_problem(section, wrong)));
        Vec::new()
    });
    let alerts = AlertPlan { rules, webhook: told };
    problems.into_result(OperatorParts { entrance, editor: *editor, questions, alerts })
}

/// What is wrong with a rule, with its line, and that of the one that it does not go with.
fn alert_problem(section: &Section, wrong: AlertProblem) -> Problem {
    let AlertProblem { key, item, beside, text } = wrong;
    let beside = beside.and_then(|beside| section.item_problem(key, beside, "").line());
    let text = beside.map_or_else(|| text.clone(), |line| format!("{text} in line {line}"));
    match item {
        Some(item) => section.item_problem(key, item, text),
        None => section.problem(Some(key), text),
    }
}

/// What is wrong with where the operator is told, and with what signs that.
fn webhook_problems(section: &Section, settings: &AdminSettings) -> Vec<Problem> {
    let AdminSettings { webhook, alert_webhook, webhook_secret, .. } = settings;
    let Some(secret) = webhook_secret else {
        let told = [("webhook", webhook), ("alert_webhook", alert_webhook)];
        let without = told.into_iter().filter(|(_, url)| url.is_some()).map(|(key, _)| {
            let problem = section.problem(Some(key), format!("`{key}` needs `webhook_secret` beside it"));
            problem.hint("write webhook_secret = \"${FORECOURT_WEBHOOK_SECRET}\"")
        });
        return without.collect();
    };
    if webhook.is_none() && alert_webhook.is_none() {
        let text = "`webhook_secret` needs `webhook` beside it, or `alert_webhook`";
        return vec![section.problem(Some("webhook_secret"), text)];
    }
    if SECRET_BYTES.contains(&secret.len()) {
        return Vec::new();
    }
    let text = format!("a secret has {} to {} bytes", SECRET_BYTES.start(), SECRET_BYTES.end());
    vec![section.problem(Some("webhook_secret"), text)]
}

/// The public URL is an https origin with a plain path, and nothing more.
fn bad_url(root: &Section, deployment: &TopSettings) -> Option<Problem> {
    let text = deployment.public_url.as_deref()?;
    let is_bare = |url: &url::Url| {
        url.scheme() == "https" && url.query().is_none() && url.fragment().is_none() && url.username().is_empty()
    };
    match url::Url::parse(text).ok().filter(is_bare) {
        // As it is written, not as it was read: what is published is the text.
        Some(_) if is_plain_path(deployment.public_path()) => None,
        _ => Some(root.problem(
            Some("public_url"),
            "must be `https://host` with an optional port and path, such as `https://example.com/agents`, and nothing more",
        )),
    }
}

/// Whether a path is nothing that a proxy, a browser and this program could read differently.
fn is_plain_path(path: &str) -> bool {
    let plain = |segment: &str| segment.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    path.is_empty()
        || path.strip_prefix('/').is_some_and(|path| {
            path.split('/').all(|segment| !segment.is_empty() && !segment.starts_with('.') && plain(segment))
        })
}

/// The agents that can be read, and what is wrong with the others.
pub(super) fn read_agents(dir: &Path, environment: &dyn Environment) -> (Vec<AgentDefinition>, Problems) {
    let files = match files::files_in(&dir.join(AGENTS), AGENTS_MAX) {
        Ok(files) => files,
        Err(problem) => return (Vec::new(), problem.into()),
    };
    let (_, overrides) = environment_overrides(environment);
    let mut problems = unknown_agents(&overrides, &files);
    let read = files.iter().filter_map(|file| {
        let name = variable_part(file);
        let of_this = overrides.iter().filter(|one| one.first() == name).map(EnvironmentOverride::inner);
        problems.absorb(read_agent(file, environment, &of_this.collect::<Vec<_>>()))
    });
    let read = read.collect();
    (read, problems)
}

/// What the file of an agent is called in names of variables: no shell has one with a hyphen.
fn variable_part(file: &Path) -> String {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default();
    stem.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect()
}

/// Variables that name no file of an agent.
fn unknown_agents(overrides: &[EnvironmentOverride], files: &[PathBuf]) -> Problems {
    let known: Vec<String> = files.iter().map(|file| variable_part(file)).collect();
    let mut problems = Problems::new();
    for one in overrides.iter().filter(|one| !known.iter().any(|name| name == one.first())) {
        let problem = one.problem(format!("there is no file `agents/{}.toml`", one.first()));
        problems.push(match nearest(one.first(), &known) {
            Some(name) => problem.hint(format!("did you mean `{OVERRIDE_PREFIX}AGENTS__{}`?", name.to_uppercase())),
            None => problem,
        });
    }
    problems
}

fn read_agent(
    file: &Path,
    environment: &dyn Environment,
    overrides: &[EnvironmentOverride],
) -> Result<AgentDefinition, Problems> {
    let mut section = Section::parse(file, &files::text_of(file)?, environment)?;
    section.override_from(overrides)?;
    let backend = section.take("backend");
    let mut problems = Problems::new();
    let identity = problems.absorb(read_identity(&section.take_or_empty("agtp")));
    let settings = problems.absorb(section.read::<AgentSettings>());
    if backend.is_none() {
        let missing = Problem::of_file(file, "the agent has no [backend]");
        problems.push(missing.hint("add a table such as: [backend] kind = \"echo\""));
    }
    match (settings, backend, identity) {
        (Some(settings), Some(backend), Some(identity)) if problems.is_empty() => {
            let policy = section.clone().take("policy");
            let rule_places = policy.map(|mut policy| policy.take_list("rules")).unwrap_or_default();
            let backing = Backing::Section(backend);
            Ok(AgentDefinition { settings, section, backing, identity, rule_places, of_hub: None })
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
