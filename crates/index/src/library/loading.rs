//! Filling the index: words from the sources, then meaning.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use forecourt_embed::Kind;
use forecourt_loaders::item::{Item, Place};
use forecourt_loaders::{ContentSource, files};
use serde_json::Value;

use super::Library;
use crate::dense::{Collector, tidy};
use crate::error::{Error, Result};
use crate::index::{EngineTarget, IndexTarget, Job, Scope, Snapshot, run};
use crate::limits::EMBED_BATCH_ITEMS;
use crate::report::{Progress, Report};

impl Library {
    /// Brings the index in line with the sources, words first and then meaning: [`Library::index_words`], then
    /// [`Library::embed`], unless somebody else is at it already.
    pub fn index(
        &self,
        sources: &[ContentSource],
        progress: &mut dyn Progress,
        cancel: &dyn Fn() -> bool,
    ) -> Result<Report> {
        let report = self.index_words(sources, progress, cancel)?;
        match self.embed(&mut |_, _| {}, cancel) {
            // Another caller embeds, and takes each batch from the newest snapshot: items of this run are among them.
            Ok(()) | Err(Error::Busy) => Ok(report),
            Err(error) => Err(error),
        }
    }

    /// Brings the words of the index in line with the sources; [`Library::embed`] does so for its meaning. Writes new
    /// and changed items, removes vanished ones, leaves the others alone. Reads files as streams and blocks until
    /// done; queries see the old state until then. Broken items are skipped with a reason in the report. Fails without
    /// a change when a source is missing, and with [`Error::Busy`] when another run is under way. `cancel` is asked at
    /// every item; a cancelled run changes nothing. When it is the index that fails, its files are compared with their
    /// checksums, and a damaged one is built from nothing; the old state is seen until that is done.
    pub fn index_words(
        &self,
        sources: &[ContentSource],
        progress: &mut dyn Progress,
        cancel: &dyn Fn() -> bool,
    ) -> Result<Report> {
        let _running = self.indexing.try_lock().ok_or(Error::Busy)?;
        let files = files(sources)?;
        // Waits, unlike the lock above: whoever holds this one, a push or an archive being packed, ends by itself.
        let _writing = self.writing.lock();
        let scope = Scope::All(&files);
        let done = caught(|| self.run(self.snapshot.load_full(), scope, progress, cancel));
        // The engine fails in many ways on damaged files; only the checksums tell damage from a full disk.
        let Err(error @ (Error::Index(_) | Error::Crashed)) = done else { return done };
        let Some(damage) = self.folder.damage()? else { return Err(error) };
        tracing::error!(
            %error,
            "the search index is damaged ({damage}); it is built again from the content and from what was pushed"
        );
        self.folder.build_anew()?;
        let empty = Snapshot::take(&self.folder, &self.vocabulary, |columns| self.vectors(columns))?;
        self.run(Arc::new(empty), scope, progress, cancel)
    }

    /// Takes what one call pushed and removed into the index. Whether that was done: while a run is
    /// under way it is not, and the next run does it.
    pub(super) fn index_call(&self, items: &[Value], removed: &[u64]) -> Result<bool> {
        let Some(_writing) = self.writing.try_lock() else { return Ok(false) };
        caught(|| self.run(self.snapshot.load_full(), Scope::Call { items, removed }, &mut (), &|| false))?;
        Ok(true)
    }

    fn run(
        &self,
        before: Arc<Snapshot>,
        scope: Scope<'_>,
        progress: &mut dyn Progress,
        cancel: &dyn Fn() -> bool,
    ) -> Result<Report> {
        let Self { folder, pushed, vocabulary, tongue, .. } = self;
        let (tongue, now) = (*tongue, self.priced_at());
        let summary = if self.remote.is_some() { self.summary()? } else { before.summary.clone() };
        let job = Job { before: &summary, scope, pushed, tongue, vocabulary, now, progress, cancel };
        let report = match &self.remote {
            Some(remote) => {
                let is_whole = matches!(scope, Scope::All(_));
                let target = EngineTarget::new(remote.retriever(), remote.place(), pushed, is_whole);
                let report = target.and_then(|mut target| run(job, &mut target));
                // Also when it failed in the middle: what was written by then is found.
                remote.forget();
                report?
            }
            None => {
                let mut target = IndexTarget { writer: folder.writer()?, before: &before };
                let report = run(job, &mut target)?;
                // A merge that went on would write files that the next run sweeps away as leftovers.
                target.writer.wait_merging_threads()?;
                report
            }
        };
        if !report.cancelled {
            self.refresh()?;
        }
        Ok(report)
    }

    /// Items that can be found by meaning. The others are known by [`Library::unembedded`], or the model knows
    /// nothing of them.
    pub fn embedded(&self) -> u64 {
        self.snapshot.load().vectors.as_ref().map_or(0, |vectors| vectors.found() as u64)
    }

    /// Items that [`Library::embed`] has to look at yet: new ones, changed ones, and those whose vectors were lost or
    /// broken before the index was opened. None without a model.
    pub fn unembedded(&self) -> u64 {
        self.snapshot.load().vectors.as_ref().map_or(0, |vectors| vectors.missing() as u64)
    }

    /// Makes the vectors that are missing, and blocks until that is done; search goes on meanwhile, and so may
    /// runs of [`Library::index`]. Every [`crate::limits::EMBED_BATCH_ITEMS`] the new ones are on the disk and can be
    /// found. `progressed` is told how many items can be found by meaning then, and how many are to come. `cancel`
    /// is asked at every item; what is on the disk by then stays. Fails with [`Error::Busy`] while another
    /// caller does the same.
    pub fn embed(&self, progressed: &mut dyn FnMut(u64, u64), cancel: &dyn Fn() -> bool) -> Result<()> {
        let Some(model) = self.model.as_deref() else { return Ok(()) };
        let _embedding = self.embedding.try_lock().ok_or(Error::Busy)?;
        let dir = self.folder.vectors();
        let mut last = None;
        loop {
            let snapshot = self.snapshot.load_full();
            let Some(vectors) = &snapshot.vectors else { return Ok(()) };
            // Before each batch, so that many small runs leave few files.
            let is_tidied = tidy(&dir, model, vectors)?;
            let batch = vectors.first_missing(&snapshot.columns, batch_items(model.kind()));
            if is_tidied {
                self.refresh()?;
            }
            progressed(vectors.found() as u64, vectors.missing() as u64);
            if batch.is_empty() || cancel() {
                return Ok(());
            }
            let first = batch.first().map(|(hash, _)| *hash);
            if std::mem::replace(&mut last, first) == first {
                // The vectors that were just written were not found. Without this end, the loop would write them for
                // ever.
                return Err(Error::Crashed);
            }
            let mut collector = Collector::begin(&dir, model)?;
            for (hash, address) in batch {
                if cancel() {
                    break;
                }
                let json = snapshot.stored(address)?.item;
                match Item::read(&json, Place::NOWHERE) {
                    Some(item) => collector.add(hash, &item)?,
                    None => collector.note_silent(hash)?,
                }
            }
            collector.finish()?;
            self.refresh()?;
        }
    }
}

/// Turns panics of some work into [`Error::Crashed`]: the engine may panic on files that were damaged meanwhile.
fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Error::Crashed))
}

/// Items that are embedded between two points at which their vectors can be found.
fn batch_items(kind: Kind) -> usize {
    let [of_static, contextual] = EMBED_BATCH_ITEMS;
    match kind {
        Kind::Static => of_static,
        Kind::Contextual => contextual,
    }
}
