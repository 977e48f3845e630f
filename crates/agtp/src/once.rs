//! Calls that are made once, however often they are sent. Base 2.4, `Idempotency-Key`.
//!
//! A key belongs to an agent. What was answered is kept with the key for a day, and a repetition gets
//! the same, also when the work was begun and failed. What negotiating led to, an offer or a reason why there is
//! none, is kept for a short while; whoever accepts the offer goes on under the same key. Any other refusal frees
//! the key, for nothing was done. AGTP-API 10.1.5.

use std::net::IpAddr;
use std::time::Duration;

use forecourt_agtp_wire::status::Status;
use forecourt_contract::Call;
use forecourt_core::json;
use forecourt_core::limits::ENTRY_BYTES_MAX;
use forecourt_host::{Host, IdempotencyOwner, IdempotencyState};
use serde_json::{Value, json};

use crate::ask::Ask;
use crate::embedded::ENDPOINT_TYPE;
use crate::reply::{Body, Problem, Reply};

/// The method whose answer holds a secret that is told once and kept nowhere.
const UNKEPT: &str = "SUSPEND";

/// Bytes that the host writes around an answer that it keeps, at most.
const AROUND_BYTES_MAX: usize = 256;

/// Fields of an answer that its repetition has too.
const REPEATED: [&str; 2] = ["Contract-Synthesized", "RCNS-Attempt-Id"];

/// A call that its caller knows by a key.
pub(crate) struct KeyedCall {
    caller: String,
    key: String,
    /// All that makes it this call and no other. The contract that it presents is no part of it: the call that
    /// accepts an offer is the one that the offer was made for.
    sent: Vec<u8>,
    /// The contract that it presents.
    presented: Option<String>,
    /// The session or token by which the agent calls: keys are counted for each.
    session: Option<String>,
    /// Where it comes from.
    peer: Option<IpAddr>,
}

impl KeyedCall {
    /// The call of an agent that gave a key. `None`: it may be made as often as it is sent.
    pub(crate) fn of(ask: &Ask, method: &str) -> Option<Self> {
        let call = &ask.call;
        if method == UNKEPT {
            return None;
        }
        let own = call.body.get("idempotency_key").and_then(Value::as_str).filter(|key| !key.is_empty());
        let key = call.idempotency_key.as_deref().or(own)?.to_owned();
        // Strangers have no keys: all of them would share one list.
        let caller = ask.known.as_ref()?.agent_id.to_string();
        // A name that was only claimed shares no keys with the one that proves it.
        let caller = if ask.call.caller.is_proven { caller } else { format!("{caller}|claimed") };
        let to = ask.addressed.as_ref().map(|agent| &agent.agent_id);
        let target = (&call.method, to, &call.path, &call.query, &call.body);
        // Numbers that have no canonical form are compared as they were sent.
        let sent = json::canonical(&target).ok().or_else(|| serde_json::to_vec(&target).ok())?;
        let presented = call.contract.presented.clone();
        Some(Self { caller, key, sent, presented, session: session(call), peer: call.caller.sender.peer })
    }

    /// Does something once. `window`: how long what negotiating led to is repeated.
    ///
    /// # Errors
    /// 409 when the key was used for something else, or nobody knows yet what came of it; 429 when it is
    /// repeated too often.
    pub(crate) async fn once(
        self,
        host: &Host,
        window: Duration,
        work: impl Future<Output = Result<Reply, Problem>> + Send,
    ) -> Result<Reply, Problem> {
        let KeyedCall { caller, key, sent, presented, session, peer } = self;
        // Also one that only claims its name is known here: strangers have no keys.
        let owner = IdempotencyOwner { name: &caller, session: session.as_deref(), is_proven: true };
        let calls = host.idempotency(owner);
        let accepts = |kept: &Value| presented.is_some() && offered(kept) == presented.as_deref();
        let once = calls.begin_after(&key, &sent, &accepts).await?;
        if !matches!(once, IdempotencyState::First(_)) {
            // What is done for the first time is counted where it is done.
            host.meter(peer).map_err(|part| Problem::from(*part))?;
        }
        let begun = match once {
            IdempotencyState::First(begun) => begun,
            IdempotencyState::Again(kept) => return again(kept),
            IdempotencyState::Unsettled { .. } => {
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
        let settled = match CallRecord::of(&reply) {
            CallRecord::Outcome(answer) => calls.settle(begun, Some(answer)).await,
            CallRecord::ForNow(answer) => {
                let now = host.clock().now();
                let until = now.checked_add(window).unwrap_or(now);
                calls.settle_refusal(begun, answer, until).await
            }
            CallRecord::Nothing => calls.settle(begun, None).await,
        };
        // The answer stands, and its caller gets it: only a repetition finds the key unsettled.
        if let Err(error) = settled {
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

/// What is kept of what came of a call.
enum CallRecord {
    /// What was done, for as long as keys are kept; the code alone if the rest is too large.
    Outcome(Value),
    /// An offer, or a reason why there is none: kept for the window of negotiation only.
    ForNow(Value),
    /// Nothing was done.
    Nothing,
}

impl CallRecord {
    fn of(came: &Result<Reply, Problem>) -> Self {
        let (status, is_done) = match came {
            Ok(reply) => (reply.status, reply.status.is_success()),
            Err(problem) => (problem.status, problem.is_outcome),
        };
        if !is_done && ![Status::CONTRACT_AVAILABLE, Status::NO_CONTRACT].contains(&status) {
            return Self::Nothing;
        }
        let code = status.code;
        let reply = came.clone().unwrap_or_else(Reply::from);
        match (whole(reply), is_done) {
            (Answer::Fits(answer), true) => Self::Outcome(answer),
            (Answer::Fits(answer), false) => Self::ForNow(answer),
            // The code is kept all the same: a repetition must learn that the call was made, and not make it again.
            (Answer::TooLarge, true) => Self::Outcome(json!({"code": code})),
            _ => Self::Nothing,
        }
    }
}

/// An answer as it can be kept.
enum Answer {
    Fits(Value),
    TooLarge,
    /// Bytes of a kind that is made anew each time.
    Unkept,
}

fn whole(reply: Reply) -> Answer {
    let fields: Vec<_> = reply.fields.into_iter().filter(|(name, _)| REPEATED.contains(name)).collect();
    let (body, media_type) = match reply.body.read() {
        Body::Json(body) => (body, None),
        Body::Made { media_type: ENDPOINT_TYPE, bytes } => match serde_json::from_slice(&bytes) {
            Ok(body) => (body, Some(ENDPOINT_TYPE)),
            Err(_) => return Answer::Unkept,
        },
        _ => return Answer::Unkept,
    };
    let mut whole = json!({"code": reply.status.code, "body": body});
    if let Some(media_type) = media_type {
        whole["type"] = media_type.into();
    }
    if !fields.is_empty() {
        whole["fields"] = json!(fields);
    }
    match whole.to_string().len() + AROUND_BYTES_MAX <= ENTRY_BYTES_MAX {
        true => Answer::Fits(whole),
        false => Answer::TooLarge,
    }
}

/// The contract that was offered, if that is what was answered.
fn offered(kept: &Value) -> Option<&str> {
    let is_offer = kept["code"] == Status::CONTRACT_AVAILABLE.code;
    kept["body"]["synthesis_id"].as_str().filter(|_| is_offer)
}

fn again(mut kept: Value) -> Result<Reply, Problem> {
    let code = kept["code"].as_u64().and_then(|code| u16::try_from(code).ok());
    let Some(status) = code.and_then(Status::of) else {
        return Err(Problem::new(Status::SERVER_ERROR, "server-error", "the kept answer can't be read"));
    };
    let Some(body) = kept.get_mut("body").map(Value::take) else {
        let message = "the call was made before; its answer was too large to be kept";
        return Err(conflict("idempotency-answer-too-large", message).with("status", status.code));
    };
    let body = match kept["type"] == ENDPOINT_TYPE {
        true => Body::Made { media_type: ENDPOINT_TYPE, bytes: body.to_string().into() },
        false => Body::Json(body),
    };
    let kept_fields: Vec<(String, String)> =
        kept.get_mut("fields").and_then(|fields| serde_json::from_value(fields.take()).ok()).unwrap_or_default();
    let field = |(name, value): (String, String)| Some((REPEATED.into_iter().find(|known| **known == name)?, value));
    Ok(Reply { status, fields: kept_fields.into_iter().filter_map(field).collect(), body })
}
