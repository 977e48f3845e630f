//! The index on disk: its fields, opening and rebuilding it, filling it, and the snapshot of it
//! that queries read.

mod document;
mod files;
mod folder;
mod frequencies;
mod lock;
mod run;
mod schema;
mod snapshot;
mod stored;

pub(crate) use folder::Folder;
pub(crate) use run::{Job, Scope, run};
pub(crate) use schema::{KEY, VERSION, number_column, number_key};
pub(crate) use snapshot::{Columns, Snapshot};
pub(crate) use stored::StoredItem;
