//! The lifecycle of agents: a stream of changes for each, and the last one at hand.
//!
//! Other processes may write to the same streams, so what is at hand holds for a while and is read anew
//! after that: whoever retires an agent is heard everywhere within [`STANDING_AGE_MAX`], and a request
//! pays for a look into the store only when nobody has looked for that long.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use forecourt_core::policy::RefusalKind;
use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{
    Bus, Clock, Error, Handle, LifecycleState, LifecycleTransition, MaybeBoxed, Noun, PolicyPart, Store, Timestamp,
    at_once, in_time,
};
use futures::future::{BoxFuture, try_join_all};
use parking_lot::RwLock;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::directory::Directory;
use crate::topics;

/// How long what was read of an agent holds before it is read anew: the longest that an agent which
/// another process retired goes on to be served by this one.
pub const STANDING_AGE_MAX: Duration = Duration::from_secs(2);
/// Changes that are read in one go.
pub const CHANGES_PER_READ_MAX: usize = 200;
/// How often a change is tried anew when another one came first.
const TRIES_MAX: usize = 8;

/// A change that somebody wants.
#[derive(Debug, Clone, Default)]
pub struct LifecycleChange {
    /// The state to change to.
    pub to: LifecycleState,
    /// Who wants the change, as far as is known.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Members of the protocol's own that are stored and signed with the change.
    pub details: Map<String, Value>,
}

/// A change that is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredLifecycleChange {
    /// What changed.
    #[serde(flatten)]
    pub change: LifecycleTransition,
    /// What was signed about it as it happened, by the protocol that did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<String>,
}

/// The outcome of a requested lifecycle change.
#[derive(Debug, Clone, PartialEq)]
pub enum LifecycleOutcome {
    /// The change was written: the agent is in its new state.
    Now(Box<StoredLifecycleChange>),
    /// It stood there already: nothing was written.
    Already,
    /// The agent's state, given here, does not allow this change.
    Never(LifecycleState),
}

/// Signs a change as it happens; `None`: it goes unsigned.
pub type Attest<'a> = &'a (dyn Fn(&LifecycleTransition) -> Option<String> + Send + Sync);

/// The lifecycle states of all agents: a cache over the store. A change is always made from the stored state.
pub(crate) struct Lifecycle {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    /// Tells other nodes of changes.
    bus: Arc<dyn Bus>,
    known: RwLock<HashMap<Handle, KnownState>>,
}

/// What is at hand of one agent.
#[derive(Debug, Clone, Copy)]
struct KnownState {
    state: LifecycleState,
    /// The number of the change that led there, 0 for none.
    number: u64,
    /// When the store said so last.
    at: Timestamp,
}

impl KnownState {
    /// Whether it still holds. A clock that was set back makes everything old.
    fn is_fresh(&self, now: Timestamp) -> bool {
        Duration::try_from(now.duration_since(self.at)).is_ok_and(|age| age <= STANDING_AGE_MAX)
    }
}

fn stream(agent: &Handle) -> String {
    format!("standing:{agent}")
}

/// Agents that are asked for side by side at a start: of thousands, each waits for the store's answer else.
const READ_AT_ONCE: usize = 32;

impl Lifecycle {
    /// Reads where everybody stands.
    pub(crate) async fn read(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        bus: Arc<dyn Bus>,
        directory: &Directory,
    ) -> Result<Self, Error> {
        let lifecycle = Self { store, clock, bus, known: RwLock::default() };
        let agents: Vec<_> = directory.iter().map(|resident| resident.card.handle()).collect();
        for some in agents.chunks(READ_AT_ONCE) {
            try_join_all(some.iter().map(|agent| lifecycle.last(agent))).await?;
        }
        Ok(lifecycle)
    }

    /// The number of the last change, and where the agent stands since, as the store has it.
    async fn last(&self, agent: &Handle) -> Result<(u64, LifecycleState), Error> {
        let at = self.clock.now();
        let newest = self.store.entries(&stream(agent), Span::Before(u64::MAX), 1, at).await?;
        let (number, state) = match newest.into_iter().next() {
            None => (0, LifecycleState::default()),
            Some((number, entry)) => (number, opened(entry.body)?.change.to),
        };
        self.learn(agent, KnownState { state, number, at });
        Ok((number, state))
    }

    /// Remembers where an agent stands. Who was slow to say so takes nothing back that came after.
    fn learn(&self, agent: &Handle, said: KnownState) {
        let mut known = self.known.write();
        let newest = known.entry(agent.clone()).or_insert(said);
        if newest.number <= said.number {
            *newest = said;
        }
    }

    /// Another node says that an agent stands elsewhere: the store is asked where. Agents that nobody asked for here
    /// stay unknown.
    pub(crate) async fn hear(&self, agent: &str) {
        let Some(agent) = Handle::parse(agent).ok().filter(|agent| self.known(agent).is_some()) else { return };
        if let Err(error) = self.last(&agent).await {
            tracing::debug!(%error, %agent, "where an agent stands is read anew when it is asked for");
        }
    }

    fn known(&self, agent: &Handle) -> Option<KnownState> {
        self.known.read().get(agent).copied()
    }

    /// Where an agent stands: what the store said no longer than [`STANDING_AGE_MAX`] ago. One that
    /// nothing is known of is active. Fails when the store has to be asked and can't be.
    pub(crate) fn state<'a>(&'a self, agent: &'a Handle) -> MaybeBoxed<'a, Result<LifecycleState, Error>> {
        match self.known(agent).filter(|known| known.is_fresh(self.clock.now())) {
            Some(known) => at_once(Ok(known.state)),
            // Rare.
            None => in_time(|| async move { Ok(self.last(agent).await?.1) }),
        }
    }

    /// Where an agent stood when it was last asked for: for lists of many, which decide nothing.
    pub(crate) fn state_at_hand(&self, agent: &Handle) -> LifecycleState {
        self.known(agent).map(|known| known.state).unwrap_or_default()
    }

    /// Has an agent stand elsewhere, and keeps who wanted it and why. Whether there is such an agent is for the
    /// caller to know: [`crate::OperatorDesk::change_lifecycle`].
    pub(crate) async fn change(
        &self,
        agent: &Handle,
        change: &LifecycleChange,
        attest: Attest<'_>,
    ) -> Result<LifecycleOutcome, Error> {
        for _ in 0..TRIES_MAX {
            let (number, from) = self.last(agent).await?;
            if from == change.to {
                return Ok(LifecycleOutcome::Already);
            }
            if !from.may_become(change.to) {
                return Ok(LifecycleOutcome::Never(from));
            }
            let (by, reason, details) = (change.by.clone(), change.reason.clone(), change.details.clone());
            let transition = LifecycleTransition { from, to: change.to, by, reason, at: self.clock.now(), details };
            // Signed anew with each try: `from` may be another state by then.
            let kept = StoredLifecycleChange { statement: attest(&transition), change: transition };
            let body = serde_json::to_value(&kept).map_err(Error::internal)?;
            let at = kept.change.at;
            // The number makes it fail when another process was first: what is at hand may be old.
            let entry = LedgerEntry::new(body, at);
            if let Some(number) = self.store.append_entry(&stream(agent), entry, Some(number)).await? {
                self.learn(agent, KnownState { state: change.to, number, at });
                self.bus.publish(topics::LIFECYCLE, Bytes::copy_from_slice(agent.as_str().as_bytes()));
                let (from, to) = (from.name(), change.to.name());
                tracing::warn!(%agent, from, to, by = change.by, reason = change.reason, "an agent's lifecycle changed");
                return Ok(LifecycleOutcome::Now(Box::new(kept)));
            }
        }
        Err(Error::unavailable())
    }

    /// Reads at most `limit` changes of an agent, and never more than [`CHANGES_PER_READ_MAX`], with
    /// their numbers.
    pub(crate) fn changes<'a>(
        &'a self,
        agent: &'a Handle,
        span: Span,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<(u64, StoredLifecycleChange)>, Error>> {
        Box::pin(async move {
            let limit = limit.min(CHANGES_PER_READ_MAX);
            let entries = self.store.entries(&stream(agent), span, limit, self.clock.now()).await?;
            entries.into_iter().map(|(number, entry)| Ok((number, opened(entry.body)?))).collect()
        })
    }

    /// Why an agent answers nobody, if that is so: a refusal while it may answer again.
    pub(crate) async fn unavailable_reason(&self, agent: &Handle) -> Result<Option<PolicyPart>, Error> {
        match self.state(agent).await? {
            LifecycleState::Active | LifecycleState::Deprecated => Ok(None),
            // For good, so an error and no refusal: nothing that a caller does later brings an answer.
            LifecycleState::Retired => Err(Error::Gone { what: Noun::Agent }),
            LifecycleState::Suspended => {
                // Nobody knows when the operator lifts it, so no time is promised.
                let kind = RefusalKind::ServiceUnavailable { retry_after_seconds: None };
                Ok(Some(PolicyPart::new(kind, format!("@{agent} is suspended and answers nobody at the moment."))))
            }
        }
    }
}

fn opened(body: Value) -> Result<StoredLifecycleChange, Error> {
    serde_json::from_value(body).map_err(Error::internal)
}

/// Read access to the lifecycle states of a host's agents.
#[derive(Clone, Copy)]
pub struct LifecycleView<'a>(&'a Lifecycle);

impl<'a> LifecycleView<'a> {
    pub(crate) fn new(lifecycle: &'a Lifecycle) -> Self {
        Self(lifecycle)
    }

    /// Where an agent stands: as it was known within [`STANDING_AGE_MAX`], else as the store says now.
    pub fn state(self, agent: &'a Handle) -> MaybeBoxed<'a, Result<LifecycleState, Error>> {
        self.0.state(agent)
    }

    /// Where an agent stood when that was last asked.
    pub fn state_at_hand(self, agent: &Handle) -> LifecycleState {
        self.0.state_at_hand(agent)
    }

    /// Reads at most `limit` changes of an agent, and never more than [`CHANGES_PER_READ_MAX`], with their numbers.
    pub fn changes(
        self,
        agent: &'a Handle,
        span: Span,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<(u64, StoredLifecycleChange)>, Error>> {
        self.0.changes(agent, span, limit)
    }
}

#[cfg(test)]
mod tests {
    use forecourt_core::SystemClock;
    use forecourt_store::Memory;

    use super::*;

    #[test]
    fn who_is_slow_to_say_so_does_not_bring_a_retired_agent_back() {
        let (store, clock) = (Arc::new(Memory::new()), Arc::new(SystemClock));
        let lifecycle = Lifecycle { store, clock, bus: Arc::new(forecourt_core::NoBus), known: RwLock::default() };
        let agent = Handle::parse("chef").unwrap();
        let learn = |number, state| lifecycle.learn(&agent, KnownState { state, number, at: Timestamp::UNIX_EPOCH });
        let known = || lifecycle.known(&agent).unwrap().state;
        learn(1, LifecycleState::Suspended);
        learn(3, LifecycleState::Retired);
        learn(2, LifecycleState::Active);
        assert_eq!(known(), LifecycleState::Retired);
        learn(4, LifecycleState::Active);
        assert_eq!(known(), LifecycleState::Active);
    }

    #[test]
    fn what_is_at_hand_holds_for_so_long() {
        let at = Timestamp::from_second(1_000).unwrap();
        let known = KnownState { state: LifecycleState::Active, number: 0, at };
        let nanosecond = Duration::from_nanos(1);
        assert!(known.is_fresh(at) && known.is_fresh(at + STANDING_AGE_MAX));
        assert!(!known.is_fresh(at + STANDING_AGE_MAX + nanosecond));
        assert!(!known.is_fresh(at - nanosecond), "the clock was set back");
    }
}
