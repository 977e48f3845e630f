//! A file that is followed by the next one when it is full, and that is opened again when somebody moved it away, so
//! that programs which rotate logs need tell nobody.

use std::fs::{File, OpenOptions, metadata, rename};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often it is looked whether the file is still where it was, and lines are on their way to the disk.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Who may read the file: its owner, and the group.
const MODE: u32 = 0o640;

/// The file that is written now.
pub(super) struct LogFile {
    path: PathBuf,
    bytes_max: u64,
    kept: u32,
    open: BufWriter<File>,
    /// Bytes in it.
    bytes: u64,
    inode: u64,
    looked: Instant,
}

impl LogFile {
    pub(super) fn open(path: PathBuf, bytes_max: u64, kept: u32) -> io::Result<Self> {
        let (open, bytes, inode) = open(&path)?;
        Ok(Self { path, bytes_max, kept, open, bytes, inode, looked: Instant::now() })
    }

    fn reopen(&mut self) -> io::Result<()> {
        self.open.flush()?;
        (self.open, self.bytes, self.inode) = open(&self.path)?;
        Ok(())
    }

    /// Moves each file one further, the last one away, and begins anew.
    fn rotate(&mut self) -> io::Result<()> {
        self.open.flush()?;
        // From the oldest, since a rename replaces what has the new name.
        for number in (1..self.kept).rev() {
            let (from, to) = (numbered(&self.path, number), numbered(&self.path, number + 1));
            if from.exists() {
                rename(from, to)?;
            }
        }
        match self.kept {
            0 => std::fs::remove_file(&self.path)?,
            _ => rename(&self.path, numbered(&self.path, 1))?,
        }
        self.reopen()
    }

    /// Whether another file is at its place by now, or none.
    fn is_moved(&self) -> bool {
        metadata(&self.path).map_or(true, |now| now.ino() != self.inode)
    }
}

fn open(path: &Path) -> io::Result<(BufWriter<File>, u64, u64)> {
    let file = OpenOptions::new().create(true).append(true).mode(MODE).open(path)?;
    let about = file.metadata()?;
    Ok((BufWriter::new(file), about.len(), about.ino()))
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

impl Write for LogFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // Asking the disk for every line would cost more than writing it.
        let is_time = self.looked.elapsed() >= LOOK_EVERY;
        if is_time {
            self.looked = Instant::now();
            self.open.flush()?;
        }
        if is_time && self.is_moved() {
            self.reopen()?;
        }
        // A line that is larger than a file goes into one of its own, instead of turning files over forever.
        if self.bytes > 0 && self.bytes + line.len() as u64 > self.bytes_max {
            self.rotate()?;
        }
        self.open.write_all(line)?;
        self.bytes += line.len() as u64;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.open.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap_or_default()
    }

    #[test]
    fn a_full_file_is_followed_by_the_next_and_the_oldest_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("access.log");
        let mut log = LogFile::open(path.clone(), 10, 2).unwrap();
        for line in ["first\n", "one\n", "second\n", "third\n", "fourth\n"] {
            log.write_all(line.as_bytes()).unwrap();
        }
        log.flush().unwrap();
        // Ten bytes fit, and the eleventh does not.
        assert_eq!((text(&path), text(&numbered(&path, 1))), ("fourth\n".to_owned(), "third\n".to_owned()));
        assert_eq!(text(&numbered(&path, 2)), "second\n");
        assert!(!numbered(&path, 3).exists());
    }

    #[test]
    fn a_file_that_was_moved_away_is_begun_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("access.log");
        let mut log = LogFile::open(path.clone(), 1_000, 2).unwrap();
        log.write_all(b"before\n").unwrap();
        rename(&path, folder.path().join("moved")).unwrap();
        log.looked -= LOOK_EVERY;
        log.write_all(b"after\n").unwrap();
        log.flush().unwrap();
        assert_eq!((text(&path), text(&folder.path().join("moved"))), ("after\n".to_owned(), "before\n".to_owned()));
    }

    #[test]
    fn what_was_written_before_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("access.log");
        for _ in 0..2 {
            LogFile::open(path.clone(), 1_000, 2).unwrap().write_all(b"line\n").unwrap();
        }
        assert_eq!(text(&path), "line\nline\n");
    }
}
