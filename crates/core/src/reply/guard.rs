//! This module holds agents to the form of a reply: one ending, nothing after it, and a bounded amount before it.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::Stream;

use super::{Ending, Event, EventStream, FailureCause};
use crate::limits::{ARTIFACT_BYTES_MAX, PARTS_MAX, REPLY_BYTES_MAX, REPLY_EVENTS_MAX, REPLY_TEXT_BYTES_MAX};
use crate::part::Part;

/// How much one reply may hold. The default is what [`crate::limits`] says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyLimits {
    /// Events, the ending not counted.
    pub events: u64,
    /// Bytes of text, all fragments together.
    pub text_bytes: usize,
    /// Files, links, data items, artifacts and tool calls (by id).
    pub parts: usize,
    /// Bytes of one file or artifact that is carried in the reply itself.
    pub artifact_bytes: usize,
    /// Bytes of all parts and tool calls together, about.
    pub bytes: usize,
}

impl Default for ReplyLimits {
    fn default() -> Self {
        Self {
            events: REPLY_EVENTS_MAX,
            text_bytes: REPLY_TEXT_BYTES_MAX,
            parts: PARTS_MAX,
            artifact_bytes: ARTIFACT_BYTES_MAX,
            bytes: REPLY_BYTES_MAX,
        }
    }
}

/// Wraps an agent's events so that exactly one ending comes out and nothing after it.
///
/// An agent that stops without an ending, panics, or goes over a limit has failed; the event that
/// went over is not passed on. A refusal among the parts is the ending (PolicyPart 3.5). The agent's
/// stream is dropped as soon as the ending is there, which stops its work.
pub fn guard(events: EventStream, limits: ReplyLimits) -> GuardedReply {
    GuardedReply { agent: Some(events), left: limits, calls: HashSet::new() }
}

/// A stream under [`guard`].
pub struct GuardedReply {
    /// The agent, until its ending.
    agent: Option<EventStream>,
    /// The limits, less what the reply has used.
    left: ReplyLimits,
    /// The ids of tool calls that were counted as parts.
    calls: HashSet<String>,
}

impl Stream for GuardedReply {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        loop {
            let Some(agent) = &mut self.agent else {
                return Poll::Ready(None);
            };
            // A panic must end this reply alone. Asserted, as the broken stream is dropped below and never polled
            // again.
            let next = match catch_unwind(AssertUnwindSafe(|| agent.as_mut().poll_next(cx))) {
                Ok(poll) => ready!(poll),
                Err(_) => Some(Event::Ending(Ending::failed("the agent broke down"))),
            };
            let event = self.pass(next.unwrap_or_else(|| Event::Ending(Ending::unfinished())));
            if matches!(event, Event::Ending(_)) {
                self.agent = None;
            }
            // Which task this is only the host knows. Counted before, so that this ends.
            if !matches!(event, Event::Task(_)) {
                return Poll::Ready(Some(event));
            }
        }
    }
}

impl GuardedReply {
    /// The event, in its proper form, or the failure that it comes to.
    fn pass(&mut self, event: Event) -> Event {
        match event {
            // PolicyPart 3.5: it must be the last frame, so that what the agent would send behind it is cut off here.
            Event::Part(Part::Policy(refusal)) => Event::Ending(Ending::Refused(Box::new(refusal))),
            // One form for consumers, whichever the backend used: as an event it replaces the call of its id.
            Event::Part(Part::ToolCall(call)) => self.count(Event::ToolCall(call)),
            Event::Progress(mut progress) => {
                // NaN survives `clamp`, and JSON has no form for it.
                progress.fraction = progress.fraction.filter(|f| f.is_finite()).map(|f| f.clamp(0.0, 1.0));
                self.count(Event::Progress(progress))
            }
            event => self.count(event),
        }
    }

    fn count(&mut self, event: Event) -> Event {
        match self.spend(&event) {
            Ok(()) => event,
            Err(what) => Event::Ending(FailureCause::OverBound.ending(format!("the agent's answer has {what}"))),
        }
    }

    /// Takes what `event` weighs from what is left.
    fn spend(&mut self, event: &Event) -> Result<(), &'static str> {
        if let Event::Ending(Ending::Message(text)) = event {
            return take(&mut self.left.text_bytes, text.len(), "too much text");
        }
        if matches!(event, Event::Ending(_)) {
            return Ok(());
        }
        // Fragments may be empty and progress weighs nothing: without this an agent could send them without end.
        self.left.events = self.left.events.checked_sub(1).ok_or("too many events")?;
        match event {
            Event::Text(fragment) => take(&mut self.left.text_bytes, fragment.len(), "too much text"),
            Event::Part(part) => self.spend_part(part),
            Event::Findings(findings) => take(&mut self.left.bytes, findings.weight(), "too many bytes"),
            Event::ToolCall(call) => {
                // An update of a call replaces it and is no further part, but its bytes are sent and stored again.
                if self.calls.insert(call.id.clone()) {
                    take(&mut self.left.parts, 1, "too many parts")?;
                }
                take(&mut self.left.bytes, call.weight(), "too many bytes")
            }
            Event::Progress(_) | Event::Task(_) | Event::Ending(_) => Ok(()),
        }
    }

    fn spend_part(&mut self, part: &Part) -> Result<(), &'static str> {
        let weight = part.weight();
        if matches!(part, Part::File(_) | Part::Artifact(_)) && weight > self.left.artifact_bytes {
            return Err("a file that is too large");
        }
        take(&mut self.left.parts, 1, "too many parts")?;
        take(&mut self.left.bytes, weight, "too many bytes")
    }
}

fn take(left: &mut usize, amount: usize, over: &'static str) -> Result<(), &'static str> {
    *left = left.checked_sub(amount).ok_or(over)?;
    Ok(())
}
