//! This module loads the known agents from a deployment's folders.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use forecourt_contract::catalog::EMBEDDED;
use forecourt_core::AgentCard;

use super::files::{self, DOCUMENT_SUFFIX, GENESIS_SUFFIX, IdentityNotice};
use super::home::{AGENTS, AgentHome};
use super::identity::AgentIdentity;
use super::known::KnownAgents;
use super::made::{self, MADE_AT_ONCE};
use super::resident::Residence;
use super::settings::AgentIdentitySettings;
use crate::genesis::Genesis;
use crate::limits::KNOWN_AGENTS_MAX;

/// The folder of a deployment for agents of elsewhere.
const KNOWN: &str = "known";

/// Finds out who the agents of a deployment are, and which of elsewhere are known. An agent whose files
/// are refused is not among them; what was refused, and why, is in the notices.
pub fn load<'a>(
    home: &AgentHome<'_>,
    agents: impl IntoIterator<Item = (&'a AgentCard, &'a AgentIdentitySettings)>,
) -> (KnownAgents, Vec<IdentityNotice>) {
    let mut loading = Loading { known: KnownAgents::default(), notices: Vec::new() };
    let agents: Vec<_> = agents.into_iter().collect();
    let each = agents.chunks(MADE_AT_ONCE).flat_map(|some| with_made(home, some));
    for (card, settings, made) in each {
        let file = home.genesis_file(card.handle());
        if EMBEDDED.contains(&card.handle().as_str().to_ascii_uppercase().as_str()) {
            let reason = "the handle spells a method that every server of AGTP answers: choose another one";
            let file = home.folder.join(AGENTS).join(format!("{}.toml", card.handle()));
            loading.notices.push(IdentityNotice::refused(&file, reason));
        }
        let found = Residence { home, card, settings, made, notices: &mut loading.notices }.agent();
        if let Some(agent) = found {
            loading.add(agent, &file);
        }
    }
    // After those that live here: of two with one id the first stays, so that no file in `known/` takes the name of a
    // resident.
    loading.strangers(&home.folder.join(KNOWN));
    (loading.known, loading.notices)
}

/// Agents, each with the genesis document that was made for it now.
pub(super) fn with_made<'a>(
    home: &AgentHome<'_>,
    agents: &[(&'a AgentCard, &'a AgentIdentitySettings)],
) -> Vec<(&'a AgentCard, &'a AgentIdentitySettings, Option<Genesis>)> {
    let mut made = made::for_all(home, agents);
    agents.iter().map(|(card, settings)| (*card, *settings, made.remove(card.handle()))).collect()
}

/// The agents and notices so far.
struct Loading {
    known: KnownAgents,
    notices: Vec<IdentityNotice>,
}

impl Loading {
    /// Adds an agent, with a warning for each of its scopes that grants nothing.
    fn add(&mut self, agent: AgentIdentity, file: &Path) {
        for scope in agent.ignored_scopes() {
            let reason = format!(
                "the scope `{scope}` grants nothing: it is not a scope such as booking:room, or there are too many"
            );
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

    /// The agent of another host with the files `name.*`. `None`: they were refused, with a notice.
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
