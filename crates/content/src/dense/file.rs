//! Files of vectors. A row is named by the content it was made from and never changes, so a file
//! that outlives or misses a commit does no harm: rows nobody asks for are ignored, missing ones
//! are made by the next run.
//!
//! Layout, little-endian: a head of 32 bytes (magic, dimensions, rows, lists, lists to look into,
//! trials, and the CRC-32 of all that follows the head, then of the head before it); the rows, each an f32 scale and i8 values; the content hash of each row as u64; the
//! centres of the lists, then the trials, as rows; where each list ends, as u32. The rows of a list
//! lie side by side. A small file has no lists.

use std::ops::Range;
use std::path::{Path, PathBuf};

use tantivy::directory::{Directory, MmapDirectory, OwnedBytes};

use super::quantized::{Row, SCALE_BYTES};

pub(super) const MAGIC: [u8; 4] = *b"FCV3";
pub(super) const HEAD_BYTES: usize = 32;
/// Bytes of the head before the checksum.
const CHECKED_HEAD_BYTES: usize = HEAD_BYTES - 4;
const HASH_BYTES: usize = 8;
const END_BYTES: usize = 4;

/// One file, mapped into memory.
pub(super) struct Rows {
    pub(super) name: PathBuf,
    bytes: OwnedBytes,
    head: Head,
}

/// What a file says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Head {
    pub(super) dims: usize,
    pub(super) rows: usize,
    pub(super) lists: usize,
    /// How many lists, the closest first, have nearly all of what is nearest.
    pub(super) probes: usize,
    /// Short texts like questions, on which `probes` was measured.
    pub(super) trials: usize,
}

impl Head {
    /// The head of a file, of which `body` is what follows it.
    pub(super) fn to_bytes(self, body: crc32fast::Hasher) -> Vec<u8> {
        let mut bytes = Vec::from(MAGIC);
        bytes.extend((self.dims as u32).to_le_bytes());
        bytes.extend((self.rows as u64).to_le_bytes());
        bytes.extend((self.lists as u32).to_le_bytes());
        bytes.extend((self.probes as u32).to_le_bytes());
        bytes.extend((self.trials as u32).to_le_bytes());
        let checksum = checksum(body, &bytes);
        bytes.extend(checksum.to_le_bytes());
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let words: &[[u8; 4]; HEAD_BYTES / 4] = bytes.get(..HEAD_BYTES)?.as_chunks().0.try_into().ok()?;
        let word = |at: usize| u32::from_le_bytes(words[at]);
        let rows = u64::from(word(2)) | u64::from(word(3)) << 32;
        let head = Self {
            dims: word(1) as usize,
            rows: rows.try_into().ok()?,
            lists: word(4) as usize,
            probes: word(5) as usize,
            trials: word(6) as usize,
        };
        (words[0] == MAGIC).then_some(head)
    }

    fn row_bytes(&self) -> usize {
        SCALE_BYTES + self.dims
    }

    fn hashes_start(&self) -> usize {
        HEAD_BYTES + self.rows * self.row_bytes()
    }

    fn centres_start(&self) -> usize {
        self.hashes_start() + self.rows * HASH_BYTES
    }

    fn trials_start(&self) -> usize {
        self.centres_start() + self.lists * self.row_bytes()
    }

    fn ends_start(&self) -> usize {
        self.trials_start() + self.trials * self.row_bytes()
    }

    /// The size of the whole file, if there can be such a file.
    fn file_bytes(&self) -> Option<usize> {
        let rows = self.rows.checked_mul(self.dims.checked_add(SCALE_BYTES + HASH_BYTES)?)?;
        let lists = self.lists.checked_mul(self.dims.checked_add(SCALE_BYTES + END_BYTES)?)?;
        let trials = self.trials.checked_mul(self.dims.checked_add(SCALE_BYTES)?)?;
        rows.checked_add(lists)?.checked_add(trials)?.checked_add(HEAD_BYTES)
    }
}

/// The checksum of a file: of what follows the head, then of the head before the checksum.
fn checksum(mut body: crc32fast::Hasher, head: &[u8]) -> u32 {
    body.update(head);
    body.finalize()
}

impl Rows {
    /// Maps a file. `None` when it is not one, or not of these dimensions, or cut off.
    pub(super) fn open(directory: &MmapDirectory, name: &Path, dims: usize) -> Option<Self> {
        let bytes = directory.open_read(name).ok()?.read_bytes().ok()?;
        Self::read(name.to_owned(), bytes).filter(|rows| rows.head.dims == dims)
    }

    fn read(name: PathBuf, bytes: OwnedBytes) -> Option<Self> {
        let head = Head::read(&bytes)?;
        let rows = (head.file_bytes()? == bytes.len()).then_some(Self { name, bytes, head })?;
        let ends = (0..head.lists).map(|list| rows.end(list));
        let covers = head.lists == 0 || rows.end(head.lists - 1) == head.rows;
        (covers && ends.is_sorted()).then_some(rows)
    }

    /// Whether the file is as it was written. Reads all of it.
    pub(super) fn is_whole(&self) -> bool {
        let (head, body) = self.bytes.split_at(HEAD_BYTES);
        let (head, written) = head.split_at(CHECKED_HEAD_BYTES);
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(body);
        checksum(hasher, head).to_le_bytes() == written
    }

    pub(super) fn len(&self) -> usize {
        self.head.rows
    }

    pub(super) fn dims(&self) -> usize {
        self.head.dims
    }

    pub(super) fn row(&self, at: usize) -> Row<'_> {
        Row::read(self.bytes(at))
    }

    /// The scale and the values of a row, as they are written.
    pub(super) fn bytes(&self, at: usize) -> &[u8] {
        self.row_bytes(HEAD_BYTES + at * self.head.row_bytes())
    }

    /// The content hashes, in the order of the rows.
    pub(super) fn hashes(&self) -> impl Iterator<Item = u64> {
        let hashes = &self.bytes[self.head.hashes_start()..self.head.centres_start()];
        hashes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// How many lists the rows are in. None in a small file.
    pub(super) fn lists(&self) -> usize {
        self.head.lists
    }

    /// How many lists have to be looked into.
    pub(super) fn probes(&self) -> usize {
        self.head.probes
    }

    /// The middle of a list.
    pub(super) fn centre(&self, list: usize) -> Row<'_> {
        Row::read(self.row_bytes(self.head.centres_start() + list * self.head.row_bytes()))
    }

    /// Short texts, each as a row.
    pub(super) fn trials(&self) -> impl Iterator<Item = Row<'_>> {
        let trials = &self.bytes[self.head.trials_start()..self.head.ends_start()];
        trials.chunks_exact(self.head.row_bytes()).map(Row::read)
    }

    /// The rows of a list.
    pub(super) fn list(&self, list: usize) -> Range<usize> {
        let start = list.checked_sub(1).map_or(0, |before| self.end(before));
        start..self.end(list)
    }

    fn row_bytes(&self, start: usize) -> &[u8] {
        &self.bytes[start..start + self.head.row_bytes()]
    }

    fn end(&self, list: usize) -> usize {
        let start = self.head.ends_start() + list * END_BYTES;
        let bytes: [u8; END_BYTES] = self.bytes[start..start + END_BYTES].try_into().unwrap_or_default();
        u32::from_le_bytes(bytes) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Goes to every place that a reader can be asked for.
    fn read_all(bytes: Vec<u8>) -> bool {
        let Some(rows) = Rows::read(PathBuf::new(), OwnedBytes::new(bytes)) else { return false };
        let dims = rows.head.dims;
        assert!((0..rows.len()).all(|at| rows.row(at).values.len() == dims));
        assert_eq!(rows.hashes().count(), rows.len());
        assert!((0..rows.lists()).all(|list| rows.centre(list).values.len() == dims));
        let listed: usize = (0..rows.lists()).map(|list| rows.list(list).len()).sum();
        assert!(rows.lists() == 0 || listed == rows.len());
        assert_eq!(rows.trials().count(), rows.head.trials);
        true
    }

    fn file(head: Head, ends: &[u32]) -> Vec<u8> {
        let mut body = vec![7; head.ends_start() - HEAD_BYTES];
        ends.iter().for_each(|end| body.extend(end.to_le_bytes()));
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&body);
        [head.to_bytes(hasher), body].concat()
    }

    #[test]
    fn any_other_bit_is_noticed() {
        let bytes = file(Head { dims: 3, rows: 2, lists: 1, probes: 1, trials: 1 }, &[2]);
        let is_whole =
            |bytes: Vec<u8>| Rows::read(PathBuf::new(), OwnedBytes::new(bytes)).is_some_and(|rows| rows.is_whole());
        assert!(is_whole(bytes.clone()));
        for at in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[at / 8] ^= 1 << (at % 8);
            assert!(!is_whole(bytes), "bit {at}");
        }
    }

    #[test]
    fn lists_cover_the_rows_in_their_order() {
        let head = Head { dims: 3, rows: 5, lists: 3, probes: 1, trials: 2 };
        assert!(read_all(file(head, &[2, 2, 5])));
        for ends in [[2, 1, 5], [2, 2, 4], [2, 6, 6], [6, 2, 5]] {
            assert!(!read_all(file(head, &ends)), "{ends:?}");
        }
    }

    #[test]
    fn a_file_that_promises_too_much_does_not_open() {
        for head in [
            Head { rows: usize::MAX, dims: 256, ..Head::default() },
            Head { rows: usize::MAX / 300, dims: 256, lists: 9, ..Head::default() },
            Head { rows: 1, dims: u32::MAX as usize, lists: u32::MAX as usize, probes: 1, trials: u32::MAX as usize },
        ] {
            assert!(!read_all(head.to_bytes(crc32fast::Hasher::new())));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            read_all(bytes);
        }

        #[test]
        fn a_broken_file_is_read_within_its_bounds_or_refused(
            dims in 0_usize..5, rows in 0_usize..9, lists in 0_usize..4, trials in 0_usize..3, at in any::<usize>(), byte in any::<u8>(),
            cut in 0_usize..3,
        ) {
            let mut bytes = file(Head { dims, rows, lists, probes: 1, trials }, &vec![rows as u32; lists]);
            prop_assert!(read_all(bytes.clone()));
            let place = at % bytes.len();
            bytes[place] = byte;
            bytes.truncate(bytes.len() - cut);
            read_all(bytes);
        }
    }
}
