//! Tasks: the tool that waits for one or cancels it, and the one that nobody waits for any more.

use std::sync::Arc;
use std::time::Duration;

use async_stream::stream;
use forecourt_core::reply::ReplyAccumulator;
use forecourt_core::{Ending, Error, Event, LazyJson, Noun, Sender, TaskId};
use forecourt_host::{FollowUntil, Host, TaskAccess, TaskPermit};
use forecourt_surface::tool::{Tool, ToolCall, ToolEvent, ToolOutput};
use futures::StreamExt;
use futures::stream::BoxStream;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use crate::answer::{self, TaskLocation};
use crate::content::failed;

/// The name of the tool.
pub(crate) const AWAIT: &str = "await_task";

/// The tool that gives what a task has come to, and waits for it up to `patience`.
pub(crate) fn tool(host: &Arc<Host>, patience: Duration) -> Tool {
    let host = host.clone();
    Tool {
        name: AWAIT.to_owned(),
        title: "Wait for a task".to_owned(),
        description: "Waits for the answer that an earlier call gave a task_id for, and gives it. With cancel: true \
            the task is given up instead."
            .to_owned(),
        input: LazyJson::from(json!({
            "type": "object",
            "properties": {
                "task_id": {"type": "string", "description": "The task_id of an earlier answer."},
                "cancel": {"type": "boolean", "description": "Whether to give the task up.", "default": false},
            },
            "required": ["task_id"],
        })),
        output: Some(answer::schema()),
        agent: None,
        reads_only: false,
        is_idempotent: false,
        as_tool: true,
        as_skill: false,
        call: Arc::new(move |call| wait(host.clone(), patience, call)),
        outcome: None,
    }
}

fn wait(host: Arc<Host>, patience: Duration, call: ToolCall) -> BoxStream<'static, ToolEvent> {
    Box::pin(stream! {
        let deadline = Instant::now() + patience;
        let found = match read(&host, &call).await {
            Ok(task) => task,
            Err(called) => {
                yield ToolEvent::Done(called);
                return;
            }
        };
        let place = TaskLocation { thread: found.thread.clone(), task: Some(found.clone()) };
        let mut so_far = ReplyAccumulator::default();
        if !found.state.is_settled() {
            let mut events = found.follow(0, FollowUntil::Pause);
            while let Ok(Some((_, event))) = timeout_at(deadline, events.next()).await {
                match event {
                    Event::Progress(progress) => yield ToolEvent::Progress(progress),
                    // The task went on after a question: what counts is what it has come to.
                    event => if so_far.take(event).is_some() {
                        so_far = ReplyAccumulator::default();
                    },
                }
            }
        }
        let called = match found.reload().await.map(|task| task.outcome.clone()) {
            Ok(Some(outcome)) => answer::ended(&host, outcome, &place).await,
            // The caller knows of the task.
            Ok(None) => ToolOutput { task: None, ..answer::working(so_far.finish(Ending::Complete).text(), &place) },
            Err(error) => answer::error_output(&error),
        };
        yield ToolEvent::Done(Box::new(called));
    })
}

/// The task of a call, cancelled if that was wanted.
async fn read(host: &Host, call: &ToolCall) -> Result<TaskPermit, Box<ToolOutput>> {
    let id = call.arguments["task_id"].as_str().ok_or_else(|| Box::new(failed("`task_id` is missing")))?;
    let task = readable(host, id, &call.sender).await?;
    match &call.arguments["cancel"] {
        Value::Null | Value::Bool(false) => Ok(task),
        Value::Bool(true) => task.cancel().await.map_err(|error| Box::new(answer::error_output(&error))),
        _ => Err(Box::new(failed("`cancel` must be true or false"))),
    }
}

/// A task that the caller may see. Of what it may not see it learns nothing.
pub(crate) async fn readable(host: &Host, id: &str, sender: &Sender) -> Result<TaskPermit, Box<ToolOutput>> {
    let found = match TaskId::parse(id) {
        Some(id) => host.task(&id, TaskAccess::As(sender)).await,
        None => Err(Error::not_found(Noun::Task)),
    };
    found.map_err(|error| Box::new(answer::error_output(&error)))
}
