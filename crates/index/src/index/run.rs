//! One loading run: every item of every source is looked up, and only what has changed is written.
//! Everything becomes visible at once, with one commit at the end; a run that does not get there
//! leaves the index as it was.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs::File;
use std::sync::Arc;

use forecourt_core::Timestamp;
use forecourt_core::hashed::HashedKeys;
use forecourt_vocabulary::Vocabulary;
use serde_json::Value;

use super::commit::Summary;
use super::document::{Hashes, Maker};
use super::schema::schema;
use super::target::Target;
use crate::analysis::LanguageAnalyzer;
use crate::error::{Error, Result};
use crate::limits::PROGRESS_ITEMS;
use crate::pushed::{PushFile, Row};
use crate::report::{LoadProgress, Progress, Report};
use forecourt_loaders::grounding::{GroundedItem, grounding, moment};
use forecourt_loaders::item::{Item, Place, hash};
use forecourt_loaders::limits::ITEM_BYTES_MAX;
use forecourt_loaders::{At, Input, Reason, Sink, Stop, load};
use forecourt_loaders::{Files, SourceFile, priced};

/// What stands for a file in reasons about what was pushed.
const PUSHED: &str = "pushed";
/// What was pushed lies on no line.
const NOWHERE: At = At { line: 0, bytes: 0 };

/// The inputs of a run.
pub(crate) struct Job<'a> {
    /// What the run before said of all items.
    pub(crate) before: &'a Summary,
    pub(crate) scope: Scope<'a>,
    pub(crate) pushed: &'a PushFile,
    /// The language of items that do not say theirs.
    pub(crate) tongue: LanguageAnalyzer,
    /// By what the classes of items are judged.
    pub(crate) vocabulary: &'a Arc<Vocabulary>,
    /// The moment at which prices count. `None`: offers stay as they are written.
    pub(crate) now: Option<Timestamp>,
    pub(crate) progress: &'a mut dyn Progress,
    pub(crate) cancel: &'a dyn Fn() -> bool,
}

/// The part of the content that a run looks at.
#[derive(Clone, Copy)]
pub(crate) enum Scope<'a> {
    /// Everything: what was pushed, and these files. What is in neither goes.
    All(&'a Files),
    /// The items that were pushed and the keys that were removed by one call. The others stay.
    Call { items: &'a [Value], removed: &'a [u64] },
}

/// Reads what there is and commits to `target` what has changed.
pub(crate) fn run(job: Job<'_>, target: &mut dyn Target) -> Result<Report> {
    let (scope, pushed, vocabulary) = (job.scope, job.pushed, job.vocabulary.revision());
    // Read before the items: a push during this run has a later revision, by which the next run sees it.
    let revision = pushed.revision()?;
    let mut state = Run::new(job, target);
    let finished = match scope {
        Scope::All(files) => {
            state.summary.pushed = revision;
            state.summary.vocabulary = vocabulary;
            state.read_pushed().and_then(|()| state.read_files(files)).and_then(|()| state.remove_vanished())
        }
        Scope::Call { items, removed } => {
            // With another change that this index has not seen, the next whole run is needed all the same.
            state.summary.pushed += u64::from(state.summary.pushed + 1 == revision);
            state.take_call(items, removed)
        }
    };
    state.note_next_price(matches!(scope, Scope::All(_)));
    let needless = state.needless_removals();
    let Run { mut report, summary, error, before, target, .. } = state;
    if let Some(error) = error {
        return Err(error);
    }
    // Without a commit, nothing of this run is seen in the index here.
    if finished.is_err() {
        report.cancelled = true;
        return Ok(report);
    }
    if report.has_changed() || summary != *before {
        target.commit(before, summary)?;
    }
    pushed.forget_removed(&needless, revision)?;
    Ok(report)
}

type Keys = HashSet<u64, HashedKeys>;

struct Run<'a, 't> {
    target: &'t mut dyn Target,
    before: &'a Summary,
    pushed: &'a PushFile,
    tongue: LanguageAnalyzer,
    progress: &'a mut dyn Progress,
    cancel: &'a dyn Fn() -> bool,
    maker: Maker,
    /// Whether items that have not changed were judged by another vocabulary.
    is_judged_anew: bool,
    /// The moment at which prices count, and the next at which one is another.
    now: Option<Timestamp>,
    next_price: Option<Timestamp>,
    summary: Summary,
    report: Report,
    seen: Keys,
    /// Pushed and removed by hand: what files have under these keys does not count.
    overridden: Keys,
    /// Those of them that were removed, as long as no file has been seen to have them.
    needless: Keys,
    /// Files that could not be read to their end: what was in them stays.
    incomplete: Keys,
    at: LoadProgress,
    bytes_before: u64,
    file: &'a str,
    /// Where the file can be found by others, and when it was written.
    url: Option<String>,
    written_at: String,
    origin: u64,
    json: Vec<u8>,
    error: Option<Error>,
}

impl<'a, 't> Run<'a, 't> {
    fn new(job: Job<'a>, target: &'t mut dyn Target) -> Self {
        let files: &[SourceFile] = if let Scope::All(files) = job.scope { &files.read } else { &[] };
        let bytes_total = files.iter().map(|file| file.bytes).sum();
        Self {
            target,
            before: job.before,
            pushed: job.pushed,
            tongue: job.tongue,
            progress: job.progress,
            cancel: job.cancel,
            maker: Maker::new(schema().1, Arc::clone(job.vocabulary)),
            is_judged_anew: job.before.vocabulary != job.vocabulary.revision(),
            now: job.now,
            next_price: None,
            summary: job.before.clone(),
            report: Report::default(),
            seen: Keys::default(),
            overridden: Keys::default(),
            needless: Keys::default(),
            incomplete: Keys::default(),
            at: LoadProgress { files_total: files.len(), bytes_total, ..LoadProgress::default() },
            bytes_before: 0,
            file: PUSHED,
            url: None,
            written_at: moment(Timestamp::UNIX_EPOCH),
            origin: hash(&[PUSHED.as_bytes()]),
            json: Vec::new(),
            error: None,
        }
    }

    /// Everything that was pushed, before any file.
    fn read_pushed(&mut self) -> Result<(), Stop> {
        let mut after = None;
        loop {
            let rows = match self.pushed.rows(after) {
                Ok(rows) => rows,
                Err(error) => return self.failed(error),
            };
            let Some(last) = rows.last() else { break };
            after = Some(last.key);
            for row in rows {
                self.read_row(&row)?;
            }
        }
        // Known from now on, and not before: what was pushed is not overridden by itself.
        self.overridden = self.seen.iter().chain(&self.needless).copied().collect();
        Ok(())
    }

    fn read_row(&mut self, row: &Row) -> Result<(), Stop> {
        let Some(bytes) = &row.item else {
            self.needless.insert(row.key);
            return Ok(());
        };
        match serde_json::from_slice(bytes) {
            Ok(item) => self.item(NOWHERE, &item, Some(bytes)),
            Err(error) => self.skip(NOWHERE, Reason::Broken(error.to_string())),
        }
    }

    /// What one call pushed and removed.
    fn take_call(&mut self, items: &[Value], removed: &[u64]) -> Result<(), Stop> {
        for key in removed {
            let known = match self.target.hash_of(*key) {
                Ok(known) => known,
                Err(error) => return self.failed(error),
            };
            if known.is_some() {
                self.remove(*key)?;
            }
        }
        items.iter().try_for_each(|item| self.item(NOWHERE, item, None))
    }

    /// Removed keys that no file has, when all files were read: nothing is hidden by their removal.
    fn needless_removals(&mut self) -> Vec<u64> {
        match self.incomplete.is_empty() && !self.report.cancelled {
            true => self.needless.drain().collect(),
            false => Vec::new(),
        }
    }

    /// Notes when the next offer has another price. Only a run over everything that was read to its end knows all.
    fn note_next_price(&mut self, is_all: bool) {
        let Some(now) = self.now else { return };
        let still = self.summary.next_price.filter(|_| !is_all || !self.incomplete.is_empty());
        // One that is past belongs to what this run did not look at, and would be due for ever.
        let still = still.filter(|next| !is_all || *next > now.as_second());
        let found = self.next_price.map(|next| next.as_second());
        self.summary.next_price = [still, found].into_iter().flatten().min();
    }

    fn failed<T>(&mut self, error: Error) -> Result<T, Stop> {
        self.error = Some(error);
        Err(Stop::Failed)
    }

    fn read_files(&mut self, files: &'a Files) -> Result<(), Stop> {
        files.left_out.iter().for_each(|file| self.report.leave_out(file.clone()));
        for file in &files.read {
            self.file = &file.name;
            self.written_at = moment(file.written_at());
            self.origin = file.origin();
            self.bytes_before = self.at.bytes;
            let (items, skipped) = (self.at.items, self.report.skipped);
            let read = self.read_file(file);
            // What was skipped on the way was counted as an item of the file.
            let skipped = self.report.skipped - skipped;
            let items = (self.at.items - items).saturating_sub(skipped);
            let is_broken = match read {
                Ok(()) => false,
                Err(Stop::Broken { line, reason }) => {
                    self.incomplete.insert(self.origin);
                    self.report.skip(self.file, (line > 0).then_some(line), &reason);
                    true
                }
                Err(stop) => return Err(stop),
            };
            self.report.file_read(self.file, file.format.name(), items, skipped + u64::from(is_broken));
            self.at.files += 1;
            self.at.bytes = self.bytes_before + file.bytes;
            self.progress.progressed(&self.at);
        }
        Ok(())
    }

    fn read_file(&mut self, file: &'a SourceFile) -> Result<(), Stop> {
        let unreadable = |error: std::io::Error| Stop::Broken { line: 0, reason: Reason::Broken(error.to_string()) };
        let reader = File::open(&file.path).map_err(unreadable)?;
        let mut input = Input::new(reader, &file.name, file.url.as_deref()).with_table(file.table.as_ref());
        self.url = input.url();
        load(file.format, &mut input, self)
    }

    /// Counts an item, and looks up from work now and then.
    fn tick(&mut self, at: At) -> Result<(), Stop> {
        self.at.items += 1;
        self.at.skipped = self.report.skipped;
        self.at.bytes = self.bytes_before + at.bytes;
        if self.at.items.is_multiple_of(PROGRESS_ITEMS) {
            self.progress.progressed(&self.at);
        }
        if (self.cancel)() { Err(Stop::Cancelled) } else { Ok(()) }
    }

    /// Writes an item if it is new or changed.
    fn take(&mut self, item: &Item<'_>, key: u64, json: &Value, bytes: &[u8]) -> Result<()> {
        let tongue = item.language.map_or(self.tongue, LanguageAnalyzer::of);
        // With the language and the file in it: the same bytes under another of them are written again.
        let content = hash(&[bytes, tongue.code().as_bytes(), &self.origin.to_be_bytes()]);
        let known = self.target.hash_of(key)?;
        if known == Some(content) && !self.is_judged_anew {
            self.report.unchanged += 1;
            return Ok(());
        }
        match known {
            Some(_) => self.report.updated += 1,
            None => self.report.loaded += 1,
        }
        self.summary.note_tongue(tongue);
        let hashes = Hashes { key, content, origin: self.origin };
        // Made after the content hash: with the time in it, every item of a file that was touched would be written
        // again.
        let grounding = grounding(json, self.url.as_deref(), &self.written_at);
        let grounded = GroundedItem { item: json, grounding: grounding.as_ref() };
        let document = self.maker.document(item, grounded, tongue, &hashes, &mut self.summary);
        self.target.put(&item.id, &hashes, document, known.is_some())
    }

    /// Deletes what no source has any more.
    fn remove_vanished(&mut self) -> Result<(), Stop> {
        let Self { seen, incomplete, overridden, .. } = self;
        // A file that broke off does not say that what it had further down is gone.
        let is_unread = |key: u64, origin: u64| incomplete.contains(&origin) && !overridden.contains(&key);
        let gone = self.target.gone(&|key, origin| !seen.contains(&key) && !is_unread(key, origin));
        gone.into_iter().try_for_each(|key| self.remove(key))
    }

    fn remove(&mut self, key: u64) -> Result<(), Stop> {
        self.report.removed += 1;
        self.target.remove(key).or_else(|error| self.failed(error))
    }
}

impl Sink for Run<'_, '_> {
    fn item(&mut self, at: At, json: &Value, raw: Option<&[u8]>) -> Result<(), Stop> {
        let (json, next) = self.now.map_or((Cow::Borrowed(json), None), |now| priced(json, now));
        self.next_price = [self.next_price, next].into_iter().flatten().min();
        // Its own bytes say what it costs at some other moment.
        let raw = raw.filter(|_| matches!(json, Cow::Borrowed(_)));
        let json = &*json;
        let Some(item) = Item::read(json, Place { file: self.file, line: at.line }) else {
            return self.skip(at, Reason::NoName);
        };
        if self.seen.len() >= self.target.items_max() {
            return self.skip(at, Reason::TooManyItems);
        }
        let key = hash(&[item.id.as_bytes()]);
        if self.overridden.contains(&key) {
            self.needless.remove(&key);
            self.report.overridden += 1;
            return self.tick(at);
        }
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
            // Out of `seen` again, so that the shorter item of an earlier run is removed and does not stay in its
            // place.
            self.seen.remove(&key);
            self.json = own;
            return self.skip(at, Reason::TooLong);
        }
        let taken = self.take(&item, key, json, bytes);
        self.json = own;
        match taken {
            Ok(()) => self.tick(at),
            Err(error) => self.failed(error),
        }
    }

    fn skip(&mut self, at: At, reason: Reason) -> Result<(), Stop> {
        self.report.skip(self.file, Some(at.line), &reason);
        self.tick(at)
    }
}
