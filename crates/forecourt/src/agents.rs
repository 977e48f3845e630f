//! One agent as it is defined, and what answers for it: a backend of the registry, or code of the program around us.

use std::path::Path;
use std::sync::Arc;

use forecourt_agents::siblings::{Sibling, Siblings};
use forecourt_agents::usage::NoUsage;
use forecourt_agents::{BuiltAgent, Context};
use forecourt_contract::HostHandle;
use forecourt_core::{Domain, Handle, Language, Site, SystemClock};
use forecourt_egress::{Egress, EgressConfig};
use forecourt_host::{OnLost, SystemEntropy};
use forecourt_identity::agents::AgentIdentitySettings;
use forecourt_settings::{Problems, Section};

use crate::manual;
use crate::registry::BACKENDS;
use crate::settings::AgentSettings;

/// One agent: a file of `agents/`, or one that a program adds.
pub(crate) struct AgentDefinition {
    pub settings: AgentSettings,
    pub section: Section,
    pub backing: Backing,
    /// Who it is to other agents.
    pub identity: AgentIdentitySettings,
    /// Where each of its own rules stands.
    pub rule_places: Vec<Section>,
    /// The hub that it is an agent of, if it lives elsewhere.
    pub of_hub: Option<HubMembership>,
}

/// What an agent has of the hub that it lives at.
pub(crate) struct HubMembership {
    /// The hub, by the name of its file.
    pub hub: Handle,
    /// The hosts that it is passed on to from there.
    pub via: Vec<String>,
}

/// What answers for an agent.
pub(crate) enum Backing {
    /// A backend, built from this section.
    Section(Section),
    /// Code of the program around us.
    Program(BuiltAgent),
}

/// What is wrong in the backends of agents, found even when the rest of the deployment is in no
/// state to be built: as if it were served on a domain of no meaning.
pub(crate) fn backend_problems(folder: &Path, agents: &[AgentDefinition]) -> Problems {
    let mut problems = Problems::new();
    let (Ok(domain), Ok(egress)) = (Domain::parse("check.localhost"), Egress::builder(EgressConfig::default()).build())
    else {
        return problems;
    };
    let site = Site { base: format!("https://{domain}"), name: domain.to_string(), domain };
    let siblings = siblings(agents, &site, HostHandle::default());
    for agent in agents {
        let context = Context { siblings: siblings.clone(), ..context(agent, folder, &site, &egress, folder) };
        problems.absorb(build(&agent.backing, &context).and_then(|built| attachable(agent, built)));
    }
    problems
}

/// The agents as they see each other.
pub(crate) fn siblings(agents: &[AgentDefinition], site: &Site, host: HostHandle) -> Siblings {
    let seen = agents.iter().map(|agent| Sibling {
        address: site.address(&agent.settings.handle),
        name: agent.settings.name.clone(),
        description: agent.settings.description.clone(),
    });
    Siblings::new(seen, host)
}

/// What an agent is built with, but for what it has of the others and of the host.
pub(crate) fn context(agent: &AgentDefinition, folder: &Path, site: &Site, egress: &Egress, data: &Path) -> Context {
    Context {
        language: agent.settings.language.clone(),
        budget: agent.settings.budget.clone(),
        goes_on: agent.settings.on_lost == OnLost::Attach,
        builtin: vec![(manual::NAME.to_owned(), manual::folder(data))],
        ..context_of(&agent.settings.handle, folder, site, egress, data)
    }
}

/// What everything is built with that has a name here: agents, and servers and hubs elsewhere.
pub(crate) fn context_of(name: &Handle, folder: &Path, site: &Site, egress: &Egress, data: &Path) -> Context {
    Context {
        handle: name.clone(),
        host: site.canonical_host().to_owned(),
        language: Language::english(),
        folder: folder.to_path_buf(),
        data_dir: data.to_path_buf(),
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

/// The agent as it was built, if its lost tasks can come to what is set.
pub(crate) fn attachable(agent: &AgentDefinition, built: BuiltAgent) -> Result<BuiltAgent, Problems> {
    if agent.settings.once && agent.settings.on_lost == OnLost::Restart {
        let told = "an agent that is asked once is not asked again when its task is lost";
        let hint = "without `on_lost` such a task ends as failed; `attach` has it go on";
        return Err(agent.section.problem(Some("once"), told).hint(hint).into());
    }
    if agent.settings.on_lost != OnLost::Attach || built.attaches {
        return Ok(built);
    }
    let told = "`on_lost = \"attach\"` needs a backend that notes how far its work has come: `model`, `command` with `format = \"json\"`, or `a2a` or `http` without `on_behalf_of`";
    let hint = "`restart` has the agent asked again, where beginning anew is harmless";
    Err(agent.section.problem(Some("on_lost"), told).hint(hint).into())
}

/// Builds what answers for an agent.
pub(crate) fn build(backing: &Backing, context: &Context) -> Result<BuiltAgent, Problems> {
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
