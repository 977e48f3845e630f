//! Who the agents of a deployment are to other agents, and what there is to say about their files.

use std::collections::HashMap;

use forecourt_core::Handle;
use forecourt_host::Host;
use forecourt_identity::HostKeys;
use forecourt_identity::agents::{self, AgentHome, AgentIdentitySettings, IdentityNotice, KnownAgents, Severity};
use forecourt_settings::{Problem, Problems};

use crate::deployment::Deployment;
use crate::storage::Storage;

/// Finds them out, and tells the log: agents whose files are refused are not there, the others are.
pub(crate) fn load(
    deployment: &Deployment,
    identities: Vec<(Handle, AgentIdentitySettings)>,
    host: &Host,
    keys: &HostKeys,
    storage: &Storage,
) -> (KnownAgents, Vec<IdentityNotice>) {
    let (data, keeps) = storage.identities();
    let home = AgentHome {
        folder: &deployment.dir,
        data: Some(data),
        keeps,
        domain: &host.site().domain,
        keys,
        now: host.clock().now(),
        entropy: host.entropy().as_ref(),
    };
    let settings: HashMap<Handle, AgentIdentitySettings> = identities.into_iter().collect();
    let residents = host.directory().iter().map(|resident| resident.card.as_ref());
    let (known, notices) = agents::load(&home, residents.filter_map(|card| Some((card, settings.get(card.handle())?))));
    notices.iter().for_each(log);
    (known, notices)
}

fn log(notice: &IdentityNotice) {
    match notice.severity {
        Severity::Refused => tracing::error!("an identity is not used: {notice}"),
        Severity::Warning => tracing::warn!("{notice}"),
        // A line for each agent: who has thousands of them would see nothing else at the start.
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
