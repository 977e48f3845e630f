//! Calls that are made once, however often they are sent. Base 2.4, `Idempotency-Key`.
//!
//! A key belongs to an agent. What was answered is kept with the key for a day, and a repetition gets
//! the same, also when the work was begun and failed. A refusal before that frees the key, for nothing
//! was done.

use std::net::IpAddr;

use forecourt_contract::Call;
use forecourt_core::json;
use forecourt_core::limits::ENTRY_BYTES_MAX;
use forecourt_host::{Host, IdempotencyOwner, IdempotencyState};
use serde_json::{Value, json};

use crate::ask::Ask;
use crate::reply::{Body, Problem, Reply};
use crate::status::Status;

/// The method whose answer holds a secret that is told once and kept nowhere.
const UNKEPT: &str = "SUSPEND";

/// Bytes that the host writes around an answer that it keeps, at most.
const AROUND_BYTES_MAX: usize = 256;

/// A call that its caller knows by a key.
pub(crate) struct Keyed {
    caller: String,
    key: String,
    /// All that makes it this call and no other.
    sent: Vec<u8>,
    /// The session or token by which the agent calls: keys are counted for each.
    session: Option<String>,
    /// Where it comes from.
    peer: Option<IpAddr>,
}

impl Keyed {
    /// The call of an agent that gave a key. `None`: it may be made as often as it is sent.
    pub(crate) fn of(ask: &Ask, method: &str) -> Option<Self> {
        let call = &ask.call;
        if method == UNKEPT {
            return None;
        }
        let own = call.body.get("idempotency_key").and_then(Value::as_str).filter(|key| !key.is_empty());
        let key = call.idempotency_key.as_deref().or(own)?.to_owned();
        let caller = ask.known.as_ref()?.agent_id.to_string();
        // A name that was only claimed shares no keys with the one that proves it.
        let caller = if ask.call.caller.is_proven { caller } else { format!("{caller}|claimed") };
        let to = ask.addressed.as_ref().map(|agent| &agent.agent_id);
        let target = (&call.method, to, &call.path, &call.query, &call.body);
        // Numbers that have no canonical form are compared as they were sent.
        let sent = json::canonical(&target).ok().or_else(|| serde_json::to_vec(&target).ok())?;
        Some(Self { caller, key, sent, session: session(call), peer: call.caller.sender.peer })
    }

    /// Does something once.
    ///
    /// # Errors
    /// 409 when the key was used for something else, or nobody knows yet what came of it; 429 when it is
    /// repeated too often.
    pub(crate) async fn once(
        self,
        host: &Host,
        work: impl Future<Output = Result<Reply, Problem>> + Send,
    ) -> Result<Reply, Problem> {
        let Keyed { caller, key, sent, session, peer } = self;
        let caller = IdempotencyOwner { name: &caller, session: session.as_deref() };
        let once = host.once(caller, &key, &sent).await?;
        if !matches!(once, IdempotencyState::First(_)) {
            // What is done for the first time is counted where it is done.
            host.meter(peer).map_err(|part| Problem::from(*part))?;
        }
        let begun = match once {
            IdempotencyState::First(begun) => begun,
            IdempotencyState::Again(kept) => return again(kept),
            IdempotencyState::Unsettled => {
                let message = "this key is in use: the call is being made, or was when the server stopped";
                return Err(conflict("idempotency-unsettled", message));
            }
            IdempotencyState::Refused(part) => return Err((*part).into()),
            IdempotencyState::Other => {
                let message = "this key was used for another call: take a new one";
                return Err(conflict("idempotency-key-reused", message));
            }
        };
        let reply = work.await;
        let kept = kept(&reply);
        if let Err(error) = host.settle_once(begun, kept).await {
            tracing::error!(%error, "the answer to a call with a key was not kept");
        }
        reply
    }
}

/// The session that a call says it belongs to, else the token that proves its caller.
fn session(call: &Call) -> Option<String> {
    let token = || call.caller.sender.identities.iter().find(|evidence| evidence.is_of_token());
    call.thread.session_id.clone().or_else(|| token().map(|evidence| evidence.subject.clone()))
}

fn conflict(code: &str, message: &str) -> Problem {
    Problem::new(Status::CONFLICT, code, message)
}

/// What is kept of what came of a call: the code, and the body unless it is too large. `None`: nothing came
/// of it.
fn kept(came: &Result<Reply, Problem>) -> Option<Value> {
    let reply = match came {
        Ok(reply) => reply.status.is_success().then(|| reply.clone()),
        Err(problem) => problem.is_outcome.then(|| problem.clone().into()),
    }?;
    let Body::Json(body) = reply.body.read() else { return None };
    let code = reply.status.code;
    let whole = json!({"code": code, "body": body});
    let fits = whole.to_string().len() + AROUND_BYTES_MAX <= ENTRY_BYTES_MAX;
    Some(if fits { whole } else { json!({"code": code}) })
}

fn again(mut kept: Value) -> Result<Reply, Problem> {
    let code = kept["code"].as_u64().and_then(|code| u16::try_from(code).ok());
    let Some(status) = code.and_then(Status::of) else {
        return Err(Problem::new(Status::SERVER_ERROR, "server-error", "the kept answer can't be read"));
    };
    match kept.get_mut("body").map(Value::take) {
        Some(body) => Ok(Reply::json(status, body)),
        None => {
            let message = "the call was made before; its answer was too large to be kept";
            Err(conflict("idempotency-answer-too-large", message).with("status", status.code))
        }
    }
}
