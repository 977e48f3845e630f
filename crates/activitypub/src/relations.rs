//! Who follows an agent, and who blocked it.
//!
//! Agents write to nobody who did not ask them, so that followers are counted and get nothing.

use aws_lc_rs::digest::{SHA256, digest};
use forecourt_core::{Account, Error, Handle, Timestamp};
use forecourt_host::{Host, Ledger};
use serde_json::{Value, json};

use crate::NAME;
use crate::iri::Iri;
use crate::limits::RELATION_TTL;

/// Rounds of reading and writing before a count is left as it is: each lost race to write costs one.
const ATTEMPTS_MAX: usize = 16;

/// What an actor may be to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relation {
    /// It follows the agent.
    Follows,
    /// It wants to hear nothing of the agent.
    Blocks,
}

/// The relations of actors to the agents of a host.
pub(crate) struct Relations {
    ledger: Ledger,
    /// When what is written now is forgotten.
    until: Option<Timestamp>,
}

impl Relation {
    fn name(self) -> &'static str {
        match self {
            Self::Follows => "follows",
            Self::Blocks => "blocks",
        }
    }
}

impl Relations {
    pub(crate) fn of(host: &Host) -> Self {
        Self { ledger: host.ledger(NAME), until: host.clock().now().checked_add(RELATION_TTL).ok() }
    }

    /// Whether an actor stands so to an agent.
    pub(crate) async fn is(&self, relation: Relation, agent: &Handle, actor: &Iri) -> Result<bool, Error> {
        let entry = self.ledger.last(&stream(relation, agent, actor)).await?;
        Ok(entry.is_some_and(|(_, entry)| entry.body == Value::Bool(true)))
    }

    /// Says how an actor stands to an agent from now on and for [`RELATION_TTL`], on the actor's account; nothing is
    /// written where it stood so before.
    pub(crate) async fn set(
        &self,
        relation: Relation,
        agent: &Handle,
        actor: &Iri,
        account: &Account,
        holds: bool,
    ) -> Result<(), Error> {
        self.set_until(relation, agent, actor, account, holds, self.until).await
    }

    /// The same until a moment, from which on it stands as before.
    pub(crate) async fn set_until(
        &self,
        relation: Relation,
        agent: &Handle,
        actor: &Iri,
        account: &Account,
        holds: bool,
        until: Option<Timestamp>,
    ) -> Result<(), Error> {
        let stream = stream(relation, agent, actor);
        let (number, before) = match self.ledger.last(&stream).await? {
            Some((number, entry)) => (number, entry.body == Value::Bool(true)),
            None => (0, false),
        };
        if before == holds {
            return Ok(());
        }
        let written = self.ledger.append_on(account.clone(), &stream, Value::Bool(holds), until, Some(number)).await?;
        match written.is_some() && relation == Relation::Follows {
            true => self.count(agent, holds).await,
            // Somebody else said it at the same moment.
            false => Ok(()),
        }
    }

    /// How many follow an agent.
    pub(crate) async fn followers(&self, agent: &Handle) -> Result<u64, Error> {
        Ok(self.counted(agent).await?.1)
    }

    async fn counted(&self, agent: &Handle) -> Result<(u64, u64), Error> {
        let entry = self.ledger.last(&format!("followers:{agent}")).await?;
        let counted = |(number, entry): (u64, forecourt_core::store::LedgerEntry)| {
            (number, entry.body.get("total").and_then(Value::as_u64).unwrap_or_default())
        };
        Ok(entry.map_or((0, 0), counted))
    }

    async fn count(&self, agent: &Handle, is_one_more: bool) -> Result<(), Error> {
        for _ in 0..ATTEMPTS_MAX {
            let (number, total) = self.counted(agent).await?;
            let total = if is_one_more { total.saturating_add(1) } else { total.saturating_sub(1) };
            let body = json!({"total": total});
            if self.ledger.append(&format!("followers:{agent}"), body, self.until, Some(number)).await?.is_some() {
                return Ok(());
            }
        }
        Ok(())
    }
}

fn stream(relation: Relation, agent: &Handle, actor: &Iri) -> String {
    let hash = digest(&SHA256, actor.as_str().as_bytes());
    let hash = hash.as_ref().iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    format!("{}:{agent}:{hash}", relation.name())
}
