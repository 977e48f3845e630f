//! A file of the deployment that clients are given whole.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use forecourt_core::{File, Part};
use rmcp::model::ResourceContents;
use serde_json::json;

use crate::mime;

/// A file that was there when the host started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnFile {
    path: PathBuf,
    mime: String,
    bytes_max: u64,
}

/// When a file was changed, and how long it is.
pub(crate) type Stamp = Option<(SystemTime, u64)>;

impl OwnFile {
    /// The file at `path`, of the type `mime` or what its ending says. Fails when it is not there, is no
    /// file, or has more than `bytes_max` bytes.
    pub(crate) fn new(path: PathBuf, mime: Option<&str>, bytes_max: u64) -> Result<Self, String> {
        let found = std::fs::metadata(&path).map_err(|_| format!("file not found: {}", path.display()))?;
        if !found.is_file() {
            return Err(format!("not a file: {}", path.display()));
        }
        fits(found.len(), bytes_max, &path)?;
        let mime = mime.unwrap_or_else(|| mime::of(&path)).to_owned();
        Ok(Self { path, mime, bytes_max })
    }

    pub(crate) fn mime(&self) -> &str {
        &self.mime
    }

    /// What it holds now. Fails as [`OwnFile::new`] does.
    async fn bytes(&self) -> Result<Bytes, String> {
        let gone = |_| format!("file not found: {}", self.name());
        let found = tokio::fs::metadata(&self.path).await.map_err(gone)?;
        // Once more: the file may have grown since the start.
        fits(found.len(), self.bytes_max, Path::new(self.name()))?;
        Ok(tokio::fs::read(&self.path).await.map_err(gone)?.into())
    }

    /// What it holds now, under an address: as text where it is one.
    pub(super) async fn contents(&self, uri: &str) -> Result<ResourceContents, String> {
        let bytes = self.bytes().await?;
        let contents = match String::from_utf8(bytes.to_vec()) {
            Ok(text) if !self.is_media() => json!({"uri": uri, "mimeType": self.mime, "text": text}),
            _ => json!({"uri": uri, "mimeType": self.mime, "blob": STANDARD.encode(&bytes)}),
        };
        serde_json::from_value(contents).map_err(|error| error.to_string())
    }

    /// The same as part of a message.
    pub(crate) async fn part(&self) -> Result<Part, String> {
        Ok(Part::File(File::inline(self.mime.clone(), Some(self.name().to_owned()), self.bytes().await?)))
    }

    /// Whether its bytes are no text, whatever they look like.
    fn is_media(&self) -> bool {
        let kind = self.mime.split('/').next().unwrap_or_default();
        matches!(kind, "image" | "audio" | "video") && self.mime != "image/svg+xml"
    }

    fn name(&self) -> &str {
        self.path.file_name().and_then(|name| name.to_str()).unwrap_or("file")
    }

    /// How it stands now.
    pub(super) async fn stamp(&self) -> Stamp {
        let found = tokio::fs::metadata(&self.path).await.ok()?;
        Some((found.modified().ok()?, found.len()))
    }
}

fn fits(bytes: u64, bytes_max: u64, path: &Path) -> Result<(), String> {
    match bytes <= bytes_max {
        true => Ok(()),
        false => Err(format!("{} has more than {bytes_max} bytes", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_bounded() {
        assert!(fits(7, 7, Path::new("x")).is_ok());
        assert!(fits(8, 7, Path::new("x")).is_err());
        assert!(OwnFile::new(PathBuf::from("/no/such/file"), None, 7).unwrap_err().contains("file not found"));
    }
}
