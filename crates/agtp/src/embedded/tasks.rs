//! Tasks that were begun for a caller, as it may see them. Base 3.1.

use forecourt_agtp_wire::status::Status;
use forecourt_core::{Ending, Error, Noun, Sender, TaskId};
use forecourt_host::{Host, TaskAccess, TaskPermit};
use serde_json::{Value, json};

use super::agents::HostAgents;
use super::messenger::members_of;
use crate::reply::{Problem, Reply};

/// The tasks that the caller may see.
#[derive(Clone, Copy)]
pub(super) struct CallerTasks<'a> {
    host: &'a Host,
    sender: &'a Sender,
    agents: HostAgents<'a>,
}

impl<'a> CallerTasks<'a> {
    pub(super) fn new(host: &'a Host, sender: &'a Sender, agents: HostAgents<'a>) -> Self {
        Self { host, sender, agents }
    }

    /// A task that the caller may see: its own, or one that nobody proved to own. One of somebody else
    /// looks like none.
    pub(super) async fn find(&self, id: &str) -> Result<TaskPermit, Problem> {
        let id = TaskId::parse(id).ok_or_else(|| Error::not_found(Noun::Task))?;
        self.permit(&id).await
    }

    /// [`Self::find`] for an id that was parsed already.
    pub(super) async fn permit(&self, id: &TaskId) -> Result<TaskPermit, Problem> {
        Ok(self.host.task(id, TaskAccess::As(self.sender)).await?)
    }

    /// A task as it is answered.
    pub(super) async fn describe(&self, task: &TaskPermit) -> Result<Value, Problem> {
        let mut body = json!({
            "task_id": task.id.expose(),
            "status": task.state.name(),
            "agent_id": self.agents.id_of(&task.agent),
            "created_at": task.created_at,
            "updated_at": task.updated_at,
            "expires_at": task.expires_at,
        });
        match &task.outcome {
            Some(outcome) => {
                body["result"] = Value::Object(members_of(outcome));
                if let Some(error) = error_of(&outcome.ending) {
                    body["error"] = error;
                }
            }
            None => {
                if let Some(progress) = task.progress().await? {
                    body["progress"] = json!({"fraction": progress.fraction, "note": progress.note});
                }
            }
        }
        Ok(body)
    }
}

/// Why an ending is no answer: its code and its words. `None` for answers, and for what is asked back.
pub(super) fn error_of(ending: &Ending) -> Option<Value> {
    let message = match ending {
        Ending::Complete | Ending::Message(_) | Ending::Question(_) => return None,
        Ending::Refused(part) => part.message.as_str().into(),
        ending => ending.reason()?,
    };
    Some(json!({"code": ending.code(), "message": message}))
}

/// The answer that something goes on as a task, with how to ask about it.
pub(super) fn working(mut body: Value, task: &TaskId) -> Reply {
    body["status"] = "working".into();
    body["task_id"] = task.expose().into();
    body["poll"] =
        json!({"method": "INSPECT", "path": "/", "parameters": {"target": "task", "task_id": task.expose()}});
    Reply::json(Status::ACCEPTED, body)
}
