//! Deliveries: posts that wait to be made, and those that fail.

use forecourt_core::Timestamp;
use forecourt_store::QueuedDelivery;
use schemars::JsonSchema;
use serde::Serialize;
use url::Url;

use super::{ActionOutcome, Why};
use crate::access::Command;
use crate::account::{self, Came};
use crate::api_error::ApiError;
use crate::desk::{Ask, reason};

/// A page of deliveries.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Deliveries {
    /// In the order in which they were queued.
    pub deliveries: Vec<Delivery>,
    /// How many wait in all.
    pub total: u64,
    /// What to give as `after` for the next page; none at the end.
    pub next: Option<u64>,
}

/// A delivery that waits.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Delivery {
    /// Names it.
    pub id: u64,
    /// `waiting`, `failing` after an attempt that failed, or `under_way`.
    pub state: String,
    /// Whose it is: a protocol, or the operator's own.
    pub of: String,
    /// Where it goes, as far as that is no secret: scheme and host.
    pub to: String,
    /// The task that it tells of.
    pub task: Option<String>,
    /// The agent of that task.
    pub agent: Option<String>,
    /// Attempts made so far.
    pub attempts: u32,
    /// Attempts in all.
    pub attempts_max: u32,
    /// When it is tried next.
    #[schemars(with = "String")]
    pub due_at: Timestamp,
}

pub(crate) const QUERY: &[(&str, &str)] =
    &[("after", "What `next` of the page before was"), ("limit", "At most so many, up to 200")];

pub(crate) async fn list(ask: Ask) -> Result<Deliveries, ApiError> {
    let (after, limit) = (ask.number("after")?.unwrap_or_default(), ask.limit()?);
    let found = ask.desk.reads.deliveries(after, limit).await?;
    let next = found.last().filter(|_| found.len() == limit).map(|last| last.id);
    let total = ask.desk.reads.overview(ask.now()).await?.deliveries;
    Ok(Deliveries { deliveries: found.iter().map(seen).collect(), total, next })
}

pub(crate) fn seen(queued: &QueuedDelivery) -> Delivery {
    let state = match queued {
        QueuedDelivery { is_claimed: true, .. } => "under_way",
        QueuedDelivery { attempts: 0, .. } => "waiting",
        _ => "failing",
    };
    Delivery {
        id: queued.id,
        state: state.to_owned(),
        of: queued.webhook.protocol.clone(),
        to: place(&queued.webhook.url),
        task: queued.task.clone(),
        agent: queued.agent.as_ref().map(ToString::to_string),
        attempts: queued.attempts,
        attempts_max: queued.webhook.retries.saturating_add(1),
        due_at: queued.due_at,
    }
}

/// Scheme and host of an address. The rest of it may be a secret.
fn place(url: &str) -> String {
    match Url::parse(url) {
        // The path and the query of a webhook often hold its secret.
        Ok(url) if url.has_host() => url.origin().ascii_serialization(),
        Ok(url) => format!("{}:…", url.scheme()),
        Err(_) => "…".to_owned(),
    }
}

pub(crate) async fn retry(ask: Command) -> Result<ActionOutcome, ApiError> {
    let now = ask.now();
    settle(ask, "retry", Some(now), "it is tried now").await
}

pub(crate) async fn discard(ask: Command) -> Result<ActionOutcome, ApiError> {
    settle(ask, "drop", None, "it is dropped, and nobody is notified").await
}

async fn settle(
    ask: Command,
    action: &'static str,
    retry_at: Option<Timestamp>,
    words: &'static str,
) -> Result<ActionOutcome, ApiError> {
    let id: u64 = ask.named("id").parse().map_err(|_| ApiError::not_found("deliveries are named by numbers"))?;
    let why = reason(ask.body::<Why>()?.reason.as_deref())?;
    // The list begins behind a number: the one before `id` gives `id` itself, if it still waits.
    let found = ask.desk.reads.deliveries(id.saturating_sub(1), 1).await?;
    let (host, target) = (&ask.house.host, format!("delivery {id}"));
    let (came, answer) = match found.first().filter(|queued| queued.id == id) {
        // Whoever drops what is gone has what they wanted; so has who wants it made, unless it failed for good.
        None if retry_at.is_none() => (Came::Already, Ok("it does not wait any more")),
        None => return Err(ApiError::not_found("it does not wait any more: it was made, or failed for good")),
        // A node is making it at this moment: settling it now would have it made twice, or lose how it went.
        Some(queued) if queued.is_claimed => {
            (Came::Refused, Err(ApiError::conflict("it is under way just now; look again in a moment")))
        }
        Some(_) => {
            ask.desk.reads.settle_delivery(id, retry_at).await?;
            host.wake_deliveries();
            (Came::Done, Ok(words))
        }
    };
    account::note(host, &ask.actor.name, action, target, why.as_deref(), came).await;
    answer.map(|words| ActionOutcome::new(came, words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_address_only_its_place_is_told() {
        assert_eq!(place("https://user:open@hooks.example:8443/T0P/secret?key=1"), "https://hooks.example:8443");
        assert_eq!(place("mailto:ann@example.com"), "mailto:…");
        assert_eq!(place("not a url"), "…");
    }
}
