//! Engines outside that keep the items of an agent: PostgreSQL, and whatever speaks the search API that OpenSearch and
//! Elasticsearch share. Each is a [`forecourt_retrieval::Retriever`].
//!
//! | file | holds |
//! |---|---|
//! | `postgres.rs`, `postgres/*.rs` | PostgreSQL 15 or later: a table of documents, its statements |
//! | `opensearch.rs`, `opensearch/*.rs` | the search API: the index, its queries, bulk requests and their retries |
//! | `waiting.rs` | from calls that block to work that is waited for |
//! | [`limits`] | every bound, with its unit |

pub mod limits;
mod opensearch;
mod postgres;
mod waiting;

pub use opensearch::{OpenSearch, OpenSearchOptions};
pub use postgres::{PostgresEngine, is_table_name};
