//! A house: everything that a deployment is while it is served, built and checked, without a socket and
//! without a store. A server is put to work with one, and is given another one while it works.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use forecourt_agents::budget::BudgetSettings;
use forecourt_agents::siblings::Siblings;
use forecourt_agents::tool::EndpointTool;
use forecourt_agents::usage::UsageRecorder;
use forecourt_agents::{BuiltAgent, Context, IndexedContent};
use forecourt_contract::Dispatcher;
use forecourt_core::Site;
use forecourt_core::agent::Icon;
use forecourt_core::{AgentCard, Handle, Policy};
use forecourt_egress::Egress;
use forecourt_host::HostedAgent;
use forecourt_identity::agents::AgentIdentitySettings;
use forecourt_identity::bots::KnownBots;
use forecourt_questions::QuestionLog;
use forecourt_rules::RuleServices;
use forecourt_settings::{Problem, Problems};

use crate::agents::{AgentDefinition, Backing, attachable, build, context, siblings};
pub use crate::content::Content;
use crate::crawl::{Crawl, CrawlTerms};
use crate::crawl_doubts;
use crate::deployment::Deployment;
use crate::development::{Development, PricedUsage};
use crate::endpoints::Endpoints;
use crate::guards;
use crate::hubs::{self, Places};
use crate::inspect;
use crate::manual;
use crate::operated;
use crate::payments::Payments;
use crate::questions;
use crate::rules::{AgentRules, HostRule, RuleBuilder, possible_proofs};
use crate::server_gates;
use crate::wires::Wires;

/// A deployment, built: its agents with their rules, its endpoints, and everything that protocols are set up
/// from.
pub struct House {
    pub(crate) deployment: Deployment,
    pub(crate) site: Site,
    pub(crate) egress: Arc<Egress>,
    pub(crate) agents: Vec<HostedAgent>,
    /// What leads the agents' rules to the host's counters.
    pub(crate) rules: RuleServices,
    /// How they are paid.
    pub(crate) payments: Payments,
    /// What the rules say to crawlers.
    pub(crate) crawl: Arc<Crawl>,
    /// What the rules before agents want, in their order.
    rule_summaries: Vec<(Handle, Vec<String>)>,
    rule_doubts: Vec<Problem>,
    /// Who the agents are to other agents, by the order of the agents.
    pub(crate) identities: Vec<(Handle, AgentIdentitySettings)>,
    pub(crate) endpoints: Endpoints,
    pub(crate) contents: Vec<Content>,
    /// What agents' models may use, of those whose files bound it.
    pub(crate) budgets: Vec<(Handle, BudgetSettings)>,
    /// What people ask.
    pub(crate) questions: Option<Arc<QuestionLog>>,
}

impl House {
    /// Builds every agent and every endpoint.
    pub(crate) fn build(mut deployment: Deployment) -> Result<Self, Problems> {
        let site = site(&deployment);
        let egress = egress(&deployment, &site)?;
        front_hubs(&mut deployment, &site, &egress)?;
        deployment.settle()?;
        operated::check_login(&deployment, &egress)?;
        let endpoints = Endpoints::load(&deployment, &egress)?;
        let mut problems = Problems::new();
        let siblings = siblings(&deployment.agents, &site, endpoints.host.clone());
        let host_rules = std::mem::take(&mut deployment.host_rules);
        let payments = Payments::new(&deployment.payments, &egress, &deployment.root)?;
        let rules = rule_builder(&mut deployment, &host_rules, &site, &egress, &payments);
        problems.absorb(rules.check_names(&deployment.agents, &deployment.servers));
        let mut rule_doubts = rules.doubts(&deployment.agents, &deployment.servers);
        let crawl = problems.absorb(crawl_of(&deployment, &host_rules, &rules, &site));
        rule_doubts.extend(crawl_doubts(&deployment, &host_rules, crawl.as_deref()));
        let servers = std::mem::take(&mut deployment.servers);
        let servers = problems.absorb(server_gates::definitions(&deployment, servers, &site, &egress, &rules));
        problems.absorb(deployment.set_definitions(servers.unwrap_or_default()));
        let questions = questions::log(&deployment.questions, &deployment.data);
        // What its file says of an agent is of no use once it is built, and there may be thousands.
        let definitions = std::mem::take(&mut deployment.agents);
        let mut built = AgentsOfHouse::with_capacity(definitions.len());
        let tools = endpoints.tools();
        let builder = AgentBuilder {
            deployment: &deployment,
            site: &site,
            egress: &egress,
            rules: &rules,
            siblings: &siblings,
            tools: &tools,
            questions: questions.as_ref(),
        };
        for agent in definitions {
            builder.add(agent, &mut built).unwrap_or_else(|wrong| add_new(&mut problems, &wrong));
        }
        if !problems.is_empty() {
            // Broken endpoints alone do not stop a start, so they are told as problems only where something else does.
            problems.extend(endpoints.refused.clone());
        }
        let (egress, rules) = (Arc::new(egress), rules.services.clone());
        let AgentsOfHouse { hosted: agents, contents, budgets, identities, rule_summaries, .. } = built;
        let whole = Self {
            deployment,
            site,
            egress,
            agents,
            rules,
            payments,
            crawl: crawl.unwrap_or_default(),
            rule_summaries,
            rule_doubts,
            identities,
            endpoints,
            contents,
            budgets,
            questions,
        };
        problems.into_result(whole)
    }

    /// What the outside calls it.
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// The content behind its agents, which is indexed before it is served.
    pub fn contents(&self) -> &[Content] {
        &self.contents
    }

    /// What people ask, where the operator turned that on.
    pub fn questions(&self) -> Option<&Arc<QuestionLog>> {
        self.questions.as_ref()
    }

    /// The endpoints, and what calls of them are held against.
    pub fn endpoints(&self) -> &Arc<Dispatcher> {
        &self.endpoints.contract
    }

    /// The rules before each agent that has any, in the order in which they are asked, in a line each.
    pub fn rules(&self) -> &[(Handle, Vec<String>)] {
        &self.rule_summaries
    }

    /// Rules that nobody can ever meet, each where it is written.
    pub fn rule_doubts(&self) -> &[Problem] {
        &self.rule_doubts
    }

    /// The files of endpoints and recipes that were left out, and why. The others are served.
    pub fn refused_endpoints(&self) -> &Problems {
        &self.endpoints.refused
    }

    /// Settings of endpoints that have no effect, in a sentence each.
    pub fn endpoint_notices(&self) -> &[String] {
        &self.endpoints.doubtful
    }

    /// What others would miss who reach its agents over one of the protocols, in a sentence each.
    pub fn wire_doubts(&self) -> Vec<String> {
        let cards: Vec<_> = self.agents.iter().map(|agent| agent.card.as_ref()).collect();
        self.deployment.wires.doubts(&self.site, &cards)
    }

    /// The agents that can be reached over a protocol.
    pub fn cards_over(&self, protocol: &str) -> Vec<&AgentCard> {
        let cards = self.agents.iter().map(|agent| agent.card.as_ref());
        cards.filter(|card| self.deployment.wires.reach(protocol, &self.site, card)).collect()
    }

    /// Content that is not there, or that can't be read.
    pub fn content_problems(&self) -> Problems {
        inspect::contents(&self.contents)
    }

    /// Files of its content that can't be read as what they are. Reads them, within bounds.
    pub fn content_errors(&self) -> Problems {
        inspect::file_errors(&self.contents)
    }

    /// What is worth knowing about the content though nothing is wrong with it, in a sentence each: files that are
    /// not read, documents that nothing can lead to.
    pub fn content_notices(&self) -> Vec<String> {
        let told = |content: &Content| {
            let handle = content.handle.clone();
            content.indexing.notices().into_iter().map(move |notice| format!("@{handle}: {notice}"))
        };
        self.contents.iter().flat_map(told).collect()
    }

    /// Where words of the deployment take the place of those of the program, in a sentence each.
    pub fn word_notices(&self) -> Vec<String> {
        let mut told: Vec<String> = Vec::new();
        for notice in self.contents.iter().flat_map(|content| content.indexing.word_notices()) {
            // Agents share the words of their deployment.
            if !told.contains(&notice) {
                told.push(notice);
            }
        }
        told
    }

    /// Content that has no index yet, and is not there or can't be read: nothing could be answered from it.
    pub fn missing_content(&self) -> Problems {
        inspect::contents(self.contents.iter().filter(|content| content.indexing.items() == 0))
    }

    /// Unpacks what the program carries in itself for agents to answer from, into the data folder.
    pub fn unpack_manual(&self) -> std::io::Result<PathBuf> {
        manual::unpack(&self.deployment.data).map(|()| manual::folder(&self.deployment.data))
    }
}

fn rule_builder<'a>(
    deployment: &mut Deployment,
    host_rules: &'a [HostRule],
    site: &'a Site,
    egress: &Egress,
    payments: &Payments,
) -> RuleBuilder<'a> {
    RuleBuilder {
        signs_in: deployment.identity.oidc.is_some(),
        guards: guards::services(egress, deployment.meters.models.clone()),
        possible: possible_proofs(&deployment.identity, payments),
        ..RuleBuilder::new(host_rules, site, deployment.countries.take(), payments.offer_builders())
    }
}

/// The name under which it is kept what crawlers were asked for at pages, which are no agent's. An agent may be called so,
/// too: what is asked for is told apart by its terms.
const PAGES: &str = "pages";

/// What the rules say to crawlers, and the rules before pages.
fn crawl_of(
    deployment: &Deployment,
    host_rules: &[HostRule],
    rules: &RuleBuilder<'_>,
    site: &Site,
) -> Result<Arc<Crawl>, Problems> {
    let known = known_bots(deployment);
    let pages = Handle::parse(PAGES).map_err(|_| Problems::from(deployment.root.problem(None, "no handle")))?;
    let gate = rules.build_pages(&pages)?;
    let of_agents = deployment.agents.iter().flat_map(|agent| {
        let handle = &agent.settings.handle;
        agent.settings.policy.rules.iter().map(move |rule| (handle, rule))
    });
    let terms = CrawlTerms::new(host_rules.iter().map(|rule| &rule.settings), of_agents, known);
    let description = format!("Pages of {}.", site.name);
    let card = AgentCard { name: site.name.clone(), description, ..server_gates::card(&pages, site) };
    Ok(Arc::new(Crawl::new(terms, gate, card)))
}

/// The crawlers that are known by name. What is wrong with those of the operator is told where proofs are set up.
fn known_bots(deployment: &Deployment) -> KnownBots {
    KnownBots::new(&deployment.identity.bots).unwrap_or_default()
}

fn crawl_doubts(deployment: &Deployment, host_rules: &[HostRule], crawl: Option<&Crawl>) -> Vec<Problem> {
    let Some(crawl) = crawl else { return Vec::new() };
    crawl_doubts::doubts(&crawl.terms, host_rules, &known_bots(deployment), &deployment.dir)
}

/// The agents of a house, as they are built one after another.
struct AgentsOfHouse {
    hosted: Vec<HostedAgent>,
    contents: Vec<Content>,
    budgets: Vec<(Handle, BudgetSettings)>,
    identities: Vec<(Handle, AgentIdentitySettings)>,
    rule_summaries: Vec<(Handle, Vec<String>)>,
    /// Which agent has which place in an engine outside.
    engine_places: HashMap<String, Handle>,
}

impl AgentsOfHouse {
    fn with_capacity(count: usize) -> Self {
        Self {
            hosted: Vec::with_capacity(count),
            contents: Vec::new(),
            budgets: Vec::new(),
            identities: Vec::with_capacity(count),
            rule_summaries: Vec::new(),
            engine_places: HashMap::new(),
        }
    }

    /// Notes where an engine outside keeps the items of an agent. Fails where it keeps those of another one: each would
    /// remove what the other has.
    fn claim_engine(&mut self, agent: &AgentDefinition, indexing: &dyn IndexedContent) -> Result<(), Problems> {
        let Some(place) = indexing.engine_place() else { return Ok(()) };
        let Some(other) = self.engine_places.get(place) else {
            self.engine_places.insert(place.to_owned(), agent.settings.handle.clone());
            return Ok(());
        };
        let told = format!("{place} keeps the items of @{other} already, and the agents would remove each other's");
        let problem = match &agent.backing {
            Backing::Section(section) => section.problem(Some("engine"), told),
            Backing::Program(_) => agent.section.problem(None, told),
        };
        Err(problem.hint("name another table or index in `name` of `[backend.engine]`").into())
    }
}

/// What every agent is built with.
struct AgentBuilder<'a> {
    deployment: &'a Deployment,
    site: &'a Site,
    egress: &'a Egress,
    rules: &'a RuleBuilder<'a>,
    siblings: &'a Siblings,
    tools: &'a [EndpointTool],
    questions: Option<&'a Arc<QuestionLog>>,
}

impl AgentBuilder<'_> {
    /// Builds an agent with its rules and adds it to `all`. Fails with everything that is wrong with it.
    fn add(&self, agent: AgentDefinition, all: &mut AgentsOfHouse) -> Result<(), Problems> {
        let mut problems = Problems::new();
        let context = Context {
            siblings: self.siblings.clone(),
            endpoints: self.tools.to_vec(),
            usage: self.usage(),
            variable: self.deployment.variable,
            ..context(&agent, &self.deployment.dir, self.site, self.egress, &self.deployment.data)
        };
        let built = problems.absorb(build(&agent.backing, &context).and_then(|built| attachable(&agent, built)));
        let rules = problems.absorb(self.rules.build(&agent));
        let (Some(built), Some(AgentRules { rules, guards, summaries, wants_token })) = (built, rules) else {
            return Err(problems);
        };
        if !summaries.is_empty() {
            all.rule_summaries.push((agent.settings.handle.clone(), summaries));
        }
        if let Some(indexing) = built.indexing.clone() {
            all.claim_engine(&agent, &*indexing)?;
            all.contents.push(Content { handle: agent.settings.handle.clone(), indexing });
        }
        if !agent.settings.budget.is_empty() {
            all.budgets.push((agent.settings.handle.clone(), agent.settings.budget.clone()));
        }
        let mut card = AgentCard { wants_token, ..card(&agent, self.site, &built, &self.deployment.wires) };
        card.via.extend(agent.of_hub.iter().flat_map(|hub| hub.via.iter().cloned()));
        let card = Arc::new(card);
        let time_max = Duration::from_secs(agent.settings.timeout_seconds.get().into());
        let (finds, handle) = (built.finds, &agent.settings.handle);
        let agent_inside = match self.questions {
            Some(log) => questions::logged(built, log),
            None => built.agent,
        };
        let agent_inside = match finds {
            true => self.deployment.meters.unfound.counted(handle, agent_inside),
            false => agent_inside,
        };
        let watched = self.deployment.development.as_ref().map(|_| Development::first_rule());
        let rules = watched.into_iter().chain(rules).collect();
        let hosted = HostedAgent::new(card, agent_inside, Policy::new(rules), time_max);
        let hosted = hosted.showing_usage(agent.settings.show_usage).whose_lost_tasks(agent.settings.on_lost);
        let hosted = hosted.asked_once(agent.settings.once);
        all.hosted.push(hosted.guarded(guards));
        all.identities.push((agent.settings.handle, agent.identity));
        Ok(())
    }

    /// Who is told what models use.
    fn usage(&self) -> Arc<dyn UsageRecorder> {
        let models = self.deployment.meters.models.clone();
        match self.deployment.development {
            Some(_) => Arc::new(PricedUsage(models)),
            None => models,
        }
    }
}

impl Deployment {
    /// Builds the deployment: every agent once, every endpoint. Opens no socket and no store, so that what
    /// fails here is wrong in the settings.
    ///
    /// # Errors
    /// Everything that is wrong, at once.
    pub fn build(self) -> Result<House, Problems> {
        House::build(self)
    }

    /// Its endpoints alone, and what of their files is refused.
    ///
    /// # Errors
    /// The settings of endpoints can't be read.
    pub fn endpoints(&self) -> Result<(Arc<Dispatcher>, Problems), Problems> {
        let loaded = Endpoints::load(self, &egress(self, &site(self))?)?;
        Ok((loaded.contract, loaded.refused))
    }
}

/// Gives a deployment the agents that its hubs are known to have.
fn front_hubs(deployment: &mut Deployment, site: &Site, egress: &Egress) -> Result<(), Problems> {
    let places = Places { folder: &deployment.dir, data: &deployment.data, site, egress };
    let (open, agents) = hubs::open(&deployment.hubs, &places, &deployment.hub_lists)?;
    deployment.hubs = Vec::new();
    deployment.agents.extend(agents);
    deployment.open_hubs = open;
    Ok(())
}

/// Takes up the problems that are not known yet: what is wrong with a hub is wrong with each of its agents.
fn add_new(problems: &mut Problems, wrong: &Problems) {
    let new: Vec<_> = wrong.iter().filter(|one| !problems.iter().any(|known| known == *one)).cloned().collect();
    problems.extend(new);
}

/// What the outside calls this deployment. While a free port is only wished for, none is named.
pub(crate) fn site(deployment: &Deployment) -> Site {
    let domain = &deployment.top.domain;
    let base = match &deployment.top.public_url {
        Some(url) => url.trim_end_matches('/').to_owned(),
        None if matches!(deployment.listen.https.port(), 0 | 443) => format!("https://{domain}"),
        None => format!("https://{domain}:{}", deployment.listen.https.port()),
    };
    Site { domain: domain.clone(), name: deployment.name().to_owned(), base }
}

/// The way out, closed to this host's own names and addresses.
pub(crate) fn egress(deployment: &Deployment, site: &Site) -> Result<Egress, Problems> {
    let wrong = |error: forecourt_egress::SetupError| {
        Problems::from(deployment.root.problem(None, format!("[egress] cannot be set up: {error}")))
    };
    let mut builder = Egress::builder(deployment.egress.clone())
        .base(&deployment.dir)
        .metrics(deployment.meters.egress.clone())
        // Its own names and addresses are closed to callers' URLs: an agent would else reach the operator's listener.
        .own_host(site.origin())
        .map_err(wrong)?;
    if site.canonical_host() != site.domain.as_str() {
        builder = builder.own_host(site.domain.as_str()).map_err(wrong)?;
    }
    for address in &deployment.own_addresses {
        builder = builder.own_address(*address);
    }
    if let Some(recordings) = &deployment.recordings {
        builder = builder.recordings(recordings.clone());
    }
    builder.build().map_err(wrong)
}

fn card(agent: &AgentDefinition, site: &Site, built: &BuiltAgent, wires: &Wires) -> AgentCard {
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
        wants_token: false,
        cors: settings.cors,
        cache_control: settings.cache_control,
        examples: settings.examples,
        endpoints: Vec::new(),
        via: built.via.clone(),
    };
    card.endpoints = wires.endpoints(site, &card);
    card
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A deployment with an agent for each of these handles, whose items one PostgreSQL keeps under this name.
    fn built(agents: &[(&str, &str)]) -> Result<House, Problems> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("agents")).unwrap();
        std::fs::write(folder.path().join("forecourt.toml"), "domain = \"demo.localhost\"\n").unwrap();
        for (handle, name) in agents {
            let agent = format!(
                "handle = \"{handle}\"\nname = \"{handle}\"\n[backend]\nkind = \"search\"\ncontent = [\"agents\"]\n\
                 [backend.engine]\nkind = \"postgresql\"\nurl = \"postgres://a:b@db/x\"\n{name}\n"
            );
            std::fs::write(folder.path().join(format!("agents/{handle}.toml")), agent).unwrap();
        }
        Deployment::read(folder.path()).unwrap().build()
    }

    #[test]
    fn no_two_agents_have_one_table() {
        assert!(built(&[("rain-shop", ""), ("town", "")]).is_ok());
        for agents in [[("rain-shop", ""), ("rain_shop", "")], [("a", "name = \"items\""), ("b", "name = \"items\"")]] {
            let problems = built(&agents).map(drop).unwrap_err();
            let told = problems.to_string();
            let (file, other) = (format!("{}.toml:6", agents[1].0), format!("@{}", agents[0].0));
            assert!(told.contains(&file) && told.contains(&other) && told.contains("`name`"), "{told}");
        }
    }
}
