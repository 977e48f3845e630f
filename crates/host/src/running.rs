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
use forecourt_core::{Admitted, Ending, Event, EventStream, FailureCause, PolicyPart};
use forecourt_telemetry::spans;
use futures::future::BoxFuture;
use futures::{FutureExt, Stream, StreamExt};
use tokio::time::{Instant, Sleep, sleep_until};
use tracing::Span;

use crate::demand;
use crate::metrics::Metrics;
use crate::records::Records;
use crate::request::Request;
use forecourt_core::Site;
use forecourt_issuance::AnswerMark;
use forecourt_rules::guard::{Guardrail, ReplyGuards, Side, guarded};

/// Begins the agent's work under guard. `mark` is what its message was let through by, if by anything.
pub(crate) fn run(
    request: Arc<Request>,
    admitted: Admitted,
    mut mark: Option<AnswerMark>,
    site: &Arc<Site>,
    metrics: &Arc<Metrics>,
) -> EventStream {
    let (agent, time_max) = (request.resident.agent.clone(), request.resident.time_max);
    if let Some(mark) = &mut mark {
        // Before the agent is called: one that panics has heard of the message, so what it was paid with is used.
        mark.begin();
    }
    let guards = reply_guards(&request.resident.guards, &request.records, &admitted, metrics);
    let span = spans::invoke_agent(request.resident.card.handle().as_str());
    let events =
        span.in_scope(|| std::panic::catch_unwind(AssertUnwindSafe(|| agent.handle(admitted.without_mention()))));
    let events = events.unwrap_or_else(|_| once(crashed()));
    let events = match guards {
        // Form and bounds first, so that what is judged has them.
        Some(guards) => guarded(Box::pin(guard(events, ReplyLimits::default())), guards),
        None => events,
    };
    Box::pin(Running {
        events: guard(events, ReplyLimits::default()),
        begun: Instant::now(),
        deadline: None,
        time_max,
        site: site.clone(),
        request,
        mark,
        closing: None,
        ended: false,
        span,
    })
}

/// What the reply to a message is held against, if it is.
pub(crate) fn reply_guards(
    guards: &[Arc<Guardrail>],
    records: &Arc<Records>,
    admitted: &Admitted,
    metrics: &Arc<Metrics>,
) -> Option<ReplyGuards> {
    let guards: Vec<_> = guards.iter().filter(|guard| guard.judges(Side::Reply)).cloned().collect();
    if guards.is_empty() {
        return None;
    }
    let (agent, records) = (admitted.card().handle().clone(), records.clone());
    let record = records.guarded_record(&agent, admitted.message());
    let note = Box::new(move |rule: &str, part: &PolicyPart| records.note_guarded(record.clone(), rule, part));
    Some(ReplyGuards { guards, agent, counter: metrics.clone(), note })
}

struct Running {
    events: GuardedReply,
    begun: Instant,
    /// Made when the agent first lets somebody wait: many never do.
    deadline: Option<Pin<Box<Sleep>>>,
    time_max: Duration,
    site: Arc<Site>,
    request: Arc<Request>,
    /// What its message was let through by, until the answer is at its end.
    mark: Option<AnswerMark>,
    /// What must be written down before the ending is told.
    closing: Option<BoxFuture<'static, Ending>>,
    ended: bool,
    /// What it is traced by: whatever the agent asks of others belongs to it.
    span: Span,
}

impl Stream for Running {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let this = &mut *self;
        let span = this.span.clone();
        let _entered = span.enter();
        let event = match &mut this.closing {
            Some(closing) => Some(Event::Ending(std::task::ready!(closing.poll_unpin(cx)))),
            None => match this.events.poll_next_unpin(cx) {
                Poll::Ready(event) => event,
                Poll::Pending => {
                    let end = this.begun + this.time_max;
                    let deadline = this.deadline.get_or_insert_with(|| Box::pin(sleep_until(end)));
                    std::task::ready!(deadline.poll_unpin(cx));
                    Some(Event::Ending(too_slow(this.time_max)))
                }
            },
        };
        if let Some(Event::Ending(ending)) = &event
            && this.closing.is_none()
            && (this.mark.is_some() || is_bare(ending))
        {
            this.closing = Some(close(this.request.clone(), this.mark.take(), ending.clone()).boxed());
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if let Some(Event::Ending(ending)) = &event {
            spans::record_outcome(&span, ending.code(), matches!(ending, Ending::Failed { .. }));
        }
        this.ended = matches!(event, None | Some(Event::Ending(_)));
        Poll::Ready(event.map(|event| checked(event, &this.site)))
    }
}

/// Whether an agent asks for something without a state of its own, so that the host has to give it one.
fn is_bare(ending: &Ending) -> bool {
    matches!(ending, Ending::Refused(part) if part.is_bare())
}

/// What the end of an answer leaves behind in the ledger: that what it was let through by is charged for and used, and
/// a state for what the agent asks for.
async fn close(request: Arc<Request>, mark: Option<AnswerMark>, ending: Ending) -> Ending {
    let ending = match mark {
        Some(mark) => mark.ended(ending).await,
        None => ending,
    };
    match ending {
        Ending::Refused(part) if part.is_bare() => demand::issued(&request, *part).await,
        ending => ending,
    }
}

fn checked(event: Event, site: &Site) -> Event {
    let Event::Ending(Ending::Refused(part)) = &event else { return event };
    // An agent may be somebody else's program: a `url` off this host (PolicyPart 3.2) could have people pay elsewhere.
    match part.validate(site.canonical_host()) {
        Ok(()) => event,
        Err(fault) => {
            tracing::error!(%fault, "an agent gave a malformed refusal");
            Event::Ending(Ending::failed("The agent declined, but its reason was malformed."))
        }
    }
}

fn crashed() -> Ending {
    tracing::error!("an agent panicked");
    Ending::failed("The agent crashed while it was answering.")
}

fn too_slow(time_max: Duration) -> Ending {
    FailureCause::TimedOut.ending(format!("The agent did not finish within {} s.", time_max.as_secs()))
}
