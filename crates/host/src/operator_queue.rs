//! What waits for the operator: questions that no agent here may decide, and what came of them.
//!
//! One stream holds questions and answers; whoever writes into it has read it, so that a question is
//! answered once and the bounds hold whoever writes at the same time.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use forecourt_core::clock::after;
use forecourt_core::store::{LedgerEntry, Span};
use forecourt_core::{Bus, Clock, Entropy, Error, Handle, Store, Timestamp, ids};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::deliver::OPERATOR;
use crate::metrics::Metrics;
use crate::topics;

mod notifier;

pub(crate) use notifier::OperatorNotifier;
pub use notifier::{OperatorWebhook, QUESTION_RETRIES};

/// How long a question and its answer are kept, from when each was written.
pub const QUEUE_TTL: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Questions that wait at once.
pub const QUEUE_WAITING_MAX: usize = 200;
/// Questions of one caller that wait at once.
pub const QUEUE_WAITING_PER_CALLER_MAX: usize = 20;
/// Questions and answers that are kept at once.
pub const QUEUE_ENTRIES_MAX: usize = 2_000;

const STREAM: &str = "queue";
/// Entries that are read in one go.
const ENTRIES_PER_READ: usize = 500;
/// How often something is written anew when something else came first.
const TRIES_MAX: usize = 8;

/// A question to the operator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperatorInquiry {
    /// Whose question it is: the owner of what came of it; `None`: anybody's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The agent of this host that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Handle>,
    /// What it is about, in the words of who asks: the name of a task, say.
    pub subject: String,
    /// Why a person must decide, in a word.
    pub reason: String,
    /// How much it hurries, in a word.
    pub urgency: String,
    /// What a person must know to decide.
    pub context: Value,
    /// By when an answer is of use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Timestamp>,
}

/// A question that was asked, and its answer so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperatorQuestion {
    /// Names it. Random: who does not know it can't ask about it.
    pub id: String,
    /// The question itself.
    #[serde(flatten)]
    pub inquiry: OperatorInquiry,
    /// When the question was asked.
    pub asked_at: Timestamp,
    /// The last answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<OperatorAnswer>,
}

impl OperatorQuestion {
    /// Whether it still waits: it has no answer, or was put off.
    pub fn waits(&self) -> bool {
        self.answer.as_ref().is_none_or(|answer| answer.decision == OperatorDecision::Deferred)
    }
}

/// The operator's answer to a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperatorAnswer {
    /// The decision.
    pub decision: OperatorDecision,
    /// Why, or what to do instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who decided.
    pub by: String,
    /// When it was decided.
    pub at: Timestamp,
}

/// The operator's decision about a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OperatorDecision {
    /// Yes.
    Accepted,
    /// No.
    Rejected,
    /// Not now; it goes on waiting.
    Deferred,
}

/// The outcome of answering a question.
#[derive(Debug, Clone, PartialEq)]
pub enum OperatorAnswerOutcome {
    /// The answer was written. Carries the question with it.
    Now(Box<OperatorQuestion>),
    /// The question had an answer already, which stays.
    Before(Box<OperatorQuestion>),
    /// No such question, or it is too long ago.
    Unknown,
}

/// One line of the stream.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum QueueLine {
    Asked(Box<OperatorQuestion>),
    Answered { id: String, answer: OperatorAnswer },
}

/// The stream, read to its end.
struct QueueContents {
    /// The oldest first.
    all: Vec<OperatorQuestion>,
    entries: usize,
    last: u64,
}

/// Questions to the operator.
pub(crate) struct OperatorQueue {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) metrics: Arc<Metrics>,
    /// Tells other nodes that something was asked or answered.
    pub(crate) bus: Arc<dyn Bus>,
    /// Tells the operator that a question waits.
    pub(crate) notifier: Option<OperatorNotifier>,
}

impl OperatorQueue {
    async fn read(&self) -> Result<QueueContents, Error> {
        let mut read = QueueContents { all: Vec::new(), entries: 0, last: 0 };
        loop {
            let page = self.store.entries(STREAM, Span::After(read.last), ENTRIES_PER_READ, self.clock.now()).await?;
            let is_last = page.len() < ENTRIES_PER_READ;
            for (number, entry) in page {
                read.take(number, serde_json::from_value(entry.body).map_err(Error::internal)?);
            }
            if is_last {
                return Ok(read);
            }
        }
    }

    async fn write(&self, line: &QueueLine, last: u64) -> Result<bool, Error> {
        let now = self.clock.now();
        let entry =
            LedgerEntry::new(serde_json::to_value(line).map_err(Error::internal)?, now).until(after(now, QUEUE_TTL));
        let is_written = self.store.append_entry(STREAM, entry, Some(last)).await?.is_some();
        if is_written {
            self.bus.publish(topics::QUEUE, Bytes::new());
        }
        Ok(is_written)
    }

    /// Asks, unless the same caller waits for an answer to the same question already.
    async fn append(&self, inquiry: OperatorInquiry) -> Result<(OperatorQuestion, bool), Error> {
        let (id, asked_at) = (ids::mint(&*self.entropy), self.clock.now());
        let asked = OperatorQuestion { id, inquiry, asked_at, answer: None };
        for _ in 0..TRIES_MAX {
            let read = self.read().await?;
            if let Some(same) = read.same(&asked.inquiry) {
                return Ok((same.clone(), false));
            }
            read.has_room(&asked.inquiry)?;
            if self.write(&QueueLine::Asked(Box::new(asked.clone())), read.last).await? {
                return Ok((asked, true));
            }
        }
        Err(full())
    }

    async fn append_answer(&self, id: &str, answer: &OperatorAnswer) -> Result<OperatorAnswerOutcome, Error> {
        for _ in 0..TRIES_MAX {
            let mut read = self.read().await?;
            let Some(asked) = read.all.iter_mut().find(|asked| asked.id == id) else {
                return Ok(OperatorAnswerOutcome::Unknown);
            };
            if !asked.waits() {
                return Ok(OperatorAnswerOutcome::Before(Box::new(asked.clone())));
            }
            asked.answer = Some(answer.clone());
            let asked = asked.clone();
            if self.write(&QueueLine::Answered { id: id.to_owned(), answer: answer.clone() }, read.last).await? {
                return Ok(OperatorAnswerOutcome::Now(Box::new(asked)));
            }
        }
        Err(full())
    }
}

impl QueueContents {
    fn take(&mut self, number: u64, line: QueueLine) {
        self.last = number;
        self.entries += 1;
        match line {
            QueueLine::Asked(asked) => self.all.push(*asked),
            QueueLine::Answered { id, answer } => {
                // The question may have expired before its answer.
                if let Some(asked) = self.all.iter_mut().find(|asked| asked.id == id) {
                    asked.answer = Some(answer);
                }
            }
        }
    }

    fn same(&self, wanted: &OperatorInquiry) -> Option<&OperatorQuestion> {
        let is_same = |asked: &&OperatorQuestion| {
            let had = &asked.inquiry;
            asked.waits() && (&had.by, &had.subject, &had.reason) == (&wanted.by, &wanted.subject, &wanted.reason)
        };
        self.all.iter().find(is_same)
    }

    fn has_room(&self, inquiry: &OperatorInquiry) -> Result<(), Error> {
        let waiting = || self.all.iter().filter(|asked| asked.waits());
        let of_caller = waiting().filter(|asked| asked.inquiry.by == inquiry.by).count();
        let is_room = self.entries < QUEUE_ENTRIES_MAX
            && waiting().count() < QUEUE_WAITING_MAX
            && of_caller < QUEUE_WAITING_PER_CALLER_MAX;
        if is_room { Ok(()) } else { Err(full()) }
    }
}

fn full() -> Error {
    Error::unavailable()
}

/// What protocols ask, and the operator's own pages.
impl OperatorQueue {
    /// Asks the operator. The same question of the same caller that waits already is given back
    /// instead. Fails with [`Error::Unavailable`] when too many wait.
    pub(crate) fn ask(&self, inquiry: OperatorInquiry) -> BoxFuture<'_, Result<OperatorQuestion, Error>> {
        Box::pin(async move {
            let (asked, is_new) = self.append(inquiry).await?;
            if is_new {
                let OperatorInquiry { by, reason, urgency, .. } = &asked.inquiry;
                let by = by.as_deref().unwrap_or("nobody in particular");
                tracing::warn!(id = asked.id, by, reason, urgency, "a question waits for the operator");
                self.notify(&asked).await;
            }
            Ok(asked)
        })
    }

    /// Sees to it that a question which is kept is told where the operator wants to hear of it. Whoever asked
    /// has asked, whatever comes of this.
    async fn notify(&self, asked: &OperatorQuestion) {
        let Some(notifier) = &self.notifier else { return };
        if let Err(error) = notifier.notify(asked).await {
            self.metrics.delivered(OPERATOR, false);
            tracing::warn!(%error, id = asked.id, "the operator's webhook is not told of a question");
        }
    }

    /// Everything that was asked and is kept, the oldest first.
    pub(crate) fn questions(&self) -> BoxFuture<'_, Result<Vec<OperatorQuestion>, Error>> {
        Box::pin(async move { Ok(self.read().await?.all) })
    }

    /// A question by its name.
    pub(crate) fn question<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<OperatorQuestion>, Error>> {
        Box::pin(async move { Ok(self.questions().await?.into_iter().find(|asked| asked.id == id)) })
    }

    /// Answers a question. Whether somebody may is for the caller of this to decide.
    pub(crate) fn answer<'a>(
        &'a self,
        id: &'a str,
        answer: OperatorAnswer,
    ) -> BoxFuture<'a, Result<OperatorAnswerOutcome, Error>> {
        Box::pin(async move {
            let answered = self.append_answer(id, &answer).await?;
            if let OperatorAnswerOutcome::Now(asked) = &answered {
                let decision = answer.decision;
                tracing::info!(id = asked.id, by = answer.by, ?decision, "a question to the operator was answered");
            }
            Ok(answered)
        })
    }
}

/// The operator's queue as callers use it: they ask a question and read its answer, and decide nothing.
#[derive(Clone, Copy)]
pub struct Inquiries<'a>(&'a OperatorQueue);

impl<'a> Inquiries<'a> {
    pub(crate) fn new(queue: &'a OperatorQueue) -> Self {
        Self(queue)
    }

    /// Asks the operator. The same question of the same caller that waits already is given back
    /// instead. Fails with [`Error::Unavailable`] when too many wait.
    pub fn ask(self, inquiry: OperatorInquiry) -> BoxFuture<'a, Result<OperatorQuestion, Error>> {
        self.0.ask(inquiry)
    }

    /// A question by its name.
    pub fn question(self, id: &'a str) -> BoxFuture<'a, Result<Option<OperatorQuestion>, Error>> {
        self.0.question(id)
    }
}
