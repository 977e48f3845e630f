//! Tasks that were begun for a caller, as it may see them. Base 3.1.

use forecourt_core::{Ending, Error, Handle, Noun, TaskId};
use forecourt_host::{TaskAccess, TaskPermit};
use serde_json::{Value, json};

use super::Floor;
use super::carry::said;
use crate::reply::{Problem, Reply};
use crate::status::Status;

impl Floor<'_> {
    /// A task that the caller may see: its own, or one that nobody proved to own. One of somebody else
    /// looks like none.
    pub(super) async fn task(&self, id: &str) -> Result<TaskPermit, Problem> {
        let id = TaskId::parse(id).ok_or_else(|| Error::not_found(Noun::Task))?;
        Ok(self.service.host.task(&id, TaskAccess::As(&self.ask.call.caller.sender)).await?)
    }

    /// What is said of a task.
    pub(super) async fn task_shown(&self, task: &TaskPermit) -> Result<Value, Problem> {
        let mut shown = json!({
            "task_id": task.id.expose(),
            "status": task.state.name(),
            "agent_id": self.agent_id(&task.agent),
            "created_at": task.created_at,
            "updated_at": task.updated_at,
            "expires_at": task.expires_at,
        });
        match &task.outcome {
            Some(outcome) => {
                shown["result"] = Value::Object(said(outcome));
                if let Some(error) = error_of(&outcome.ending) {
                    shown["error"] = error;
                }
            }
            None => {
                if let Some(progress) = task.progress().await? {
                    shown["progress"] = json!({"fraction": progress.fraction, "note": progress.note});
                }
            }
        }
        Ok(shown)
    }

    /// The Agent-ID of an agent here.
    pub(super) fn agent_id(&self, handle: &Handle) -> Option<&str> {
        self.service.agents.of_handle(handle).map(|agent| agent.agent_id.as_str())
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
