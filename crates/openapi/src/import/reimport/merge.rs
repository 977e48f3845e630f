//! One file, edited by people, and its newer version: per key, whose change it is.

use std::collections::{BTreeMap, BTreeSet};

use forecourt_contract::deprecation::is_plain;
use serde_json::Value;
use toml_edit::{DocumentMut, Item, Table, TableLike, value};

use super::keys::{WHOLE, of_json, of_toml, parts};
use crate::import::one_line;

/// A file with the changes of both sides.
#[derive(Debug)]
pub(super) struct MergedFile {
    pub(super) text: String,
    /// Keys that the document changed.
    pub(super) changed: Vec<String>,
    /// Keys that a person changed.
    pub(super) kept: Vec<String>,
    /// Keys that both changed.
    pub(super) conflicts: Vec<String>,
}

/// Merges: what only one side changed is as that side has it; what both changed is as the person has it.
///
/// # Errors
/// One of the two is no file of its kind, or a change does not fit what the person made of the file.
pub(super) fn merged(name: &str, base: &BTreeMap<String, String>, own: &str, new: &str) -> Result<MergedFile, String> {
    match name.ends_with(".json") {
        true => merged_json(base, own, new),
        false => merged_toml(base, own, new),
    }
}

fn merged_toml(base: &BTreeMap<String, String>, own: &str, new: &str) -> Result<MergedFile, String> {
    let mut ours: DocumentMut = own.parse().map_err(|_| "it is not TOML any more".to_owned())?;
    let theirs: DocumentMut = new.parse().map_err(|_| "its newer version is not TOML".to_owned())?;
    let mut sides = Sides::of(base, &of_toml(&ours), &of_toml(&theirs));
    let mut left = Vec::new();
    for key in std::mem::take(&mut sides.changed) {
        let parts = parts(&key);
        let done = match at(theirs.as_item(), &parts) {
            Some(item) => put(ours.as_table_mut(), &theirs, &parts, item),
            None => {
                take(ours.as_table_mut(), &parts);
                true
            }
        };
        if done { left.push(key) } else { sides.conflicts.push(key) }
    }
    Ok(MergedFile { text: ours.to_string(), changed: left, kept: sides.kept, conflicts: sides.conflicts })
}

fn merged_json(base: &BTreeMap<String, String>, own: &str, new: &str) -> Result<MergedFile, String> {
    let mut ours: Value = serde_json::from_str(own).map_err(|_| "it is not JSON any more".to_owned())?;
    let theirs: Value = serde_json::from_str(new).map_err(|_| "its newer version is not JSON".to_owned())?;
    let sides = Sides::of(base, &of_json(&ours), &of_json(&theirs));
    for key in &sides.changed {
        let parts = parts(key);
        let Some((last, before)) = parts.split_last() else { continue };
        let found = before.iter().try_fold(&theirs, |value, part| value.get(part)).and_then(|value| value.get(last));
        let mut place = &mut ours;
        for part in before {
            if !place[part].is_object() {
                place[part] = Value::Object(serde_json::Map::new());
            }
            place = &mut place[part];
        }
        match (found, place.as_object_mut()) {
            (Some(found), Some(fields)) => drop(fields.insert(last.clone(), found.clone())),
            (None, Some(fields)) => drop(fields.remove(last)),
            _ => {}
        }
    }
    let text = serde_json::to_string_pretty(&ours).unwrap_or_default() + "\n";
    Ok(MergedFile { text, changed: sides.changed, kept: sides.kept, conflicts: sides.conflicts })
}

/// Marks an endpoint whose operation is gone.
///
/// # Errors
/// It is no endpoint's file any more.
pub(super) fn deprecated(own: &str, title: &str, version: &str) -> Result<String, String> {
    let mut document: DocumentMut = own.parse().map_err(|_| "the file is not TOML any more".to_owned())?;
    let endpoint =
        document.get_mut("endpoint").and_then(Item::as_table_like_mut).ok_or("the file has no [endpoint]")?;
    if endpoint.get("deprecated").is_none() {
        let version = if is_plain(version) { version } else { "unknown" };
        let mut table = Table::new();
        table.decor_mut().set_prefix(format!("\n# {} has no such operation any more.\n", one_line(title)));
        table.insert("deprecated_in", value(version));
        endpoint.insert("deprecated", Item::Table(table));
    }
    Ok(document.to_string())
}

/// Keys by who changed them.
#[derive(Default)]
struct Sides {
    changed: Vec<String>,
    kept: Vec<String>,
    conflicts: Vec<String>,
}

impl Sides {
    fn of(base: &BTreeMap<String, String>, own: &BTreeMap<String, String>, new: &BTreeMap<String, String>) -> Sides {
        let mut sides = Sides::default();
        let all: BTreeSet<&String> = base.keys().chain(own.keys()).chain(new.keys()).collect();
        for key in all.into_iter().filter(|key| *key != WHOLE) {
            let (was, is, becomes) = (base.get(key), own.get(key), new.get(key));
            match () {
                // Both may have made the same change, which is no conflict.
                () if is == becomes => {}
                () if is == was => sides.changed.push(key.clone()),
                () if becomes == was => sides.kept.push(key.clone()),
                () => sides.conflicts.push(key.clone()),
            }
        }
        sides
    }
}

/// What stands at a path.
fn at<'a>(root: &'a Item, parts: &[String]) -> Option<&'a Item> {
    parts.iter().try_fold(root, |item, part| item.as_table_like()?.get(part))
}

/// Puts an item at a path, with the comments that it has. Whether there was a place for it.
fn put(root: &mut dyn TableLike, theirs: &DocumentMut, parts: &[String], item: &Item) -> bool {
    let Some((last, before)) = parts.split_last() else { return false };
    let mut place = root;
    for (depth, part) in before.iter().enumerate() {
        if place.get(part).is_none() {
            // A table of theirs without what stands in it keeps its header and its comments.
            let mut table = match at(theirs.as_item(), &parts[..=depth]) {
                Some(Item::Table(table)) => table.clone(),
                _ => Table::new(),
            };
            table.clear();
            place.insert(part, Item::Table(table));
        }
        match place.get_mut(part).and_then(Item::as_table_like_mut) {
            Some(inner) => place = inner,
            None => return false,
        }
    }
    match place.get_mut(last) {
        Some(existing) => *existing = item.clone(),
        None => {
            let comments = at(theirs.as_item(), before).and_then(Item::as_table_like).and_then(|table| table.key(last));
            let comments = comments.map(|key| key.leaf_decor().clone());
            place.insert(last, item.clone());
            if let (Some(comments), Some(mut key)) = (comments, place.key_mut(last)) {
                *key.leaf_decor_mut() = comments;
            }
        }
    }
    true
}

/// Takes what stands at a path away, and the tables around it that are empty then.
fn take(place: &mut dyn TableLike, parts: &[String]) {
    match parts {
        [] => {}
        [last] => drop(place.remove(last)),
        [first, rest @ ..] => {
            let Some(inner) = place.get_mut(first).and_then(Item::as_table_like_mut) else { return };
            take(inner, rest);
            if inner.is_empty() {
                place.remove(first);
            }
        }
    }
}
