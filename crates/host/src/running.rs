//! An agent at work: the one wrapper around every agent's stream.
//!
//! It holds the agent to its time and to the form of a reply, turns a panic into an honest failure,
//! and checks that a refusal is well formed before anybody sees it.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use forecourt_core::reply::{GuardedReply, ReplyLimits, guard, once};
use forecourt_core::{Admitted, Ending, Event, EventStream};
use futures::{FutureExt, Stream, StreamExt};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::directory::{HostedAgent, Site};

/// Begins the agent's work under guard.
pub(crate) fn run(resident: &HostedAgent, admitted: Admitted, site: &Arc<Site>) -> EventStream {
    let agent = resident.agent.clone();
    let events = std::panic::catch_unwind(AssertUnwindSafe(|| agent.handle(admitted)));
    let Ok(events) = events else { return once(crashed()) };
    Box::pin(Running {
        events: guard(events, ReplyLimits::default()),
        begun: Instant::now(),
        deadline: None,
        time_max: resident.time_max,
        site: site.clone(),
        ended: false,
    })
}

struct Running {
    events: GuardedReply,
    begun: Instant,
    /// Made when the agent first lets somebody wait: many never do.
    deadline: Option<Pin<Box<Sleep>>>,
    time_max: Duration,
    site: Arc<Site>,
    ended: bool,
}

impl Stream for Running {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let this = &mut *self;
        let event = match this.events.poll_next_unpin(cx) {
            Poll::Ready(event) => event.map(|event| checked(event, &this.site)),
            Poll::Pending => {
                let end = this.begun + this.time_max;
                let deadline = this.deadline.get_or_insert_with(|| Box::pin(sleep_until(end)));
                std::task::ready!(deadline.poll_unpin(cx));
                Some(Event::Ending(too_slow(this.time_max)))
            }
        };
        this.ended = matches!(event, None | Some(Event::Ending(_)));
        Poll::Ready(event)
    }
}

fn checked(event: Event, site: &Site) -> Event {
    let Event::Ending(Ending::Refused(part)) = &event else { return event };
    match part.validate(site.canonical_host()) {
        Ok(()) => event,
        Err(fault) => {
            tracing::error!(%fault, "an agent gave a malformed refusal");
            Event::Ending(Ending::Failed { reason: "The agent declined, but its reason was malformed.".to_owned() })
        }
    }
}

fn crashed() -> Ending {
    tracing::error!("an agent panicked");
    Ending::Failed { reason: "The agent crashed while it was answering.".to_owned() }
}

fn too_slow(time_max: Duration) -> Ending {
    Ending::Failed { reason: format!("The agent did not finish within {} s.", time_max.as_secs()) }
}
