//! What the tests of this crate share.

use std::path::{Path, PathBuf};

use forecourt_index::{Hit, Library, Options, Query, Report};
use forecourt_loaders::ContentSource;
pub(crate) use forecourt_testkit::data;

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
