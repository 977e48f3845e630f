//! What the tests of this crate share.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use forecourt_core::{Language, Timestamp};
use forecourt_egress::{Egress, EgressConfig};
use forecourt_engines::{OpenSearch, OpenSearchOptions};
use forecourt_index::{EngineOptions, Hit, Library, Options, Query, Report};
use forecourt_loaders::ContentSource;
use forecourt_retrieval::Retriever;
pub(crate) use forecourt_testkit::data;
use forecourt_testkit::{HandClock, SearchEngine};
use http::HeaderMap;
use serde_json::Value;

/// The folder of a sentence transformer: `FORECOURT_MINILM`. `None`, and a line that says so, without.
pub(crate) fn minilm() -> Option<PathBuf> {
    let folder = std::env::var_os("FORECOURT_MINILM").map(PathBuf::from).unwrap_or_default();
    found(folder.join("config.json"), "model (FORECOURT_MINILM)")?;
    Some(folder)
}

/// The folder of a static embedding model: `FORECOURT_MODEL`. `None`, and a line that says so, without.
pub(crate) fn model() -> Option<PathBuf> {
    let folder = std::env::var_os("FORECOURT_MODEL").map(PathBuf::from).unwrap_or_default();
    found(folder.join("tokenizer.json"), "model (FORECOURT_MODEL)")?;
    Some(folder)
}

fn found(path: PathBuf, what: &str) -> Option<PathBuf> {
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: no {what} at {}", path.display());
    None
}

/// An index in an engine.
pub(crate) fn opensearch(engine: &SearchEngine, index: &str) -> OpenSearch {
    let egress = Egress::builder(EgressConfig::default()).build().unwrap();
    let (url, index, clock) = (engine.url(), index.to_owned(), Arc::new(HandClock::new()));
    OpenSearch::new(OpenSearchOptions { egress, url, index, headers: HeaderMap::new(), clock })
}

/// An index and a folder of sources, both thrown away at the end.
pub(crate) struct Shelf {
    pub(crate) library: Library,
    pub(crate) dir: tempfile::TempDir,
}

impl Shelf {
    /// Nothing indexed yet.
    pub(crate) fn new() -> Self {
        Self::with(Options::default())
    }

    pub(crate) fn with(options: Options) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("content")).unwrap();
        let library = Library::open(&dir.path().join("index"), options).unwrap();
        Self { library, dir }
    }

    /// One whose items an index of an engine keeps, and what is pushed a file.
    pub(crate) fn of_engine(engine: &SearchEngine, index: &str) -> Self {
        let retriever = opensearch(engine, index);
        let place = retriever.place();
        Self::of_retriever(Arc::new(retriever), place)
    }

    /// The same for an engine at a place.
    pub(crate) fn of_retriever(retriever: Arc<dyn Retriever>, place: String) -> Self {
        let engine = EngineOptions { retriever, place, candidates: 100, clock: Arc::new(HandClock::new()) };
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("content")).unwrap();
        let pushed = Some(dir.path().join("pushed/a.db"));
        let options = Options { pushed, engine: Some(engine), ..Options::default() };
        Self { library: Library::open(&dir.path().join("index"), options).unwrap(), dir }
    }

    /// Writes a source file, or removes it when there is no text.
    pub(crate) fn put(&self, name: &str, text: &str) {
        let file = self.content().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        if text.is_empty() { std::fs::remove_file(file).unwrap() } else { std::fs::write(file, text).unwrap() }
    }

    pub(crate) fn content(&self) -> PathBuf {
        self.dir.path().join("content")
    }

    pub(crate) fn index(&self) -> Report {
        self.index_from(&self.content())
    }

    pub(crate) fn index_from(&self, path: &Path) -> Report {
        self.library.index(&[ContentSource::new(path)], &mut (), &|| false).unwrap()
    }

    pub(crate) fn hits(&self, text: &str) -> Vec<Hit> {
        self.library.search(&Query::new(text)).unwrap()
    }

    pub(crate) fn names(&self, text: &str) -> Vec<String> {
        self.hits(text).into_iter().map(|hit| hit.name).collect()
    }
}

/// Noon of Monday, the 23rd of November 2026.
pub(crate) const NOW: &str = "2026-11-23T12:00:00Z";

/// An index of these items.
pub(crate) fn shelf(items: &[Value]) -> Shelf {
    let shelf = Shelf::new();
    shelf.put("a.jsonl", &items.iter().map(|item| format!("{item}\n")).collect::<String>());
    shelf.index();
    shelf
}

/// The ids of the items that keep what is understood of a question, and what is not understood.
pub(crate) fn kept(shelf: &Shelf, question: &str) -> (Vec<String>, Vec<String>) {
    let now: Timestamp = NOW.parse().unwrap();
    let parsed = shelf.library.understand_at(question, &Language::english(), now);
    assert!(!parsed.filters.is_empty() || !parsed.not_understood.is_empty(), "{question}: nothing is understood");
    let query = Query { filters: parsed.filters, limit: 20, ..Query::default() };
    let mut ids: Vec<String> = shelf.library.search(&query).unwrap().into_iter().map(|hit| hit.id).collect();
    ids.sort();
    (ids, parsed.not_understood)
}

#[track_caller]
pub(crate) fn check(shelf: &Shelf, questions: &[(&str, &[&str])]) {
    for (question, ids) in questions {
        assert_eq!(kept(shelf, question).0, *ids, "{question}");
    }
}
