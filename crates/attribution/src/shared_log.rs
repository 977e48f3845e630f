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
//! | `retentions` | for how long records are kept |

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use forecourt_core::store::Span;
use forecourt_core::{AgentId, Clock, Error, Timestamp};
use forecourt_host::Ledger;
use futures::future::join;
use parking_lot::{Mutex, RwLock};
use serde_json::{Map, Value, json};
use tokio::sync::{Mutex as AsyncMutex, OnceCell, Semaphore};

use crate::copies::HeadCopy;
use crate::digest::{FIRST, Hash, from_hex, sha256, to_hex, write_hex};
use crate::error::LogError;
use crate::failure::LastFailure;
use crate::frame::FrameKind;
use crate::limits::{CHAIN_READ_MAX, CHAIN_TURNS, HEADS_MAX, QUEUE_MAX, STORED_APPENDS_MAX};
use crate::log::{ChainHead, SignedRecord};
use crate::options::LogOptions;
use crate::payload::{Payload, RecordDraft, event};
use crate::shared_retention;
use crate::signer::{RecordSigner, SignerSource};

/// The streams that there are.
pub(crate) const CHAINS: &str = "chains";
/// The keys that signed.
pub(crate) const SIGNERS: &str = "signers";
/// What the streams of agents' chains begin with.
pub(crate) const CHAIN: &str = "chain:";

/// The last record of a stream.
#[derive(Clone, Copy)]
pub(crate) struct StoredHead {
    /// Its number; 0: there is none.
    pub(crate) number: u64,
    pub(crate) audit_id: Hash,
    /// When it goes by age.
    pub(crate) until: Option<Timestamp>,
}

/// The second place for the heads of chains.
#[derive(Default)]
pub(crate) struct CopiedHeads {
    pub(crate) copy: RwLock<Option<Arc<dyn HeadCopy>>>,
    /// What it did not take yet, by streams. Not empty: somebody is about to tell it.
    pub(crate) untold: Mutex<HashMap<String, StoredHead>>,
    /// One at a time, or each would tell of the same.
    pub(crate) turn: AsyncMutex<()>,
}

/// The stream of a record that was written, where it is there, and the record.
type WrittenRecord = (String, StoredHead, String);

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
    /// Whether the stream of callers that are not known is in the list of streams.
    is_listed: OnceCell<()>,
    /// The names of keys that are in the store.
    published: Mutex<HashSet<String>>,
    /// For how long records are kept, as the store was told.
    stated: Mutex<Option<Option<Duration>>>,
    failure: LastFailure,
    /// The second place for heads.
    pub(crate) copied: CopiedHeads,
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
            is_listed: OnceCell::new(),
            published: Mutex::default(),
            stated: Mutex::default(),
            failure: LastFailure::default(),
            copied: CopiedHeads::default(),
        })
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
        // The record may be gone by age.
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
        payload: Payload,
    ) -> Result<SignedRecord, LogError> {
        let signer = self.signer.read().signer();
        self.publish(&signer).await?;
        self.state_retention().await?;
        let (stream, head, jws) = match agent {
            Some(agent) => self.append_to_chain(kind, &agent, payload, &signer).await?,
            None => self.append_alone(kind, &payload, &signer).await?,
        };
        self.tell_soon(&stream, head);
        // Once the record is there, so that nothing speaks of one that lost a race.
        let (named, place) = (audit_stream(&head.audit_id), json!({"stream": stream, "number": head.number}));
        let place = self.ledger.append(&named, place, head.until, None);
        let events = agent.filter(|_| kind == FrameKind::Event).map(|agent| events_stream(&to_hex(&agent)));
        let event = async {
            match &events {
                Some(events) => self.ledger.append(events, json!({"jws": jws}), head.until, None).await.map(drop),
                None => Ok(()),
            }
        };
        let (place, event) = join(place, event).await;
        place.and(event).map_err(away)?;
        Ok(SignedRecord { audit_id: to_hex(&head.audit_id), jws })
    }

    /// Writes a record behind the last one of its agent, whoever wrote that.
    async fn append_to_chain(
        &self,
        kind: FrameKind,
        agent: &Hash,
        mut payload: Payload,
        signer: &RecordSigner,
    ) -> Result<WrittenRecord, LogError> {
        let (stream, until) = (chain_stream(&to_hex(agent)), self.until());
        let mut heads = self.chains[usize::from(agent[0]) % self.chains.len()].lock().await;
        for _ in 0..STORED_APPENDS_MAX {
            // Taken out, and put back once it is known: a call that is dropped in the middle, or an answer of the store
            // that is lost, leaves nobody who knows how far the chain is.
            let head = match heads.remove(&stream) {
                Some(head) => head,
                None => self.last(&stream).await?,
            };
            if head.number == 0 {
                self.list(&stream).await?;
            }
            write_hex(&head.audit_id, &mut payload.bytes[payload.previous_at..payload.previous_at + 64]);
            let jws = signer.compact(&payload.bytes);
            let written = self.ledger.append(&stream, body(kind, &jws), until, Some(head.number)).await;
            // Not always the next number: records behind the last one may be gone by age.
            if let Some(number) = written.map_err(away)? {
                let head = StoredHead { number, audit_id: sha256(jws.as_bytes()), until };
                if heads.len() >= HEADS_MAX / CHAIN_TURNS {
                    heads.clear();
                }
                heads.insert(stream.clone(), head);
                return Ok((stream, head, jws));
            }
        }
        Err(LogError::Busy)
    }

    /// Writes a record that nothing links, and so in no turn.
    async fn append_alone(
        &self,
        kind: FrameKind,
        payload: &Payload,
        signer: &RecordSigner,
    ) -> Result<WrittenRecord, LogError> {
        let (stream, until) = (format!("unknown:{}", self.node), self.until());
        self.is_listed.get_or_try_init(|| self.list(&stream)).await?;
        let jws = signer.compact(&payload.bytes);
        let number = self.ledger.append(&stream, body(kind, &jws), until, None).await.map_err(away)?;
        let head = StoredHead { number: number.unwrap_or_default(), audit_id: sha256(jws.as_bytes()), until };
        Ok((stream, head, jws))
    }

    /// Puts a stream into the list of all before its first record, so that none is overlooked by who verifies them.
    async fn list(&self, stream: &str) -> Result<(), LogError> {
        self.ledger.append(CHAINS, json!({"stream": stream}), None, None).await.map(drop).map_err(away)
    }

    async fn last(&self, stream: &str) -> Result<StoredHead, LogError> {
        let last = self.ledger.last(stream).await.map_err(away)?;
        Ok(last.map_or(StoredHead { number: 0, audit_id: FIRST, until: None }, |(number, entry)| {
            let jws = entry.body["jws"].as_str().unwrap_or_default();
            StoredHead { number, audit_id: sha256(jws.as_bytes()), until: entry.expires_at }
        }))
    }

    /// Puts the key of a signer into the store before it signs: nobody could verify what it signed otherwise.
    pub(crate) async fn publish(&self, signer: &RecordSigner) -> Result<(), LogError> {
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

    /// Says in the store for how long records are kept, before any is: by that it is told which are gone by age.
    async fn state_retention(&self) -> Result<(), LogError> {
        let kept = self.options.read().retention;
        if *self.stated.lock() == Some(kept) {
            return Ok(());
        }
        let signer = self.statement_signer();
        self.publish(&signer).await?;
        shared_retention::state(&self.ledger, kept, &signer, self.now()).await.map_err(away)?;
        *self.stated.lock() = Some(kept);
        Ok(())
    }

    pub(crate) fn statement_signer(&self) -> Arc<RecordSigner> {
        self.signer.read().statement_signer()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn until(&self) -> Option<Timestamp> {
        let kept = self.options.read().retention?;
        self.now().checked_add(kept).ok()
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

/// A record as an entry.
fn body(kind: FrameKind, jws: &str) -> Value {
    json!({"kind": if kind == FrameKind::Event { "event" } else { "record" }, "jws": jws})
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
