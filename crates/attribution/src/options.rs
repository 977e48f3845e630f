//! What the operator decides about records.

use std::time::Duration;

use crate::limits::SEGMENT_BYTES_DEFAULT;

/// When what was written is synced to the disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SyncPolicy {
    /// Before the answer leaves.
    Always,
    /// Written before the answer leaves, and synced within a second: that second is what a power cut may take. The
    /// end of the process takes nothing.
    #[default]
    Interval,
}

/// What the operator decides about records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogOptions {
    /// Names this server in events.
    pub server_id: String,
    /// When what was written is synced.
    pub sync: SyncPolicy,
    /// Bytes after which a segment is sealed.
    pub segment_bytes: u64,
    /// How long sealed segments are kept. `None`: for good.
    pub retention: Option<Duration>,
    /// Bytes that all segments may have together; the oldest sealed ones go first. `None`: as many as there are.
    pub size_max: Option<u64>,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self {
            server_id: String::new(),
            sync: SyncPolicy::default(),
            segment_bytes: SEGMENT_BYTES_DEFAULT,
            retention: None,
            size_max: None,
        }
    }
}
