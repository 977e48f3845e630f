//! Who the agents are that have no genesis document in the deployment: the first node makes one for each, and the
//! others take it. What the data folder of a node holds of it is a copy.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{AgentCard, Handle, Store, StoreError};
use forecourt_identity::agents::{AgentHome, AgentIdentitySettings, adopt_genesis, kept_genesis};
use serde_json::json;

use crate::error::Error;

/// The stream with a genesis document for each agent. The first one of an agent counts.
const STREAM: &str = "host:genesis";
/// Entries that are read in one go.
const READ_MAX: usize = 100;
/// Attempts to write down what was made, while others do so too.
const ATTEMPTS_MAX: usize = 64;

/// Brings the data folder in line with what all nodes have, and writes down what none has yet.
///
/// # Errors
/// The store is away, or the data folder can't be written.
pub(crate) async fn agree(
    store: &Arc<dyn Store>,
    home: &AgentHome<'_>,
    data: &Path,
    agents: &[(&AgentCard, &AgentIdentitySettings)],
) -> Result<(), Error> {
    let mut known = HashMap::new();
    let mut last = 0;
    for _ in 0..ATTEMPTS_MAX {
        last = read(store, home, last, &mut known).await?;
        for (card, _) in agents {
            let Some(genesis) = known.get(card.handle()) else { continue };
            let adopted = adopt_genesis(data, card.handle(), genesis, home.entropy);
            if adopted.map_err(|error| Error::new(format!("{}: {error}", data.display())))? {
                tracing::debug!(agent = %card.handle(), "the genesis document is the one that all nodes have");
            }
        }
        let unknown = agents.iter().copied().filter(|(card, _)| !known.contains_key(card.handle()));
        let made = kept_genesis(home, unknown);
        if made.is_empty() {
            return Ok(());
        }
        for (handle, genesis) in made {
            let body = json!({"handle": handle.as_str(), "genesis": genesis});
            let written = store.append_entry(STREAM, LedgerEntry::new(body, home.now), Some(last)).await;
            // Another node has written in between: what it wrote is read before anything more is made.
            let Some(number) = written.map_err(away)? else { break };
            last = number;
            known.insert(handle, genesis);
        }
    }
    Err(Error::new("other nodes write down new agents all the time").hint("start one node first, then the others"))
}

/// Reads what was written down behind `last`; gives how far that is.
async fn read(
    store: &Arc<dyn Store>,
    home: &AgentHome<'_>,
    mut last: u64,
    known: &mut HashMap<Handle, String>,
) -> Result<u64, Error> {
    loop {
        let entries = store.entries(STREAM, Span::After(last), READ_MAX, home.now).await.map_err(away)?;
        let is_all = entries.len() < READ_MAX;
        for (number, entry) in entries {
            last = number;
            let handle = entry.body["handle"].as_str().and_then(|handle| Handle::parse(handle).ok());
            if let (Some(handle), Some(genesis)) = (handle, entry.body["genesis"].as_str()) {
                // The first one counts: its identifier was published, and another would make the agent a stranger.
                known.entry(handle).or_insert_with(|| genesis.to_owned());
            }
        }
        if is_all {
            return Ok(last);
        }
    }
}

fn away(error: StoreError) -> Error {
    Error::new(format!("the store: {error}"))
}

#[cfg(test)]
mod tests {
    use forecourt_core::{Clock, Domain};
    use forecourt_identity::HostKeys;
    use forecourt_identity::agents::load;
    use forecourt_store::Memory;
    use forecourt_testkit::{HandClock, card};

    use super::*;

    /// The ids of some agents on a node that has agreed with those before it.
    async fn ids(store: &Arc<dyn Store>, data: &Path, handles: &[&str]) -> Vec<String> {
        let domain = Domain::parse("demo.localhost").unwrap();
        let (entropy, now) = (forecourt_host::SystemEntropy, HandClock::new().now());
        let keys = HostKeys::in_memory(&entropy);
        let folder = Path::new("no-such-folder");
        let home =
            AgentHome { folder, data: Some(data), keeps: true, domain: &domain, keys: &keys, now, entropy: &entropy };
        let (cards, settings): (Vec<_>, _) =
            (handles.iter().map(|handle| card(handle)).collect(), AgentIdentitySettings::default());
        let agents: Vec<_> = cards.iter().map(|card| (card, &settings)).collect();
        agree(store, &home, data, &agents).await.unwrap();
        let known = load(&home, agents).0;
        let id = |handle| known.of_handle(&Handle::parse(handle).unwrap()).unwrap().agent_id.to_string();
        handles.iter().map(|handle| id(handle)).collect()
    }

    #[tokio::test]
    async fn nodes_that_start_at_once_have_the_same_agents_whichever_they_host() {
        let store: Arc<dyn Store> = Arc::new(Memory::new());
        let data: Vec<_> = (0..6).map(|_| tempfile::tempdir().unwrap()).collect();
        let all = ["chef", "gate", "echo"];
        let nodes = data.iter().map(|data| ids(&store, data.path(), &all));
        let found = futures::future::join_all(nodes).await;
        assert!(found.iter().all(|ids| *ids == found[0]), "{found:?}");
        let fresh = tempfile::tempdir().unwrap();
        let later = ids(&store, fresh.path(), &["echo", "waiter"]).await;
        assert_eq!(later[0], found[0][2], "a node that starts later");
        assert_eq!(ids(&store, data[0].path(), &["waiter", "chef"]).await, [later[1].as_str(), found[0][0].as_str()]);
    }
}
