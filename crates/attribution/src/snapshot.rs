//! The log as it stands at one moment, for those who read it from outside while it is written.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use crate::checkpoint::{Checkpoint, KeptMark, Mark};
use crate::error::LogError;
use crate::segment;

/// The log as it stands at one moment.
pub(crate) struct Snapshot {
    pub(crate) folder: PathBuf,
    /// The segments that are there, with their bytes, in order.
    pub(crate) segments: Vec<(u64, u64)>,
    pub(crate) checkpoint: Option<Checkpoint>,
    pub(crate) mark: KeptMark,
}

impl Snapshot {
    /// Looks once, while nobody writes. A folder that is not there is an empty one.
    pub(crate) fn take(folder: &Path) -> Result<Self, LogError> {
        if !folder.try_exists().map_err(LogError::io(folder))? {
            let (folder, segments) = (folder.to_path_buf(), Vec::new());
            return Ok(Self { folder, segments, checkpoint: None, mark: KeptMark::Missing });
        }
        let path = folder.join("lock");
        // Without one nobody ever wrote here, or the folder is a copy.
        let lock = OpenOptions::new().read(true).open(&path).ok();
        if let Some(lock) = &lock {
            // Shared: those who read exclude the writer for a moment, and not each other.
            lock.lock_shared().map_err(LogError::io(&path))?;
        }
        let mut segments = Vec::new();
        for number in segment::numbers(folder)? {
            let path = segment::path(folder, number);
            segments.push((number, path.metadata().map_err(LogError::io(&path))?.len()));
        }
        let checkpoint = Checkpoint::read(folder)?;
        // What a crash kept from being removed.
        let begins = checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.statement.segment);
        segments.retain(|(number, _)| *number >= begins);
        let mark = Mark::read(folder)?;
        lock.iter().for_each(|lock: &File| drop(lock.unlock()));
        Ok(Self { folder: folder.to_path_buf(), segments, checkpoint, mark })
    }

    /// Whether there is no trace of a log.
    pub(crate) fn is_empty(&self) -> bool {
        self.segments.is_empty() && self.checkpoint.is_none() && matches!(self.mark, KeptMark::Missing)
    }

    /// Bytes of all segments.
    pub(crate) fn bytes(&self) -> u64 {
        self.segments.iter().map(|(_, bytes)| bytes).sum()
    }
}
