//! A POST that is carried out once, however often it is sent: `Idempotency-Key`, as the IETF draft of that field has it.
//!
//! The answer is a task whose id follows from the caller, the key and what was sent, so that the claim of the key and
//! the work are one commit: a client that lost its connection, or got 503, finds what it began.

use std::sync::Arc;

use forecourt_core::clock::after;
use forecourt_core::limits::TASK_TTL;
use forecourt_core::{PaymentReceipt, Reply, Sender, Task, UsageMeter};
use forecourt_host::{
    Host, IdempotencyOwner, IdempotencyPermit, IdempotencyState, ONCE_KEY_BYTES_MAX, Run, TaskAccess, TaskMode,
    TaskName, TaskPermit,
};
use forecourt_surface::random_id::is_random;
use http::{HeaderMap, StatusCode};
use serde_json::Value;

use super::answer::RestError;
use super::errors::Failure;
use super::failure_kind::FailureKind;
use super::limits::RETRY_AFTER_SECONDS;
use super::multipart::Field;
use super::responder::Responder;
use super::transport::Rest;
use crate::NAME;

/// The header field.
const FIELD: &str = "idempotency-key";
/// What a right one looks like.
const EXAMPLE: &str = "Idempotency-Key: \"8e03978e-40d5-43dd-bc93-6894a57f9324\"";

/// The key of a POST, with what was sent under it.
pub(crate) struct IdempotencyKey {
    key: String,
    /// All fields of the form, without the boundary: a client that sends it again makes a new one.
    sent: Vec<u8>,
}

/// What a key leads to.
pub(crate) enum KeyedCall {
    /// It is to be carried out, in this way.
    New(Box<NewCall>),
    /// It was, with this answer.
    Known(Box<Reply>),
}

/// A call that is carried out under its key.
pub(crate) struct NewCall {
    /// Whose key it is.
    owner: String,
    is_proven: bool,
    /// What says that it was begun; `None` where that was said before, and the task was not there.
    permit: Option<IdempotencyPermit>,
    run: Run,
}

impl IdempotencyKey {
    /// The key of a request, if it has one. Fails with 400 on two of them, and on one that is empty or too long.
    pub(crate) fn of(headers: &HeaderMap, fields: &[Field]) -> Result<Option<Self>, Failure> {
        let mut all = headers.get_all(FIELD).iter();
        let Some(value) = all.next() else { return Ok(None) };
        let key = value.to_str().ok().filter(|_| all.next().is_none()).map(unquoted);
        let key = key.filter(|key| (1..=ONCE_KEY_BYTES_MAX).contains(&key.len())).ok_or_else(|| {
            let message = format!("`Idempotency-Key` is one string of 1 to {ONCE_KEY_BYTES_MAX} visible characters");
            Failure::bad_request(message).hint(EXAMPLE)
        })?;
        Ok(Some(Self { key: key.to_owned(), sent: form(fields) }))
    }

    /// Looks whether the call was made before, else has it made under its key. Fails with 400 for a key that others may
    /// come upon, 409 while the call is being made, 422 when the key was used for something else, 410 when its answer
    /// is not kept any more.
    pub(crate) async fn call(
        self,
        rest: &Rest,
        responder: &Responder<'_>,
        sender: &Sender,
        run: Run,
    ) -> Result<KeyedCall, RestError> {
        let host = &rest.host;
        let agent = responder.route.card.handle();
        // Before anything is read or written: the host meters what it is asked, and would be asked too late here.
        rest.meter(&responder.request)?;
        let is_proven = sender.owner().is_some();
        // Of strangers a whole network is one caller: under `1` one of them would get what another one asked.
        if !is_proven && !is_random(&self.key) {
            return Err(guessable().into());
        }
        let owner = format!("{NAME} {agent} {}", sender.caller(None).stream_name());
        let name = Arc::new(TaskName { key: format!("{owner}\0{}", self.key).into(), said: self.sent });
        let calls = host.idempotency(IdempotencyOwner { name: &owner, session: None, is_proven });
        let state = calls.begin(&self.key, &name.said).await?;
        let (permit, was_done) = match state {
            IdempotencyState::First(permit) => (Some(permit), false),
            IdempotencyState::Other => return Err(reused().into()),
            IdempotencyState::Refused(part) => return Err(part.into()),
            IdempotencyState::Again(_) => (None, true),
            // Begun, and perhaps cut short: whether its task is there says which, for as long as a task is kept. Later
            // nobody knows, and it is not done twice.
            IdempotencyState::Unsettled { since } => (None, after(since, TASK_TTL) <= host.clock().now()),
        };
        if permit.is_none() {
            match host.named_task(&name, TaskAccess::As(sender)).await? {
                Some(task) => return Ok(KeyedCall::Known(Box::new(known(responder, &task, &run)?))),
                None if was_done => return Err(forgotten().into()),
                None => {}
            }
        }
        let run = Run { task: TaskMode::Always, name: Some(name), ..run };
        Ok(KeyedCall::New(Box::new(NewCall { owner, is_proven, permit, run })))
    }
}

impl NewCall {
    /// How the call is carried.
    pub(crate) fn run(&self) -> Run {
        self.run.clone()
    }

    /// Keeps what came of the call: with a task it was made, without one the key is free again, also for another body.
    /// Whoever waits for the answer gets it, and not the address of its task.
    pub(crate) async fn settle(self, host: &Host, reply: Option<&mut Reply>) {
        let is_made = reply.as_ref().is_some_and(|reply| reply.task.is_some());
        if let Some(permit) = self.permit {
            let owner = IdempotencyOwner { name: &self.owner, session: None, is_proven: self.is_proven };
            // The answer stands: a repetition looks for its task.
            if let Err(error) = host.idempotency(owner).settle(permit, is_made.then_some(Value::Null)).await {
                tracing::warn!(%error, "what came of a call with a key was not kept");
            }
        }
        if let Some(reply) = reply.filter(|_| !self.run.wait.is_zero()) {
            reply.task = None;
        }
    }
}

/// The answer of a call that was made before.
fn known(responder: &Responder<'_>, task: &TaskPermit, run: &Run) -> Result<Reply, Failure> {
    let is_background = run.wait.is_zero();
    if !is_background && !task.state.is_settled() {
        return Err(under_way());
    }
    Ok(Reply {
        agent: task.agent.clone(),
        thread: task.thread.clone(),
        task: is_background.then(|| task.id.clone()),
        language: responder.route.card.language.clone(),
        receipt: receipt_of(task),
        usage: UsageMeter::default(),
        events: task.subscribe(0),
    })
}

/// The receipt of what was paid for a task when it was complete.
fn receipt_of(task: &Task) -> PaymentReceipt {
    let receipt = task.outcome.as_ref().and_then(|outcome| outcome.receipt.clone());
    receipt.map(|receipt| PaymentReceipt::known(*receipt)).unwrap_or_default()
}

fn guessable() -> Failure {
    let message = "the key of a caller that is not signed in is one that nobody comes upon by chance, such as a UUID";
    Failure::bad_request(message).hint(EXAMPLE)
}

fn under_way() -> Failure {
    let message = "a request with this idempotency key is being carried out; send it again for its answer";
    let failure = Failure::new(StatusCode::CONFLICT, FailureKind::UnderWay, message);
    Failure { retry_after: Some(RETRY_AFTER_SECONDS), ..failure }
}

fn reused() -> Failure {
    let message = "this idempotency key was used for another request";
    Failure::new(StatusCode::UNPROCESSABLE_ENTITY, FailureKind::KeyUsedAlready, message)
        .hint("take a new key for a new request")
}

fn forgotten() -> Failure {
    let message = "this request was carried out, and its answer is not kept any more";
    Failure::new(StatusCode::GONE, FailureKind::AnsweredAlready, message).hint("take a new key to have it done again")
}

/// The key as a string of a structured field (RFC 9651 3.3.3), or as many clients send it, bare.
fn unquoted(value: &str) -> &str {
    let value = value.trim();
    value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value)
}

/// The fields one after the other, each part with its length: two forms are never the same bytes.
fn form(fields: &[Field]) -> Vec<u8> {
    let mut form = Vec::new();
    let mut put = |part: Option<&[u8]>| {
        form.extend(part.map_or(u64::MAX, |part| part.len() as u64).to_be_bytes());
        form.extend_from_slice(part.unwrap_or_default());
    };
    for Field { name, file_name, mime, bytes } in fields {
        put(Some(name.as_bytes()));
        put(file_name.as_deref().map(str::as_bytes));
        put(mime.as_deref().map(str::as_bytes));
        put(Some(bytes));
    }
    form
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::HeaderValue;

    use super::*;

    fn key(values: &[&str]) -> Result<Option<String>, StatusCode> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(FIELD, HeaderValue::from_str(value).unwrap());
        }
        IdempotencyKey::of(&headers, &[]).map(|key| key.map(|key| key.key)).map_err(|failure| failure.status)
    }

    #[test]
    fn a_key_is_one_string_quoted_or_bare() {
        assert_eq!(key(&[]), Ok(None));
        assert_eq!(key(&["\"a b\""]), Ok(Some("a b".to_owned())));
        assert_eq!(key(&["a-b"]), Ok(Some("a-b".to_owned())));
        for bad in [&[""][..], &["\"\""], &["a", "a"]] {
            assert_eq!(key(bad), Err(StatusCode::BAD_REQUEST), "{bad:?}");
        }
        assert_eq!(key(&[&"k".repeat(ONCE_KEY_BYTES_MAX)]).unwrap().unwrap().len(), ONCE_KEY_BYTES_MAX);
        assert_eq!(key(&[&"k".repeat(ONCE_KEY_BYTES_MAX + 1)]), Err(StatusCode::BAD_REQUEST));
    }

    #[test]
    fn two_forms_are_never_the_same_bytes() {
        let field = |name: &str, mime: Option<&str>, bytes: &'static str| Field {
            name: name.to_owned(),
            file_name: None,
            mime: mime.map(str::to_owned),
            bytes: Bytes::from_static(bytes.as_bytes()),
        };
        let soup = form(&[field("user", None, "soup")]);
        for other in [
            vec![field("user", None, "soups")],
            vec![field("user", Some(""), "soup")],
            vec![field("users", None, "oup")],
            vec![field("user", None, "soup"), field("user", None, "")],
        ] {
            assert_ne!(form(&other), soup, "{other:?}");
        }
        assert_eq!(form(&[field("user", None, "soup")]), soup);
    }
}
