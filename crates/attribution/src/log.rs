//! The log: records are signed and chained in the order in which they are written, by one writer at a time, in groups.
//! Whoever records waits for its group, so that no answer leaves before its record is written.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use forecourt_core::{AgentId, Clock};
use futures::future::BoxFuture;
use parking_lot::{Mutex, RwLock};
use serde_json::{Map, Value};
use tokio::sync::{OnceCell, oneshot};

use crate::background::{begin_on_thread, on_thread};
use crate::checkpoint::next_mark_path;
use crate::copies::{CopiedHead, HeadCopy};
use crate::digest::{Hash, from_hex, to_hex};
use crate::error::LogError;
use crate::failure::LastFailure;
use crate::frame::FrameKind;
use crate::heads::HeadStream;
use crate::keys::KnownSigners;
use crate::limits::{CHAIN_READ_MAX, QUEUE_MAX};
use crate::node::node_name;
use crate::options::LogOptions;
use crate::payload::{Payload, RecordDraft, event};
use crate::signer::SignerSource;
use crate::state::LogState;

/// A record as it goes out with its response. Base 2.5.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedRecord {
    /// `Attribution-Record`: a compact JWS.
    pub jws: String,
    /// `Audit-ID`: SHA-256 of that, in lowercase hexadecimal.
    pub audit_id: String,
}

/// Where a chain stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainHead {
    /// The Audit-ID of its last record.
    pub audit_id: String,
    /// The record; `None`: it was removed by age or size.
    pub jws: Option<String>,
}

/// Records of what was answered, in a chain for each agent. Shared by all that answers; dropping it syncs.
pub struct AttributionLog {
    pub(crate) state: Mutex<LogState>,
    pub(crate) queue: Mutex<Queue>,
    pub(crate) options: RwLock<LogOptions>,
    pub(crate) signer: RwLock<Arc<dyn SignerSource>>,
    pub(crate) signers: Mutex<KnownSigners>,
    pub(crate) clock: Arc<dyn Clock>,
    /// What this node is called in its records, where there are several.
    node: Option<String>,
    /// The heads of the log in a store. `None`: nobody is told how far it is.
    pub(crate) heads: RwLock<Option<Arc<HeadStream>>>,
    /// The second place for heads.
    pub(crate) copied: Arc<CopiedHead>,
    /// Whether the log was held against its head in the store, before which nothing is added to it.
    reconciled: OnceCell<()>,
    /// Where the next mark is written, by one at a time.
    pub(crate) next_mark: Mutex<PathBuf>,
    /// Whether something is written that is not synced.
    pub(crate) is_dirty: AtomicBool,
    pub(crate) failure: LastFailure,
}

/// The records that wait for the writer, and whether there is one.
#[derive(Default)]
pub(crate) struct Queue {
    pub(crate) waiting: Vec<Pending>,
    /// Whether a writer is at work.
    pub(crate) is_running: bool,
}

/// What is to be written: what it is, in whose chain, and what it says.
pub(crate) type Unwritten = (FrameKind, Option<Hash>, Payload);

/// Something that waits to be written.
pub(crate) struct Pending {
    pub record: Unwritten,
    pub answer: oneshot::Sender<Result<SignedRecord, LogError>>,
}

impl AttributionLog {
    /// Opens the log in `folder`, which is made when it is not there. Blocks while the open segment is read.
    ///
    /// # Errors
    /// The folder can't be used, or what is in it was changed where it was known to be on the disk.
    pub fn open(
        folder: &Path,
        options: LogOptions,
        signer: Arc<dyn SignerSource>,
        clock: Arc<dyn Clock>,
    ) -> Result<Arc<Self>, LogError> {
        let state = LogState::open(folder, clock.now())?;
        let node = node_name(folder)?;
        let log = Self {
            node,
            heads: RwLock::default(),
            copied: Arc::default(),
            reconciled: OnceCell::new(),
            next_mark: Mutex::new(next_mark_path(folder)),
            signers: Mutex::new(KnownSigners::read(folder)),
            state: Mutex::new(state),
            queue: Mutex::default(),
            options: RwLock::new(options),
            signer: RwLock::new(signer),
            clock,
            is_dirty: AtomicBool::new(false),
            failure: LastFailure::default(),
        };
        log.begin()?;
        Ok(Arc::new(log))
    }

    /// Holds the log against its mark, which is written where there is none that counts.
    fn begin(&self) -> Result<(), LogError> {
        let signer = self.signer.read().statement_signer();
        let mut state = self.state.lock();
        state.locked(|state| {
            if !state.hold_against_mark(&signer)? {
                self.signers.lock().keep(&signer)?;
                state.sync()?;
                state.mark(self.node(), self.clock.now()).replace(&state.folder, &signer)?;
            }
            Ok(())
        })?;
        self.retire(&mut state);
        Ok(())
    }

    /// Goes on with other options and another key: the deployment was replaced.
    pub fn replace(&self, options: LogOptions, signer: Arc<dyn SignerSource>) {
        *self.options.write() = options;
        *self.signer.write() = signer;
    }

    /// What this node is called in its records, where there are several.
    pub fn node(&self) -> Option<&str> {
        self.node.as_deref()
    }

    /// Has a store told how far the log is, whenever more of it is on the disk. Before anything is recorded, the log
    /// is held against the last head there. To be called before the first record.
    pub fn keep_heads(&self, heads: HeadStream) {
        *self.heads.write() = Some(Arc::new(heads));
    }

    /// Has heads copied to a second place as well, or to none any more.
    pub fn copy_heads(&self, copy: Option<Arc<dyn HeadCopy>>) {
        self.copied.set(copy);
    }

    /// Syncs what is written, and has the store and the second place told. For the end of a server; what a crash leaves
    /// undone here is done at the next start.
    ///
    /// # Errors
    /// The disk or the store does not take it.
    pub fn close(self: &Arc<Self>) -> BoxFuture<'_, Result<(), LogError>> {
        Box::pin(async move {
            self.reconciled().await?;
            let jws = self.blocking(Self::sync_to_disk).await?;
            let heads = self.heads.read().clone();
            let told = match heads {
                Some(heads) => heads.advance(&jws, self.clock.now(), true).await,
                None => Ok(()),
            };
            // Last, and whatever the store said: it may take its time.
            self.copied.tell_now(jws).await;
            told.map_err(|error| LogError::Store(error.to_string()))
        })
    }

    /// Signs and writes the record of a response, last in its agent's chain. Once this returns it is in the file,
    /// and synced where [`crate::SyncPolicy::Always`] says so.
    ///
    /// # Errors
    /// [`LogError::Busy`] over [`QUEUE_MAX`], and whatever the disk has to say.
    pub fn record<'a>(self: &'a Arc<Self>, draft: RecordDraft<'a>) -> BoxFuture<'a, Result<SignedRecord, LogError>> {
        Box::pin(async move {
            let agent = draft.agent.and_then(|agent| from_hex(agent.as_str()));
            self.append(FrameKind::Record, agent, draft.write(self.node())?).await
        })
    }

    /// Signs and writes an event of an agent's life, last in its chain. Gives its Audit-ID. Base 8.2.
    ///
    /// # Errors
    /// As [`AttributionLog::record`].
    pub fn event<'a>(
        self: &'a Arc<Self>,
        agent: &'a AgentId,
        said: Map<String, Value>,
    ) -> BoxFuture<'a, Result<String, LogError>> {
        Box::pin(async move {
            let server_id = self.options.read().server_id.clone();
            let payload = event(agent, &server_id, self.node(), self.clock.now(), said)?;
            let signed = self.append(FrameKind::Event, from_hex(agent.as_str()), payload).await?;
            Ok(signed.audit_id)
        })
    }

    /// Says at once whether records can be kept: whether the log is what its head says, and the disk takes more. After
    /// one of the two failed, it is tried anew once a second.
    ///
    /// # Errors
    /// What was wrong last.
    pub fn ready(self: &Arc<Self>) -> BoxFuture<'_, Result<(), LogError>> {
        Box::pin(async move {
            self.reconciled().await?;
            if !self.failure.is_due()? {
                return Ok(());
            }
            self.blocking(|log| {
                let mut state = log.state.lock();
                let probed = state.locked(LogState::probe);
                log.failure.settle(probed.as_ref().err());
                probed
            })
            .await
        })
    }

    /// The record or event that is called `audit_id`, as it was signed.
    ///
    /// # Errors
    /// The log can't be read.
    pub fn find<'a>(self: &'a Arc<Self>, audit_id: &'a str) -> BoxFuture<'a, Result<Option<String>, LogError>> {
        Box::pin(async move {
            let Some(wanted) = from_hex(audit_id) else { return Ok(None) };
            self.blocking(move |log| {
                log.state.lock().locked(|state| match state.find(&wanted)? {
                    Some((number, offset)) => {
                        let jws = state.read(number, offset)?;
                        // The index knows half of the hash.
                        Ok((crate::sha256(jws.as_bytes()) == wanted).then_some(jws))
                    }
                    None => Ok(None),
                })
            })
            .await
        })
    }

    /// Where the chain of an agent stands; `None`: it has none.
    ///
    /// # Errors
    /// The log can't be read.
    pub fn head<'a>(self: &'a Arc<Self>, agent: &'a AgentId) -> BoxFuture<'a, Result<Option<ChainHead>, LogError>> {
        Box::pin(async move {
            let Some(agent) = from_hex(agent.as_str()) else { return Ok(None) };
            self.blocking(move |log| {
                log.state.lock().locked(|state| {
                    let Some(head) = state.head(&agent)? else { return Ok(None) };
                    let jws = (head.segment > 0).then(|| state.read(head.segment, head.offset)).transpose()?;
                    Ok(Some(ChainHead { audit_id: to_hex(&head.audit_id), jws }))
                })
            })
            .await
        })
    }

    /// The last `limit` records of an agent's chain, the newest first; at most [`CHAIN_READ_MAX`].
    ///
    /// # Errors
    /// The log can't be read.
    pub fn chain<'a>(
        self: &'a Arc<Self>,
        agent: &'a AgentId,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<String>, LogError>> {
        Box::pin(async move {
            let Some(agent) = from_hex(agent.as_str()) else { return Ok(Vec::new()) };
            self.blocking(move |log| {
                log.state.lock().locked(|state| {
                    let (mut found, mut next) = (Vec::new(), state.head(&agent)?.map(|head| head.audit_id));
                    while let Some(audit_id) = next.filter(|_| found.len() < limit.min(CHAIN_READ_MAX)) {
                        let Some((number, offset)) = state.find(&audit_id)? else { break };
                        let jws = state.read(number, offset)?;
                        next = crate::previous(&jws).filter(|previous| *previous != crate::FIRST);
                        found.push(jws);
                    }
                    Ok(found)
                })
            })
            .await
        })
    }

    /// The last `limit` events of an agent, the newest first, each as its JWS.
    ///
    /// # Errors
    /// The log can't be read.
    pub fn events<'a>(
        self: &'a Arc<Self>,
        agent: &'a AgentId,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<String>, LogError>> {
        Box::pin(async move {
            let Some(agent) = from_hex(agent.as_str()) else { return Ok(Vec::new()) };
            self.blocking(move |log| {
                log.state.lock().locked(|state| {
                    let places = state.events(&agent, limit)?;
                    places.into_iter().map(|(number, offset)| state.read(number, offset)).collect()
                })
            })
            .await
        })
    }

    async fn append(
        self: &Arc<Self>,
        kind: FrameKind,
        agent: Option<Hash>,
        payload: Payload,
    ) -> Result<SignedRecord, LogError> {
        self.reconciled().await?;
        let mut record = (kind, agent, payload);
        let is_alone = {
            let queue = self.queue.lock();
            queue.waiting.is_empty() && !queue.is_running
        };
        // Only when nobody waits, or records would overtake those that came before.
        if is_alone && let Some(written) = self.write_at_once(&mut record) {
            return written;
        }
        let (answer, answered) = oneshot::channel();
        let begins = {
            let mut queue = self.queue.lock();
            if queue.waiting.len() >= QUEUE_MAX {
                return Err(LogError::Busy);
            }
            queue.waiting.push(Pending { record, answer });
            // Under the same lock as the push: either the writer that runs sees this record, or this call begins one.
            !std::mem::replace(&mut queue.is_running, true)
        };
        if begins {
            let log = Arc::clone(self);
            drop(begin_on_thread(Box::new(move || log.write_waiting())));
        }
        answered.await.map_err(|_| LogError::Closed)?
    }

    /// Holds the log against its head in the store, once.
    async fn reconciled(self: &Arc<Self>) -> Result<(), LogError> {
        if self.reconciled.initialized() {
            return Ok(());
        }
        let once = || async {
            // Within, since those who waited for one that failed would each begin another.
            self.failure.none_of_late()?;
            self.reconcile().await.inspect_err(|error| self.failure.settle(Some(error)))
        };
        self.reconciled.get_or_try_init(once).await.copied()
    }

    pub(crate) async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, LogError> + Send + 'static,
    ) -> Result<T, LogError> {
        let log = Arc::clone(self);
        on_thread(move || work(&log)).await.ok_or(LogError::Closed)?
    }
}
