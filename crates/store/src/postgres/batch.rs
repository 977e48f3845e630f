//! This module writes many tasks by one statement: it binds them to `write_4` of the schema.
//!
//! A statement is parsed and planned, sent and answered once for all of them, and needs no `BEGIN` and `COMMIT` around
//! it: that, and not what it does, is most of what a write costs.

use std::collections::BTreeMap;

use forecourt_core::TaskState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error};

use super::answer::Answer;
use crate::limits::POSTGRES_LOCK_WAIT_MS;
use crate::seal::Hash;
use crate::sealed::Holder;

/// The statement. It answers two numbers for each write, or nothing when it did none of them, since the transactions of
/// this connection are not those that it is written for.
const WRITE: &str =
    "SELECT forecourt.write_4($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20,$21,$22,$23,$24)";

/// One write of a task without anything that is seldom: no webhooks come with it, no task goes on after a question.
#[derive(Debug)]
pub(super) struct TaskWrite {
    pub(super) task: Hash,
    /// The run that makes the task, or that must hold it.
    pub(super) run: String,
    /// The account that is charged.
    pub(super) payer: Holder,
    /// Bytes that the account must have room for; `None` for what is written without asking.
    pub(super) room: Option<i64>,
    /// The bound of one account.
    pub(super) max: i64,
    /// Bytes that a task which is worked on reserves for its answer.
    pub(super) reserve: i64,
    pub(super) step: TaskStep,
}

/// The change of the task.
#[derive(Debug)]
pub(super) enum TaskStep {
    Create {
        agent: String,
        owner: Option<Vec<u8>>,
        thread: Option<Hash>,
        state: TaskState,
        created_at: i64,
        updated_at: i64,
        expires_at: i64,
        body: Vec<u8>,
        outcome: Option<Vec<u8>>,
    },
    Append {
        /// The number of the first event.
        first: i64,
        events: Vec<Vec<u8>>,
    },
    Move {
        from: TaskState,
        to: TaskState,
        at: i64,
        outcome: Option<Vec<u8>>,
        /// The event that ends it, sealed as the one after `last`.
        ending: Option<Vec<u8>>,
        last: i64,
    },
}

impl TaskStep {
    /// As `write_4` counts them.
    fn kind(&self) -> i64 {
        match self {
            Self::Create { .. } => 1,
            Self::Append { .. } => 2,
            Self::Move { to, .. } if to.is_settled() => 3,
            Self::Move { .. } => 4,
        }
    }

    fn state(&self) -> Option<&str> {
        match self {
            Self::Create { state, .. } | Self::Move { from: state, .. } => Some(state.name()),
            Self::Append { .. } => None,
        }
    }

    fn number(&self) -> Option<i64> {
        match self {
            Self::Create { .. } => None,
            Self::Append { first: number, .. } | Self::Move { last: number, .. } => Some(*number),
        }
    }

    fn at(&self) -> Option<i64> {
        match self {
            Self::Create { updated_at: at, .. } | Self::Move { at, .. } => Some(*at),
            Self::Append { .. } => None,
        }
    }

    fn body(&self) -> Option<&[u8]> {
        match self {
            Self::Create { body, .. } => Some(body),
            Self::Move { ending, .. } => ending.as_deref(),
            Self::Append { .. } => None,
        }
    }

    fn outcome(&self) -> Option<&[u8]> {
        match self {
            Self::Create { outcome, .. } | Self::Move { outcome, .. } => outcome.as_deref(),
            Self::Append { .. } => None,
        }
    }

    fn events(&self) -> &[Vec<u8>] {
        if let Self::Append { events, .. } = self { events } else { &[] }
    }
}

/// Does all of them, in their order; `None` when they have to be done in a transaction that was begun for them.
pub(super) async fn write(client: &Client, writes: &[&TaskWrite]) -> Result<Option<Vec<Answer>>, Error> {
    let columns = Columns::of(writes);
    let row = client.query_typed_one(WRITE, &columns.params()).await?;
    let said: Option<Vec<i64>> = row.try_get(0)?;
    let answer = |pair: &[i64]| Answer { code: pair[0], n: pair[1] };
    Ok(said.map(|said| said.chunks_exact(2).map(answer).collect()))
}

/// The writes as arrays, an element for each; one that all leave out is empty.
struct Columns<'a> {
    kinds: Vec<i64>,
    tasks: Vec<&'a [u8]>,
    runs: Vec<&'a str>,
    states: Vec<Option<&'a str>>,
    ats: Vec<Option<i64>>,
    numbers: Vec<Option<i64>>,
    rooms: Vec<Option<i64>>,
    bodies: Vec<Option<&'a [u8]>>,
    outcomes: Vec<Option<&'a [u8]>>,
    places: Vec<Option<i64>>,
    new_states: Vec<Option<&'a str>>,
    counts: Vec<Option<i64>>,
    events: Vec<&'a [u8]>,
    agents: Vec<Option<&'a str>>,
    owners: Vec<Option<&'a [u8]>>,
    threads: Vec<Option<&'a [u8]>>,
    created: Vec<Option<i64>>,
    expires: Vec<Option<i64>>,
    accounts: Vec<&'a [u8]>,
    max: i64,
    lock_timeout: String,
    reserve: i64,
    narrows: Vec<Option<&'a [u8]>>,
    wides: Vec<Option<&'a [u8]>>,
}

/// One value of each write; none at all when no write has one.
fn column<'a, T>(writes: &[&'a TaskWrite], value: impl Fn(&'a TaskWrite) -> Option<T>) -> Vec<Option<T>> {
    let values: Vec<Option<T>> = writes.iter().map(|write| value(write)).collect();
    // Most batches leave most of the columns out: an empty array stands for one of nulls.
    if values.iter().any(Option::is_some) { values } else { Vec::new() }
}

/// One value of each new task.
fn column_of_new<'a, T>(writes: &[&'a TaskWrite], value: impl Fn(NewColumns<'a>) -> Option<T>) -> Vec<Option<T>> {
    column(writes, |write| match &write.step {
        TaskStep::Create { agent, owner, thread, created_at, expires_at, .. } => value(NewColumns {
            agent,
            owner: owner.as_deref(),
            thread: thread.as_ref().map(|thread| &thread[..]),
            created_at: *created_at,
            expires_at: *expires_at,
        }),
        TaskStep::Append { .. } | TaskStep::Move { .. } => None,
    })
}

/// The columns that only a new task has.
struct NewColumns<'a> {
    agent: &'a str,
    owner: Option<&'a [u8]>,
    thread: Option<&'a [u8]>,
    created_at: i64,
    expires_at: i64,
}

impl<'a> Columns<'a> {
    fn of(writes: &[&'a TaskWrite]) -> Self {
        // Sorted, which is the order in which every transaction locks accounts: two that lock in different orders
        // deadlock.
        let mut payers: BTreeMap<&Hash, [Option<&Hash>; 2]> = BTreeMap::new();
        for write in writes {
            let Some(account) = &write.payer.account else { continue };
            let around = payers.entry(account).or_default();
            // Who made the task knows them, and who only goes on with it may not.
            if let Some(networks) = &write.payer.networks {
                *around = networks.hashes.each_ref().map(Some);
            }
        }
        let network = |level: usize| payers.values().map(|around| around[level].map(|hash| &hash[..])).collect();
        let (narrows, wides) = (network(0), network(1));
        let accounts: Vec<&[u8]> = payers.into_keys().map(|account| &account[..]).collect();
        let place = |account: &Hash| {
            let at = accounts.binary_search(&&account[..]).ok()?;
            i64::try_from(at + 1).ok()
        };
        let new_state = |write: &'a TaskWrite| match &write.step {
            TaskStep::Move { to, .. } => Some(to.name()),
            TaskStep::Create { .. } | TaskStep::Append { .. } => None,
        };
        let events = |write: &'a TaskWrite| match &write.step {
            TaskStep::Append { events, .. } => i64::try_from(events.len()).ok(),
            TaskStep::Create { .. } | TaskStep::Move { .. } => None,
        };
        Self {
            kinds: writes.iter().map(|write| write.step.kind()).collect(),
            tasks: writes.iter().map(|write| &write.task[..]).collect(),
            runs: writes.iter().map(|write| &write.run[..]).collect(),
            states: column(writes, |write| write.step.state()),
            ats: column(writes, |write| write.step.at()),
            numbers: column(writes, |write| write.step.number()),
            rooms: column(writes, |write| write.room),
            bodies: column(writes, |write| write.step.body()),
            outcomes: column(writes, |write| write.step.outcome()),
            places: column(writes, |write| write.payer.account.as_ref().and_then(place)),
            new_states: column(writes, new_state),
            counts: column(writes, events),
            events: writes.iter().flat_map(|write| write.step.events()).map(|event| &event[..]).collect(),
            agents: column_of_new(writes, |new| Some(new.agent)),
            owners: column_of_new(writes, |new| new.owner),
            threads: column_of_new(writes, |new| new.thread),
            created: column_of_new(writes, |new| Some(new.created_at)),
            expires: column_of_new(writes, |new| Some(new.expires_at)),
            max: writes.iter().map(|write| write.max).min().unwrap_or_default(),
            lock_timeout: POSTGRES_LOCK_WAIT_MS.to_string(),
            reserve: writes.iter().map(|write| write.reserve).max().unwrap_or_default(),
            narrows,
            wides,
            accounts,
        }
    }

    /// In the order of the function's parameters.
    fn params(&self) -> [(&(dyn ToSql + Sync), Type); 24] {
        [
            (&self.kinds, Type::INT8_ARRAY),
            (&self.tasks, Type::BYTEA_ARRAY),
            (&self.runs, Type::TEXT_ARRAY),
            (&self.states, Type::TEXT_ARRAY),
            (&self.ats, Type::INT8_ARRAY),
            (&self.numbers, Type::INT8_ARRAY),
            (&self.rooms, Type::INT8_ARRAY),
            (&self.bodies, Type::BYTEA_ARRAY),
            (&self.outcomes, Type::BYTEA_ARRAY),
            (&self.places, Type::INT8_ARRAY),
            (&self.new_states, Type::TEXT_ARRAY),
            (&self.counts, Type::INT8_ARRAY),
            (&self.events, Type::BYTEA_ARRAY),
            (&self.agents, Type::TEXT_ARRAY),
            (&self.owners, Type::BYTEA_ARRAY),
            (&self.threads, Type::BYTEA_ARRAY),
            (&self.created, Type::INT8_ARRAY),
            (&self.expires, Type::INT8_ARRAY),
            (&self.accounts, Type::BYTEA_ARRAY),
            (&self.max, Type::INT8),
            (&self.lock_timeout, Type::TEXT),
            (&self.reserve, Type::INT8),
            (&self.narrows, Type::BYTEA_ARRAY),
            (&self.wides, Type::BYTEA_ARRAY),
        ]
    }
}
