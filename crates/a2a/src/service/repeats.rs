//! Messages that are sent again. A client that did not get its answer sends the same message under the same
//! id, over whatever binding: for a day that is the same task, and nothing is done twice.
//!
//! Only ids that nobody comes upon by chance count, a UUID for one: of `msg-1` nobody knows whether it is the
//! same message or the first one of another conversation.

use std::collections::HashMap;
use std::sync::Arc;

use forecourt_core::{CallerKey, Error, Handle, Sender, TaskId, Timestamp};
use forecourt_host::{Host, TaskAccess, TaskName, TaskPermit};
use forecourt_surface::document::tag;
use forecourt_surface::random_id::is_random;
use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::{OnceCell, OwnedMutexGuard};

use super::remembered::RememberedNames;
use super::{Caller, OperationReply, Service, ServiceError};
use crate::NAME;
use crate::codec::{Dialect, DialectValue, MessageItem};
use crate::limits::{MARKED_AHEAD, SENT_REMEMBERED_FOR};
use crate::model::{Configuration, Message, OperationError};
use crate::service::tasks::{Pauses, at_work};

/// What is said of a message whose task can't be read any more: doing it twice would be worse.
const GONE: &str =
    "this message was carried out, and its task can't be read any more; to have it done again, send another messageId";

/// A ledger stream whose last entry expires when the last remembered message does. A process that starts and finds it
/// empty need not look for any message in the store.
const MARK: &str = "sent";

/// What a message is known by when it comes again. Most are not looked up by it, so that it is hashed when it is.
pub(super) struct MessageFingerprint {
    /// Names it among the messages of all callers.
    name: Arc<TaskName>,
}

/// The messages that are being taken in, so that of two that come at once the second waits for the first.
/// Holds one entry for each request under way.
#[derive(Default)]
pub(crate) struct Arrivals {
    turns: Mutex<HashMap<Arc<str>, Arc<tokio::sync::Mutex<()>>>>,
    /// Until when there may be something in the store that another run wrote.
    before: OnceCell<Timestamp>,
    /// What this one wrote.
    written: Mutex<RememberedNames>,
}

/// The right to take in one message. The next one with its name gets it when this is dropped.
pub(super) struct ArrivalTurn {
    arrivals: Arc<Arrivals>,
    key: Arc<str>,
    _guard: OwnedMutexGuard<()>,
}

impl Arrivals {
    async fn turn(self: &Arc<Self>, key: &Arc<str>) -> ArrivalTurn {
        let lock = self.turns.lock().entry(key.clone()).or_default().clone();
        ArrivalTurn { arrivals: self.clone(), key: key.clone(), _guard: lock.lock_owned().await }
    }

    /// Whether the store may have something of a message. Where others write to it, too, it may have anything.
    async fn may_be_known(&self, host: &Host, key: &str) -> Result<bool, Error> {
        if !host.is_alone() {
            return Ok(true);
        }
        let now = host.clock().now();
        let before = self.before.get_or_try_init(|| async {
            let last = host.ledger(NAME).last(MARK).await?;
            Ok::<_, Error>(last.map_or(Timestamp::MIN, |(_, mark)| mark.expires_at.unwrap_or(Timestamp::MAX)))
        });
        Ok(now < *before.await? || self.written.lock().may_have(key, now))
    }

    /// Has the store say that something of messages is there until a moment, before it is.
    async fn mark(&self, host: &Host, until: Timestamp) -> Result<(), Error> {
        if !host.is_alone() || until <= self.written.lock().marked_until {
            return Ok(());
        }
        // For longer than is needed, so that it is not said with every message.
        let marked_until = until.checked_add(MARKED_AHEAD).unwrap_or(Timestamp::MAX);
        host.ledger(NAME).append(MARK, json!({}), Some(marked_until), None).await?;
        let written = &mut *self.written.lock();
        written.marked_until = written.marked_until.max(marked_until);
        Ok(())
    }
}

impl Drop for ArrivalTurn {
    fn drop(&mut self) {
        let mut all = self.arrivals.turns.lock();
        // The map holds one, this turn the other; whoever waits holds one more.
        if all.get(&self.key).is_some_and(|lock| Arc::strong_count(lock) <= 2) {
            all.remove(&self.key);
        }
    }
}

impl MessageFingerprint {
    /// What `message` is known by; `None` when its id says nothing, or nobody knows who sent it.
    pub(super) fn of(message: &Message, caller: &Caller<'_>, sender: &Sender) -> Option<Self> {
        if !is_random(&message.id) {
            return None;
        }
        let agent = caller.agent.as_ref().map(Handle::as_str).unwrap_or_default();
        let key = match sender.caller(None) {
            CallerKey::Local => return None,
            caller => format!("{}\0{agent}\0{}", caller.stream_name(), message.id),
        };
        let said = DialectValue(Dialect::Json10, &MessageItem(message)).to_bytes();
        Some(Self { name: Arc::new(TaskName { key: key.into(), said }) })
    }

    /// The name of the task that it becomes.
    pub(super) fn task_name(&self) -> Arc<TaskName> {
        self.name.clone()
    }

    /// The stream in which it is kept for longer than its task; a hash.
    fn stream(&self) -> String {
        format!("sent {}", tag(self.name.key.as_bytes()))
    }

    /// Tells it from another message under the same id.
    fn hash(&self) -> String {
        tag(&self.name.said)
    }
}

impl Service {
    /// The turn of a message to be taken in, and the task that it is when it was before.
    pub(super) async fn arrived(
        &self,
        caller: &Caller<'_>,
        sender: &Sender,
        sent: &MessageFingerprint,
    ) -> Result<(ArrivalTurn, Option<TaskPermit>), ServiceError> {
        let turn = self.arrivals.turn(&sent.name.key).await;
        if !self.arrivals.may_be_known(&self.host, &sent.name.key).await? {
            return Ok((turn, None));
        }
        // On the heap, so that new messages don't carry its size around.
        Box::pin(self.known(caller, sender, sent, turn)).await
    }

    /// The same, where the store may have something of the message.
    async fn known(
        &self,
        caller: &Caller<'_>,
        sender: &Sender,
        sent: &MessageFingerprint,
        turn: ArrivalTurn,
    ) -> Result<(ArrivalTurn, Option<TaskPermit>), ServiceError> {
        if let Some(task) = self.host.named_task(&sent.name, TaskAccess::As(sender)).await? {
            return Ok((turn, Some(task)));
        }
        let last = self.host.ledger(NAME).last(&sent.stream()).await?;
        let hash = sent.hash();
        let same = last.filter(|(_, entry)| entry.body["hash"] == hash.as_str());
        let Some(id) = same.and_then(|(_, entry)| entry.body["task"].as_str().map(str::to_owned)) else {
            return Ok((turn, None));
        };
        match self.readable(caller, sender, &id).await {
            Ok(task) => Ok((turn, Some(task))),
            Err(ServiceError::Fault(OperationError::TaskNotFound)) => {
                Err(OperationError::UnsupportedOperation(GONE.to_owned()).into())
            }
            Err(other) => Err(other),
        }
    }

    /// Remembers, for longer than the task is kept, which one a message became. That none becomes two is for the name of
    /// the task to say ([`Run::name`]); the writing is waited for by the next one of this name alone.
    pub(super) fn remember_sent(&self, turn: ArrivalTurn, sent: MessageFingerprint, task: &TaskId) {
        let (host, body) = (self.host.clone(), json!({"hash": sent.hash(), "task": task.expose()}));
        let now = host.clock().now();
        let until = end_of(now);
        // Noted before the store has it: a repetition in between looks there, and waits first for the turn that is held
        // below.
        self.arrivals.written.lock().take(&sent.name.key, now);
        tokio::spawn(async move {
            // The mark first: a crash in between costs look-ups of nothing, while an entry without a mark would never
            // be looked for.
            let written = match turn.arrivals.mark(&host, until).await {
                Ok(()) => host.ledger(NAME).append(&sent.stream(), body, Some(until), None).await.map(drop),
                Err(error) => Err(error),
            };
            if let Err(error) = written {
                tracing::warn!(%error, "a message that is sent again after its task was removed may be carried out again");
            }
            drop(turn);
        });
    }

    /// The answer to a message that was sent before: its task, told in the way that is asked for now.
    pub(super) async fn again(
        self: &Arc<Self>,
        caller: &Caller<'_>,
        task: TaskPermit,
        configuration: &Configuration,
        streams: bool,
    ) -> Result<OperationReply, ServiceError> {
        if streams {
            let begun = at_work(task.task().clone());
            return Ok(self.follow(caller, task, begun, Vec::new(), Pauses::None));
        }
        if configuration.blocking {
            self.wait_for(task.subscribe(0)).await;
        }
        self.stands(caller, &task, configuration).await
    }
}

fn end_of(now: Timestamp) -> Timestamp {
    now.checked_add(SENT_REMEMBERED_FOR).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_under_way_is_forgotten_when_it_is_done() {
        let arrivals = Arc::new(Arrivals::default());
        let first = arrivals.turn(&"a".into()).await;
        let waiting = tokio::spawn({
            let arrivals = arrivals.clone();
            async move { drop(arrivals.turn(&"a".into()).await) }
        });
        tokio::task::yield_now().await;
        drop(first);
        waiting.await.unwrap();
        assert!(arrivals.turns.lock().is_empty());
    }
}
