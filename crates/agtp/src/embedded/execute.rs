//! EXECUTE: work for the agent that is addressed, or a call of an endpoint by its name. Base 3.1.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use forecourt_contract::negotiation::ContractStamp;
use forecourt_contract::{Call, Method};
use forecourt_core::{Error, File, Part};
use forecourt_host::{Host, InvokeOutcome, Run};
use serde_json::{Value, json};

use super::agents::HostAgents;
use super::ambient::Ambient;
use super::call::MethodCall;
use super::messenger::{CarriedMessage, Messenger, members_of, parts, require_answer, work_status};
use super::tasks::working;
use crate::NAME;
use crate::limits::{ANSWER_PATIENCE, WORK_PATIENCE};
use crate::reply::{Problem, Reply};

/// Calls endpoints of this host as any caller does.
#[derive(Clone, Copy)]
pub(super) struct EndpointInvoker<'a>(&'a Host);

impl<'a> EndpointInvoker<'a> {
    pub(super) fn new(host: &'a Host) -> Self {
        Self(host)
    }

    async fn invoke(self, call: Call) -> Result<InvokeOutcome, Error> {
        self.0.invoke(call, NAME).await
    }
}

/// Work for the agent that is addressed, or a call of an endpoint by its name.
pub(super) struct ExecuteMethod<'a> {
    pub call: MethodCall<'a>,
    pub agents: HostAgents<'a>,
    pub messenger: Messenger<'a>,
    pub ambient: Ambient<'a>,
    /// What the call of an endpoint takes over: its caller, its thread, its contract and its depth.
    pub request: &'a Call,
    /// Whether it is no request, but a step of a composition.
    pub is_step: bool,
    /// Told the contract under which an endpoint answered.
    pub served_under: &'a OnceLock<Arc<ContractStamp>>,
    pub endpoints: EndpointInvoker<'a>,
}

impl ExecuteMethod<'_> {
    /// Works on an action, as a task when it takes long.
    pub(super) async fn run(&self) -> Result<Reply, Problem> {
        self.call.agent_id()?;
        let action = self.call.given.required_text(&["action", "plan_id"])?;
        match endpoint(action) {
            Some((method, path)) => self.call_endpoint(method, path).await,
            None => self.work(action).await,
        }
    }

    /// The action is an endpoint of this host: the same checks hold as for any call of it.
    async fn call_endpoint(&self, method: Method, path: &str) -> Result<Reply, Problem> {
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query.to_owned())));
        if path == "/" {
            return Err(self
                .call
                .given
                .wrong(&["action"], "names what the server answers itself: send that method instead"));
        }
        let body = self.call.given.object(&["parameters", "payload"])?.cloned().unwrap_or_default();
        let request = self.request;
        let call = Call {
            method: method.to_string(),
            path: path.to_owned(),
            query,
            body,
            caller: request.caller.clone(),
            idempotency_key: None,
            thread: request.thread.clone(),
            contract: request.contract.clone(),
            // The action of a request is its own call, under its own contracts; that of a step is one further in.
            depth: request.depth + u32::from(self.is_step),
        };
        let begun = self.ambient.now();
        match self.endpoints.invoke(call).await? {
            InvokeOutcome::Refused(part) => Err((*part).into()),
            InvokeOutcome::Answered(outcome) => {
                if let Some(contract) = outcome.trail.contract {
                    let _first = self.served_under.set(contract);
                }
                let result = outcome.answer?;
                Ok(Reply::ok(json!({
                    "method": self.call.method,
                    "execution_id": self.ambient.mint("exec"),
                    "action": format!("{method} {path}"),
                    "status": "completed",
                    "result": result,
                    "started_at": begun,
                    "completed_at": self.ambient.now(),
                })))
            }
        }
    }

    /// The action is work for the agent.
    async fn work(&self, action: &str) -> Result<Reply, Problem> {
        let (agent, handle) = self.agents.addressed()?;
        let beside =
            [("parameters", self.call.given.get(&["parameters"])), ("context", self.call.given.get(&["context"]))];
        let parts = parts(action, beside).into_iter().chain(self.payload()?).collect();
        let patience = self.call.given.number(&["timeout"], 0.0..=WORK_PATIENCE.as_secs_f64())?;
        let patience = patience.map_or(WORK_PATIENCE, Duration::from_secs_f64);
        let run = Run::task_unless_message(patience.min(ANSWER_PATIENCE));
        let begun = self.ambient.now();
        let carried = self.messenger.run(self.messenger.message(handle, parts), run, patience).await?;
        let body = json!({
            "method": self.call.method,
            "execution_id": self.ambient.mint("exec"),
            "agent_id": agent.agent_id,
            "action": action,
            "parameters": self.call.given.get(&["parameters"]),
            "started_at": begun,
        });
        match carried {
            CarriedMessage::Working(task) => Ok(working(body, &task)),
            CarriedMessage::Answered { answer, task } => {
                let answer = require_answer(answer)?;
                let mut body = body.as_object().cloned().unwrap_or_default();
                body.insert("status".to_owned(), work_status(&answer.ending).into());
                body.insert("result".to_owned(), Value::Object(members_of(&answer)));
                body.insert("completed_at".to_owned(), json!(self.ambient.now()));
                body.extend(task.map(|task| ("task_id".to_owned(), task.expose().into())));
                Ok(Reply::ok(Value::Object(body)))
            }
        }
    }

    /// What the work is to be done with.
    fn payload(&self) -> Result<Option<Part>, Problem> {
        let Some(payload) = self.call.given.get(&["payload"]) else { return Ok(None) };
        let media_type = self.call.given.text(&["payload_type"])?;
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
