//! Records in the store that nodes share: one chain for each agent, whichever node answers it. A record is signed with
//! the Audit-ID of the last one in the store, and written behind that one or not at all, so that the chain joins over
//! nodes; whichever was first, the others sign anew behind it.
//!
//! | stream | holds |
//! |---|---|
//! | `chain:AGENT` | the records and events of an agent, in order |
//! | `unknown:NODE` | the records of callers that are not known, one stream for each run of a node: nothing links them |
//! | `audit:ID` | where the record of a name is |
//! | `events:AGENT` | the events of an agent once more: they are rare, and asked for by themselves |
//! | `chains`, `signers` | the streams that there are, and the keys that signed |

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use forecourt_core::store::Span;
use forecourt_core::{AgentId, Clock, Error, Timestamp};
use forecourt_host::Ledger;
use futures::future::join;
use parking_lot::{Mutex, RwLock};
use serde_json::{Map, Value, json};
use tokio::sync::{Mutex as AsyncMutex, Semaphore};
use tokio::time::sleep;

use crate::checkpoint::SharedHead;
use crate::copies::{COPY_EVERY, HeadCopy, told};
use crate::digest::{FIRST, Hash, from_hex, sha256, to_hex, write_hex};
use crate::error::LogError;
use crate::failure::LastFailure;
use crate::frame::FrameKind;
use crate::limits::{CHAIN_READ_MAX, CHAIN_TURNS, HEADS_MAX, QUEUE_MAX, STORED_APPENDS_MAX};
use crate::log::{ChainHead, SignedRecord};
use crate::options::LogOptions;
use crate::payload::{Payload, RecordDraft, event};
use crate::signer::{RecordSigner, SignerSource};

/// The streams that there are.
pub(crate) const CHAINS: &str = "chains";
/// The keys that signed.
pub(crate) const SIGNERS: &str = "signers";
/// What the streams of agents' chains begin with.
pub(crate) const CHAIN: &str = "chain:";

/// The last record of a stream.
#[derive(Clone, Copy)]
struct StoredHead {
    /// Its number; 0: there is none.
    number: u64,
    audit_id: Hash,
}

/// Records in a store that several nodes have.
pub struct SharedLog {
    ledger: Ledger,
    node: String,
    options: RwLock<LogOptions>,
    signer: RwLock<Arc<dyn SignerSource>>,
    clock: Arc<dyn Clock>,
    /// The heads of chains as this node knows them, in parts: within a node the records of one agent take turns, since
    /// they would only sign behind each other again and again.
    chains: Vec<AsyncMutex<HashMap<String, StoredHead>>>,
    waiting: Semaphore,
    /// The names of keys that are in the store.
    published: Mutex<HashSet<String>>,
    failure: LastFailure,
    /// The second place for heads, and the streams whose heads it was not told yet.
    copy: RwLock<Option<Arc<dyn HeadCopy>>>,
    untold: Mutex<HashMap<String, StoredHead>>,
}

impl SharedLog {
    /// Records in the streams of `ledger`, that of [`crate::heads::HEADS`]. `node` names this run.
    pub fn new(
        ledger: Ledger,
        node: String,
        options: LogOptions,
        signer: Arc<dyn SignerSource>,
        clock: Arc<dyn Clock>,
    ) -> Arc<Self> {
        Arc::new(Self {
            ledger,
            node,
            options: RwLock::new(options),
            signer: RwLock::new(signer),
            clock,
            chains: (0..CHAIN_TURNS).map(|_| AsyncMutex::default()).collect(),
            waiting: Semaphore::new(QUEUE_MAX),
            published: Mutex::default(),
            failure: LastFailure::default(),
            copy: RwLock::default(),
            untold: Mutex::default(),
        })
    }

    /// Has heads of chains copied to a second place as well, or to none any more.
    pub fn copy_heads(&self, copy: Option<Arc<dyn HeadCopy>>) {
        *self.copy.write() = copy;
    }

    /// Has the second place told of the heads that it was not told yet.
    pub(crate) async fn copy_now(&self) {
        let Some(copy) = self.copy.read().clone() else { return };
        let untold = std::mem::take(&mut *self.untold.lock());
        let signer = self.signer.read().statement_signer();
        for (stream, head) in untold {
            let head = SharedHead {
                stream,
                number: head.number,
                audit_id: to_hex(&head.audit_id),
                issued_at: self.clock.now(),
                expires_at: self.until(),
            };
            // A struct of numbers and texts is always written.
            let jws = signer.compact(&serde_json::to_vec(&head).unwrap_or_default());
            told(&*copy, vec![jws]).await;
        }
    }

    /// Remembers a head for the second place, which is told of all at once after a while.
    fn tell_soon(self: &Arc<Self>, stream: &str, head: StoredHead) {
        if self.copy.read().is_none() {
            return;
        }
        let is_first = {
            let mut untold = self.untold.lock();
            let is_first = untold.is_empty();
            // Over the bound the next minute tells it: a later head of a chain says all that an earlier one did.
            if untold.len() < HEADS_MAX || untold.contains_key(stream) {
                untold.insert(stream.to_owned(), head);
            }
            is_first
        };
        if !is_first {
            return;
        }
        let log = Arc::downgrade(self);
        tokio::spawn(async move {
            sleep(COPY_EVERY).await;
            if let Some(log) = log.upgrade() {
                log.copy_now().await;
            }
        });
    }

    pub(crate) fn replace(&self, options: LogOptions, signer: Arc<dyn SignerSource>) {
        *self.options.write() = options;
        *self.signer.write() = signer;
    }

    pub(crate) async fn record(self: &Arc<Self>, draft: RecordDraft<'_>) -> Result<SignedRecord, LogError> {
        let agent = draft.agent.and_then(|agent| from_hex(agent.as_str()));
        self.append(FrameKind::Record, agent, draft.write(Some(&self.node))?).await
    }

    pub(crate) async fn event(self: &Arc<Self>, agent: &AgentId, said: Map<String, Value>) -> Result<String, LogError> {
        let server_id = self.options.read().server_id.clone();
        let payload = event(agent, &server_id, Some(&self.node), self.clock.now(), said)?;
        Ok(self.append(FrameKind::Event, from_hex(agent.as_str()), payload).await?.audit_id)
    }

    /// Whether the store can be asked. After it failed, it is tried anew once a second.
    pub(crate) async fn ready(&self) -> Result<(), LogError> {
        if !self.failure.is_due()? {
            return Ok(());
        }
        let asked = self.ledger.last(SIGNERS).await.map(drop).map_err(away);
        self.failure.settle(asked.as_ref().err());
        asked
    }

    pub(crate) async fn find(&self, audit_id: &str) -> Result<Option<String>, LogError> {
        let Some(wanted) = from_hex(audit_id) else { return Ok(None) };
        let Some((_, place)) = self.ledger.last(&audit_stream(&wanted)).await.map_err(away)? else { return Ok(None) };
        let (stream, number) = (&place.body["stream"], place.body["number"].as_u64());
        let (Some(stream), Some(before)) = (stream.as_str(), number.and_then(|number| number.checked_sub(1))) else {
            return Ok(None);
        };
        let found = self.ledger.entries(stream, Span::After(before), 1).await.map_err(away)?;
        let jws = found.first().and_then(|(_, entry)| entry.body["jws"].as_str().map(str::to_owned));
        // The place is written beside the record, which may have come to stand elsewhere or be gone by age.
        Ok(jws.filter(|jws| sha256(jws.as_bytes()) == wanted))
    }

    pub(crate) async fn head(&self, agent: &AgentId) -> Result<Option<ChainHead>, LogError> {
        let newest = self.newest(&chain_stream(agent.as_str()), 1).await?;
        let head = |jws: String| ChainHead { audit_id: to_hex(&sha256(jws.as_bytes())), jws: Some(jws) };
        Ok(newest.into_iter().next().map(head))
    }

    pub(crate) async fn chain(&self, agent: &AgentId, limit: usize) -> Result<Vec<String>, LogError> {
        self.newest(&chain_stream(agent.as_str()), limit).await
    }

    pub(crate) async fn events(&self, agent: &AgentId, limit: usize) -> Result<Vec<String>, LogError> {
        self.newest(&events_stream(agent.as_str()), limit).await
    }

    /// The last entries of a stream, the newest first.
    async fn newest(&self, stream: &str, limit: usize) -> Result<Vec<String>, LogError> {
        let (limit, mut found, mut before) = (limit.min(CHAIN_READ_MAX), Vec::new(), u64::MAX);
        while found.len() < limit {
            let left = limit - found.len();
            let page = self.ledger.entries(stream, Span::Before(before), left).await.map_err(away)?;
            let Some((last, _)) = page.last() else { break };
            before = *last;
            found.extend(page.iter().filter_map(|(_, entry)| entry.body["jws"].as_str().map(str::to_owned)));
        }
        Ok(found)
    }

    async fn append(
        self: &Arc<Self>,
        kind: FrameKind,
        agent: Option<Hash>,
        payload: Payload,
    ) -> Result<SignedRecord, LogError> {
        let _turn = self.waiting.try_acquire().map_err(|_| LogError::Busy)?;
        let written = self.append_in_turn(kind, agent, payload).await;
        self.failure.settle(written.as_ref().err());
        written
    }

    async fn append_in_turn(
        self: &Arc<Self>,
        kind: FrameKind,
        agent: Option<Hash>,
        mut payload: Payload,
    ) -> Result<SignedRecord, LogError> {
        let signer = self.signer.read().signer();
        self.publish(&signer).await?;
        let until = self.until();
        let stream = agent.map_or_else(|| format!("unknown:{}", self.node), |agent| chain_stream(&to_hex(&agent)));
        let turns = agent.map_or(0, |agent| usize::from(agent[0]) % self.chains.len());
        let mut heads = self.chains[turns].lock().await;
        for _ in 0..STORED_APPENDS_MAX {
            // Taken out, and put back once it is known: a call that is dropped in the middle, or an answer of the store
            // that is lost, leaves nobody who knows how far the chain is.
            let head = match heads.remove(&stream) {
                Some(head) => head,
                None => self.last(&stream).await?,
            };
            if agent.is_some() {
                write_hex(&head.audit_id, &mut payload.bytes[payload.previous_at..payload.previous_at + 64]);
            }
            let jws = signer.compact(&payload.bytes);
            let audit_id = sha256(jws.as_bytes());
            if self.write(&stream, kind, (&jws, &audit_id), head.number, until).await? {
                if let Some(agent) = agent.filter(|_| kind == FrameKind::Event) {
                    let events = events_stream(&to_hex(&agent));
                    self.ledger.append(&events, json!({"jws": jws}), until, None).await.map_err(away)?;
                }
                if heads.len() >= HEADS_MAX / CHAIN_TURNS {
                    heads.clear();
                }
                let head = StoredHead { number: head.number + 1, audit_id };
                self.tell_soon(&stream, head);
                heads.insert(stream, head);
                return Ok(SignedRecord { audit_id: to_hex(&audit_id), jws });
            }
        }
        Err(LogError::Busy)
    }

    /// Writes a record behind the one with this number; `false`: another one is there. Where it is, is written at the
    /// same time: a place that leads to another record is no harm, since the name is its hash.
    async fn write(
        &self,
        stream: &str,
        kind: FrameKind,
        (jws, audit_id): (&str, &Hash),
        behind: u64,
        until: Option<Timestamp>,
    ) -> Result<bool, LogError> {
        if behind == 0 {
            // Before its first record, so that no stream is overlooked by who verifies all of them.
            self.ledger.append(CHAINS, json!({"stream": stream}), None, None).await.map_err(away)?;
        }
        let kind = if kind == FrameKind::Event { "event" } else { "record" };
        let (named, place) = (audit_stream(audit_id), json!({"stream": stream, "number": behind + 1}));
        let record = self.ledger.append(stream, json!({"kind": kind, "jws": jws}), until, Some(behind));
        let (record, place) = join(record, self.ledger.append(&named, place, until, None)).await;
        let is_written = record.map_err(away)?.is_some();
        place.map_err(away)?;
        Ok(is_written)
    }

    async fn last(&self, stream: &str) -> Result<StoredHead, LogError> {
        let last = self.ledger.last(stream).await.map_err(away)?;
        Ok(last.map_or(StoredHead { number: 0, audit_id: FIRST }, |(number, entry)| {
            let jws = entry.body["jws"].as_str().unwrap_or_default();
            StoredHead { number, audit_id: sha256(jws.as_bytes()) }
        }))
    }

    /// Puts the key of a signer into the store before it signs: nobody could verify what it signed otherwise.
    async fn publish(&self, signer: &RecordSigner) -> Result<(), LogError> {
        let Some(public) = signer.public() else { return Ok(()) };
        let name = format!("{} {}", public.kid, public.x);
        if self.published.lock().contains(&name) {
            return Ok(());
        }
        let known = signers(&self.ledger).await.map_err(away)?;
        if !known.iter().any(|key| key["kid"] == public.kid && key["x"] == public.x) {
            self.ledger.append(SIGNERS, public.to_jwk(), None, None).await.map_err(away)?;
        }
        self.published.lock().insert(name);
        Ok(())
    }

    fn until(&self) -> Option<Timestamp> {
        let kept = self.options.read().retention?;
        self.clock.now().checked_add(kept).ok()
    }
}

/// The keys that signed records in a store, as JWKs.
pub(crate) async fn signers(ledger: &Ledger) -> Result<Vec<Value>, Error> {
    let (mut found, mut after) = (Vec::new(), 0);
    loop {
        let page = ledger.entries(SIGNERS, Span::After(after), CHAIN_READ_MAX).await?;
        let Some((last, _)) = page.last() else { return Ok(found) };
        after = *last;
        found.extend(page.into_iter().map(|(_, entry)| entry.body));
    }
}

fn away(error: Error) -> LogError {
    LogError::Store(error.to_string())
}

fn chain_stream(agent: &str) -> String {
    format!("{CHAIN}{agent}")
}

fn events_stream(agent: &str) -> String {
    format!("events:{agent}")
}

fn audit_stream(audit_id: &Hash) -> String {
    format!("audit:{}", to_hex(audit_id))
}
