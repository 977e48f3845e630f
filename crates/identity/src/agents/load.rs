//! From a deployment's folders to the agents that are known.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use forecourt_contract::catalog::EMBEDDED;
use forecourt_core::{AgentCard, Domain, Entropy, Handle, Timestamp};

use super::files::{self, DOCUMENT_SUFFIX, GENESIS_SUFFIX, IdentityNotice};
use super::identity::AgentIdentity;
use super::known::KnownAgents;
use super::resident::Residence;
use super::settings::AgentIdentitySettings;
use crate::host_keys::HostKeys;
use crate::limits::KNOWN_AGENTS_MAX;

/// The folder of agents, in a deployment and in its data.
const AGENTS: &str = "agents";
/// The folder of a deployment for agents of elsewhere.
const KNOWN: &str = "known";

/// Where agents live.
#[derive(Debug, Clone, Copy)]
pub struct AgentHome<'a> {
    /// The folder of the deployment. Only read.
    pub folder: &'a Path,
    /// The data folder, where origins that were made here are. It may not exist. `None`: there is none.
    pub data: Option<&'a Path>,
    /// Whether what is made is kept in the data folder. Else it is gone with the process.
    pub keeps: bool,
    /// The domain of the deployment.
    pub domain: &'a Domain,
    /// The keys that sign what is made here.
    pub keys: &'a HostKeys,
    /// The time.
    pub now: Timestamp,
    /// Where names of files come from while they are written.
    pub entropy: &'a dyn Entropy,
}

impl AgentHome<'_> {
    /// The file in the deployment in which the origin of an agent may be.
    pub fn genesis_file(&self, handle: &Handle) -> PathBuf {
        self.folder.join(AGENTS).join(format!("{handle}{GENESIS_SUFFIX}"))
    }

    /// The file in the deployment in which the document of an agent may be.
    pub fn document_file(&self, handle: &Handle) -> PathBuf {
        self.folder.join(AGENTS).join(format!("{handle}{DOCUMENT_SUFFIX}"))
    }

    /// The file in the data folder in which an origin that was made here is kept.
    pub fn kept_file(&self, handle: &Handle) -> Option<PathBuf> {
        Some(self.data?.join(AGENTS).join(format!("{handle}{GENESIS_SUFFIX}")))
    }
}

/// Finds out who the agents of a deployment are, and which of elsewhere are known. An agent whose files
/// are refused is not among them; what was refused, and why, is in the notices.
pub fn load<'a>(
    home: &AgentHome<'_>,
    agents: impl IntoIterator<Item = (&'a AgentCard, &'a AgentIdentitySettings)>,
) -> (KnownAgents, Vec<IdentityNotice>) {
    let mut loading = Loading { known: KnownAgents::default(), notices: Vec::new() };
    for (card, settings) in agents {
        let file = home.genesis_file(card.handle());
        if EMBEDDED.contains(&card.handle().as_str().to_ascii_uppercase().as_str()) {
            let reason = "the handle spells a method that every server of AGTP answers: choose another one";
            let file = home.folder.join(AGENTS).join(format!("{}.toml", card.handle()));
            loading.notices.push(IdentityNotice::refused(&file, reason));
        }
        let found = Residence { home, card, settings, notices: &mut loading.notices }.agent();
        if let Some(agent) = found {
            loading.add(agent, &file);
        }
    }
    loading.strangers(&home.folder.join(KNOWN));
    (loading.known, loading.notices)
}

/// What was found so far.
struct Loading {
    known: KnownAgents,
    notices: Vec<IdentityNotice>,
}

impl Loading {
    /// Adds an agent, and says what is to be said about it.
    fn add(&mut self, agent: AgentIdentity, file: &Path) {
        for scope in agent.ignored_scopes() {
            let reason =
                format!("the scope `{scope}` grants nothing: it is no token such as booking:room, or one too many");
            self.notices.push(IdentityNotice::warning(file, reason));
        }
        if let Err(taken) = self.known.add(agent) {
            self.notices.push(IdentityNotice::refused(file, taken));
        }
    }

    /// Adds the agents of elsewhere that have files in `folder`.
    fn strangers(&mut self, folder: &Path) {
        let names = match names(folder) {
            Ok(names) => names,
            Err(error) => {
                return self.notices.push(IdentityNotice::refused(folder, format!("it can't be read: {error}")));
            }
        };
        if names.len() > KNOWN_AGENTS_MAX {
            let reason = format!("it has the files of more than {KNOWN_AGENTS_MAX} agents");
            return self.notices.push(IdentityNotice::refused(folder, reason));
        }
        for name in names {
            let file = folder.join(format!("{name}{GENESIS_SUFFIX}"));
            if let Some(agent) = self.stranger(folder, &name) {
                self.add(agent, &file);
            }
        }
    }

    /// An agent of elsewhere. `None`: its files were refused.
    fn stranger(&mut self, folder: &Path, name: &str) -> Option<AgentIdentity> {
        let (genesis_file, document_file) =
            (folder.join(format!("{name}{GENESIS_SUFFIX}")), folder.join(format!("{name}{DOCUMENT_SUFFIX}")));
        let genesis = files::genesis(&genesis_file, &mut self.notices);
        let document = files::document(&document_file, &mut self.notices);
        if genesis.is_refused() || document.is_refused() {
            return None;
        }
        let (genesis, document) = (genesis.good(), document.good());
        let genesis = files::pair(document.as_ref(), genesis, &genesis_file, &mut self.notices);
        let agent = AgentIdentity::of(name, None, genesis, document);
        if agent.is_none() {
            self.notices.push(IdentityNotice::refused(&document_file, files::NAMELESS));
        }
        agent
    }
}

/// The agents that have files in a folder, by the name of the file, sorted. At most one more than can
/// be known; none where there is no folder.
fn names(folder: &Path) -> io::Result<BTreeSet<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        entries => entries?.filter_map(Result::ok),
    };
    let name = |entry: fs::DirEntry| {
        let file = entry.file_name().into_string().ok()?;
        let name = file.strip_suffix(GENESIS_SUFFIX).or_else(|| file.strip_suffix(DOCUMENT_SUFFIX))?;
        (!name.is_empty() && !name.starts_with('.')).then(|| name.to_owned())
    };
    let mut names = BTreeSet::new();
    for found in entries.filter_map(name) {
        names.insert(found);
        if names.len() > KNOWN_AGENTS_MAX {
            break;
        }
    }
    Ok(names)
}
