//! The rules before each agent: those of the host, then its own, with everything that is wrong in any of them.

use std::path::Path;
use std::sync::Arc;

use forecourt_core::Site;
use forecourt_core::policy::OfferBuilder;
use forecourt_core::{Glob, Handle, SystemClock};
use forecourt_host::{ServerGuard, ServerRule};
use forecourt_identity::IdentityConfig;
use forecourt_rules::guard::Guardrail;
use forecourt_rules::limits::{COUNTRY_FILE_BYTES_MAX, RULE_PATHS_MAX, RULES_MAX};
use forecourt_rules::{
    BuiltRule, CountryTable, GuardServices, HostRuleSettings, PossibleProofs, RuleContext, RuleKind, RuleProblem,
    RuleServices, RuleSettings, doubts, guardrails, rules,
};
use forecourt_settings::{Problem, Problems, Section, files};
use forecourt_surface::agent_path::normal_path;

use crate::agents::AgentDefinition;
use crate::payments::Payments;
use crate::registry::sign_in_path;
use crate::servers::ServerFile;
use crate::settings::GeoSettings;

/// A rule of the host with the place in its file.
#[derive(Clone)]
pub(crate) struct HostRule {
    pub settings: HostRuleSettings,
    pub section: Section,
}

/// Reads the rules of the host: the list `policy` of the file.
pub(crate) fn read_host_rules(root: &mut Section) -> Result<Vec<HostRule>, Problems> {
    let mut problems = Problems::new();
    let sections = root.take_list("policy").into_iter();
    let read = sections.filter_map(|section| {
        let settings = problems.absorb(section.read())?;
        Some(HostRule { settings, section })
    });
    let read = read.collect();
    problems.into_result(read)
}

/// Reads the table of countries, if there is one.
pub(crate) fn read_countries(section: &Section) -> Result<Option<Arc<CountryTable>>, Problems> {
    let GeoSettings { countries_file } = section.read()?;
    let Some(path) = countries_file else { return Ok(None) };
    let path = section.resolve_path(path);
    let unreadable = |reason: String| section.problem(Some("countries_file"), format!("{}: {reason}", path.display()));
    let bytes = files::bytes_of(&path, COUNTRY_FILE_BYTES_MAX).map_err(unreadable)?;
    let text = String::from_utf8(bytes).map_err(|_| unreadable("not UTF-8".to_owned()))?;
    let table = CountryTable::parse(&text).map_err(|error| in_line(&path, &text, error.line, &error.message))?;
    Ok(Some(Arc::new(table)))
}

fn in_line(path: &Path, text: &str, line: usize, message: &str) -> Problem {
    let excerpt: String = text.lines().nth(line - 1).unwrap_or_default().chars().take(120).collect();
    Problem::of_line(path, line, excerpt, message)
}

/// Builds the rules before agents.
pub(crate) struct RuleBuilder<'a> {
    pub host: &'a [HostRule],
    pub site: &'a Site,
    pub services: RuleServices,
    pub countries: Option<Arc<CountryTable>>,
    pub offers: Vec<Arc<dyn OfferBuilder>>,
    /// Whether people can sign in.
    pub signs_in: bool,
    /// What guardrails are built from.
    pub guards: GuardServices,
    /// What callers can bring at all.
    pub possible: PossibleProofs,
}

/// What stands before one server.
#[derive(Default)]
pub(crate) struct ServerRules {
    pub rules: Vec<ServerRule>,
    pub guards: Vec<ServerGuard>,
}

/// The rules before one agent, and what they want in a line each.
#[derive(Default)]
pub(crate) struct AgentRules {
    pub rules: Vec<BuiltRule>,
    pub guards: Vec<Arc<Guardrail>>,
    pub summaries: Vec<String>,
    /// Whether one of them wants a bearer token.
    pub wants_token: bool,
}

impl<'a> RuleBuilder<'a> {
    pub(crate) fn new(
        host: &'a [HostRule],
        site: &'a Site,
        countries: Option<Arc<CountryTable>>,
        offers: Vec<Arc<dyn OfferBuilder>>,
    ) -> Self {
        let guards = GuardServices::default();
        let (services, possible) = (RuleServices::default(), PossibleProofs::default());
        Self { host, site, services, countries, offers, signs_in: false, guards, possible }
    }

    /// Fails when a rule of the host names an agent, or a server, that is not there.
    pub(crate) fn check_names(&self, agents: &[AgentDefinition], servers: &[ServerFile]) -> Result<(), Problems> {
        let mut problems = Problems::new();
        let is_agent = |handle: &Handle| agents.iter().any(|agent| agent.settings.handle == *handle);
        let is_server = |handle: &Handle| servers.iter().any(|server| server.name == *handle);
        let is_known = |handle: &&Handle| is_agent(handle) || is_server(handle);
        for rule in self.host {
            for (key, named) in [("agents", &rule.settings.agents), ("except", &rule.settings.except)] {
                if let Some(handle) = named.iter().find(|handle| !is_known(handle)) {
                    problems.push(rule.section.problem(Some(key), format!("there is no agent `{handle}`")));
                }
            }
        }
        problems.into_result(())
    }

    /// The rules that nobody can ever meet, of the host and of each agent and server, each where it is written.
    pub(crate) fn doubts(&self, agents: &[AgentDefinition], servers: &[ServerFile]) -> Vec<Problem> {
        let of_host = self.host.iter().map(|rule| (&rule.settings.rule, &rule.section));
        let of_agents = agents.iter().flat_map(|agent| {
            let place = |index: usize| agent.rule_places.get(index).unwrap_or(&agent.section);
            agent.settings.policy.rules.iter().enumerate().map(move |(index, rule)| (rule, place(index)))
        });
        let of_servers = servers.iter().flat_map(|server| &server.rules).map(|(rule, place)| (&rule.rule, place));
        let all = of_host.chain(of_agents).chain(of_servers);
        let told = |(rule, section): (&RuleSettings, &Section)| {
            doubts(rule, &self.possible).iter().map(|doubt| place(section, doubt)).collect::<Vec<_>>()
        };
        all.flat_map(told).collect()
    }

    /// The rules before an agent: the host's, then its own. Fails with everything that is wrong.
    pub(crate) fn build(&self, agent: &AgentDefinition) -> Result<AgentRules, Problems> {
        let handle = &agent.settings.handle;
        let mut problems = Problems::new();
        let mut built = AgentRules::default();
        for (index, rule) in self.host.iter().enumerate().filter(|(_, rule)| rule.settings.is_before(handle)) {
            let of_host = std::slice::from_ref(&rule.settings.rule);
            let section = |_| rule.section.clone();
            built.add(of_host, &self.context(handle, format!("host{index}")), section, &mut problems);
        }
        // Behind those of the host: the first refusal stands, and an agent's file must not come before the host's
        // rules.
        let own = &agent.settings.policy.rules;
        let section = |index: usize| agent.rule_places.get(index).unwrap_or(&agent.section).clone();
        built.add(own, &self.context(handle, format!("@{handle}")), section, &mut problems);
        problems.into_result(built)
    }

    /// The rules and guardrails before a server: the host's, then its own. Fails with everything that is wrong.
    pub(crate) fn build_server(&self, server: &ServerFile) -> Result<ServerRules, Problems> {
        let name = &server.name;
        let mut problems = Problems::new();
        let of_host = self.host.iter().enumerate().filter(|(_, rule)| rule.settings.is_before(name));
        let of_host = of_host.map(|(index, rule)| {
            let tools: &[Glob] = &[];
            (format!("host{index}"), tools, &rule.settings.rule, &rule.section)
        });
        let own = server.rules.iter().enumerate();
        let own = own.map(|(index, (rule, place))| (format!("@{name}{index}"), &*rule.tools, &rule.rule, place));
        let mut built = ServerRules::default();
        for (scope, tools, settings, section) in of_host.chain(own) {
            if built.rules.len() + built.guards.len() == RULES_MAX {
                let text = format!("{RULES_MAX} rules stand before a server at most");
                problems.push(section.problem(None, text));
                break;
            }
            // Clients of servers sign in by themselves: there is no page of one.
            let context = RuleContext { sign_in: None, ..self.context(name, scope) };
            if let Err(wrong) = built.add(settings, tools, &context) {
                wrong.into_iter().for_each(|problem| problems.push(place(section, &problem)));
            }
        }
        problems.into_result(built)
    }

    /// The rules before pages, in their order, each before its paths. Fails with everything that is wrong.
    pub(crate) fn build_pages(&self, name: &Handle) -> Result<Vec<ServerRule>, Problems> {
        let mut problems = Problems::new();
        let mut built = ServerRules::default();
        let before = |rule: &&HostRule| !rule.settings.paths.is_empty();
        for (index, HostRule { settings, section }) in self.host.iter().enumerate().filter(|(_, rule)| before(rule)) {
            if let Some((key, wrong)) = wrong_paths(settings) {
                problems.push(section.problem(Some(key), wrong));
                continue;
            }
            // People in a browser meet no such rule: there is no page for them to sign in.
            let context = RuleContext { sign_in: None, ..self.context(name, format!("pages{index}")) };
            if let Err(wrong) = built.add(&of_page(&settings.rule), &settings.paths, &context) {
                wrong.into_iter().for_each(|problem| problems.push(place(section, &problem)));
            }
        }
        problems.into_result(built.rules)
    }

    fn context<'b>(&'b self, agent: &'b Handle, scope: String) -> RuleContext<'b> {
        RuleContext {
            site: self.site,
            agent,
            scope,
            services: self.services.clone(),
            countries: self.countries.clone(),
            offers: &self.offers,
            sign_in: self.signs_in.then(|| self.site.url(&sign_in_path(&format!("/~{agent}")))),
            clock: Arc::new(SystemClock),
            guards: self.guards.clone(),
        }
    }
}

impl ServerRules {
    /// Adds what a rule makes, before these tools.
    fn add(
        &mut self,
        settings: &RuleSettings,
        tools: &[Glob],
        context: &RuleContext<'_>,
    ) -> Result<(), Vec<RuleProblem>> {
        let settings = std::slice::from_ref(settings);
        let made = rules(settings, context)?;
        self.rules.extend(made.into_iter().map(|rule| ServerRule { tools: tools.to_vec(), rule }));
        let made = guardrails(settings, context)?;
        self.guards.extend(made.into_iter().map(|guard| ServerGuard { tools: tools.to_vec(), guard }));
        Ok(())
    }
}

impl AgentRules {
    fn add(
        &mut self,
        settings: &[RuleSettings],
        context: &RuleContext<'_>,
        section: impl Fn(usize) -> Section,
        problems: &mut Problems,
    ) {
        self.wants_token |= settings.iter().any(RuleSettings::wants_token);
        self.summaries.extend(settings.iter().map(RuleSettings::summary));
        match rules(settings, context) {
            Ok(built) => self.rules.extend(built),
            Err(wrong) => wrong.into_iter().for_each(|problem| problems.push(place(&section(problem.index), &problem))),
        }
        match guardrails(settings, context) {
            Ok(built) => self.guards.extend(built),
            Err(wrong) => wrong.into_iter().for_each(|problem| problems.push(place(&section(problem.index), &problem))),
        }
    }
}

/// What callers can bring to this host at all.
pub(crate) fn possible_proofs(identity: &IdentityConfig, payments: &Payments) -> PossibleProofs {
    PossibleProofs {
        issuers: identity.issuers().map(str::to_owned).collect(),
        subject_prefixes: identity.subject_prefixes().collect(),
        payment_families: payments.families(),
    }
}

/// A rule in the words of a page, where the operator wrote none: its own speak of an agent.
fn of_page(rule: &RuleSettings) -> RuleSettings {
    let mut rule = rule.clone();
    if rule.words.message.is_none() {
        rule.words.message = match &rule.kind {
            RuleKind::RequirePayment(payment) => Some(format!("This page costs crawlers {}.", payment.price)),
            RuleKind::Deny(_) => Some("This page is not for crawlers such as you.".to_owned()),
            _ => None,
        };
    }
    rule
}

/// What is wrong with a rule before pages, and at which key.
fn wrong_paths(settings: &HostRuleSettings) -> Option<(&'static str, String)> {
    let HostRuleSettings { agents, except, paths, rule } = settings;
    if rule.scope.bots.is_empty() {
        return Some(("paths", "such a rule names `bots`: people in a browser meet none".to_owned()));
    }
    if !agents.is_empty() || !except.is_empty() {
        return Some(("paths", "a rule stands before pages or before agents: write two".to_owned()));
    }
    if paths.len() > RULE_PATHS_MAX {
        return Some(("paths", format!("has {RULE_PATHS_MAX} patterns at most")));
    }
    let is_path = |path: &&Glob| !path.as_str().starts_with(['/', '*']);
    if let Some(path) = paths.iter().find(is_path) {
        return Some(("paths", format!("`{path}` begins with `/`, as paths do")));
    }
    // Each spelling of a path is held against them as this one.
    let normal = |path: &Glob| normal_path(path.as_str()).into_owned();
    let path = paths.iter().find(|path| normal(path) != path.as_str())?;
    Some(("paths", format!("`{path}` is written `{}`, and stands for each spelling of it", normal(path))))
}

fn place(section: &Section, problem: &RuleProblem) -> Problem {
    section.problem(problem.key, format!("[{}] {problem}", section.table_name()))
}
