//! The courier of this protocol: it sends the answers and refusals that are due, and asks questions again.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use forecourt_core::message::Role;
use forecourt_core::part::{File, FileSource};
use forecourt_core::policy::{RefusalKind, Submission as Submitted};
use forecourt_core::store::{Delivery, Notification};
use forecourt_core::{Part, PolicyPart, StateToken, Task, Timestamp, ids};
use forecourt_host::{CarryOutcome, Courier};
use forecourt_issuance::IssuanceStatus;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::compose::{Content, Style, compose};
use crate::correspondence::Correspondence;
use crate::limits::{REPEAT_AFTER_MAX, REPEATS_MAX, RESUME_LOOK_FIRST, RESUME_LOOK_MAX};
use crate::lmtp::SmtpReply;
use crate::service::{REFUSAL, Service};
use crate::signer::Signature;
use crate::submission::Submission;

/// What a notice holds that waits for what a refusal wanted.
const RESUME: &str = "resume";

/// Carries deliveries of this protocol.
pub(crate) struct EmailCourier {
    pub(crate) submission: Submission,
    pub(crate) signature: Option<Arc<Signature>>,
    pub(crate) html: bool,
    /// Set once the protocol is mounted; what is due before that waits.
    pub(crate) service: Arc<OnceLock<Arc<Service>>>,
}

impl Courier for EmailCourier {
    fn carry<'a>(&'a self, delivery: &'a Delivery) -> BoxFuture<'a, CarryOutcome> {
        async move {
            let Some(service) = self.service.get() else { return CarryOutcome::Wait(RESUME_LOOK_FIRST) };
            let Some(to) = Correspondence::of(&delivery.webhook) else { return CarryOutcome::Never };
            match delivery.webhook.details.get(RESUME) {
                Some(resume) => look(service, &to, resume).await,
                None => self.tell(service, &to, delivery).await,
            }
        }
        .boxed()
    }
}

impl EmailCourier {
    async fn tell(&self, service: &Service, to: &Correspondence, delivery: &Delivery) -> CarryOutcome {
        let refusal = delivery.webhook.details.get(REFUSAL).and_then(Value::as_object);
        let refusal = refusal.and_then(|part| PolicyPart::from_json(part.clone()).ok());
        let outcome = delivery.task.as_ref().and_then(|task| task.outcome.as_ref());
        let content = match (&refusal, outcome) {
            (Some(part), _) => Content::Refusal(part),
            (None, Some(reply)) => Content::Reply(reply),
            (None, None) => return CarryOutcome::Never,
        };
        if let Some(task) = &delivery.task
            && let Some(after) = content.refusal().and_then(passes_after).filter(|_| to.repeats < REPEATS_MAX)
            && let Some(asked) = asked(task)
        {
            return match delivery.attempts {
                // Only waits, the first time; the question is asked again when the delivery comes due once more.
                0 => CarryOutcome::Wait(after),
                _ => outcome_of(service.ask_again(to, asked, None).await, after),
            };
        }
        // Without a signature the refusal holds no link (PolicyPart 4.4), so that nobody can do what it wants.
        let state = content.refusal().and_then(PolicyPart::state).filter(|_| self.signature.is_some());
        // Further attempts at this delivery must not begin to look a second time.
        if let Some(state) = state.filter(|_| delivery.attempts == 0)
            && let Err(error) = wait(service, to, &state).await
        {
            tracing::warn!(%error, "an answer will not follow by itself once what was asked for is done");
        }
        self.send(service, to, &content).await
    }

    async fn send(&self, service: &Service, to: &Correspondence, content: &Content<'_>) -> CarryOutcome {
        let style = Style {
            domain: service.domain(),
            html: self.html,
            is_signed: self.signature.is_some(),
            now: service.host.clock().now().as_second(),
        };
        // A task that was cancelled has nothing to tell.
        let Some(message) = compose(content, to, &style) else { return CarryOutcome::Delivered };
        let message = match &self.signature {
            None => message,
            Some(signature) => match signature.sign(&message) {
                Some(signed) => signed,
                None => return CarryOutcome::Never,
            },
        };
        let from = format!("{}@{}", to.agent, service.domain());
        self.submission.send(&from, &to.to.to_string(), &message).await
    }
}

/// Has the state of a refusal looked at until it is done or of no use any more.
async fn wait(service: &Service, to: &Correspondence, state: &StateToken) -> Result<(), forecourt_core::Error> {
    let Some(issuance) = service.host.issuance(state).await? else { return Ok(()) };
    let now = service.host.clock().now();
    let resume = json!({"state": state.expose(), "since": now});
    let mut webhook = to.webhook(ids::mint(service.host.entropy().as_ref()), [(RESUME, resume)]);
    // Looking is no attempt: it ends with the state.
    webhook.retries = u32::MAX;
    let due_at = now.checked_add(RESUME_LOOK_FIRST).unwrap_or(now);
    let account = to.sender.account();
    service.host.notify(Notification { webhook, account, due_at, expires_at: issuance.expires_at }).await
}

/// Looks whether what a refusal wanted was done, and asks again what was asked if it was.
async fn look(service: &Service, to: &Correspondence, resume: &Value) -> CarryOutcome {
    let state = resume.get("state").and_then(Value::as_str).and_then(StateToken::parse);
    let Some(state) = state else { return CarryOutcome::Never };
    let since: Option<Timestamp> = resume.get("since").and_then(Value::as_str).and_then(|at| at.parse().ok());
    let wait = look_after(since, service.host.clock().now());
    let later = CarryOutcome::Wait(wait);
    let issuance = match service.host.issuance(&state).await {
        Ok(Some(issuance)) => issuance,
        Ok(None) => return CarryOutcome::Never,
        Err(_) => return later,
    };
    match issuance.status {
        IssuanceStatus::Issued | IssuanceStatus::Indeterminate => return later,
        IssuanceStatus::Consumed | IssuanceStatus::Declined | IssuanceStatus::Expired => {
            return CarryOutcome::Delivered;
        }
        IssuanceStatus::Verified => {}
    }
    if issuance.asked.is_empty() {
        tracing::info!("what was asked is not kept: the next message of its sender uses what was done");
        return CarryOutcome::Delivered;
    }
    let submission = Submitted { state: Some(state), payment: None };
    outcome_of(service.ask_again(to, issuance.asked, Some(submission)).await, wait)
}

/// What became of a question that was asked again; what could not be is, after a while.
fn outcome_of(asked: Result<SmtpReply, forecourt_core::Error>, after: Duration) -> CarryOutcome {
    match asked {
        Ok(reply) if reply.code == 250 => CarryOutcome::Delivered,
        Ok(reply) if reply.code >= 500 => CarryOutcome::Never,
        Ok(_) => CarryOutcome::Wait(after),
        Err(error) => {
            tracing::warn!(%error, "a question could not be asked again");
            CarryOutcome::Wait(after)
        }
    }
}

/// How long to wait where an agent has no room: whoever writes a mail has time.
fn passes_after(part: &PolicyPart) -> Option<Duration> {
    match &part.kind {
        kind @ (RefusalKind::TooManyRequests { .. } | RefusalKind::ServiceUnavailable { .. }) => {
            let wait = Duration::from_secs(kind.retry_after_seconds().unwrap_or_default());
            (wait <= REPEAT_AFTER_MAX).then(|| wait.max(RESUME_LOOK_FIRST))
        }
        _ => None,
    }
}

/// What a task was asked, whole. `None` where a part of it is not kept with it.
fn asked(task: &Task) -> Option<Vec<Part>> {
    let turn = task.turns.iter().rev().find(|turn| turn.role == Role::User)?;
    let is_whole = |part: &Part| !matches!(part, Part::File(File { source: FileSource::Kept, .. }));
    (!turn.parts.is_empty() && turn.parts.iter().all(is_whole)).then(|| turn.parts.clone())
}

/// People are quick or slow: the longer it takes, the more rarely it is looked at.
fn look_after(since: Option<Timestamp>, now: Timestamp) -> Duration {
    let waited = since.and_then(|since| now.duration_since(since).try_into().ok()).unwrap_or(Duration::ZERO);
    (waited / 10).clamp(RESUME_LOOK_FIRST, RESUME_LOOK_MAX)
}
