//! Calls that are made once, however often they are sent. Base 2.4, `Idempotency-Key`.
//!
//! A key belongs to an agent. What was answered is kept with the key for a day, and a repetition gets
//! the same; a refusal frees the key, for nothing was done.

use forecourt_core::json;
use forecourt_host::Once;
use serde_json::{Value, json};

use crate::ask::Ask;
use crate::reply::{Body, Problem, Reply};
use crate::service::Service;
use crate::status::Status;

/// The method whose answer holds a secret that is told once and kept nowhere.
const UNKEPT: &str = "SUSPEND";

/// A call that its caller knows by a key.
pub(crate) struct Keyed {
    caller: String,
    key: String,
    /// All that makes it this call and no other.
    sent: Vec<u8>,
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
        let caller = if ask.is_proven { caller } else { format!("{caller}|claimed") };
        let target = (&call.method, &call.path, &call.query, &call.body);
        Some(Self { caller, key, sent: json::canonical(&target).ok()? })
    }
}

impl Service {
    /// Does something once.
    ///
    /// # Errors
    /// 409 when the key was used for something else, or nobody knows yet what came of it.
    pub(crate) async fn once(
        &self,
        keyed: Option<Keyed>,
        work: impl Future<Output = Result<Reply, Problem>> + Send,
    ) -> Result<Reply, Problem> {
        let Some(Keyed { caller, key, sent }) = keyed else { return work.await };
        let begun = match self.host.once(&caller, &key, &sent).await? {
            Once::First(begun) => begun,
            Once::Again(kept) => return again(kept),
            Once::Unsettled => {
                let message = "this key is in use: the call is being made, or was when the server stopped";
                return Err(conflict("idempotency-unsettled", message));
            }
            Once::Other => {
                let message = "this key was used for another call: take a new one";
                return Err(conflict("idempotency-key-reused", message));
            }
        };
        let reply = work.await;
        let kept = reply.as_ref().ok().and_then(kept);
        if let Err(error) = self.host.settle_once(begun, kept).await {
            tracing::error!(%error, "the answer to a call with a key was not kept");
        }
        reply
    }
}

fn conflict(code: &str, message: &str) -> Problem {
    Problem::new(Status::CONFLICT, code, message)
}

/// What is kept of an answer that says that something was done: all of it.
fn kept(reply: &Reply) -> Option<Value> {
    let Body::Json(body) = &reply.body else { return None };
    reply.status.is_success().then(|| json!({"code": reply.status.code, "body": body}))
}

fn again(kept: Value) -> Result<Reply, Problem> {
    let code = kept["code"].as_u64().and_then(|code| u16::try_from(code).ok());
    let kept_codes = [Status::OK, Status::ACCEPTED];
    let status = kept_codes.into_iter().find(|status| Some(status.code) == code);
    let (Some(status), Some(body)) = (status, kept.get("body")) else {
        return Err(Problem::new(Status::SERVER_ERROR, "server-error", "the kept answer can't be read"));
    };
    Ok(Reply::json(status, body.clone()))
}
