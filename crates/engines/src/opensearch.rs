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
pub struct OpenSearch(SearchIndex);

impl OpenSearch {
    /// Asks nothing yet.
    pub fn new(options: OpenSearchOptions) -> Self {
        let OpenSearchOptions { egress, url, index, headers, clock } = options;
        let base = url.trim_end_matches('/').to_owned();
        let (exchange, frequencies) = (Exchange { egress, base, headers }, Frequencies::new(clock));
        Self(SearchIndex { exchange, name: index, frequencies })
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
        wait(SYSTEM, "state", self.0.state())
    }

    fn prepare(&self) -> Result<(), RetrievalError> {
        wait(SYSTEM, "prepare", self.0.prepare())
    }

    fn summary(&self) -> Result<Option<String>, RetrievalError> {
        wait(SYSTEM, "summary", self.0.summary())
    }

    fn items(&self) -> Result<u64, RetrievalError> {
        self.count(&Predicate::everything(), usize::MAX)
    }

    fn entries(&self, after: Option<u64>) -> Result<Vec<StoredEntry>, RetrievalError> {
        wait(SYSTEM, "entries", self.0.entries(after))
    }

    fn by_key(&self, keys: &[u64]) -> Result<Vec<Candidate>, RetrievalError> {
        wait(SYSTEM, "by_key", self.0.by_key(keys))
    }

    fn write(&self, changes: &[Change]) -> Result<(), RetrievalError> {
        wait(SYSTEM, "write", self.0.write(changes))
    }

    fn commit(&self, before: Option<&str>, summary: &str) -> Result<bool, RetrievalError> {
        wait(SYSTEM, "commit", self.0.commit(before, summary))
    }

    fn find(&self, query: &CandidateQuery) -> Result<Candidates, RetrievalError> {
        wait(SYSTEM, "find", self.0.find(query))
    }

    fn count(&self, limits: &Predicate, most: usize) -> Result<u64, RetrievalError> {
        wait(SYSTEM, "count", self.0.count(limits, most))
    }
}
