//! Why something was not recorded, or can't be read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::limits::{PAYLOAD_BYTES_MAX, QUEUE_MAX};

/// Why something was not recorded, or can't be read.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LogError {
    /// More records wait than may.
    #[error("{QUEUE_MAX} records wait to be written")]
    Busy,
    /// A record says too much.
    #[error("a record has more than {PAYLOAD_BYTES_MAX} bytes")]
    TooLarge,
    /// The disk, or the folder, does not take or give what it should.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file or the folder.
        path: PathBuf,
        /// Why.
        error: Arc<std::io::Error>,
    },
    /// What was written before is not what it was.
    #[error("{} is damaged at byte {offset}: {reason}; `forecourt audit verify` tells what else is", path.display())]
    Damaged {
        /// The segment.
        path: PathBuf,
        /// Where in it.
        offset: u64,
        /// What does not hold.
        reason: String,
    },
    /// The log ends before what a signed statement says of it, or is another one.
    #[error(
        "{witness} says that the records go on to byte {offset} of segment {segment}, and {how}: they were cut off, \
         replaced or given back from an older copy; `forecourt audit verify` tells more, and `forecourt audit accept` \
         goes on without what is gone"
    )]
    SetBack {
        /// Who says so: the mark beside the records, the store.
        witness: &'static str,
        /// The segment.
        segment: u64,
        /// The byte in it.
        offset: u64,
        /// What the log is instead.
        how: &'static str,
    },
    /// A statement on the log that nobody who may have signed it did.
    #[error("{witness} holds a statement on the records that does not hold: {reason}")]
    Unproven {
        /// Where it is.
        witness: &'static str,
        /// What does not hold.
        reason: String,
    },
    /// The store with the records or their heads can't be asked.
    #[error("the store of records: {0}")]
    Store(String),
    /// The writer has ended.
    #[error("the audit log is closed")]
    Closed,
}

impl LogError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |error| Self::Io { path, error: Arc::new(error) }
    }

    pub(crate) fn damaged(path: &Path, offset: u64, reason: impl ToString) -> Self {
        Self::Damaged { path: path.to_path_buf(), offset, reason: reason.to_string() }
    }
}
