//! Copies of the head of a log at a second place, which whoever sets the data folder back does not set back with it:
//! store and records lie there together.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::future::BoxFuture;

use crate::checkpoint::{Mark, unverified};
use crate::verify::HeadWitness;

/// How often a head is copied while records are written. The start and the end of a server copy one, too.
pub(crate) const COPY_EVERY: Duration = Duration::from_secs(60);
/// Bytes at the end of a file that are looked through for the last head.
const TAIL_BYTES_MAX: u64 = 1024 * 1024;
/// The second place, in errors of a start.
pub(crate) const COPY: &str = "the head copy";

/// A second place for heads.
pub trait HeadCopy: Send + Sync {
    /// Takes a head, as it was signed. The error is for the operator, in words.
    fn take(&self, head: String) -> BoxFuture<'_, Result<(), String>>;

    /// The last head of a node's log that it took, if it can be read from here.
    ///
    /// # Errors
    /// It is there, and can't be read.
    fn last(&self, node: Option<&str>) -> io::Result<Option<String>>;
}

/// A file that heads are added to, a line each. Several logs may share one.
#[derive(Debug, Clone)]
pub struct FileCopy {
    path: PathBuf,
}

impl FileCopy {
    /// The file at `path`, which is made with the first head.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_path_buf() }
    }

    /// Adds a head, and brings it to the disk.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn append(&self, head: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        // One write, so that lines of several logs do not mix.
        file.write_all(format!("{head}\n").as_bytes())?;
        file.sync_data()
    }

    /// Every line of the file that is a statement, the oldest first.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn statements(&self) -> io::Result<Vec<String>> {
        Ok(std::fs::read_to_string(&self.path)?.lines().map(str::to_owned).collect())
    }

    /// What the file knows of the log of a node, for a verification.
    ///
    /// # Errors
    /// The file is there, and can't be read.
    pub fn witness(&self, node: Option<&str>) -> io::Result<HeadWitness> {
        let head = self.last(node)?;
        Ok(HeadWitness { name: format!("the head copy {}", self.path.display()), head, accepted: Vec::new() })
    }
}

impl HeadCopy for FileCopy {
    fn take(&self, head: String) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async move {
            let file = self.clone();
            let written = tokio::task::spawn_blocking(move || file.append(&head)).await;
            let written = written.map_err(|_| "it was not written".to_owned())?;
            written.map_err(|error| format!("{}: {error}", self.path.display()))
        })
    }

    fn last(&self, node: Option<&str>) -> io::Result<Option<String>> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES_MAX)))?;
        let mut tail = Vec::new();
        file.take(TAIL_BYTES_MAX).read_to_end(&mut tail)?;
        let tail = String::from_utf8_lossy(&tail);
        // A line that is none is half of one, at the end of a disk that was full.
        let is_of_log = |line: &&str| unverified::<Mark>(line).is_some_and(|mark| mark.node.as_deref() == node);
        Ok(tail.lines().rev().find(is_of_log).map(str::to_owned))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use forecourt_core::Timestamp;
    use forecourt_identity::SigningKey;
    use forecourt_testkit::CountedEntropy;

    use super::*;
    use crate::signer::RecordSigner;

    fn head(node: Option<&str>, offset: u64) -> String {
        let mark = Mark {
            segment: 1,
            offset,
            link: String::new(),
            issued_at: Timestamp::UNIX_EPOCH,
            node: node.map(str::to_owned),
            accepted: None,
        };
        let signer = Arc::new(RecordSigner::ed25519(SigningKey::generate(&CountedEntropy::default()), None));
        signer.compact(&serde_json::to_vec(&mark).unwrap())
    }

    #[test]
    fn the_last_head_of_each_log_is_found_behind_others_and_before_half_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("heads");
        let copy = FileCopy::new(&path);
        assert_eq!(copy.last(None).unwrap(), None);
        for (node, offset) in [(None, 1), (None, 2), (Some("a"), 7)] {
            copy.append(&head(node, offset)).unwrap();
        }
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"eyJ.eyJzZWdt").unwrap();
        assert_eq!(copy.last(None).unwrap(), Some(head(None, 2)));
        assert_eq!(copy.last(Some("a")).unwrap(), Some(head(Some("a"), 7)));
        assert_eq!(copy.last(Some("b")).unwrap(), None);
        assert!(FileCopy::new(folder.path()).last(None).is_err(), "a folder is no file");
    }
}
