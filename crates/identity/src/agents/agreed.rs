//! This module exchanges genesis documents that were made here between nodes of one deployment: an agent's id is the
//! hash of its document, so that each node must have the same one.

use std::io;
use std::path::Path;

use forecourt_core::{AgentCard, Entropy, Handle};

use super::document::AgentDocument;
use super::files;
use super::home::AgentHome;
use super::load::with_made;
use super::made::MADE_AT_ONCE;
use super::resident::Residence;
use super::settings::AgentIdentitySettings;
use crate::genesis::Genesis;
use crate::kept;

/// The genesis documents, as text, of those agents that have none in the deployment: what the data folder holds,
/// and what is made there now for who has none yet. An agent whose own document names it needs none. What is wrong
/// with files is reported by [`super::load`].
pub fn kept_genesis<'a>(
    home: &AgentHome<'_>,
    agents: impl IntoIterator<Item = (&'a AgentCard, &'a AgentIdentitySettings)>,
) -> Vec<(Handle, String)> {
    let of = |(card, settings, made): (&AgentCard, &AgentIdentitySettings, Option<Genesis>)| {
        let handle = card.handle();
        let document = files::document(&home.document_file(handle), &mut Vec::new());
        // Files of the deployment are the same on every node. One that is refused must be corrected, and must not give
        // its agent another id.
        if home.genesis_file(handle).exists() || document.is_refused() {
            return None;
        }
        if document.good().as_ref().and_then(AgentDocument::agent_id).is_some() {
            return None;
        }
        let genesis = Residence { home, card, settings, made, notices: &mut Vec::new() }.kept_genesis()?;
        Some((handle.clone(), genesis))
    };
    let agents: Vec<_> = agents.into_iter().collect();
    agents.chunks(MADE_AT_ONCE).flat_map(|some| with_made(home, some)).filter_map(of).collect()
}

/// Puts a genesis document that another node made in the place of the one in the data folder, if it is another.
/// Gives whether the file was changed.
///
/// # Errors
/// The file can't be written.
pub fn adopt_genesis(data: &Path, handle: &Handle, genesis: &str, entropy: &dyn Entropy) -> io::Result<bool> {
    let file = AgentHome::kept_in(data, handle);
    if std::fs::read_to_string(&file).is_ok_and(|kept| kept == genesis) {
        return Ok(false);
    }
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    kept::replace(&file, genesis, entropy).map_err(|wrong| wrong.error)?;
    Ok(true)
}
