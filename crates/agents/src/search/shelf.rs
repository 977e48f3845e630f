//! The index of one agent: opened when it is first needed, filled by the daemon.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use forecourt_content::{Error, Library, Options, Progressed, Report, Source, fingerprint};

use crate::backend::{Context, Indexed, Indexing, IndexingError};

/// Content and its index, in `index/{handle}` of the data folder.
pub(crate) struct Shelf {
    folder: PathBuf,
    sources: Vec<Source>,
    options: Options,
    library: OnceLock<Arc<Library>>,
    /// Held while the index is opened, since only one can have it open.
    opening: Mutex<()>,
}

impl Shelf {
    /// Opens nothing yet.
    pub(crate) fn new(context: &Context, sources: Vec<Source>, options: Options) -> Self {
        let folder = context.data_dir.join("index").join(context.handle.as_str());
        Self { folder, sources, options, library: OnceLock::new(), opening: Mutex::new(()) }
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
        let library = Arc::new(Library::open(&self.folder, self.options.clone())?);
        Ok(self.library.get_or_init(|| library).clone())
    }

    /// Whether a run has ever come to its end, so that an empty index means empty content.
    pub(crate) fn is_filled(&self) -> bool {
        self.mark_file().exists()
    }

    /// A file beside the index that says from which content it was made.
    fn mark_file(&self) -> PathBuf {
        self.folder.with_extension("made-from")
    }

    /// What the index is made from: the content, and the settings that shape it.
    fn mark(&self, fingerprint: u64, items: u64) -> String {
        let mut hasher = DefaultHasher::new();
        (self.options.language.as_ref().map(|language| language.as_str()), &self.options.model).hash(&mut hasher);
        self.sources.iter().for_each(|source| (&source.path, &source.url).hash(&mut hasher));
        format!("{fingerprint:016x} {:016x} {items}\n", hasher.finish())
    }
}

impl Indexing for Shelf {
    fn sources(&self) -> Vec<PathBuf> {
        self.sources.iter().map(|source| source.path.clone()).collect()
    }

    fn fingerprint(&self) -> Result<u64, IndexingError> {
        let found = fingerprint(&self.sources).map_err(failed)?;
        let mut hasher = DefaultHasher::new();
        found.hash(&mut hasher);
        Ok(hasher.finish())
    }

    fn is_current(&self, fingerprint: u64) -> bool {
        let made_from = fs::read_to_string(self.mark_file()).unwrap_or_default();
        !made_from.is_empty() && made_from == self.mark(fingerprint, self.items())
    }

    fn items(&self) -> u64 {
        self.library().map_or(0, |library| library.len())
    }

    fn index(&self, progress: &mut dyn FnMut(&Progressed)) -> Result<Indexed, IndexingError> {
        let library = self.library().map_err(failed)?;
        // Looked at before: what changes during the run is seen by the next one.
        let fingerprint = self.fingerprint()?;
        let mut listener = |progressed: &Progressed| progress(progressed);
        let report = library.index(&self.sources, &mut listener, &|| false).map_err(failed)?;
        let items = library.len();
        if let Err(error) = fs::write(self.mark_file(), self.mark(fingerprint, items)) {
            tracing::warn!(%error, "the mark of an index could not be written; it will be made again");
        }
        Ok(indexed(report, items))
    }
}

fn indexed(report: Report, items: u64) -> Indexed {
    Indexed {
        items,
        loaded: report.loaded,
        updated: report.updated,
        unchanged: report.unchanged,
        removed: report.removed,
        skipped: report.skipped,
        warnings: report.reasons.iter().map(ToString::to_string).collect(),
    }
}

fn failed(error: Error) -> IndexingError {
    IndexingError(error.to_string())
}
