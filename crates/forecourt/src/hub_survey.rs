//! A hub that is looked at once: for who imports it, and to see what changed since.

use std::collections::HashSet;
use std::path::Path;

use forecourt_agents::hub::{HubError, HubList, HubLook, ListedAgent};
use forecourt_core::{Domain, Handle, Site};
use forecourt_egress::Egress;
use forecourt_settings::{Environment, Problems};
use futures::future::BoxFuture;

use crate::deployment::{DATA, Deployment};
use crate::house;
use crate::hubs::{HubLists, Places, open_one, read_text};

pub use crate::hubs::{HUBS, LIST_SUFFIX};

/// A hub that is to be looked at, as a file would define it.
pub struct HubRequest<'a> {
    /// The deployment.
    pub folder: &'a Path,
    /// The file, which need not be there.
    pub file: &'a Path,
    /// What it says.
    pub text: &'a str,
    /// What `${VAR}` in it stands for.
    pub environment: &'a dyn Environment,
    /// The way out.
    pub egress: &'a Egress,
}

/// What a look at a hub found.
pub struct HubSurvey {
    /// What is there now.
    pub look: HubLook,
    /// The list that counted before, of this very hub.
    pub known: Option<HubList>,
    /// The handles that its agents have here, in the order of the list.
    pub handles: Vec<Handle>,
    /// Those of them that others have here: agents of the deployment's own, agents of other hubs, and servers.
    pub taken: Vec<Handle>,
}

/// Why a hub was not looked at.
#[derive(Debug)]
pub enum HubSurveyError {
    /// Something is wrong with its file.
    Settings(Problems),
    /// It was not read.
    Hub {
        /// The URL of its card.
        url: String,
        /// Why, in words that go behind "the hub".
        why: HubError,
    },
}

/// Looks at a hub.
///
/// # Errors
/// What is wrong with its file, or why it was not read.
pub fn survey<'a>(request: &'a HubRequest<'a>) -> BoxFuture<'a, Result<HubSurvey, HubSurveyError>> {
    let HubRequest { folder, file, text, environment, egress } = *request;
    let prepared = || {
        let file = read_text(file, text, environment)?;
        // A deployment that is in no state to be served is imported into all the same.
        let deployment = Deployment::read(folder).ok();
        let site = match &deployment {
            Some(deployment) => house::site(deployment),
            None => nowhere()?,
        };
        let data = folder.join(DATA);
        let places = Places { folder, data: deployment.as_ref().map_or(&data, |one| &one.data), site: &site, egress };
        let hub = open_one(&file, &places, &HubLists::default())?;
        let others = deployment.as_ref().map(|deployment| others(deployment, &hub.name, &places));
        Ok::<_, Problems>((hub, others.unwrap_or_default()))
    };
    let prepared = prepared().map_err(HubSurveyError::Settings);
    Box::pin(async move {
        let (hub, others) = prepared?;
        let known = hub.list.as_deref();
        let url = hub.remote.url().to_owned();
        let look = hub.remote.look(&hub.choice, known).await.map_err(|why| HubSurveyError::Hub { url, why })?;
        let here = |agent: &ListedAgent| hub.choice.handle_here(&agent.handle);
        let handles: Vec<Handle> = look.list.agents.iter().filter_map(here).collect();
        let taken = handles.iter().filter(|handle| others.contains(handle)).cloned().collect();
        Ok(HubSurvey { look, known: known.cloned(), handles, taken })
    })
}

/// The names that others than this hub have in a deployment.
fn others(deployment: &Deployment, hub: &Handle, places: &Places<'_>) -> HashSet<Handle> {
    let agents = deployment.agents.iter().map(|agent| agent.settings.handle.clone());
    let servers = deployment.servers.iter().map(|server| server.name.clone());
    // A hub that can't be opened is one that `check` tells of.
    let hubs = deployment.hubs.iter().filter(|other| other.name != *hub);
    let hubs = hubs.filter_map(|other| open_one(other, places, &HubLists::default()).ok());
    let listed = hubs.flat_map(|hub| hub.handles().collect::<Vec<_>>());
    agents.chain(servers).chain(listed).collect()
}

/// A domain that nobody has.
fn nowhere() -> Result<Site, Problems> {
    let domain = Domain::parse("import.localhost").map_err(|_| Problems::new())?;
    Ok(Site { base: format!("https://{domain}"), name: domain.to_string(), domain })
}
