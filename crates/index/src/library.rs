//! The one type that callers hold.

mod archive;
mod completions;
mod engine_options;
mod follow;
mod loading;
mod prices;
mod push;
mod questions;
mod remote;
mod views;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, LazyLock, Weak};

use arc_swap::ArcSwap;
use forecourt_core::Language;
use forecourt_core::findings::URL_HOST;
use forecourt_understanding::QuestionScope as _;
use forecourt_vocabulary::{QuestionLexicon, Vocabulary};
use jiff::tz::TimeZone;
use parking_lot::Mutex;

use crate::analysis::LanguageAnalyzer;
use crate::columns::Columns;
use crate::dense::{Model, Vectors, drop_damaged};
use crate::error::Result;
use crate::index::{Folder, Snapshot, Summary};
use crate::pushed::PushFile;
use crate::search::Query;

pub use archive::{INDEX_VERSION, unpack};
pub use engine_options::EngineOptions;
pub use push::{NamedIds, PutOutcome, RemoveOutcome};

use remote::Remote;

/// No moment was told at which prices count.
const NO_MOMENT: i64 = i64::MIN;

/// The libraries that are open in this process, by their folders. A deployment that takes the place of another
/// answers from the same indexes while questions to the one before still end.
static OPEN: LazyLock<Mutex<HashMap<PathBuf, OpenLibrary>>> = LazyLock::new(Mutex::default);

/// How a library was opened, and the library for as long as somebody holds it.
type OpenLibrary = (Options, Weak<Library>);

/// How a library is opened. Two callers share an open library only when all of this is equal but for the time zone, on
/// which nothing that is kept depends: that of the last one counts.
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
    /// The engine outside that keeps the items. Without it, they are in the folder.
    pub engine: Option<EngineOptions>,
    /// By whose clocks questions mean "today" and "open now". UTC when not given.
    pub time_zone: Option<TimeZone>,
}

impl Options {
    /// Whether a library that was opened by these is the one that others want.
    fn fit(&self, wanted: &Self) -> bool {
        *self == Self { time_zone: self.time_zone.clone(), ..wanted.clone() }
    }

    fn zone(&self) -> TimeZone {
        self.time_zone.clone().unwrap_or(TimeZone::UTC)
    }
}

/// A state of the items: another one after each run that changed something, and with an engine after each look at all of
/// it. What was found out of the items holds as long as it is the same. Keeps nothing of them in memory.
#[derive(Debug, Clone)]
pub struct ItemsState(Weak<Snapshot>);

impl PartialEq for ItemsState {
    fn eq(&self, other: &Self) -> bool {
        // The place of a snapshot is not used again as long as somebody has this.
        self.0.ptr_eq(&other.0)
    }
}

/// An index of content in a folder of its own. Shared by reference: searching and indexing go on
/// at the same time, and a search sees one state of the index from beginning to end.
pub struct Library {
    folder: Folder,
    snapshot: ArcSwap<Snapshot>,
    model: Option<Arc<Model>>,
    tongue: LanguageAnalyzer,
    time_zone: ArcSwap<TimeZone>,
    vocabulary: Arc<Vocabulary>,
    /// What words of questions mean.
    lexicon: QuestionLexicon,
    pushed: PushFile,
    /// Where the items are, if not in the folder.
    remote: Option<Remote>,
    /// The moment at which prices count, in seconds since 1970. [`NO_MOMENT`] as long as none was told.
    priced_at: AtomicI64,
    /// Held by a run from its beginning to its end.
    indexing: Mutex<()>,
    /// Held while the index is written, by runs and by pushes.
    writing: Mutex<()>,
    /// Held by a push from its beginning to its end.
    pushing: Mutex<()>,
    /// Held while vectors are made.
    embedding: Mutex<()>,
    /// Held while another state of the index takes the place of the one before, so that the later one stays.
    refreshing: Mutex<()>,
}

impl Library {
    /// The library in `dir`: the one that is open in this process already, if it was opened in the same way, else
    /// one that is opened now. Fails as [`Library::open`] does, and with [`crate::Error::InUse`] while it is open in
    /// another way.
    pub fn shared(dir: &Path, options: &Options) -> Result<Arc<Self>> {
        std::fs::create_dir_all(dir).map_err(crate::error::folder(dir))?;
        // Links and relative paths lead to one folder by many names; the canonical path tells that it is one.
        let key = std::fs::canonicalize(dir).map_err(crate::error::folder(dir))?;
        // Held while the index is opened: of two callers at once, the second would open it again and fail with
        // `InUse`.
        let mut open = OPEN.lock();
        open.retain(|_, (_, library)| library.strong_count() > 0);
        let known = open.get(&key).filter(|(opened_by, _)| opened_by.fit(options));
        if let Some(library) = known.and_then(|(_, library)| library.upgrade()) {
            library.time_zone.store(Arc::new(options.zone()));
            return Ok(library);
        }
        let library = Arc::new(Self::open(dir, options.clone())?);
        open.insert(key, (options.clone(), Arc::downgrade(&library)));
        Ok(library)
    }

    /// The library in `dir` if it is open in this process already, and was opened in the same way.
    pub fn opened(dir: &Path, options: &Options) -> Option<Arc<Self>> {
        let key = std::fs::canonicalize(dir).ok()?;
        let open = OPEN.lock();
        let (_, library) = open.get(&key).filter(|(opened_by, _)| opened_by.fit(options))?;
        let library = library.upgrade()?;
        library.time_zone.store(Arc::new(options.zone()));
        Some(library)
    }

    /// Whether this process has the library in `dir` open, in whatever way.
    pub fn is_open(dir: &Path) -> bool {
        let Ok(key) = std::fs::canonicalize(dir) else { return false };
        OPEN.lock().get(&key).is_some_and(|(_, library)| library.strong_count() > 0)
    }

    /// Opens the index in `dir`, creating it when missing. An index of another version, or one whose files are
    /// damaged, is emptied for the next [`Library::index`] to fill. Fails when another process has the folder open, or
    /// when the model cannot be read.
    pub fn open(dir: &Path, options: Options) -> Result<Self> {
        let tongue = options
            .language
            .as_ref()
            .map_or(LanguageAnalyzer::ENGLISH, |language| LanguageAnalyzer::of(language.as_str()));
        let model = options.model.as_deref().map(Model::load).transpose()?.map(Arc::new);
        let folder = Folder::open(dir, options.lock.as_deref())?;
        if let Some(model) = &model {
            // Here and nowhere else: it reads every byte of the vectors.
            drop_damaged(&folder.vectors(), model)?;
        }
        let time_zone = ArcSwap::from_pointee(options.zone());
        let vocabulary = options.vocabulary.unwrap_or_else(Vocabulary::shipped);
        let snapshot = Snapshot::take(&folder, &vocabulary, |columns| vectors(&folder, model.as_deref(), columns))?;
        let [indexing, writing, pushing, embedding, refreshing] = [const { Mutex::new(()) }; 5];
        let (snapshot, pushed) = (ArcSwap::from_pointee(snapshot), PushFile::new(options.pushed));
        let lexicon = QuestionLexicon::of(&vocabulary);
        let remote = options.engine.map(|engine| Remote::new(engine, Arc::clone(&vocabulary), tongue));
        Ok(Self {
            remote,
            priced_at: AtomicI64::new(NO_MOMENT),
            folder,
            snapshot,
            model,
            tongue,
            time_zone,
            vocabulary,
            lexicon,
            pushed,
            indexing,
            writing,
            pushing,
            embedding,
            refreshing,
        })
    }

    /// Whether the index has everything that was pushed: without that, the next [`Library::index`] is needed. Fails
    /// when the file of pushed items cannot be read.
    pub fn has_what_was_pushed(&self) -> Result<bool> {
        Ok(self.summary()?.pushed == self.pushed.revision()?)
    }

    /// What the last run said of all items.
    fn summary(&self) -> Result<Summary> {
        let Some(remote) = &self.remote else { return Ok(self.snapshot.load().summary.clone()) };
        let mut summary = remote.summary()?;
        // What was put into an engine that has lost it since is not there.
        summary.pushed = if summary == Summary::default() { 0 } else { self.pushed.taken_in(remote.place())? };
        Ok(summary)
    }

    /// Whether an item of this key can be found.
    fn has(&self, key: u64) -> Result<bool> {
        match &self.remote {
            Some(remote) => Ok(!remote.retriever().by_key(&[key])?.is_empty()),
            None => Ok(self.snapshot.load().find(key)?.is_some()),
        }
    }

    /// Whether an engine outside keeps the items, so that to ask anything is to wait for it.
    pub fn is_remote(&self) -> bool {
        self.remote.is_some()
    }

    /// What is looked at for a query: all items, or the candidates for it.
    fn view(&self, query: &Query) -> Result<Arc<Snapshot>> {
        self.remote.as_ref().map_or_else(|| Ok(self.snapshot.load_full()), |remote| remote.view(query))
    }

    /// All items, or the sample of them. Nobody is asked: before the first question there may be none.
    fn known(&self) -> Arc<Snapshot> {
        let profile = self.remote.as_ref().and_then(Remote::known_profile);
        profile.map_or_else(|| self.snapshot.load_full(), |profile| profile.snapshot.clone())
    }

    /// Which state of the items is known now.
    pub fn items_state(&self) -> ItemsState {
        ItemsState(Arc::downgrade(&self.known()))
    }

    /// The vocabulary by which items are classified and questions read.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// Whether some item has a link to this host, which is given without `www.`.
    pub fn has_host(&self, host: &str) -> bool {
        self.known().has_value(URL_HOST, host)
    }

    /// The folder that it is in.
    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The number of items. Those of an engine are as many as were counted last; it is asked where that was never done.
    pub fn len(&self) -> u64 {
        let Some(remote) = &self.remote else { return self.snapshot.load().searcher.num_docs() };
        let profile = remote.known_profile().map_or_else(|| remote.profile(), Ok);
        // The search that asks next fails, and says why.
        let profile = profile.inspect_err(|error| tracing::warn!(%error, "the items of an engine can't be counted"));
        profile.map_or(0, |profile| profile.items)
    }

    /// Whether the index has no item.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether search goes by meaning too, or by words alone because no model was given.
    pub fn has_model(&self) -> bool {
        self.model.is_some()
    }

    fn refresh(&self) -> Result<()> {
        if let Some(remote) = &self.remote {
            return remote.profile().map(drop);
        }
        let _refreshing = self.refreshing.lock();
        self.snapshot.store(Arc::new(Snapshot::take(&self.folder, &self.vocabulary, |columns| self.vectors(columns))?));
        Ok(())
    }

    fn vectors(&self, columns: &[Columns]) -> Result<Option<Vectors>> {
        vectors(&self.folder, self.model.as_deref(), columns)
    }
}

fn vectors(folder: &Folder, model: Option<&Model>, columns: &[Columns]) -> Result<Option<Vectors>> {
    model.map(|model| Vectors::find(&folder.vectors(), model, columns)).transpose()
}
