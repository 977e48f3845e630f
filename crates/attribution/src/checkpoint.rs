//! Two signed statements beside the segments: how far what was written is known to be on the disk (`mark`), and where
//! the log begins once old segments were removed (`checkpoint`), with the heads of all chains there. A third one says
//! where a stream of a store was.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forecourt_core::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::digest::{Hash, from_hex, sha256, to_hex};
use crate::error::LogError;
use crate::segment::{replace, write_synced};
use crate::signer::RecordSigner;

/// The place up to which the log was known to be synced to the disk when the statement was signed: the head of the log.
/// Its `link` is a hash over every entry before it, and so over the last record of each chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    pub segment: u64,
    pub offset: u64,
    /// The hash that the next frame carries, in hexadecimal.
    pub link: String,
    pub issued_at: Timestamp,
    /// Whose log it is, where there are several: a mark of another node says nothing of this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Why the log begins to be held against its heads here, in the words of the operator who had it begin: what was
    /// there before can't be told from this place on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<String>,
}

/// A statement on where a stream of the store was, for a second place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SharedHead {
    pub stream: String,
    pub number: u64,
    /// The name of the record there, in hexadecimal.
    pub audit_id: String,
    pub issued_at: Timestamp,
    /// When the record goes by age.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

impl SharedHead {
    /// Whether the record is gone by age.
    pub(crate) fn is_gone(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|expires_at| expires_at <= now)
    }
}

/// The mark beside the segments, as it was found.
#[derive(Debug, Clone)]
pub(crate) enum KeptMark {
    /// There is no file.
    Missing,
    /// The file holds no statement.
    Unreadable,
    /// What it says, and as it was signed.
    Read(Mark, String),
}

/// Where the log begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointStatement {
    /// The first segment that is kept.
    pub segment: u64,
    /// The hash that its first frame carries, in hexadecimal.
    pub link: String,
    /// How many chains went on through it.
    pub heads: usize,
    /// SHA-256 of the list of their heads, in hexadecimal.
    pub heads_sha256: String,
    /// When it was made.
    pub issued_at: Timestamp,
}

/// Where the log begins, with the heads of all chains there.
#[derive(Debug, Clone)]
pub(crate) struct Checkpoint {
    pub statement: CheckpointStatement,
    /// The statement as it was signed.
    pub jws: String,
    pub heads: HashMap<Hash, Hash>,
}

pub(crate) fn mark_path(folder: &Path) -> PathBuf {
    folder.join("mark.jws")
}

/// Where a log has its next mark until that takes the place of the last one: a file of its own, since several processes
/// may have the folder, and a process several logs.
pub(crate) fn next_mark_path(folder: &Path) -> PathBuf {
    static LOGS: AtomicUsize = AtomicUsize::new(0);
    folder.join(format!("mark-{}-{}.new", process::id(), LOGS.fetch_add(1, Ordering::Relaxed)))
}

pub(crate) fn checkpoint_path(folder: &Path) -> PathBuf {
    folder.join("checkpoint.jws")
}

/// The payload of a compact JWS, before anything was verified.
pub(crate) fn unverified<T: DeserializeOwned>(jws: &str) -> Option<T> {
    let payload = jws.split('.').nth(1)?;
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()
}

fn signed(signer: &RecordSigner, statement: &impl Serialize) -> String {
    // A struct of numbers and texts is always written.
    signer.compact(&serde_json::to_vec(statement).unwrap_or_default())
}

impl Mark {
    /// The mark of a folder.
    ///
    /// # Errors
    /// The file is there and can't be read.
    pub(crate) fn read(folder: &Path) -> Result<KeptMark, LogError> {
        let path = mark_path(folder);
        match fs::read_to_string(&path) {
            Ok(text) => {
                let jws = text.trim_end().to_owned();
                Ok(unverified(&jws).map_or(KeptMark::Unreadable, |mark| KeptMark::Read(mark, jws)))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(KeptMark::Missing),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(KeptMark::Unreadable),
            Err(error) => Err(LogError::io(&path)(error)),
        }
    }

    /// Works on a folder whose mark is put aside meanwhile, and kept there as `mark.before`. Where that fails, the mark is
    /// put back.
    pub(crate) fn aside<T>(folder: &Path, work: impl FnOnce() -> Result<T, LogError>) -> Result<T, LogError> {
        let (path, aside) = (mark_path(folder), folder.join("mark.before"));
        let is_aside = match fs::rename(&path, &aside) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(LogError::io(&path)(error)),
        };
        work().inspect_err(|_| {
            // Without it a start would tell no less: the store and others know how far the log was.
            let _ = if is_aside { fs::rename(&aside, &path) } else { Ok(()) };
        })
    }

    /// Where it stands in the log.
    pub(crate) fn place(&self) -> (u64, u64) {
        (self.segment, self.offset)
    }

    /// Signs it, and brings it to the disk beside the one that stands. Gives it as it was signed.
    pub(crate) fn write_beside(&self, beside: &Path, signer: &RecordSigner) -> Result<String, LogError> {
        let jws = signed(signer, self);
        write_synced(beside, format!("{jws}\n").as_bytes())?;
        Ok(jws)
    }

    /// Puts it, as it was written beside, in the place of the one that stands, unless that is further on. Gives the one
    /// that stands there then. With the lock.
    pub(crate) fn put(&self, folder: &Path, beside: &Path, jws: String) -> Result<String, LogError> {
        let path = mark_path(folder);
        // Another process may have synced further meanwhile; a mark that goes back would let what follows it be cut
        // off.
        match Self::read(folder)? {
            KeptMark::Read(last, kept) if last.place() >= self.place() => {
                fs::remove_file(beside).map_err(LogError::io(beside)).map(|()| kept)
            }
            _ => fs::rename(beside, &path).map_err(LogError::io(&path)).map(|()| jws),
        }
    }

    /// Writes it in place of whatever is there. Gives it as it was signed.
    pub(crate) fn replace(&self, folder: &Path, signer: &RecordSigner) -> Result<String, LogError> {
        let jws = signed(signer, self);
        // Synced: a verification misses a mark that is not there, and a power cut may leave an empty file of one that
        // was only renamed.
        replace(&mark_path(folder), format!("{jws}\n").as_bytes())?;
        Ok(jws)
    }
}

impl Checkpoint {
    /// The checkpoint of a folder; `None` when nothing was removed yet.
    ///
    /// # Errors
    /// It can't be read, or is not what was written.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>, LogError> {
        let path = checkpoint_path(folder);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(LogError::io(&path)(error)),
        };
        let damaged = |reason: &str| LogError::damaged(&path, 0, reason);
        let (jws, list) = text.split_once('\n').ok_or_else(|| damaged("it is not whole"))?;
        let statement: CheckpointStatement =
            unverified(jws).ok_or_else(|| damaged("its first line is no signed statement"))?;
        // The signature covers the hash of the list, so the list needs none of its own.
        if to_hex(&sha256(list.as_bytes())) != statement.heads_sha256 {
            return Err(damaged("the list of heads is not the one that was signed"));
        }
        let read = |line: &str| {
            let (agent, head) = line.split_once(' ')?;
            Some((from_hex(agent)?, from_hex(head)?))
        };
        let heads = list.lines().map(read).collect::<Option<HashMap<_, _>>>();
        let heads = heads.ok_or_else(|| damaged("a line is no head of a chain"))?;
        Ok(Some(Self { statement, jws: jws.to_owned(), heads }))
    }

    /// Signs a new checkpoint and writes it in place of the one before.
    pub(crate) fn write(
        folder: &Path,
        signer: &RecordSigner,
        segment: u64,
        link: &Hash,
        heads: HashMap<Hash, Hash>,
        now: Timestamp,
    ) -> Result<Self, LogError> {
        let statement = CheckpointStatement {
            segment,
            link: to_hex(link),
            heads: heads.len(),
            heads_sha256: to_hex(&sha256(list(&heads).as_bytes())),
            issued_at: now,
        };
        Self { statement, jws: String::new(), heads }.sign(folder, signer)
    }

    /// Signs what it says, and writes it in place of the one before.
    pub(crate) fn sign(self, folder: &Path, signer: &RecordSigner) -> Result<Self, LogError> {
        let jws = signed(signer, &self.statement);
        // Synced: segments may be removed next, and without it a log would begin in the middle.
        replace(&checkpoint_path(folder), format!("{jws}\n{}", list(&self.heads)).as_bytes())?;
        Ok(Self { jws, ..self })
    }
}

/// Heads of chains, a line each.
fn list(heads: &HashMap<Hash, Hash>) -> String {
    let mut lines: Vec<String> =
        heads.iter().map(|(agent, head)| format!("{} {}\n", to_hex(agent), to_hex(head))).collect();
    // A fixed order, or the same heads would have another hash each time.
    lines.sort_unstable();
    lines.concat()
}
