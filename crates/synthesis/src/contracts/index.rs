//! The contracts that are known here, as the stream of their entries tells: by name, by pair, by order and by
//! when their time comes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use forecourt_contract::{Method, RequestPath, Template};
use forecourt_core::Timestamp;

use super::entry::ContractEntry;
use super::pairs::{OwnerNumber, PairTable};
use super::record::{ContractEnd, ContractEndKind, ContractHolder, ContractRecord, ContractScope, ContractState};
use crate::limits::TOMBSTONE_TTL;

/// The contracts that are known.
#[derive(Default)]
pub(super) struct Index {
    by_name: HashMap<Arc<str>, Arc<ContractRecord>>,
    /// Those in force, by number.
    active: BTreeMap<u64, Arc<str>>,
    /// Those of them that are persistent.
    persistent: BTreeSet<u64>,
    /// How often the set above has changed.
    edition: u64,
    owners: HashMap<ContractHolder, Owner>,
    owners_made: OwnerNumber,
    /// Open contracts, offers too, by pair; those of all owners once more under [`EVERYBODY`].
    pairs: PairTable,
    connections: HashMap<ContractScope, Vec<Arc<str>>>,
    /// When something becomes of a contract by itself: it expires, or is forgotten.
    due: BTreeSet<(Timestamp, Arc<str>)>,
    /// How many are open.
    open: usize,
}

/// The contracts of one holder, by number and by count.
#[derive(Default)]
struct Owner {
    number: OwnerNumber,
    /// Its contracts in force, by number.
    active: BTreeSet<u64>,
    /// Its open contracts, offers too.
    open: usize,
    /// Those and its ended ones that are remembered.
    known: usize,
}

/// The owner of contracts that are looked for whosoever they are.
const EVERYBODY: OwnerNumber = 0;

/// How many contracts there are.
pub(super) struct Counts {
    /// Open ones of the holder.
    pub own: usize,
    /// Open and ended ones of the holder.
    pub known_own: usize,
    /// Open ones of all.
    pub open: usize,
    /// Open and ended ones of all.
    pub known: usize,
}

impl Index {
    /// Takes over an entry, in the order of the stream. What contradicts an earlier entry changes nothing, so
    /// that whoever follows the stream comes to the same end.
    pub(super) fn apply(&mut self, number: u64, at: Timestamp, entry: ContractEntry) {
        match entry {
            ContractEntry::Begun => {}
            // The number is the ledger's: what the entry holds was written before its number was known.
            ContractEntry::Made(record) => self.add(ContractRecord { number, settled_by: number, ..*record }),
            ContractEntry::Accepted(name) => {
                let record = self.by_name.get(&name);
                // Against the time of the entry, not of this process, or an acceptance would count in one process and
                // not in another.
                if let Some(record) = record.filter(|it| it.state == ContractState::Offered && it.expires_at > at) {
                    let record = Arc::clone(record);
                    self.settle(&record, ContractState::Active, number);
                }
            }
            ContractEntry::Ended(name, end) => {
                let was_in_time = |it: &&Arc<ContractRecord>| match it.end() {
                    // Here its time came before it was read that it had ended otherwise.
                    Some(known) => known.kind == ContractEndKind::Expired && it.expires_at > end.at,
                    None => true,
                };
                if let Some(record) = self.by_name.get(&name).filter(was_in_time) {
                    let record = Arc::clone(record);
                    self.settle(&record, ContractState::Ended(end), number);
                }
            }
        }
    }

    /// Lets the time be `now`: contracts expire, and those that ended long ago are forgotten.
    pub(super) fn advance(&mut self, now: Timestamp) {
        while let Some((at, name)) = self.due.first().filter(|(at, _)| *at <= now).cloned() {
            let Some(record) = self.by_name.get(&name).cloned() else {
                self.due.remove(&(at, name));
                continue;
            };
            match record.end() {
                Some(_) => self.forget(&record),
                None => {
                    let end = ContractEnd {
                        kind: ContractEndKind::Expired,
                        at: record.expires_at,
                        actor: None,
                        reason: None,
                    };
                    self.settle(&record, ContractState::Ended(end), record.settled_by);
                }
            }
        }
    }

    /// Whether [`Index::advance`] would change something.
    pub(super) fn is_due(&self, now: Timestamp) -> bool {
        self.due.first().is_some_and(|(at, _)| *at <= now)
    }

    /// A contract by its name.
    pub(super) fn get(&self, name: &str) -> Option<&Arc<ContractRecord>> {
        self.by_name.get(name)
    }

    /// The open contracts of a holder for a pair, the nearest first.
    pub(super) fn find<'a>(
        &'a self,
        holder: &ContractHolder,
        method: &'a Method,
        path: &'a RequestPath,
    ) -> impl Iterator<Item = &'a Arc<ContractRecord>> + use<'a> {
        let owner = self.owners.get(holder).map(|owner| owner.number);
        let names = owner.map(|owner| self.pairs.find(owner, method, path));
        names.into_iter().flatten().filter_map(|name| self.by_name.get(name))
    }

    /// The open contracts of a holder whose path has the shape of this one, the newest first.
    pub(super) fn find_template<'a>(
        &'a self,
        holder: &ContractHolder,
        method: &Method,
        path: &Template,
    ) -> impl Iterator<Item = &'a Arc<ContractRecord>> + use<'a> {
        let owner = self.owners.get(holder).map(|owner| owner.number);
        let names = owner.map(|owner| self.pairs.find_template(owner, method, path));
        names.into_iter().flatten().filter_map(|name| self.by_name.get(name))
    }

    /// The open contracts of anybody for a pair.
    pub(super) fn find_any<'a>(
        &'a self,
        method: &'a Method,
        path: &'a RequestPath,
    ) -> impl Iterator<Item = &'a Arc<ContractRecord>> + use<'a> {
        self.pairs.find(EVERYBODY, method, path).filter_map(|name| self.by_name.get(name))
    }

    /// At most `limit` contracts in force after a number, those of a holder or of all.
    pub(super) fn page(&self, holder: Option<&ContractHolder>, after: u64, limit: usize) -> Vec<Arc<ContractRecord>> {
        let range = after.saturating_add(1)..;
        match holder {
            None => self.numbered(self.active.range(range).map(|(number, _)| *number), limit),
            Some(holder) => match self.owners.get(holder) {
                Some(owner) => self.numbered(owner.active.range(range).copied(), limit),
                None => Vec::new(),
            },
        }
    }

    /// At most `limit` persistent contracts in force.
    pub(super) fn persistent(&self, limit: usize) -> Vec<Arc<ContractRecord>> {
        self.numbered(self.persistent.iter().copied(), limit)
    }

    /// Another number whenever the set of persistent contracts in force is another one.
    pub(super) fn edition(&self) -> u64 {
        self.edition
    }

    /// The open contracts that are bound to a connection.
    pub(super) fn bound_to(&self, connection: &ContractScope) -> Vec<Arc<ContractRecord>> {
        let names = self.connections.get(connection).into_iter().flatten();
        names.filter_map(|name| self.by_name.get(name).cloned()).collect()
    }

    /// All open contracts, offers too.
    pub(super) fn open(&self) -> Vec<Arc<ContractRecord>> {
        self.by_name.values().filter(|record| record.end().is_none()).cloned().collect()
    }

    /// How many contracts there are: of a holder, and of all.
    pub(super) fn counts(&self, holder: &ContractHolder) -> Counts {
        let (own, known_own) = self.owners.get(holder).map_or((0, 0), |owner| (owner.open, owner.known));
        Counts { own, known_own, open: self.open, known: self.by_name.len() }
    }

    fn numbered(&self, numbers: impl Iterator<Item = u64>, limit: usize) -> Vec<Arc<ContractRecord>> {
        let record = |number| self.by_name.get(self.active.get(&number)?).cloned();
        numbers.filter_map(record).take(limit).collect()
    }

    fn add(&mut self, mut record: ContractRecord) {
        // A name is given once: the first entry counts in every process, whatever a later one claims.
        if self.by_name.contains_key(&record.synthesis_id) {
            return;
        }
        // One text for all contracts of a holder.
        if let Some((holder, _)) = self.owners.get_key_value(&record.holder) {
            record.holder = holder.clone();
        } else {
            self.owners_made += 1;
            let owner = Owner { number: self.owners_made, ..Owner::default() };
            self.owners.insert(record.holder.clone(), owner);
        }
        if let Some(owner) = self.owners.get_mut(&record.holder) {
            owner.known += 1;
        }
        let record = Arc::new(record);
        self.by_name.insert(Arc::clone(&record.synthesis_id), Arc::clone(&record));
        self.enter(&record);
    }

    /// Has a contract stand elsewhere, by an entry.
    fn settle(&mut self, before: &Arc<ContractRecord>, state: ContractState, settled_by: u64) {
        self.leave(before);
        let record = Arc::new(ContractRecord { state, settled_by, ..ContractRecord::clone(before) });
        self.by_name.insert(Arc::clone(&record.synthesis_id), Arc::clone(&record));
        self.enter(&record);
    }

    fn forget(&mut self, record: &Arc<ContractRecord>) {
        self.leave(record);
        self.by_name.remove(&record.synthesis_id);
        let Some(owner) = self.owners.get_mut(&record.holder) else { return };
        owner.known -= 1;
        if owner.known == 0 {
            self.owners.remove(&record.holder);
        }
    }

    /// Enters a contract where its state has it found.
    fn enter(&mut self, record: &Arc<ContractRecord>) {
        let name = &record.synthesis_id;
        self.due.insert((due_at(record), Arc::clone(name)));
        let Some(owner) = self.owners.get_mut(&record.holder).filter(|_| record.end().is_none()) else { return };
        owner.open += 1;
        self.open += 1;
        // Twice, so that somebody else's contract for a pair is found without looking at every holder's
        // (`contract-not-yours`).
        for number in [owner.number, EVERYBODY] {
            self.pairs.insert(number, record);
        }
        if matches!(record.scope, ContractScope::Connection { .. }) {
            self.connections.entry(record.scope.clone()).or_default().push(Arc::clone(name));
        }
        if record.is_active() {
            owner.active.insert(record.number);
            self.active.insert(record.number, Arc::clone(name));
            if record.is_persistent {
                self.persistent.insert(record.number);
                self.edition += 1;
            }
        }
    }

    /// Takes a contract out again wherever it was entered.
    fn leave(&mut self, record: &Arc<ContractRecord>) {
        let name = &record.synthesis_id;
        self.due.remove(&(due_at(record), Arc::clone(name)));
        let Some(owner) = self.owners.get_mut(&record.holder).filter(|_| record.end().is_none()) else { return };
        owner.open -= 1;
        self.open -= 1;
        for number in [owner.number, EVERYBODY] {
            self.pairs.remove(number, record);
        }
        if let Some(names) = self.connections.get_mut(&record.scope) {
            names.retain(|known| known != name);
            if names.is_empty() {
                self.connections.remove(&record.scope);
            }
        }
        if record.is_active() {
            owner.active.remove(&record.number);
            self.active.remove(&record.number);
            if self.persistent.remove(&record.number) {
                self.edition += 1;
            }
        }
    }
}

/// When something becomes of a contract by itself.
fn due_at(record: &ContractRecord) -> Timestamp {
    match record.end() {
        None => record.expires_at,
        Some(end) => end.at.checked_add(TOMBSTONE_TTL).unwrap_or(Timestamp::MAX),
    }
}
