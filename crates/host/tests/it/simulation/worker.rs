//! The agent of a simulation: what it does follows from the words of the message, so that everybody knows what must come
//! of it.

use std::collections::HashMap;
use std::time::Duration;

use async_stream::stream;
use forecourt_core::{Admitted, Agent, Ending, Event, EventStream};
use parking_lot::Mutex;
use tokio::time::sleep;

/// What a worker does for a message.
#[derive(Clone, Debug)]
pub(super) struct Script {
    words: String,
    events: u64,
    wait: Duration,
}

impl Script {
    /// The script of a message with these words: a name, how much is said, and how long each takes in milliseconds.
    pub(super) fn new(name: &str, events: u64, wait: Duration) -> Self {
        Self { words: format!("{name} {events} {}", wait.as_millis()), events, wait }
    }

    fn read(words: &str) -> Self {
        let mut parts = words.split(' ');
        let name = parts.next().unwrap_or_default();
        let mut number = || parts.next().and_then(|part| part.parse().ok()).unwrap_or_default();
        let events = number();
        Self::new(name, events, Duration::from_millis(number()))
    }

    pub(super) fn words(&self) -> &str {
        &self.words
    }

    /// The events of a whole answer.
    pub(super) fn whole(&self) -> Vec<Event> {
        let said = (0..self.events).map(|n| Event::Text(format!("{n} of {}", self.words)));
        said.chain([Event::Ending(Ending::Complete)]).collect()
    }
}

/// Counts how often it is asked what.
#[derive(Debug, Default)]
pub(super) struct Worker {
    heard: Mutex<HashMap<String, usize>>,
}

impl Worker {
    /// How often it was asked this.
    pub(super) fn heard(&self, words: &str) -> usize {
        self.heard.lock().get(words).copied().unwrap_or_default()
    }
}

impl Agent for Worker {
    fn handle(&self, admitted: Admitted) -> EventStream {
        let words = admitted.message().text();
        *self.heard.lock().entry(words.clone()).or_default() += 1;
        let script = Script::read(&words);
        Box::pin(stream! {
            for event in script.whole() {
                sleep(script.wait).await;
                yield event;
            }
        })
    }
}
