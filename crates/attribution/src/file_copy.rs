//! A file elsewhere as the second place for heads.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forecourt_core::Timestamp;
use futures::future::BoxFuture;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::background::on_thread;
use crate::checkpoint::{Mark, SharedHead, unverified};
use crate::copies::{HeadCopy, lines};
use crate::verify::HeadWitness;

/// Bytes at the end of a file that are looked through for the last head.
const TAIL_BYTES_MAX: u64 = 1024 * 1024;
/// Bytes of a line that are read: a statement has some hundreds.
const LINE_BYTES_MAX: u64 = 16 * 1024;
/// Characters of an Ed25519 signature in base64url.
const SIGNATURE_CHARS: usize = 86;

/// A file that the heads of one deployment are added to, a line each.
#[derive(Debug, Clone)]
pub struct FileCopy {
    path: PathBuf,
}

impl FileCopy {
    /// The file at `path`, which is made with the first head.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_path_buf() }
    }

    /// Adds heads, and brings them to the disk.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn append(&self, heads: &[String]) -> io::Result<()> {
        // Behind half a line the next one would be none either.
        let begun = if self.ends_within_a_line().unwrap_or(false) { "\n" } else { "" };
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        // One write, so that lines of several writers do not mix.
        file.write_all(format!("{begun}{}", lines(heads)).as_bytes())?;
        file.sync_data()
    }

    fn ends_within_a_line(&self) -> io::Result<bool> {
        let (mut file, mut last) = (File::open(&self.path)?, [0]);
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        Ok(last != *b"\n")
    }

    /// The last statement on each stream of a store: that with the highest number, since several nodes add theirs. None
    /// on a record that is gone by age at `now`.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn statements(&self, now: Timestamp) -> io::Result<Vec<String>> {
        let mut found: BTreeMap<String, (u64, String)> = BTreeMap::new();
        let mut file = BufReader::new(File::open(&self.path)?);
        let mut line = Vec::new();
        while file.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? > 0 {
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end();
            if let Some(head) = whole::<SharedHead>(text).filter(|head| !head.is_gone(now)) {
                let last = found.entry(head.stream).or_default();
                if head.number >= last.0 {
                    *last = (head.number, text.to_owned());
                }
            }
            line.clear();
        }
        Ok(found.into_values().map(|(_, line)| line).collect())
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
    fn take(&self, heads: Vec<String>) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async move {
            let file = self.clone();
            let written = on_thread(move || file.append(&heads)).await;
            let written = written.ok_or_else(|| "it was not written".to_owned())?;
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
        let is_of_log = |line: &&str| whole::<Mark>(line).is_some_and(|mark| mark.node.as_deref() == node);
        Ok(tail.lines().rev().find(is_of_log).map(str::to_owned))
    }
}

/// What a line says, if it is a statement from its beginning to its end: half of one, which a full disk leaves, accuses
/// nobody.
fn whole<T: DeserializeOwned>(line: &str) -> Option<T> {
    let parts: Vec<&str> = line.splitn(4, '.').collect();
    let [header, _, signature] = parts[..] else { return None };
    let header = URL_SAFE_NO_PAD.decode(header).ok()?;
    let is_whole = signature.len() == SIGNATURE_CHARS && serde_json::from_slice::<IgnoredAny>(&header).is_ok();
    if is_whole { unverified(line) } else { None }
}

#[cfg(test)]
mod tests {
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
        signed(&mark)
    }

    fn signed(statement: &impl serde::Serialize) -> String {
        let signer = RecordSigner::ed25519(SigningKey::generate(&CountedEntropy::default()), None);
        signer.compact(&serde_json::to_vec(statement).unwrap())
    }

    #[test]
    fn the_last_head_of_each_log_is_found_behind_others_and_before_half_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("heads");
        let copy = FileCopy::new(&path);
        assert_eq!(copy.last(None).unwrap(), None);
        for (node, offset) in [(None, 1), (None, 2), (Some("a"), 7)] {
            copy.append(&[head(node, offset)]).unwrap();
        }
        // Half of a line, whose payload is whole.
        let half = &head(None, 3)[..head(None, 3).len() - 7];
        OpenOptions::new().append(true).open(&path).unwrap().write_all(half.as_bytes()).unwrap();
        assert_eq!(copy.last(None).unwrap(), Some(head(None, 2)));
        assert_eq!(copy.last(Some("a")).unwrap(), Some(head(Some("a"), 7)));
        assert_eq!(copy.last(Some("b")).unwrap(), None);
        copy.append(&[head(None, 4)]).unwrap();
        assert_eq!(copy.last(None).unwrap(), Some(head(None, 4)));
        assert!(FileCopy::new(folder.path()).last(None).is_err(), "a folder is no file");
    }

    #[test]
    fn the_statement_with_the_highest_number_counts_between_bytes_that_are_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("heads");
        let copy = FileCopy::new(&path);
        assert!(copy.statements(Timestamp::UNIX_EPOCH).is_err(), "no file");
        let told = [(3, None), (2, None), (9, Some(Timestamp::UNIX_EPOCH))].map(|(number, expires_at)| {
            let (stream, audit_id) = ("chain:a".to_owned(), String::new());
            signed(&SharedHead { stream, number, audit_id, issued_at: Timestamp::UNIX_EPOCH, expires_at })
        });
        copy.append(&told).unwrap();
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(&[0xff; 100_000]).unwrap();
        file.write_all(&told[2].as_bytes()[..told[2].len() - 1]).unwrap();
        assert_eq!(copy.statements(Timestamp::UNIX_EPOCH).unwrap(), told[..1]);
    }
}
