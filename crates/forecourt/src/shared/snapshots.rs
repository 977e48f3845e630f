//! Built indexes that nodes share through a folder or a bucket: a node that starts without an index begins with one
//! that another built, answers from it at once, and brings it in line with its own content beside that.
//!
//! A statement beside each archive says what is in it, under a code that only nodes with the store's key can make:
//! what is damaged, of another form or from elsewhere is passed over with a word in the log, and built as ever.

mod bucket;

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::digest::{Context, SHA256};
use aws_lc_rs::hmac;
use forecourt_core::{Handle, Timestamp};
use forecourt_egress::Egress;
use futures::StreamExt;
use object_store::local::LocalFileSystem;
use object_store::path::Path as ObjectPath;
use object_store::{ObjectStore, ObjectStoreExt, ObjectStoreScheme, PutPayload, WriteMultipart};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::content::Content;
use crate::error::Error;
use crate::live::LiveHouse;

/// How often it is looked at whether there is something new to share.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// How old a snapshot is before another takes its place: every node that indexes the same would else write it.
const FRESH: Duration = Duration::from_secs(10 * 60);
/// Bytes of a statement.
const STATEMENT_BYTES_MAX: u64 = 64 * 1024;
/// How long a place of snapshots may take to say what it has: a node that starts waits for it.
const STATEMENT_TIME_MAX: Duration = Duration::from_secs(10);
/// How long it may take to send the next part of an archive.
const CHUNK_TIME_MAX: Duration = Duration::from_secs(30);
/// Bytes that are read or written in one go.
const CHUNK: usize = 8 * 1024 * 1024;

/// Where snapshots are.
pub(crate) struct Snapshots {
    store: Arc<dyn ObjectStore>,
    root: ObjectPath,
    key: hmac::Key,
}

/// The signed description of an archive: its hash, size, number of items and age.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Statement {
    /// The archive, beside the statement.
    file: String,
    /// SHA-256 of the archive, in hexadecimal.
    sha256: String,
    bytes: u64,
    items: u64,
    made_at: Timestamp,
    /// A code over all of that and the name of the snapshot.
    #[serde(default)]
    code: String,
}

impl Snapshots {
    /// Those under a URL: `file:///…`, `s3://bucket/prefix`, or the path of a folder. Where a bucket is, and the keys
    /// to it, are among `variables`, named as tools of AWS name them. It is reached through `egress`. Opens no connection.
    ///
    /// # Errors
    /// The URL means nothing.
    pub(crate) fn new(
        place: &str,
        key: &[u8],
        variables: impl IntoIterator<Item = (String, String)>,
        egress: &Egress,
    ) -> Result<Self, Error> {
        let wrong = |error: String| {
            Error::new(format!("the place of snapshots can't be used: {error}"))
                .hint("write a folder, or s3://BUCKET/PREFIX with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment")
        };
        let url = match url::Url::parse(place) {
            Ok(url) => url,
            Err(_) => {
                std::fs::create_dir_all(place).map_err(|error| wrong(format!("{place}: {error}")))?;
                let folder = std::fs::canonicalize(place).map_err(|error| wrong(format!("{place}: {error}")))?;
                url::Url::from_directory_path(folder).map_err(|()| wrong(format!("{place} is no folder")))?
            }
        };
        let variables = variables.into_iter().filter(|(name, _)| name.starts_with("AWS_"));
        let variables = variables.map(|(name, value)| (name.to_ascii_lowercase(), value));
        let (scheme, root) = ObjectStoreScheme::parse(&url).map_err(|error| wrong(error.to_string()))?;
        let store: Arc<dyn ObjectStore> = match scheme {
            ObjectStoreScheme::AmazonS3 => {
                Arc::new(bucket::bucket(&url, variables, egress).map_err(|error| wrong(error.to_string()))?)
            }
            ObjectStoreScheme::Local => Arc::new(LocalFileSystem::new()),
            _ => return Err(wrong(format!("{place} is neither a folder nor a bucket"))),
        };
        Ok(Self { store, root, key: hmac::Key::new(hmac::HMAC_SHA256, key) })
    }

    /// Gives content that has no index yet the one that another node has built, where there is one that fits.
    pub(crate) async fn take_all(&self, contents: &[Content]) {
        for content in contents.iter().filter(|content| content.indexing.is_unbuilt()) {
            match self.take(content).await {
                Ok(Some(items)) => {
                    tracing::info!(agent = %content.handle, items, "begun with the index of another node")
                }
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(agent = %content.handle, "a snapshot of the index was ignored: {error}");
                }
            }
        }
    }

    async fn take(&self, content: &Content) -> Result<Option<u64>, String> {
        let Some(name) = content.indexing.snapshot_name() else { return Ok(None) };
        let said = tokio::time::timeout(STATEMENT_TIME_MAX, self.statement(&content.handle, &name)).await;
        let said = said.map_err(|_| format!("nothing was said within {} s", STATEMENT_TIME_MAX.as_secs()))?;
        let Some(statement) = said? else { return Ok(None) };
        let file = self.root.clone().join(content.handle.as_str()).join(statement.file.as_str());
        let found = self.store.get(&file).await.map_err(|error| error.to_string())?;
        let mut archive = tempfile::tempfile().map_err(|error| error.to_string())?;
        let (mut chunks, mut hash, mut bytes) = (found.into_stream(), Context::new(&SHA256), 0);
        loop {
            let chunk = tokio::time::timeout(CHUNK_TIME_MAX, chunks.next()).await;
            let chunk = chunk.map_err(|_| format!("{file} stood still for {} s", CHUNK_TIME_MAX.as_secs()))?;
            let Some(chunk) = chunk else { break };
            let chunk = chunk.map_err(|error| error.to_string())?;
            bytes += chunk.len() as u64;
            // A statement bounds its archive: more bytes would fill the disk before the hash could tell.
            if bytes > statement.bytes {
                break;
            }
            hash.update(&chunk);
            archive.write_all(&chunk).map_err(|error| error.to_string())?;
        }
        if bytes != statement.bytes || hex(hash.finish().as_ref()) != statement.sha256 {
            return Err(format!("{file} is not what its statement says"));
        }
        let indexing = content.indexing.clone();
        let unpack = move || {
            archive.seek(SeekFrom::Start(0)).map_err(|error| error.to_string())?;
            indexing.unpack(&mut io::BufReader::new(archive)).map_err(|error| error.to_string())
        };
        tokio::task::spawn_blocking(unpack).await.map_err(|error| error.to_string())??;
        Ok(Some(statement.items))
    }

    /// The statement about a snapshot; `None` where there is none.
    async fn statement(&self, handle: &Handle, name: &str) -> Result<Option<Statement>, String> {
        let file = self.root.clone().join(handle.as_str()).join(format!("{name}.json"));
        let found = match self.store.get(&file).await {
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            found => found.map_err(|error| error.to_string())?,
        };
        if found.meta.size > STATEMENT_BYTES_MAX {
            return Err(format!("{file} is too long for a statement"));
        }
        let text = found.bytes().await.map_err(|error| error.to_string())?;
        let statement: Statement =
            serde_json::from_slice(&text).map_err(|_| format!("{file} is not a statement about a snapshot"))?;
        // Whoever may write into the folder or bucket could else hand this node an index of their own. A file name with
        // a path could lead out of the folder.
        match self.is_ours(handle, name, &statement) && is_plain(&statement.file) {
            true => Ok(Some(statement)),
            false => Err(format!("{file} is not from a node with this store's key")),
        }
    }

    /// Shares what is indexed whole and is not there yet, until `stop`.
    pub(crate) async fn follow(self: Arc<Self>, live: Arc<LiveHouse>, stop: CancellationToken) {
        let mut shared = HashMap::new();
        while stop.run_until_cancelled(tokio::time::sleep(LOOK_EVERY)).await.is_some() {
            let contents = live.now().map(|house| house.contents.clone()).unwrap_or_default();
            for content in contents {
                if let Err(error) = self.share(&content, &mut shared, Timestamp::now()).await {
                    tracing::warn!(agent = %content.handle, "the index was not shared with other nodes: {error}");
                }
            }
        }
    }

    /// Shares the index of one agent if it is whole, was not shared as it is, and nobody else has just done so.
    async fn share(
        &self,
        content: &Content,
        shared: &mut HashMap<Handle, (u64, u64)>,
        now: Timestamp,
    ) -> Result<bool, String> {
        let Some(name) = content.indexing.snapshot_name().filter(|_| !content.indexing.is_unbuilt()) else {
            return Ok(false);
        };
        let Some(state) = whole(content).await? else { return Ok(false) };
        if shared.get(&content.handle) == Some(&state) {
            return Ok(false);
        }
        // One that can't be read is replaced.
        let known = self.statement(&content.handle, &name).await.ok().flatten();
        let is_fresh = |known: &Statement| now.duration_since(known.made_at).unsigned_abs() < FRESH;
        if known.as_ref().is_some_and(is_fresh) {
            return Ok(false);
        }
        // The new archive is there before the old one goes, and the statement is written last: it always names a whole
        // one.
        self.put(content, &name, state.1, now).await?;
        shared.insert(content.handle.clone(), state);
        if let Some(old) = known {
            let file = self.root.clone().join(content.handle.as_str()).join(old.file.as_str());
            // Whoever reads it just now starts without it.
            let _ = self.store.delete(&file).await;
        }
        Ok(true)
    }

    async fn put(&self, content: &Content, name: &str, items: u64, now: Timestamp) -> Result<(), String> {
        let indexing = content.indexing.clone();
        let pack = move || {
            let mut archive = HashedFile { file: tempfile::tempfile()?, hash: Context::new(&SHA256), bytes: 0 };
            indexing.pack(&mut archive).map_err(io::Error::other)?;
            archive.file.seek(SeekFrom::Start(0))?;
            io::Result::Ok(archive)
        };
        let archive = tokio::task::spawn_blocking(pack).await.map_err(|error| error.to_string())?;
        let HashedFile { mut file, hash, bytes } = archive.map_err(|error| error.to_string())?;
        let sha256 = hex(hash.finish().as_ref());
        let folder = self.root.clone().join(content.handle.as_str());
        let archive = format!("{name}-{}.tar.zst", &sha256[..16]);
        let upload = self.store.put_multipart(&folder.clone().join(archive.as_str())).await;
        let mut upload = WriteMultipart::new(upload.map_err(|error| error.to_string())?);
        let mut chunk = vec![0; CHUNK];
        loop {
            let length = file.read(&mut chunk).map_err(|error| error.to_string())?;
            if length == 0 {
                break;
            }
            upload.wait_for_capacity(1).await.map_err(|error| error.to_string())?;
            upload.write(&chunk[..length]);
        }
        upload.finish().await.map_err(|error| error.to_string())?;
        let mut statement = Statement { file: archive, sha256, bytes, items, made_at: now, code: String::new() };
        statement.code = hex(hmac::sign(&self.key, &signed_bytes(&content.handle, name, &statement)).as_ref());
        let text = serde_json::to_vec_pretty(&statement).map_err(|error| error.to_string())?;
        let file = folder.join(format!("{name}.json"));
        self.store.put(&file, PutPayload::from(text)).await.map_err(|error| error.to_string())?;
        tracing::info!(agent = %content.handle, items, bytes, "the index is shared with nodes that start");
        Ok(())
    }

    fn is_ours(&self, handle: &Handle, name: &str, statement: &Statement) -> bool {
        let code = unhex(&statement.code).unwrap_or_default();
        hmac::verify(&self.key, &signed_bytes(handle, name, statement), &code).is_ok()
    }
}

/// What the state of an index is, once it is whole: of what it was made, and how many items it has.
async fn whole(content: &Content) -> Result<Option<(u64, u64)>, String> {
    let indexing = content.indexing.clone();
    let look = move || {
        let fingerprint = indexing.fingerprint().map_err(|error| error.to_string())?;
        // Vectors take the longest: an index without them would save other nodes little.
        let is_embedded = indexing.embedding().is_none_or(|embedding| embedding.missing == 0);
        let items = indexing.items();
        Ok((items > 0 && is_embedded && indexing.is_current(fingerprint)).then_some((fingerprint, items)))
    };
    tokio::task::spawn_blocking(look).await.map_err(|error| error.to_string())?
}

/// The bytes that the HMAC of a statement is made over.
fn signed_bytes(handle: &Handle, name: &str, statement: &Statement) -> Vec<u8> {
    let Statement { file, sha256, bytes, items, made_at, code: _ } = statement;
    format!("{handle}\n{name}\n{file}\n{sha256}\n{bytes}\n{items}\n{made_at}").into_bytes()
}

/// Whether a name is one of a file right beside.
fn is_plain(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.')) && !name.starts_with('.')
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to text does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks_exact(2);
    digits.map(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok()).collect()
}

/// A file that knows its own hash.
struct HashedFile {
    file: File,
    hash: Context,
    bytes: u64,
}

impl Write for HashedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests;
