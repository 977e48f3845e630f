//! Steps as a stream of events: no task, no channel, and one timer that is used again and again.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use forecourt_core::{Ending, Entropy, Event};
use futures::Stream;
use tokio::time::{Instant, Sleep};

use super::Step;

/// A play of the steps of one rule.
pub(super) struct Play {
    steps: Arc<[Step]>,
    entropy: Arc<dyn Entropy>,
    /// The next step.
    at: usize,
    /// Fragments of the current repetition that were sent.
    sent: u32,
    is_over: bool,
    /// The wait that the stream is in, and the timer that later waits use again.
    timer: Option<Pin<Box<Sleep>>>,
    is_waiting: bool,
}

impl Play {
    pub(super) fn new(steps: Arc<[Step]>, entropy: Arc<dyn Entropy>) -> Self {
        Self { steps, entropy, at: 0, sent: 0, is_over: false, timer: None, is_waiting: false }
    }

    /// Begins to wait until `deadline`.
    fn wait_until(&mut self, deadline: Instant) {
        match &mut self.timer {
            Some(timer) => timer.as_mut().reset(deadline),
            None => self.timer = Some(Box::pin(tokio::time::sleep_until(deadline))),
        }
        self.is_waiting = true;
    }

    fn wait(&mut self, time: Duration) {
        self.wait_until(Instant::now() + time);
    }

    /// Waits for the next fragment of a repetition. Counted from when the last one was due, so that
    /// the pace is kept however late each of them was.
    fn keep_pace(&mut self, every: Duration) {
        let due = self.timer.as_ref().filter(|_| self.sent > 1).map(|timer| timer.deadline());
        self.wait_until(due.unwrap_or_else(Instant::now) + every);
    }

    fn poll_timer(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(timer) = self.timer.as_mut().filter(|_| self.is_waiting) {
            ready!(timer.as_mut().poll(cx));
            self.is_waiting = false;
        }
        Poll::Ready(())
    }

    /// Takes one step; gives the event, if it was one.
    fn step(&mut self) -> Option<Event> {
        let steps = self.steps.clone();
        let Some(step) = steps.get(self.at) else {
            return Some(Event::Ending(Ending::Complete));
        };
        if let Step::Repeat { text, count, every } = step {
            return self.repeat(text, *count, *every);
        }
        self.at += 1;
        match step {
            Step::Emit(event) => Some(event.clone()),
            Step::Refuse(template) => Some(Event::Ending(template.play(&*self.entropy))),
            Step::Wait(time) => {
                self.wait(*time);
                None
            }
            Step::Repeat { .. } => None,
        }
    }

    fn repeat(&mut self, text: &str, count: u32, every: Duration) -> Option<Event> {
        if self.sent >= count {
            self.at += 1;
            self.sent = 0;
            self.is_waiting = false;
            return None;
        }
        self.sent += 1;
        if !every.is_zero() && self.sent < count {
            self.keep_pace(every);
        }
        Some(Event::Text(numbered(text, self.sent)))
    }
}

/// The text of fragment number `n`.
fn numbered(text: &str, n: u32) -> String {
    match text.split_once("{n}") {
        Some((before, after)) => format!("{before}{n}{after}"),
        None => text.to_owned(),
    }
}

impl Stream for Play {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        while !self.is_over {
            ready!(self.poll_timer(cx));
            if let Some(event) = self.step() {
                self.is_over = matches!(event, Event::Ending(_));
                return Poll::Ready(Some(event));
            }
        }
        Poll::Ready(None)
    }
}
