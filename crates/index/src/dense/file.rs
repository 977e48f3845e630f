//! Files of vectors. A row is named by the content it was made from and never changes, so a file
//! that outlives or misses a commit does no harm: rows nobody asks for are ignored, missing ones
//! are made by the next run.
//!
//! Layout, little-endian: a head of 36 bytes (magic, dimensions, rows, links of a row, effort of a search,
//! trials, silent contents, and the CRC-32 of all that follows the head, then of the head before it); the rows,
//! each an f32 scale and i8 values; the content hash of each row as u64; the hashes of silent contents, of which
//! the model knows nothing; the trials, as rows; the links of each row, as u32 with [`NONE`] in places that are
//! left over. A small file has no links.

use std::path::{Path, PathBuf};

use tantivy::directory::{Directory, MmapDirectory, OwnedBytes};

use super::links::Links;
use super::quantized::{Row, SCALE_BYTES};

/// Raised with the layout: a file of another layout counts as damaged and is made again.
pub(super) const MAGIC: [u8; 4] = *b"FCV4";
pub(super) const HEAD_BYTES: usize = 36;
/// Bytes of the head before the checksum.
const CHECKED_HEAD_BYTES: usize = HEAD_BYTES - 4;
const HASH_BYTES: usize = 8;
const LINK_BYTES: usize = 4;
/// In the place of a link: none, and none behind it.
pub(super) const NONE: u32 = u32::MAX;

/// One file, mapped into memory.
pub(super) struct Rows {
    pub(super) name: PathBuf,
    bytes: OwnedBytes,
    head: Head,
}

/// The first bytes of a file: how many of everything follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Head {
    pub(super) dims: usize,
    pub(super) rows: usize,
    /// Places for links that each row has. None in a small file.
    pub(super) links: usize,
    /// How much of the graph a search looks at to find nearly all of what is nearest.
    pub(super) effort: usize,
    /// Short texts like questions, on which `effort` was measured.
    pub(super) trials: usize,
    /// Contents that have no vector, and need not be embedded again.
    pub(super) silent: usize,
}

impl Head {
    /// The head of a file, of which `body` is what follows it.
    pub(super) fn to_bytes(self, body: crc32fast::Hasher) -> Vec<u8> {
        let mut bytes = Vec::from(MAGIC);
        bytes.extend((self.dims as u32).to_le_bytes());
        bytes.extend((self.rows as u64).to_le_bytes());
        bytes.extend((self.links as u32).to_le_bytes());
        bytes.extend((self.effort as u32).to_le_bytes());
        bytes.extend((self.trials as u32).to_le_bytes());
        bytes.extend((self.silent as u32).to_le_bytes());
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
            links: word(4) as usize,
            effort: word(5) as usize,
            trials: word(6) as usize,
            silent: word(7) as usize,
        };
        (words[0] == MAGIC).then_some(head)
    }

    fn row_bytes(&self) -> usize {
        SCALE_BYTES + self.dims
    }

    fn hashes_start(&self) -> usize {
        HEAD_BYTES + self.rows * self.row_bytes()
    }

    fn silent_start(&self) -> usize {
        self.hashes_start() + self.rows * HASH_BYTES
    }

    fn trials_start(&self) -> usize {
        self.silent_start() + self.silent * HASH_BYTES
    }

    fn links_start(&self) -> usize {
        self.trials_start() + self.trials * self.row_bytes()
    }

    /// The size of the whole file, if there can be such a file.
    fn file_bytes(&self) -> Option<usize> {
        // The head of a damaged file may hold any numbers.
        let rows = self.rows.checked_mul(self.dims.checked_add(SCALE_BYTES + HASH_BYTES)?)?;
        let links = self.rows.checked_mul(self.links.checked_mul(LINK_BYTES)?)?;
        let trials = self.trials.checked_mul(self.dims.checked_add(SCALE_BYTES)?)?;
        let silent = self.silent.checked_mul(HASH_BYTES)?;
        rows.checked_add(links)?.checked_add(silent)?.checked_add(trials)?.checked_add(HEAD_BYTES)
    }
}

fn hashes_in(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes))
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
        // All slices below rely on this: a file that is cut off, or whose head lies, is none.
        (head.file_bytes()? == bytes.len()).then_some(Self { name, bytes, head })
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

    pub(super) fn row(&self, at: usize) -> Row<'_> {
        Row::read(self.bytes(at))
    }

    /// The scale and the values of a row, as they are written.
    pub(super) fn bytes(&self, at: usize) -> &[u8] {
        self.row_bytes(HEAD_BYTES + at * self.head.row_bytes())
    }

    /// The content hashes, in the order of the rows.
    pub(super) fn hashes(&self) -> impl Iterator<Item = u64> {
        hashes_in(&self.bytes[self.head.hashes_start()..self.head.silent_start()])
    }

    /// The hashes of contents that have no vector.
    pub(super) fn silent(&self) -> impl Iterator<Item = u64> {
        hashes_in(&self.bytes[self.head.silent_start()..self.head.trials_start()])
    }

    /// Whether the rows are joined. Those of a small file are not.
    pub(super) fn has_graph(&self) -> bool {
        self.head.links > 0
    }

    /// How much of the graph a search has to look at.
    pub(super) fn effort(&self) -> usize {
        self.head.effort
    }

    /// Short texts, each as a row.
    pub(super) fn trials(&self) -> impl Iterator<Item = Row<'_>> {
        let trials = &self.bytes[self.head.trials_start()..self.head.links_start()];
        trials.chunks_exact(self.head.row_bytes()).map(Row::read)
    }

    fn row_bytes(&self, start: usize) -> &[u8] {
        &self.bytes[start..start + self.head.row_bytes()]
    }
}

impl Links for Rows {
    /// A link that leads out of the file, which no file of ours has, is none.
    fn of(&self, row: u32) -> impl Iterator<Item = u32> {
        let length = self.head.links * LINK_BYTES;
        let start = self.head.links_start() + row as usize * length;
        let links = self.bytes[start..start + length].as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        links.take_while(|to| *to != NONE).filter(|to| (*to as usize) < self.head.rows)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::dense::graph::Walk;
    use crate::dense::quantized::QuantizedVector;

    /// Goes to every place that a reader can be asked for.
    fn read_all(bytes: Vec<u8>) -> bool {
        let Some(rows) = Rows::read(PathBuf::new(), OwnedBytes::new(bytes)) else { return false };
        let dims = rows.head.dims;
        assert!((0..rows.len()).all(|at| rows.row(at).values.len() == dims));
        assert_eq!(rows.hashes().count(), rows.len());
        assert!((0..rows.len() as u32).all(|row| rows.of(row).all(|to| (to as usize) < rows.len())));
        let question = QuantizedVector::of(&vec![1.0; dims]);
        assert!(Walk::through(rows.len()).closest((&rows, rows.len()), &rows, &question, 3, |_| true).len() <= 3);
        assert_eq!((rows.trials().count(), rows.silent().count()), (rows.head.trials, rows.head.silent));
        true
    }

    fn file(head: Head, links: &[u32]) -> Vec<u8> {
        let mut body = vec![7; head.links_start() - HEAD_BYTES];
        links.iter().for_each(|to| body.extend(to.to_le_bytes()));
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&body);
        [head.to_bytes(hasher), body].concat()
    }

    #[test]
    fn any_other_bit_is_noticed() {
        let bytes = file(Head { dims: 3, rows: 2, links: 1, effort: 1, trials: 1, silent: 1 }, &[1, 0]);
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
    fn links_end_at_the_first_place_that_is_left_over_and_lead_nowhere_else() {
        let head = Head { dims: 3, rows: 2, links: 3, effort: 1, trials: 2, silent: 1 };
        let bytes = file(head, &[1, NONE, 1, 2, 0, NONE - 1]);
        assert!(read_all(bytes.clone()));
        let rows = Rows::read(PathBuf::new(), OwnedBytes::new(bytes)).unwrap();
        assert_eq!((rows.of(0).collect::<Vec<_>>(), rows.of(1).collect::<Vec<_>>()), (vec![1], vec![0]));
    }

    #[test]
    fn a_file_that_promises_too_much_does_not_open() {
        for head in [
            Head { rows: usize::MAX, dims: 256, ..Head::default() },
            Head { rows: usize::MAX / 300, dims: 256, links: 9, ..Head::default() },
            Head {
                rows: 1,
                dims: u32::MAX as usize,
                links: u32::MAX as usize,
                trials: u32::MAX as usize,
                ..Head::default()
            },
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
            dims in 0_usize..5, rows in 0_usize..9, links in 0_usize..4, trials in 0_usize..3, silent in 0_usize..3, at in any::<usize>(), byte in any::<u8>(),
            cut in 0_usize..3,
        ) {
            let mut bytes = file(Head { dims, rows, links, effort: 1, trials, silent }, &vec![rows as u32 / 2; rows * links]);
            prop_assert!(read_all(bytes.clone()));
            let place = at % bytes.len();
            bytes[place] = byte;
            bytes.truncate(bytes.len() - cut);
            read_all(bytes);
        }
    }
}
