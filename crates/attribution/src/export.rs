//! Records for others: each as it was signed, in the order in which they were written.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use forecourt_core::{AgentId, Timestamp};
use serde::Deserialize;

use crate::checkpoint::unverified;
use crate::digest::{from_hex, to_hex};
use crate::error::LogError;
use crate::frame::FrameKind;
use crate::segment::{self, FrameReader, SegmentError};
use crate::snapshot::Snapshot;

/// Which records an export takes.
#[derive(Debug, Clone, Default)]
pub struct ExportFilter {
    /// Those in the chain of one agent. `None`: all.
    pub agent: Option<AgentId>,
    /// Those from a moment on.
    pub since: Option<Timestamp>,
}

/// A record as an export gives it.
#[derive(Debug, Clone, Copy)]
pub struct ExportedRecord<'a> {
    /// Its Audit-ID.
    pub audit_id: &'a str,
    /// Whether it is an event of an agent's life, and no record of a response.
    pub is_event: bool,
    /// As it was signed.
    pub jws: &'a str,
}

/// Gives every record that is wanted to `take`, the oldest first, also while the log is written. Gives how many.
///
/// # Errors
/// The log can't be read, or `take` fails.
pub fn export(
    folder: &Path,
    filter: &ExportFilter,
    take: &mut dyn FnMut(ExportedRecord<'_>) -> io::Result<()>,
) -> Result<u64, LogError> {
    let snapshot = Snapshot::take(folder)?;
    let agent = filter.agent.as_ref().and_then(|agent| from_hex(agent.as_str()));
    let mut count = 0;
    for (number, end) in &snapshot.segments {
        let path = segment::path(folder, *number);
        let file = File::open(&path).map_err(LogError::io(&path))?;
        let mut reader = FrameReader::new(BufReader::with_capacity(256 * 1024, file), 0, *end);
        loop {
            let at = reader.offset;
            let read = match reader.next() {
                Ok(Some(read)) => read,
                // What a crash left at the very end is no record.
                Ok(None) | Err(SegmentError::Cut) => break,
                Err(fault) => return Err(LogError::damaged(&path, at, fault)),
            };
            let frame = read.frame;
            if !frame.kind.is_signed() || agent.is_some_and(|agent| agent != frame.agent) {
                continue;
            }
            let jws = std::str::from_utf8(frame.jws()).map_err(|_| LogError::damaged(&path, at, "no text"))?;
            if filter.since.is_some_and(|since| issued_at(jws).is_none_or(|issued| issued < since)) {
                continue;
            }
            let (audit_id, is_event) = (to_hex(&frame.digest()), frame.kind == FrameKind::Event);
            take(ExportedRecord { audit_id: &audit_id, is_event, jws }).map_err(LogError::io(&path))?;
            count += 1;
        }
    }
    Ok(count)
}

/// When a record says that it was signed.
pub(crate) fn issued_at(jws: &str) -> Option<Timestamp> {
    #[derive(Deserialize)]
    struct Payload {
        issued_at: Timestamp,
    }
    unverified::<Payload>(jws).map(|payload| payload.issued_at)
}
