//! The segment that is added to, as one process knows it.

use std::fs::{File, OpenOptions};
use std::path::Path;

use forecourt_core::Timestamp;

use crate::digest::Hash;
use crate::error::LogError;
use crate::frame::{Frame, FrameKind};
use crate::index::SegmentIndex;
use crate::segment::{self, FrameReader};

/// The segment that is added to.
pub(crate) struct OpenSegment {
    pub(crate) number: u64,
    pub(crate) file: File,
    /// Where the next frame goes.
    pub(crate) end: u64,
    /// What the next frame carries.
    pub(crate) link: Hash,
    pub(crate) index: SegmentIndex,
    /// Records and events in it.
    pub(crate) records: u64,
    /// Whether nothing may follow any more.
    pub(crate) is_sealed: bool,
}

impl OpenSegment {
    /// Makes a segment with its header.
    pub(crate) fn make(folder: &Path, number: u64, link: Hash, now: Timestamp) -> Result<Self, LogError> {
        let (file, bytes) = segment::create(folder, number, link, now)?;
        let mut open = Self::of(number, file, link);
        if let Ok(Some((frame, _))) = Frame::read(&bytes) {
            open.take(&frame, &frame.digest())?;
        }
        Ok(open)
    }

    /// A segment that is there, of which nothing was read but what its first frame carries.
    pub(crate) fn at(folder: &Path, number: u64) -> Result<Self, LogError> {
        let path = segment::path(folder, number);
        let file = OpenOptions::new().read(true).write(true).open(&path).map_err(LogError::io(&path))?;
        Ok(Self::of(number, file, first_link(folder, number)?))
    }

    fn of(number: u64, file: File, link: Hash) -> Self {
        Self { number, file, end: 0, link, index: SegmentIndex::default(), records: 0, is_sealed: false }
    }

    /// Adds the frame that stands at the end, and moves the end behind it.
    pub(crate) fn take(&mut self, frame: &Frame<'_>, digest: &Hash) -> Result<(), LogError> {
        self.index.add(frame, digest, self.number, self.end as u32);
        self.link = frame.next_link(digest);
        self.end += frame.bytes() as u64;
        self.records += u64::from(frame.kind.is_signed());
        self.is_sealed = frame.kind == FrameKind::Seal;
        Ok(())
    }
}

/// What the first frame of a segment carries.
pub(crate) fn first_link(folder: &Path, number: u64) -> Result<Hash, LogError> {
    let path = segment::path(folder, number);
    let file = File::open(&path).map_err(LogError::io(&path))?;
    let end = file.metadata().map_err(LogError::io(&path))?.len();
    match FrameReader::new(file, 0, end).next() {
        Ok(Some(read)) if read.frame.kind == FrameKind::Header => Ok(read.frame.link),
        Ok(_) => Err(LogError::damaged(&path, 0, "the segment has no header")),
        Err(fault) => Err(LogError::damaged(&path, 0, fault)),
    }
}
