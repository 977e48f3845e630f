//! Signed records of what was answered: one for each response, in a chain for each agent, in files that are only
//! ever added to. Base protocol, section 8; draft-hood-agtp-api-01 section 10.1.6.
//!
//! | file | holds |
//! |---|---|
//! | `payload.rs` | what a record and an event say |
//! | `signer.rs`, `keys.rs`, `signature.rs` | what signs them, and what they are verified with |
//! | `frame.rs`, `segment.rs` | how they are written |
//! | `state.rs`, `open_segment.rs`, `index.rs`, `retention.rs` | the files as one process knows them, and where things are in them |
//! | `log.rs`, `writer.rs`, `failure.rs` | records in, answers out; the one writer; what failed last |
//! | `record_log.rs` | records in files, or in the store of several nodes |
//! | `shared_log.rs`, `shared_retention.rs`, `shared_copies.rs`, `shared_verify.rs` | records in that store |
//! | `checkpoint.rs` | how far the log is on the disk, and where it begins |
//! | `heads.rs`, `copies.rs`, `file_copy.rs`, `standing.rs` | how far it was, in a store and elsewhere; whether it is still what those say |
//! | `verify.rs`, `verify/` | whether anything was changed |
//! | `export.rs` | records for others |
//! | `background.rs` | work beside whoever begins it |
//! | `limits.rs` | every bound, with its unit |

mod background;
mod checkpoint;
pub mod copies;
mod digest;
mod error;
mod export;
mod failure;
mod file_copy;
pub mod frame;
pub mod heads;
mod index;
mod keys;
pub mod limits;
mod log;
mod node;
mod open_segment;
mod options;
mod payload;
mod record_log;
mod retention;
mod segment;
mod shared_copies;
mod shared_log;
mod shared_retention;
mod shared_verify;
mod signature;
mod signer;
mod snapshot;
mod standing;
mod state;
pub mod verify;
mod writer;

use std::path::{Path, PathBuf};

pub use checkpoint::CheckpointStatement;
pub use digest::{FIRST, Hash, RunningHash, from_hex, sha256, sha256_of, to_hex};
pub use error::LogError;
pub use export::{ExportFilter, ExportedRecord, export};
pub use file_copy::FileCopy;
pub use keys::RecordKeys;
pub use log::{AttributionLog, ChainHead, SignedRecord};
pub use node::node_name;
pub use options::{LogOptions, SyncPolicy};
pub use payload::{ContractFields, PriorAction, RecordDraft};
pub use record_log::RecordLog;
pub use shared_log::SharedLog;
pub use shared_verify::{export_shared, verify_shared};
pub use signer::{RecordSigner, SignerSource};
pub use standing::accept;

/// Where records are kept in a data folder.
pub fn folder(data: &Path) -> PathBuf {
    data.join("records")
}

/// The record before this one in its chain, as its payload says.
pub(crate) fn previous(jws: &str) -> Option<Hash> {
    from_hex(&checkpoint::unverified::<payload::Place>(jws)?.previous_audit_id)
}
