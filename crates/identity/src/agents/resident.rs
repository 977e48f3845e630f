//! This module finds out who an agent is that lives here: from its files, or from a genesis document that it makes.

use std::path::{Path, PathBuf};

use forecourt_core::{AgentCard, AgentId};

use super::describe::About;
use super::document::AgentDocument;
use super::files::{self, FileOutcome, IdentityNotice};
use super::home::AgentHome;
use super::identity::AgentIdentity;
use super::settings::AgentIdentitySettings;
use crate::genesis::{Genesis, GenesisError, OperatorStatement, TrustPosture};
use crate::kept;

/// An agent with its settings and its files.
pub(crate) struct Residence<'a, 'h> {
    pub home: &'a AgentHome<'h>,
    pub card: &'a AgentCard,
    pub settings: &'a AgentIdentitySettings,
    /// The genesis document that was made for it just now, and is kept: [`super::made::for_all`].
    pub made: Option<Genesis>,
    pub notices: &'a mut Vec<IdentityNotice>,
}

/// A genesis document, and the file that it is in or would be.
struct GenesisFile {
    genesis: Genesis,
    file: PathBuf,
}

impl Residence<'_, '_> {
    /// The agent's identity. `None`: its files were refused, with a notice.
    pub(crate) fn agent(&mut self) -> Option<AgentIdentity> {
        let handle = self.card.handle();
        let document_file = self.home.document_file(handle);
        let document = files::document(&document_file, self.notices);
        if document.is_refused() {
            return None;
        }
        let document = document.good();
        let named = document.as_ref().and_then(AgentDocument::agent_id);
        let origin = match (&document, &named) {
            (Some(document), Some(named)) => self.paired(document, named),
            _ => Some(self.genesis_file()?),
        };
        if let Some(origin) = &origin {
            self.unheeded(origin);
        }
        let genesis = origin.as_ref().map(|origin| &origin.genesis);
        let stated = document.as_ref().map_or_else(OperatorStatement::default, AgentDocument::stated);
        let posture = TrustPosture::resolve(&stated, genesis);
        let agent_id = genesis.map(|genesis| genesis.id().clone()).or(named)?;
        let file = origin.as_ref().map_or(&document_file, |origin| &origin.file);
        self.notices.push(IdentityNotice::told(file, posture.told(&stated, genesis)));
        let about = About {
            card: self.card,
            agent_id: &agent_id,
            genesis,
            posture: &posture,
            wildcards: self.settings.wildcards,
            domain: self.home.domain.as_str(),
            now: self.home.now,
        };
        let document = about.document(document);
        let genesis = origin.map(|origin| origin.genesis);
        AgentIdentity::of(handle.as_str(), Some(handle.clone()), genesis, Some(document))
    }

    /// The genesis document that belongs to a document of the deployment, which names its agent.
    fn paired(&mut self, document: &AgentDocument, named: &AgentId) -> Option<GenesisFile> {
        let file = self.home.genesis_file(self.card.handle());
        match files::genesis(&file, self.notices) {
            // The operator may have written the document for a genesis document that was made here earlier: it counts
            // if the ids agree.
            FileOutcome::Nothing => {
                let file = self.home.kept_file(self.card.handle())?;
                let genesis = files::genesis(&file, &mut Vec::new()).good()?;
                (named == genesis.id()).then_some(GenesisFile { genesis, file })
            }
            found => {
                let genesis = files::pair(Some(document), found.good(), &file, self.notices)?;
                Some(GenesisFile { genesis, file })
            }
        }
    }

    /// The genesis document of an agent whose document names none: its file, that which is kept, or a new one.
    fn genesis_file(&mut self) -> Option<GenesisFile> {
        let file = self.home.genesis_file(self.card.handle());
        match files::genesis(&file, self.notices) {
            FileOutcome::Nothing => {}
            found => return found.good().map(|genesis| GenesisFile { genesis, file }),
        }
        let Some(kept) = self.home.kept_file(self.card.handle()) else { return self.made(file, false) };
        if let Some(genesis) = self.made.take() {
            self.tell_made(&kept, &genesis);
            return Some(GenesisFile { genesis, file: kept });
        }
        match files::genesis(&kept, self.notices) {
            FileOutcome::Nothing => self.made(kept, self.home.keeps),
            found => found.good().map(|genesis| GenesisFile { genesis, file: kept }),
        }
    }

    /// A new genesis document, signed by the host, and kept in `file` if `keeps`. Of two processes that make one at
    /// once, both take the one that was there first.
    fn made(&mut self, file: PathBuf, keeps: bool) -> Option<GenesisFile> {
        let signed = signed(self.home, self.card, self.settings).map_err(|fault| fault.to_string());
        let kept = signed.and_then(|genesis| match keeps {
            true => self.keep(&genesis, &file).map(|()| genesis),
            false => Ok(genesis),
        });
        match kept {
            Ok(genesis) if !keeps => Some(GenesisFile { genesis, file }),
            Ok(made) => {
                // Read back: another process may have made one first, and then its agent id counts.
                let genesis = files::genesis(&file, self.notices).good()?;
                if genesis == made {
                    self.tell_made(&file, &genesis);
                }
                Some(GenesisFile { genesis, file })
            }
            Err(reason) => {
                self.notices.push(IdentityNotice::refused(&file, reason));
                None
            }
        }
    }

    fn tell_made(&mut self, file: &Path, genesis: &Genesis) {
        let reason = format!("a genesis document was made: the agent is {} from now on", genesis.id());
        self.notices.push(IdentityNotice::told(file, reason));
    }

    fn keep(&self, genesis: &Genesis, file: &Path) -> Result<(), String> {
        let text = written(genesis).map_err(|error| error.to_string())?;
        let folder = file.parent().unwrap_or(file);
        std::fs::create_dir_all(folder).map_err(|error| format!("its folder can't be made: {error}"))?;
        kept::create(file, &text, self.home.entropy).map_err(|error| error.to_string())
    }

    /// The genesis document that is kept for the agent, or made now, as its file has it.
    pub(crate) fn kept_genesis(&mut self) -> Option<String> {
        written(&self.genesis_file()?.genesis).ok()
    }

    /// Warns of settings that differ from the genesis document, and so have no effect.
    fn unheeded(&mut self, origin: &GenesisFile) {
        let keys = self.settings.differing(&origin.genesis);
        if !keys.is_empty() {
            let reason = format!(
                "the agent's own file sets {} to something else, which has no effect: a genesis document is never changed. \
                 Delete this one to have another made, under another agent id",
                keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
            );
            self.notices.push(IdentityNotice::warning(&origin.file, reason));
        }
    }
}

/// A new genesis document for an agent, signed by the host.
pub(super) fn signed(
    home: &AgentHome<'_>,
    card: &AgentCard,
    settings: &AgentIdentitySettings,
) -> Result<Genesis, GenesisError> {
    settings.draft(card.handle().as_str(), home.domain.as_str(), home.now).sign(home.keys.current())
}

/// A genesis document as the text of a file.
pub(super) fn written(genesis: &Genesis) -> serde_json::Result<String> {
    Ok(format!("{}\n", serde_json::to_string_pretty(genesis.document())?))
}
