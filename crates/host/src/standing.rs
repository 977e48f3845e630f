//! Where the agents stand in their lives: a stream of changes for each, and the last one at hand.

use std::collections::HashMap;
use std::sync::Arc;

use forecourt_core::policy::Kind;
use forecourt_core::store::{Entry, Span};
use forecourt_core::{Clock, Error, Handle, Noun, PolicyPart, Standing, StandingChange, Store};
use parking_lot::RwLock;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::directory::Directory;
use crate::receive::Host;

/// Changes that are read in one go.
pub const CHANGES_PER_READ_MAX: usize = 200;
/// How often a change is tried anew when another one came first.
const TRIES_MAX: usize = 8;

/// A wish for an agent to stand elsewhere.
#[derive(Debug, Clone, Default)]
pub struct StandingWish {
    /// Where.
    pub to: Standing,
    /// Who wishes it, as far as is known.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// What else is to be kept with it.
    pub details: Map<String, Value>,
}

/// A change that is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptChange {
    /// What changed.
    #[serde(flatten)]
    pub change: StandingChange,
    /// What was signed about it as it happened, by the protocol that did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<String>,
}

/// What came of a wish.
#[derive(Debug, Clone, PartialEq)]
pub enum Changed {
    /// The agent stands elsewhere now.
    Now(Box<KeptChange>),
    /// It stood there already: nothing was written.
    Already,
    /// From where it stands, here, there is no way there.
    Never(Standing),
}

/// Signs a change as it happens; `None`: it goes unsigned.
pub type Attest<'a> = &'a (dyn Fn(&StandingChange) -> Option<String> + Send + Sync);

/// Where everybody stands. What this process knows may be a moment old where others write to the
/// same store; a change is always made from the truth.
pub(crate) struct Standings {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    /// With the number of the change that led there, 0 for none.
    known: RwLock<HashMap<Handle, (u64, Standing)>>,
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

    /// The number of the last change, and where the agent stands since.
    async fn last(&self, agent: &Handle) -> Result<(u64, Standing), Error> {
        let newest = self.store.entries(&stream(agent), Span::Before(u64::MAX), 1, self.clock.now()).await?;
        let (number, standing) = match newest.into_iter().next() {
            None => (0, Standing::default()),
            Some((number, entry)) => (number, opened(entry.body)?.change.to),
        };
        self.learn(agent, number, standing);
        Ok((number, standing))
    }

    /// Remembers where an agent stands since its change of this number. Who was slow to say so takes
    /// nothing back that came after.
    fn learn(&self, agent: &Handle, number: u64, standing: Standing) {
        let mut known = self.known.write();
        let newest = known.entry(agent.clone()).or_default();
        if newest.0 <= number {
            *newest = (number, standing);
        }
    }

    fn of(&self, agent: &Handle) -> Standing {
        self.known.read().get(agent).map(|(_, standing)| *standing).unwrap_or_default()
    }

    async fn change(&self, agent: &Handle, wish: &StandingWish, attest: Attest<'_>) -> Result<Changed, Error> {
        for _ in 0..TRIES_MAX {
            let (number, from) = self.last(agent).await?;
            if from == wish.to {
                return Ok(Changed::Already);
            }
            if !from.may_become(wish.to) {
                return Ok(Changed::Never(from));
            }
            let (by, reason, details) = (wish.by.clone(), wish.reason.clone(), wish.details.clone());
            let change = StandingChange { from, to: wish.to, by, reason, at: self.clock.now(), details };
            let kept = KeptChange { statement: attest(&change), change };
            let body = serde_json::to_value(&kept).map_err(Error::internal)?;
            let entry = Entry::new(body, kept.change.at);
            if let Some(number) = self.store.append_entry(&stream(agent), entry, Some(number)).await? {
                self.learn(agent, number, wish.to);
                return Ok(Changed::Now(Box::new(kept)));
            }
        }
        Err(Error::Unavailable { retry_after: None })
    }
}

fn opened(body: Value) -> Result<KeptChange, Error> {
    serde_json::from_value(body).map_err(Error::internal)
}

/// Where agents stand, for protocols that can say and change it.
impl Host {
    /// Where an agent stands. One that nothing is known of is active.
    pub fn standing(&self, agent: &Handle) -> Standing {
        self.standings.of(agent)
    }

    /// Lets an agent stand elsewhere, and keeps who wished it and why. Whether somebody may wish it
    /// is for the protocol to decide. Fails with [`Error::NotFound`] when there is no such agent.
    pub async fn change_standing(
        &self,
        agent: &Handle,
        wish: &StandingWish,
        attest: Attest<'_>,
    ) -> Result<Changed, Error> {
        self.directory.find(agent).ok_or_else(|| Error::not_found(Noun::Agent))?;
        let changed = self.standings.change(agent, wish, attest).await?;
        if let Changed::Now(kept) = &changed {
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
    ) -> Result<Vec<(u64, KeptChange)>, Error> {
        let limit = limit.min(CHANGES_PER_READ_MAX);
        let entries = self.store.entries(&stream(agent), span, limit, self.clock.now()).await?;
        entries.into_iter().map(|(number, entry)| Ok((number, opened(entry.body)?))).collect()
    }

    /// Why an agent answers nobody, if that is so: a refusal while it may answer again.
    pub(crate) fn silent(&self, agent: &Handle) -> Result<Option<PolicyPart>, Error> {
        match self.standing(agent) {
            Standing::Active | Standing::Deprecated => Ok(None),
            Standing::Retired => Err(Error::Gone { what: Noun::Agent }),
            Standing::Suspended => {
                let kind = Kind::ServiceUnavailable { retry_after_seconds: None };
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
        standings.learn(&agent, 1, Standing::Suspended);
        standings.learn(&agent, 3, Standing::Retired);
        standings.learn(&agent, 2, Standing::Active);
        assert_eq!(standings.of(&agent), Standing::Retired);
        standings.learn(&agent, 4, Standing::Active);
        assert_eq!(standings.of(&agent), Standing::Active);
    }
}
