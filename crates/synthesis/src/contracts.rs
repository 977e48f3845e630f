//! Contracts from their making to their end, in the store. Sections 10.1.1, 10.1.4, 10.5 and 10.8.
//!
//! What there is stands in one stream of the ledger: that a contract was made, accepted or ended. Each process
//! follows it ([`follow`]) with an index of what is at hand ([`index`]); definitions stay in the stream and are
//! read when they are needed, so that a hundred thousand contracts cost what their names and pairs do.
//!
//! An entry that makes a contract is written only after the last one that was read, so that bounds hold exactly,
//! however many processes write. Others are written at once: of two that contradict each other, the first counts
//! for whoever reads them.

mod entry;
mod follow;
mod index;
mod make;
mod pairs;
mod record;

use std::sync::Arc;

use forecourt_contract::call::{ConnectionId, Thread};
use forecourt_contract::{Endpoint, Method, RequestPath};
use forecourt_core::store::Span;
use forecourt_core::{Clock, Entropy, Timestamp, ids};
use forecourt_host::Ledger;
use tokio::sync::Mutex;

pub(crate) use entry::DefinitionError;
use entry::{Definition, NewEntry};
pub(crate) use follow::StoreAway;
use follow::{Follower, away};
pub(crate) use make::{ContractDraft, MakeError};
pub(crate) use pairs::values;
pub use record::{
    Contract, ContractEnd, ContractEndKind, ContractHolder, ContractRecord, ContractScope, ContractState,
};

use crate::limits::TOMBSTONE_TTL;

/// Under which the ledger keeps the stream, whatever protocol negotiates.
pub const LEDGER_OWNER: &str = "synthesis";
const STREAM: &str = "contracts";

/// All contracts of a store, as this process knows them. One for a process, whatever becomes of its deployment.
pub struct Contracts {
    follower: Follower,
    ledger: Ledger,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    /// Which start of this process it is: what connections of others are told apart by.
    run: Arc<str>,
    /// Who makes one holds it: those of one process do not get in each other's way.
    making: Mutex<()>,
}

impl Contracts {
    /// Those in the ledger. They are read when they are asked for first.
    pub fn new(ledger: Ledger, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Contracts {
        Contracts {
            follower: Follower::new(ledger.clone(), Arc::clone(&clock)),
            ledger,
            clock,
            run: ids::mint(entropy.as_ref()).into(),
            entropy,
            making: Mutex::new(()),
        }
    }

    /// Has everything known that was written until now, by any process.
    pub(crate) async fn catch_up(&self) -> Result<(), StoreAway> {
        self.follower.catch_up().await.map(drop)
    }

    /// A contract by its name, as of the last time that the stream was read.
    pub(crate) fn get(&self, synthesis_id: &str) -> Option<Arc<ContractRecord>> {
        self.follower.index.read().get(synthesis_id).cloned()
    }

    /// The contract in force that a call of a holder is served under, as of the last time that the stream was
    /// read: the nearest to the path, of equals the newest. Section 10.1.1.
    pub fn resolve(
        &self,
        holder: &ContractHolder,
        thread: &Thread,
        method: &Method,
        path: &RequestPath,
    ) -> Option<Arc<ContractRecord>> {
        let now = self.clock.now();
        let serves = |record: &&Arc<ContractRecord>| {
            record.is_active() && record.expires_at > now && self.is_within(record, thread)
        };
        self.follower.index.read().find(holder, method, path).find(serves).cloned()
    }

    /// Whether anybody else has a contract in force for a pair.
    pub(crate) fn is_anothers(&self, holder: &ContractHolder, method: &Method, path: &RequestPath) -> bool {
        let index = self.follower.index.read();
        index.find_any(method, path).any(|record| record.is_active() && record.holder != *holder)
    }

    /// Whether calls of a thread are within what a contract is bound to.
    pub(crate) fn is_within(&self, record: &ContractRecord, thread: &Thread) -> bool {
        record.is_within(thread, &self.run)
    }

    /// What a contract is bound to that is made in a thread for as long as that lasts. Section 10.8.
    pub(crate) fn scope_of(&self, thread: &Thread) -> ContractScope {
        match (&thread.session_id, &thread.connection) {
            (Some(session), _) => ContractScope::Session(session.as_str().into()),
            (None, Some(connection)) => ContractScope::connection(&self.run, connection),
            (None, None) => ContractScope::Agent,
        }
    }

    /// The open contracts that are bound to a connection of this process, as of the last read.
    pub(crate) fn bound_to(&self, connection: &ConnectionId) -> Vec<Arc<ContractRecord>> {
        self.follower.index.read().bound_to(&ContractScope::connection(&self.run, connection))
    }

    /// All open contracts, offers too, in no order.
    pub(crate) fn open(&self) -> Vec<Arc<ContractRecord>> {
        self.follower.index.read().open()
    }

    /// At most `limit` contracts in force after a number.
    pub(crate) fn page(&self, holder: Option<&ContractHolder>, after: u64, limit: usize) -> Vec<Arc<ContractRecord>> {
        self.follower.index.read().page(holder, after, limit)
    }

    /// At most `limit` persistent contracts in force, with the edition of their set.
    pub(crate) fn persistent(&self, limit: usize) -> (u64, Vec<Arc<ContractRecord>>) {
        let index = self.follower.index.read();
        (index.edition(), index.persistent(limit))
    }

    /// A contract with its definition. `None`: it was forgotten in between.
    pub(crate) async fn whole(&self, record: Arc<ContractRecord>) -> Result<Option<Contract>, StoreAway> {
        let definition = self.definition(&record).await?;
        Ok(definition.map(|definition| definition.contract(record)))
    }

    /// The endpoint of a contract as calls are held to it, with its plan.
    pub(crate) async fn bound(&self, record: &ContractRecord) -> Result<Option<BoundPlan>, StoreAway> {
        let Some(definition) = self.definition(record).await? else { return Ok(None) };
        Ok(Some(BoundPlan {
            endpoint: definition.endpoint(&record.path).map(Arc::new),
            timeout: definition.timeout(),
            plan: definition.plan,
        }))
    }

    async fn definition(&self, record: &ContractRecord) -> Result<Option<Definition>, StoreAway> {
        // The ledger reads after a number, so this is the one entry that made the contract.
        let span = Span::After(record.number.saturating_sub(1));
        let found = self.ledger.entries(STREAM, span, 1).await.map_err(|error| away(&error))?;
        let entry = found.into_iter().next().filter(|(number, _)| *number == record.number);
        entry.map(|(_, entry)| Definition::read(&entry.body).map_err(|error| away(&error))).transpose()
    }

    /// Accepts an offer. Gives the contract as it stands then, which is in force unless it ended before, and
    /// whether it was this call that accepted it.
    pub(crate) async fn accept(
        &self,
        record: &ContractRecord,
    ) -> Result<(Option<Arc<ContractRecord>>, bool), StoreAway> {
        self.settle(record, &NewEntry::Accepted { synthesis_id: &record.synthesis_id }).await
    }

    /// Ends a contract. Gives it as it stands then, and whether it was this call that ended it.
    pub(crate) async fn end(
        &self,
        record: &ContractRecord,
        kind: ContractEndKind,
        actor: Option<&str>,
        reason: Option<&str>,
    ) -> Result<(Option<Arc<ContractRecord>>, bool), StoreAway> {
        let end =
            ContractEnd { kind, at: self.clock.now(), actor: actor.map(Into::into), reason: reason.map(Into::into) };
        self.settle(record, &NewEntry::Ended { synthesis_id: &record.synthesis_id, end: &end }).await
    }

    async fn settle(
        &self,
        record: &ContractRecord,
        entry: &NewEntry<'_>,
    ) -> Result<(Option<Arc<ContractRecord>>, bool), StoreAway> {
        let body = serde_json::to_value(entry).map_err(|error| away(&error))?;
        // It is there for as long as the entry is that made the contract: no end is forgotten before its beginning.
        let written = self.ledger.append(STREAM, body, Some(forgotten_at(record)), None).await;
        let number = written.map_err(|error| away(&error))?;
        self.catch_up().await?;
        let record = self.get(&record.synthesis_id);
        // Not whether our entry was written, but whether it is the one that counts: another process may have ended the
        // contract first.
        let is_ours = record.as_ref().is_some_and(|record| Some(record.settled_by) == number);
        Ok((record, is_ours))
    }
}

/// The endpoint of a contract with the calls that keep its promise.
pub(crate) struct BoundPlan {
    /// The endpoint, or why it can't be held to any more.
    pub endpoint: Result<Arc<Endpoint>, DefinitionError>,
    /// The calls.
    pub plan: Arc<forecourt_contract::Recipe>,
    /// How long all of them may take together.
    pub timeout: std::time::Duration,
}

/// When nothing is known of a contract any more.
fn forgotten_at(record: &ContractRecord) -> Timestamp {
    record.expires_at.checked_add(TOMBSTONE_TTL).unwrap_or(Timestamp::MAX)
}
