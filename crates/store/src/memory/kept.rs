//! This module has the maps of [`super::Memory`], and the rules of each operation.

use std::collections::{BTreeMap, HashMap, VecDeque};

use forecourt_core::limits::{ARTIFACT_BYTES_MAX, OUTCOME_FREE_BYTES, ROW_BYTES};
use forecourt_core::store::{
    Conversation, ConversationAppend, ConversationVersion, LedgerEntry, Span, StoredArtifact, TaskChange, Webhook, cost,
};
use forecourt_core::{Account, Event, Handle, QuotaBound, StoreError, Task, TaskId, ThreadId, Timestamp, Turn};

use crate::clock::ClockMark;
use crate::limits::{ARTIFACTS_BYTES_MAX, MEMORY_CLAIMS_MAX, MEMORY_ROUTES_MAX, MEMORY_TASKS_MAX, MEMORY_THREADS_MAX};
use crate::turns;

mod accounts;
mod clock;
mod ledger;
mod list;
mod reads;
mod runs;
mod webhooks;

use accounts::{cost_of, json_len, said_len, task_len};
use ledger::Ledger;
use runs::Runs;
use webhooks::Waiting;

pub(super) use accounts::Accounts;

/// The bytes that are charged for a route.
const ROUTE_BYTES: u64 = ROW_BYTES + 32;

/// A conversation is one between a caller and one agent.
type ThreadName = (ThreadId, Handle);

#[derive(Default)]
pub(super) struct KeptEntry {
    tasks: HashMap<TaskId, Record>,
    deliveries: BTreeMap<u64, Waiting>,
    threads: HashMap<ThreadName, Thread>,
    routes: HashMap<ThreadId, Route>,
    pub(super) accounts: Accounts,
    claims: HashMap<String, Timestamp>,
    ledger: Ledger,
    pub(super) runs: Runs,
    clock: Option<ClockMark>,
    last_place: i64,
    last_delivery: u64,
    artifact_bytes: u64,
    pub(super) strangers_tasks_removed: u64,
}

struct Record {
    /// The how many-th task of this store it is.
    place: i64,
    task: Task,
    events: Vec<Event>,
    artifacts: HashMap<String, StoredArtifact>,
    /// By number, in the order in which they were registered.
    webhooks: BTreeMap<u64, Webhook>,
    account: Account,
    /// The bytes that are charged for it, with its events, artifacts and webhooks.
    bytes: u64,
    /// The bytes that its account keeps free for its answer.
    reserved: u64,
}

impl Record {
    /// Fails when the task is another run's.
    fn is_held_by(&self, run: &str) -> Result<(), StoreError> {
        let is_held = self.task.run == run && !self.task.state.is_settled();
        if is_held { Ok(()) } else { Err(StoreError::NotHeld) }
    }

    /// Whether so many more may be written for it: of what is reserved for it, else of what its account has.
    fn room(&self, accounts: &Accounts, bytes: u64) -> Result<(), StoreError> {
        if bytes <= self.reserved { Ok(()) } else { accounts.room(&self.account, bytes - self.reserved) }
    }

    /// Charges so many more, first of what is reserved.
    fn charge(&mut self, accounts: &mut Accounts, bytes: u64) {
        let reserved = bytes.min(self.reserved);
        self.reserved -= reserved;
        self.bytes += bytes;
        accounts.add(&self.account, bytes - reserved);
    }

    /// Has it reserve so much from now on.
    fn reserve(&mut self, accounts: &mut Accounts, bytes: u64) {
        accounts.give_back(&self.account, self.reserved);
        accounts.add(&self.account, bytes);
        self.reserved = bytes;
    }
}

pub(super) struct Route {
    pub(super) agent: Handle,
    pub(super) expires_at: Timestamp,
    pub(super) account: Account,
}

#[derive(Default)]
struct Thread {
    owner: Option<String>,
    /// The number of the last turn.
    last_turn: u64,
    /// With the bytes of each as JSON, oldest first.
    turns: VecDeque<(Turn, usize)>,
    expires_at: Timestamp,
    account: Account,
    bytes: u64,
}

impl Thread {
    fn version(&self) -> ConversationVersion {
        ConversationVersion { last_turn: self.last_turn, expires_at: self.expires_at }
    }
}

fn room(len: usize, max: usize, what: &str) -> Result<(), StoreError> {
    if len < max { Ok(()) } else { Err(StoreError::Unavailable(format!("no room for another {what}"))) }
}

impl KeptEntry {
    pub(super) fn create_task(&mut self, task: Task, webhooks: Vec<Webhook>) -> Result<(), StoreError> {
        if let Some(Record { task: made, .. }) = self.tasks.get(&task.id) {
            // A repetition of the same call, whose answer was lost, is no conflict.
            let is_this = (&made.run, made.created_at) == (&task.run, task.created_at);
            return if is_this { Ok(()) } else { Err(StoreError::Exists) };
        }
        let bytes = cost(task_len(&task)) + cost_of(&webhooks);
        let reserved = self.accounts.reserve(&task.account, task.state);
        self.room_for_new(&task.account, bytes + reserved)?;
        room(self.tasks.len(), MEMORY_TASKS_MAX, "task")?;
        self.has_room_for(&webhooks, 0)?;
        let account = task.account.clone();
        self.accounts.add(&account, bytes + reserved);
        let task = Task { account: Account::HOST, ..task };
        self.last_place += 1;
        let webhooks = (1..).zip(webhooks).collect();
        let (place, artifacts) = (self.last_place, HashMap::new());
        let record = Record { place, task, events: Vec::new(), artifacts, webhooks, account, bytes, reserved };
        self.tasks.insert(record.task.id.clone(), record);
        Ok(())
    }

    pub(super) fn append_events(
        &mut self,
        task: &TaskId,
        run: &str,
        first: u64,
        events: Vec<Event>,
    ) -> Result<(), StoreError> {
        let Some(record) = self.tasks.get_mut(task) else { return Ok(()) };
        record.is_held_by(run)?;
        let next = record.events.len() as u64 + 1;
        if first == 0 || first > next {
            return Err(StoreError::Corrupt(format!("event {first} would follow event {}", next - 1)));
        }
        // A caller that repeats a call sends events that are here already: they are neither stored nor charged again.
        let known = usize::try_from(next - first).unwrap_or(usize::MAX);
        let bytes = cost_of(events.iter().skip(known));
        record.room(&self.accounts, bytes)?;
        record.charge(&mut self.accounts, bytes);
        record.events.extend(events.into_iter().skip(known));
        Ok(())
    }

    pub(super) fn advance_task(&mut self, id: &TaskId, change: TaskChange) -> Result<bool, StoreError> {
        let held = |record: &&Record| record.task.state == change.from && record.task.run == change.run;
        let Some(record) = self.tasks.get(id).filter(held) else { return Ok(false) };
        let outcome = change.outcome.as_ref().map_or(0, said_len);
        let turns = change.resume.as_ref().map_or(0, |resumption| json_len(&resumption.turns));
        let ending = change.outcome.as_ref().map(|outcome| Event::Ending(outcome.ending.clone()));
        let bytes = cost(outcome) + cost(turns) + cost_of(&ending);
        let reserved = self.accounts.reserve(&record.account, change.to);
        if let Some(resumption) = &change.resume {
            record.room(&self.accounts, bytes + reserved + cost_of(&resumption.webhooks))?;
            self.has_room_for(&resumption.webhooks, record.webhooks.len())?;
        // A short outcome is taken over every bound, so that each task can end.
        } else if outcome > OUTCOME_FREE_BYTES {
            record.room(&self.accounts, bytes)?;
        }
        let Some(record) = self.tasks.get_mut(id) else { return Ok(false) };
        record.charge(&mut self.accounts, bytes);
        record.task.state = change.to;
        record.task.updated_at = change.at;
        if let Some(resumption) = change.resume {
            record.task.run = resumption.run;
            record.task.expires_at = resumption.expires_at;
            record.task.turns.extend(resumption.turns);
            for webhook in resumption.webhooks {
                record.put_webhook(webhook, &mut self.accounts);
            }
            record.reserve(&mut self.accounts, reserved);
        }
        if change.to.is_settled() {
            record.reserve(&mut self.accounts, 0);
        }
        record.events.extend(ending);
        record.task.outcome = change.outcome;
        // In the step that settles the task: a crash can't lose the deliveries of an ending that was acknowledged.
        if change.to.is_settled() {
            self.tell_of(id, None);
        }
        Ok(true)
    }

    pub(super) fn task(&self, id: &TaskId, now: Timestamp) -> Option<Task> {
        self.record(id, now).map(|record| record.task.clone())
    }

    fn record(&self, id: &TaskId, now: Timestamp) -> Option<&Record> {
        self.tasks.get(id).filter(|record| record.task.expires_at > now)
    }

    pub(super) fn events(&self, task: &TaskId, after: u64, limit: usize) -> Vec<(u64, Event)> {
        let Some(record) = self.tasks.get(task) else { return Vec::new() };
        let skipped = usize::try_from(after).unwrap_or(usize::MAX);
        (1..).zip(record.events.iter().cloned()).skip(skipped).take(limit).collect()
    }

    pub(super) fn last_event(&self, task: &TaskId) -> u64 {
        self.tasks.get(task).map_or(0, |record| record.events.len() as u64)
    }

    pub(super) fn orphaned_tasks(&self, limit: usize) -> Vec<Task> {
        let orphaned = |task: &&Task| !task.state.is_settled() && !self.runs.is_living(&task.run);
        let tasks = self.tasks.values().map(|record| &record.task);
        tasks.filter(orphaned).take(limit).cloned().collect()
    }

    pub(super) fn put_artifact(
        &mut self,
        task: &TaskId,
        run: &str,
        artifact: StoredArtifact,
    ) -> Result<(), StoreError> {
        let size = artifact.bytes.len();
        if size > ARTIFACT_BYTES_MAX {
            return Err(StoreError::Unavailable(format!("an artifact has at most {ARTIFACT_BYTES_MAX} bytes")));
        }
        let Some(record) = self.tasks.get_mut(task) else { return Ok(()) };
        record.is_held_by(run)?;
        if record.artifacts.contains_key(&artifact.id) {
            return Ok(());
        }
        let bytes = cost(size) + cost(0);
        record.room(&self.accounts, bytes)?;
        if self.artifact_bytes + size as u64 > ARTIFACTS_BYTES_MAX {
            return Err(StoreError::Unavailable(format!("all artifacts have at most {ARTIFACTS_BYTES_MAX} bytes")));
        }
        self.artifact_bytes += size as u64;
        record.charge(&mut self.accounts, bytes);
        record.artifacts.insert(artifact.id.clone(), artifact);
        Ok(())
    }

    pub(super) fn artifact(&self, task: &TaskId, id: &str, now: Timestamp) -> Option<StoredArtifact> {
        self.record(task, now)?.artifacts.get(id).cloned()
    }

    pub(super) fn append_turns(
        &mut self,
        name: ThreadName,
        addition: ConversationAppend,
    ) -> Result<Option<ConversationVersion>, StoreError> {
        let ConversationAppend { owner, account, turns, keep, expires_at } = addition;
        if !self.threads.contains_key(&name) {
            room(self.threads.len(), MEMORY_THREADS_MAX, "conversation")?;
        }
        let sized = |turn: Turn| {
            let size = said_len(&turn);
            (turn, size)
        };
        let before = self.threads.get(&name);
        if before.is_some_and(|before| before.owner.is_some() && before.owner != owner) {
            return Ok(None);
        }
        let (payer, held) = before.map_or((Account::HOST, 0), |before| (before.account.clone(), before.bytes));
        let turns: Vec<_> = turns.into_iter().map(sized).collect();
        // Sizes alone tell which turns stay: nothing is changed before it is known that there is room.
        let earlier = before.iter().flat_map(|before| before.turns.iter().rev());
        let sizes: Vec<usize> = turns.iter().rev().chain(earlier).map(|(_, size)| *size).collect();
        let kept = turns::kept(sizes.iter().copied(), keep);
        let bytes = cost(0) + sizes[..kept].iter().map(|size| cost(*size)).sum::<u64>();
        // The last writer pays for the whole conversation, so that whoever takes it over needs room for all of it.
        self.room_for_new(&account, if payer == account { bytes.saturating_sub(held) } else { bytes })?;
        self.accounts.give_back(&payer, held);
        self.accounts.add(&account, bytes);
        let thread = self.threads.entry(name).or_default();
        thread.last_turn += turns.len() as u64;
        thread.turns.extend(turns);
        thread.turns.drain(..thread.turns.len() - kept);
        if thread.turns.is_empty() {
            thread.last_turn = 0;
        }
        (thread.owner, thread.account, thread.bytes, thread.expires_at) = (owner, account, bytes, expires_at);
        Ok(Some(thread.version()))
    }

    pub(super) fn thread(&self, name: &ThreadName, now: Timestamp) -> Option<Conversation> {
        let thread = self.threads.get(name).filter(|thread| thread.expires_at > now)?;
        let turns = thread.turns.iter().map(|(turn, _)| turn.clone()).collect();
        Some(Conversation { owner: thread.owner.clone(), turns, version: thread.version() })
    }

    pub(super) fn thread_version(&self, name: &ThreadName, now: Timestamp) -> Option<ConversationVersion> {
        self.threads.get(name).filter(|thread| thread.expires_at > now).map(Thread::version)
    }

    pub(super) fn set_route(&mut self, thread: ThreadId, route: Route) -> Result<(), StoreError> {
        match self.routes.get(&thread).map(|route| route.account.clone()) {
            Some(payer) if payer == route.account => {}
            payer => {
                self.room_for_new(&route.account, ROUTE_BYTES)?;
                if payer.is_none() {
                    room(self.routes.len(), MEMORY_ROUTES_MAX, "route")?;
                }
                payer.iter().for_each(|payer| self.accounts.give_back(payer, ROUTE_BYTES));
                self.accounts.add(&route.account, ROUTE_BYTES);
            }
        }
        self.routes.insert(thread, route);
        Ok(())
    }

    pub(super) fn route(&self, thread: &ThreadId, now: Timestamp) -> Option<Handle> {
        self.routes.get(thread).filter(|route| route.expires_at > now).map(|route| route.agent.clone())
    }

    pub(super) fn claim_once(&mut self, key: String, now: Timestamp, until: Timestamp) -> Result<bool, StoreError> {
        let seen = self.claims.get(&key).is_some_and(|seen_until| *seen_until > now);
        if seen || until <= now {
            return Ok(false);
        }
        room(self.claims.len(), MEMORY_CLAIMS_MAX, "claim")?;
        self.claims.insert(key, until);
        Ok(true)
    }

    pub(super) fn append_entry(
        &mut self,
        stream: String,
        entry: LedgerEntry,
        last: Option<u64>,
    ) -> Result<Option<u64>, StoreError> {
        self.ledger.append(stream, entry, last, &mut self.accounts)
    }

    pub(super) fn entries(&self, stream: &str, span: Span, limit: usize, now: Timestamp) -> Vec<(u64, LedgerEntry)> {
        self.ledger.read(stream, span, limit, now)
    }

    pub(super) fn expire(&mut self, now: Timestamp, limit: usize) -> u64 {
        let mut left = limit;
        let tasks = first(&self.tasks, |record| record.task.expires_at <= now, &mut left);
        let threads = first(&self.threads, |thread| thread.expires_at <= now, &mut left);
        let claims = first(&self.claims, |until| *until <= now, &mut left);
        let routes = first(&self.routes, |route| route.expires_at <= now, &mut left);
        left -= self.ledger.expire(now, left, &mut self.accounts);
        left -= self.runs.forget(now, left);
        for id in &tasks {
            self.remove_task(id);
        }
        for thread in threads.iter().filter_map(|name| self.threads.remove(name)) {
            self.accounts.give_back(&thread.account, thread.bytes);
        }
        self.claims.retain(|key, _| !claims.contains(key));
        for route in routes.iter().filter_map(|thread| self.routes.remove(thread)) {
            self.accounts.give_back(&route.account, ROUTE_BYTES);
        }
        self.drop_old_notices(now);
        (limit - left) as u64
    }

    /// Room for something new. Where callers who proved nothing are out of room together, their oldest tasks go that have
    /// ended and of which nobody waits to be told.
    pub(super) fn room_for_new(&mut self, account: &Account, bytes: u64) -> Result<(), StoreError> {
        let mut asked = self.accounts.new_room(account, bytes);
        while let Err(StoreError::Full { bound: QuotaBound::Strangers { .. } }) = asked {
            let told: Vec<&TaskId> = self.deliveries.values().filter_map(Waiting::task).collect();
            let goes = |(id, record): &(&TaskId, &Record)| {
                record.task.state.is_final() && record.account.around().is_some() && !told.contains(id)
            };
            let oldest = self.tasks.iter().filter(goes).min_by_key(|(_, record)| record.place);
            let Some(id) = oldest.map(|(id, _)| id.clone()) else { break };
            self.remove_task(&id);
            self.strangers_tasks_removed += 1;
            asked = self.accounts.new_room(account, bytes);
        }
        asked
    }

    fn remove_task(&mut self, id: &TaskId) {
        let Some(record) = self.tasks.remove(id) else { return };
        self.accounts.give_back(&record.account, record.bytes + record.reserved);
        let bytes = record.artifacts.values().map(|artifact| artifact.bytes.len() as u64).sum::<u64>();
        self.artifact_bytes -= bytes;
        self.deliveries.retain(|_, waiting| waiting.task() != Some(id));
    }
}

/// The names of at most `left` values that are `expired`; takes them off `left`.
fn first<K: Clone + Eq + std::hash::Hash, V>(
    map: &HashMap<K, V>,
    expired: impl Fn(&V) -> bool,
    left: &mut usize,
) -> std::collections::HashSet<K> {
    let names: std::collections::HashSet<K> =
        map.iter().filter(|(_, value)| expired(value)).take(*left).map(|(name, _)| name.clone()).collect();
    *left -= names.len();
    names
}
