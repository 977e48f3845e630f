//! The index on disk: its fields, opening and rebuilding it, filling it, and the snapshot of it
//! that queries read.

mod commit;
mod document;
mod files;
mod folder;
mod frequencies;
mod lock;
mod run;
mod sample;
mod schema;
mod snapshot;
mod stored;
mod term_docs;

pub(crate) use folder::Folder;
pub(crate) use run::{Job, Scope, run};
pub(crate) use schema::{VERSION, number_column, number_key};
pub(crate) use snapshot::Snapshot;
pub(crate) use stored::StoredItem;
pub(crate) use term_docs::{SegmentDocs, TermDocs};
