//! The index on disk: its fields, opening and rebuilding it, filling it, and the snapshot of it
//! that queries read.

mod candidates;
mod commit;
mod document;
mod engine_document;
mod files;
mod folder;
mod frequencies;
mod lock;
mod run;
mod sample;
mod schema;
mod snapshot;
mod statistics;
mod stored;
mod target;
mod term_docs;

pub(crate) use candidates::Reading;
pub(crate) use commit::Summary;
pub(crate) use folder::Folder;
pub(crate) use run::{Job, Scope, run};
pub(crate) use schema::{VERSION, number_column, number_key};
pub(crate) use snapshot::{Overview, Snapshot};
pub(crate) use statistics::Statistics;
pub(crate) use stored::StoredItem;
pub(crate) use target::{EngineTarget, IndexTarget};
pub(crate) use term_docs::{SegmentDocs, TermDocs};
