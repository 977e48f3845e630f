//! The hubs of a deployment, checked, and the agents that come of their lists.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forecourt_agents::hub::{HubChoice, HubDefinition, HubList, ListedAgent, RemoteHub};
use forecourt_core::{Handle, Site, Skill};
use forecourt_egress::Egress;
use forecourt_host::HubState;
use forecourt_identity::agents::AgentIdentitySettings;
use forecourt_settings::Problems;
use url::Url;

use super::{HubFile, HubLists};
use crate::agents::{AgentDefinition, Backing, HubMembership, context_of};
use crate::registry::HUBS;
use crate::settings::{AgentSettings, PolicySettings, SkillSettings};

/// A hub elsewhere, as it is followed.
#[derive(Clone)]
pub(crate) struct OpenHub {
    /// Its name here.
    pub name: Handle,
    pub remote: Arc<dyn RemoteHub>,
    /// Which agents are fronted.
    pub choice: HubChoice,
    /// From one look at it to the next.
    pub refresh: Duration,
    /// The list that is served. `None`: it is not known yet who is there.
    pub list: Option<Arc<HubList>>,
    /// All of its file but the rules, as text: who has the same one is looked at as before.
    pub fingerprint: Arc<str>,
}

impl OpenHub {
    /// The handles that its agents have here.
    pub(crate) fn handles(&self) -> impl Iterator<Item = Handle> {
        self.agents().filter_map(|agent| self.choice.handle_here(&agent.handle))
    }

    /// The agents that are served: those of the list that the file still wants and admits.
    pub(crate) fn agents(&self) -> impl Iterator<Item = &ListedAgent> {
        let listed = self.list.iter().flat_map(|list| &list.agents);
        listed.filter(|agent| self.choice.wants(&agent.handle) && self.remote.admits(agent, &self.choice))
    }

    /// What is told of it as long as nobody has looked at it.
    pub(super) fn state(&self) -> HubState {
        HubState {
            name: self.name.clone(),
            url: self.remote.url().to_owned(),
            answers: None,
            last_error: None,
            agents: self.agents().count(),
            seen_at: self.list.as_ref().map(|list| list.seen_at),
            left_out: Vec::new(),
        }
    }
}

/// Opens hubs, and gives the agents that they are known to have.
///
/// # Errors
/// Everything that is wrong with any of them.
pub(crate) fn open(
    files: &[HubFile],
    places: &Places<'_>,
    lists: &HubLists,
) -> Result<(Vec<OpenHub>, Vec<AgentDefinition>), Problems> {
    let mut problems = Problems::new();
    let (mut hubs, mut agents) = (Vec::new(), Vec::new());
    for file in files {
        let Some(hub) = problems.absorb(open_one(file, places, lists)) else { continue };
        agents.extend(hub.agents().filter_map(|agent| problems.absorb(definition(file, &hub, agent))));
        hubs.push(hub);
    }
    problems.into_result((hubs, agents))
}

/// Where a deployment is, and the way out.
pub(crate) struct Places<'a> {
    pub folder: &'a Path,
    pub data: &'a Path,
    pub site: &'a Site,
    pub egress: &'a Egress,
}

pub(crate) fn open_one(file: &HubFile, places: &Places<'_>, lists: &HubLists) -> Result<OpenHub, Problems> {
    let Places { folder, data, site, egress } = *places;
    let context = context_of(&file.name, folder, site, egress, data);
    let definition = HubDefinition { address: &file.settings.address, section: &file.section, backend: &file.backend };
    let remote = (HUBS.open)(&definition, &context)?;
    if Url::parse(remote.url()).is_ok_and(|url| url.origin().ascii_serialization() == site.origin()) {
        let problem = file.section.problem(Some("address"), "this is the hub of this very host");
        return Err(problem.hint("its agents answer here already").into());
    }
    let list = lists.of(&file.name, remote.url(), folder, data)?;
    let settings = &file.settings;
    Ok(OpenHub {
        name: file.name.clone(),
        remote,
        choice: HubChoice {
            prefix: settings.prefix.clone(),
            only: settings.only.clone(),
            except: settings.except.clone(),
            takes_fronted: settings.fronted,
            own_hosts: own_hosts(site),
        },
        refresh: Duration::from_secs(settings.refresh_seconds),
        list,
        fingerprint: format!("{:?}\n{:?}", file.section, file.backend).into(),
    })
}

/// The names by which this host is known, without ports.
fn own_hosts(site: &Site) -> Vec<String> {
    let published = Url::parse(&site.base).ok().and_then(|url| url.host_str().map(str::to_owned));
    published.into_iter().chain([site.domain.to_string()]).collect()
}

/// An agent of a hub, as a file of `agents/` would define it.
fn definition(file: &HubFile, hub: &OpenHub, agent: &ListedAgent) -> Result<AgentDefinition, Problems> {
    let Some(handle) = hub.choice.handle_here(&agent.handle) else {
        let words = format!("the agent `{}` of the hub has a handle that is too long behind `prefix`", agent.handle);
        let problem = file.section.problem(Some("prefix"), words);
        return Err(problem.hint("shorten it, or leave the agent out with `except`").into());
    };
    let rules: Vec<_> = file.rules.iter().filter(|(rule, _)| rule.is_before(&agent.handle)).collect();
    let mut settings = AgentSettings::new(handle, &agent.name);
    settings.description.clone_from(&agent.description);
    if !agent.version.is_empty() {
        settings.version.clone_from(&agent.version);
    }
    settings.icon.clone_from(&agent.icon);
    settings.homepage.clone_from(&agent.homepage);
    settings.skills = agent.skills.iter().cloned().map(SkillSettings::from).collect();
    settings.input_modes = Some(agent.input_modes.clone()).filter(|modes| !modes.is_empty());
    settings.output_modes = Some(agent.output_modes.clone()).filter(|modes| !modes.is_empty());
    settings.policy = PolicySettings { rules: rules.iter().map(|(rule, _)| rule.rule.clone()).collect() };
    Ok(AgentDefinition {
        settings,
        section: file.section.clone(),
        backing: Backing::Section(hub.remote.backend(agent)),
        identity: AgentIdentitySettings::default(),
        rule_places: rules.iter().map(|(_, place)| place.clone()).collect(),
        of_hub: Some(HubMembership { hub: hub.name.clone(), via: agent.via.clone() }),
    })
}

impl From<Skill> for SkillSettings {
    fn from(skill: Skill) -> Self {
        let Skill { id, name, description, tags, examples } = skill;
        Self { id, name, description, tags, examples }
    }
}
