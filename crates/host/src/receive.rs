//! The whole trip of a message, and the host that it is a method of.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::limits::HOPS_MAX;
use forecourt_core::reply::refused;
use forecourt_core::store::{KeptArtifact, Webhook};
use forecourt_core::{
    Clock, Entropy, Error, EventStream, Message, Noun, PolicyPart, Reply, Store, Task, TaskId, Transport,
};
use tokio_util::task::TaskTracker;

use crate::attachments::Attachments;
use crate::directory::{Directory, Resident, Site};
use crate::limits::Throttle;
use crate::metrics::Metrics;
use crate::tasks::Tasks;
use crate::threads::Threads;

/// Everything a domain offers, behind one verb.
pub struct Host {
    pub(crate) site: Site,
    pub(crate) directory: Directory,
    pub(crate) throttle: Throttle,
    pub(crate) threads: Threads,
    pub(crate) attachments: Attachments,
    pub(crate) tasks: Arc<Tasks>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) metrics: Arc<Metrics>,
    /// Ends, after the stop that the host was started with, when the posts under way are made.
    pub(crate) posting: TaskTracker,
}

/// Who keeps an answer going.
#[derive(Debug, Clone)]
pub enum Run {
    /// The caller's connection: the work stops when the reply is dropped.
    Attached,
    /// The host: the reply names a task, and the work goes on without the caller.
    Detached {
        /// Whom to tell when the task settles.
        webhook: Option<Webhook>,
    },
}

impl Host {
    /// Carries a message to its agent and the answer back. The same for every protocol.
    ///
    /// A refusal is an answer; an [`Error`] is a fault, or a request that means nothing here.
    pub async fn receive(&self, message: Message, run: Run) -> Result<Reply, Error> {
        let resident = self.directory.resolve(&message)?;
        self.tasks.accepting()?;
        if message.hop >= HOPS_MAX {
            return Err(Error::invalid("hops", format!("at most {HOPS_MAX} agents may call each other in a row")));
        }
        if let Err(refusal) = self.throttle.admit(&message) {
            return Ok(self.refuse(&resident, message.received_via, *refusal));
        }
        let (message, thread) = self.threads.recall(&resident, message).await?;
        let via = message.received_via;
        match resident.policy.admit(resident.card.clone(), message).await {
            Ok(admitted) => {
                let admitted = self.attachments.fetch(admitted).await?;
                self.tasks.run(resident, admitted, thread, run).await
            }
            Err(refusal) => Ok(self.refuse(&resident, via, *refusal)),
        }
    }

    fn refuse(&self, resident: &Resident, via: Transport, refusal: PolicyPart) -> Reply {
        self.metrics.ended(resident.card.handle(), via, refusal.kind());
        Reply {
            agent: resident.card.handle().clone(),
            thread: None,
            task: None,
            language: resident.card.language.clone(),
            events: refused(refusal),
        }
    }
}

/// The questions that protocols ask beside [`Host::receive`].
impl Host {
    /// What the outside calls this place.
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// The agents here.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// The host's clock.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// The host's randomness.
    pub fn entropy(&self) -> &Arc<dyn Entropy> {
        &self.entropy
    }

    /// What the host counts.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// Counts one request of a caller against its limits, for requests that carry no message.
    pub fn meter(&self, peer: Option<std::net::IpAddr>) -> Result<(), Box<PolicyPart>> {
        self.throttle.admit_peer(peer)
    }

    /// Reads a task. Whoever knows the id may; protocols with owners check [`Task::owner`].
    pub async fn task(&self, id: &TaskId) -> Result<Task, Error> {
        self.store.task(id, self.clock.now()).await?.ok_or_else(|| Error::not_found(Noun::Task))
    }

    /// Follows a task from after event number `after` to its ending, live or from the log.
    pub async fn subscribe(&self, id: &TaskId, after: u64) -> Result<EventStream, Error> {
        let task = self.task(id).await?;
        Ok(self.tasks.subscribe(&task, after))
    }

    /// Cancels a task. Fails with [`Error::Conflict`] when it has ended.
    pub async fn cancel(&self, id: &TaskId) -> Result<Task, Error> {
        let task = self.task(id).await?;
        self.tasks.cancel(&task).await?;
        self.task(id).await
    }

    /// Reads an artifact by the ids of its task and its own.
    pub async fn artifact(&self, task: &TaskId, id: &str) -> Result<KeptArtifact, Error> {
        let found = self.store.artifact(task, id, self.clock.now()).await?;
        found.ok_or_else(|| Error::not_found(Noun::Artifact))
    }

    /// Registers whom to tell when a task settles. The caller of this has checked the URL.
    pub async fn add_webhook(&self, task: &TaskId, webhook: Webhook) -> Result<(), Error> {
        self.task(task).await?;
        let limit = forecourt_core::limits::WEBHOOKS_PER_TASK_MAX;
        match self.store.add_webhook(task, webhook, limit).await? {
            true => Ok(()),
            false => Err(Error::invalid("url", format!("a task takes at most {limit} webhooks"))),
        }
    }

    /// Whether the host can do its work: the store answers and it is not draining.
    pub async fn ready(&self) -> Result<(), Error> {
        if self.tasks.is_draining() {
            return Err(Error::Unavailable { retry_after: None });
        }
        Ok(self.store.ready().await?)
    }

    /// Stops taking messages, waits for running work up to `patience`, and ends what is left as
    /// failed, with a reason. No accepted task is lost.
    pub async fn drain(&self, patience: Duration) {
        self.tasks.drain(patience).await;
    }

    /// Waits, after the stop that the host was started with, for the posts under way, so that none is
    /// cut off: one that was begun counts as made. What is due but not begun, the next run posts.
    pub async fn stopped(&self) {
        self.posting.wait().await;
    }
}
