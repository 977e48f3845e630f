//! Hubs elsewhere are looked at again and again, and what changed there is served: by the same way on which changed
//! files of a deployment are taken up, so that calls under way end undisturbed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use forecourt_agents::hub::{HubError, HubList, HubLook, LeftOutAgent};
use forecourt_core::{Entropy, Handle};
use forecourt_host::SystemEntropy;
use forecourt_surface::ServerNames;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use super::ServerCore;
use super::reloader::blocking;
use crate::hubs::limits::{LOOKS_AT_ONCE, RELOAD_PAUSE, RETRY_FIRST, WAIT_MAX};
use crate::hubs::{KeptList, OpenHub, Proposals, Remainder, Shrinking};
use crate::reload::{AttemptOutcome, ReloadTrigger};

/// How often it is seen which hubs are due.
const TICK: Duration = Duration::from_secs(1);

/// How long a look that never ends is waited for. Looks have a shorter bound of their own.
const LOST_AFTER: Duration = Duration::from_secs(600);

/// The state of the task that follows the hubs of one domain.
pub(super) struct HubFollower {
    core: Arc<ServerCore>,
    paces: HashMap<Handle, HubPace>,
    looks: JoinSet<FinishedLook>,
    /// Lists that are to be served.
    found: Proposals,
    /// When hubs last had the deployment built again.
    reloaded: Option<Instant>,
}

/// When a hub is looked at.
struct HubPace {
    /// The hub as it was when this began.
    fingerprint: Arc<str>,
    due: Instant,
    /// Looks in a row that failed.
    failures: u32,
    shrinking: Shrinking,
    kept: KeptList,
}

/// A look that came to its end.
struct FinishedLook {
    hub: OpenHub,
    result: Result<HubLook, HubError>,
}

impl HubFollower {
    pub(super) fn new(core: Arc<ServerCore>) -> Self {
        let (paces, looks, found) = (HashMap::new(), JoinSet::new(), Proposals::default());
        Self { core, paces, looks, found, reloaded: None }
    }

    /// Follows them until the domain ends.
    pub(super) async fn run(mut self) {
        let stop = self.core.stop.clone();
        stop.run_until_cancelled(self.follow()).await;
    }

    async fn follow(&mut self) {
        loop {
            tokio::select! {
                () = sleep(TICK) => {}
                Some(finished) = self.looks.join_next(), if !self.looks.is_empty() => {
                    // One that panicked has no result: its hub is due again after `LOST_AFTER`.
                    if let Ok(finished) = finished {
                        self.take(finished).await;
                    }
                }
            }
            self.look();
            let may_reload = self.reloaded.is_none_or(|at| at.elapsed() >= RELOAD_PAUSE);
            if !self.found.is_empty() && may_reload {
                self.serve().await;
            }
        }
    }

    /// Looks at the hubs that are due.
    fn look(&mut self) {
        let hubs = &self.core.running.deployment().open_hubs;
        let is_followed = |name: &Handle| hubs.iter().any(|hub| hub.name == *name);
        self.paces.retain(|name, _| is_followed(name));
        self.found.retain(is_followed);
        self.core.hub_lists.retain(is_followed);
        let now = Instant::now();
        for hub in hubs {
            let pace = self.paces.entry(hub.name.clone()).or_insert_with(|| HubPace::new(hub, now));
            if pace.fingerprint != hub.fingerprint {
                // Another hub by that name, or other agents of it: what is known of its pace is worth nothing.
                *pace = HubPace::new(hub, now);
            }
            if now < pace.due || self.looks.len() >= LOOKS_AT_ONCE {
                continue;
            }
            pace.due = now + LOST_AFTER;
            let (hub, known) = (hub.clone(), pace.kept.known(hub.list.as_ref()));
            self.looks.spawn(async move {
                let result = hub.remote.look(&hub.choice, known.as_deref()).await;
                FinishedLook { hub, result }
            });
        }
    }

    /// Takes notice of what a look found.
    async fn take(&mut self, finished: FinishedLook) {
        let FinishedLook { hub: before, result } = finished;
        // As it is served by now: its list may be another one than when the look began.
        let deployment = self.core.running.deployment();
        let hub = deployment.open_hubs.iter().find(|hub| hub.name == before.name);
        let Some(hub) = hub.filter(|hub| hub.fingerprint == before.fingerprint) else { return };
        let Some(pace) = self.paces.get_mut(&hub.name) else { return };
        let lists = &self.core.hub_lists;
        match result {
            Err(error) => {
                pace.failed(hub, error.wait);
                let (name, why) = (&hub.name, error.to_string());
                if lists.note_failure(name, why.clone()) {
                    tracing::warn!(hub = %name, "the hub `{name}` {why}; its agents stay as they were seen last");
                }
            }
            Ok(look) => {
                pace.worked(hub);
                self.read(hub, look).await;
            }
        }
    }

    /// Takes up the list of a hub that was read.
    async fn read(&mut self, hub: &OpenHub, look: HubLook) {
        let HubLook { mut list, mut left_out, .. } = look;
        self.leave_out_names_of_others(hub, &mut list, &mut left_out);
        let remainder = Remainder::of(hub.agents(), &list);
        let Some(pace) = self.paces.get_mut(&hub.name) else { return };
        let believed = pace.shrinking.believes(remainder);
        let left = pace.shrinking.looks_left();
        let behind = (!believed).then(|| {
            let Remainder { known, still } = remainder;
            format!("has {still} of its {known} agents left, which is believed if {left} further looks find the same")
        });
        let name = &hub.name;
        if self.core.hub_lists.note_read(name, list.seen_at, &left_out, behind.clone()) {
            tracing::info!(hub = %name, "the hub `{name}` answers again");
        }
        if let Some(behind) = behind {
            tracing::warn!(hub = %name, "the hub `{name}` {behind}");
            return;
        }
        if hub.list.as_ref().is_some_and(|known| known.has_same_agents(&list)) {
            self.found.remove(name);
            if pace.kept.is_replaced_by(&list) {
                self.keep(name, Arc::new(list)).await;
            }
        } else {
            self.found.insert(name.clone(), Arc::new(list));
        }
    }

    /// Leaves out agents whose handles others have here: nobody elsewhere takes the name of who is here, or keeps the
    /// deployment from being built.
    fn leave_out_names_of_others(&self, hub: &OpenHub, list: &mut HubList, left_out: &mut Vec<LeftOutAgent>) {
        let own: HashSet<Handle> = hub.handles().collect();
        let host = self.core.running.host();
        let servers = self.core.running.live().now().and_then(|house| house.services.get::<ServerNames>());
        let pending = self.found.iter().filter(|(name, _)| **name != hub.name).flat_map(|(name, list)| {
            let hubs = &self.core.running.deployment().open_hubs;
            let other = hubs.iter().find(|hub| hub.name == *name).map(|hub| hub.choice.clone());
            let handles = list.agents.iter().filter_map(move |agent| other.as_ref()?.handle_here(&agent.handle));
            handles.collect::<Vec<_>>()
        });
        let agents = host.directory().iter().map(|agent| agent.card.handle().clone());
        let servers = servers.iter().flat_map(|names| names.0.iter().cloned());
        let taken: HashSet<Handle> =
            agents.filter(|handle| !own.contains(handle)).chain(servers).chain(pending).collect();
        list.retain(|agent| {
            let is_free = hub.choice.handle_here(&agent.handle).is_some_and(|here| !taken.contains(&here));
            if !is_free {
                let why = "has a handle that is taken here: `prefix` gives the agents of the hub others".to_owned();
                left_out.push(LeftOutAgent { handle: agent.handle.to_string(), why });
            }
            is_free
        });
    }

    /// Has the lists served that were found.
    async fn serve(&mut self) {
        let found = self.found.take();
        let lists = self.core.hub_lists.clone();
        lists.propose(&found);
        let attempt = self.core.reloader.reload(ReloadTrigger::Hub).await;
        self.reloaded = Some(Instant::now());
        let refused = match &attempt {
            Some(attempt) if attempt.outcome == AttemptOutcome::Applied => None,
            Some(attempt) => {
                let first = attempt.problems.first();
                let first = first.map(|one| format!("{}: {}", one.file, one.message)).unwrap_or_default();
                Some(format!("has changed, and the deployment can't be built with that: {first}"))
            }
            None => Some("has changed, which waits until the deployment is read again".to_owned()),
        };
        for (name, list) in &found {
            match &refused {
                Some(why) => lists.refuse(name, why.clone()),
                None => {
                    tracing::info!(hub = %name, agents = list.agents.len(), "the agents of the hub `{name}` have changed");
                    self.keep(name, list.clone()).await;
                }
            }
        }
        match (attempt, refused) {
            (None, _) => self.found.put_back(found),
            (Some(_), Some(_)) => self.found.refused(found),
            (Some(_), None) => {}
        }
    }

    /// Keeps a list for the next start.
    async fn keep(&mut self, name: &Handle, list: Arc<HubList>) {
        let (lists, data, of, written) =
            (self.core.hub_lists.clone(), self.core.data.clone(), name.clone(), list.clone());
        let kept = blocking(move || lists.keep(&data, &of, &written).map_err(|error| error.to_string())).await;
        if let Err(why) = kept.map_err(|error| error.to_string()).and_then(|kept| kept) {
            tracing::error!(hub = %name, why, "the list of a hub can't be kept; the next start has the one before");
        } else if let Some(pace) = self.paces.get_mut(name) {
            pace.kept = KeptList(Some(list));
        }
    }
}

impl HubPace {
    /// That of a hub that is to be looked at at once.
    fn new(hub: &OpenHub, now: Instant) -> Self {
        let fingerprint = hub.fingerprint.clone();
        Self { fingerprint, due: now, failures: 0, shrinking: Shrinking::default(), kept: KeptList::default() }
    }

    fn worked(&mut self, hub: &OpenHub) {
        self.failures = 0;
        self.due = Instant::now() + jittered(hub.refresh, &SystemEntropy);
    }

    fn failed(&mut self, hub: &OpenHub, wait: Option<Duration>) {
        let doubled = RETRY_FIRST.saturating_mul(1 << self.failures.min(16));
        self.failures = self.failures.saturating_add(1);
        let asked = wait.unwrap_or_default().min(WAIT_MAX);
        self.due = Instant::now() + jittered(doubled.min(hub.refresh).max(asked), &SystemEntropy);
    }
}

/// A wait, up to a tenth longer: so that not all who follow a hub look at it at once.
fn jittered(wait: Duration, entropy: &dyn Entropy) -> Duration {
    let mut byte = [0; 1];
    entropy.fill(&mut byte);
    wait + wait / 10 * u32::from(byte[0]) / 255
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_at_most_a_tenth_longer() {
        #[derive(Debug)]
        struct Fixed(u8);
        impl Entropy for Fixed {
            fn fill(&self, bytes: &mut [u8]) {
                bytes.fill(self.0);
            }
        }
        let wait = Duration::from_secs(100);
        let of = |byte| jittered(wait, &Fixed(byte));
        assert_eq!((of(0), of(255)), (wait, Duration::from_secs(110)));
        assert!((wait..=Duration::from_secs(110)).contains(&of(100)));
    }
}
