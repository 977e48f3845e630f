//! The servers behind a deployment: their files, and the gate before each.

use std::path::Path;
use std::sync::Arc;

use forecourt_agents::Context;
use forecourt_agents::siblings::Siblings;
use forecourt_agents::usage::NoUsage;
use forecourt_core::{AgentCard, Handle, Language, Site, SystemClock};
use forecourt_egress::Egress;
use forecourt_host::{ServerGate, SystemEntropy};
use forecourt_rules::ServerRuleSettings;
use forecourt_settings::{Environment, Problem, Problems, Section, files};
use forecourt_surface::{SERVERS, ServerDefinition};

use crate::deployment::Deployment;
use crate::rules::RuleBuilder;

/// Files of servers in one deployment.
const FILES_MAX: usize = 1_000;

/// A server behind the deployment: a file of `servers/`.
pub(crate) struct ServerFile {
    /// Its name: that of the file.
    pub name: Handle,
    /// What the file says but for its rules.
    pub section: Section,
    /// The rules before it, each with its place.
    pub rules: Vec<(ServerRuleSettings, Section)>,
}

/// The servers that can be read, and what is wrong with the others.
pub(crate) fn read_servers(folder: &Path, environment: &dyn Environment) -> (Vec<ServerFile>, Problems) {
    let files = match files::files_in(&folder.join(SERVERS), FILES_MAX) {
        Ok(files) => files,
        Err(problem) => return (Vec::new(), problem.into()),
    };
    let mut problems = Problems::new();
    let read = files.iter().filter_map(|file| problems.absorb(read_server(file, environment))).collect();
    (read, problems)
}

fn read_server(file: &Path, environment: &dyn Environment) -> Result<ServerFile, Problems> {
    let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let named = Handle::parse(stem).ok().filter(|name| name.as_str() == stem);
    let name = named.ok_or_else(|| {
        let problem = Problem::of_file(file, format!("`{stem}` is no name of a server, which is that of its file"));
        problem.hint("call the file by 1 to 30 of a-z, 0-9, `_` and `-`, such as servers/weather.toml")
    })?;
    let mut section = Section::parse(file, &files::text_of(file)?, environment)?;
    let mut problems = Problems::new();
    let rules = section.take_list("policy").into_iter();
    let rules = rules.filter_map(|rule| Some((problems.absorb(rule.read())?, rule))).collect();
    problems.into_result(ServerFile { name, section, rules })
}

/// The definitions of the servers of a deployment, each behind its gate. Fails with everything that is wrong with the
/// rules.
pub(crate) fn definitions(
    deployment: &Deployment,
    files: Vec<ServerFile>,
    site: &Site,
    egress: &Egress,
    rules: &RuleBuilder<'_>,
) -> Result<Vec<ServerDefinition>, Problems> {
    let mut problems = Problems::new();
    let define = |file: ServerFile| {
        let rules = problems.absorb(rules.build_server(&file))?;
        let gate = ServerGate::new(Arc::new(card(&file.name, site)), rules);
        let context = context(&file.name, deployment, site, egress);
        Some(ServerDefinition { name: file.name, section: file.section, gate, context })
    };
    let defined = files.into_iter().filter_map(define).collect();
    problems.into_result(defined)
}

/// What is said of a server where something is issued for it, such as a consent.
fn card(name: &Handle, site: &Site) -> AgentCard {
    AgentCard {
        address: site.address(name),
        name: name.to_string(),
        description: format!("The server `{name}` behind {}.", site.name),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        icon: None,
        skills: Vec::new(),
        input_modes: Vec::new(),
        output_modes: Vec::new(),
        homepage: None,
        language: Language::english(),
        streams: false,
        uses_tools: false,
        remembers: false,
        composes: false,
        finds: false,
        wants_token: false,
        cors: false,
        cache_control: None,
        examples: Vec::new(),
        endpoints: Vec::new(),
    }
}

fn context(name: &Handle, deployment: &Deployment, site: &Site, egress: &Egress) -> Context {
    Context {
        handle: name.clone(),
        host: site.canonical_host().to_owned(),
        language: Language::english(),
        folder: deployment.dir.clone(),
        data_dir: deployment.data.clone(),
        clock: Arc::new(SystemClock),
        entropy: Arc::new(SystemEntropy),
        egress: egress.clone(),
        path_variable: std::env::var("PATH").ok(),
        variable: |name| std::env::var(name).ok(),
        budget: Default::default(),
        usage: Arc::new(NoUsage),
        endpoints: Vec::new(),
        siblings: Siblings::default(),
        goes_on: false,
        builtin: Vec::new(),
    }
}
