//! Where the work of a message lives at the remote agent, as it is kept with our task; and what a later try does with it.

use forecourt_core::{EarlierTry, Ending, FailureCause, WorkJournal};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::threads::RemoteThread;
use crate::client::TaskCursor;

/// Where the work lives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RemotePlace {
    /// The conversation there, if it was begun before.
    context: Option<String>,
    /// The task that the message went on with.
    waiting: Option<String>,
    wants_payment: bool,
    /// The task, once its id is known.
    task: Option<String>,
}

/// How work begins.
pub(super) enum WorkStart {
    /// The message is sent for the first time.
    Send,
    /// It is sent again, word for word and under the same id: it may not have arrived.
    SendAgain(RemoteThread),
    /// It arrived, and this is its task.
    Attach(RemoteThread, String),
}

impl RemotePlace {
    /// The place of a message that is about to be sent.
    pub(super) fn before(remote: &RemoteThread) -> Self {
        let RemoteThread { context, waiting, wants_payment, .. } = remote.clone();
        Self { context, waiting, wants_payment, task: None }
    }

    /// The same, once the task is known.
    pub(super) fn at(self, task: &str, context: Option<&str>) -> Self {
        let context = context.map(str::to_owned).or(self.context);
        Self { task: Some(task.to_owned()), context, ..self }
    }

    /// Notes it: the last one counts.
    pub(super) fn note(&self, journal: &WorkJournal) {
        journal.note(json!(self));
    }

    fn remote(&self) -> RemoteThread {
        let (context, waiting, wants_payment) = (self.context.clone(), self.waiting.clone(), self.wants_payment);
        RemoteThread { context, waiting, wants_payment, taken: TaskCursor::default() }
    }
}

/// How work begins, by what an earlier try of it has left.
///
/// # Errors
/// Nobody knows whether the message arrived, and sending it again might do its work twice.
pub(super) fn start(journal: &WorkJournal, knows_repeats: bool) -> Result<WorkStart, Ending> {
    let EarlierTry::Left(mut places) = journal.earlier() else { return Ok(WorkStart::Send) };
    // A place is noted before the message is sent.
    let Some(place) = places.pop() else { return Ok(WorkStart::Send) };
    let place = serde_json::from_value::<RemotePlace>(place).map_err(|_| unknown())?;
    match &place.task {
        Some(task) => Ok(WorkStart::Attach(place.remote(), task.clone())),
        None if knows_repeats => Ok(WorkStart::SendAgain(place.remote())),
        None => Err(unknown()),
    }
}

/// The ending of work of which it can't be noted that its message is about to be sent.
pub(super) fn unnoted() -> Ending {
    FailureCause::CutOff.ending("The agent behind this one was not asked: what this host would go on by can't be kept.")
}

fn unknown() -> Ending {
    FailureCause::NodeLost.ending(
        "The host was lost while it asked the agent behind this one, and nobody knows whether that heard of it.",
    )
}
