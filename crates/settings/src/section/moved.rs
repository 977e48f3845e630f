//! This module takes keys by the names that they had in the release before, and remembers where a file
//! still has them. It changes nothing in files; [`crate::fix`] does.

use super::Section;
use crate::moved::{KeyMove, MovedKey};
use crate::tree::{Entry, Kind, Node, Table};

impl Section {
    /// Takes what stands under an old name as if it stood under the new one. A key that is there by both
    /// names stays, and is refused when the section is read.
    pub fn accept_moved(&mut self, moved: &[MovedKey]) {
        for MovedKey { old, new } in moved {
            let (from, to) = (segments(old), segments(new));
            let Some((span, by)) = entry(&self.table, &from).map(|entry| (entry.key_span.clone(), entry.by.clone()))
            else {
                continue;
            };
            // Which of two values counts is for the operator to say.
            let is_superseded = !has_room(&self.table, &to);
            if !is_superseded && let Some(entry) = take(&mut self.table, &from) {
                put(&mut self.table, &to, entry);
            }
            if by.is_some() {
                // There is nothing in the file to rewrite.
                continue;
            }
            self.source.note(KeyMove {
                file: self.source.file.clone(),
                line: self.source.place(&span).line,
                old: self.path_of(old),
                new: self.path_of(new),
                is_superseded,
            });
        }
    }

    /// Every key of this file that any owner of a section took by its old name, in file order.
    pub fn moved_keys(&self) -> Vec<KeyMove> {
        let mut moved = self.source.moved();
        moved.retain(|key| !key.is_superseded);
        moved.sort_by_key(|key| key.line);
        moved
    }

    /// The new name of the key at `path` of the file, where it stands beside the old one.
    pub(crate) fn superseding(&self, path: &str) -> Option<String> {
        self.source.moved().into_iter().find(|key| key.is_superseded && key.old == path).map(|key| key.new)
    }
}

fn segments(path: &str) -> Vec<&str> {
    path.split('.').collect()
}

fn table(node: &Node) -> Option<&Table> {
    match &node.kind {
        Kind::Table(table) => Some(table),
        _ => None,
    }
}

fn entry<'a>(root: &'a Table, path: &[&str]) -> Option<&'a Entry> {
    let (last, parents) = path.split_last()?;
    let parent = parents.iter().try_fold(root, |parent, key| table(&parent.get(*key)?.value))?;
    parent.get(*last)
}

/// Whether nothing stands at `path` or in the way to it.
fn has_room(root: &Table, path: &[&str]) -> bool {
    let mut parent = root;
    for key in path {
        match parent.get(*key).map(|entry| table(&entry.value)) {
            None => return true,
            Some(None) => return false,
            Some(Some(next)) => parent = next,
        }
    }
    false
}

fn take(root: &mut Table, path: &[&str]) -> Option<Entry> {
    let (first, rest) = path.split_first()?;
    match rest {
        [] => root.remove(*first),
        rest => match &mut root.get_mut(*first)?.value.kind {
            Kind::Table(next) => take(next, rest),
            _ => None,
        },
    }
}

/// Tables on the way are made where they are missing: problems with them are told at the key's own line.
fn put(root: &mut Table, path: &[&str], entry: Entry) {
    let Some((first, rest)) = path.split_first() else { return };
    if rest.is_empty() {
        root.insert((*first).to_owned(), entry);
        return;
    }
    let (span, by) = (entry.key_span.clone(), entry.by.clone());
    let between = root.entry((*first).to_owned()).or_insert_with(|| Entry {
        key_span: span.clone(),
        value: Node { span, kind: Kind::Table(Table::new()) },
        by,
    });
    if let Kind::Table(next) = &mut between.value.kind {
        put(next, rest, entry);
    }
}
