//! Tasks of the host as tasks of MCP: the extension `io.modelcontextprotocol/tasks` of 2026-07-28. They are
//! the same tasks that every other protocol reads by the same id, whichever of them began it.

use std::time::Duration;

use forecourt_core::{Error, Message, MessageId, Part, Task, TaskState};
use forecourt_host::{Host, Run, TaskAccess, TaskPermit};
use forecourt_surface::tool::{ElicitedAnswer, ToolOutput};
use rmcp::ErrorData;
use rmcp::model::{CreateTaskResult, DetailedTask, ElicitResult, InputResponses, JsonObject, TaskPayload, TaskStatus};
use serde_json::Value;

use crate::NAME;
use crate::answer::{self, TaskLocation};
use crate::caller::Caller;
use crate::content::{object, result};
use crate::elicit::{self, Modes};
use crate::forms::{Form, forms};
use crate::limits::TASK_POLL;
use crate::offer::Offer;
use crate::task::readable;

/// Why a request about a task is refused.
fn refused(called: &ToolOutput) -> ErrorData {
    ErrorData::invalid_params(called.text.join(" "), None)
}

fn rpc_error(error: &Error) -> ErrorData {
    refused(&answer::error_output(error))
}

/// The task that a call has become.
pub(crate) async fn created(host: &Host, caller: &Caller, called: &ToolOutput) -> Option<CreateTaskResult> {
    let task = host.task(called.task.as_ref()?, TaskAccess::As(&caller.sender)).await.ok()?;
    Some(CreateTaskResult::new(described(&task, status(&task), None)))
}

/// A task as it stands, with all that came of it. Fails for tasks that do not exist for the caller.
pub(crate) async fn read(offer: &Offer, caller: &Caller, modes: Modes, id: &str) -> Result<DetailedTask, ErrorData> {
    let host = &offer.host;
    let task = readable(host, id, &caller.sender).await.map_err(|called| refused(&called))?;
    let note = match task.state.is_settled() {
        true => None,
        false => task.progress().await.ok().flatten().and_then(|progress| progress.note),
    };
    let payload = payload(offer, caller, modes, &task).await;
    Ok(DetailedTask::new(described(&task, payload.status(), note), payload))
}

async fn payload(offer: &Offer, caller: &Caller, modes: Modes, task: &TaskPermit) -> TaskPayload {
    match task.state {
        TaskState::Submitted | TaskState::Working => return TaskPayload::Working,
        TaskState::Canceled => return TaskPayload::Cancelled,
        _ => {}
    }
    let called = outcome(offer, task).await;
    let question = called.question.as_ref().filter(|_| modes.form && task.state.is_waiting());
    if let Some(forms) = question.and_then(forms) {
        let said = offer.partial.said(&turn(task));
        let open = forms.into_iter().filter(|form| !said.contains_key(&form.key));
        let open = open.map(|form| Form { key: key(task, &form), ..form }).collect();
        return TaskPayload::InputRequired { input_requests: elicit::requests(open) };
    }
    let result: JsonObject = object(serde_json::to_value(result(called, caller.language.as_ref())).unwrap_or_default());
    TaskPayload::Completed { result }
}

/// What came of a task, as the call that began it would have ended; of tasks that began over another
/// protocol, as a call of its agent would have.
async fn outcome(offer: &Offer, task: &TaskPermit) -> ToolOutput {
    for read in offer.tools_of_host().filter_map(|tool| tool.outcome.as_ref()) {
        if let Some(called) = read(task.clone()).await {
            return called;
        }
    }
    let place = TaskLocation { thread: task.thread.clone(), task: Some(task.clone()) };
    match task.outcome.clone() {
        Some(outcome) => answer::ended(&offer.host, outcome, &place).await,
        None => answer::error_output(&Error::unavailable()),
    }
}

/// Takes what the person said to a task's question, and lets the task go on with it. What answers no
/// question that is open is passed over.
pub(crate) async fn update(
    offer: &Offer,
    caller: &Caller,
    id: &str,
    responses: &InputResponses,
) -> Result<(), ErrorData> {
    let host = &offer.host;
    let task = readable(host, id, &caller.sender).await.map_err(|called| refused(&called))?;
    // A late or repeated answer is no error; the task goes on as it does.
    if !task.state.is_waiting() {
        return Ok(());
    }
    let Some(question) = outcome(offer, &task).await.question else { return Ok(()) };
    let forms = forms(&question).unwrap_or_default();
    for form in &forms {
        let Some(response) = responses.get(&key(&task, form)) else { continue };
        let wrong = |_| ErrorData::invalid_params("the response to an elicitation has an `action`", None);
        let response: ElicitResult = serde_json::from_value(response.clone()).map_err(wrong)?;
        match elicit::accepted(response) {
            Some(said) => offer.partial.add(&turn(&task), &form.key, form.answers(said)),
            // Who does not answer gives the task up, as with a call.
            None => return cancel(offer, caller, id).await,
        }
    }
    let said = offer.partial.said(&turn(&task));
    if forms.is_empty() || !forms.iter().all(|form| said.contains_key(&form.key)) {
        return Ok(());
    }
    offer.partial.forget(&turn(&task));
    let answers = said.into_values().flatten().collect();
    let answered = ElicitedAnswer { question, answers, earlier: Value::Null };
    go_on(host, caller, &task, elicit::words(&answered)).await
}

async fn go_on(host: &Host, caller: &Caller, task: &TaskPermit, words: String) -> Result<(), ErrorData> {
    let id = MessageId::mint(&**host.entropy());
    let message = Message {
        thread: task.thread.clone(),
        sender: caller.sender.clone(),
        hop: caller.hop,
        language: caller.language.clone(),
        ..Message::new(id, task.agent.clone(), vec![Part::text(words)], NAME, host.clock().now())
    };
    let run = Run::next_turn(task.clone(), Duration::ZERO);
    host.receive(message, run).await.map(drop).map_err(|error| rpc_error(&error))
}

/// Gives a task up. One that has ended stays as it is.
pub(crate) async fn cancel(offer: &Offer, caller: &Caller, id: &str) -> Result<(), ErrorData> {
    let task = readable(&offer.host, id, &caller.sender).await.map_err(|called| refused(&called))?;
    match task.cancel().await {
        // `tasks/cancel` is a wish: of a task that has ended it is no error.
        Ok(_) | Err(Error::Conflict { .. }) => Ok(()),
        Err(error) => Err(rpc_error(&error)),
    }
}

/// What a form is answered under: another one each time the task asks.
fn key(task: &Task, form: &Form) -> String {
    format!("{}_{}", form.key, task.turns.len())
}

/// One time that a task asks.
fn turn(task: &Task) -> String {
    format!("{}/{}", task.id.expose(), task.turns.len())
}

/// Where a task stands before it is known what came of it.
fn status(task: &Task) -> TaskStatus {
    match task.state {
        TaskState::Submitted | TaskState::Working | TaskState::InputRequired | TaskState::AuthRequired => {
            TaskStatus::Working
        }
        TaskState::Completed | TaskState::Failed | TaskState::Rejected => TaskStatus::Completed,
        TaskState::Canceled => TaskStatus::Cancelled,
    }
}

fn described(task: &Task, status: TaskStatus, note: Option<String>) -> rmcp::model::Task {
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let kept = task.expires_at.duration_since(task.created_at).unsigned_abs();
    let (begun, changed) = (task.created_at.to_string(), task.updated_at.to_string());
    let mut described = rmcp::model::Task::new(task.id.expose(), status, begun, changed)
        .with_ttl_ms(millis(kept))
        .with_poll_interval_ms(millis(TASK_POLL));
    described.status_message = note;
    described
}
