//! SUSPEND: sessions that rest until their nonce is shown, or for a while. Base 3.1, 3.4.

use std::time::Duration;

use forecourt_agtp_wire::status::Status;
use serde_json::json;

use super::ambient::Ambient;
use super::call::MethodCall;
use super::contracts::CallerContracts;
use crate::limits::{SUSPENSION_DEFAULT, SUSPENSION_MAX};
use crate::reply::{Problem, Reply};
use crate::sessions::{NONCE, Resting, SessionEntry, SessionLedger, SessionName, Suspension, base64url};

/// Why a session may rest. A contract is released for any reason.
const REASONS: [&str; 4] = ["awaiting_input", "resource_limit", "scheduled_pause", "external_dependency"];

/// Sessions that rest, and contracts that are given back.
pub(super) struct SuspendMethod<'a> {
    pub call: MethodCall<'a>,
    pub ambient: Ambient<'a>,
    /// The session that the request belongs to.
    pub session_id: Option<&'a str>,
    pub resting: &'a Resting,
    pub sessions: SessionLedger<'a>,
    pub contracts: CallerContracts<'a>,
}

impl SuspendMethod<'_> {
    /// Lets a session of the caller rest; with the nonce, wakes it.
    pub(super) async fn run(&self) -> Result<Reply, Problem> {
        let caller = self.call.agent_id()?;
        // Also where it is empty: whoever wants to give a contract back does not want its session to rest.
        if self.call.given.has("synthesis_id") {
            return self.contracts.release(self.call.given.required_text(&["synthesis_id"])?).await;
        }
        let session = self.call.given.name(&["session_id"])?.or(self.session_id);
        let session = session.ok_or_else(|| self.call.given.missing(Status::UNPROCESSABLE, &["session_id"]))?;
        if let Some(nonce) = self.call.given.text(&[NONCE])? {
            return self.resume(caller, session, nonce).await;
        }
        let (sessions, name) = (self.sessions, SessionName { agent: caller, session });
        let (rest, nonce) = self.rest()?;
        let (number, last) = name.last(sessions).await?;
        if matches!(last, Some(SessionEntry::Rests(_))) {
            return Err(rests_already());
        }
        let body = json!({
            "method": self.call.method,
            "suspension_id": rest.suspension_id,
            "session_id": session,
            NONCE: nonce,
            "reason": rest.reason,
            "resume_by": rest.resume_by,
            "status": "suspended",
        });
        let until = rest.resume_by;
        // On the list before it rests: requests look at the list first, and take a session that is not on it for one
        // that goes on.
        self.resting.add(sessions, name, until).await?;
        match name.write(sessions, &SessionEntry::Rests(rest), until, number).await? {
            true => Ok(Reply::ok(body)),
            false => Err(rests_already()),
        }
    }

    /// What is to be kept, and the nonce that is told once.
    fn rest(&self) -> Result<(Suspension, String), Problem> {
        let now = self.ambient.now();
        let latest = now + SUSPENSION_MAX;
        let ttl = self.call.given.number(&["ttl_seconds"], 1.0..=SUSPENSION_MAX.as_secs_f64())?;
        let usual = now + ttl.map_or(SUSPENSION_DEFAULT, Duration::from_secs_f64);
        let resume_by = self.call.given.moment(&["resume_by"])?.unwrap_or(usual);
        if resume_by <= now {
            return Err(Problem::new(Status::TIMEOUT, "resume-by-passed", "`resume_by` has passed already"));
        }
        if resume_by > latest {
            return Err(self
                .call
                .given
                .wrong(&["resume_by"], &format!("must be at most {} days away", SUSPENSION_MAX.as_secs() / 86_400)));
        }
        let reason = self.call.given.one_of(&["reason"], &REASONS)?.unwrap_or("scheduled_pause");
        let checkpoint = self.call.given.kept(&["checkpoint"])?.cloned();
        let nonce = base64url(&self.ambient.bits());
        let mut rest = Suspension::new(self.ambient.mint("susp"), &nonce, resume_by, reason);
        rest.checkpoint = checkpoint;
        Ok((rest, nonce))
    }

    /// Wakes a session. Of many who show the nonce, one does.
    async fn resume(&self, caller: &str, session: &str, nonce: &str) -> Result<Reply, Problem> {
        let (sessions, name) = (self.sessions, SessionName { agent: caller, session });
        let message = "no session of this name rests: it went on, or its time has come";
        let none = || Problem::new(Status::NOT_FOUND, "suspension-not-found", message);
        let (number, Some(SessionEntry::Rests(rest))) = name.last(sessions).await? else { return Err(none()) };
        if !rest.is_ended_by(nonce) {
            return Err(Problem::new(
                Status::FORBIDDEN,
                "resumption-nonce-mismatch",
                "this nonce does not wake the session",
            ));
        }
        if !name.write(sessions, &SessionEntry::Resumed, rest.resume_by, number).await? {
            return Err(none());
        }
        self.resting.remove(sessions, name, rest.resume_by).await;
        Ok(Reply::ok(json!({
            "method": self.call.method,
            "suspension_id": rest.suspension_id,
            "session_id": session,
            "status": "resumed",
            "checkpoint": rest.checkpoint,
            "resumed_at": self.ambient.now(),
        })))
    }
}

fn rests_already() -> Problem {
    Problem::new(Status::CONFLICT, "session-suspended", "this session rests already")
}
