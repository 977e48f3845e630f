//! Conversations in memory: turns that the store does not have yet, and what was read of it lately.
//!
//! It decides and remembers, and never waits: reading and writing the store is for [`super::writer`].

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use forecourt_core::limits::HISTORY_TURNS_MAX;
use forecourt_core::store::{Conversation, ConversationAppend, ConversationVersion};
use forecourt_core::{Handle, History, Part, ThreadId, Timestamp, Turn};
use serde_json::Value;
use tokio::time::Instant;

use super::state::newest_state;

/// How long a turn waits for its batch: the most that a crash takes of a conversation which somebody goes on
/// with.
pub const CONVERSATION_WRITE_AFTER: Duration = Duration::from_millis(100);
/// How long the first exchange of a conversation that the host named waits for the second one: most never have
/// one, and those that do are written once.
pub const CONVERSATION_FIRST_WRITE_AFTER: Duration = Duration::from_secs(60);
/// Bytes of turns that wait to be written. Over it, whoever adds one waits until half of them are.
pub const CONVERSATIONS_PENDING_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Bytes of conversations that are kept at hand after they were read or written.
pub const CONVERSATIONS_CACHED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// How long what was read holds before the store is asked whether it changed: another process may write, too.
pub(super) const VALID_FOR: Duration = Duration::from_secs(1);
/// First exchanges become due at common moments so far apart, so that they are written many at a time.
const FIRST_WRITES_EVERY: Duration = Duration::from_secs(5);
/// What a turn takes in memory beside what was said.
const TURN_BYTES: usize = 512;

/// A conversation is one between a caller and one agent.
pub(super) type ConversationName = (ThreadId, Handle);

/// When something is due, and a number that tells what is due at the same moment apart.
type Due = (Instant, u64);

/// A conversation as whoever goes on with it finds it.
#[derive(Debug, Clone)]
pub(super) struct KnownConversation {
    pub(super) owner: Option<String>,
    pub(super) turns: History,
    /// As the store had it last; nothing of it yet when it began here.
    version: ConversationVersion,
    expires_at: Timestamp,
    /// When the store said so last.
    read_at: Instant,
}

/// The result of a lookup in the cache.
pub(super) enum CacheLookup {
    /// The whole conversation.
    Known(KnownConversation),
    /// The whole conversation as of this version, which the store may have left behind.
    Stale(ConversationVersion),
    /// Turns that the store does not have yet, without what came before them.
    Pending,
    /// Nothing.
    Absent,
}

/// The outcome of adding turns to a conversation.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AppendOutcome {
    /// It waits to be written.
    Pending,
    /// The turns wait to be written, and more bytes than the bound do.
    Full,
    /// The conversation belongs to another owner: nothing was added.
    Refused,
}

/// Turns on their way to the store.
pub(super) struct PendingWrite {
    pub(super) name: ConversationName,
    pub(super) appends: Vec<ConversationAppend>,
    bytes: usize,
}

/// Which turns are to be written.
#[derive(Debug, Clone, Copy)]
pub(super) enum WriteScope {
    /// What is due at a moment.
    Due(Instant),
    /// The longest due until there is room again.
    Room,
    /// Everything.
    All,
}

#[derive(Default)]
struct CacheEntry {
    /// Whether the store knew nothing of it when it began here, so that all there is waits here.
    begins: bool,
    known: Option<KnownConversation>,
    known_bytes: usize,
    pending: Vec<ConversationAppend>,
    pending_bytes: usize,
    due: Option<Due>,
    is_being_written: bool,
    /// Its place among those used lately, where all of it is known.
    used: Option<u64>,
}

impl CacheEntry {
    /// Lets go of the states before the newest turns, with which another one is kept; the bytes that were counted of
    /// them. Those that wait to be written stay: what is in the store goes by it if this process dies.
    fn forget_states(&mut self, newest: usize) -> usize {
        let Some(known) = &mut self.known else { return 0 };
        let earlier = known.turns.len().saturating_sub(newest);
        if known.turns[..earlier].iter().all(|turn| turn.state.is_none()) {
            return 0;
        }
        // Turns that are left out may count along: then a state stays until the next one comes, and no longer.
        let (mut at, mut bytes) = (0, 0);
        known.turns.for_each_mut(|turn| {
            if at < earlier && turn.state.is_some() {
                bytes += size(turn);
                turn.state = None;
                bytes -= size(turn);
            }
            at += 1;
        });
        let bytes = bytes.min(self.known_bytes);
        self.known_bytes -= bytes;
        bytes
    }
}

/// The conversations at hand: the turns that wait to be written, and what was read or written lately.
pub(super) struct ConversationCache {
    entries: HashMap<ConversationName, CacheEntry>,
    due: BTreeMap<Due, ConversationName>,
    used: BTreeMap<u64, ConversationName>,
    last_number: u64,
    known_bytes: usize,
    /// With what is being written.
    pending_bytes: usize,
    started: Instant,
    /// How long what was read holds.
    valid_for: Duration,
}

impl ConversationCache {
    pub(super) fn new(now: Instant, valid_for: Duration) -> Self {
        Self {
            valid_for,
            entries: HashMap::new(),
            due: BTreeMap::new(),
            used: BTreeMap::new(),
            last_number: 0,
            known_bytes: 0,
            pending_bytes: 0,
            started: now,
        }
    }

    /// What is at hand of a conversation. What has expired is forgotten.
    pub(super) fn look(&mut self, name: &ConversationName, now: Timestamp, at: Instant) -> CacheLookup {
        let Some(entry) = self.entries.get_mut(name) else { return CacheLookup::Absent };
        if entry.known.is_none() && entry.begins && !entry.is_being_written {
            entry.known = whole(&entry.pending, at);
            entry.known_bytes = entry.pending_bytes;
            self.known_bytes += entry.known_bytes;
        }
        let (is_idle, begins) = (entry.pending.is_empty() && !entry.is_being_written, entry.begins);
        let Some(known) = entry.known.clone() else { return CacheLookup::Pending };
        if known.expires_at <= now && !entry.is_being_written {
            self.remove(name);
            return CacheLookup::Absent;
        }
        self.touch(name);
        if is_idle && !begins && at.duration_since(known.read_at) > self.valid_for {
            return CacheLookup::Stale(known.version);
        }
        CacheLookup::Known(known)
    }

    /// Remembers that the store still has the version that is at hand.
    pub(super) fn confirm(&mut self, name: &ConversationName, version: ConversationVersion, at: Instant) {
        let known = self.entries.get_mut(name).and_then(|entry| entry.known.as_mut());
        if let Some(known) = known.filter(|known| known.version == version) {
            known.read_at = at;
        }
    }

    /// Forgets what was read of a conversation, unless something of it waits to be written.
    pub(super) fn forget(&mut self, name: &ConversationName) {
        if self.entries.get(name).is_some_and(|entry| entry.pending.is_empty() && !entry.is_being_written) {
            self.remove(name);
        }
    }

    /// Remembers what the store had; `false` when something was added meanwhile, so that it may lack that.
    pub(super) fn learn(&mut self, name: &ConversationName, read: &mut Conversation, at: Instant) -> bool {
        if self.entries.contains_key(name) {
            return false;
        }
        let Conversation { owner, mut turns, version } = std::mem::take(read);
        if let Some(newest) = newest_state(&turns) {
            turns[..newest].iter_mut().for_each(|turn| turn.state = None);
        }
        let known_bytes = turns.iter().map(size).sum();
        let known =
            KnownConversation { owner, turns: turns.into(), expires_at: version.expires_at, version, read_at: at };
        let entry = CacheEntry { known: Some(known), known_bytes, ..CacheEntry::default() };
        self.known_bytes += known_bytes;
        self.entries.insert(name.clone(), entry);
        self.touch(name);
        self.evict();
        true
    }

    /// Adds to a conversation, by the rule of the store: from its first owner on, it is that owner's. `begins`
    /// says that the store knew nothing of it.
    pub(super) fn append(
        &mut self,
        name: &ConversationName,
        addition: ConversationAppend,
        begins: bool,
        at: Instant,
    ) -> AppendOutcome {
        let is_new = !self.entries.contains_key(name);
        let entry = self.entries.entry(name.clone()).or_default();
        entry.begins |= is_new && begins;
        let owner = match &entry.known {
            Some(known) => known.owner.as_ref(),
            None => entry.pending.last().and_then(|last| last.owner.as_ref()),
        };
        if owner.is_some() && owner != addition.owner.as_ref() {
            return AppendOutcome::Refused;
        }
        let bytes: usize = addition.turns.iter().map(size).sum();
        if let Some(known) = &mut entry.known {
            known.owner.clone_from(&addition.owner);
            known.expires_at = addition.expires_at;
            known.turns.extend(addition.turns.iter().cloned());
            // More is never given to an agent, so that what is left out here is no loss.
            known.turns.keep_newest(HISTORY_TURNS_MAX.min(addition.keep));
            entry.known_bytes += bytes;
            self.known_bytes += bytes;
        }
        if newest_state(&addition.turns).is_some() {
            self.known_bytes -= entry.forget_states(addition.turns.len());
        }
        entry.pending_bytes += bytes;
        self.pending_bytes += bytes;
        // A client that named its conversation comes back by that name: only a name of the host's may wait so long. Nor
        // may what somebody is about to answer, or a state, without which the agent asks its question once more.
        let is_first = is_new && begins && name.0.is_minted() && !is_to_go_on(&addition.turns);
        entry.pending.push(addition);
        self.set_due(name, if is_first { self.first_write(at) } else { at + CONVERSATION_WRITE_AFTER });
        self.evict();
        if self.pending_bytes > CONVERSATIONS_PENDING_BYTES_MAX { AppendOutcome::Full } else { AppendOutcome::Pending }
    }

    /// When the next turns are due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.due.first_key_value().map(|((at, _), _)| *at)
    }

    /// Takes the turns of at most `limit` conversations, the longest due first.
    pub(super) fn take(&mut self, scope: WriteScope, limit: usize) -> Vec<PendingWrite> {
        let mut taken = Vec::new();
        let mut left = self.pending_bytes;
        while taken.len() < limit
            && let Some((&(at, _), name)) = self.due.first_key_value()
        {
            let wanted = match scope {
                WriteScope::Due(now) => at <= now,
                WriteScope::Room => left > CONVERSATIONS_PENDING_BYTES_MAX / 2,
                WriteScope::All => true,
            };
            if !wanted {
                break;
            }
            let name = name.clone();
            let Some(write) = self.take_one(&name) else { break };
            left = left.saturating_sub(write.bytes);
            taken.push(write);
        }
        taken
    }

    /// Takes the turns of one conversation.
    pub(super) fn take_one(&mut self, name: &ConversationName) -> Option<PendingWrite> {
        let entry = self.entries.get_mut(name)?;
        self.due.remove(&entry.due.take()?);
        entry.is_being_written = true;
        let (appends, bytes) = (std::mem::take(&mut entry.pending), std::mem::take(&mut entry.pending_bytes));
        Some(PendingWrite { name: name.clone(), appends: joined(appends), bytes })
    }

    /// Remembers what came of a write: how the conversation stands then, or that it was not taken. `count`
    /// turns were in it.
    pub(super) fn written(&mut self, write: &PendingWrite, count: usize, version: Option<ConversationVersion>) {
        self.pending_bytes -= write.bytes;
        let Some(entry) = self.entries.get_mut(&write.name) else { return };
        (entry.is_being_written, entry.begins) = (false, false);
        let known = entry.known.as_mut();
        match known.zip(version) {
            // Only if nobody else has written to it in between, is what is at hand all of it.
            Some((known, version)) if known.version.last_turn + count as u64 == version.last_turn => {
                known.version = version;
            }
            _ => {
                self.known_bytes -= std::mem::take(&mut entry.known_bytes);
                entry.known = None;
                if let Some(number) = entry.used.take() {
                    self.used.remove(&number);
                }
                if entry.pending.is_empty() {
                    self.entries.remove(&write.name);
                }
            }
        }
    }

    /// First exchanges are due at the last common moment within their time.
    fn first_write(&self, at: Instant) -> Instant {
        let every = FIRST_WRITES_EVERY.as_secs();
        let latest = at.duration_since(self.started) + CONVERSATION_FIRST_WRITE_AFTER;
        self.started + Duration::from_secs(latest.as_secs() / every * every)
    }

    fn set_due(&mut self, name: &ConversationName, at: Instant) {
        self.last_number += 1;
        let Some(entry) = self.entries.get_mut(name) else { return };
        let due = (at, self.last_number);
        match entry.due {
            Some(earlier) if earlier.0 <= at => {}
            later => {
                later.map(|later| self.due.remove(&later));
                entry.due = Some(due);
                self.due.insert(due, name.clone());
            }
        }
    }

    fn touch(&mut self, name: &ConversationName) {
        self.last_number += 1;
        let Some(entry) = self.entries.get_mut(name) else { return };
        if let Some(before) = entry.used.replace(self.last_number) {
            self.used.remove(&before);
        }
        self.used.insert(self.last_number, name.clone());
    }

    fn remove(&mut self, name: &ConversationName) {
        let Some(entry) = self.entries.remove(name) else { return };
        entry.due.map(|due| self.due.remove(&due));
        entry.used.map(|used| self.used.remove(&used));
        self.known_bytes -= entry.known_bytes;
        self.pending_bytes -= entry.pending_bytes;
    }

    /// Forgets what was not used for longest. What waits to be written stays.
    fn evict(&mut self) {
        let mut tries = self.used.len();
        while self.known_bytes > CONVERSATIONS_CACHED_BYTES_MAX && tries > 0 {
            tries -= 1;
            let Some((_, name)) = self.used.pop_first() else { return };
            // Back in line first, since `forget` leaves what waits to be written.
            self.touch(&name);
            self.forget(&name);
        }
    }
}

/// A conversation of which everything waits here.
fn whole(pending: &[ConversationAppend], at: Instant) -> Option<KnownConversation> {
    let last = pending.last()?;
    Some(KnownConversation {
        owner: last.owner.clone(),
        turns: pending.iter().flat_map(|append| append.turns.iter().cloned()).collect(),
        version: ConversationVersion::default(),
        expires_at: last.expires_at,
        read_at: at,
    })
}

/// The same additions in fewer steps: those of one owner are one.
fn joined(appends: Vec<ConversationAppend>) -> Vec<ConversationAppend> {
    let mut all: Vec<ConversationAppend> = Vec::with_capacity(appends.len());
    for append in appends {
        match all.last_mut() {
            Some(last) if last.owner == append.owner && last.account == append.account => {
                last.turns.extend(append.turns);
                last.expires_at = append.expires_at;
            }
            _ => all.push(append),
        }
    }
    all
}

/// How much larger a text of JSON is once somebody has looked into it, about.
const PARSED_FACTOR: usize = 4;

/// About how many bytes of memory a turn takes.
fn size(turn: &Turn) -> usize {
    let part = |part: &Part| match part {
        Part::Data(data) => match data.data.text() {
            Some(text) => PARSED_FACTOR * text.len(),
            None => json_size(&data.data),
        },
        part => part.as_text().map_or(TURN_BYTES, str::len),
    };
    let annotations: usize = turn.annotations.iter().map(|(key, value)| key.len() + json_size(value)).sum();
    let state = turn.state.as_ref().map_or(0, |state| json_size(&state.value));
    TURN_BYTES + annotations + state + turn.parts.iter().map(part).sum::<usize>()
}

fn json_size(value: &Value) -> usize {
    let node = size_of::<Value>();
    match value {
        Value::String(text) => node + text.len(),
        Value::Array(items) => node + items.iter().map(json_size).sum::<usize>(),
        Value::Object(fields) => {
            node + fields.iter().map(|(key, value)| node + key.len() + json_size(value)).sum::<usize>()
        }
        _ => node,
    }
}

/// Whether somebody will go on with what was said: it ends in a question, or its agent keeps something.
fn is_to_go_on(turns: &[Turn]) -> bool {
    newest_state(turns).is_some() || turns.last().is_some_and(|turn| turn.question.is_some())
}

#[cfg(test)]
mod tests;
