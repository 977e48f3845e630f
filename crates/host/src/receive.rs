//! The whole trip of a message, and the host that it is a method of.

use std::sync::Arc;
use std::time::Duration;

use forecourt_contract::Dispatcher;
use forecourt_core::limits::{HOPS_MAX, THREAD_TTL};
use forecourt_core::reply::refused;
use forecourt_core::store::{Account, KeptArtifact, TaskFilter, TaskPage, Webhook};
use forecourt_core::{
    Clock, Entropy, Error, Event, EventStream, Handle, Message, Noun, PolicyPart, Progress, Reply, Store, Task, TaskId,
    ThreadId, Transport,
};
use futures::StreamExt;
use futures::stream::BoxStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::attachments::Attachments;
use crate::authority::continued;
use crate::directory::{Directory, Resident, Site};
use crate::herald::Herald;
use crate::limits::Throttle;
use crate::metrics::Metrics;
use crate::once::Keys;
use crate::queue::Queue;
use crate::standing::Standings;
use crate::tasks::Tasks;
use crate::threads::{Threads, after};
use crate::tracked::Asked;

/// Events at the end of a task's log in which the last sign of progress is looked for.
const PROGRESS_EVENTS_MAX: usize = 256;

/// Everything a domain offers, behind two verbs.
pub struct Host {
    pub(crate) site: Site,
    pub(crate) directory: Directory,
    pub(crate) throttle: Throttle,
    pub(crate) threads: Threads,
    pub(crate) standings: Standings,
    pub(crate) queue: Queue,
    pub(crate) herald: Option<Herald>,
    pub(crate) keys: Keys,
    pub(crate) contract: Arc<Dispatcher>,
    pub(crate) attachments: Attachments,
    pub(crate) tasks: Arc<Tasks>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) metrics: Arc<Metrics>,
    /// Ends, after the stop that the host was started with, when the posts under way are made.
    pub(crate) posting: TaskTracker,
    pub(crate) stop: CancellationToken,
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
    /// The host, as for [`Run::Detached`], where the wire knows answers without a task and tasks that
    /// wait for their caller. A message that the agent gives at once comes without a task; a refusal
    /// by the agent's policy comes with one, so that it can be continued. Being asked too often is
    /// refused without.
    Tracked {
        /// Whom to tell when the task settles. Not told of an answer that comes without a task.
        webhook: Option<Webhook>,
        /// The task that the message goes on with. [`Error::NotFound`] when the agent has no such
        /// task, [`Error::Conflict`] when it does not wait. The protocol has checked whose it is.
        continues: Option<TaskId>,
        /// How long to wait for the agent's first event before there is a task. A caller that goes
        /// away meanwhile does not stop the agent.
        patience: Duration,
    },
    /// The caller's connection for a while, then the host: a reply that ends in time names no task
    /// and nothing is written for it; a slower one names the task that it became.
    Patient {
        /// How long the caller waits.
        patience: Duration,
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
        if let Some(refusal) = self.silent(&message.recipient).await? {
            return Ok(self.refuse(&resident, message.received_via, refusal));
        }
        // On the heap, so that no step carries its size to the next.
        let message = Box::new(message);
        match run {
            Run::Attached => self.attached(resident, message).await,
            // On the heap, so that answers in the foreground don't carry its size around.
            run => Box::pin(self.kept_going(resident, message, run)).await,
        }
    }

    async fn attached(&self, resident: Arc<Resident>, message: Box<Message>) -> Result<Reply, Error> {
        let message = self.threads.recall(&resident, message, None).await?;
        let via = message.received_via;
        match resident.policy.admit(resident.card.clone(), message).await {
            Ok(admitted) => self.tasks.attach(resident, self.attachments.fetch(admitted).await?),
            Err(refusal) => Ok(self.refuse(&resident, via, *refusal)),
        }
    }

    async fn kept_going(&self, resident: Arc<Resident>, message: Box<Message>, run: Run) -> Result<Reply, Error> {
        let (tracked, webhook, continues) = match run {
            Run::Tracked { webhook, continues, patience } => (Some(patience), webhook, continues),
            Run::Detached { webhook } => (None, webhook, None),
            Run::Patient { patience } => return Box::pin(self.patient(resident, message, patience)).await,
            Run::Attached => (None, None, None),
        };
        let earlier = match continues {
            Some(id) => Some(self.tasks.waiting(&resident, &id).await?),
            None => None,
        };
        let message = continued(message, earlier.as_ref());
        let message = self.threads.recall(&resident, message, earlier.as_ref()).await?;
        let via = message.received_via;
        let asked = Asked::new(resident.clone(), &message, earlier);
        match resident.policy.admit(resident.card.clone(), message).await {
            Ok(admitted) => {
                let admitted = self.attachments.fetch(admitted).await?;
                self.tasks.keep_going(asked, admitted, webhook, tracked).await
            }
            Err(refusal) if tracked.is_some() => self.tasks.track_refusal(asked, *refusal, webhook).await,
            Err(refusal) => Ok(self.refuse(&resident, via, *refusal)),
        }
    }

    async fn patient(
        &self,
        resident: Arc<Resident>,
        message: Box<Message>,
        patience: Duration,
    ) -> Result<Reply, Error> {
        let message = self.threads.recall(&resident, message, None).await?;
        let via = message.received_via;
        let asked = Asked::new(resident.clone(), &message, None);
        match resident.policy.admit(resident.card.clone(), message).await {
            Ok(admitted) => self.tasks.patient(asked, self.attachments.fetch(admitted).await?, patience).await,
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

    /// Cancelled when the host stops, after running work was waited for: what protocols keep open for
    /// as long as a client likes ends with it.
    pub fn stopping(&self) -> &CancellationToken {
        &self.stop
    }

    /// Counts one request of a caller against its limits, for requests that carry no message.
    pub fn meter(&self, peer: Option<std::net::IpAddr>) -> Result<(), Box<PolicyPart>> {
        self.throttle.admit_peer(peer)
    }

    /// Reads a task. Whoever knows the id may; protocols with owners check [`Task::owner`].
    pub async fn task(&self, id: &TaskId) -> Result<Task, Error> {
        self.store.task(id, self.clock.now()).await?.ok_or_else(|| Error::not_found(Noun::Task))
    }

    /// Reads at most `filter.limit` tasks, the last updated first. Protocols set the owner.
    pub async fn tasks(&self, filter: TaskFilter) -> Result<TaskPage, Error> {
        Ok(self.store.tasks(filter, self.clock.now()).await?)
    }

    /// Follows a task from after event number `after`, live or from the log, to an ending after which
    /// nobody works on it. An ending in the middle is a question, or a refusal, that was answered.
    /// For who has seen all there is, nothing follows.
    pub async fn follow(&self, id: &TaskId, after: u64) -> Result<BoxStream<'static, (u64, Event)>, Error> {
        let task = self.task(id).await?;
        Ok(self.tasks.follow(&task, after))
    }

    /// [`Host::follow`] without the numbers.
    pub async fn subscribe(&self, id: &TaskId, after: u64) -> Result<EventStream, Error> {
        Ok(self.follow(id, after).await?.map(|(_, event)| event).boxed())
    }

    /// Reads at most `limit` events of a task with numbers above `after`, in order, as they are in the
    /// log by now.
    pub async fn events(&self, id: &TaskId, after: u64, limit: usize) -> Result<Vec<(u64, Event)>, Error> {
        self.task(id).await?;
        Ok(self.store.events(id, after, limit).await?)
    }

    /// The number of the last event of a task, 0 when there is none yet.
    pub async fn last_event(&self, id: &TaskId) -> Result<u64, Error> {
        Ok(self.store.last_event(id).await?)
    }

    /// The last sign of progress of a task, if there is one among its newest 256 events.
    pub async fn progress(&self, id: &TaskId) -> Result<Option<Progress>, Error> {
        let after = self.last_event(id).await?.saturating_sub(PROGRESS_EVENTS_MAX as u64);
        let events = self.events(id, after, PROGRESS_EVENTS_MAX).await?;
        Ok(events.into_iter().rev().find_map(|(_, event)| match event {
            Event::Progress(progress) => Some(progress),
            _ => None,
        }))
    }

    /// Whether a conversation with an agent is kept here.
    pub async fn remembers(&self, thread: &ThreadId, agent: &Handle) -> Result<bool, Error> {
        Ok(self.store.thread(thread, agent, self.clock.now()).await?.is_some())
    }

    /// Cancels a task. Fails with [`Error::Conflict`] when it has ended.
    pub async fn cancel(&self, id: &TaskId) -> Result<Task, Error> {
        self.tasks.cancel(id).await?;
        self.task(id).await
    }

    /// Reads an artifact by the ids of its task and its own.
    pub async fn artifact(&self, task: &TaskId, id: &str) -> Result<KeptArtifact, Error> {
        let found = self.store.artifact(task, id, self.clock.now()).await?;
        found.ok_or_else(|| Error::not_found(Noun::Artifact))
    }

    /// Registers whom to tell when a task settles, in place of a webhook of the same id. Once this is
    /// done, the end is told. The caller of this has checked the URL.
    ///
    /// Fails with [`Error::Conflict`] when the task has ended, and with [`Error::Invalid`] when it has
    /// [`forecourt_core::limits::WEBHOOKS_PER_TASK_MAX`] already.
    pub async fn add_webhook(&self, task: &TaskId, webhook: Webhook) -> Result<(), Error> {
        self.task(task).await?;
        self.tasks.hook(task, Some(webhook)).await
    }

    /// The webhooks of a task, in the order in which they were registered.
    pub async fn webhooks(&self, task: &TaskId) -> Result<Vec<Webhook>, Error> {
        self.task(task).await?;
        Ok(self.store.webhooks(task).await?)
    }

    /// Removes a webhook of a task, and what waits to be posted to it. `false` when there is none of
    /// that id.
    pub async fn remove_webhook(&self, task: &TaskId, id: &str) -> Result<bool, Error> {
        self.task(task).await?;
        Ok(self.store.remove_webhook(task, id).await?)
    }

    /// Which agent a conversation is with, as far as [`Host::set_route`] was told. Hub card 3.3.
    pub async fn route(&self, thread: &ThreadId) -> Result<Option<Handle>, Error> {
        Ok(self.store.route(thread, self.clock.now()).await?)
    }

    /// Records which agent a conversation is with, until it was idle for [`THREAD_TTL`]. Hub card 3.3.
    /// Counts towards `account`.
    pub async fn set_route(&self, thread: &ThreadId, agent: &Handle, account: &Account) -> Result<(), Error> {
        Ok(self.store.set_route(thread, agent, after(self.clock.now(), THREAD_TTL), account).await?)
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
