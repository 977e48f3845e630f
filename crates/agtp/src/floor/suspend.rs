//! SUSPEND: sessions that rest until their nonce is shown, or for a while. Base 3.1, 3.4.

use std::time::Duration;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use forecourt_core::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Floor;
use super::lifecycle::no_contract;
use crate::NAME;
use crate::ask::Ask;
use crate::limits::{SUSPENSION_DEFAULT, SUSPENSION_MAX};
use crate::reply::{Problem, Reply};
use crate::service::Service;
use crate::status::Status;

const REASONS: [&str; 4] = ["awaiting_input", "resource_limit", "scheduled_pause", "external_dependency"];
/// The parameter that wakes a session.
const NONCE: &str = "resumption_nonce";

/// What is kept of a session: the last entry of its stream holds.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    /// It rests.
    Rests(Rest),
    /// It goes on.
    Resumed,
}

#[derive(Serialize, Deserialize)]
struct Rest {
    suspension_id: String,
    /// SHA-256 of the nonce, which itself is kept nowhere.
    nonce_hash: String,
    resume_by: Timestamp,
    reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checkpoint: Option<Value>,
}

impl Floor<'_> {
    /// Lets a session of the caller rest; with the nonce, wakes it.
    pub(super) async fn suspend(&self) -> Result<Reply, Problem> {
        let caller = self.caller()?;
        if let Some(id) = self.given.text(&["synthesis_id"])? {
            return Err(no_contract(id));
        }
        let session = self.given.name(&["session_id"])?.or(self.ask.call.thread.session_id.as_deref());
        let session = session.ok_or_else(|| self.given.missing(Status::UNPROCESSABLE, &["session_id"]))?;
        if let Some(nonce) = self.given.text(&[NONCE])? {
            return self.resume(caller, session, nonce).await;
        }
        let stream = stream(caller, session);
        let (rest, nonce) = self.rest()?;
        let last = self.service.host.last_entry(NAME, &stream).await?;
        let number = last.as_ref().map_or(0, |(number, _)| *number);
        if last.is_some_and(|(_, entry)| matches!(read(entry.body), Some(Line::Rests(_)))) {
            return Err(rests_already());
        }
        let body = json!({
            "method": self.method,
            "suspension_id": rest.suspension_id,
            "session_id": session,
            NONCE: nonce,
            "reason": rest.reason,
            "resume_by": rest.resume_by,
            "status": "suspended",
        });
        let until = rest.resume_by;
        self.service.resting.add(&self.service.host, (caller, session), until).await?;
        match self.keep(&stream, &Line::Rests(rest), until, number).await? {
            true => Ok(Reply::ok(body)),
            false => Err(rests_already()),
        }
    }

    /// What is to be kept, and the nonce that is told once.
    fn rest(&self) -> Result<(Rest, String), Problem> {
        let now = self.now();
        let latest = now + SUSPENSION_MAX;
        let ttl = self.given.number(&["ttl_seconds"], 1.0..=SUSPENSION_MAX.as_secs_f64())?;
        let usual = now + ttl.map_or(SUSPENSION_DEFAULT, Duration::from_secs_f64);
        let resume_by = self.given.moment(&["resume_by"])?.unwrap_or(usual);
        if resume_by <= now {
            return Err(Problem::new(Status::TIMEOUT, "resume-by-passed", "`resume_by` has passed already"));
        }
        if resume_by > latest {
            return Err(self
                .given
                .wrong(&["resume_by"], &format!("must be at most {} days away", SUSPENSION_MAX.as_secs() / 86_400)));
        }
        let reason = self.given.one_of(&["reason"], &REASONS)?.unwrap_or("scheduled_pause").to_owned();
        let checkpoint = self.given.kept(&["checkpoint"])?.cloned();
        let nonce = self.nonce();
        Ok((Rest { suspension_id: self.name("susp"), nonce_hash: hash(&nonce), resume_by, reason, checkpoint }, nonce))
    }

    /// Wakes a session. Of many who show the nonce, one does.
    async fn resume(&self, caller: &str, session: &str, nonce: &str) -> Result<Reply, Problem> {
        let stream = stream(caller, session);
        let message = "no session of this name rests: it went on, or its time has come";
        let none = || Problem::new(Status::NOT_FOUND, "suspension-not-found", message);
        let (number, entry) = self.service.host.last_entry(NAME, &stream).await?.ok_or_else(none)?;
        let Some(Line::Rests(rest)) = read(entry.body) else { return Err(none()) };
        if verify_slices_are_equal(rest.nonce_hash.as_bytes(), hash(nonce).as_bytes()).is_err() {
            return Err(Problem::new(
                Status::FORBIDDEN,
                "resumption-nonce-mismatch",
                "this nonce does not wake the session",
            ));
        }
        if !self.keep(&stream, &Line::Resumed, rest.resume_by, number).await? {
            return Err(none());
        }
        self.service.resting.remove(&self.service.host, (caller, session), rest.resume_by).await;
        Ok(Reply::ok(json!({
            "method": self.method,
            "suspension_id": rest.suspension_id,
            "session_id": session,
            "status": "resumed",
            "checkpoint": rest.checkpoint,
            "resumed_at": self.now(),
        })))
    }

    async fn keep(&self, stream: &str, line: &Line, until: Timestamp, last: u64) -> Result<bool, Problem> {
        let body = serde_json::to_value(line).map_err(forecourt_core::Error::internal)?;
        let written = self.service.host.write_entry(NAME, stream, body, Some(until), Some(last)).await?;
        Ok(written.is_some())
    }

    /// 128 random bits in base64url.
    fn nonce(&self) -> String {
        let mut bits = [0; 16];
        self.service.host.entropy().fill(&mut bits);
        base64url(&bits)
    }
}

/// Whether the session that a request belongs to goes on.
///
/// # Errors
/// 409 while it rests.
pub(super) async fn in_session(service: &Service, ask: &Ask) -> Result<(), Problem> {
    let call = &ask.call;
    // Who is not known under its name learns nothing of that name's sessions.
    let (Some(caller), Some(session)) = (&ask.known, call.thread.session_id.as_deref()) else { return Ok(()) };
    let caller = caller.agent_id.as_str();
    if call.method == "SUSPEND" && call.body.contains_key(NONCE) {
        return Ok(());
    }
    if !service.resting.may_rest(&service.host, (caller, session)).await? {
        return Ok(());
    }
    let Some((_, entry)) = service.host.last_entry(NAME, &stream(caller, session)).await? else { return Ok(()) };
    let Some(Line::Rests(rest)) = read(entry.body) else { return Ok(()) };
    let message = "this session rests: SUSPEND it with its `resumption_nonce` to go on, or come back later";
    Err(Problem::new(Status::CONFLICT, "session-suspended", message)
        .with("suspension_id", rest.suspension_id)
        .with("resume_by", json!(rest.resume_by)))
}

/// The length keeps names apart.
fn stream(caller: &str, session: &str) -> String {
    format!("session:{}:{caller}:{session}", caller.len())
}

fn read(body: Value) -> Option<Line> {
    serde_json::from_value(body).ok()
}

fn rests_already() -> Problem {
    Problem::new(Status::CONFLICT, "session-suspended", "this session rests already")
}

fn hash(nonce: &str) -> String {
    base64url(digest(&SHA256, nonce.as_bytes()).as_ref())
}

fn base64url(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes)
}
