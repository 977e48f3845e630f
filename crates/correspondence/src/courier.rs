//! One courier for all protocols of this kind: it hands over what is due, looks at what refusals wait for, and asks
//! questions again.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use forecourt_core::message::Role;
use forecourt_core::part::{File, FileSource};
use forecourt_core::policy::Submission;
use forecourt_core::store::{Delivery, Notification};
use forecourt_core::{CollectedReply, Ending, Error, Part, PolicyPart, StateToken, Task, Timestamp, ids};
use forecourt_host::{AnswerKind, CarryOutcome, Courier};
use forecourt_issuance::IssuanceStatus;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::desk::{Acceptance, Desk, REFUSAL, passes};
use crate::letter::{Address, Letter};
use crate::limits::{REPEAT_AFTER_MAX, REPEATS_MAX, RESUME_LOOK_FIRST, RESUME_LOOK_MAX};

/// What a notice holds that waits for what a refusal wanted.
const RESUME: &str = "resume";

/// What is told.
#[derive(Clone, Copy)]
pub enum Content<'a> {
    /// What an agent answered.
    Reply(&'a CollectedReply),
    /// Why it does not.
    Refusal(&'a PolicyPart),
}

impl<'a> Content<'a> {
    /// As what it is counted.
    pub fn kind(&self) -> AnswerKind {
        if self.refusal().is_some() { AnswerKind::Refusal } else { AnswerKind::Answer }
    }

    /// The refusal, if this is one.
    pub fn refusal(&self) -> Option<&'a PolicyPart> {
        match self {
            Self::Refusal(part) => Some(part),
            Self::Reply(reply) => match &reply.ending {
                Ending::Refused(part) => Some(part),
                _ => None,
            },
        }
    }
}

/// Something to send.
pub struct Outgoing<'a, A> {
    /// Where it comes from.
    pub desk: &'a Desk<A>,
    /// Where it goes.
    pub letter: &'a Letter<A>,
    /// What it says.
    pub content: Content<'a>,
    /// Names the delivery: the same for each attempt at it.
    pub id: &'a str,
    /// The task that it is the answer of, if it is one: files that were kept beside it are read with its permit.
    pub task: Option<&'a Task>,
}

/// What sends answers of one protocol.
pub trait Carrier<A: Address>: Send + Sync + 'static {
    /// Makes one attempt. What it takes too long for is given up, and is an attempt that failed.
    fn send<'a>(&'a self, outgoing: Outgoing<'a, A>) -> BoxFuture<'a, CarryOutcome>;

    /// Whether what [`Carrier::send`] gives is what became of an attempt, and counted as such. Otherwise it counts by
    /// itself, as who hands answers on to a queue of its own.
    fn is_counted(&self) -> bool {
        true
    }

    /// Whether refusals are told with their links: without them nobody can do what they want, and nobody waits for it.
    fn tells_links(&self) -> bool {
        true
    }
}

/// A desk that is there once its protocol is mounted: couriers are made before that.
pub type OpenDesk<A> = Arc<OnceLock<Arc<Desk<A>>>>;

/// The courier of a protocol with letters.
pub struct LetterCourier<A, C> {
    /// What is due before there is one waits.
    pub desk: OpenDesk<A>,
    /// What sends.
    pub carrier: C,
}

impl<A: Address, C: Carrier<A>> Courier for LetterCourier<A, C> {
    fn carry<'a>(&'a self, delivery: &'a Delivery) -> BoxFuture<'a, CarryOutcome> {
        Box::pin(async move {
            let Some(desk) = self.desk.get() else { return CarryOutcome::Wait(RESUME_LOOK_FIRST) };
            let Some(letter) = Letter::of(&delivery.webhook) else { return CarryOutcome::Never };
            match delivery.webhook.details.get(RESUME) {
                Some(resume) => look(desk, &letter, resume).await,
                None => self.tell(desk, &letter, delivery).await,
            }
        })
    }
}

impl<A: Address, C: Carrier<A>> LetterCourier<A, C> {
    async fn tell(&self, desk: &Desk<A>, letter: &Letter<A>, delivery: &Delivery) -> CarryOutcome {
        let refusal = delivery.webhook.details.get(REFUSAL).and_then(Value::as_object);
        let refusal = refusal.and_then(|part| PolicyPart::from_json(part.clone()).ok());
        let outcome = delivery.task.as_ref().and_then(|task| task.outcome.as_ref());
        let content = match (&refusal, outcome) {
            (Some(part), _) => Content::Refusal(part),
            (None, Some(reply)) => Content::Reply(reply),
            (None, None) => return CarryOutcome::Never,
        };
        if let Some(task) = &delivery.task
            && let Some(after) = content.refusal().and_then(passes_after).filter(|_| letter.repeats < REPEATS_MAX)
            && let Some(asked) = asked(task)
        {
            // When there was no room, as far as that is known.
            let since = task.updated_at;
            return match rest_of(after, since, desk.host().clock().now()) {
                Some(rest) => CarryOutcome::Wait(rest),
                None => outcome_of(desk.ask_again(letter, asked, None).await, after),
            };
        }
        let state = content.refusal().and_then(PolicyPart::state).filter(|_| self.carrier.tells_links());
        if let Some(state) = state
            && let Err(error) = wait_once(desk, letter, &state).await
        {
            tracing::warn!(%error, "an answer will not follow by itself once what was asked for is done");
        }
        let task = delivery.task.as_ref();
        let sent = self.carrier.send(Outgoing { desk, letter, content, id: &delivery.webhook.id, task }).await;
        if self.carrier.is_counted() {
            desk.count(letter, content.kind(), sent);
        }
        sent
    }
}

/// Has the state of a refusal looked at, unless it is already: its delivery may be tried, or put off, several times.
async fn wait_once<A: Address>(desk: &Desk<A>, letter: &Letter<A>, state: &StateToken) -> Result<(), Error> {
    let (threads, name) = (desk.threads(), format!("looked at\0{}\0{}", letter.token, state.expose()));
    if threads.was_taken(name.as_bytes()).await? {
        return Ok(());
    }
    wait(desk, letter, state).await?;
    threads.take(name.as_bytes()).await
}

/// Has the state of a refusal looked at until it is done or of no use any more.
async fn wait<A: Address>(desk: &Desk<A>, letter: &Letter<A>, state: &StateToken) -> Result<(), Error> {
    let host = desk.host();
    let Some(issuance) = host.issuance(state).await? else { return Ok(()) };
    let now = host.clock().now();
    let resume = json!({"state": state.expose(), "since": now});
    let mut webhook = letter.webhook(ids::mint(host.entropy().as_ref()), [(RESUME, resume)]);
    // Looking is no attempt: it ends with the state.
    webhook.retries = u32::MAX;
    let due_at = now.checked_add(RESUME_LOOK_FIRST).unwrap_or(now);
    let account = letter.sender.account();
    host.notify(Notification { webhook, account, due_at, expires_at: issuance.expires_at }).await
}

/// Looks whether what a refusal wanted was done, and asks again what was asked if it was.
async fn look<A: Address>(desk: &Desk<A>, letter: &Letter<A>, resume: &Value) -> CarryOutcome {
    let state = resume.get("state").and_then(Value::as_str).and_then(StateToken::parse);
    let Some(state) = state else { return CarryOutcome::Never };
    let since: Option<Timestamp> = resume.get("since").and_then(Value::as_str).and_then(|at| at.parse().ok());
    let wait = look_after(since, desk.host().clock().now());
    let later = CarryOutcome::Wait(wait);
    let issuance = match desk.host().issuance(&state).await {
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
    let submission = Submission { state: Some(state), payment: None };
    outcome_of(desk.ask_again(letter, issuance.asked, Some(submission)).await, wait)
}

/// What became of a question that was asked again; what could not be is, after a while.
fn outcome_of(asked: Result<Acceptance, Error>, after: Duration) -> CarryOutcome {
    match asked {
        Ok(Acceptance::Taken) => CarryOutcome::Delivered,
        Ok(Acceptance::Untold(_)) => CarryOutcome::Never,
        Ok(Acceptance::Later(_)) => CarryOutcome::Wait(after),
        Err(error) => {
            tracing::warn!(%error, "a question could not be asked again");
            CarryOutcome::Wait(after)
        }
    }
}

/// How long to wait where an agent has no room: whoever is answered later has time.
fn passes_after(part: &PolicyPart) -> Option<Duration> {
    let wait = Duration::from_secs(part.kind.retry_after_seconds().unwrap_or_default());
    (passes(part) && wait <= REPEAT_AFTER_MAX).then(|| wait.max(RESUME_LOOK_FIRST))
}

/// What is left of a wait that began then. `None`: it is over.
fn rest_of(wait: Duration, since: Timestamp, now: Timestamp) -> Option<Duration> {
    let waited = Duration::try_from(now.duration_since(since)).unwrap_or(Duration::ZERO);
    wait.checked_sub(waited).filter(|rest| !rest.is_zero())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_over_once_its_time_is_however_often_it_is_looked_at() {
        let (since, wait) = (Timestamp::UNIX_EPOCH, Duration::from_secs(30));
        let rest = |seconds: u64| rest_of(wait, since, since + Duration::from_secs(seconds));
        assert_eq!([0, 29, 30, 31].map(rest), [Some(wait), Some(Duration::from_secs(1)), None, None]);
        // A clock that was set back waits no longer than that.
        assert_eq!(rest_of(wait, since, since - Duration::from_secs(9)), Some(wait));
    }
}
