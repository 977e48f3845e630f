//! Items that the operator puts and removes by hand, while everything else goes on.
//!
//! Of what is said about one id, the last call counts, and it counts more than any file or site: what was
//! put is found as it was put, and what was removed is not found, until another call says otherwise. A
//! removal is forgotten when no file and no site has the id any more.

use std::collections::HashSet;

use forecourt_core::Timestamp;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::grounding::{GROUNDING, grounding, moment};
use crate::item::{bounded_id, first_text, global_id, hash, name};
use crate::library::Library;
use crate::limits::{ITEM_BYTES_MAX, PUSH_BYTES_MAX, PUSH_ITEMS_MAX};
use crate::loaders::{DocumentContents, Reason, collect_items};
use crate::pushed::Entry;
use crate::report::{Report, SkippedItem};

/// What putting items came to. All of it is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PutOutcome {
    /// Items that are new, or different from those that were put before.
    pub stored: u64,
    /// Items that were put before just so.
    pub unchanged: u64,
    /// What was left out.
    pub skipped: u64,
    /// Why, for the first [`crate::limits::REASONS_MAX`].
    pub reasons: Vec<SkippedItem>,
    /// Whether they can be found already. Otherwise the next run of [`Library::index`] sees to it.
    pub is_searchable: bool,
}

/// What removing items came to. All of it is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoveOutcome {
    /// Ids of items that were there.
    pub removed: Vec<String>,
    /// Names that no item has.
    pub unknown: Vec<String>,
    /// Whether they can be found no more. Otherwise the next run of [`Library::index`] sees to it.
    pub is_searchable: bool,
}

/// What names stand for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedIds {
    /// Ids of items that are there, each once.
    pub ids: Vec<String>,
    /// Names that no item has.
    pub unknown: Vec<String>,
}

impl Library {
    /// Puts the items of a document in the place of those with their ids, wherever these are from.
    /// `media_type` says how it is written: JSON Lines, JSON, JSON-LD, CSV or a feed. Items that cannot be
    /// taken are left out with a reason. Fails without a change when the document is in no such format or
    /// past the bounds, and when no file for it was named in [`crate::Options`].
    pub fn put(&self, document: &[u8], media_type: &str, now: Timestamp) -> Result<PutOutcome> {
        let (entries, report) = read(document, media_type, now)?;
        let _pushing = self.pushing.lock();
        let changed = self.pushed.put(&entries)?;
        let new = changed.iter().zip(&entries).filter(|(changed, _)| **changed);
        let new: Vec<Value> = new.filter_map(|(_, entry)| serde_json::from_slice(&entry.item).ok()).collect();
        let is_searchable = self.taken_in(&new, &[]);
        Ok(PutOutcome {
            stored: new.len() as u64,
            unchanged: (entries.len() - new.len()) as u64,
            skipped: report.skipped,
            reasons: report.reasons,
            is_searchable,
        })
    }

    /// Removes the items that go by these names, which are ids or links, wherever they are from.
    pub fn remove(&self, names: &[String]) -> Result<RemoveOutcome> {
        let _pushing = self.pushing.lock();
        let NamedIds { ids: removed, unknown } = self.named_ids(names)?;
        if !removed.is_empty() {
            self.pushed.remove(&removed)?;
        }
        let keys: Vec<u64> = removed.iter().map(|id| hash(&[id.as_bytes()])).collect();
        let is_searchable = self.taken_in(&[], &keys);
        Ok(RemoveOutcome { removed, unknown, is_searchable })
    }

    /// The ids of the items that go by these names, which are ids or links, wherever they are from.
    pub fn named_ids(&self, names: &[String]) -> Result<NamedIds> {
        if names.len() > PUSH_ITEMS_MAX {
            return Err(Error::TooMuch(format!("{PUSH_ITEMS_MAX} ids")));
        }
        let mut named = NamedIds::default();
        for name in names {
            match self.ids_of(name)? {
                ids if ids.is_empty() => named.unknown.push(name.clone()),
                ids => named.ids.extend(ids),
            }
        }
        let mut seen = HashSet::new();
        named.ids.retain(|id: &String| seen.insert(id.clone()));
        Ok(named)
    }

    /// Forgets all that was put and removed by hand: files and sites count alone again, from the next run
    /// of [`Library::index`] on.
    pub fn forget_pushed(&self) -> Result<()> {
        let _pushing = self.pushing.lock();
        self.pushed.clear()
    }

    /// The ids of items that go by a name and can be found.
    pub(crate) fn ids_of(&self, name: &str) -> Result<Vec<String>> {
        let held = self.pushed.named(name)?;
        let mut ids: Vec<String> = held.iter().filter(|(_, is_item)| *is_item).map(|(id, _)| id.clone()).collect();
        let own = bounded_id(name.to_owned());
        if !held.iter().any(|(id, _)| *id == own) && self.has(hash(&[own.as_bytes()]))? {
            ids.push(own);
        }
        Ok(ids)
    }

    /// Whether the index has what is on disk already. A failure is the index's own, and the next run's to
    /// make good: what was pushed is kept.
    pub(crate) fn taken_in(&self, items: &[Value], removed: &[u64]) -> bool {
        let taken_in = match items.is_empty() && removed.is_empty() {
            true => self.has_what_was_pushed(),
            false => self.index_call(items, removed),
        };
        taken_in.unwrap_or_else(|error| {
            tracing::error!(%error, "what was pushed is kept and not yet indexed");
            false
        })
    }
}

/// The items of a document, ready to be held, and what was left out of it.
pub(crate) fn read(document: &[u8], media_type: &str, now: Timestamp) -> Result<(Vec<Entry>, Report)> {
    if document.len() > PUSH_BYTES_MAX {
        return Err(Error::TooMuch(format!("{PUSH_BYTES_MAX} bytes")));
    }
    let DocumentContents { items, skipped } = collect_items(document, media_type, "", None).ok_or_else(|| {
        Error::Unreadable(
            "the media type says no format that is read: application/x-ndjson, application/json and text/csv are"
                .to_owned(),
        )
    })?;
    if items.len() > PUSH_ITEMS_MAX {
        return Err(Error::TooMuch(format!("{PUSH_ITEMS_MAX} items")));
    }
    let mut report = Report::default();
    skipped.iter().for_each(|(line, reason)| report.skip("", *line, reason));
    let items = last_of_each(items, &mut report);
    let entries = items.iter().map(|(item, said)| entry(item, *said, now)).collect();
    Ok((entries, report))
}

/// The items that can be put, each with a hash of what was said; of several with one id the last.
fn last_of_each(items: Vec<(u64, Value)>, report: &mut Report) -> Vec<(Value, u64)> {
    let mut seen = HashSet::new();
    let mut out = Vec::with_capacity(items.len());
    for (line, item) in items.into_iter().rev() {
        let said = item.to_string();
        let reason = match global_id(&item) {
            _ if name(&item).is_none() => Reason::NoName,
            None => Reason::NoId,
            _ if said.len() > ITEM_BYTES_MAX => Reason::TooLong,
            Some(id) if !seen.insert(id.clone()) => Reason::Again(id),
            Some(_) => {
                out.push((item, hash(&[said.as_bytes()])));
                continue;
            }
        };
        report.skip("", Some(line), &reason);
    }
    out.reverse();
    out
}

fn entry(item: &Value, said: u64, now: Timestamp) -> Entry {
    let mut item = item.clone();
    if let Some(grounding) = grounding(&item, None, &moment(now)) {
        item[GROUNDING] = grounding;
    }
    Entry {
        id: global_id(&item).unwrap_or_default(),
        url: first_text(&item, &["url"]).map(str::to_owned),
        item: item.to_string().into_bytes(),
        said,
    }
}
