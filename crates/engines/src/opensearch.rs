//! The search API that OpenSearch and Elasticsearch share, as the engine of one agent: an index of documents, ranked by
//! its BM25.
//!
//! | file | holds |
//! |---|---|
//! | `index.rs` | the index: its mapping, what it is asked for beside candidates, and how documents go there |
//! | `query.rs` | questions as its query language says them |
//! | `bulk.rs` | bulk requests, and what is tried again of them |
//! | `exchange.rs` | one request and its answer, tried again while the engine is busy |
//! | `frequencies.rs` | how many documents have a term, remembered for a moment |
//! | `attempts.rs` | how often, and until when |

mod attempts;
mod bulk;
mod exchange;
mod frequencies;
mod index;
mod query;

use std::sync::Arc;

use forecourt_core::Clock;
use forecourt_egress::Egress;
use forecourt_retrieval::{
    Candidate, CandidateQuery, Candidates, Change, EngineState, Predicate, RetrievalError, Retriever, StoredEntry,
};
use http::HeaderMap;

use crate::waiting::wait;
use exchange::Exchange;
use frequencies::Frequencies;
use index::SearchIndex;

/// Where an index is, and how it is reached.
pub struct OpenSearchOptions {
    /// The way out.
    pub egress: Egress,
    /// Where the engine is, such as `https://search.example:9200`.
    pub url: String,
    /// The name of the index.
    pub index: String,
    /// What each request carries, such as an `Authorization`.
    pub headers: HeaderMap,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// An index of documents in an engine that speaks the search API.
pub struct OpenSearch(Arc<SearchIndex>);

impl OpenSearch {
    /// Asks nothing yet.
    pub fn new(options: OpenSearchOptions) -> Self {
        let OpenSearchOptions { egress, url, index, headers, clock } = options;
        let base = url.trim_end_matches('/').to_owned();
        let (exchange, frequencies) = (Exchange { egress, base, headers }, Frequencies::new(clock));
        Self(Arc::new(SearchIndex { exchange, name: index, frequencies }))
    }

    /// Where it is.
    pub fn place(&self) -> String {
        format!("{} at {}", self.0.name, self.0.exchange.base)
    }
}

/// What traces call it.
const SYSTEM: &str = "opensearch";

impl Retriever for OpenSearch {
    fn state(&self) -> Result<EngineState, RetrievalError> {
        let index = self.0.clone();
        wait(SYSTEM, "state", async move { index.state().await })
    }

    fn prepare(&self) -> Result<(), RetrievalError> {
        let index = self.0.clone();
        wait(SYSTEM, "prepare", async move { index.prepare().await })
    }

    fn summary(&self) -> Result<Option<String>, RetrievalError> {
        let index = self.0.clone();
        wait(SYSTEM, "summary", async move { index.summary().await })
    }

    fn items(&self) -> Result<u64, RetrievalError> {
        self.count(&Predicate::everything(), usize::MAX)
    }

    fn entries(&self, after: Option<u64>) -> Result<Vec<StoredEntry>, RetrievalError> {
        let index = self.0.clone();
        wait(SYSTEM, "entries", async move { index.entries(after).await })
    }

    fn by_key(&self, keys: &[u64]) -> Result<Vec<Candidate>, RetrievalError> {
        let (index, keys) = (self.0.clone(), keys.to_vec());
        wait(SYSTEM, "by_key", async move { index.by_key(&keys).await })
    }

    fn write(&self, changes: &[Change]) -> Result<(), RetrievalError> {
        let (index, changes) = (self.0.clone(), changes.to_vec());
        wait(SYSTEM, "write", async move { index.write(&changes).await })
    }

    fn commit(&self, before: Option<&str>, summary: &str) -> Result<bool, RetrievalError> {
        let (index, before, summary) = (self.0.clone(), before.map(str::to_owned), summary.to_owned());
        wait(SYSTEM, "commit", async move { index.commit(before.as_deref(), &summary).await })
    }

    fn find(&self, query: &CandidateQuery) -> Result<Candidates, RetrievalError> {
        let (index, query) = (self.0.clone(), query.clone());
        wait(SYSTEM, "find", async move { index.find(&query).await })
    }

    fn count(&self, limits: &Predicate, most: usize) -> Result<u64, RetrievalError> {
        let (index, limits) = (self.0.clone(), limits.clone());
        wait(SYSTEM, "count", async move { index.count(&limits, most).await })
    }
}
