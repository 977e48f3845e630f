//! Files of vectors. A row is named by the content it was made from and never changes, so a file
//! that outlives or misses a commit does no harm: rows nobody asks for are ignored, missing ones
//! are made by the next run.
//!
//! Layout, little-endian: 16 bytes of head (magic, dimensions, rows), then rows of one f32 scale
//! and i8 values, then the content hash of each row as u64.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use tantivy::directory::{Directory, MmapDirectory, OwnedBytes};

use crate::error::{Result, folder};

const MAGIC: [u8; 4] = *b"FCV1";
const HEAD_BYTES: usize = 16;
const SCALE_BYTES: usize = 4;

/// A vector in small steps: its values are `scale` times whole numbers from -127 to 127.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quantized {
    pub(super) scale: f32,
    pub(super) values: Vec<i8>,
}

impl Quantized {
    pub(super) fn of(vector: &[f32]) -> Self {
        let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
        Self { scale, values: vector.iter().map(|value| (value / scale).round() as i8).collect() }
    }
}

/// One file, mapped into memory.
pub(super) struct Rows {
    bytes: OwnedBytes,
    dims: usize,
    len: usize,
}

impl Rows {
    /// Maps a file. `None` when it is not one, or not of these dimensions, or cut off.
    pub(super) fn open(directory: &MmapDirectory, name: &Path, dims: usize) -> Option<Self> {
        let bytes = directory.open_read(name).ok()?.read_bytes().ok()?;
        let head: [u8; HEAD_BYTES] = bytes.as_slice().get(..HEAD_BYTES)?.try_into().ok()?;
        let [_, d, low, high] = *head.as_chunks::<4>().0 else { return None };
        let len =
            usize::try_from(u64::from(u32::from_le_bytes(low)) | u64::from(u32::from_le_bytes(high)) << 32).ok()?;
        let size = len.checked_mul(SCALE_BYTES + dims + 8)?.checked_add(HEAD_BYTES)?;
        let is_ours = head.starts_with(&MAGIC) && u32::from_le_bytes(d) as usize == dims && bytes.len() == size;
        is_ours.then_some(Self { bytes, dims, len })
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The scale and the values of a row.
    pub(super) fn row(&self, at: usize) -> (f32, &[u8]) {
        let start = HEAD_BYTES + at * (SCALE_BYTES + self.dims);
        let (scale, values) = self.bytes[start..start + SCALE_BYTES + self.dims].split_at(SCALE_BYTES);
        (f32::from_le_bytes(scale.try_into().unwrap_or_default()), values)
    }

    /// The content hashes, in the order of the rows.
    pub(super) fn hashes(&self) -> impl Iterator<Item = u64> {
        let start = HEAD_BYTES + self.len * (SCALE_BYTES + self.dims);
        self.bytes[start..].as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes))
    }
}

/// A file being written. It gets its name only when it is whole.
pub(super) struct RowsWriter {
    file: BufWriter<File>,
    draft: PathBuf,
    dims: usize,
    hashes: Vec<u64>,
}

impl RowsWriter {
    pub(super) fn create(dir: &Path, dims: usize) -> Result<Self> {
        let draft = dir.join("draft");
        let file = File::create(&draft).map_err(folder(&draft))?;
        let mut writer = Self { file: BufWriter::new(file), draft, dims, hashes: Vec::new() };
        writer.write(&[0; HEAD_BYTES])?;
        Ok(writer)
    }

    pub(super) fn push(&mut self, hash: u64, scale: f32, values: &[u8]) -> Result<()> {
        self.write(&scale.to_le_bytes())?;
        self.write(values)?;
        self.hashes.push(hash);
        Ok(())
    }

    /// Completes the file under its name.
    pub(super) fn finish(mut self, name: &Path) -> Result<()> {
        use std::io::{Seek, SeekFrom};
        for hash in std::mem::take(&mut self.hashes.clone()) {
            self.write(&hash.to_le_bytes())?;
        }
        let mut head = Vec::from(MAGIC);
        head.extend((self.dims as u32).to_le_bytes());
        head.extend((self.hashes.len() as u64).to_le_bytes());
        self.file.seek(SeekFrom::Start(0)).map_err(folder(&self.draft))?;
        self.write(&head)?;
        self.file.flush().map_err(folder(&self.draft))?;
        self.file.get_ref().sync_all().map_err(folder(&self.draft))?;
        fs::rename(&self.draft, name).map_err(folder(name))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(folder(&self.draft))
    }
}

/// Values as the bytes that a file holds.
pub(super) fn as_bytes(values: &[i8]) -> Vec<u8> {
    values.iter().map(|value| *value as u8).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_and_cut_files_do_not_open() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = RowsWriter::create(dir.path(), 3).unwrap();
        let row = Quantized::of(&[0.5, -1.0, 0.0]);
        assert_eq!(row.values, [64, -127, 0]);
        writer.push(7, row.scale, &as_bytes(&row.values)).unwrap();
        writer.finish(&dir.path().join("1.vec")).unwrap();
        let open = |dims| Rows::open(&MmapDirectory::open(dir.path()).unwrap(), Path::new("1.vec"), dims);
        let rows = open(3).unwrap();
        assert_eq!((rows.len(), rows.row(0)), (1, (row.scale, &[64, 129, 0][..])));
        assert_eq!(rows.hashes().collect::<Vec<_>>(), [7]);
        drop(rows);
        assert!(open(4).is_none());
        let bytes = fs::read(dir.path().join("1.vec")).unwrap();
        fs::write(dir.path().join("1.vec"), &bytes[..bytes.len() - 1]).unwrap();
        assert!(open(3).is_none());
    }
}
