//! Tasks, as those may use them to whom they belong. Without a permit there is no way to a task, and no
//! way to a permit but [`Host::task`] and [`Host::tasks`], which ask who wants it.

use std::ops::Deref;
use std::sync::Arc;

use forecourt_core::caller::is_open_to;
use forecourt_core::limits::WEBHOOKS_PER_TASK_MAX;
use forecourt_core::store::{Cursor, IfTaskEnded, StoredArtifact, TaskFilter, Webhook, WebhookRegistration};
use forecourt_core::{Error, Event, EventStream, Noun, Progress, Sender, Task, TaskId};
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;

use crate::directory::Directory;
use crate::follow::FollowUntil;
use crate::host::Host;
use crate::task_names::TaskName;
use crate::tasks::Tasks;
use crate::usage_viewers;

/// Events at the end of a task's log in which the last sign of progress is looked for.
const PROGRESS_EVENTS_MAX: usize = 256;

/// The ground on which somebody asks for a task.
#[derive(Debug, Clone, Copy)]
pub enum TaskAccess<'a> {
    /// By its id alone, which its wire makes a capability. Mentionable REST 5.4, and no other wire.
    ById,
    /// As this sender: a task with an owner is that owner's alone, one without is for whoever knows its
    /// id.
    As(&'a Sender),
    /// As the operator of this host, on the operator's own listener and nowhere else.
    Operator,
}

impl TaskAccess<'_> {
    fn covers(self, task: &Task) -> bool {
        match self {
            Self::ById | Self::Operator => true,
            Self::As(sender) => is_open_to(task.owner.as_deref(), sender.owner()),
        }
    }

    /// Whether it may be seen what models used for a task that this covers.
    fn sees_usage(self, task: &Task, directory: &Directory) -> bool {
        let is_owner = match self {
            Self::Operator => return true,
            // An id opens the task (REST 5.4), but does not tell who asks.
            Self::ById => false,
            Self::As(sender) => task.owner.is_some() && sender.owner() == task.owner.as_deref(),
        };
        directory.find(&task.agent).is_some_and(|agent| agent.usage_viewers.include(is_owner))
    }
}

/// A task that its holder may see and act on, as it stood when it was read.
#[derive(Clone)]
pub struct TaskPermit {
    tasks: Arc<Tasks>,
    task: Task,
    /// Whether its holder may see what models used.
    sees_usage: bool,
}

/// Tasks of one caller, the last updated first.
#[derive(Debug)]
pub struct TaskPermits {
    /// The tasks.
    pub tasks: Vec<TaskPermit>,
    /// The cursor of the next page; `None` after the last one.
    pub next: Option<Cursor>,
    /// How many there are with no cursor and no limit.
    pub total: u64,
}

impl Deref for TaskPermit {
    type Target = Task;

    fn deref(&self) -> &Task {
        &self.task
    }
}

/// Never prints what was said.
impl std::fmt::Debug for TaskPermit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TaskPermit").field("agent", &self.task.agent).field("state", &self.task.state).finish()
    }
}

impl Host {
    /// A task, for who may see it. [`Error::NotFound`] when there is none, and when it is somebody
    /// else's: the two look alike.
    pub fn task<'a>(&'a self, id: &'a TaskId, access: TaskAccess<'a>) -> BoxFuture<'a, Result<TaskPermit, Error>> {
        Box::pin(async move {
            let found = self.store.task(id, self.clock.now()).await?.filter(|task| access.covers(task));
            let task = found.ok_or_else(|| Error::not_found(Noun::Task))?;
            Ok(self.permit(task, access))
        })
    }

    /// The task of a name, if there is one that may be seen.
    pub fn named_task<'a>(
        &'a self,
        name: &'a TaskName,
        access: TaskAccess<'a>,
    ) -> BoxFuture<'a, Result<Option<TaskPermit>, Error>> {
        Box::pin(async move {
            let id = self.tasks.names.id(name).await?;
            match self.task(&id, access).await {
                Err(Error::NotFound { .. }) => Ok(None),
                other => other.map(Some),
            }
        })
    }

    /// The tasks of `sender`, at most `filter.limit`: its own when it proved who it is, else those
    /// without an owner in the conversations of `filter.threads`, and none when it names none. The owner
    /// in `filter` is not looked at.
    pub fn tasks<'a>(&'a self, sender: &'a Sender, filter: TaskFilter) -> BoxFuture<'a, Result<TaskPermits, Error>> {
        Box::pin(async move {
            let owner = sender.owner().map(str::to_owned);
            // Without a conversation that it knows, an anonymous caller would get the tasks of all anonymous callers.
            if owner.is_none() && filter.threads.is_empty() {
                return Ok(TaskPermits { tasks: Vec::new(), next: None, total: 0 });
            }
            let page = self.store.tasks(TaskFilter { owner, ..filter }, self.clock.now()).await?;
            let permit = |task| self.permit(task, TaskAccess::As(sender));
            Ok(TaskPermits { tasks: page.tasks.into_iter().map(permit).collect(), next: page.next, total: page.total })
        })
    }
}

impl Host {
    /// A permit for a task that `access` covers.
    fn permit(&self, task: Task, access: TaskAccess<'_>) -> TaskPermit {
        let sees_usage = access.sees_usage(&task, &self.directory);
        TaskPermit::new(self.tasks.clone(), task, sees_usage)
    }
}

impl TaskPermit {
    fn new(tasks: Arc<Tasks>, mut task: Task, sees_usage: bool) -> Self {
        if !sees_usage {
            usage_viewers::hide(&mut task);
        }
        Self { tasks, task, sees_usage }
    }

    /// The task as it was when this permit was made; [`Self::reload`] reads it again.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// The same permit for the task as it stands now. [`Error::NotFound`] when it has expired.
    pub fn reload(&self) -> BoxFuture<'_, Result<Self, Error>> {
        Box::pin(async move {
            let found = self.tasks.store.task(&self.task.id, self.tasks.clock.now()).await?;
            let task = found.ok_or_else(|| Error::not_found(Noun::Task))?;
            Ok(Self::new(self.tasks.clone(), task, self.sees_usage))
        })
    }

    /// Follows the task from after event number `after`, live or from the log, `until` it pauses or ends.
    /// For who has seen all there is, nothing follows.
    pub fn follow(&self, after: u64, until: FollowUntil) -> BoxStream<'static, (u64, Event)> {
        self.tasks.follow(&self.task.id, after, until)
    }

    /// [`Self::follow`] to the next pause, without the numbers.
    pub fn subscribe(&self, after: u64) -> EventStream {
        self.follow(after, FollowUntil::Pause).map(|(_, event)| event).boxed()
    }

    /// Reads at most `limit` events with numbers above `after`, in order, as they are in the log by now.
    pub fn events(&self, after: u64, limit: usize) -> BoxFuture<'_, Result<Vec<(u64, Event)>, Error>> {
        Box::pin(async move { Ok(self.tasks.store.events(&self.task.id, after, limit).await?) })
    }

    /// The number of the last event, 0 when there is none yet.
    pub fn last_event(&self) -> BoxFuture<'_, Result<u64, Error>> {
        Box::pin(async move { Ok(self.tasks.store.last_event(&self.task.id).await?) })
    }

    /// The last sign of progress, if there is one among the newest 256 events.
    pub fn progress(&self) -> BoxFuture<'_, Result<Option<Progress>, Error>> {
        Box::pin(async move {
            let after = self.last_event().await?.saturating_sub(PROGRESS_EVENTS_MAX as u64);
            let events = self.events(after, PROGRESS_EVENTS_MAX).await?;
            Ok(events.into_iter().rev().find_map(|(_, event)| match event {
                Event::Progress(progress) => Some(progress),
                _ => None,
            }))
        })
    }

    /// Cancels the task and gives it as it stands then. Fails with [`Error::Conflict`] when it has ended.
    pub fn cancel(&self) -> BoxFuture<'_, Result<Self, Error>> {
        Box::pin(async move {
            self.tasks.cancel(&self.task.id).await?;
            self.reload().await
        })
    }

    /// Reads an artifact of this task by its id. Fails with [`Error::NotFound`] when the task has none of that id or
    /// has expired. REST 5.6.
    pub fn artifact<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<StoredArtifact, Error>> {
        Box::pin(async move {
            let found = self.tasks.store.artifact(&self.task.id, id, self.tasks.clock.now()).await?;
            found.ok_or_else(|| Error::not_found(Noun::Artifact))
        })
    }

    /// Registers whom to tell when the task settles, in place of a webhook of the same id. Once this is
    /// done, the end is told. The caller of this has checked the URL.
    ///
    /// Fails with [`Error::Conflict`] when the task has ended and `at_end` refuses that, and with
    /// [`Error::Invalid`] when it has [`WEBHOOKS_PER_TASK_MAX`] already.
    pub fn add_webhook(&self, webhook: Webhook, at_end: IfTaskEnded) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            let added = self.tasks.store.add_webhook(&self.task.id, webhook, WEBHOOKS_PER_TASK_MAX, at_end).await?;
            match added {
                WebhookRegistration::Yes => {
                    // The task may have settled before: then its delivery is due now.
                    self.tasks.wakeup.wake();
                    Ok(())
                }
                WebhookRegistration::TooMany => Err(too_many_webhooks()),
                WebhookRegistration::Ended => Err(self.tasks.conflict(&self.task.id).await),
                WebhookRegistration::NoTask => Err(Error::not_found(Noun::Task)),
            }
        })
    }

    /// The webhooks, in the order in which they were registered. Their secrets are for posts alone.
    pub fn webhooks(&self) -> BoxFuture<'_, Result<Vec<Webhook>, Error>> {
        Box::pin(async move { Ok(self.tasks.store.webhooks(&self.task.id).await?) })
    }

    /// Removes a webhook, and what waits to be posted to it. `false` when there is none of that id.
    pub fn remove_webhook<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<bool, Error>> {
        Box::pin(async move { Ok(self.tasks.store.remove_webhook(&self.task.id, id).await?) })
    }
}

pub(crate) fn too_many_webhooks() -> Error {
    Error::invalid("url", format!("a task takes at most {WEBHOOKS_PER_TASK_MAX} webhooks"))
}
