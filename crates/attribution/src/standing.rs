//! Whether the log is still what signed statements say of it, when it is opened and before it is added to: a log that
//! was cut off or given back from an older copy is not gone on with, or it would be whole again behind the cut.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use forecourt_core::Timestamp;

use crate::checkpoint::{Checkpoint, KeptMark, Mark, unverified};
use crate::copies::COPY;
use crate::digest::{Hash, to_hex};
use crate::error::LogError;
use crate::heads::STORE;
use crate::keys::{KnownSigners, RecordKeys};
use crate::log::AttributionLog;
use crate::node::node_name;
use crate::segment::{self, FrameReader, SegmentError};
use crate::signature::{require_signed, says_unsigned};
use crate::signer::RecordSigner;
use crate::state::LogState;

/// The mark beside the records, in errors.
const MARK: &str = "the mark beside the records";
/// The checkpoint beside the records, in errors.
const CHECKPOINT: &str = "the checkpoint beside the records";
/// Why the first head says that it begins where it does, in a log that is older than heads in stores.
const NONE_BEFORE: &str = "no head was kept before";

/// What a statement says of the log, compared with what is there.
enum Standing {
    /// The log was as it says, and may have gone on.
    Holds,
    /// The log ends before that.
    Short,
    /// Something else stands before that place.
    Other,
}

impl LogState {
    /// Holds the log against the mark beside it. With the lock.
    ///
    /// # Errors
    /// The log is not what was signed. A mark that is gone, or that none of the keys signed, is told in the log and
    /// stands against nothing: the head in the store says how far the log was. `false`: there was no such mark.
    pub(crate) fn hold_against_mark(&self, signer: &RecordSigner) -> Result<bool, LogError> {
        let folder = self.folder.display();
        let (mark, jws) = match Mark::read(&self.folder)? {
            KeptMark::Read(mark, jws) => (mark, jws),
            KeptMark::Missing if self.is_new() => return Ok(false),
            KeptMark::Missing | KeptMark::Unreadable => {
                tracing::warn!(%folder, "the mark beside the records is gone: it is written again");
                return Ok(false);
            }
        };
        match require_signed(&jws, &known_keys(&self.folder, signer)) {
            Ok(()) => self.require(MARK, &mark, signer).map(|()| true),
            Err(reason) => {
                tracing::warn!(%folder, %reason, "the mark beside the records says nothing: it is written again");
                Ok(false)
            }
        }
    }

    /// Whether nothing was ever recorded. With the lock.
    pub(crate) fn is_new(&self) -> bool {
        self.checkpoint.is_none() && self.first == self.open.number && self.open.records == 0
    }

    /// What is gone by age or size is so by a checkpoint that somebody signed: whoever takes segments out can write one.
    ///
    /// # Errors
    /// There is a checkpoint that none of the keys signed.
    pub(crate) fn require_begun(&self, signer: &RecordSigner) -> Result<(), LogError> {
        // As it stands now: another process, or an operator, may have signed it since.
        let Some(checkpoint) = Checkpoint::read(&self.folder)? else { return Ok(()) };
        require_signed(&checkpoint.jws, &known_keys(&self.folder, signer))
            .map_err(|reason| LogError::Unproven { witness: CHECKPOINT, reason })
    }

    /// Signs where the log begins, as its checkpoint says. With the lock.
    fn sign_beginning(&mut self, signer: &RecordSigner) -> Result<(), LogError> {
        // Another process may have removed more since.
        if let Some(checkpoint) = Checkpoint::read(&self.folder)? {
            self.checkpoint = Some(checkpoint.sign(&self.folder, signer)?);
        }
        Ok(())
    }

    fn require(&self, witness: &'static str, mark: &Mark, signer: &RecordSigner) -> Result<(), LogError> {
        if mark.segment < self.first {
            return self.require_begun(signer);
        }
        let set_back = |how| Err(LogError::SetBack { witness, segment: mark.segment, offset: mark.offset, how });
        match self.standing(mark)? {
            Standing::Holds => Ok(()),
            Standing::Short => set_back("they end before that"),
            Standing::Other => set_back("others stand there"),
        }
    }

    fn standing(&self, mark: &Mark) -> Result<Standing, LogError> {
        if mark.place() > self.place() {
            return Ok(Standing::Short);
        }
        let link = match mark.place() == self.place() {
            true => Some(self.open.link),
            false => link_at(&segment::path(&self.folder, mark.segment), mark.offset)?,
        };
        Ok(if link.is_some_and(|link| to_hex(&link) == mark.link) { Standing::Holds } else { Standing::Other })
    }
}

impl AttributionLog {
    /// Holds the log against its head in the store, and moves that on to where the log is: the files lead, and a crash
    /// may have come between the two.
    ///
    /// # Errors
    /// The store can't be asked; or the log is not what the head says.
    pub(crate) async fn reconcile(self: &Arc<Self>) -> Result<(), LogError> {
        let Some(heads) = self.heads.read().clone() else { return Ok(()) };
        let away = |error: forecourt_core::Error| LogError::Store(error.to_string());
        let kept = heads.last().await.map_err(away)?;
        let is_known = kept.is_some();
        let copied = self.copied.last(self.node()).await;
        let work = move |log: &Self| {
            log.hold_against_copy(copied.as_deref())?;
            log.hold_against_store(kept.as_deref())
        };
        let (jws, is_new) = self.blocking(work).await?;
        match is_known || is_new {
            true => heads.advance(&jws, self.clock.now(), true).await.map_err(away)?,
            false => heads.accept(&jws).await.map_err(away)?,
        }
        // Not waited for: every request waits for this.
        self.copied.tell_soon(jws);
        Ok(())
    }

    /// A data folder that was set back as a whole is known by what lies elsewhere alone.
    fn hold_against_copy(&self, copied: Option<&str>) -> Result<(), LogError> {
        let Some(jws) = copied else { return Ok(()) };
        let signer = self.signer.read().statement_signer();
        self.state.lock().locked(|state| {
            let head: Mark = unverified(jws)
                .ok_or_else(|| LogError::Unproven { witness: COPY, reason: "it is no statement".to_owned() })?;
            require_signed(jws, &known_keys(&state.folder, &signer))
                .map_err(|reason| LogError::Unproven { witness: COPY, reason })?;
            state.require_begun(&signer)?;
            state.require(COPY, &head, &signer)
        })
    }

    /// Gives the mark that stands then, and whether nothing was ever recorded.
    fn hold_against_store(&self, kept: Option<&str>) -> Result<(String, bool), LogError> {
        let signer = self.signer.read().statement_signer();
        self.state.lock().locked(|state| {
            if let Some(jws) = kept {
                let unproven = |reason: String| LogError::Unproven { witness: STORE, reason };
                let head: Mark = unverified(jws).ok_or_else(|| unproven("it is no statement".to_owned()))?;
                // Before it is believed: one that nobody signed may be further back than the last one was.
                require_signed(jws, &known_keys(&state.folder, &signer)).map_err(unproven)?;
                state.require(STORE, &head, &signer)?;
                if head.place() < state.place() {
                    tracing::info!(
                        segment = head.segment,
                        offset = head.offset,
                        "the store's head of records is behind"
                    );
                }
            }
            let mut mark = state.mark(self.node(), self.clock.now());
            if kept.is_none() && !state.is_new() {
                tracing::warn!("the store knows no head of these records: it has one from here on");
                mark.accepted = Some(NONE_BEFORE.to_owned());
            }
            self.signers.lock().keep(&signer)?;
            if kept.is_none() && state.checkpoint.as_ref().is_some_and(|checkpoint| says_unsigned(&checkpoint.jws)) {
                // Once: from here on the store knows a head, beside which nobody believes one that is not signed.
                tracing::warn!(
                    "nobody signed where these records begin, as versions before heads did with signing off: it is taken \
                     as it stands, and signed"
                );
                state.sign_beginning(&signer)?;
            }
            state.require_begun(&signer)?;
            state.sync()?;
            Ok((mark.replace(&state.folder, &signer)?, state.is_new()))
        })
    }
}

/// Has a log go on from where it is, though it is not what its mark and its head in the store say: an operator takes
/// the loss. Gives the head for the store, as it was signed, with the reason in it. For a server that is stopped, or that
/// records nothing for want of what is gone.
///
/// # Errors
/// The folder can't be used, or what is in it is damaged.
pub fn accept(folder: &Path, signer: &RecordSigner, reason: &str, now: Timestamp) -> Result<String, LogError> {
    let node = node_name(folder)?;
    let work = || {
        LogState::open(folder, now)?.locked(|state| {
            KnownSigners::read(folder).keep(signer)?;
            state.sign_beginning(signer)?;
            state.sync()?;
            let mark = Mark { accepted: Some(reason.to_owned()), ..state.mark(node.as_deref(), now) };
            mark.replace(folder, signer)
        })
    };
    // By its mark such a log is damaged, and is not opened. Nothing else that is: it would be cut off where that begins.
    if ends_within_an_entry(folder)? { Mark::aside(folder, work) } else { work() }
}

/// Whether the end of the last file is gone, from somewhere within an entry on.
fn ends_within_an_entry(folder: &Path) -> Result<bool, LogError> {
    if !folder.try_exists().map_err(LogError::io(folder))? {
        return Ok(false);
    }
    let Some(last) = segment::numbers(folder)?.pop() else { return Ok(false) };
    let path = segment::path(folder, last);
    let file = File::open(&path).map_err(LogError::io(&path))?;
    let end = file.metadata().map_err(LogError::io(&path))?.len();
    let mut reader = FrameReader::new(BufReader::with_capacity(256 * 1024, file), 0, end);
    loop {
        match reader.next() {
            Ok(Some(_)) => {}
            Err(SegmentError::Io(error)) => return Err(LogError::io(&path)(error)),
            ended => return Ok(matches!(ended, Err(SegmentError::Cut))),
        }
    }
}

/// The keys whose statements count: those that were kept, and the one that signs now.
fn known_keys(folder: &Path, signer: &RecordSigner) -> RecordKeys {
    let mut keys = RecordKeys::beside(folder).unwrap_or_default();
    keys.extend(signer.public());
    keys
}

/// The hash that the frame behind a place carries; `None`: no frame ends there.
fn link_at(path: &Path, offset: u64) -> Result<Option<Hash>, LogError> {
    let file = File::open(path).map_err(LogError::io(path))?;
    let mut reader = FrameReader::new(BufReader::with_capacity(256 * 1024, file), 0, offset);
    let mut link = None;
    loop {
        match reader.next() {
            Ok(Some(read)) => link = Some(read.frame.next_link(&read.frame.digest())),
            Ok(None) => return Ok(link),
            Err(SegmentError::Io(error)) => return Err(LogError::io(path)(error)),
            Err(SegmentError::Cut | SegmentError::Frame(_)) => return Ok(None),
        }
    }
}
