//! This module seals the files of tasks.

use forecourt_core::StoreError;
use forecourt_core::limits::ARTIFACT_BYTES_MAX;
use forecourt_core::store::StoredArtifact;
use serde::{Deserialize, Serialize};

use crate::seal::{Hash, Label, Seal, hash};

/// The sealed metadata of an artifact.
#[derive(Serialize, Deserialize)]
struct Body {
    id: String,
    mime: String,
    name: Option<String>,
}

/// An artifact as a row, ready to be written.
pub(crate) struct NewArtifact {
    pub(crate) hash: Hash,
    pub(crate) size: i64,
    pub(crate) body: Vec<u8>,
    pub(crate) bytes: Vec<u8>,
}

fn body_label<'a>(task: &'a Hash, artifact: &'a Hash) -> Label<'a> {
    Label { kind: "artifact", of: task, part: artifact }
}

fn bytes_label<'a>(task: &'a Hash, artifact: &'a Hash) -> Label<'a> {
    Label { kind: "bytes", of: task, part: artifact }
}

impl NewArtifact {
    /// Fails when there are more than [`ARTIFACT_BYTES_MAX`] bytes.
    pub(crate) fn new(seal: &Seal, task: Hash, artifact: StoredArtifact) -> Result<Self, StoreError> {
        if artifact.bytes.len() > ARTIFACT_BYTES_MAX {
            return Err(StoreError::Unavailable(format!("an artifact has at most {ARTIFACT_BYTES_MAX} bytes")));
        }
        let hash = hash(&artifact.id);
        let bytes = seal.seal_bytes(bytes_label(&task, &hash), &artifact.bytes)?;
        let size = artifact.bytes.len() as i64;
        let body = Body { id: artifact.id, mime: artifact.mime, name: artifact.name };
        let body = seal.seal(body_label(&task, &hash), &body)?;
        Ok(Self { hash, size, body, bytes })
    }
}

/// Opens an artifact of a task.
pub(crate) fn open(
    seal: &Seal,
    task: &Hash,
    id: &Hash,
    body: Vec<u8>,
    bytes: Vec<u8>,
) -> Result<StoredArtifact, StoreError> {
    let body: Body = seal.open(body_label(task, id), body)?;
    let bytes = seal.open_bytes(bytes_label(task, id), bytes)?;
    Ok(StoredArtifact { id: body.id, mime: body.mime, name: body.name, bytes: bytes.into() })
}
