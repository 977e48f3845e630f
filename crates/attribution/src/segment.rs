//! Segments: files that are only ever added to, each of which begins with the last hash of the one before it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use forecourt_core::Timestamp;
use serde::{Deserialize, Serialize};

use crate::digest::Hash;
use crate::error::LogError;
use crate::frame::{Frame, FrameError, FrameKind, HEAD_BYTES, body_length};

/// The number of the first segment.
pub(crate) const FIRST_NUMBER: u64 = 1;
/// The version of the form of segments.
const VERSION: u32 = 1;

/// What a segment says of itself in its first frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SegmentHeader {
    pub version: u32,
    pub segment: u64,
    pub created_at: Timestamp,
}

/// What a segment says of itself in its last frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SegmentSeal {
    pub segment: u64,
    pub records: u64,
    pub sealed_at: Timestamp,
}

/// The file of a segment.
pub(crate) fn path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("segment-{number:010}.log"))
}

/// The numbers of the segments in a folder, in order.
pub(crate) fn numbers(folder: &Path) -> Result<Vec<u64>, LogError> {
    let wrong = || LogError::io(folder);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(wrong())? {
        let name = entry.map_err(wrong())?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("segment-")?.strip_suffix(".log"));
        found.extend(number.and_then(|digits| digits.parse::<u64>().ok()));
    }
    found.sort_unstable();
    Ok(found)
}

/// Makes a segment with its header: whole, or not at all. Gives the file and what stands in it.
pub(crate) fn create(
    folder: &Path,
    number: u64,
    link: Hash,
    created_at: Timestamp,
) -> Result<(File, Vec<u8>), LogError> {
    let header = SegmentHeader { version: VERSION, segment: number, created_at };
    // A struct of numbers and texts is always written.
    let body = serde_json::to_vec(&header).unwrap_or_default();
    let mut bytes = Vec::new();
    Frame { kind: FrameKind::Header, link, agent: [0; 32], body: &body }.write(&mut bytes);
    let path = path(folder, number);
    replace(&path, &bytes)?;
    let file = OpenOptions::new().read(true).write(true).open(&path).map_err(LogError::io(&path))?;
    Ok((file, bytes))
}

/// Writes a file whole, in place of what was there, and syncs it and its folder.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), LogError> {
    let beside = path.with_extension("new");
    write_synced(&beside, bytes)?;
    fs::rename(&beside, path).map_err(LogError::io(path))?;
    path.parent().map_or(Ok(()), sync_folder)
}

/// Writes a file whole, and brings it to the disk.
pub(crate) fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), LogError> {
    let write = || -> io::Result<()> {
        let mut file = File::create(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(LogError::io(path))
}

/// Brings to the disk which files a folder has.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), LogError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(LogError::io(folder))
}

/// A frame that was read out of a file.
pub(crate) struct ReadFrame<'a> {
    pub frame: Frame<'a>,
    pub offset: u64,
}

/// Why the frames of a file can't be read on.
#[derive(Debug)]
pub(crate) enum SegmentError {
    /// The last one is not whole: a write that was cut off.
    Cut,
    /// Bytes that are no frame.
    Frame(FrameError),
    Io(io::Error),
}

/// Frames out of a file, one after the other, in the memory of one.
pub(crate) struct FrameReader<R> {
    input: R,
    /// Where the next frame begins.
    pub offset: u64,
    /// Where reading ends.
    end: u64,
    buffer: Vec<u8>,
}

impl<R: Read> FrameReader<R> {
    /// Reads the frames between two places; `input` is at the first one.
    pub(crate) fn new(input: R, offset: u64, end: u64) -> Self {
        Self { input, offset, end, buffer: Vec::new() }
    }

    /// The next frame; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<ReadFrame<'_>>, SegmentError> {
        let left = self.end.saturating_sub(self.offset);
        if left == 0 {
            return Ok(None);
        }
        if left < HEAD_BYTES as u64 {
            return Err(SegmentError::Cut);
        }
        self.buffer.resize(HEAD_BYTES, 0);
        self.input.read_exact(&mut self.buffer).map_err(SegmentError::of)?;
        let length = body_length(&self.buffer).map_err(SegmentError::Frame)?;
        if left < (HEAD_BYTES + length) as u64 {
            return Err(SegmentError::Cut);
        }
        self.buffer.resize(HEAD_BYTES + length, 0);
        self.input.read_exact(&mut self.buffer[HEAD_BYTES..]).map_err(SegmentError::of)?;
        let offset = self.offset;
        match Frame::read(&self.buffer).map_err(SegmentError::Frame)? {
            Some((frame, bytes)) => {
                self.offset += bytes as u64;
                Ok(Some(ReadFrame { frame, offset }))
            }
            None => Err(SegmentError::Cut),
        }
    }
    /// Goes on behind the frame that could not be read, as far as its length can be believed.
    pub(crate) fn skip(&mut self) -> bool {
        match body_length(&self.buffer) {
            // Only when the whole frame was read: a length that was changed leads anywhere.
            Ok(length) if self.buffer.len() == HEAD_BYTES + length => {
                self.offset += self.buffer.len() as u64;
                true
            }
            _ => false,
        }
    }
}

impl SegmentError {
    fn of(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::UnexpectedEof { Self::Cut } else { Self::Io(error) }
    }
}

impl std::fmt::Display for SegmentError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Cut => f.write_str("the last entry is not whole"),
            Self::Frame(fault) => fault.fmt(f),
            Self::Io(error) => error.fmt(f),
        }
    }
}
