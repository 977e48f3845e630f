//! Where things are in a segment: records by Audit-ID, the last record of each agent, its events. Of the open segment
//! in memory; of each sealed one in a file beside it, which is made anew from the segment when it is not there or
//! damaged.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::digest::Hash;
use crate::error::LogError;
use crate::frame::{Frame, array};
use crate::segment::{self, FrameReader};

const MAGIC: &[u8; 8] = b"FCRIDX01";
/// Bytes of an Audit-ID that are kept; what is found is compared whole.
const PREFIX: usize = 16;
/// Magic, three counts, and the checksum of all but the records: what is found of those is compared with its name.
const HEAD: usize = 8 + 3 * 4 + 4;
const AGENT: usize = 32 + 32 + 4;
const EVENT: usize = 32 + 4;
const RECORD: usize = PREFIX + 4;

/// The last record of an agent in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    /// Its Audit-ID.
    pub audit_id: Hash,
    /// Its segment; 0 when it is kept no more.
    pub segment: u64,
    /// Where it is in there.
    pub offset: u32,
}

/// What is in one segment.
#[derive(Debug, Default)]
pub(crate) struct SegmentIndex {
    records: HashMap<[u8; PREFIX], u32>,
    pub heads: HashMap<Hash, Head>,
    events: Vec<(Hash, u32)>,
}

impl SegmentIndex {
    /// Adds a frame, whose digest is known.
    pub(crate) fn add(&mut self, frame: &Frame<'_>, digest: &Hash, segment: u64, offset: u32) {
        if !frame.kind.is_signed() {
            return;
        }
        // Half a hash, to keep nine million of them small; whoever finds one compares the record's whole hash.
        self.records.insert(array(digest), offset);
        if frame.agent != [0; 32] {
            self.heads.insert(frame.agent, Head { audit_id: *digest, segment, offset });
        }
        if frame.kind == crate::frame::FrameKind::Event {
            self.events.push((frame.agent, offset));
        }
    }

    /// Where the record may be that is called so.
    pub(crate) fn find(&self, audit_id: &Hash) -> Option<u32> {
        self.records.get(&array::<PREFIX>(audit_id)).copied()
    }

    /// Where the events of an agent are, the oldest first.
    pub(crate) fn events(&self, agent: &Hash) -> Vec<u32> {
        self.events.iter().filter(|(of, _)| of == agent).map(|(_, offset)| *offset).collect()
    }

    /// The index of a segment, from its frames.
    fn scan(folder: &Path, number: u64) -> Result<Self, LogError> {
        let path = segment::path(folder, number);
        let file = File::open(&path).map_err(LogError::io(&path))?;
        let end = file.metadata().map_err(LogError::io(&path))?.len();
        let mut reader = FrameReader::new(BufReader::new(file), 0, end);
        let mut index = Self::default();
        loop {
            let at = reader.offset;
            match reader.next() {
                Ok(Some(read)) => index.add(&read.frame, &read.frame.digest(), number, read.offset as u32),
                Ok(None) => return Ok(index),
                Err(fault) => return Err(LogError::damaged(&path, at, fault)),
            }
        }
    }

    /// Writes it beside its segment.
    pub(crate) fn write(&self, folder: &Path, number: u64) -> Result<(), LogError> {
        let mut small = Vec::with_capacity(self.heads.len() * AGENT + self.events.len() * EVENT);
        let mut heads: Vec<_> = self.heads.iter().collect();
        // Sorted, since it is searched by halves where it lies.
        heads.sort_unstable_by_key(|(agent, _)| **agent);
        for (agent, head) in heads {
            small.extend_from_slice(agent);
            small.extend_from_slice(&head.audit_id);
            small.extend_from_slice(&head.offset.to_le_bytes());
        }
        for (agent, offset) in &self.events {
            small.extend_from_slice(agent);
            small.extend_from_slice(&offset.to_le_bytes());
        }
        let mut records: Vec<_> = self.records.iter().collect();
        records.sort_unstable();
        let mut large = Vec::with_capacity(records.len() * RECORD);
        for (prefix, offset) in &records {
            large.extend_from_slice(*prefix);
            large.extend_from_slice(&offset.to_le_bytes());
        }
        let mut bytes = MAGIC.to_vec();
        for count in [self.heads.len(), self.events.len(), records.len()] {
            bytes.extend_from_slice(&(count as u32).to_le_bytes());
        }
        let small_sum = sum(&[&bytes, &small]);
        bytes.extend_from_slice(&small_sum.to_le_bytes());
        bytes.extend_from_slice(&small);
        bytes.extend_from_slice(&large);
        segment::replace(&path(folder, number), &bytes)
    }
}

/// The file of the index of a segment.
pub(crate) fn path(folder: &Path, number: u64) -> PathBuf {
    segment::path(folder, number).with_extension("idx")
}

/// Removes a segment and its index.
pub(crate) fn remove(folder: &Path, number: u64) -> Result<(), LogError> {
    // The index first: a start finds what a crash left by the segments, and an index alone would stay for good.
    for path in [path(folder, number), segment::path(folder, number)] {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(LogError::io(&path)(error)),
            _ => {}
        }
    }
    Ok(())
}

/// The index of a sealed segment, in its file.
pub(crate) struct SealedIndex {
    number: u64,
    file: File,
    heads: usize,
    events: usize,
    records: usize,
    small: Vec<u8>,
}

impl SealedIndex {
    /// Opens it; makes it first when it is not there, or is not what was written.
    pub(crate) fn open(folder: &Path, number: u64) -> Result<Self, LogError> {
        if let Some(index) = Self::read(folder, number) {
            return Ok(index);
        }
        tracing::info!(segment = number, "the index of a segment of records is built again");
        SegmentIndex::scan(folder, number)?.write(folder, number)?;
        let path = path(folder, number);
        Self::read(folder, number).ok_or_else(|| LogError::damaged(&path, 0, "the index can't be read back"))
    }

    fn read(folder: &Path, number: u64) -> Option<Self> {
        let file = File::open(path(folder, number)).ok()?;
        let mut head = [0; HEAD];
        file.read_exact_at(&mut head, 0).ok()?;
        let number_at = |at: usize| u32::from_le_bytes(array(&head[at..at + 4]));
        let (heads, events, records) = (number_at(8) as usize, number_at(12) as usize, number_at(16) as usize);
        let small_bytes = heads * AGENT + events * EVENT;
        let whole = (HEAD + small_bytes + records * RECORD) as u64;
        // The length first, so that counts of a damaged file are never allocated.
        if &head[..8] != MAGIC || file.metadata().ok()?.len() != whole {
            return None;
        }
        let mut small = vec![0; small_bytes];
        file.read_exact_at(&mut small, HEAD as u64).ok()?;
        let holds = sum(&[&head[..20], &small]) == number_at(20);
        holds.then_some(Self { number, file, heads, events, records, small })
    }

    /// The last record of an agent in the segment.
    pub(crate) fn head(&self, agent: &Hash) -> Option<Head> {
        let entry = |at: usize| &self.small[at * AGENT..(at + 1) * AGENT];
        let (mut low, mut high) = (0, self.heads);
        while low < high {
            let middle = (low + high) / 2;
            let found = entry(middle);
            match found[..32].cmp(agent) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(self.read_head(found)),
            }
        }
        None
    }

    fn read_head(&self, entry: &[u8]) -> Head {
        let offset = u32::from_le_bytes(array(&entry[64..68]));
        Head { audit_id: array(&entry[32..64]), segment: self.number, offset }
    }

    /// The last record of each agent in the segment.
    pub(crate) fn heads(&self) -> impl Iterator<Item = (Hash, Head)> {
        self.small[..self.heads * AGENT].chunks_exact(AGENT).map(|entry| (array(&entry[..32]), self.read_head(entry)))
    }

    /// Where the events of an agent are, the oldest first.
    pub(crate) fn events(&self, agent: &Hash) -> Vec<u32> {
        let entries = self.small[self.heads * AGENT..].chunks_exact(EVENT);
        let own = entries.filter(|entry| entry[..32] == agent[..]);
        own.map(|entry| u32::from_le_bytes(array(&entry[32..]))).collect()
    }

    /// Where the record may be that is called so.
    pub(crate) fn find(&self, audit_id: &Hash) -> Option<u32> {
        let start = (HEAD + self.heads * AGENT + self.events * EVENT) as u64;
        let wanted = &audit_id[..PREFIX];
        let (mut low, mut high) = (0, self.records);
        while low < high {
            let middle = (low + high) / 2;
            let mut entry = [0; RECORD];
            self.file.read_exact_at(&mut entry, start + (middle * RECORD) as u64).ok()?;
            match entry[..PREFIX].cmp(wanted) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(u32::from_le_bytes(array(&entry[PREFIX..]))),
            }
        }
        None
    }
}

fn sum(parts: &[&[u8]]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    parts.iter().for_each(|part| sum.update(part));
    sum.finalize()
}
