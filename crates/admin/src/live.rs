//! Changes as they happen, as server-sent events. Whoever hears of one looks again; nothing is told twice, and nothing
//! is kept for anybody. A stream ends with the session in whose name it goes on.

use std::collections::BTreeMap;

use bytes::Bytes;
use forecourt_audit::AUDIT_STREAM;
use forecourt_core::store::{Span, TaskFilter};
use forecourt_host::FollowUntil;
use forecourt_surface::sse;
use futures::StreamExt;
use futures::stream::BoxStream;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::access::is_still_in;
use crate::account;
use crate::api_error::ApiError;
use crate::desk::Ask;
use crate::limits::{LOOK_EVERY, STREAM_TIME_MAX};
use crate::nouns::{overview, tasks};
use crate::secret::hashed;

type Frames = BoxStream<'static, Bytes>;

/// `overview` whenever something has changed, at first at once.
pub(crate) async fn changes(ask: Ask) -> Result<Frames, ApiError> {
    let slot = ask.desk.streams.clone().try_acquire_owned();
    let slot = slot.map_err(|_| ApiError::unavailable("as many streams are open as may be"))?;
    let (desk, actor, stopping) = (ask.desk.clone(), ask.actor.clone(), ask.house.host.stopping().clone());
    drop(ask);
    Ok(Box::pin(async_stream::stream! {
        let _slot = slot;
        let (until, mut last) = (Instant::now() + STREAM_TIME_MAX, String::new());
        while Instant::now() < until && !stopping.is_cancelled() && is_still_in(&desk, &actor).await {
            // The house of this moment, which may be another one than before.
            if let Ok(house) = desk.house() {
                let (path, query) = (BTreeMap::new(), BTreeMap::new());
                let ask = Ask { desk: desk.clone(), house, actor: actor.clone(), path, query, body: Value::Null };
                if let Ok((mark, overview)) = looked(ask).await
                    && mark != last
                {
                    last = mark;
                    yield sse::event("changed", &overview);
                }
            }
            tokio::select! {
                () = sleep(LOOK_EVERY) => {}
                () = stopping.cancelled() => {}
            }
        }
    }))
}

/// What tells one state of the house from the next, and the overview.
async fn looked(ask: Ask) -> Result<(String, String), ApiError> {
    let now = ask.now();
    let newest = ask.desk.reads.tasks_of_all(TaskFilter { limit: 1, ..TaskFilter::default() }, now).await?;
    let newest = newest.tasks.first().map(|task| task.updated_at);
    let refused = ask.desk.reads.entries(AUDIT_STREAM, Span::Before(u64::MAX), 1, now).await?;
    let refused = refused.first().map(|(number, _)| *number);
    let done = account::read(&ask.house.host, u64::MAX, 1).await?.first().map(|(number, _)| *number);
    let hits: u64 = ask.house.host.limits_hit().iter().map(|hit| hit.count).sum();
    let failures: usize = ask
        .house
        .host
        .directory()
        .iter()
        .map(|resident| ask.house.host.activity(resident.card.handle()).failures.len())
        .sum();
    let overview = serde_json::to_string(&overview::one(ask).await?).unwrap_or_default();
    Ok((hashed(&format!("{newest:?} {refused:?} {done:?} {hits} {failures} {overview}")), overview))
}

/// The events of a task from where the reader has come to, until it pauses or ends.
pub(crate) async fn task(ask: Ask) -> Result<Frames, ApiError> {
    let slot = ask.desk.streams.clone().try_acquire_owned();
    let slot = slot.map_err(|_| ApiError::unavailable("as many streams are open as may be"))?;
    let after = ask.number("after")?.unwrap_or_default();
    let permit = tasks::permit(&ask).await?;
    let (desk, actor) = (ask.desk.clone(), ask.actor.clone());
    drop(ask);
    let over = async move {
        let until = Instant::now() + STREAM_TIME_MAX;
        while Instant::now() < until && is_still_in(&desk, &actor).await {
            sleep(LOOK_EVERY).await;
        }
    };
    let followed = permit.follow(after, FollowUntil::Pause).map(move |(number, event)| {
        let _slot = &slot;
        let event = tasks::event_of(number, &event);
        sse::message_with_id(number, &serde_json::to_string(&event).unwrap_or_default())
    });
    let end = futures::stream::once(std::future::ready(sse::event("end", "")));
    Ok(followed.chain(end).take_until(over).boxed())
}
