//! Who the agents of a deployment are to other agents, and what there is to say about their files.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use forecourt_core::{Handle, Store};
use forecourt_host::Host;
use forecourt_identity::HostKeys;
use forecourt_identity::agents::{self, AgentHome, AgentIdentitySettings, IdentityNotice, KnownAgents, Severity};
use forecourt_settings::{Problem, Problems};

use crate::deployment::Deployment;
use crate::error::Error;
use crate::shared;
use crate::storage::Storage;

/// Brings the genesis documents in the data folder in line with those that all nodes have.
///
/// # Errors
/// The store is away, or the data folder can't be written.
pub(crate) async fn agree(
    deployment: &Deployment,
    identities: &[(Handle, AgentIdentitySettings)],
    host: &Host,
    keys: &HostKeys,
    store: &Arc<dyn Store>,
) -> Result<(), Error> {
    let data = deployment.data_folder();
    let home = home(deployment, host, keys, data, true);
    let cards: Vec<_> =
        identities.iter().filter_map(|(handle, settings)| Some((host.directory().find(handle)?, settings))).collect();
    let agents: Vec<_> = cards.iter().map(|(resident, settings)| (&*resident.card, *settings)).collect();
    shared::identities::agree(store, &home, data, &agents).await
}

fn home<'a>(
    deployment: &'a Deployment,
    host: &'a Host,
    keys: &'a HostKeys,
    data: &'a Path,
    keeps: bool,
) -> AgentHome<'a> {
    AgentHome {
        folder: &deployment.dir,
        data: Some(data),
        keeps,
        domain: &host.site().domain,
        keys,
        now: host.clock().now(),
        entropy: host.entropy().as_ref(),
    }
}

/// Finds them out, and tells the log: agents whose files are refused are not there, the others are.
pub(crate) fn load(
    deployment: &Deployment,
    identities: Vec<(Handle, AgentIdentitySettings)>,
    host: &Host,
    keys: &HostKeys,
    storage: &Storage,
) -> (KnownAgents, Vec<IdentityNotice>) {
    let (data, keeps) = storage.identities();
    let home = home(deployment, host, keys, data, keeps);
    let settings: HashMap<Handle, AgentIdentitySettings> = identities.into_iter().collect();
    let residents = host.directory().iter().map(|resident| resident.card.as_ref());
    let (known, mut notices) =
        agents::load(&home, residents.filter_map(|card| Some((card, settings.get(card.handle())?))));
    notices.iter().for_each(log);
    notices.retain(|notice| notice.severity != Severity::Told);
    (known, notices)
}

fn log(notice: &IdentityNotice) {
    match notice.severity {
        Severity::Refused => tracing::error!("an identity is not used: {notice}"),
        Severity::Warning => tracing::warn!("{notice}"),
        // One for each agent of a host, of which there may be thousands.
        Severity::Told => tracing::debug!("{notice}"),
    }
}

/// The files that are refused.
pub fn refused(notices: &[IdentityNotice]) -> Problems {
    let refused = notices.iter().filter(|notice| notice.severity == Severity::Refused);
    let mut problems = Problems::new();
    refused.for_each(|notice| problems.push(Problem::of_file(&notice.file, notice.reason.as_str())));
    problems
}

/// What works, though perhaps not as it was meant.
pub fn doubtful(notices: &[IdentityNotice]) -> impl Iterator<Item = &IdentityNotice> {
    notices.iter().filter(|notice| notice.severity == Severity::Warning)
}
