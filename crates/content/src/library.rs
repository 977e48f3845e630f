//! The one type that callers hold.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Weak};

use arc_swap::ArcSwap;
use forecourt_core::Language;
use forecourt_core::findings::URL_HOST;
use forecourt_vocabulary::Vocabulary;
use parking_lot::Mutex;
use serde_json::Value;

use crate::analysis::LanguageAnalyzer;
use crate::dense::{Collector, Model, Vectors, drop_damaged};
use crate::error::{Error, Result};
use crate::index::{Columns, Folder, Job, Scope, Snapshot, run};
use crate::item::hash;
use crate::pushed::Pushed;
use crate::report::{Progress, Report};
use crate::search::{
    Correction, ExplainedHit, Facets, Filter, Hit, Query, RankBy, corrections, explain, facets, keeps_words, search,
    stored,
};
use crate::source::{ContentSource, files};
use crate::understand::{Known as _, ParsedQuestion, ReadingAids, named, understand};

/// The libraries that are open in this process, by their folders. A deployment that takes the place of another
/// answers from the same indexes while questions to the one before still end.
static OPEN: LazyLock<Mutex<HashMap<PathBuf, OpenLibrary>>> = LazyLock::new(Mutex::default);

/// How a library was opened, and the library for as long as somebody holds it.
type OpenLibrary = (Options, Weak<Library>);

/// How a library is opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The language of items and queries that do not say theirs. English when not given.
    pub language: Option<Language>,
    /// A folder with an embedding model: a static one or a sentence transformer.
    /// Without it, search is by words alone.
    pub model: Option<PathBuf>,
    /// The file in which items that are pushed are kept. Without it, none can be.
    pub pushed: Option<PathBuf>,
    /// A file by which indexes are locked that lie beside each other, in a folder that exists once they do.
    /// Without it, the index has a lock file of its own.
    pub lock: Option<PathBuf>,
    /// What words mean. That which comes with the program when not given.
    pub vocabulary: Option<Arc<Vocabulary>>,
}

/// An index of content in a folder of its own. Shared by reference: searching and indexing go on
/// at the same time, and a search sees one state of the index from beginning to end.
pub struct Library {
    folder: Folder,
    snapshot: ArcSwap<Snapshot>,
    model: Option<Arc<Model>>,
    tongue: LanguageAnalyzer,
    vocabulary: Arc<Vocabulary>,
    pub(crate) pushed: Pushed,
    /// Held by a run from its beginning to its end.
    indexing: Mutex<()>,
    /// Held while the index is written, by runs and by pushes.
    writing: Mutex<()>,
    /// Held by a push from its beginning to its end.
    pub(crate) pushing: Mutex<()>,
}

impl Library {
    /// The library in `dir`: the one that is open in this process already, if it was opened in the same way, else
    /// one that is opened now. Fails as [`Library::open`] does, and with [`Error::InUse`] while it is open in
    /// another way.
    pub fn shared(dir: &Path, options: &Options) -> Result<Arc<Self>> {
        std::fs::create_dir_all(dir).map_err(crate::error::folder(dir))?;
        // However a folder is spelled, it is one.
        let key = std::fs::canonicalize(dir).map_err(crate::error::folder(dir))?;
        let mut open = OPEN.lock();
        open.retain(|_, (_, library)| library.strong_count() > 0);
        let known = open.get(&key).filter(|(opened_by, _)| opened_by == options);
        if let Some(library) = known.and_then(|(_, library)| library.upgrade()) {
            return Ok(library);
        }
        let library = Arc::new(Self::open(dir, options.clone())?);
        open.insert(key, (options.clone(), Arc::downgrade(&library)));
        Ok(library)
    }

    /// Opens the index in `dir`, creating it when missing. An index of another version, or one whose files
    /// are damaged, is emptied for the next [`Library::index`] to fill. Fails when another process has the folder open, or
    /// when the model cannot be read.
    pub fn open(dir: &Path, options: Options) -> Result<Self> {
        let tongue = options
            .language
            .as_ref()
            .map_or(LanguageAnalyzer::ENGLISH, |language| LanguageAnalyzer::of(language.as_str()));
        let model = options.model.as_deref().map(Model::load).transpose()?.map(Arc::new);
        let folder = Folder::open(dir, options.lock.as_deref())?;
        if let Some(model) = &model {
            drop_damaged(&folder.vectors(), model)?;
        }
        let snapshot = Snapshot::take(&folder, |columns| vectors(&folder, model.as_deref(), columns))?;
        let [indexing, writing, pushing] = [const { Mutex::new(()) }; 3];
        let (snapshot, pushed) = (ArcSwap::from_pointee(snapshot), Pushed::new(options.pushed));
        let vocabulary = options.vocabulary.unwrap_or_else(Vocabulary::shipped);
        Ok(Self { folder, snapshot, model, tongue, vocabulary, pushed, indexing, writing, pushing })
    }

    /// Brings the index in line with the sources: writes new and changed items, removes vanished
    /// ones, leaves the others alone. Reads files as streams and blocks until done; queries see
    /// the old state until then. Broken items are skipped with a reason in the report. Fails
    /// without a change when a source is missing, and when another run is under way. `cancel` is
    /// asked at every item; a cancelled run changes nothing. When it is the index that fails, its files are
    /// compared with their checksums, and a damaged one is built from nothing; the old state is seen until
    /// that is done.
    pub fn index(
        &self,
        sources: &[ContentSource],
        progress: &mut dyn Progress,
        cancel: &dyn Fn() -> bool,
    ) -> Result<Report> {
        let _running = self.indexing.try_lock().ok_or(Error::Busy)?;
        let files = files(sources)?;
        // A push that is being indexed is soon done.
        let _writing = self.writing.lock();
        let scope = Scope::All(&files);
        let done = caught(|| self.run(self.snapshot.load_full(), scope, progress, cancel));
        let Err(error @ (Error::Index(_) | Error::Crashed)) = done else { return done };
        let Some(damage) = self.folder.damage()? else { return Err(error) };
        tracing::error!(
            %error,
            "the search index is damaged ({damage}); it is built again from the content and from what was pushed"
        );
        self.folder.build_anew()?;
        let empty = Snapshot::take(&self.folder, |columns| self.vectors(columns))?;
        self.run(Arc::new(empty), scope, progress, cancel)
    }

    /// Takes what one call pushed and removed into the index. Whether that was done: while a run is
    /// under way it is not, and the next run does it.
    pub(crate) fn index_call(&self, items: &[Value], removed: &[u64]) -> Result<bool> {
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
        let vectors = match &self.model {
            Some(model) => Some(Collector::begin(&self.folder.vectors(), Arc::clone(model))?),
            None => None,
        };
        let (folder, pushed, tongue) = (&self.folder, &self.pushed, self.tongue);
        let report = run(Job { folder, before: &before, scope, pushed, tongue, vectors, progress, cancel })?;
        if !report.cancelled {
            self.refresh()?;
        }
        Ok(report)
    }

    /// Whether the index has everything that was pushed.
    pub fn has_what_was_pushed(&self) -> Result<bool> {
        Ok(self.snapshot.load().summary.pushed == self.pushed.revision()?)
    }

    /// Whether an item of this key can be found.
    pub(crate) fn has(&self, key: u64) -> Result<bool> {
        Ok(self.snapshot.load().find(key)?.is_some())
    }

    /// The best items for a query, best first; equal scores in a stable order. Takes processor
    /// time and reads from disk: call it where that is allowed.
    pub fn search(&self, query: &Query) -> Result<Vec<Hit>> {
        self.search_by(query, RankBy::Both)
    }

    /// As [`Library::search`], by words or by meaning alone, so that each can be measured.
    pub fn search_by(&self, query: &Query, by: RankBy) -> Result<Vec<Hit>> {
        search(&self.snapshot.load(), self.model.as_deref(), query, by, self.tongue)
    }

    /// The best items for a query as [`Library::search`] ranks them, with what their places come from.
    /// Slower than a search.
    pub fn explain(&self, query: &Query) -> Result<Vec<ExplainedHit>> {
        explain(&self.snapshot.load(), self.model.as_deref(), query, self.tongue)
    }

    /// The words of a query that no item has, and what is looked for instead. A word that an item has is never
    /// corrected.
    pub fn corrections(&self, query: &Query) -> Vec<Correction> {
        corrections(&self.snapshot.load(), query, self.tongue)
    }

    /// Whether another wording of a question still has the words that it asks by: at least half of those that
    /// items have and that are no stop words. A question without any is kept by every wording.
    pub fn keeps_words(&self, question: &str, wording: &str) -> bool {
        keeps_words(&self.snapshot.load(), question, wording, self.tongue)
    }

    /// How many items a query finds by words, and, if these are more than `over`, how they differ in some
    /// properties (dot paths). The query's `limit` and `offset` do not matter.
    pub fn facets(&self, query: &Query, fields: &[&str], over: usize) -> Result<Facets> {
        facets(&self.snapshot.load(), query, fields, over, self.tongue)
    }

    /// The item with this id, as it was loaded, and where it is from.
    pub fn item(&self, id: &str) -> Result<Option<Value>> {
        let snapshot = self.snapshot.load();
        match snapshot.find(hash(&[id.as_bytes()]))? {
            Some(address) => Ok(Some(stored(&snapshot, address)?.1)),
            None => Ok(None),
        }
    }

    /// The constraints in a question, as far as this index has facts for them, worded in the language of the
    /// answer, and the text that is left. Put both into a [`Query`].
    pub fn understand(&self, text: &str, answer_in: &Language) -> ParsedQuestion {
        let snapshot = self.snapshot.load();
        understand(text, ReadingAids { known: &**snapshot, vocabulary: &self.vocabulary, answer_in })
    }

    /// The constraints that a caller gives by a name and a value, such as `price` and `"less than $20"`. Empty
    /// when the value says nothing that could be looked for.
    pub fn named(&self, name: &str, value: &Value, answer_in: &Language) -> Vec<Filter> {
        let snapshot = self.snapshot.load();
        named(name, value, ReadingAids { known: &**snapshot, vocabulary: &self.vocabulary, answer_in })
    }

    /// What words mean here.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// Whether items have links to this host of the web.
    pub fn has_host(&self, host: &str) -> bool {
        self.snapshot.load().has_value(URL_HOST, host)
    }

    /// Items in the index.
    pub fn len(&self) -> u64 {
        self.snapshot.load().searcher.num_docs()
    }

    /// Whether there is nothing to find.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Items that can be found by meaning. Fewer when files of vectors were lost or broken before the index
    /// was opened; the next run of [`Library::index`] makes them again.
    pub fn embedded(&self) -> u64 {
        self.snapshot.load().vectors.as_ref().map_or(0, |vectors| vectors.found() as u64)
    }

    /// Whether search goes by meaning too, or by words alone because no model was given.
    pub fn has_model(&self) -> bool {
        self.model.is_some()
    }

    fn refresh(&self) -> Result<()> {
        self.snapshot.store(Arc::new(Snapshot::take(&self.folder, |columns| self.vectors(columns))?));
        Ok(())
    }

    fn vectors(&self, columns: &[Columns]) -> Result<Option<Vectors>> {
        vectors(&self.folder, self.model.as_deref(), columns)
    }
}

/// Work whose panics are errors: who reads files that were damaged meanwhile may end up anywhere.
fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Error::Crashed))
}

fn vectors(folder: &Folder, model: Option<&Model>, columns: &[Columns]) -> Result<Option<Vectors>> {
    model.map(|model| Vectors::find(&folder.vectors(), model, columns)).transpose()
}
