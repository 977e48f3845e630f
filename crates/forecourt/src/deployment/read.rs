//! This module reads the files of a deployment, and finds everything that is wrong in any of them.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use forecourt_egress::limits::SECRET_BYTES_MAX;
use forecourt_endpoints::{Functions, policy, python};
use forecourt_host::OperatorWebhook;
use forecourt_identity::agents::AgentIdentitySettings;
use forecourt_pages::Pages;
use forecourt_server::AdminToken;
use forecourt_settings::{Environment, MovedKey, Problem, Problems, Section, files};

use super::{AGENTS_MAX, AgentDefinition, Backing, DATA, Deployment, FILE};
use crate::payments::read_payments;
use crate::registry::PROTOCOLS;
use crate::rules::{read_countries, read_host_rules};
use crate::settings::{
    AdminSettings, AgentSettings, ListenOverrides, QuestionSettings, StoreSettings, Tls, TopSettings,
};
use crate::wires::Wires;
use forecourt_questions::limits::KEEP_DAYS_MAX;

/// Bytes of the secret that signs what the operator is told: fewer could be guessed.
const SECRET_BYTES: RangeInclusive<usize> = AdminToken::BYTES_MIN..=SECRET_BYTES_MAX;
/// Bytes that the database may have at least: fewer hold no deployment's work.
const STORE_BYTES_MIN: u64 = 16 * 1024 * 1024;

/// Keys of sections that no protocol owns and that had other names.
const MOVED: &[MovedKey] = &[
    MovedKey { old: "egress.at_once", new: "egress.max_concurrent" },
    MovedKey { old: "egress.at_once_per_host", new: "egress.max_concurrent_per_host" },
];

pub(super) fn read_top(
    dir: &Path,
    environment: &dyn Environment,
    overrides: &ListenOverrides,
) -> Result<Deployment, Problems> {
    let file = dir.join(FILE);
    let hint = "`forecourt init DIR` makes a working deployment";
    let text = files::text_of(&file).map_err(|problem| if file.exists() { problem } else { problem.hint(hint) })?;
    let mut root = Section::parse(&file, &text, environment)?;
    root.accept_moved(MOVED);
    PROTOCOLS.iter().for_each(|protocol| root.accept_moved(protocol.moved));
    let mut problems = Problems::new();
    let listen = problems.absorb(root.take_or_empty("listen").read()).map(|listen| overrides.or(listen));
    let tls = problems.absorb(read_tls(&root.take_or_empty("tls")));
    let admin = problems.absorb(read_admin(&root.take_or_empty("admin")));
    let store = problems.absorb(read_store(&root.take_or_empty("store")));
    let questions = problems.absorb(read_questions(&root.take_or_empty("questions")));
    let log = problems.absorb(root.take_or_empty("log").read());
    let limits = problems.absorb(root.take_or_empty("limits").read());
    let egress = problems.absorb(root.take_or_empty("egress").read());
    let identity = problems.absorb(root.take_or_empty("identity").read());
    let http = problems.absorb(root.take_or_empty("http").read());
    let path = std::env::var("PATH").ok();
    let functions = problems.absorb(python::Options::read(&root.take_or_empty("functions"), path));
    let endpoints = root.take_or_empty(policy::SECTION);
    let host_rules = problems.absorb(read_host_rules(&mut root));
    let countries = problems.absorb(read_countries(&root.take_or_empty("geo")));
    let payments = problems.absorb(read_payments(&root.take_or_empty("payments")));
    let pages = problems.absorb(Pages::read(&root.take_or_empty("pages")));
    let wires = problems.absorb(Wires::open(&mut root, |name| overrides.named(name)));
    let deployment = problems.absorb(root.read::<TopSettings>());
    if let Some(problem) = deployment.as_ref().and_then(|d| bad_url(&root, d)) {
        problems.push(problem);
    }
    let whole = (|| {
        let (admin_token, operator) = admin?;
        Some(Deployment {
            dir: dir.to_path_buf(),
            top: deployment?,
            listen: listen?,
            tls: tls?,
            admin_token,
            operator,
            store: store?,
            questions: questions?,
            log: log?,
            limits: limits?,
            egress: egress?,
            identity: identity?,
            http: http?,
            functions: functions?,
            payments: payments?,
            pages: pages?.into(),
            host_rules: host_rules?,
            countries: countries?,
            wires: wires?,
            endpoints,
            agents: Vec::new(),
            own_functions: Functions::new(),
            own_addresses: Vec::new(),
            data: dir.join(DATA),
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
fn bad_url(root: &Section, deployment: &TopSettings) -> Option<Problem> {
    let text = deployment.public_url.as_deref()?;
    let url = url::Url::parse(text).ok().filter(|url| url.scheme() == "https" && url.path() == "/");
    match url {
        Some(url) if url.query().is_none() && url.username().is_empty() => None,
        _ => Some(root.problem(Some("public_url"), "must be `https://host` with an optional port, and nothing more")),
    }
}

/// The agents that can be read, and what is wrong with the others.
pub(super) fn read_agents(dir: &Path, environment: &dyn Environment) -> (Vec<AgentDefinition>, Problems) {
    let files = match files::files_in(&dir.join("agents"), AGENTS_MAX) {
        Ok(files) => files,
        Err(problem) => return (Vec::new(), problem.into()),
    };
    let mut problems = Problems::new();
    let read = files.iter().filter_map(|file| problems.absorb(read_agent(file, environment))).collect();
    (read, problems)
}

fn read_agent(file: &Path, environment: &dyn Environment) -> Result<AgentDefinition, Problems> {
    let mut section = Section::parse(file, &files::text_of(file)?, environment)?;
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
            Ok(AgentDefinition { settings, section, backing: Backing::Section(backend), identity })
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
