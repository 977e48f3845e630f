//! The index of one agent: opened when it is first needed, filled by the daemon.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use forecourt_content::{
    ContentSource, Error, ExplainedHit, Library, LoadProgress, Options, ParsedQuestion, PutOutcome, Query,
    RemoveOutcome, Report, fingerprint,
};
use forecourt_core::{Clock, Language};

use super::sites::Sites;
use crate::limits::WARNINGS_MAX;
use crate::ranker::LibraryRanker;
use forecourt_agents::backend::{
    Context, FetchSummary, IndexReport, IndexedContent, IndexingError, JudgedCorpus, QuestionRanker, RankExplanation,
};

/// Items whose places are explained.
const EXPLAINED: usize = 10;

/// Content and its index, in `index/{handle}` of the data folder. What was pushed is in `pushed`.
pub struct ContentIndex {
    folder: PathBuf,
    clock: Arc<dyn Clock>,
    /// Files and folders.
    sources: Vec<ContentSource>,
    sites: Sites,
    options: Options,
    /// Of the settings that shape the index.
    settings_hash: u64,
    library: OnceLock<Arc<Library>>,
    /// Held while the index is opened, since only one can have it open.
    opening: Mutex<()>,
    /// Held while something is pushed.
    pushing: Mutex<()>,
}

impl ContentIndex {
    /// Opens nothing yet.
    pub fn new(context: &Context, sources: Vec<ContentSource>, options: Options) -> Self {
        let folder = context.data_dir.join("index").join(context.handle.as_str());
        let pushed = context.data_dir.join("pushed").join(format!("{}.db", context.handle));
        // No agent has a handle that begins so.
        let lock = context.data_dir.join("index/.lock");
        let settings_hash = settings_hash(context, &sources, &options);
        let options = Options { pushed: Some(pushed), lock: Some(lock), ..options };
        Self {
            folder,
            clock: context.clock.clone(),
            sources,
            sites: Sites::none(context),
            options,
            settings_hash,
            library: OnceLock::new(),
            opening: Mutex::new(()),
            pushing: Mutex::new(()),
        }
    }

    /// The same with content from the web too.
    #[must_use]
    pub(super) fn with_sites(mut self, sites: Sites) -> Self {
        self.sites = sites;
        self
    }

    /// Everything that is indexed.
    fn all_sources(&self) -> Vec<ContentSource> {
        self.sources.iter().cloned().chain(self.sites.sources()).collect()
    }

    /// The index, if it was opened before.
    pub(crate) fn opened(&self) -> Option<Arc<Library>> {
        self.library.get().cloned()
    }

    /// The index. Opens it when this was not done before, which reads from disk.
    pub(crate) fn library(&self) -> Result<Arc<Library>, Error> {
        let _one_at_a_time = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(library) = self.opened() {
            return Ok(library);
        }
        let library = Library::shared(&self.folder, &self.options)?;
        Ok(self.library.get_or_init(|| library).clone())
    }

    /// Whether everything was read once, so that an empty index means empty content.
    pub(crate) fn is_filled(&self) -> bool {
        self.mark_file().exists() && self.sites.were_visited()
    }

    /// A file beside the index that says from which content it was made.
    fn mark_file(&self) -> PathBuf {
        self.folder.with_extension("made-from")
    }

    /// What the index is made from: the content, and the settings that shape it; and what it holds.
    fn mark(&self, fingerprint: u64, library: &Library) -> String {
        format!("{fingerprint:016x} {:016x} {}\n", self.settings_hash, holds(library))
    }

    fn write_mark(&self, mark: &str) {
        if let Err(error) = fs::write(self.mark_file(), mark) {
            tracing::warn!(%error, "the mark of an index could not be written; it will be made again");
        }
    }

    /// Changes the index by hand. If it was current before, it is so with what it holds then.
    fn pushing<T>(&self, push: impl FnOnce(&Library) -> Result<T, Error>) -> Result<T, Error> {
        let library = self.library()?;
        let _one_at_a_time = self.pushing.lock().unwrap_or_else(PoisonError::into_inner);
        let (before, made_from) = (holds(&library), fs::read_to_string(self.mark_file()).unwrap_or_default());
        let done = push(&library)?;
        let after = holds(&library);
        if let Some(mark) = made_from.strip_suffix(&format!(" {before}\n")).filter(|_| after != before) {
            self.write_mark(&format!("{mark} {after}\n"));
        }
        Ok(done)
    }
}

impl IndexedContent for ContentIndex {
    fn sources(&self) -> Vec<PathBuf> {
        self.sources.iter().map(|source| source.path.clone()).collect()
    }

    fn fingerprint(&self) -> Result<u64, IndexingError> {
        let found = fingerprint(&self.all_sources()).map_err(failed)?;
        let mut hasher = DefaultHasher::new();
        found.hash(&mut hasher);
        Ok(hasher.finish())
    }

    fn is_current(&self, fingerprint: u64) -> bool {
        let made_from = fs::read_to_string(self.mark_file()).unwrap_or_default();
        let is_of = |library: &Library| made_from == self.mark(fingerprint, library);
        self.library().is_ok_and(|library| is_of(&library)) && self.has_what_was_pushed().unwrap_or(false)
    }

    fn has_what_was_pushed(&self) -> Result<bool, IndexingError> {
        self.library().and_then(|library| library.has_what_was_pushed()).map_err(failed)
    }

    fn items(&self) -> u64 {
        self.library().map_or(0, |library| library.len())
    }

    fn explain(&self, question: &str) -> Result<Vec<RankExplanation>, IndexingError> {
        let library = self.library().map_err(failed)?;
        let ParsedQuestion { text, filters, .. } = library.understand(question, &Language::english());
        let explained = library.explain(&Query { text, filters, limit: EXPLAINED, ..Query::default() });
        let told = |one: &ExplainedHit| RankExplanation { text: one.to_string(), data: serde_json::json!(one) };
        Ok(explained.map_err(failed)?.iter().map(told).collect())
    }

    fn ranker(&self, corpus: Option<JudgedCorpus<'_>>) -> Result<Box<dyn QuestionRanker>, IndexingError> {
        let ranker = match corpus {
            None => LibraryRanker::of_items(self.library().map_err(failed)?),
            Some(corpus) => LibraryRanker::of_corpus(corpus, &self.options).map_err(failed)?,
        };
        Ok(Box::new(ranker))
    }

    fn is_due(&self) -> bool {
        self.sites.is_due()
    }

    fn fetch(
        &self,
        progress: &mut (dyn FnMut(&LoadProgress) + Send),
        cancel: &(dyn Fn() -> bool + Sync),
    ) -> Result<FetchSummary, IndexingError> {
        self.sites.visit(progress, cancel)
    }

    fn index(&self, progress: &mut (dyn FnMut(&LoadProgress) + Send)) -> Result<IndexReport, IndexingError> {
        let library = self.library().map_err(failed)?;
        // Looked at before: what changes during the run is seen by the next one.
        let fingerprint = self.fingerprint()?;
        let mut listener = |progressed: &LoadProgress| progress(progressed);
        let report = library.index(&self.all_sources(), &mut listener, &|| false).map_err(failed)?;
        self.write_mark(&self.mark(fingerprint, &library));
        Ok(indexed(report, library.len()))
    }

    fn put(&self, document: &[u8], media_type: &str) -> Result<PutOutcome, Error> {
        self.pushing(|library| library.put(document, media_type, self.clock.now()))
    }

    fn remove(&self, names: &[String]) -> Result<RemoveOutcome, Error> {
        self.pushing(|library| library.remove(names))
    }

    fn forget_pushed(&self) -> Result<(), Error> {
        self.library()?.forget_pushed()
    }
}

/// The settings that shape an index, as they are written: the same for a deployment that was moved, or is
/// reached by another path.
fn settings_hash(context: &Context, sources: &[ContentSource], options: &Options) -> u64 {
    let mut hasher = DefaultHasher::new();
    let model = options.model.as_ref().map(|model| model.strip_prefix(&context.folder).unwrap_or(model));
    (options.language.as_ref().map(|language| language.as_str()), model).hash(&mut hasher);
    sources.iter().for_each(|source| (&source.label, &source.url).hash(&mut hasher));
    hasher.finish()
}

/// How much can be found: items, and those by meaning.
fn holds(library: &Library) -> String {
    format!("{} {}", library.len(), library.embedded())
}

fn indexed(report: Report, items: u64) -> IndexReport {
    IndexReport {
        items,
        loaded: report.loaded,
        updated: report.updated,
        unchanged: report.unchanged,
        removed: report.removed,
        overridden: report.overridden,
        skipped: report.skipped,
        warnings: report.reasons.iter().map(ToString::to_string).take(WARNINGS_MAX).collect(),
    }
}

fn failed(error: Error) -> IndexingError {
    IndexingError(error.to_string())
}
