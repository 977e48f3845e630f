//! This module names the files in which agents of a deployment have their identities.

use std::path::{Path, PathBuf};

use forecourt_core::{Domain, Entropy, Handle, Timestamp};

use super::files::{DOCUMENT_SUFFIX, GENESIS_SUFFIX};
use crate::host_keys::HostKeys;

/// The folder of agents, in a deployment and in its data.
pub(super) const AGENTS: &str = "agents";

/// The folders, the domain and the keys of the deployment whose agents are loaded.
#[derive(Debug, Clone, Copy)]
pub struct AgentHome<'a> {
    /// The folder of the deployment. Only read.
    pub folder: &'a Path,
    /// The data folder, where genesis documents that were made here are. It may not exist. `None`: there is none.
    pub data: Option<&'a Path>,
    /// Whether genesis documents that are made here are written to the data folder. Else they end with the process.
    pub keeps: bool,
    /// The domain of the deployment.
    pub domain: &'a Domain,
    /// The keys that sign what is made here.
    pub keys: &'a HostKeys,
    /// The time at which documents that are made here are issued.
    pub now: Timestamp,
    /// Random names for files while they are written.
    pub entropy: &'a dyn Entropy,
}

impl AgentHome<'_> {
    /// The file in the deployment in which the genesis document of an agent may be.
    pub(crate) fn genesis_file(&self, handle: &Handle) -> PathBuf {
        self.folder.join(AGENTS).join(format!("{handle}{GENESIS_SUFFIX}"))
    }

    /// The file in the deployment in which the document of an agent may be.
    pub(crate) fn document_file(&self, handle: &Handle) -> PathBuf {
        self.folder.join(AGENTS).join(format!("{handle}{DOCUMENT_SUFFIX}"))
    }

    /// The file in the data folder in which a genesis document that was made here is kept.
    pub(crate) fn kept_file(&self, handle: &Handle) -> Option<PathBuf> {
        self.data.map(|data| Self::kept_in(data, handle))
    }

    /// The same file, in this data folder.
    pub(super) fn kept_in(data: &Path, handle: &Handle) -> PathBuf {
        data.join(AGENTS).join(format!("{handle}{GENESIS_SUFFIX}"))
    }
}
