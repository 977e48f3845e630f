//! EXECUTE: work for the agent that is addressed, or a call of an endpoint by its name. Base 3.1.

use std::time::Duration;

use bytes::Bytes;
use forecourt_contract::{Call, Method};
use forecourt_core::{Ending, File, Part};
use forecourt_host::{InvokeOutcome, Run};
use serde_json::{Value, json};

use super::Floor;
use super::carry::{CarriedMessage, answered, parts, said};
use super::tasks::working;
use crate::NAME;
use crate::limits::{ANSWER_PATIENCE, WORK_PATIENCE};
use crate::reply::{Problem, Reply};

impl Floor<'_> {
    /// Works on an action, as a task when it takes long.
    pub(super) async fn execute(&self) -> Result<Reply, Problem> {
        self.caller()?;
        let action = self.given.required_text(&["action", "plan_id"])?;
        match endpoint(action) {
            Some((method, path)) => self.call(method, path).await,
            None => self.work(action).await,
        }
    }

    /// The action is an endpoint of this host: the same checks hold as for any call of it.
    async fn call(&self, method: Method, path: &str) -> Result<Reply, Problem> {
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query.to_owned())));
        if path == "/" {
            return Err(self
                .given
                .wrong(&["action"], "names what the server answers itself: send that method instead"));
        }
        let body = self.given.object(&["parameters", "payload"])?.cloned().unwrap_or_default();
        let asked = &self.ask.call;
        let call = Call {
            method: method.to_string(),
            path: path.to_owned(),
            query,
            body,
            caller: asked.caller.clone(),
            idempotency_key: None,
            thread: asked.thread.clone(),
            contract: asked.contract.clone(),
            // The action of a request is its own call, under its own contracts; that of a step is one further in.
            depth: asked.depth + u32::from(self.ask.is_step),
        };
        let begun = self.now();
        match self.service.host.invoke(call, NAME).await? {
            InvokeOutcome::Refused(part) => Err((*part).into()),
            InvokeOutcome::Answered(outcome) => {
                if let Some(contract) = outcome.trail.contract {
                    let _first = self.ask.served_under.set(contract);
                }
                let result = outcome.answer?;
                Ok(Reply::ok(json!({
                    "method": self.method,
                    "execution_id": self.name("exec"),
                    "action": format!("{method} {path}"),
                    "status": "completed",
                    "result": result,
                    "started_at": begun,
                    "completed_at": self.now(),
                })))
            }
        }
    }

    /// The action is work for the agent.
    async fn work(&self, action: &str) -> Result<Reply, Problem> {
        let (agent, handle) = self.addressed()?;
        let beside = [("parameters", self.given.get(&["parameters"])), ("context", self.given.get(&["context"]))];
        let parts = parts(action, beside).into_iter().chain(self.payload()?).collect();
        let patience = self.given.number(&["timeout"], 0.0..=WORK_PATIENCE.as_secs_f64())?;
        let patience = patience.map_or(WORK_PATIENCE, Duration::from_secs_f64);
        let run = Run::task_unless_message(patience.min(ANSWER_PATIENCE));
        let begun = self.now();
        let carried = self.carried(self.message(handle, parts), run, patience).await?;
        let body = json!({
            "method": self.method,
            "execution_id": self.name("exec"),
            "agent_id": agent.agent_id,
            "action": action,
            "parameters": self.given.get(&["parameters"]),
            "started_at": begun,
        });
        match carried {
            CarriedMessage::Working(task) => Ok(working(body, &task)),
            CarriedMessage::Answered { answer, task } => {
                let answer = answered(answer)?;
                let mut body = body.as_object().cloned().unwrap_or_default();
                body.insert("status".to_owned(), status(&answer.ending).into());
                body.insert("result".to_owned(), Value::Object(said(&answer)));
                body.insert("completed_at".to_owned(), json!(self.now()));
                body.extend(task.map(|task| ("task_id".to_owned(), task.expose().into())));
                Ok(Reply::ok(Value::Object(body)))
            }
        }
    }

    /// What the work is to be done with.
    fn payload(&self) -> Result<Option<Part>, Problem> {
        let Some(payload) = self.given.get(&["payload"]) else { return Ok(None) };
        let media_type = self.given.text(&["payload_type"])?;
        Ok(Some(match (payload, media_type) {
            (Value::String(text), Some(media_type)) => {
                Part::File(File::inline(media_type, None, Bytes::from(text.clone())))
            }
            (Value::String(text), None) => Part::text(text),
            (other, _) => Part::data(json!({"payload": other})),
        }))
    }
}

/// An action that names an endpoint: `BOOK /rooms/5`.
fn endpoint(action: &str) -> Option<(Method, &str)> {
    let (method, path) = action.trim().split_once(' ')?;
    let path = path.trim();
    (path.starts_with('/')).then_some(())?;
    Some((Method::parse(method).ok()?, path))
}

/// How an action stands that is not worked on any more.
pub(super) fn status(ending: &Ending) -> &'static str {
    if ending.question().is_some() { "input_required" } else { "completed" }
}
