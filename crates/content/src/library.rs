//! The one type that callers hold.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Weak};

use arc_swap::ArcSwap;
use forecourt_core::findings::{LeftOut, URL_HOST};
use forecourt_core::{Language, LazyJson, Timestamp};
use forecourt_embed::Kind;
use forecourt_vocabulary::{QuestionLexicon, Vocabulary};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use parking_lot::Mutex;
use serde_json::Value;

use crate::analysis::LanguageAnalyzer;
use crate::dense::{Collector, Model, Vectors, drop_damaged, tidy};
use crate::error::{Error, Result};
use crate::index::{Columns, Folder, Job, Scope, Snapshot, run};
use crate::item::{Item, Place, hash};
use crate::limits::EMBED_BATCH_ITEMS;
use crate::pushed::PushFile;
use crate::report::{Progress, Report};
use crate::search::{
    Correction, ExplainedHit, Facets, Filter, Hit, Query, RankBy, WordCoverage, corrections, explain, facets,
    has_property, is_answered, keeps_words, left_out, nearest, search, word_coverage,
};
use crate::source::{ContentSource, files};
use crate::understand::{ParsedQuestion, QuestionScope as _, ReadingAids, named, understand};

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
    /// What words of questions mean.
    lexicon: QuestionLexicon,
    pub(crate) pushed: PushFile,
    /// Held by a run from its beginning to its end.
    indexing: Mutex<()>,
    /// Held while the index is written, by runs and by pushes.
    pub(crate) writing: Mutex<()>,
    /// Held by a push from its beginning to its end.
    pub(crate) pushing: Mutex<()>,
    /// Held while vectors are made.
    pub(crate) embedding: Mutex<()>,
    /// Held while another state of the index takes the place of the one before, so that the later one stays.
    refreshing: Mutex<()>,
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

    /// The library in `dir` if it is open in this process already, and was opened in the same way.
    pub fn opened(dir: &Path, options: &Options) -> Option<Arc<Self>> {
        let key = std::fs::canonicalize(dir).ok()?;
        let open = OPEN.lock();
        let (_, library) = open.get(&key).filter(|(opened_by, _)| opened_by == options)?;
        library.upgrade()
    }

    /// Whether this process has the library in `dir` open, in whatever way.
    pub fn is_open(dir: &Path) -> bool {
        let Ok(key) = std::fs::canonicalize(dir) else { return false };
        OPEN.lock().get(&key).is_some_and(|(_, library)| library.strong_count() > 0)
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
        let [indexing, writing, pushing, embedding, refreshing] = [const { Mutex::new(()) }; 5];
        let (snapshot, pushed) = (ArcSwap::from_pointee(snapshot), PushFile::new(options.pushed));
        let vocabulary = options.vocabulary.unwrap_or_else(Vocabulary::shipped);
        let lexicon = QuestionLexicon::of(&vocabulary);
        Ok(Self {
            folder,
            snapshot,
            model,
            tongue,
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
            Ok(()) | Err(Error::Busy) => Ok(report),
            Err(error) => Err(error),
        }
    }

    /// Brings the words of the index in line with the sources; [`Library::embed`] does so for its meaning. Writes new and changed items, removes vanished
    /// ones, leaves the others alone. Reads files as streams and blocks until done; queries see
    /// the old state until then. Broken items are skipped with a reason in the report. Fails
    /// without a change when a source is missing, and when another run is under way. `cancel` is
    /// asked at every item; a cancelled run changes nothing. When it is the index that fails, its files are
    /// compared with their checksums, and a damaged one is built from nothing; the old state is seen until
    /// that is done.
    pub fn index_words(
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
        let Self { folder, pushed, vocabulary, tongue, .. } = self;
        let tongue = *tongue;
        let report = run(Job { folder, before: &before, scope, pushed, tongue, vocabulary, progress, cancel })?;
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

    /// Whether one of these hits answers a text, rather than only sharing a word with it.
    pub fn is_answered(&self, text: &str, hits: &[Hit]) -> Result<bool> {
        let ids: Vec<&str> = hits.iter().map(|hit| hit.id.as_str()).collect();
        is_answered(&self.snapshot.load(), text, &ids, self.tongue)
    }

    /// Whether some item has a property at this dot path.
    pub fn has_property(&self, path: &str) -> Result<bool> {
        has_property(&self.snapshot.load(), path)
    }

    /// A few values of a property that are nearest to one that no item has.
    pub fn nearest_values(&self, path: &str, value: &str) -> Result<Vec<String>> {
        nearest(&self.snapshot.load(), path, value, self.tongue)
    }

    /// The item with this id, as it was loaded, and where it is from.
    pub fn item(&self, id: &str) -> Result<Option<LazyJson>> {
        let snapshot = self.snapshot.load();
        match snapshot.find(hash(&[id.as_bytes()]))? {
            Some(address) => Ok(Some(snapshot.stored(address)?.item)),
            None => Ok(None),
        }
    }

    /// The constraints in a question, as far as this index has facts for them, worded in the language of the
    /// answer, and the text that is left. Put both into a [`Query`]. Dates that are told from today are not
    /// understood: [`Library::understand_at`] knows what day it is.
    pub fn understand(&self, text: &str, answer_in: &Language) -> ParsedQuestion {
        understand(text, self.aids(&self.snapshot.load(), answer_in, None))
    }

    /// The same for a question that was put at `now`: "this weekend" is the next one after it, in UTC.
    pub fn understand_at(&self, text: &str, answer_in: &Language, now: Timestamp) -> ParsedQuestion {
        let today = now.to_zoned(TimeZone::UTC).date();
        understand(text, self.aids(&self.snapshot.load(), answer_in, Some(today)))
    }

    /// How many items that otherwise fit a query were left out by each of its limits, because they don't state
    /// what it asks about. Limits that every such item states are not among them. Counts end at
    /// [`crate::limits::LEFT_OUT_MAX`].
    pub fn left_out(&self, query: &Query) -> Result<Vec<LeftOut>> {
        let counted = left_out(&self.snapshot.load(), query)?;
        Ok(counted.into_iter().map(|(limit, items)| LeftOut { limit, items }).collect())
    }

    fn aids<'a>(&'a self, known: &'a Snapshot, answer_in: &'a Language, today: Option<Date>) -> ReadingAids<'a> {
        ReadingAids { known, vocabulary: &self.vocabulary, lexicon: &self.lexicon, answer_in, today }
    }

    /// The constraints that a caller gives by a name and a value, such as `price` and `"less than $20"`. Empty
    /// when the value says nothing that could be looked for.
    pub fn named(&self, name: &str, value: &Value, answer_in: &Language) -> Vec<Filter> {
        named(name, value, self.aids(&self.snapshot.load(), answer_in, None))
    }

    /// The words of a question that say something, and where a passage, which has a heading and a text, has each.
    pub fn word_coverage(&self, question: &str, heading: &str, text: &str) -> Vec<WordCoverage> {
        word_coverage(&self.snapshot.load(), self.tongue, question, heading, text)
    }

    /// What words mean here.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// Whether items have links to this host of the web.
    pub fn has_host(&self, host: &str) -> bool {
        self.snapshot.load().has_value(URL_HOST, host)
    }

    /// The folder that it is in.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Items in the index.
    pub fn len(&self) -> u64 {
        self.snapshot.load().searcher.num_docs()
    }

    /// Whether there is nothing to find.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
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
                // What was just written is not there: writing it again and again would help nobody.
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

    /// Whether search goes by meaning too, or by words alone because no model was given.
    pub fn has_model(&self) -> bool {
        self.model.is_some()
    }

    fn refresh(&self) -> Result<()> {
        let _refreshing = self.refreshing.lock();
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

/// Items that are embedded between two points at which their vectors can be found.
fn batch_items(kind: Kind) -> usize {
    let [of_static, contextual] = EMBED_BATCH_ITEMS;
    match kind {
        Kind::Static => of_static,
        Kind::Contextual => contextual,
    }
}

fn vectors(folder: &Folder, model: Option<&Model>, columns: &[Columns]) -> Result<Option<Vectors>> {
    model.map(|model| Vectors::find(&folder.vectors(), model, columns)).transpose()
}
