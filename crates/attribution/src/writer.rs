//! The writer: takes what waits, signs it in order, writes it in one go, and answers everybody.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::runtime::Handle;
use tokio::time::sleep;

use crate::background::{on_thread, spawn};
use crate::digest::{FIRST, Hash, sha256, to_hex, write_hex};
use crate::error::LogError;
use crate::frame::{EVENT_PREFIX, Frame, FrameKind};
use crate::limits::{GROUP_MAX, SYNC_INTERVAL};
use crate::log::{AttributionLog, Pending, SignedRecord, Unwritten};
use crate::options::{LogOptions, SyncPolicy};
use crate::segment::sync_folder;
use crate::signer::RecordSigner;
use crate::state::LogState;

/// Lets the next one begin a writer, however this one ends.
struct AtWork<'a>(&'a AttributionLog);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut queue = self.0.queue.lock();
            queue.is_running = false;
            // Whoever waits is told that nothing comes.
            queue.waiting.clear();
        }
    }
}

/// Records that were signed and are not written yet.
#[derive(Default)]
struct Group {
    bytes: Vec<u8>,
    frames: Vec<SignedFrame>,
    /// The heads of chains as they will be.
    heads: HashMap<Hash, Hash>,
    /// What the next frame carries.
    link: Hash,
}

struct SignedFrame {
    digest: Hash,
    /// Bytes of the frame in the group.
    length: usize,
    jws: String,
}

impl AttributionLog {
    /// Writes until nothing waits any more. Blocks.
    pub(crate) fn write_waiting(self: Arc<Self>) {
        let _at_work = AtWork(&self);
        loop {
            let group = {
                let mut queue = self.queue.lock();
                if queue.waiting.is_empty() {
                    queue.is_running = false;
                    break;
                }
                let count = queue.waiting.len().min(GROUP_MAX);
                queue.waiting.drain(..count).collect()
            };
            self.write_group(group);
        }
    }

    /// Signs and writes one record where it stands, which takes less than to wake another thread for it: when nobody
    /// else writes, and nothing but a write of a few kilobytes is to be done. `None`: it has to wait for its turn.
    pub(crate) fn write_at_once(self: &Arc<Self>, record: &mut Unwritten) -> Option<Result<SignedRecord, LogError>> {
        let signer = self.signer.read().signer();
        // Never waits: this runs on a worker of the runtime, and who holds the lock may be writing to a slow disk.
        let mut state = self.state.try_lock()?;
        let is_known = self.signers.try_lock()?.knows(&signer);
        let options = self.options.read();
        let is_full = state.open.end >= options.segment_bytes;
        let is_at_hand = record.1.is_none_or(|agent| state.is_at_hand(&agent));
        // Each of these would read or sync a file here; the writer's thread may.
        if !is_known || is_full || !is_at_hand || options.sync == SyncPolicy::Always {
            return None;
        }
        let written = state.locked_at_once(|state| {
            let mut group = Group { link: state.open.link, ..Group::default() };
            group.add(state, record, &signer)?;
            self.flush(state, group, &options)
        })?;
        // Before the rest, which takes other locks and tells others.
        drop((state, options));
        self.failure.settle(written.as_ref().err());
        self.sync_soon();
        Some(written.and_then(|records| records.into_iter().next().ok_or(LogError::Closed)))
    }

    fn write_group(self: &Arc<Self>, group: Vec<Pending>) {
        let options = self.options.read().clone();
        let signer = self.signer.read().signer();
        let written = {
            let mut state = self.state.lock();
            let (payloads, answers): (Vec<_>, Vec<_>) = group.into_iter().map(|one| (one.record, one.answer)).unzip();
            let written = state.locked(|state| {
                // With the lock of the folder, and before the first record: nobody could verify what a key signed that
                // was not kept.
                self.signers.lock().keep(&signer)?;
                self.write_signed(state, payloads, &signer, &options)
            });
            (written, answers)
        };
        let (written, answers) = written;
        self.failure.settle(written.as_ref().err());
        match written {
            Ok(records) => {
                // Where each group is synced, what is left to do is to sign how far that is.
                self.sync_soon();
                // Whoever asked may have gone; the record stands all the same.
                answers.into_iter().zip(records).for_each(|(answer, record)| drop(answer.send(Ok(record))));
            }
            Err(error) => answers.into_iter().for_each(|answer| drop(answer.send(Err(error.clone())))),
        }
    }

    /// Signs and writes a group, in as many pieces as there are segments to it. All of it or, when the disk fails
    /// between two segments, what went into the first one is there and nobody is told so: a chain stays whole.
    fn write_signed(
        &self,
        state: &mut LogState,
        payloads: Vec<Unwritten>,
        signer: &RecordSigner,
        options: &LogOptions,
    ) -> Result<Vec<SignedRecord>, LogError> {
        let mut done = Vec::with_capacity(payloads.len());
        let mut group = Group { link: state.open.link, ..Group::default() };
        for mut record in payloads {
            if state.open.end + group.bytes.len() as u64 >= options.segment_bytes {
                done.extend(self.flush(state, std::mem::take(&mut group), options)?);
                state.rotate(self.clock.now())?;
                self.retire_with(state, options, &self.signer.read().statement_signer());
                group.link = state.open.link;
            }
            group.add(state, &mut record, signer)?;
        }
        done.extend(self.flush(state, group, options)?);
        Ok(done)
    }

    fn flush(&self, state: &mut LogState, group: Group, options: &LogOptions) -> Result<Vec<SignedRecord>, LogError> {
        if group.frames.is_empty() {
            return Ok(Vec::new());
        }
        state.append(&group.bytes, options.sync == SyncPolicy::Always)?;
        let mut rest = &group.bytes[..];
        let mut done = Vec::with_capacity(group.frames.len());
        for signed in group.frames {
            let (own, behind) = rest.split_at(signed.length);
            rest = behind;
            if let Some(frame) = Frame::unchecked(own) {
                state.open.take(&frame, &signed.digest)?;
            }
            done.push(SignedRecord { audit_id: to_hex(&signed.digest), jws: signed.jws });
        }
        Ok(done)
    }

    /// Has what was written synced soon, once for all that is written until then.
    fn sync_soon(self: &Arc<Self>) {
        if self.is_dirty.swap(true, Ordering::Relaxed) {
            return;
        }
        let Ok(runtime) = Handle::try_current() else { return };
        // Weak, so that a log that is dropped meanwhile syncs in its own drop and not a second later.
        let log = Arc::downgrade(self);
        let work = async move {
            sleep(SYNC_INTERVAL).await;
            if let Some(log) = log.upgrade() {
                let _ended = on_thread(move || log.sync()).await;
            }
        };
        spawn(&runtime, Box::pin(work));
    }

    /// Syncs what is written, signs how far that is, and has the store told. Blocks.
    pub(crate) fn sync(&self) {
        let jws = match self.sync_to_disk() {
            Ok(jws) => jws,
            Err(error) => return tracing::error!(%error, "records were not synced, or how far they are was not kept"),
        };
        // At the very end there may be nobody to write it: the next start does.
        let Ok(runtime) = Handle::try_current() else { return };
        self.copied.tell_soon(jws.clone());
        let (heads, now) = (self.heads.read().clone(), self.clock.now());
        let work = async move {
            if let Some(heads) = heads
                && let Err(error) = heads.advance(&jws, now, false).await
            {
                tracing::warn!(%error, "how far the records are was not told to the store");
            }
        };
        spawn(&runtime, Box::pin(work));
    }

    /// Syncs what is written, and signs how far that is. Gives the mark that stands then. Blocks.
    pub(crate) fn sync_to_disk(&self) -> Result<String, LogError> {
        // What is written from here on is for the next time.
        self.is_dirty.store(false, Ordering::Relaxed);
        // The place is taken before the sync, and the file synced without the lock: what is added meanwhile is not
        // claimed, and nobody waits for the disk.
        let (file, mark, folder) = {
            let state = self.state.lock();
            let file = state.open.file.try_clone().map_err(LogError::io(&state.folder))?;
            (file, state.mark(self.node(), self.clock.now()), state.folder.clone())
        };
        file.sync_data().map_err(LogError::io(&folder))?;
        let signer = self.signer.read().statement_signer();
        let beside = self.next_mark.lock();
        // On the disk before the lock is asked for, and behind it again.
        let jws = mark.write_beside(&beside, &signer)?;
        let jws = self.state.lock().locked(|_| {
            self.signers.lock().keep(&signer)?;
            mark.put(&folder, &beside, jws)
        })?;
        sync_folder(&folder)?;
        Ok(jws)
    }

    /// Removes old segments as the operator wishes.
    pub(crate) fn retire(&self, state: &mut LogState) {
        let (options, signer) = (self.options.read().clone(), self.signer.read().statement_signer());
        let kept = state.locked(|state| {
            self.retire_with(state, &options, &signer);
            Ok(())
        });
        if let Err(error) = kept {
            tracing::warn!(%error, "old records were not looked at");
        }
    }

    fn retire_with(&self, state: &mut LogState, options: &LogOptions, signer: &RecordSigner) {
        match state.retire(options, signer, self.clock.now()) {
            Ok(0) => {}
            Ok(segments) => tracing::info!(segments, "old records were removed"),
            Err(error) => tracing::warn!(%error, "old records were not removed"),
        }
    }
}

impl Group {
    /// Signs a record as the next one of its chain.
    fn add(&mut self, state: &mut LogState, record: &mut Unwritten, signer: &RecordSigner) -> Result<(), LogError> {
        let (kind, agent, payload) = record;
        if let Some(agent) = &*agent {
            let previous = match self.heads.get(agent) {
                // The group's own head first: several records of one agent are often written together.
                Some(head) => *head,
                None => state.head(agent)?.map_or(FIRST, |head| head.audit_id),
            };
            write_hex(&previous, &mut payload.bytes[payload.previous_at..payload.previous_at + 64]);
        }
        self.sign(*kind, *agent, &payload.bytes, signer);
        Ok(())
    }

    fn sign(&mut self, kind: FrameKind, agent: Option<Hash>, payload: &[u8], signer: &RecordSigner) {
        let jws = signer.compact(payload);
        let digest = sha256(jws.as_bytes());
        let line;
        let body = match kind {
            FrameKind::Event => {
                line = [EVENT_PREFIX, jws.as_bytes()].concat();
                &line[..]
            }
            _ => jws.as_bytes(),
        };
        let frame = Frame { kind, link: self.link, agent: agent.unwrap_or_default(), body };
        let length = frame.bytes();
        frame.write(&mut self.bytes);
        self.link = frame.next_link(&digest);
        if let Some(agent) = agent {
            self.heads.insert(agent, digest);
        }
        self.frames.push(SignedFrame { digest, length, jws });
    }
}

impl Drop for AttributionLog {
    fn drop(&mut self) {
        if self.is_dirty.load(Ordering::Relaxed) {
            self.sync();
        }
    }
}
