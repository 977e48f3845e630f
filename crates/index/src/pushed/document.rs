//! A document that is pushed, read into the items that are to be held.

use std::collections::HashSet;

use forecourt_core::Timestamp;
use forecourt_loaders::grounding::{GROUNDING, grounding, moment};
use forecourt_loaders::item::{first_text, global_id, hash, name};
use forecourt_loaders::limits::ITEM_BYTES_MAX;
use forecourt_loaders::{DocumentContents, Reason, SkippedItem, collect_items};
use serde_json::Value;

use super::PushedItem;
use crate::error::{Error, Result};
use crate::limits::{PUSH_BYTES_MAX, PUSH_ITEMS_MAX};
use crate::report::Report;

/// A pushed document, read and checked: an item for each id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushedDocument {
    /// Its items, each id once.
    pub items: Vec<PushedItem>,
    /// The number of items that were left out.
    pub skipped: u64,
    /// Why, for the first [`forecourt_loaders::limits::REASONS_MAX`].
    pub reasons: Vec<SkippedItem>,
}

impl PushedDocument {
    /// Reads a document. Fails when it is in no format that is read, or past the bounds of one call.
    pub(crate) fn read(document: &[u8], media_type: &str, now: Timestamp) -> Result<Self> {
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
        let items = items.iter().map(|(item, said)| pushed(item, *said, now)).collect();
        Ok(Self { items, skipped: report.skipped, reasons: report.reasons })
    }
}

/// The items that can be put, each with a hash of its text; of several with one id the last.
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
                // Hashed without the grounding: its moment differs with each call, and no item would be as it was
                // before.
                out.push((item, hash(&[said.as_bytes()])));
                continue;
            }
        };
        report.skip("", Some(line), &reason);
    }
    out.reverse();
    out
}

fn pushed(item: &Value, said: u64, now: Timestamp) -> PushedItem {
    let mut item = item.clone();
    if let Some(grounding) = grounding(&item, None, &moment(now)) {
        item[GROUNDING] = grounding;
    }
    PushedItem {
        id: global_id(&item).unwrap_or_default(),
        url: first_text(&item, &["url"]).map(str::to_owned),
        item: item.to_string().into_bytes(),
        said,
    }
}
