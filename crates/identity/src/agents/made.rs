//! This module makes genesis documents for agents that have none, many at once: each must be durable before anybody is
//! told its agent's id, and one by one (7.5 ms each) the first start of 10,000 agents took 75 s. The disk is waited for
//! once for each batch.

use std::collections::HashMap;
use std::path::PathBuf;

use forecourt_core::{AgentCard, Handle};

use super::document::AgentDocument;
use super::files;
use super::home::AgentHome;
use super::resident::{signed, written};
use super::settings::AgentIdentitySettings;
use crate::genesis::Genesis;
use crate::kept;

/// Agents for which documents are made in one batch, all of which is in memory until its agents are loaded.
pub(super) const MADE_AT_ONCE: usize = 1024;

/// Makes and keeps a genesis document for each of `agents` that has none and whose own document names none. One that
/// can't be made is left out here: making it alone, later, reports why.
pub(super) fn for_all(
    home: &AgentHome<'_>,
    agents: &[(&AgentCard, &AgentIdentitySettings)],
) -> HashMap<Handle, Genesis> {
    let lacking: Vec<_> = agents.iter().filter(|(card, _)| home.keeps && lacks_genesis(home, card.handle())).collect();
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    let mut drafts: Vec<(Handle, Genesis)> = Vec::new();
    for (card, settings) in lacking {
        let (Some(file), Ok(genesis)) = (home.kept_file(card.handle()), signed(home, card, settings)) else { continue };
        let Ok(text) = written(&genesis) else { continue };
        files.push((file, text));
        drafts.push((card.handle().clone(), genesis));
    }
    let folder = files.first().and_then(|(file, _)| file.parent());
    if folder.is_some_and(|folder| std::fs::create_dir_all(folder).is_err()) {
        return HashMap::new();
    }
    let ours = kept::create_all(&files, home.entropy).unwrap_or_default();
    drafts.into_iter().zip(ours).filter_map(|(made, is_ours)| is_ours.then_some(made)).collect()
}

/// Whether an agent has neither a genesis document nor an identity document with an `agent_id`.
fn lacks_genesis(home: &AgentHome<'_>, handle: &Handle) -> bool {
    if home.kept_file(handle).is_none_or(|kept| kept.exists()) || home.genesis_file(handle).exists() {
        return false;
    }
    let document = files::document(&home.document_file(handle), &mut Vec::new());
    !document.is_refused() && document.good().as_ref().and_then(AgentDocument::agent_id).is_none()
}
