//! The log as one process knows it: the open segment, the heads of chains, and how to catch up with what other
//! processes have added. Everything here blocks; whoever calls holds the lock of the folder where that is said.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forecourt_core::Timestamp;

use crate::checkpoint::{Checkpoint, KeptMark, Mark};
use crate::digest::{FIRST, Hash, to_hex};
use crate::error::LogError;
use crate::frame::{Frame, FrameKind, HEAD_BYTES};
use crate::index::{self, Head, SealedIndex};
use crate::limits::{FRAME_BYTES_MAX, HEADS_MAX};
use crate::open_segment::OpenSegment;
use crate::segment::{self, FIRST_NUMBER, FrameReader, SegmentError, SegmentSeal};

/// The log as one process knows it.
pub(crate) struct LogState {
    pub(crate) folder: PathBuf,
    lock: Arc<File>,
    pub(crate) open: OpenSegment,
    /// Heads of chains that have no record in the open segment. `None`: the agent has no chain.
    pub(crate) older: HashMap<Hash, Option<Head>>,
    /// The first segment that is kept.
    pub(crate) first: u64,
    pub(crate) checkpoint: Option<Checkpoint>,
}

/// The lock of the folder, given back when dropped. Other processes wait meanwhile.
pub(crate) struct FolderLock(Arc<File>);

impl FolderLock {
    fn take(file: &Arc<File>, folder: &Path) -> Result<Self, LogError> {
        file.lock().map_err(LogError::io(folder))?;
        Ok(Self(Arc::clone(file)))
    }

    /// The lock, if nobody has it.
    fn try_take(file: &Arc<File>) -> Option<Self> {
        file.try_lock().ok().map(|()| Self(Arc::clone(file)))
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // A lock that can't be given back goes with the file.
        let _ = self.0.unlock();
    }
}

impl LogState {
    /// Opens the log in a folder; makes it when there is none.
    pub(crate) fn open(folder: &Path, now: Timestamp) -> Result<Self, LogError> {
        fs::create_dir_all(folder).map_err(LogError::io(folder))?;
        let path = folder.join("lock");
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let lock = Arc::new(lock.map_err(LogError::io(&path))?);
        let _held = FolderLock::take(&lock, folder)?;
        let checkpoint = Checkpoint::read(folder)?;
        let first = checkpoint.as_ref().map_or(FIRST_NUMBER, |checkpoint| checkpoint.statement.segment);
        let numbers = segment::numbers(folder)?;
        for gone in numbers.iter().filter(|number| **number < first) {
            index::remove(folder, *gone)?;
        }
        let open = match numbers.last().filter(|last| **last >= first) {
            Some(last) => OpenSegment::at(folder, *last)?,
            None if checkpoint.is_some() => {
                let path = segment::path(folder, first);
                return Err(LogError::damaged(&path, 0, "the segment that the checkpoint names is gone"));
            }
            None => OpenSegment::make(folder, first, FIRST, now)?,
        };
        let mut state = Self { folder: folder.to_path_buf(), lock, open, older: HashMap::new(), first, checkpoint };
        state.catch_up()?;
        if state.open.is_sealed {
            state.next_segment(now)?;
        }
        Ok(state)
    }

    /// Works on the folder while no other process does.
    pub(crate) fn locked<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, LogError>) -> Result<T, LogError> {
        let _held = FolderLock::take(&self.lock, &self.folder)?;
        self.catch_up()?;
        work(self)
    }

    /// The same where that needs no waiting: nobody else has the folder, and there is nothing to catch up with.
    /// `None`, and nothing was done, where it does.
    pub(crate) fn locked_at_once<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, LogError>,
    ) -> Option<Result<T, LogError>> {
        let _held = FolderLock::try_take(&self.lock)?;
        // No links: another process removed the file, and what is written there would be gone with it.
        let is_known = |is: fs::Metadata| is.nlink() > 0 && is.len() == self.open.end;
        let is_at_end = !self.open.is_sealed && self.open.file.metadata().is_ok_and(is_known);
        is_at_end.then(|| work(self))
    }

    /// Takes notice of what other processes have added. With the lock.
    fn catch_up(&mut self) -> Result<(), LogError> {
        loop {
            self.read_open()?;
            if !self.open.is_sealed || !segment::path(&self.folder, self.open.number + 1).exists() {
                return Ok(());
            }
            self.go_on_to(OpenSegment::at(&self.folder, self.open.number + 1)?);
        }
    }

    fn go_on_to(&mut self, next: OpenSegment) {
        // What was at hand of the sealed one is found in its file from here on.
        if self.older.len() + self.open.index.heads.len() > HEADS_MAX {
            self.older.clear();
        }
        for (agent, head) in &self.open.index.heads {
            self.older.insert(*agent, Some(*head));
        }
        self.open = next;
    }

    fn read_open(&mut self) -> Result<(), LogError> {
        let path = || segment::path(&self.folder, self.open.number);
        let metadata = self.open.file.metadata().map_err(|error| LogError::io(&path())(error))?;
        let length = metadata.len();
        if metadata.nlink() == 0 {
            return Err(LogError::damaged(&path(), 0, "the file was removed"));
        }
        if length == self.open.end {
            return Ok(());
        }
        let path = path();
        if length < self.open.end {
            return Err(LogError::damaged(&path, length, "the file was cut off"));
        }
        let mut file = self.open.file.try_clone().map_err(LogError::io(&path))?;
        file.seek(SeekFrom::Start(self.open.end)).map_err(LogError::io(&path))?;
        let mut reader = FrameReader::new(BufReader::with_capacity(256 * 1024, file), self.open.end, length);
        let fault = loop {
            match reader.next() {
                Ok(Some(read)) if read.frame.link == self.open.link => {
                    self.open.take(&read.frame, &read.frame.digest())?;
                }
                Ok(Some(_)) => break "an entry is not the one that followed the one before it".to_owned(),
                Ok(None) => return Ok(()),
                Err(SegmentError::Io(error)) => return Err(LogError::io(&path)(error)),
                Err(fault) => break fault.to_string(),
            }
        };
        self.cut(&path, length, fault)
    }

    /// Cuts off what a crash left at the end, and keeps it beside. What was known to be on the disk is never cut.
    fn cut(&mut self, path: &Path, length: u64, reason: String) -> Result<(), LogError> {
        let at = self.open.end;
        let is_synced = |mark: &Mark| mark.place() > (self.open.number, at);
        if matches!(Mark::read(&self.folder)?, KeptMark::Read(mark, _) if is_synced(&mark)) {
            return Err(LogError::damaged(path, at, reason));
        }
        let mut torn = vec![0; (length - at) as usize];
        self.open.file.read_exact_at(&mut torn, at).map_err(LogError::io(path))?;
        let beside = self.folder.join(format!("torn-{:010}-{at}.bin", self.open.number));
        // Kept, since somebody may want to know what it was.
        fs::write(&beside, torn).map_err(LogError::io(&beside))?;
        self.open.file.set_len(at).map_err(LogError::io(path))?;
        let bytes = length - at;
        tracing::warn!(path = %path.display(), at, bytes, %reason, "a crash left half an entry: it was cut off and kept beside");
        Ok(())
    }

    /// The last record of an agent's chain. With the lock.
    pub(crate) fn head(&mut self, agent: &Hash) -> Result<Option<Head>, LogError> {
        if let Some(head) = self.open.index.heads.get(agent) {
            return Ok(Some(*head));
        }
        if let Some(known) = self.older.get(agent) {
            return Ok(*known);
        }
        let found = self.older_head(agent)?;
        if self.older.len() >= HEADS_MAX {
            self.older.clear();
        }
        self.older.insert(*agent, found);
        Ok(found)
    }

    /// Whether [`LogState::head`] finds the chain of an agent without a look into files.
    pub(crate) fn is_at_hand(&self, agent: &Hash) -> bool {
        self.open.index.heads.contains_key(agent) || self.older.contains_key(agent)
    }

    /// Takes notice of segments that another process has removed since. With the lock.
    pub(crate) fn look_where_it_begins(&mut self) -> Result<(), LogError> {
        if self.first == self.open.number || segment::path(&self.folder, self.first).exists() {
            return Ok(());
        }
        self.checkpoint = Checkpoint::read(&self.folder)?;
        let begins = self.checkpoint.as_ref().map(|checkpoint| checkpoint.statement.segment);
        let Some(begins) = begins.filter(|begins| *begins > self.first) else {
            let path = segment::path(&self.folder, self.first);
            return Err(LogError::damaged(&path, 0, "the file is gone, and no checkpoint says so"));
        };
        self.first = begins;
        self.older.clear();
        Ok(())
    }

    fn older_head(&mut self, agent: &Hash) -> Result<Option<Head>, LogError> {
        self.look_where_it_begins()?;
        // From the newest: the last record of an agent is the head of its chain.
        for number in (self.first..self.open.number).rev() {
            if let Some(head) = SealedIndex::open(&self.folder, number)?.head(agent) {
                return Ok(Some(head));
            }
        }
        let kept = self.checkpoint.as_ref().and_then(|checkpoint| checkpoint.heads.get(agent));
        Ok(kept.map(|audit_id| Head { audit_id: *audit_id, segment: 0, offset: 0 }))
    }

    /// Writes bytes at the end, or leaves everything as it was.
    pub(crate) fn append(&mut self, bytes: &[u8], sync: bool) -> Result<(), LogError> {
        let written = self.open.file.write_all_at(bytes, self.open.end);
        let written = written.and_then(|()| if sync { self.open.file.sync_data() } else { Ok(()) });
        written.map_err(|error| {
            // What is left behind is found as half an entry if even this fails.
            let _ = self.open.file.set_len(self.open.end);
            LogError::io(&segment::path(&self.folder, self.open.number))(error)
        })
    }

    /// Whether a few more records would fit on the disk.
    pub(crate) fn probe(&mut self) -> Result<(), LogError> {
        let end = self.open.end;
        // Really written and synced: free space, quotas and a file system that turned read-only all show only then.
        self.append(&vec![0; 2 * FRAME_BYTES_MAX], true)?;
        let path = segment::path(&self.folder, self.open.number);
        self.open.file.set_len(end).map_err(LogError::io(&path))
    }

    /// Seals the open segment and begins the next one. With the lock.
    pub(crate) fn rotate(&mut self, now: Timestamp) -> Result<(), LogError> {
        let seal = SegmentSeal { segment: self.open.number, records: self.open.records, sealed_at: now };
        let body = serde_json::to_vec(&seal).unwrap_or_default();
        let frame = Frame { kind: FrameKind::Seal, link: self.open.link, agent: [0; 32], body: &body };
        let mut bytes = Vec::new();
        frame.write(&mut bytes);
        // Synced whatever the policy is: a sealed segment is never written again, so nothing would sync it later.
        self.append(&bytes, true)?;
        self.open.take(&frame, &frame.digest())?;
        self.next_segment(now)
    }

    fn next_segment(&mut self, now: Timestamp) -> Result<(), LogError> {
        self.open.index.write(&self.folder, self.open.number)?;
        let next = OpenSegment::make(&self.folder, self.open.number + 1, self.open.link, now)?;
        self.go_on_to(next);
        Ok(())
    }

    /// The record or event that is called so. With the lock.
    pub(crate) fn find(&mut self, audit_id: &Hash) -> Result<Option<(u64, u32)>, LogError> {
        if let Some(offset) = self.open.index.find(audit_id) {
            return Ok(Some((self.open.number, offset)));
        }
        self.look_where_it_begins()?;
        for number in (self.first..self.open.number).rev() {
            if let Some(offset) = SealedIndex::open(&self.folder, number)?.find(audit_id) {
                return Ok(Some((number, offset)));
            }
        }
        Ok(None)
    }

    /// Where the last events of an agent are, the newest first. With the lock.
    pub(crate) fn events(&mut self, agent: &Hash, limit: usize) -> Result<Vec<(u64, u32)>, LogError> {
        self.look_where_it_begins()?;
        let mut found: Vec<(u64, u32)> = Vec::new();
        let newest = |number, offsets: Vec<u32>| offsets.into_iter().rev().map(move |offset| (number, offset));
        found.extend(newest(self.open.number, self.open.index.events(agent)));
        for number in (self.first..self.open.number).rev() {
            if found.len() >= limit {
                break;
            }
            found.extend(newest(number, SealedIndex::open(&self.folder, number)?.events(agent)));
        }
        found.truncate(limit);
        Ok(found)
    }

    /// The JWS at a place. With the lock.
    pub(crate) fn read(&self, number: u64, offset: u32) -> Result<String, LogError> {
        let path = segment::path(&self.folder, number);
        let file = File::open(&path).map_err(LogError::io(&path))?;
        let mut bytes = vec![0; HEAD_BYTES];
        file.read_exact_at(&mut bytes, offset.into()).map_err(LogError::io(&path))?;
        let damaged = |reason: &dyn ToString| LogError::damaged(&path, offset.into(), reason.to_string());
        let length = crate::frame::body_length(&bytes).map_err(|fault| damaged(&fault))?;
        bytes.resize(HEAD_BYTES + length, 0);
        file.read_exact_at(&mut bytes, offset.into()).map_err(LogError::io(&path))?;
        let (frame, _) = Frame::read(&bytes).map_err(|fault| damaged(&fault))?.ok_or_else(|| damaged(&"not whole"))?;
        String::from_utf8(frame.jws().to_vec()).map_err(|_| damaged(&"no text"))
    }

    /// Where the next entry goes.
    pub(crate) fn place(&self) -> (u64, u64) {
        (self.open.number, self.open.end)
    }

    /// Brings what was written to the disk.
    pub(crate) fn sync(&self) -> Result<(), LogError> {
        self.open.file.sync_data().map_err(LogError::io(&segment::path(&self.folder, self.open.number)))
    }

    /// How far the log is now.
    pub(crate) fn mark(&self, node: Option<&str>, now: Timestamp) -> Mark {
        let (segment, offset, link) = (self.open.number, self.open.end, to_hex(&self.open.link));
        Mark { segment, offset, link, issued_at: now, node: node.map(str::to_owned), accepted: None }
    }
}
