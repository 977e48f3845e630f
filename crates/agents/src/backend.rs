//! What a backend is given, and what it gives back.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forecourt_core::{Agent, Clock, ContentMode, Entropy, Handle, Language, Timestamp};
use forecourt_egress::Egress;
use forecourt_index::{
    Error as ContentError, FollowedItem, FollowedRevision, LoadProgress, NamedIds, PushedDocument, PutOutcome, RankBy,
    RemoveOutcome,
};
use forecourt_settings::{Problems, Section};

use crate::budget::BudgetSettings;
use crate::siblings::Siblings;
use crate::tool::EndpointTool;
use crate::usage::UsageRecorder;

/// One kind of backend: its name, its settings and how it is built.
#[derive(Clone, Copy)]
pub struct Backend {
    /// The `kind` in an agent's `[backend]` section.
    pub kind: &'static str,
    /// What it is for, in a sentence or two of markdown.
    pub about: &'static str,
    /// The schema of its section, from which the reference is generated.
    pub schema: fn() -> schemars::Schema,
    /// Reads the section and builds the agent. Opens no file, no connection and no process that
    /// could fail later as well: what it refuses is wrong in the settings.
    pub build: fn(Section, &Context) -> Result<BuiltAgent, Problems>,
}

/// The context in which a backend builds an agent: its place in the deployment, and the host's services.
#[derive(Clone)]
pub struct Context {
    /// The agent's handle.
    pub handle: Handle,
    /// The canonical host, with its port when that is not 443: what URLs of refusals are bound to.
    pub host: String,
    /// The language the agent answers in unless asked otherwise.
    pub language: Language,
    /// The folder of the deployment: relative paths in an agent's backend start here.
    pub folder: PathBuf,
    /// Where state lives.
    pub data_dir: PathBuf,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Unguessable bytes.
    pub entropy: Arc<dyn Entropy>,
    /// The way out.
    pub egress: Egress,
    /// What `PATH` is, for programs to be found by. Nothing else of our environment reaches them.
    pub path_variable: Option<String>,
    /// What a variable of our environment holds, for keys of providers that are known by name.
    pub variable: fn(&str) -> Option<String>,
    /// What the agent may use of models.
    pub budget: BudgetSettings,
    /// Receives a record of each request to a model.
    pub usage: Arc<dyn UsageRecorder>,
    /// The endpoints of the host that models may be given as tools.
    pub endpoints: Vec<EndpointTool>,
    /// The agents of the host, this one among them.
    pub siblings: Siblings,
    /// Whether its tasks go on from its notes after a loss ([`forecourt_core::WorkJournal`]).
    pub goes_on: bool,
    /// Folders of content that the program carries in itself, by the name after `builtin:`.
    pub builtin: Vec<(String, PathBuf)>,
}

impl Context {
    /// A path from the settings, taken from the folder of the deployment when it is relative.
    pub fn resolve(&self, path: impl AsRef<Path>) -> PathBuf {
        self.folder.join(path)
    }
}

/// An agent, and what its card says unless the agent's file says otherwise.
#[derive(Clone)]
pub struct BuiltAgent {
    /// What answers.
    pub agent: Arc<dyn Agent>,
    /// Whether it writes its answer piece by piece.
    pub streams: bool,
    /// Whether it emits tool calls.
    pub uses_tools: bool,
    /// Whether it makes use of earlier turns.
    pub remembers: bool,
    /// Whether it writes what it is asked for, as a language model does.
    pub composes: bool,
    /// Whether it finds items, and tells [`forecourt_core::Findings`] when it is asked to.
    pub finds: bool,
    /// Whether it notes how far its work has come, and goes on from there ([`forecourt_core::WorkJournal`]).
    pub attaches: bool,
    /// What it takes.
    pub input_modes: Vec<ContentMode>,
    /// What it gives.
    pub output_modes: Vec<ContentMode>,
    /// The content behind it, for the daemon to index at start and when files change.
    pub indexing: Option<Arc<dyn IndexedContent>>,
    /// The hosts that it passes messages on to, the next one first ([`forecourt_core::AgentCard::via`]).
    pub via: Vec<String>,
}

impl BuiltAgent {
    /// An agent that takes text and gives markdown, streams, and has no memory, tools or content.
    pub fn new(agent: impl Agent) -> Self {
        Self {
            agent: Arc::new(agent),
            streams: true,
            uses_tools: false,
            remembers: false,
            composes: false,
            finds: false,
            attaches: false,
            input_modes: vec![text("text/plain"), text("text/markdown")],
            output_modes: vec![text("text/markdown")],
            indexing: None,
            via: Vec::new(),
        }
    }

    /// The same, taking and giving files of any media type too.
    #[must_use]
    pub fn with_files(mut self) -> Self {
        self.input_modes.push(ContentMode::File { mime: "*/*".to_owned() });
        self.output_modes.push(ContentMode::File { mime: "*/*".to_owned() });
        self
    }
}

fn text(mime: &str) -> ContentMode {
    ContentMode::Text { mime: mime.to_owned() }
}

/// How a question was read, and why the items rank as they do for it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QuestionExplanation {
    /// What became of each word of the question, in its order.
    pub words: Vec<RankExplanation>,
    /// Why items rank where they do, the best first.
    pub items: Vec<RankExplanation>,
}

/// A part of an explanation: of a question, or why one item ranks where it does.
#[derive(Debug, Clone, PartialEq)]
pub struct RankExplanation {
    /// A text for the operator.
    pub text: String,
    /// The same for programs.
    pub data: serde_json::Value,
}

/// Why an item is, or is not, found for a question.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ItemDiagnosis {
    /// What became of each word of the question, in its order.
    pub words: Vec<RankExplanation>,
    /// The text that was looked for, beside the limits.
    pub text: String,
    /// The item, where there is one that goes by the name.
    pub item: Option<DiagnosedItem>,
    /// Items whose names are nearest to what was named, where none goes by it: id and name.
    pub nearest: Vec<(String, String)>,
    /// What was left out of the index and may be it, a sentence each.
    pub left_out: Vec<String>,
    /// What is found first, the best first.
    pub first: Vec<FoundItem>,
}

/// An item of the index, and what a question comes to for it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DiagnosedItem {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its link, if it has one.
    pub url: Option<String>,
    /// The file or the site that it is from; `None` for what was pushed, or where the file is gone.
    pub source: Option<String>,
    /// When that was written last.
    pub written_at: Option<Timestamp>,
    /// Each limit of the question.
    pub limits: Vec<LimitCheck>,
    /// Words of the question that it has: the field, the word, and what that adds to its score.
    pub matched: Vec<(String, String, f32)>,
    /// Words of the question that it does not have.
    pub lacks: Vec<String>,
    /// Its place, from 1; `None` where it is not found, or far behind.
    pub rank: Option<usize>,
    /// The score of its place.
    pub score: Option<f32>,
    /// Other ways to ask, and its place for each.
    pub ways: Vec<QuestionWay>,
}

/// Whether an item passes a limit of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitCheck {
    /// The limit, in words.
    pub limit: String,
    /// The properties that it asks about.
    pub properties: Vec<String>,
    /// What the item states of them.
    pub values: Vec<String>,
    /// Whether it passes.
    pub passes: bool,
}

/// Another way to ask a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionWay {
    /// What is different, in words.
    pub asks: String,
    /// The place of the item, from 1; `None` where it is not found.
    pub rank: Option<usize>,
}

/// An item that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundItem {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its score.
    pub score: f32,
}

/// The documents of a judged set, as items, and where their index goes.
#[derive(Debug, Clone, Copy)]
pub struct JudgedCorpus<'a> {
    /// A file of items, each with an `_id`.
    pub items: &'a Path,
    /// An empty folder.
    pub index: &'a Path,
}

/// Ranks items for questions, so that it can be measured.
pub trait QuestionRanker: Send {
    /// The ids of the best items for a question, best first, at most `wanted`.
    fn rank(&self, question: &str, by: RankBy, wanted: usize) -> Result<Vec<String>, IndexingError>;

    /// The rankings that it offers: by words, by meaning, or by both.
    fn ways(&self) -> &[RankBy];

    /// Items that it ranks.
    fn items(&self) -> u64;
}

/// Content that has to be indexed before, and whenever it changes.
pub trait IndexedContent: Send + Sync {
    /// The files and folders to watch.
    fn sources(&self) -> Vec<PathBuf>;

    /// A number that changes when a file of the sources is added, removed, renamed or written. Reads
    /// no content. Fails when a source is missing.
    fn fingerprint(&self) -> Result<u64, IndexingError>;

    /// Whether the index is the one that the last complete run made from sources of this very
    /// fingerprint, so that running again would change nothing.
    fn is_current(&self, fingerprint: u64) -> bool;

    /// Whether everything can be found that a call of [`IndexedContent::put`] or [`IndexedContent::remove`] was told is
    /// on disk. Reads from disk.
    fn has_what_was_pushed(&self) -> Result<bool, IndexingError> {
        Ok(true)
    }

    /// Items that can be found now.
    fn items(&self) -> u64;

    /// Files in the sources that are not read, and why, as they were found when the content was looked at last.
    fn left_out(&self) -> Vec<String> {
        Vec::new()
    }

    /// What is worth telling whoever checks the settings, though nothing is wrong. Looks at the files.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }

    /// What can't be read of files of data, for whoever checks them. Bounded; reads the files, and makes no index.
    fn file_errors(&self) -> Vec<ContentFileError> {
        Vec::new()
    }

    /// What the last [`IndexedContent::index`] of this process came to.
    fn last_report(&self) -> Option<IndexReport> {
        None
    }

    /// What in which engine outside keeps the items, for this content alone. `None`: they are here.
    fn engine_place(&self) -> Option<&str> {
        None
    }

    /// When the sources were read last, or found to be as they were read. `None`: never.
    fn read_at(&self) -> Option<Timestamp> {
        None
    }

    /// When something of what can be found changed last. `None`: nobody knows.
    fn changed_at(&self) -> Option<Timestamp> {
        None
    }

    /// How a question is read, and why items rank as they do for it.
    fn explain(&self, _question: &str) -> Result<QuestionExplanation, IndexingError> {
        Ok(QuestionExplanation::default())
    }

    /// Why the item of this id, link or name is found for a question, or is not. Reads from disk.
    fn diagnose(&self, _question: &str, _item: &str) -> Result<ItemDiagnosis, IndexingError> {
        Err(IndexingError("this content can't say why something is found".to_owned()))
    }

    /// Where the deployment's own words take the place of those of the program, a sentence each with both places.
    fn word_notices(&self) -> Vec<String> {
        Vec::new()
    }

    /// Entries that the vocabulary of this content lacks, by its items and by questions without a good answer, each with
    /// how often it was asked: a file of vocabulary to edit, with the evidence in comments. Empty: it lacks none.
    fn proposed_words(&self, _unanswered: &[(String, u64)]) -> Result<String, IndexingError> {
        Ok(String::new())
    }

    /// Ranks its own items, or the documents of a judged set with the same settings. Reading these blocks.
    fn ranker(&self, _corpus: Option<JudgedCorpus<'_>>) -> Result<Box<dyn QuestionRanker>, IndexingError> {
        Err(IndexingError("this content is not ranked".to_owned()))
    }

    /// Whether what is elsewhere has to be asked for again: it was too long ago, or never.
    fn is_due(&self) -> bool {
        false
    }

    /// Asks again for what is elsewhere, due or not, so that the next [`IndexedContent::index`] has it. Blocks
    /// for as long as that takes, which may be hours; `cancel` is asked now and then.
    fn fetch(
        &self,
        _progress: &mut (dyn FnMut(&LoadProgress) + Send),
        _cancel: &(dyn Fn() -> bool + Sync),
    ) -> Result<FetchSummary, IndexingError> {
        Ok(FetchSummary::default())
    }

    /// Brings the index up to date, for its words: [`IndexedContent::embed`] follows. Blocks for as long as that takes, so it belongs on a thread of
    /// its own; questions are answered from the old index meanwhile.
    fn index(&self, progress: &mut (dyn FnMut(&LoadProgress) + Send)) -> Result<IndexReport, IndexingError>;

    /// How much of it can be found by meaning too. `None`: it is found by words alone.
    fn embedding(&self) -> Option<EmbeddingProgress> {
        None
    }

    /// Makes what is missing to find items by meaning. Blocks for as long as that takes, which may be hours; what
    /// is done by then is found meanwhile, and stays when `cancel` says to stop or the process ends.
    fn embed(
        &self,
        _progress: &mut (dyn FnMut(EmbeddingProgress) + Send),
        _cancel: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), IndexingError> {
        Ok(())
    }

    /// Puts the items of a document, written as its media type says, in the place of those with their
    /// ids. On disk when it returns, and found at once unless the index is being brought up to date.
    fn put(&self, _document: &[u8], _media_type: &str) -> Result<PutOutcome, ContentError> {
        Err(ContentError::NothingPushed)
    }

    /// Removes items by their ids or links, wherever they are from. As durable and as soon seen.
    fn remove(&self, _names: &[String]) -> Result<RemoveOutcome, ContentError> {
        Err(ContentError::NothingPushed)
    }

    /// Forgets all that was put and removed, from the next [`IndexedContent::index`] on.
    fn forget_pushed(&self) -> Result<(), ContentError> {
        Err(ContentError::NothingPushed)
    }

    /// What [`IndexedContent::put`] would put, for content that nodes hold in common. Changes nothing.
    fn read_push(&self, _document: &[u8], _media_type: &str) -> Result<PushedDocument, ContentError> {
        Err(ContentError::NothingPushed)
    }

    /// What [`IndexedContent::remove`] would remove. Changes nothing.
    fn named_ids(&self, _names: &[String]) -> Result<NamedIds, ContentError> {
        Err(ContentError::NothingPushed)
    }

    /// What names the form of its index, so that one of the same name that another node built is a start for this
    /// one. `None`: there is nothing that others could take.
    fn snapshot_name(&self) -> Option<String> {
        None
    }

    /// Whether there is no index yet. Opens none.
    fn is_unbuilt(&self) -> bool {
        false
    }

    /// Writes the index as it is now, for other nodes.
    fn pack(&self, _out: &mut dyn Write) -> Result<(), ContentError> {
        Err(ContentError::NothingPushed)
    }

    /// Begins with the index that another node has built, where there is none. The next [`IndexedContent::index`]
    /// brings it in line with the content that is here.
    fn unpack(&self, _archive: &mut dyn Read) -> Result<(), ContentError> {
        Err(ContentError::NothingPushed)
    }

    /// Up to where it follows what nodes hold.
    fn followed(&self) -> Result<FollowedRevision, ContentError> {
        Err(ContentError::NothingPushed)
    }

    /// What was put and removed here, behind a key: some of it, each with its key, none at the end. For who has been
    /// alone so far, and brings it to other nodes.
    fn held_items(&self, _after: Option<u64>) -> Result<Vec<(u64, FollowedItem)>, ContentError> {
        Err(ContentError::NothingPushed)
    }

    /// Takes in what nodes hold, in order, up to a revision. Whether all of it can be found; else the next
    /// [`IndexedContent::index`] sees to it.
    fn follow(&self, _items: Vec<FollowedItem>, _at: FollowedRevision) -> Result<bool, ContentError> {
        Err(ContentError::NothingPushed)
    }
}

/// A part of a file of content that can't be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentFileError {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1; `None` where the whole file is meant.
    pub line: Option<usize>,
    /// Why, in words for the operator.
    pub reason: String,
}

/// How much of an index can be found by meaning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EmbeddingProgress {
    /// Items that can be.
    pub embedded: u64,
    /// Items that are found by words alone until they were looked at.
    pub missing: u64,
}

impl EmbeddingProgress {
    /// In whole percent, rounded down. All is said when nothing is missing, and only then.
    pub fn percent(self) -> u64 {
        let all = self.embedded + self.missing;
        (self.embedded * 100).checked_div(all).unwrap_or(100)
    }
}

/// The outcome of fetching content from sites: counts, and warnings for the operator.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct FetchSummary {
    /// Pages and documents that are there, unchanged ones included.
    pub pages: usize,
    /// Those that had not changed since they were last asked for.
    pub unchanged: usize,
    /// Items in them.
    pub items: u64,
    /// Pages and items that were left out.
    pub skipped: u64,
    /// Why, each with its address, for the operator. Bounded.
    pub warnings: Vec<String>,
}

/// The outcome of one run of indexing: counts of items and files, and warnings for the operator.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct IndexReport {
    /// Items that can be found now.
    pub items: u64,
    /// Items that are new.
    pub loaded: u64,
    /// Items whose content has changed.
    pub updated: u64,
    /// Items that are as they were, and were not written again.
    pub unchanged: u64,
    /// Items that are in no source any more.
    pub removed: u64,
    /// Items of files in whose place others were pushed, or that were removed by hand.
    pub overridden: u64,
    /// Items that were left out.
    pub skipped: u64,
    /// Why items were left out, each with its file and line, for the operator. Bounded.
    pub warnings: Vec<String>,
    /// Files with items in them, by what they are written in.
    pub kinds: Vec<IndexedKind>,
    /// Files of which nothing was taken. Of endings that are not read, one for all of an ending.
    pub files_left_out: u64,
    /// Which and why, for the operator. Bounded.
    pub left_out: Vec<String>,
}

/// The files of one format in a run of indexing, and the items in them.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct IndexedKind {
    /// What they are written in, as people call it.
    pub kind: String,
    /// Files with items.
    pub files: u64,
    /// Items in them.
    pub items: u64,
}

/// Why content could not be indexed. For the operator; the old index stays in use.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct IndexingError(pub String);
