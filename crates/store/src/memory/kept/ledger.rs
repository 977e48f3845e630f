//! This module has append-only streams of entries.

use std::collections::{BTreeMap, HashMap};

use forecourt_core::limits::ENTRY_BYTES_MAX;
use forecourt_core::store::{LedgerEntry, Span, cost};
use forecourt_core::{Account, StoreError, Timestamp};

use super::accounts::{Accounts, json_len};
use super::room;
use crate::limits::MEMORY_ENTRIES_MAX;

fn give_back(entry: &LedgerEntry, accounts: &mut Accounts) {
    accounts.give_back(&entry.account, cost(json_len(&entry.body)));
}

/// All streams, by name.
#[derive(Default)]
pub(super) struct Ledger {
    streams: HashMap<String, Stream>,
    entries: usize,
}

/// Never empty.
#[derive(Default)]
struct Stream {
    entries: BTreeMap<u64, LedgerEntry>,
    /// The number of the last entry, also when that one has expired.
    last: u64,
}

impl Ledger {
    pub(super) fn append(
        &mut self,
        name: String,
        entry: LedgerEntry,
        expected: Option<u64>,
        accounts: &mut Accounts,
    ) -> Result<Option<u64>, StoreError> {
        if entry.body.to_string().len() > ENTRY_BYTES_MAX {
            return Err(StoreError::Unavailable(format!("an entry has at most {ENTRY_BYTES_MAX} bytes")));
        }
        let readable =
            |stream: &Stream| stream.entries.iter().rev().find(|(_, e)| e.is_there(entry.at)).map(|(n, _)| *n);
        let last = self.streams.get(&name).and_then(readable);
        if expected.is_some_and(|expected| expected != last.unwrap_or(0)) {
            return Ok(None);
        }
        // Everything in it has expired: it begins anew at 1, as in the databases, where an empty stream is removed.
        if last.is_none() {
            let gone = self.streams.remove(&name).map(|stream| stream.entries).unwrap_or_default();
            self.entries -= gone.len();
            gone.values().for_each(|entry| give_back(entry, accounts));
        }
        let bytes = cost(json_len(&entry.body));
        accounts.new_room(&entry.account, bytes)?;
        room(self.entries, MEMORY_ENTRIES_MAX, "entry")?;
        let stream = self.streams.entry(name).or_default();
        stream.last += 1;
        accounts.add(&entry.account, bytes);
        stream.entries.insert(stream.last, entry);
        self.entries += 1;
        Ok(Some(stream.last))
    }

    pub(super) fn read(&self, name: &str, span: Span, limit: usize, now: Timestamp) -> Vec<(u64, LedgerEntry)> {
        let Some(stream) = self.streams.get(name) else { return Vec::new() };
        let shown = |(n, entry): (&u64, &LedgerEntry)| {
            // As the databases answer, which have only a keyed hash of the account.
            entry.is_there(now).then(|| (*n, LedgerEntry { account: Account::HOST, ..entry.clone() }))
        };
        match span {
            Span::After(n) => stream.entries.range(n.saturating_add(1)..).filter_map(shown).take(limit).collect(),
            Span::Before(n) => stream.entries.range(..n).rev().filter_map(shown).take(limit).collect(),
        }
    }

    /// Moves when entries expire.
    pub(super) fn shift(&mut self, shift: impl Fn(&mut Timestamp)) {
        let entries = self.streams.values_mut().flat_map(|stream| stream.entries.values_mut());
        entries.filter_map(|entry| entry.expires_at.as_mut()).for_each(shift);
    }

    /// Removes at most `limit` entries; gives how many there were.
    pub(super) fn expire(&mut self, now: Timestamp, limit: usize, accounts: &mut Accounts) -> usize {
        let mut removed = 0;
        for stream in self.streams.values_mut() {
            let before = stream.entries.len();
            let left = limit - removed;
            let expired: Vec<u64> =
                stream.entries.iter().filter(|(_, e)| !e.is_there(now)).map(|(n, _)| *n).take(left).collect();
            expired.iter().filter_map(|n| stream.entries.remove(n)).for_each(|entry| give_back(&entry, accounts));
            removed += before - stream.entries.len();
        }
        self.streams.retain(|_, stream| !stream.entries.is_empty());
        self.entries -= removed;
        removed
    }
}
