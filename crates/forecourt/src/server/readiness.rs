//! Whether this node takes requests, and what it goes on without.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forecourt_core::Handle;
use forecourt_host::{Host, HubStates, ServerStates};
use forecourt_server::ReadinessCheck;
use parking_lot::Mutex;

use super::SharedParts;
use super::certificates::CertificateKeeper;
use crate::content::Content;
use crate::data_folder;
use crate::live::LiveHouse;

/// Whether a domain takes requests, with what it goes on without, such as a good certificate; or why it does not. The
/// first of several says this of all.
pub(super) fn ready(
    live: Arc<LiveHouse>,
    place: Arc<data_folder::Place>,
    keeper: Arc<CertificateKeeper>,
    shared: &SharedParts,
) -> ReadinessCheck {
    let (list, leaving) = (shared.list.clone(), shared.sockets.leaving().clone());
    let whole = Arc::new(OnceWhole::default());
    Arc::new(move || {
        let (live, place, keeper, list) = (live.clone(), place.clone(), keeper.clone(), list.clone());
        let leaving = leaving.clone();
        let whole = whole.clone();
        Box::pin(async move {
            // First: whoever waits for this node to be passed by waits for nothing else.
            if leaving.is_begun() {
                return Err("the host is told to stop".to_owned());
            }
            place.is_there()?;
            let house = live.now().ok_or_else(|| "the host is stopping".to_owned())?;
            works(&house.host).await?;
            let lag = searchable(house.contents.clone(), whole, Instant::now()).await?;
            // Domains share the sockets, and a balancer asks once for all of them.
            let others = list.others_of(&house.host.site().domain);
            for other in &others {
                let host = other.running.host();
                works(&host).await.map_err(|reason| format!("{}: {reason}", other.name))?;
            }
            let servers = house.services.get::<ServerStates>().map(|states| states.notes()).unwrap_or_default();
            let hubs = house.services.get::<HubStates>().map(|states| states.notes()).unwrap_or_default();
            let notes = house.host.notes().into_iter().chain(lag).chain(servers).chain(hubs).chain(keeper.notes());
            Ok(notes.chain(others.iter().flat_map(|other| other.keeper.notes())).collect())
        })
    })
}

/// Whether a host can do its work, or why not.
async fn works(host: &Host) -> Result<(), String> {
    match host.clock_fault() {
        Some(fault) => Err(fault),
        None => host.ready().await.map_err(|error| error.to_string()),
    }
}

/// How long an index may be behind what was pushed before its node is passed by.
const BEHIND_MAX: Duration = Duration::from_secs(30);

/// Agents whose index has had everything that was pushed since this process began, and since when it is behind again.
/// What is pushed, here or at another node, is a moment behind in every index: if that made nodes unready, one push
/// would take all of them from their balancer.
#[derive(Default)]
struct OnceWhole(Mutex<HashMap<Handle, Option<Instant>>>);

impl OnceWhole {
    /// Whether an agent that is behind was whole lately.
    fn is_lately(&self, agent: &Handle, now: Instant) -> bool {
        let mut known = self.0.lock();
        let Some(since) = known.get_mut(agent) else { return false };
        now.saturating_duration_since(*since.get_or_insert(now)) <= BEHIND_MAX
    }
}

/// What can't be found yet of what was pushed and acknowledged, as notes; as a reason not to be ready until an index
/// was whole once, and when it stays behind.
async fn searchable(contents: Vec<Content>, whole: Arc<OnceWhole>, now: Instant) -> Result<Vec<String>, String> {
    let look = move || {
        let mut notes = Vec::new();
        // Who left is forgotten, and comes back as somebody new.
        whole.0.lock().retain(|known, _| contents.iter().any(|content| content.handle == *known));
        for Content { handle, indexing } in &contents {
            let lag = format!("items that were pushed to @{handle} are kept and not searchable yet");
            match indexing.has_what_was_pushed() {
                Ok(true) => drop(whole.0.lock().insert(handle.clone(), None)),
                Ok(false) if whole.is_lately(handle, now) => notes.push(lag),
                Ok(false) => return Err(lag),
                Err(error) => return Err(format!("the items of @{handle} can't be looked at: {error}")),
            }
        }
        Ok(notes)
    };
    tokio::task::spawn_blocking(look).await.map_err(|_| "the search index can't be looked at".to_owned())?
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicBool, Ordering};

    use forecourt_agents::{IndexReport, IndexedContent, IndexingError};
    use forecourt_index::LoadProgress;

    use super::*;

    /// An index that is whole when it is told so.
    #[derive(Default)]
    struct Shelf {
        is_whole: AtomicBool,
    }

    impl IndexedContent for Shelf {
        fn sources(&self) -> Vec<PathBuf> {
            Vec::new()
        }

        fn fingerprint(&self) -> Result<u64, IndexingError> {
            Ok(0)
        }

        fn is_current(&self, _: u64) -> bool {
            true
        }

        fn has_what_was_pushed(&self) -> Result<bool, IndexingError> {
            Ok(self.is_whole.load(Ordering::Relaxed))
        }

        fn items(&self) -> u64 {
            0
        }

        fn index(&self, _: &mut (dyn FnMut(&LoadProgress) + Send)) -> Result<IndexReport, IndexingError> {
            Ok(IndexReport::default())
        }
    }

    fn content(shelf: &Arc<Shelf>) -> Content {
        Content { handle: "shelf".parse().unwrap(), indexing: shelf.clone() }
    }

    #[tokio::test]
    async fn a_node_is_ready_once_everything_was_found_and_says_later_what_is_a_moment_behind() {
        let (shelf, whole) = (Arc::new(Shelf::default()), Arc::new(OnceWhole::default()));
        let begin = Instant::now();
        let look = |seconds| searchable(vec![content(&shelf)], whole.clone(), begin + Duration::from_secs(seconds));
        let reason = look(0).await.unwrap_err();
        assert!(reason.contains("@shelf") && reason.contains("not searchable yet"), "{reason}");
        shelf.is_whole.store(true, Ordering::Relaxed);
        assert_eq!(look(1).await, Ok(Vec::new()));
        shelf.is_whole.store(false, Ordering::Relaxed);
        // Nobody looked for long: it counts from the look that found it behind.
        for ready in [500, 501, 530] {
            assert_eq!(look(ready).await, Ok(vec![reason.clone()]), "a note, and it is ready");
        }
        assert_eq!(look(531).await, Err(reason.clone()), "it stays behind");
        shelf.is_whole.store(true, Ordering::Relaxed);
        assert_eq!(look(532).await, Ok(Vec::new()));
        shelf.is_whole.store(false, Ordering::Relaxed);
        assert_eq!(look(540).await, Ok(vec![reason.clone()]));
        // An agent that was gone for a while has to be whole again.
        assert_eq!(searchable(Vec::new(), whole.clone(), begin).await, Ok(Vec::new()));
        assert_eq!(look(541).await, Err(reason));
    }
}
