//! One loading run: every item of every source is looked up, and only what has changed is written.
//! Everything becomes visible at once, with one commit at the end; a run that does not get there
//! leaves the index as it was.

use std::collections::HashSet;
use std::fs::File;
use std::hash::{BuildHasherDefault, Hasher};

use serde_json::Value;
use tantivy::{IndexWriter, Term};

use super::document::{Hashes, Maker};
use super::folder::Folder;
use super::snapshot::{Snapshot, Summary};
use crate::analysis::Tongue;
use crate::dense::Collector;
use crate::error::{Error, Result};
use crate::item::{Item, Place, hash};
use crate::limits::{ITEM_BYTES_MAX, ITEMS_MAX, PROGRESS_ITEMS, WRITER_BYTES};
use crate::loaders::{self, At, Input, Reason, Sink, Stop};
use crate::report::{Progress, Progressed, Report};
use crate::source::SourceFile;

/// What a run works with.
pub(crate) struct Job<'a> {
    pub(crate) folder: &'a Folder,
    pub(crate) before: &'a Snapshot,
    pub(crate) files: &'a [SourceFile],
    /// The language of items that do not say theirs.
    pub(crate) tongue: Tongue,
    /// Collects vectors, when there is a model.
    pub(crate) vectors: Option<Collector>,
    pub(crate) progress: &'a mut dyn Progress,
    pub(crate) cancel: &'a dyn Fn() -> bool,
}

/// Reads all files and commits what has changed.
pub(crate) fn run(job: Job<'_>) -> Result<Report> {
    let mut writer = job.folder.index.writer_with_num_threads(1, WRITER_BYTES)?;
    let mut state = Run::new(job, &writer);
    let finished = state.read_files().and_then(|()| state.remove_vanished());
    let Run { mut report, mut summary, mut vectors, error, .. } = state;
    if let Some(error) = error {
        return Err(error);
    }
    if finished.is_err() {
        report.cancelled = true;
        return Ok(report);
    }
    if let Some(vectors) = &mut vectors {
        vectors.finish()?;
    }
    if report.has_changed() {
        let mut commit = writer.prepare_commit()?;
        commit.set_payload(&summary.payload());
        commit.commit()?;
        writer.wait_merging_threads()?;
    }
    if let Some(vectors) = vectors {
        vectors.tidy()?;
    }
    Ok(report)
}

/// Keys are hashes already.
#[derive(Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0 << 8 | u64::from(*byte));
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

type Keys = HashSet<u64, BuildHasherDefault<AsIs>>;

struct Run<'a, 'w> {
    writer: &'w IndexWriter,
    before: &'a Snapshot,
    files: &'a [SourceFile],
    tongue: Tongue,
    progress: &'a mut dyn Progress,
    cancel: &'a dyn Fn() -> bool,
    vectors: Option<Collector>,
    maker: Maker,
    summary: Summary,
    report: Report,
    seen: Keys,
    /// Files that could not be read to their end: what was in them stays.
    incomplete: Keys,
    at: Progressed,
    bytes_before: u64,
    file: &'a str,
    origin: u64,
    json: Vec<u8>,
    error: Option<Error>,
}

impl<'a, 'w> Run<'a, 'w> {
    fn new(job: Job<'a>, writer: &'w IndexWriter) -> Self {
        let bytes_total = job.files.iter().map(|file| file.bytes).sum();
        Self {
            writer,
            before: job.before,
            files: job.files,
            tongue: job.tongue,
            progress: job.progress,
            cancel: job.cancel,
            vectors: job.vectors,
            maker: Maker::new(job.folder.fields),
            summary: job.before.summary.clone(),
            report: Report::default(),
            seen: Keys::default(),
            incomplete: Keys::default(),
            at: Progressed { files_total: job.files.len(), bytes_total, ..Progressed::default() },
            bytes_before: 0,
            file: "",
            origin: 0,
            json: Vec::new(),
            error: None,
        }
    }

    fn read_files(&mut self) -> Result<(), Stop> {
        for file in self.files {
            self.file = &file.name;
            self.origin = hash(&[file.path.as_os_str().as_encoded_bytes()]);
            self.bytes_before = self.at.bytes;
            match self.read_file(file) {
                Ok(()) => {}
                Err(Stop::Broken { line, reason }) => {
                    self.incomplete.insert(self.origin);
                    self.report.skip(self.file, (line > 0).then_some(line), &reason);
                }
                Err(stop) => return Err(stop),
            }
            self.at.files += 1;
            self.at.bytes = self.bytes_before + file.bytes;
            self.progress.progressed(&self.at);
        }
        Ok(())
    }

    fn read_file(&mut self, file: &'a SourceFile) -> Result<(), Stop> {
        let unreadable = |error: std::io::Error| Stop::Broken { line: 0, reason: Reason::Broken(error.to_string()) };
        let reader = File::open(&file.path).map_err(unreadable)?;
        loaders::load(file.format, &mut Input::new(reader, &file.name, file.url.as_deref()), self)
    }

    /// Counts an item, and looks up from work now and then.
    fn tick(&mut self, at: At) -> Result<(), Stop> {
        self.at.items += 1;
        self.at.bytes = self.bytes_before + at.bytes;
        if self.at.items.is_multiple_of(PROGRESS_ITEMS) {
            self.progress.progressed(&self.at);
        }
        if (self.cancel)() { Err(Stop::Cancelled) } else { Ok(()) }
    }

    /// Writes an item if it is new or changed.
    fn take(&mut self, item: &Item<'_>, key: u64, json: &Value, bytes: &[u8]) -> Result<()> {
        let tongue = item.tongue.unwrap_or(self.tongue);
        let content = hash(&[bytes, tongue.code().as_bytes(), &self.origin.to_be_bytes()]);
        let known = self.before.hash_of(key)?;
        if let Some(vectors) = &mut self.vectors {
            vectors.add(content, item)?;
        }
        if known == Some(content) {
            self.report.unchanged += 1;
            return Ok(());
        }
        match known {
            Some(_) => {
                self.writer.delete_term(Term::from_field_u64(self.before.fields.key, key));
                self.report.updated += 1;
            }
            None => self.report.loaded += 1,
        }
        self.summary.note_tongue(tongue);
        let hashes = Hashes { key, content, origin: self.origin };
        let document = self.maker.document(item, json, bytes, tongue, &hashes, &mut self.summary);
        self.writer.add_document(document)?;
        Ok(())
    }

    /// Deletes what no source has any more.
    fn remove_vanished(&mut self) -> Result<(), Stop> {
        for (segment, columns) in self.before.searcher.segment_readers().iter().zip(&self.before.columns) {
            for doc in segment.doc_ids_alive() {
                let key = columns.key.get_val(doc);
                let stays = self.seen.contains(&key) || self.incomplete.contains(&columns.origin.get_val(doc));
                if !stays {
                    self.writer.delete_term(Term::from_field_u64(self.before.fields.key, key));
                    self.report.removed += 1;
                }
            }
        }
        Ok(())
    }
}

impl Sink for Run<'_, '_> {
    fn item(&mut self, at: At, json: &Value, raw: Option<&[u8]>) -> Result<(), Stop> {
        let Some(item) = Item::read(json, Place { file: self.file, line: at.line }) else {
            return self.skip(at, Reason::NoName);
        };
        if self.seen.len() >= ITEMS_MAX {
            return self.skip(at, Reason::TooManyItems);
        }
        let key = hash(&[item.id.as_bytes()]);
        if !self.seen.insert(key) {
            return self.skip(at, Reason::SameId(item.id));
        }
        let mut own = std::mem::take(&mut self.json);
        own.clear();
        let bytes = match raw {
            Some(raw) => raw,
            // Writing JSON to memory does not fail.
            None => serde_json::to_writer(&mut own, json).map_or(&[][..], |()| &own),
        };
        if bytes.len() > ITEM_BYTES_MAX {
            return self.skip(at, Reason::TooLong);
        }
        let taken = self.take(&item, key, json, bytes);
        self.json = own;
        if let Err(error) = taken {
            self.error = Some(error);
            return Err(Stop::Failed);
        }
        self.tick(at)
    }

    fn skip(&mut self, at: At, reason: Reason) -> Result<(), Stop> {
        self.report.skip(self.file, Some(at.line), &reason);
        self.tick(at)
    }
}
