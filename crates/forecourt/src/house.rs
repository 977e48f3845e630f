//! A house: everything that a deployment is while it is served, built and checked, without a socket and
//! without a store. A server is put to work with one, and is given another one while it works.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use forecourt_agents::siblings::{Sibling, Siblings};
use forecourt_agents::usage::NoUsage;
use forecourt_agents::{BuiltAgent, Context, IndexedContent};
use forecourt_contract::{Dispatcher, HostHandle};
use forecourt_core::Site;
use forecourt_core::agent::Icon;
use forecourt_core::{AgentCard, Domain, Handle, Policy, SystemClock};
use forecourt_egress::{Egress, EgressConfig};
use forecourt_host::{HostedAgent, SystemEntropy};
use forecourt_identity::agents::AgentIdentitySettings;
use forecourt_questions::QuestionLog;
use forecourt_rules::RuleServices;
use forecourt_settings::Problems;

use crate::deployment::{AgentDefinition, Backing, Deployment};
use crate::endpoints::Endpoints;
use crate::guards;
use crate::inspect;
use crate::manual;
use crate::operated;
use crate::payments::Payments;
use crate::questions;
use crate::registry::BACKENDS;
use crate::rules::{AgentRules, RuleBuilder};
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
    /// What the rules before agents want, in their order.
    rule_summaries: Vec<(Handle, Vec<String>)>,
    /// Who the agents are to other agents, by the order of the agents.
    pub(crate) identities: Vec<(Handle, AgentIdentitySettings)>,
    pub(crate) endpoints: Endpoints,
    pub(crate) contents: Vec<Content>,
    /// What people ask.
    pub(crate) questions: Option<Arc<QuestionLog>>,
}

/// Content that an agent answers from.
#[derive(Clone)]
pub struct Content {
    /// The agent.
    pub handle: Handle,
    /// Its index.
    pub indexing: Arc<dyn IndexedContent>,
}

impl House {
    /// Builds every agent and every endpoint.
    pub(crate) fn build(mut deployment: Deployment) -> Result<Self, Problems> {
        deployment.settle()?;
        let site = site(&deployment);
        let egress = egress(&deployment, &site)?;
        operated::check_login(&deployment, &egress)?;
        let endpoints = Endpoints::load(&deployment, &egress)?;
        let mut problems = Problems::new();
        let (mut agents, mut contents) = (Vec::with_capacity(deployment.agents.len()), Vec::new());
        let tools = endpoints.tools();
        let siblings = siblings(&deployment.agents, &site, endpoints.host.clone());
        let host_rules = std::mem::take(&mut deployment.host_rules);
        let payments = Payments::new(&deployment.payments, &egress, &deployment.root)?;
        let gates = RuleBuilder {
            signs_in: deployment.identity.oidc.is_some(),
            guards: guards::services(&egress, deployment.meters.models.clone()),
            ..RuleBuilder::new(&host_rules, &site, deployment.countries.take(), payments.offer_builders())
        };
        problems.absorb(gates.check_names(&deployment.agents));
        let mut rule_summaries = Vec::new();
        let questions = questions::log(&deployment.questions, &deployment.data);
        // What its file says of an agent is of no use once it is built, and there may be thousands.
        let mut identities = Vec::with_capacity(deployment.agents.len());
        for agent in std::mem::take(&mut deployment.agents) {
            let context = Context {
                siblings: siblings.clone(),
                endpoints: tools.clone(),
                usage: deployment.meters.models.clone(),
                ..context(&agent, &deployment.dir, &site, &egress, &deployment.data)
            };
            let built = problems.absorb(build(&agent.backing, &context));
            let rules = problems.absorb(gates.build(&agent));
            let (Some(built), Some(AgentRules { rules, guards, summaries })) = (built, rules) else { continue };
            if !summaries.is_empty() {
                rule_summaries.push((agent.settings.handle.clone(), summaries));
            }
            if let Some(indexing) = built.indexing.clone() {
                contents.push(Content { handle: agent.settings.handle.clone(), indexing });
            }
            let card = Arc::new(card(&agent, &site, &built, &deployment.wires));
            let time_max = Duration::from_secs(agent.settings.timeout_seconds.get().into());
            let agent_inside = match &questions {
                Some(log) => questions::logged(built, log),
                None => built.agent,
            };
            let hosted = HostedAgent::new(card, agent_inside, Policy::new(rules), time_max);
            agents.push(hosted.guarded(guards).showing_usage(agent.settings.show_usage));
            identities.push((agent.settings.handle, agent.identity));
        }
        if !problems.is_empty() {
            problems.extend(endpoints.refused.clone());
        }
        let (egress, rules) = (Arc::new(egress), gates.services.clone());
        let whole = Self {
            deployment,
            site,
            egress,
            agents,
            rules,
            payments,
            rule_summaries,
            identities,
            endpoints,
            contents,
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

    /// The files of endpoints and recipes that were left out, and why. The others are served.
    pub fn refused_endpoints(&self) -> &Problems {
        &self.endpoints.refused
    }

    /// Settings of endpoints that have no effect, in a sentence each.
    pub fn endpoint_notices(&self) -> &[String] {
        &self.endpoints.doubtful
    }

    /// Content that is not there, or that can't be read.
    pub fn content_problems(&self) -> Problems {
        inspect::contents(&self.contents)
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

    /// Content that has no index yet, and is not there or can't be read: nothing could be answered from it.
    pub fn missing_content(&self) -> Problems {
        inspect::contents(self.contents.iter().filter(|content| content.indexing.items() == 0))
    }

    /// Unpacks what the program carries in itself for agents to answer from, into the data folder.
    pub fn unpack_manual(&self) -> std::io::Result<PathBuf> {
        manual::unpack(&self.deployment.data).map(|()| manual::folder(&self.deployment.data))
    }
}

impl Deployment {
    /// Its endpoints alone, and what of their files is refused.
    ///
    /// # Errors
    /// The settings of endpoints can't be read.
    pub fn endpoints(&self) -> Result<(Arc<Dispatcher>, Problems), Problems> {
        let loaded = Endpoints::load(self, &egress(self, &site(self))?)?;
        Ok((loaded.contract, loaded.refused))
    }
}

/// What the outside calls this deployment. While a free port is only wished for, none is named.
pub(crate) fn site(deployment: &Deployment) -> Site {
    let domain = &deployment.top.domain;
    let origin = match &deployment.top.public_url {
        Some(url) => url.trim_end_matches('/').to_owned(),
        None if matches!(deployment.listen.https.port(), 0 | 443) => format!("https://{domain}"),
        None => format!("https://{domain}:{}", deployment.listen.https.port()),
    };
    Site { domain: domain.clone(), name: deployment.name().to_owned(), origin }
}

/// The way out, closed to this host's own names and addresses.
pub(crate) fn egress(deployment: &Deployment, site: &Site) -> Result<Egress, Problems> {
    let wrong = |error: forecourt_egress::SetupError| {
        Problems::from(deployment.root.problem(None, format!("[egress] cannot be set up: {error}")))
    };
    let mut builder = Egress::builder(deployment.egress.clone())
        .base(&deployment.dir)
        .metrics(deployment.meters.egress.clone())
        .own_host(&site.origin)
        .map_err(wrong)?;
    if site.canonical_host() != site.domain.as_str() {
        builder = builder.own_host(site.domain.as_str()).map_err(wrong)?;
    }
    for address in &deployment.own_addresses {
        builder = builder.own_address(*address);
    }
    builder.build().map_err(wrong)
}

/// What is wrong in the backends of agents, found even when the rest of the deployment is in no
/// state to be built: as if it were served on a domain of no meaning.
pub(crate) fn backend_problems(folder: &Path, agents: &[AgentDefinition]) -> Problems {
    let mut problems = Problems::new();
    let (Ok(domain), Ok(egress)) = (Domain::parse("check.localhost"), Egress::builder(EgressConfig::default()).build())
    else {
        return problems;
    };
    let site = Site { origin: format!("https://{domain}"), name: domain.to_string(), domain };
    let siblings = siblings(agents, &site, HostHandle::default());
    for agent in agents {
        let context = Context { siblings: siblings.clone(), ..context(agent, folder, &site, &egress, folder) };
        problems.absorb(build(&agent.backing, &context));
    }
    problems
}

/// The agents as they see each other.
fn siblings(agents: &[AgentDefinition], site: &Site, host: HostHandle) -> Siblings {
    let seen = agents.iter().map(|agent| Sibling {
        address: site.address(&agent.settings.handle),
        name: agent.settings.name.clone(),
        description: agent.settings.description.clone(),
    });
    Siblings::new(seen, host)
}

fn context(agent: &AgentDefinition, folder: &Path, site: &Site, egress: &Egress, data: &Path) -> Context {
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
        variable: |name| std::env::var(name).ok(),
        budget: agent.settings.budget.clone(),
        usage: Arc::new(NoUsage),
        endpoints: Vec::new(),
        siblings: Siblings::default(),
        builtin: vec![(manual::NAME.to_owned(), manual::folder(data))],
    }
}

fn build(backing: &Backing, context: &Context) -> Result<BuiltAgent, Problems> {
    let section = match backing {
        Backing::Section(section) => section,
        Backing::Program(built) => return Ok(built.clone()),
    };
    let kinds = || BACKENDS.iter().map(|b| format!("`{}`", b.kind)).collect::<Vec<_>>().join(", ");
    let Some(kind) = section.text("kind").map(str::to_owned) else {
        return Err(section.problem(None, format!("[backend] needs `kind`: one of {}", kinds())).into());
    };
    let Some(backend) = BACKENDS.iter().find(|backend| backend.kind == kind) else {
        let problem = section.problem(Some("kind"), format!("there is no backend `{kind}`"));
        return Err(problem.hint(format!("there are {}", kinds())).into());
    };
    (backend.build)(section.clone(), context)
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
        cors: settings.cors,
        cache_control: settings.cache_control,
        examples: settings.examples,
        endpoints: Vec::new(),
    };
    card.endpoints = wires.endpoints(site, &card);
    card
}
