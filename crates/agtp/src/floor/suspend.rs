//! SUSPEND: sessions that rest until their nonce is shown, or for a while. Base 3.1, 3.4.

use std::time::Duration;

use serde_json::json;

use super::Floor;
use crate::limits::{SUSPENSION_DEFAULT, SUSPENSION_MAX};
use crate::reply::{Problem, Reply};
use crate::sessions::{NONCE, SessionEntry, SessionName, Suspension, base64url};
use crate::status::Status;

/// Why a session may rest. A contract is released for any reason.
const REASONS: [&str; 4] = ["awaiting_input", "resource_limit", "scheduled_pause", "external_dependency"];

impl Floor<'_> {
    /// Lets a session of the caller rest; with the nonce, wakes it.
    pub(super) async fn suspend(&self) -> Result<Reply, Problem> {
        let caller = self.caller()?;
        // Also where it is empty: whoever wants to give a contract back does not want its session to rest.
        if self.ask.call.body.contains_key("synthesis_id") {
            return self.release(self.given.required_text(&["synthesis_id"])?).await;
        }
        let session = self.given.name(&["session_id"])?.or(self.ask.call.thread.session_id.as_deref());
        let session = session.ok_or_else(|| self.given.missing(Status::UNPROCESSABLE, &["session_id"]))?;
        if let Some(nonce) = self.given.text(&[NONCE])? {
            return self.resume(caller, session, nonce).await;
        }
        let (host, name) = (&self.service.host, SessionName { agent: caller, session });
        let (rest, nonce) = self.rest()?;
        let (number, last) = name.last(host).await?;
        if matches!(last, Some(SessionEntry::Rests(_))) {
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
        self.service.resting.add(host, name, until).await?;
        match name.write(host, &SessionEntry::Rests(rest), until, number).await? {
            true => Ok(Reply::ok(body)),
            false => Err(rests_already()),
        }
    }

    /// What is to be kept, and the nonce that is told once.
    fn rest(&self) -> Result<(Suspension, String), Problem> {
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
        let reason = self.given.one_of(&["reason"], &REASONS)?.unwrap_or("scheduled_pause");
        let checkpoint = self.given.kept(&["checkpoint"])?.cloned();
        let nonce = self.nonce();
        let mut rest = Suspension::new(self.name("susp"), &nonce, resume_by, reason);
        rest.checkpoint = checkpoint;
        Ok((rest, nonce))
    }

    /// Wakes a session. Of many who show the nonce, one does.
    async fn resume(&self, caller: &str, session: &str, nonce: &str) -> Result<Reply, Problem> {
        let (host, name) = (&self.service.host, SessionName { agent: caller, session });
        let message = "no session of this name rests: it went on, or its time has come";
        let none = || Problem::new(Status::NOT_FOUND, "suspension-not-found", message);
        let (number, Some(SessionEntry::Rests(rest))) = name.last(host).await? else { return Err(none()) };
        if !rest.is_ended_by(nonce) {
            return Err(Problem::new(
                Status::FORBIDDEN,
                "resumption-nonce-mismatch",
                "this nonce does not wake the session",
            ));
        }
        if !name.write(host, &SessionEntry::Resumed, rest.resume_by, number).await? {
            return Err(none());
        }
        self.service.resting.remove(host, name, rest.resume_by).await;
        Ok(Reply::ok(json!({
            "method": self.method,
            "suspension_id": rest.suspension_id,
            "session_id": session,
            "status": "resumed",
            "checkpoint": rest.checkpoint,
            "resumed_at": self.now(),
        })))
    }

    /// 128 random bits in base64url.
    fn nonce(&self) -> String {
        let mut bits = [0; 16];
        self.service.host.entropy().fill(&mut bits);
        base64url(&bits)
    }
}

fn rests_already() -> Problem {
    Problem::new(Status::CONFLICT, "session-suspended", "this session rests already")
}
