//! Who an agent is that lives here: from its files, or from an origin that is made for it.

use std::path::Path;

use forecourt_core::AgentCard;

use super::describe::About;
use super::document::AgentDocument;
use super::files::{self, Found, Notice};
use super::identity::AgentIdentity;
use super::load::Home;
use super::settings::AgentIdentitySettings;
use crate::genesis::{Genesis, Posture, Stated};
use crate::kept;

/// An agent and where it lives.
pub(crate) struct Residence<'a, 'h> {
    pub home: &'a Home<'h>,
    pub card: &'a AgentCard,
    pub settings: &'a AgentIdentitySettings,
    pub notices: &'a mut Vec<Notice>,
}

impl Residence<'_, '_> {
    /// Who the agent is. `None`: its files were refused.
    pub(crate) fn agent(&mut self) -> Option<AgentIdentity> {
        let handle = self.card.handle();
        let document_file = self.home.document_file(handle);
        let document = files::document(&document_file, self.notices);
        if document.is_refused() {
            return None;
        }
        let document = document.good();
        let genesis = match &document {
            Some(document) => self.paired(document),
            None => Some(self.origin()?),
        };
        let stated = document.as_ref().map_or_else(Stated::default, AgentDocument::stated);
        let posture = Posture::resolve(&stated, genesis.as_ref());
        let agent_id = genesis.as_ref().map(|genesis| genesis.id().clone());
        let Some(agent_id) = agent_id.or_else(|| document.as_ref()?.agent_id()) else {
            self.notices.push(Notice::refused(&document_file, files::NAMELESS));
            return None;
        };
        let of = if document.is_some() { document_file } else { self.home.genesis_file(handle) };
        self.notices.push(Notice::told(&of, posture.told(&stated, genesis.as_ref())));
        let about = About {
            card: self.card,
            agent_id: &agent_id,
            genesis: genesis.as_ref(),
            posture: &posture,
            wildcards: self.settings.wildcards,
            domain: self.home.domain.as_str(),
            now: self.home.now,
        };
        let document = about.document(document);
        AgentIdentity::of(handle.as_str(), Some(handle.clone()), genesis, Some(document))
    }

    /// The origin that belongs to a document of the deployment.
    fn paired(&mut self, document: &AgentDocument) -> Option<Genesis> {
        let handle = self.card.handle();
        let file = self.home.genesis_file(handle);
        match files::genesis(&file, self.notices) {
            // One that was made here before the document was written may be its own.
            Found::Nothing => {
                let kept = files::genesis(&self.home.kept_file(handle)?, &mut Vec::new()).good()?;
                (document.agent_id().as_ref() == Some(kept.id())).then_some(kept)
            }
            found => {
                let genesis = files::pair(Some(document), found.good(), &file, self.notices)?;
                self.unheeded(&genesis, &file);
                Some(genesis)
            }
        }
    }

    /// The origin of an agent without a document: its file, that which is kept, or a new one.
    fn origin(&mut self) -> Option<Genesis> {
        let handle = self.card.handle();
        let file = self.home.genesis_file(handle);
        let kept = self.home.kept_file(handle);
        let found = match (files::genesis(&file, self.notices), &kept) {
            (Found::Nothing, Some(kept)) => match files::genesis(kept, self.notices) {
                Found::Nothing => return self.made(Some(kept)),
                found => (found, kept.as_path()),
            },
            (Found::Nothing, None) => return self.made(None),
            (found, _) => (found, file.as_path()),
        };
        let genesis = found.0.good()?;
        self.unheeded(&genesis, found.1);
        Some(genesis)
    }

    /// A new origin, signed by the host and kept in `file` if this home keeps any. Of two processes that make one at once, both
    /// take the one that was there first.
    fn made(&mut self, file: Option<&Path>) -> Option<Genesis> {
        let name = self.card.handle().as_str();
        let draft = self.settings.draft(name, self.home.domain.as_str(), self.home.now);
        let signed = draft.sign(self.home.keys.current()).map_err(|fault| fault.to_string());
        let Some(file) = file.filter(|_| self.home.keeps) else { return signed.ok() };
        let written = signed.and_then(|genesis| self.keep(&genesis, file).map(|()| genesis.id().clone()));
        match written {
            Ok(id) => {
                let genesis = files::genesis(file, self.notices).good()?;
                if *genesis.id() == id {
                    self.notices.push(Notice::told(file, format!("an origin was made: the agent is {id} from now on")));
                }
                Some(genesis)
            }
            Err(reason) => {
                self.notices.push(Notice::refused(file, reason));
                None
            }
        }
    }

    fn keep(&self, genesis: &Genesis, file: &Path) -> Result<(), String> {
        let text = serde_json::to_string_pretty(genesis.document()).map_err(|error| error.to_string())?;
        let folder = file.parent().unwrap_or(file);
        std::fs::create_dir_all(folder).map_err(|error| format!("its folder can't be made: {error}"))?;
        kept::create(file, &format!("{text}\n"), self.home.entropy).map_err(|error| error.to_string())
    }

    /// Says which settings came too late.
    fn unheeded(&mut self, genesis: &Genesis, file: &Path) {
        let keys = self.settings.differing(genesis);
        if !keys.is_empty() {
            let reason = format!(
                "the agent's own file sets {} to something else, which has no effect: an origin is never changed. \
                 Delete this one to have another made, under another agent id",
                keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
            );
            self.notices.push(Notice::warning(file, reason));
        }
    }
}
