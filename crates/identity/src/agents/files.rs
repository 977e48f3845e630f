//! This module reads identity files within bounds, and collects notices about them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::document::AgentDocument;
use crate::genesis::{Genesis, GenesisError};
use crate::limits::IDENTITY_FILE_BYTES_MAX;

/// How the name of a genesis document's file ends.
pub(crate) const GENESIS_SUFFIX: &str = ".genesis.json";
/// How the name of a document's file ends.
pub(crate) const DOCUMENT_SUFFIX: &str = ".agent.json";

/// A message to the operator about one identity file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {reason}", file.display())]
pub struct IdentityNotice {
    /// The file that it is about.
    pub file: PathBuf,
    /// What is wrong or was found, and what would be right.
    pub reason: String,
    /// How much it matters.
    pub severity: Severity,
}

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Information for the log; nothing is wrong.
    Told,
    /// It works, though perhaps not as it was meant.
    Warning,
    /// The file is not used.
    Refused,
}

impl IdentityNotice {
    pub(crate) fn refused(file: &Path, reason: impl ToString) -> Self {
        Self { file: file.to_owned(), reason: reason.to_string(), severity: Severity::Refused }
    }

    pub(crate) fn warning(file: &Path, reason: impl ToString) -> Self {
        Self { file: file.to_owned(), reason: reason.to_string(), severity: Severity::Warning }
    }

    pub(crate) fn told(file: &Path, reason: impl ToString) -> Self {
        Self { file: file.to_owned(), reason: reason.to_string(), severity: Severity::Told }
    }
}

/// The result of reading a file.
#[derive(Debug)]
pub(crate) enum FileOutcome<T> {
    /// There is no such file.
    Nothing,
    /// The checked content.
    Good(T),
    /// The file can't be used; a notice says why.
    Refused,
}

impl<T> FileOutcome<T> {
    pub(crate) fn is_refused(&self) -> bool {
        matches!(self, Self::Refused)
    }

    pub(crate) fn good(self) -> Option<T> {
        match self {
            Self::Good(value) => Some(value),
            Self::Nothing | Self::Refused => None,
        }
    }
}

/// The genesis document in `file`.
pub(crate) fn genesis(file: &Path, notices: &mut Vec<IdentityNotice>) -> FileOutcome<Genesis> {
    let found = read(file, notices, |bytes| Genesis::parse(bytes, None).map_err(|fault| fault.to_string()));
    if let FileOutcome::Good(genesis) = &found
        && genesis.is_escaped()
    {
        notices.push(IdentityNotice::warning(file, SPELLING));
    }
    found
}

/// The document in `file`.
pub(crate) fn document(file: &Path, notices: &mut Vec<IdentityNotice>) -> FileOutcome<AgentDocument> {
    let found = read(file, notices, |bytes| AgentDocument::parse(bytes).map_err(|fault| fault.to_string()));
    if let FileOutcome::Good(document) = &found
        && document.is_escaped()
    {
        notices.push(IdentityNotice::warning(file, SPELLING));
    }
    found
}

/// The genesis document beside a document, if the two are of one agent. AGTP base 6.3.
pub(crate) fn pair(
    document: Option<&AgentDocument>,
    genesis: Option<Genesis>,
    file: &Path,
    notices: &mut Vec<IdentityNotice>,
) -> Option<Genesis> {
    let genesis = genesis?;
    match document.and_then(AgentDocument::agent_id) {
        Some(named) if named != *genesis.id() => {
            let fault = GenesisError::AgentId { found: genesis.id().clone() };
            notices.push(IdentityNotice::refused(file, format!("{fault} by the document beside it, which is {named}")));
            None
        }
        _ => Some(genesis),
    }
}

/// The reason against a document without `agent_id` and without a genesis document.
pub(crate) const NAMELESS: &str = "`agent_id` is missing, and there is no genesis document beside it";

const SPELLING: &str = "it was hashed and signed with `\\u` escapes, which other readers may not accept";

fn read<T>(
    file: &Path,
    notices: &mut Vec<IdentityNotice>,
    parse: impl FnOnce(&[u8]) -> Result<T, String>,
) -> FileOutcome<T> {
    match bytes(file).and_then(|bytes| bytes.map(|bytes| parse(&bytes)).transpose()) {
        Ok(None) => FileOutcome::Nothing,
        Ok(Some(value)) => FileOutcome::Good(value),
        Err(reason) => {
            notices.push(IdentityNotice::refused(file, reason));
            FileOutcome::Refused
        }
    }
}

/// All bytes of a file. `None`: it is not there.
pub(crate) fn bytes(file: &Path) -> Result<Option<Vec<u8>>, String> {
    let unreadable = |error: io::Error| format!("it can't be read: {error}");
    match fs::metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(error)),
        // Opening a FIFO would wait for its writer for ever.
        Ok(meta) if !meta.is_file() => Err("it is not a regular file".to_owned()),
        Ok(meta) if meta.len() > IDENTITY_FILE_BYTES_MAX => {
            Err(format!("it is larger than {IDENTITY_FILE_BYTES_MAX} bytes"))
        }
        Ok(_) => fs::read(file).map(Some).map_err(unreadable),
    }
}
