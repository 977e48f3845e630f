//! Where the agents stand in their lives: a stream of changes for each, and the last one at hand.
//!
//! Other processes may write to the same streams, so what is at hand holds for a while and is read anew
//! after that: whoever retires an agent is heard everywhere within [`STANDING_AGE_MAX`], and a request
//! pays for a look into the store only when nobody has looked for that long.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::policy::RefusalKind;
use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Clock, Error, Handle, LifecycleState, LifecycleTransition, Noun, PolicyPart, Store, Timestamp};
use parking_lot::RwLock;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::directory::Directory;
use crate::receive::Host;

/// How long what was read of an agent holds before it is read anew: the longest that an agent which
/// another process retired goes on to be served by this one.
pub const STANDING_AGE_MAX: Duration = Duration::from_secs(2);
/// Changes that are read in one go.
pub const CHANGES_PER_READ_MAX: usize = 200;
/// How often a change is tried anew when another one came first.
const TRIES_MAX: usize = 8;

/// A wish for an agent to stand elsewhere.
#[derive(Debug, Clone, Default)]
pub struct LifecycleChange {
    /// Where.
    pub to: LifecycleState,
    /// Who wishes it, as far as is known.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// What else is to be kept with it.
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

/// What came of a wish.
#[derive(Debug, Clone, PartialEq)]
pub enum LifecycleOutcome {
    /// The agent stands elsewhere now.
    Now(Box<StoredLifecycleChange>),
    /// It stood there already: nothing was written.
    Already,
    /// From where it stands, here, there is no way there.
    Never(LifecycleState),
}

/// Signs a change as it happens; `None`: it goes unsigned.
pub type Attest<'a> = &'a (dyn Fn(&LifecycleTransition) -> Option<String> + Send + Sync);

/// Where everybody stands. A change is always made from the truth.
pub(crate) struct Standings {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    known: RwLock<HashMap<Handle, Known>>,
}

/// What is at hand of one agent.
#[derive(Debug, Clone, Copy)]
struct Known {
    standing: LifecycleState,
    /// The number of the change that led there, 0 for none.
    number: u64,
    /// When the store said so last.
    at: Timestamp,
}

impl Known {
    /// Whether it still holds. A clock that was set back makes everything old.
    fn is_fresh(&self, now: Timestamp) -> bool {
        Duration::try_from(now.duration_since(self.at)).is_ok_and(|age| age <= STANDING_AGE_MAX)
    }
}

fn stream(agent: &Handle) -> String {
    format!("standing:{agent}")
}

impl Standings {
    /// Reads where everybody stands.
    pub(crate) async fn read(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        directory: &Directory,
    ) -> Result<Self, Error> {
        let standings = Self { store, clock, known: RwLock::default() };
        for resident in directory.iter() {
            standings.last(resident.card.handle()).await?;
        }
        Ok(standings)
    }

    /// The number of the last change, and where the agent stands since, as the store has it.
    async fn last(&self, agent: &Handle) -> Result<(u64, LifecycleState), Error> {
        let at = self.clock.now();
        let newest = self.store.entries(&stream(agent), Span::Before(u64::MAX), 1, at).await?;
        let (number, standing) = match newest.into_iter().next() {
            None => (0, LifecycleState::default()),
            Some((number, entry)) => (number, opened(entry.body)?.change.to),
        };
        self.learn(agent, Known { standing, number, at });
        Ok((number, standing))
    }

    /// Remembers where an agent stands. Who was slow to say so takes nothing back that came after.
    fn learn(&self, agent: &Handle, said: Known) {
        let mut known = self.known.write();
        let newest = known.entry(agent.clone()).or_insert(said);
        if newest.number <= said.number {
            *newest = said;
        }
    }

    fn at_hand(&self, agent: &Handle) -> Option<Known> {
        self.known.read().get(agent).copied()
    }

    /// Where an agent stands, out of the store when what is at hand is old.
    pub(crate) async fn of(&self, agent: &Handle) -> Result<LifecycleState, Error> {
        match self.at_hand(agent).filter(|known| known.is_fresh(self.clock.now())) {
            Some(known) => Ok(known.standing),
            // On the heap, since it is rare.
            None => Ok(Box::pin(self.last(agent)).await?.1),
        }
    }

    async fn change(
        &self,
        agent: &Handle,
        wish: &LifecycleChange,
        attest: Attest<'_>,
    ) -> Result<LifecycleOutcome, Error> {
        for _ in 0..TRIES_MAX {
            let (number, from) = self.last(agent).await?;
            if from == wish.to {
                return Ok(LifecycleOutcome::Already);
            }
            if !from.may_become(wish.to) {
                return Ok(LifecycleOutcome::Never(from));
            }
            let (by, reason, details) = (wish.by.clone(), wish.reason.clone(), wish.details.clone());
            let change = LifecycleTransition { from, to: wish.to, by, reason, at: self.clock.now(), details };
            let kept = StoredLifecycleChange { statement: attest(&change), change };
            let body = serde_json::to_value(&kept).map_err(Error::internal)?;
            let at = kept.change.at;
            if let Some(number) =
                self.store.append_entry(&stream(agent), LedgerEntry::new(body, at), Some(number)).await?
            {
                self.learn(agent, Known { standing: wish.to, number, at });
                return Ok(LifecycleOutcome::Now(Box::new(kept)));
            }
        }
        Err(Error::unavailable())
    }
}

fn opened(body: Value) -> Result<StoredLifecycleChange, Error> {
    serde_json::from_value(body).map_err(Error::internal)
}

/// Where agents stand, for protocols that can say and change it.
impl Host {
    /// Where an agent stands: what the store said no longer than [`STANDING_AGE_MAX`] ago. One that
    /// nothing is known of is active. Fails when the store has to be asked and can't be.
    pub async fn standing(&self, agent: &Handle) -> Result<LifecycleState, Error> {
        self.standings.of(agent).await
    }

    /// Where an agent stood when it was last asked for: for lists of many, which decide nothing.
    pub fn standing_at_hand(&self, agent: &Handle) -> LifecycleState {
        self.standings.at_hand(agent).map(|known| known.standing).unwrap_or_default()
    }

    /// Lets an agent stand elsewhere, and keeps who wished it and why. Whether somebody may wish it
    /// is for the protocol to decide. Fails with [`Error::NotFound`] when there is no such agent.
    pub async fn change_standing(
        &self,
        agent: &Handle,
        wish: &LifecycleChange,
        attest: Attest<'_>,
    ) -> Result<LifecycleOutcome, Error> {
        self.directory.find(agent).ok_or_else(|| Error::not_found(Noun::Agent))?;
        let changed = self.standings.change(agent, wish, attest).await?;
        if let LifecycleOutcome::Now(kept) = &changed {
            let (from, to) = (kept.change.from.name(), kept.change.to.name());
            tracing::warn!(%agent, from, to, by = wish.by, reason = wish.reason, "an agent stands elsewhere now");
        }
        Ok(changed)
    }

    /// Reads at most `limit` changes of an agent, and never more than [`CHANGES_PER_READ_MAX`], with
    /// their numbers.
    pub async fn standing_changes(
        &self,
        agent: &Handle,
        span: Span,
        limit: usize,
    ) -> Result<Vec<(u64, StoredLifecycleChange)>, Error> {
        let limit = limit.min(CHANGES_PER_READ_MAX);
        let entries = self.standings.store.entries(&stream(agent), span, limit, self.clock.now()).await?;
        entries.into_iter().map(|(number, entry)| Ok((number, opened(entry.body)?))).collect()
    }

    /// Why an agent answers nobody, if that is so: a refusal while it may answer again.
    pub(crate) async fn unavailable_reason(&self, agent: &Handle) -> Result<Option<PolicyPart>, Error> {
        match self.standing(agent).await? {
            LifecycleState::Active | LifecycleState::Deprecated => Ok(None),
            LifecycleState::Retired => Err(Error::Gone { what: Noun::Agent }),
            LifecycleState::Suspended => {
                let kind = RefusalKind::ServiceUnavailable { retry_after_seconds: None };
                Ok(Some(PolicyPart::new(kind, format!("@{agent} is suspended and answers nobody at the moment."))))
            }
        }
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
        let standings = Standings { store, clock, known: RwLock::default() };
        let agent = Handle::parse("chef").unwrap();
        let learn = |number, standing| standings.learn(&agent, Known { standing, number, at: Timestamp::UNIX_EPOCH });
        let known = || standings.at_hand(&agent).unwrap().standing;
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
        let known = Known { standing: LifecycleState::Active, number: 0, at };
        let nanosecond = Duration::from_nanos(1);
        assert!(known.is_fresh(at) && known.is_fresh(at + STANDING_AGE_MAX));
        assert!(!known.is_fresh(at + STANDING_AGE_MAX + nanosecond));
        assert!(!known.is_fresh(at - nanosecond), "the clock was set back");
    }
}
