//! What was refused, and what came of it: an account for the operator, without content, states or secrets.
//!
//! Records wait in a queue and are written in batches: a refusal must stay cheap, and whoever is refused must not
//! be able to slow the host down by it. A batch that the store does not take is written again until it does, and what
//! finds the queue full meanwhile is counted and left out.

mod pending;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{AnswerUsage, Handle, Message, MessageId, Sender, Store, StoreError, Timestamp, Transport};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

pub use pending::PendingRecords;

/// The stream of the ledger in which batches of records are.
pub const AUDIT_STREAM: &str = "audit";
/// Days that records are kept, unless the operator says otherwise.
pub const AUDIT_DAYS: u64 = 90;
/// Records that wait to be written, beside one batch: some minutes of a busy host whose store is away. Over it, further
/// ones are dropped and counted.
pub const AUDIT_QUEUE_MAX: usize = 16_384;
/// Records in one entry of the stream.
pub const AUDIT_BATCH_MAX: usize = 256;
/// Entries that are read in one go.
const AUDIT_ENTRIES_PER_READ: usize = 50;
/// Characters of a name in a record.
const NAME_CHARS_MAX: usize = 256;

/// A record of the audit: a refusal, a step of a consent or payment, or what models used for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRecord {
    /// When it happened, by the host's clock.
    pub at: Timestamp,
    /// The agent that the message was for.
    pub agent: Handle,
    /// The caller: its proven subject, else its network, else empty. At most 256 characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub who: String,
    /// The rule that wanted it, by its name; for other refusals their finer reason. Empty where there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rule: String,
    /// The kind of the refusal.
    pub kind: String,
    /// The outcome.
    pub outcome: AuditOutcome,
    /// The first eight hex digits of the hash of its state: they tell steps of one issuance from those of others,
    /// and open nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The request by which it came.
    #[serde(flatten)]
    pub origin: RequestOrigin,
    /// What models used for the answer, in records of that.
    #[serde(default, skip_serializing_if = "AnswerUsage::is_empty")]
    pub usage: AnswerUsage,
    /// Records before this one that found no room.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped: u64,
}

/// The request by which a step was taken: a message, or a form of one of the host's own pages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestOrigin {
    /// The protocol; `None` in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// The request's own id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// Who decided, where the step was a decision on one of the host's own pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decider: Option<Decider>,
}

/// Who made a decision on one of the host's own pages, and how that is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decider {
    /// The proven subject; `None` for somebody who proved nothing but to have the page's address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What proved it: the type of the subject's evidence such as `session`, or [`Decider::CONVERSATION`],
    /// [`Decider::BROWSER`], [`Decider::OPERATOR`] or [`Decider::ADDRESS`].
    pub proof: String,
}

impl Decider {
    /// The browser has the conversation in which it was asked.
    pub const CONVERSATION: &str = "conversation";
    /// The browser keeps the consent that is decided about.
    pub const BROWSER: &str = "browser";
    /// An operator.
    pub const OPERATOR: &str = "operator";
    /// The page's address, which is told to nobody but the caller that was asked.
    pub const ADDRESS: &str = "address";

    /// Whoever sent the form: the proven subject of `sender`, else a browser that has the conversation, or not.
    pub fn of(sender: &Sender, has_conversation: bool) -> Self {
        let proof = sender.identities.first().map(|evidence| evidence.proof.kind.clone());
        match (sender.owner(), proof) {
            (Some(subject), proof) => {
                let proof = proof.unwrap_or_else(|| sender.auth_method.clone());
                Self { subject: Some(subject.to_owned()), proof }
            }
            (None, _) if has_conversation => Self { subject: None, proof: Self::CONVERSATION.to_owned() },
            (None, _) => Self { subject: None, proof: Self::ADDRESS.to_owned() },
        }
    }
}

impl RequestOrigin {
    /// The request that came over `transport` and is called `id`.
    pub fn new(transport: Transport, id: &MessageId) -> Self {
        Self { transport: Some(transport.to_owned()), request: Some(id.as_str().to_owned()), decider: None }
    }

    /// The same of a decision that `decider` made.
    #[must_use]
    pub fn by(self, decider: Decider) -> Self {
        Self { decider: Some(decider), ..self }
    }

    /// The request that `message` came by.
    pub fn of(message: &Message) -> Self {
        Self::new(message.received_via, &message.id)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl AuditOutcome {
    /// The outcome in one lower-case word, as it is stored and shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Issued => "issued",
            Self::Verified => "verified",
            Self::Declined => "declined",
            Self::Withdrawn => "withdrawn",
            Self::Reserved => "reserved",
            Self::Paid => "paid",
            Self::Released => "released",
            Self::GivenBack => "given_back",
            Self::Unpaid => "unpaid",
            Self::PaymentRefused => "payment_refused",
            Self::Unknown => "unknown",
            Self::Resumed => "resumed",
            Self::Deducted => "deducted",
            Self::Expired => "expired",
            Self::Replayed => "replayed",
            Self::Foreign => "foreign",
            Self::Used => "used",
        }
    }
}

/// The outcome of a message, a step or an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditOutcome {
    /// A message was refused for good.
    Refused,
    /// Something was asked for first.
    Issued,
    /// A person agreed.
    Verified,
    /// A person said no.
    Declined,
    /// A consent that held was taken back.
    Withdrawn,
    /// A payment was checked, and is taken once the answer is complete.
    Reserved,
    /// It was paid.
    Paid,
    /// What a payment held was let go of, and nothing was taken.
    Released,
    /// What was taken was given back.
    GivenBack,
    /// An answer was given, and it turned out that nothing was taken for it.
    Unpaid,
    /// A payment was refused, and nothing was taken.
    PaymentRefused,
    /// Nobody knows whether a payment was settled.
    Unknown,
    /// What was done was used, and the agent was asked.
    Resumed,
    /// Credit was deducted, and the agent was asked.
    Deducted,
    /// A state came too late.
    Expired,
    /// A state came that was used before.
    Replayed,
    /// A state came that is none of its caller's, or none at all.
    Foreign,
    /// Language models were asked for an answer, whatever became of that.
    Used,
}

/// The sending half of the audit: takes records without waiting, and drops them when the queue is full. Clones share
/// one queue.
#[derive(Clone)]
pub struct Audit {
    queue: mpsc::Sender<AuditRecord>,
    dropped: Arc<AtomicU64>,
}

impl Audit {
    /// An audit, and what has to be run so that it is written.
    pub fn new() -> (Self, PendingRecords) {
        let (queue, records) = mpsc::channel(AUDIT_QUEUE_MAX);
        let dropped: Arc<AtomicU64> = Arc::default();
        (Self { queue, dropped: dropped.clone() }, PendingRecords::new(records, dropped))
    }

    /// Queues a record. When [`AUDIT_QUEUE_MAX`] wait it is dropped, and the next one that finds room tells how many
    /// were.
    pub fn record(&self, mut record: AuditRecord) {
        // A subject comes from outside and may be long, and thousands of records wait in memory.
        for name in [&mut record.who, &mut record.rule] {
            if let Some((end, _)) = name.char_indices().nth(NAME_CHARS_MAX) {
                name.truncate(end);
            }
        }
        record.dropped = self.dropped.swap(0, Ordering::Relaxed);
        // Kept apart: a record that finds no room takes its count with it, which then goes on to the next one.
        let dropped = record.dropped;
        if self.queue.try_send(record).is_err() {
            self.dropped.fetch_add(dropped + 1, Ordering::Relaxed);
        }
    }
}

/// Reads the audit of a store, the oldest records first.
pub struct AuditReader {
    store: Arc<dyn Store>,
    after: u64,
}

impl AuditReader {
    /// A reader that begins at the oldest record that is kept.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, after: 0 }
    }

    /// The next records; `None` when there are no more. What can't be read as records is passed over.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn next(&mut self, now: Timestamp) -> BoxFuture<'_, Result<Option<Vec<AuditRecord>>, StoreError>> {
        Box::pin(async move {
            let page = self.store.entries(AUDIT_STREAM, Span::After(self.after), AUDIT_ENTRIES_PER_READ, now).await?;
            let Some((last, _)) = page.last() else { return Ok(None) };
            self.after = *last;
            let read = |(_, entry): (u64, LedgerEntry)| serde_json::from_value::<Vec<AuditRecord>>(entry.body).ok();
            Ok(Some(page.into_iter().filter_map(read).flatten().collect()))
        })
    }
}
