//! A newer version of a document into a folder that has an older one: what people edited in the meantime
//! stays. Section 14.1: a person confirms what a tool only guessed, and no tool takes that back.
//!
//! ```text
//! files as they were generated (the record) ┐
//! files as they are on disk ────────────────┼─► per key: whose change is it? ─► files to write, a report
//! files as they would be generated now ─────┘
//! ```
//!
//! Text in, text out: who calls reads the folder and writes it.

mod functions;
mod keys;
mod merge;
mod record;
mod renaming;

use std::collections::{BTreeMap, BTreeSet};

use crate::import::{File, Import, ImportedOperation};
use merge::{MergedFile, merged};
use record::{RecordedDocument, RecordedOperation, key_of};
use renaming::Renaming;

pub use record::{ImportRecord, RecordError};

/// What is to become of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// It is new.
    Added,
    /// It is as it was.
    Same,
    /// Nobody had edited it, and it is written anew.
    Rewritten,
    /// Somebody had edited it.
    Merged {
        /// Keys that the document changed.
        changed: Vec<String>,
        /// Keys that a person changed, and that stay.
        kept: Vec<String>,
        /// Keys that both changed: the person's value stays, and somebody has to look.
        conflicts: Vec<String>,
    },
    /// Its operation is not in the document any more: it is marked as deprecated, and stays.
    Gone,
    /// Its operation's file is called otherwise now: what stands in it stands there, and it is taken away.
    Renamed {
        /// The name that it has now.
        to: String,
    },
    /// Somebody took it away: it stays away.
    Removed,
    /// It is not used any more, since what stood in it stands elsewhere now; it stays.
    Unused,
    /// It can't be merged: why. It stays as it is.
    Conflict(String),
}

/// A file of the folder, and what is to become of it.
#[derive(Clone, Debug)]
pub struct PlannedFile {
    /// Its name, without a folder.
    pub name: String,
    /// The operation that it is of, such as `GET /rooms`.
    pub operation: String,
    /// What is to become of it.
    pub change: FileChange,
    /// What is to stand in it. `None`: it is not written.
    pub text: Option<String>,
}

impl PlannedFile {
    /// Whether the file is to be taken away, once all others are written.
    pub fn is_taken_away(&self) -> bool {
        matches!(self.change, FileChange::Renamed { .. })
    }
}

/// What an import does to a folder.
#[derive(Clone, Debug)]
pub struct ImportPlan {
    /// The files of endpoints, by operation.
    pub files: Vec<PlannedFile>,
    /// The file of functions, when the service is rehosted.
    pub functions: Option<PlannedFile>,
    /// What to remember for the next time.
    pub record: ImportRecord,
    /// Whether the document had been imported before.
    pub is_again: bool,
}

impl ImportPlan {
    /// The files at which somebody has to look before they are right.
    pub fn conflicts(&self) -> impl Iterator<Item = &PlannedFile> {
        self.files.iter().chain(&self.functions).filter(|file| match &file.change {
            FileChange::Conflict(_) => true,
            FileChange::Merged { conflicts, .. } => !conflicts.is_empty(),
            _ => false,
        })
    }
}

/// What is on disk.
pub trait Folder {
    /// The text of a file of endpoints. `None`: there is none of that name.
    fn endpoint(&self, name: &str) -> Option<String>;
    /// The text of a file of functions.
    fn function(&self, name: &str) -> Option<String>;
}

/// Says what an import does to a folder whose record is `record`. With `is_forced`, edits are not kept.
pub fn plan(import: &Import, mut record: ImportRecord, folder: &dyn Folder, is_forced: bool) -> ImportPlan {
    let before = record.take(&import.name);
    let is_again = before.is_some();
    let before = before.unwrap_or_default();
    let (files, after, renamed, held) = Default::default();
    let mut planning = Planning { folder, is_forced, before: &before, files, after, renamed, held };
    planning.after.version.clone_from(&import.version);
    planning.after.choices.clone_from(&import.choices);
    let mut seen = BTreeSet::new();
    for operation in &import.operations {
        seen.extend(planning.operation(operation));
    }
    planning.gone(import, &seen);
    let functions = import.stubs.as_ref().map(|stubs| functions::planned(&planning, stubs));
    let Planning { mut files, after, .. } = planning;
    // With force, a name may go from one operation to another.
    let written: BTreeSet<String> =
        files.iter().filter(|file| file.text.is_some()).map(|file| file.name.clone()).collect();
    files.retain(|file| file.text.is_some() || !file.is_taken_away() || !written.contains(&file.name));
    record.put(&import.name, after);
    ImportPlan { files, functions, record, is_again }
}

struct Planning<'a> {
    folder: &'a dyn Folder,
    is_forced: bool,
    before: &'a RecordedDocument,
    files: Vec<PlannedFile>,
    after: RecordedDocument,
    /// What is called otherwise now, without endings.
    renamed: Vec<Renaming>,
    /// What would be, and can't.
    held: Vec<Renaming>,
}

impl Planning<'_> {
    /// Plans the files of an operation, and says under which key it was recorded.
    fn operation(&mut self, operation: &ImportedOperation) -> Option<String> {
        let key = key_of(&operation.http, &operation.path);
        let (known, recorded) = self.before.find(&key, &operation.id).unzip();
        let Some(written) = operation.fate.written() else {
            // What can't be an endpoint any more is no reason to forget what it was.
            let kept = recorded.cloned().map(|recorded| self.after.operations.insert(key, recorded));
            return kept.and(known.cloned());
        };
        let renaming = recorded.and_then(|recorded| Renaming::of(recorded, written));
        let mut after = RecordedOperation { id: operation.id.clone(), ..RecordedOperation::default() };
        let mut files = Vec::new();
        for file in &written.files {
            let old = renaming.as_ref().map_or_else(|| file.name.clone(), |renaming| renaming.before(&file.name));
            let base = recorded.and_then(|recorded| recorded.files.get(&old));
            let (change, text) = self.file(file, &old, base);
            after.files.insert(file.name.clone(), keys::hashes(&file.name, &file.text));
            files.push(PlannedFile { name: file.name.clone(), operation: key.clone(), change, text });
        }
        let is_conflict = |file: &PlannedFile| matches!(file.change, FileChange::Conflict(_));
        if let (Some(renaming), Some(recorded), true) = (&renaming, recorded, files.iter().any(is_conflict)) {
            // Nothing of it is written, and what it was is known until it can be.
            self.files.extend(files.into_iter().filter(is_conflict));
            self.after.operations.insert(key, recorded.clone());
            self.held.push(renaming.clone());
            return known.cloned();
        }
        self.files.extend(files);
        for name in recorded.into_iter().flat_map(|recorded| recorded.files.keys()) {
            let to = renaming.as_ref().map(|renaming| renaming.after(name)).filter(|to| after.files.contains_key(to));
            let change = to.map_or(FileChange::Unused, |to| FileChange::Renamed { to });
            if !after.files.contains_key(name) && self.folder.endpoint(name).is_some() {
                self.files.push(PlannedFile { name: name.clone(), operation: key.clone(), change, text: None });
            }
        }
        self.renamed.extend(renaming);
        self.after.operations.insert(key, after);
        known.cloned()
    }

    /// What becomes of one file that was called `old`, and what is to stand in it.
    fn file(&self, file: &File, old: &str, base: Option<&BTreeMap<String, String>>) -> (FileChange, Option<String>) {
        let new = || Some(file.text.clone());
        let is_renamed = old != file.name;
        if is_renamed && !self.is_forced && self.folder.endpoint(&file.name).is_some() {
            let why = format!("{old} can't have this name, which another file has; take that away or use --force");
            return (FileChange::Conflict(why), None);
        }
        let own = self.folder.endpoint(old);
        match (own, base) {
            // It was generated once and is not there: a person took the endpoint away, and no import brings it back.
            (None, Some(_)) if !self.is_forced => (FileChange::Removed, None),
            (None, _) => (FileChange::Added, new()),
            (Some(own), _) if own == file.text && !is_renamed => (FileChange::Same, None),
            (Some(_), _) if self.is_forced => (FileChange::Rewritten, new()),
            (Some(_), None) => {
                let why = "a file of that name is there, and not from this document; take it away or use --force";
                (FileChange::Conflict(why.to_owned()), None)
            }
            (Some(own), Some(base)) if keys::is_untouched(&own, base) => (FileChange::Rewritten, new()),
            (Some(own), Some(base)) => match merged(&file.name, base, &own, &file.text) {
                Ok(MergedFile { text, changed, kept, conflicts }) => {
                    let is_written = is_renamed || text != own;
                    (FileChange::Merged { changed, kept, conflicts }, is_written.then_some(text))
                }
                Err(why) => (FileChange::Conflict(why), None),
            },
        }
    }

    /// Marks what the document has no more, once.
    fn gone(&mut self, import: &Import, seen: &BTreeSet<String>) {
        for (key, recorded) in self.before.operations.iter().filter(|(key, _)| !seen.contains(*key)) {
            let mut after = RecordedOperation { is_gone: true, ..recorded.clone() };
            let own = recorded.files.iter().filter(|(name, _)| name.ends_with(".toml"));
            for (name, base) in own.filter(|_| !recorded.is_gone) {
                let Some(text) = self.folder.endpoint(name) else { continue };
                let (change, text) = match merge::deprecated(&text, &import.title, &import.version) {
                    Ok(marked) => {
                        let was_untouched = keys::is_untouched(&text, base);
                        let hashes = keys::hashes(name, &marked);
                        let mark = hashes.iter().filter(|(key, _)| key.starts_with("endpoint.deprecated"));
                        let remembered: BTreeMap<_, _> = match was_untouched {
                            // With the mark in it the file counts as untouched, or the next import would take our own
                            // mark for an edit.
                            true => hashes,
                            false => base.iter().chain(mark).map(|(key, hash)| (key.clone(), hash.clone())).collect(),
                        };
                        after.files.insert(name.clone(), remembered);
                        (FileChange::Gone, Some(marked))
                    }
                    Err(why) => (FileChange::Conflict(format!("its operation is gone, and {why}")), None),
                };
                self.files.push(PlannedFile { name: name.clone(), operation: key.clone(), change, text });
            }
            self.after.operations.insert(key.clone(), after);
        }
    }
}
