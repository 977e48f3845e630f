//! DELEGATE: work for another agent of this host, with less than the caller may do itself. Base 3.1.

use std::time::Duration;

use arc_swap::ArcSwap;
use bytes::Bytes;
use forecourt_agtp_wire::media_types::JSON;
use forecourt_agtp_wire::status::Status;
use forecourt_contract::{Scope, ScopeSet};
use forecourt_core::store::Webhook;
use forecourt_core::{CollectedReply, Ending, Handle, Message, Task, TaskId, Timestamp, ids};
use forecourt_egress::{Egress, Purpose, WebhookPost};
use forecourt_host::{Run, TaskPermit};
use forecourt_identity::jws::Jws;
use forecourt_identity::{HostKeys, KeySet};
use http::{HeaderMap, HeaderValue, header};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::agents::{HostAgents, no_agent};
use super::ambient::Ambient;
use super::call::MethodCall;
use super::messenger::{CarriedMessage, Messenger, members_of, parts, work_status};
use super::tasks::{CallerTasks, error_of, working};
use crate::NAME;
use crate::limits::{ANSWER_PATIENCE, CALLBACK_RETRIES, WORK_PATIENCE};
use crate::problem::authority;
use crate::reply::{Problem, Reply};

/// A delegation as it was asked for and checked: to whom, with which scopes, until when, and whom to call back.
struct Delegation {
    to: Handle,
    granted: ScopeSet,
    deadline: Option<Timestamp>,
    webhook: Option<Webhook>,
}

/// Work for another agent here, with less than the caller may do itself.
pub(super) struct DelegateMethod<'a> {
    pub call: MethodCall<'a>,
    pub agents: HostAgents<'a>,
    pub messenger: Messenger<'a>,
    pub tasks: CallerTasks<'a>,
    pub ambient: Ambient<'a>,
    /// The keys that tokens of delegation are verified with.
    pub keys: &'a ArcSwap<HostKeys>,
    /// Says which callbacks may be called.
    pub egress: &'a Egress,
    /// Cancelled when the host stops.
    pub stopping: &'a CancellationToken,
}

impl DelegateMethod<'_> {
    /// Hands a task to another agent here, and gives what came of it, or the task that it became.
    pub(super) async fn run(&self) -> Result<Reply, Problem> {
        let caller = self.call.agent_id()?;
        // The reference implementation names the agent alone.
        let is_bare =
            self.call.given.get(&["target_agent_id"]).is_none() && self.call.given.get(&["sub_agent"]).is_some();
        match is_bare {
            true => self.call.given.require(&[&["task"]])?,
            false => self.call.given.require(&[
                &["target_agent_id"],
                &["task"],
                &["authority_scope", "scope"],
                &["delegation_token"],
            ])?,
        }
        let delegation = self.delegation(caller).await?;
        let body = json!({
            "method": self.call.method,
            "delegation_id": self.ambient.mint("dlg"),
            "sub_session_id": self.ambient.mint("sub"),
            "delegated_to": self.agents.id_of(&delegation.to),
            "task": self.call.given.get(&["task"]),
            "scope_granted": &delegation.granted,
            "deadline": delegation.deadline,
        });
        let message = self.handed_over(caller, &delegation);
        let run = Run { webhook: delegation.webhook.map(Box::new), ..Run::task_unless_message(ANSWER_PATIENCE) };
        match self.messenger.run(message, run, self.patience(delegation.deadline)).await? {
            CarriedMessage::Answered { answer, task } => reply_of(body, answer, task),
            CarriedMessage::Working(task) => {
                self.end_at(delegation.deadline, &task).await?;
                Ok(working(body, &task))
            }
        }
    }

    async fn delegation(&self, caller: &str) -> Result<Delegation, Problem> {
        let to = self.sub_agent()?;
        let granted = self.granted()?;
        self.chain(caller)?;
        let deadline = self.call.given.moment(&["deadline"])?;
        if deadline.is_some_and(|deadline| deadline <= self.ambient.now()) {
            return Err(Problem::new(Status::TIMEOUT, "deadline-passed", "the deadline has passed already"));
        }
        let webhook = match self.call.given.text(&["callback"])? {
            Some(url) => Some(self.callback(url).await?),
            None => None,
        };
        Ok(Delegation { to, granted, deadline, webhook })
    }

    /// The agent that the work is for. One of elsewhere is known here and can't be reached from here.
    fn sub_agent(&self) -> Result<Handle, Problem> {
        let not_found = |problem: Problem| Problem { status: Status::NOT_FOUND, ..problem };
        let Some(id) = self.call.given.get(&["target_agent_id"]) else {
            return self.agents.find(self.call.given.required_text(&["sub_agent"])?).map_err(not_found);
        };
        let Some(id) = id.as_str().and_then(|id| forecourt_core::AgentId::parse(id).ok()) else {
            return self.agents.find(self.call.given.required_text(&["target_agent_id"])?).map_err(not_found);
        };
        match self.agents.known.get(&id).map(|agent| agent.handle.clone()) {
            Some(Some(handle)) => Ok(handle),
            Some(None) => {
                let message = "that agent lives elsewhere: work is handed to agents of this server only";
                Err(Problem::new(Status::FORBIDDEN, "delegation-not-permitted", message).with("agent_id", id.as_str()))
            }
            None => Err(no_agent(Some(id.as_str()))),
        }
    }

    /// What the other agent may do: less than the caller may in this request. Base 3.1: a strict subset.
    fn granted(&self) -> Result<ScopeSet, Problem> {
        let wanted = match self.call.given.get(&["authority_scope", "scope"]) {
            None => return Ok(ScopeSet::default()),
            Some(Value::String(list)) => ScopeSet::parse_list(list),
            Some(Value::Array(list)) => {
                ScopeSet::parse_all(list.iter().map(|token| token.as_str().unwrap_or_default()))
            }
            Some(_) => return Err(self.call.given.wrong(&["authority_scope"], "must be a list of scopes")),
        };
        let wanted = wanted.map_err(|error| self.call.given.wrong(&["authority_scope"], &error.to_string()))?;
        let own = self.call.authority();
        let beyond = own.missing(wanted.iter());
        let refused = |explanation: &str, scopes: &[Scope]| {
            let scopes: Vec<&str> = scopes.iter().map(Scope::as_str).collect();
            Err(authority("scope-required", explanation, json!({"code": "delegation-not-a-subset", "scopes": scopes})))
        };
        if !beyond.is_empty() {
            return refused("nobody hands on more than it may do itself: take these scopes out", &beyond);
        }
        let is_all = !wanted.is_empty() && wanted.missing(own.iter()).is_empty();
        if is_all {
            let all: Vec<Scope> = wanted.iter().cloned().collect();
            return refused("`authority_scope` must be less than the caller's own scopes: leave one out", &all);
        }
        Ok(wanted)
    }

    /// Who hands on what: the caller, whom every check let through, is the one link there is. A token that
    /// is signed has to hold, too. Base 4: 551 names the link that can't be verified.
    fn chain(&self, caller: &str) -> Result<(), Problem> {
        let broken = |link: &str, message: &str| {
            Err(Problem::new(Status::CHAIN_BROKEN, "authority-chain-broken", message).with("link", link))
        };
        if self.call.given.get(&["delegation_chain"]).is_some() {
            return broken("delegation_chain", "longer chains can't be verified here: hand on what is your own");
        }
        let Some(token) = self.call.given.text(&["delegation_token"])? else { return Ok(()) };
        if token.split('.').count() != 3 {
            // A name that the caller gave to the delegation, and no statement of anybody's.
            return Ok(());
        }
        let verified = Jws::parse(token).ok().and_then(|jws| {
            // With the keys of before as well: a token outlives a rotation, and they are good for a day.
            let now = self.ambient.now();
            let keys = KeySet::from_jwks(&self.keys.load().jwks(now)).ok()?;
            let claims: Map<String, Value> = serde_json::from_slice(jws.verify(&keys, now).ok()?).ok()?;
            Some(claims)
        });
        let Some(claims) = verified else {
            return broken("delegation_token", "the token is signed by nobody who is known here");
        };
        // A claim that is not there says nothing against the token.
        let is = |names: &[&str], expected: &str| {
            names.iter().find_map(|name| claims.get(*name)).is_none_or(|claim| claim == expected)
        };
        let is_over =
            claims.get("exp").and_then(Value::as_i64).is_some_and(|exp| exp <= self.ambient.now().as_second());
        match is(&["sub", "agent_id"], caller) && !is_over {
            true => Ok(()),
            false => broken("delegation_token", "the token is another agent's, or has expired"),
        }
    }

    /// Whom to tell when it is done. The way out looks at the address now, and before each call.
    async fn callback(&self, url: &str) -> Result<Webhook, Problem> {
        let is_one = url.starts_with("https://") && url.len() <= forecourt_core::limits::URL_BYTES_MAX;
        if !is_one {
            return Err(self.call.given.wrong(&["callback"], "must be an https URL"));
        }
        if let Err(error) = self.egress.permits(Purpose::Webhook, url).await {
            tracing::info!(%error, "a callback was refused");
            return Err(self.call.given.wrong(&["callback"], "must be on a host that may be called from here"));
        }
        let id = ids::mint(self.ambient.entropy);
        let (protocol, url, details) = (NAME.to_owned(), url.to_owned(), Map::new());
        Ok(Webhook { id, protocol, url, secret: None, callback: false, retries: CALLBACK_RETRIES, details })
    }

    /// The work in the caller's name, one agent further, with what is granted and nothing else: whatever the
    /// other agent calls or hands on in this task is held to that.
    fn handed_over(&self, caller: &str, delegation: &Delegation) -> Message {
        let about = json!({
            "delegated_by": caller, "authority_scope": &delegation.granted, "deadline": delegation.deadline,
        });
        let beside = [("delegation", Some(&about)), ("context", self.call.given.get(&["context"]))];
        let task = self.call.given.words(&["task"]).unwrap_or_default();
        let message = self.messenger.message(&delegation.to, parts(task, beside));
        let own = self.call.caller.authority().clone().handed_on();
        Message { hop: message.hop + 1, sender: self.messenger.acting(own.within(&delegation.granted)), ..message }
    }

    fn patience(&self, deadline: Option<Timestamp>) -> Duration {
        deadline.map_or(WORK_PATIENCE, |deadline| left(self.ambient.now(), deadline).min(WORK_PATIENCE))
    }

    /// Stops the work when its time is over. A restart ends it anyway.
    async fn end_at(&self, deadline: Option<Timestamp>, task: &TaskId) -> Result<(), Problem> {
        let Some(deadline) = deadline else { return Ok(()) };
        let left = left(self.ambient.now(), deadline);
        // No agent works longer than this, and nothing waits longer than its work.
        if left > forecourt_core::limits::AGENT_TIME_MAX {
            return Ok(());
        }
        let task = self.tasks.permit(task).await?;
        let stop = self.stopping.clone();
        tokio::spawn(async move {
            if stop.run_until_cancelled(tokio::time::sleep(left)).await.is_some() {
                cancel(&task).await;
            }
        });
        Ok(())
    }
}

async fn cancel(task: &TaskPermit) {
    // It ended in time, or is ended now.
    if task.cancel().await.is_ok() {
        tracing::info!("delegated work was stopped at its deadline");
    }
}

fn left(now: Timestamp, deadline: Timestamp) -> Duration {
    Duration::try_from(deadline.duration_since(now)).unwrap_or_default()
}

/// What came of the work. Base 4: what the other agent could not do is 550, with its own error.
fn reply_of(mut body: Value, answer: CollectedReply, task: Option<TaskId>) -> Result<Reply, Problem> {
    if let Some(error) = error_of(&answer.ending) {
        let message = error["message"].as_str().unwrap_or_default();
        let problem = Problem::new(Status::DELEGATION_FAILURE, "delegation-failed", message)
            .with("delegated_to", body["delegated_to"].clone())
            .with("sub_agent_error", error);
        // Where the other agent's rules refused it nothing was done, so that its idempotency key is free again.
        let is_refused = matches!(answer.ending, Ending::Refused(_));
        return Err(if is_refused { problem } else { problem.into_outcome() });
    }
    body["status"] = work_status(&answer.ending).into();
    body["result"] = Value::Object(members_of(&answer));
    if let Some(task) = task {
        body["task_id"] = task.expose().into();
    }
    Ok(Reply::ok(body))
}

/// The post that tells a callback how delegated work ended.
pub(crate) fn post(task: &Task, _: &Webhook) -> WebhookPost {
    let result = task.outcome.as_ref().map(members_of);
    let body = json!({"task_id": task.id.expose(), "status": task.state.name(), "result": result});
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
    WebhookPost { headers, body: Bytes::from(body.to_string()) }
}
