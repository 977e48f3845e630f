//! How an answer is carried.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::limits::AGENT_TIME_MAX;
use forecourt_core::store::Webhook;

use crate::in_flight::Lane;
use crate::permit::TaskPermit;
use crate::task_names::TaskName;

/// How an answer is carried: who keeps it going, and for whom.
#[derive(Debug, Clone)]
pub struct Run {
    /// How long the caller holds its request open for the answer; zero when it returns at once. Work that is waited for
    /// counts as a reply, other work as a background task ([`LimitSettings`](crate::LimitSettings)).
    pub wait: Duration,
    /// Whether, and from when on, there is a task.
    pub task: TaskMode,
    /// The webhook that is called when the task settles. It is not called for an answer that comes without a task.
    pub webhook: Option<Box<Webhook>>,
    /// The task that the message goes on with. [`forecourt_core::Error::NotFound`] when it is another
    /// agent's, [`forecourt_core::Error::Conflict`] when it does not wait.
    pub continues: Option<TaskPermit>,
    /// Whether the conversation was named just now, by the wire and not by its client: then nothing is looked up that
    /// could be kept of it.
    pub begins: bool,
    /// By what its client calls the message, when it sends it again: then it is the task that it was before.
    pub name: Option<Arc<TaskName>>,
}

/// Whether, and from when on, an answer is a task that outlives its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskMode {
    /// Never: the work stops when the reply is dropped.
    Never,
    /// From the start: durable before [`crate::Host::receive`] returns.
    Always,
    /// From the start, unless the agent's first event, which is waited for `within` this time, is the
    /// whole answer as a message: then nothing is kept but the conversation. A refusal by the agent's
    /// policy is a task too, so that it can be continued; being asked too often is refused without.
    UnlessMessage {
        /// How long a first event is waited for. A caller that goes away meanwhile does not stop the
        /// agent.
        within: Duration,
    },
    /// Once the answer takes longer than [`Run::wait`]: the reply streams from the start, and says
    /// [`forecourt_core::Event::Task`] when it has become one.
    IfSlow,
}

impl Run {
    /// Whether a refusal of the agent's policy is to be a task, so that its caller can meet the condition
    /// and go on.
    pub(crate) fn tells_of_refusals(&self) -> bool {
        matches!(self.task, TaskMode::UnlessMessage { .. })
    }

    pub(crate) fn lane(&self) -> Lane {
        if self.wait.is_zero() { Lane::Background } else { Lane::Reply }
    }

    /// For a caller that stays to the end, and whose going away stops the work.
    pub fn without_task() -> Self {
        Self { wait: AGENT_TIME_MAX, task: TaskMode::Never, webhook: None, continues: None, begins: false, name: None }
    }

    /// For a caller that goes away at once.
    pub fn in_background(webhook: Option<Webhook>) -> Self {
        Self {
            wait: Duration::ZERO,
            task: TaskMode::Always,
            webhook: webhook.map(Box::new),
            continues: None,
            begins: false,
            name: None,
        }
    }

    /// For a caller that waits for so long, and comes back for what takes longer.
    pub fn task_if_slow(wait: Duration) -> Self {
        Self { wait, task: TaskMode::IfSlow, webhook: None, continues: None, begins: false, name: None }
    }

    /// For a wire that knows answers without a task, whose caller waits for so long: for the first event as
    /// well.
    pub fn task_unless_message(wait: Duration) -> Self {
        Self {
            wait,
            task: TaskMode::UnlessMessage { within: wait },
            webhook: None,
            continues: None,
            begins: false,
            name: None,
        }
    }

    /// For the next message to a task that waits, whose caller waits for so long.
    pub fn next_turn(task: TaskPermit, wait: Duration) -> Self {
        let mode = TaskMode::UnlessMessage { within: Duration::ZERO };
        Self { wait, task: mode, webhook: None, continues: Some(task), begins: false, name: None }
    }
}
