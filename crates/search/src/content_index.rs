//! The index of one agent: opened when it is first needed, filled by the daemon.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use forecourt_core::{Clock, Language, Timestamp};
use forecourt_index::{
    Error, ExplainedHit, FollowedItem, FollowedRevision, INDEX_VERSION, KindCount, Library, LoadProgress, NamedIds,
    Options, PushedDocument, PutOutcome, Query, RemoveOutcome, Report, UnansweredQuestion, unpack,
};
use forecourt_loaders::{ContentSource, files, look};
use forecourt_understanding::{ParsedQuestion, PartRole, ReadPart};
use forecourt_vocabulary::Vocabulary;

use super::content_file_errors::{CheckBounds, file_errors};
use super::diagnosis::diagnose;
use super::index_slots::{IndexSlots, mark_file};
use super::ranking::RankingRules;
use super::sites::Sites;
use crate::limits::{DIAGNOSED_LEFT_OUT, WARNINGS_MAX};
use crate::phrases::content_words;
use crate::ranker::LibraryRanker;
use forecourt_agents::backend::{
    ContentFileError, Context, EmbeddingProgress, FetchSummary, IndexReport, IndexedContent, IndexedKind,
    IndexingError, ItemDiagnosis, JudgedCorpus, QuestionExplanation, QuestionRanker, RankExplanation,
};

/// Items whose places are explained.
const EXPLAINED: usize = 10;

/// The content of one agent and its index: in `index/{handle}` of the data folder, or aside while another one is
/// asked. Pushed items are in `pushed/{handle}.db`.
pub struct ContentIndex {
    slots: IndexSlots,
    clock: Arc<dyn Clock>,
    /// Files and folders.
    sources: Vec<ContentSource>,
    sites: Sites,
    rules: RankingRules,
    options: Options,
    /// Of the settings that shape the index.
    settings_hash: u64,
    /// The index, and where it is.
    library: OnceLock<(PathBuf, Arc<Library>)>,
    /// Held while the index is opened, since only one can have it open.
    opening: Mutex<()>,
    /// Held while something is pushed.
    pushing: Mutex<()>,
    /// Files that are not read, as they were found last.
    left_out: Mutex<Vec<String>>,
    last_report: Mutex<Option<IndexReport>>,
    /// When this process read the sources last, or found them as they were read.
    read_at: Mutex<Option<Timestamp>>,
    /// When this process changed the index last.
    changed_at: Mutex<Option<Timestamp>>,
}

impl ContentIndex {
    /// Opens nothing yet.
    pub fn new(context: &Context, sources: Vec<ContentSource>, options: Options) -> Self {
        let slots = IndexSlots::new(&context.data_dir.join("index"), &context.handle);
        let pushed = context.data_dir.join("pushed").join(format!("{}.db", context.handle));
        // No agent has a handle that begins so.
        // One lock for all indexes of a data folder: a thousand agents would else hold a thousand descriptors for it.
        let lock = context.data_dir.join("index/.lock");
        let settings_hash = settings_hash(context, &sources, &options);
        let options = Options { pushed: Some(pushed), lock: Some(lock), ..options };
        Self {
            slots,
            clock: context.clock.clone(),
            sources,
            sites: Sites::none(context),
            rules: RankingRules::default(),
            options,
            settings_hash,
            library: OnceLock::new(),
            opening: Mutex::new(()),
            pushing: Mutex::new(()),
            left_out: Mutex::default(),
            last_report: Mutex::default(),
            read_at: Mutex::default(),
            changed_at: Mutex::default(),
        }
    }

    /// Adds sites of the web to the content.
    #[must_use]
    pub(super) fn with_sites(mut self, sites: Sites) -> Self {
        self.sites = sites;
        self
    }

    /// Adds rules for the order of items.
    #[must_use]
    pub(super) fn with_rules(mut self, rules: RankingRules) -> Self {
        self.rules = rules;
        self
    }

    /// The rules for the order of items.
    pub(crate) fn rules(&self) -> &RankingRules {
        &self.rules
    }

    /// Rules that change nothing, once there are items.
    fn idle_rules(&self, library: &Library) -> Vec<String> {
        if library.is_empty() {
            return Vec::new();
        }
        self.rules.idle(library, self.clock.now()).unwrap_or_else(|error| vec![error.to_string()])
    }

    /// A question as it is asked of the index, and what became of its words.
    fn asked(&self, library: &Library, question: &str) -> (Query, Vec<ReadPart>) {
        let parsed = library.understand_at(question, &Language::english(), self.clock.now());
        let ParsedQuestion { text, filters, order, reading, .. } = parsed;
        let adjustments = self.rules.adjustments(library, question, self.clock.now());
        let asked =
            Query { text, filters, order, limit: EXPLAINED, adjustments, sold_out_later: true, ..Query::default() };
        (asked, reading)
    }

    /// What was left out of the index that says something of this name.
    fn left_out_like(&self, name: &str) -> Vec<String> {
        let name = name.trim().to_lowercase();
        let report = self.last_report();
        let told = report.iter().flat_map(|report| report.warnings.iter().chain(&report.left_out)).cloned();
        let all = told.chain(self.left_out());
        all.filter(|told| told.to_lowercase().contains(&name)).take(DIAGNOSED_LEFT_OUT).collect()
    }

    /// Everything that is indexed.
    fn all_sources(&self) -> Vec<ContentSource> {
        self.sources.iter().cloned().chain(self.sites.sources()).collect()
    }

    /// The index, if it was opened before.
    pub(crate) fn opened(&self) -> Option<Arc<Library>> {
        self.library.get().map(|(_, library)| library.clone())
    }

    /// The index. Opens it when this was not done before, which reads from disk.
    pub(crate) fn library(&self) -> Result<Arc<Library>, Error> {
        let _one_at_a_time = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(library) = self.opened() {
            return Ok(library);
        }
        let opened = self.slots.open(&self.options, self.settings_hash)?;
        opened.1.set_time(self.clock.now());
        Ok(self.library.get_or_init(|| opened).1.clone())
    }

    /// Whether everything was read once, so that an empty index means empty content.
    pub(crate) fn is_filled(&self) -> bool {
        self.mark_file().exists() && self.sites.were_visited()
    }

    /// A file beside the index that says from which content it was made.
    fn mark_file(&self) -> PathBuf {
        let folder = self.library.get().map_or(self.slots.first(), |(folder, _)| folder);
        mark_file(folder)
    }

    /// Notes that something happened now.
    fn note(&self, moment: &Mutex<Option<Timestamp>>) {
        *moment.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.clock.now());
    }

    /// When something happened in this process; else when an earlier one wrote the mark.
    fn noted(&self, moment: &Mutex<Option<Timestamp>>) -> Option<Timestamp> {
        let noted = *moment.lock().unwrap_or_else(PoisonError::into_inner);
        let written = || fs::metadata(self.mark_file()).and_then(|mark| mark.modified()).ok()?.try_into().ok();
        noted.or_else(written)
    }

    /// What the index is made from: the content, and the settings that shape it; and what it holds.
    fn mark(&self, fingerprint: u64, library: &Library) -> String {
        format!("{fingerprint:016x} {:016x} {}\n", self.settings_hash, holds(library))
    }

    /// Left as it is where nothing changed, so that its age tells since when.
    fn write_mark(&self, mark: &str) {
        if fs::read_to_string(self.mark_file()).is_ok_and(|written| written == mark) {
            return;
        }
        if let Err(error) = fs::write(self.mark_file(), mark) {
            tracing::warn!(%error, "the mark of an index could not be written; it will be made again");
        }
    }

    /// What is to be said of the engine outside, if there is one. Asks it.
    fn engine_notices(&self) -> Vec<String> {
        let Some(engine) = &self.options.engine else { return Vec::new() };
        match engine.retriever.state() {
            Ok(state) => {
                let told = state.notices.iter().map(|notice| format!("{} ({}): {notice}", state.name, engine.place));
                told.collect()
            }
            Err(error) => vec![format!("{error} ({})", engine.place)],
        }
    }

    /// Changes the index by hand. If it was current before, it is so with what it holds then.
    fn pushing<T>(&self, push: impl FnOnce(&Library) -> Result<T, Error>) -> Result<T, Error> {
        let library = self.library()?;
        let _one_at_a_time = self.pushing.lock().unwrap_or_else(PoisonError::into_inner);
        // The mark holds how many items there are, and a push changes that: without a new mark, the next look would
        // read all sources again.
        library.set_time(self.clock.now());
        let (before, made_from) = (holds(&library), fs::read_to_string(self.mark_file()).unwrap_or_default());
        let done = push(&library)?;
        self.note(&self.changed_at);
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
        let found = look(&self.all_sources()).map_err(|error| failed(error.into()))?;
        let left_out = found.left_out.iter().map(ToString::to_string).take(WARNINGS_MAX).collect();
        *self.left_out.lock().unwrap_or_else(PoisonError::into_inner) = left_out;
        let mut hasher = DefaultHasher::new();
        found.fingerprint.hash(&mut hasher);
        Ok(hasher.finish())
    }

    fn is_current(&self, fingerprint: u64) -> bool {
        let made_from = fs::read_to_string(self.mark_file()).unwrap_or_default();
        let is_of = |library: &Library| made_from == self.mark(fingerprint, library);
        let is_current = self.library().is_ok_and(|library| is_of(&library));
        if is_current {
            self.note(&self.read_at);
        }
        // Content that is current is not enough: a push during a run waits for the next one, and a sale ends by itself.
        let are_prices_current = self.library().is_ok_and(|library| !library.has_other_prices(self.clock.now()));
        is_current && are_prices_current && self.has_what_was_pushed().unwrap_or(false)
    }

    fn has_what_was_pushed(&self) -> Result<bool, IndexingError> {
        self.library().and_then(|library| library.has_what_was_pushed()).map_err(failed)
    }

    fn items(&self) -> u64 {
        self.library().map_or(0, |library| library.len())
    }

    fn left_out(&self) -> Vec<String> {
        self.left_out.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        // What cannot be looked at is told as a problem.
        for found in self.sources.iter().filter_map(|source| look(std::slice::from_ref(source)).ok()) {
            notices.extend(found.without_url.iter().map(|(label, count)| without_url(label, *count)));
            notices.extend(found.left_out.iter().map(|file| format!("not read: {file}")));
        }
        notices.extend(self.engine_notices());
        // An index that was never made, or that another process has open, says nothing of its items.
        let library = match self.is_unbuilt() {
            true => None,
            false => self.library().ok(),
        };
        notices.extend(library.iter().flat_map(|library| self.idle_rules(library)));
        notices.truncate(WARNINGS_MAX);
        notices
    }

    fn file_errors(&self) -> Vec<ContentFileError> {
        file_errors(&self.sources, CheckBounds::default())
    }

    fn last_report(&self) -> Option<IndexReport> {
        self.last_report.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn read_at(&self) -> Option<Timestamp> {
        self.noted(&self.read_at)
    }

    fn changed_at(&self) -> Option<Timestamp> {
        self.noted(&self.changed_at)
    }

    fn explain(&self, question: &str) -> Result<QuestionExplanation, IndexingError> {
        let library = self.library().map_err(failed)?;
        let (asked, reading) = self.asked(&library, question);
        let explained = library.explain(&asked);
        let told = |one: &ExplainedHit| RankExplanation { text: one.to_string(), data: serde_json::json!(one) };
        let items = explained.map_err(failed)?.iter().map(told).collect();
        let words: Result<Vec<_>, Error> = reading.iter().map(|part| read_part(&library, question, part)).collect();
        Ok(QuestionExplanation { words: words.map_err(failed)?, items })
    }

    fn diagnose(&self, question: &str, item: &str) -> Result<ItemDiagnosis, IndexingError> {
        let library = self.library().map_err(failed)?;
        let (asked, reading) = self.asked(&library, question);
        let files = files(&self.all_sources()).map(|files| files.read).unwrap_or_default();
        let found = diagnose(&library, &asked, item, &files).map_err(failed)?;
        let words: Result<Vec<_>, Error> = reading.iter().map(|part| read_part(&library, question, part)).collect();
        let words = words.map_err(failed)?;
        Ok(ItemDiagnosis { words, left_out: self.left_out_like(item), ..found })
    }

    fn word_notices(&self) -> Vec<String> {
        self.options.vocabulary.as_ref().map(|vocabulary| vocabulary.notices().to_vec()).unwrap_or_default()
    }

    fn proposed_words(&self, unanswered: &[(String, u64)]) -> Result<String, IndexingError> {
        let unanswered: Vec<UnansweredQuestion> = unanswered
            .iter()
            .map(|(question, asked)| UnansweredQuestion { question: question.clone(), asked: *asked })
            .collect();
        let proposals = self.library().and_then(|library| library.word_proposals(&unanswered)).map_err(failed)?;
        Ok(proposals.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
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
        // The fingerprint is taken before the files are read: a file that is written during the run makes it stale
        // again.
        let fingerprint = self.fingerprint()?;
        library.set_time(self.clock.now());
        let mut listener = |progressed: &LoadProgress| progress(progressed);
        let report = library.index_words(&self.all_sources(), &mut listener, &|| false).map_err(failed)?;
        self.write_mark(&self.mark(fingerprint, &library));
        self.note(&self.read_at);
        if report.loaded + report.updated + report.removed > 0 {
            self.note(&self.changed_at);
        }
        self.idle_rules(&library).iter().for_each(|idle| tracing::warn!("{idle}"));
        let report = indexed(report, library.len());
        *self.last_report.lock().unwrap_or_else(PoisonError::into_inner) = Some(report.clone());
        Ok(report)
    }

    fn embedding(&self) -> Option<EmbeddingProgress> {
        // Nothing is opened for a question about progress: whoever searches or indexes opens the index.
        let library = self.opened().filter(|library| library.has_model())?;
        Some(EmbeddingProgress { embedded: library.embedded(), missing: library.unembedded() })
    }

    fn embed(
        &self,
        progress: &mut (dyn FnMut(EmbeddingProgress) + Send),
        cancel: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), IndexingError> {
        let library = self.library().map_err(failed)?;
        let mut listener = |embedded, missing| progress(EmbeddingProgress { embedded, missing });
        library.embed(&mut listener, cancel).map_err(failed)
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

    fn engine_place(&self) -> Option<&str> {
        self.options.engine.as_ref().map(|engine| engine.place.as_str())
    }

    fn snapshot_name(&self) -> Option<String> {
        // What an engine keeps is there for all nodes.
        self.options.engine.is_none().then(|| format!("{INDEX_VERSION}-{:016x}", self.settings_hash))
    }

    fn is_unbuilt(&self) -> bool {
        self.options.engine.is_none() && self.opened().is_none() && !self.slots.first().join("words").exists()
    }

    fn pack(&self, out: &mut dyn Write) -> Result<(), Error> {
        self.library()?.pack(out)
    }

    fn unpack(&self, archive: &mut dyn Read) -> Result<(), Error> {
        let _one_at_a_time = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        match self.opened() {
            // An index that is open here would go on from files that are no longer there.
            Some(_) => Err(Error::InUse(self.slots.first().clone())),
            None => unpack(archive, self.slots.first()),
        }
    }

    fn read_push(&self, document: &[u8], media_type: &str) -> Result<PushedDocument, Error> {
        Library::read_push(document, media_type, self.clock.now())
    }

    fn named_ids(&self, names: &[String]) -> Result<NamedIds, Error> {
        self.library()?.named_ids(names)
    }

    fn followed(&self) -> Result<FollowedRevision, Error> {
        self.library()?.followed()
    }

    fn held_items(&self, after: Option<u64>) -> Result<Vec<(u64, FollowedItem)>, Error> {
        self.library()?.held_items(after)
    }

    fn follow(&self, items: Vec<FollowedItem>, at: FollowedRevision) -> Result<bool, Error> {
        self.pushing(|library| library.follow(items, at))
    }
}

/// That nothing can lead to the documents of a source, and what to do about it.
fn without_url(label: &str, count: usize) -> String {
    let documents = if count == 1 { "a document".to_owned() } else { format!("{count} documents") };
    format!(
        "`{label}` has {documents} and no URL in `urls`, so answers can't link to them; say where they are, as in \
         urls = {{ \"{label}\" = \"https://example.com/docs/\" }}"
    )
}

/// The settings that shape an index, as they are written: the same for a deployment that was moved, or is
/// reached by another path.
fn settings_hash(context: &Context, sources: &[ContentSource], options: &Options) -> u64 {
    let mut hasher = DefaultHasher::new();
    // Relative to the deployment, so that one that was moved keeps its index.
    let model = options.model.as_ref().map(|model| model.strip_prefix(&context.folder).unwrap_or(model));
    (options.language.as_ref().map(|language| language.as_str()), model).hash(&mut hasher);
    options.engine.iter().for_each(|engine| engine.place.hash(&mut hasher));
    options.vocabulary.as_ref().unwrap_or(&Vocabulary::shipped()).revision().hash(&mut hasher);
    sources.iter().for_each(|source| (&source.label, &source.url, &source.tables).hash(&mut hasher));
    hasher.finish()
}

/// How much can be found. What is found by meaning is no part of it: that follows by itself.
fn holds(library: &Library) -> String {
    match library.is_remote() {
        // What other nodes put into an engine or remove there is no reason to read all sources again; another version is.
        true => format!("engine-{INDEX_VERSION}"),
        false => library.len().to_string(),
    }
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
        kinds: report.kinds.iter().map(kind).collect(),
        files_left_out: report.files_left_out,
        left_out: report.left_out.iter().map(ToString::to_string).take(WARNINGS_MAX).collect(),
    }
}

fn kind((kind, count): (&&str, &KindCount)) -> IndexedKind {
    IndexedKind { kind: (*kind).to_owned(), files: count.files, items: count.items }
}

/// What became of a part of a question. Of what is looked for, the words that no item has are told.
fn read_part(library: &Library, question: &str, part: &ReadPart) -> Result<RankExplanation, Error> {
    let words = question.get(part.bytes.clone()).unwrap_or_default();
    let (role, told) = (part.role.id(), part.role.told());
    let mut unknown: Vec<&str> = Vec::new();
    for word in content_words(words).filter(|_| part.role == PartRole::Subject) {
        if !library.says_beside(word, question)? {
            unknown.push(word);
        }
    }
    let meaning = if told.is_empty() { String::new() } else { format!(" ({told})") };
    let lacking = match unknown.is_empty() {
        true => String::new(),
        false => format!(", in no item: {}", unknown.join(", ")),
    };
    let text = format!("“{words}”: {role}{meaning}{lacking}");
    let data = serde_json::json!({"words": words, "role": role, "meaning": told, "in_no_item": unknown});
    Ok(RankExplanation { text, data })
}

fn failed(error: Error) -> IndexingError {
    IndexingError(error.to_string())
}
