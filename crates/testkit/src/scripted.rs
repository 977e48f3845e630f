//! An agent that does what a test says.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use forecourt_core::{Address, Admitted, Agent, AgentCard, Ending, Event, EventStream, Language, Message};
use parking_lot::Mutex;

/// One step of a [`ScriptedAgent`] agent. Few of them, in tests only: their size does not matter.
#[expect(clippy::large_enum_variant, reason = "boxing would only make tests harder to read")]
#[derive(Debug, Clone)]
pub enum Step {
    /// Something happens.
    Do(Event),
    /// Time passes. Tests pause the clock, so this costs none.
    Wait(Duration),
    /// Nothing happens, ever.
    Hang,
    /// The agent panics.
    Panic,
}

/// An agent that plays the same steps for every message, and remembers what it was asked.
#[derive(Debug, Default)]
pub struct ScriptedAgent {
    steps: Vec<Step>,
    heard: Mutex<Vec<Message>>,
    begun: Arc<AtomicUsize>,
    left: Arc<AtomicUsize>,
}

impl ScriptedAgent {
    /// An agent of these steps.
    pub fn new(steps: Vec<Step>) -> Arc<Self> {
        Arc::new(Self { steps, ..Self::default() })
    }

    /// An agent that says `texts` and completes.
    pub fn saying<const N: usize>(texts: [&str; N]) -> Arc<Self> {
        let said = texts.iter().map(|text| Step::Do(Event::Text((*text).to_owned())));
        Self::new(said.chain([Step::Do(Event::Ending(Ending::Complete))]).collect())
    }

    /// The messages it was asked, in order.
    pub fn heard(&self) -> Vec<Message> {
        self.heard.lock().clone()
    }

    /// How many answers were begun, and how many of those are over, dropped ones included.
    pub fn begun_and_left(&self) -> (usize, usize) {
        (self.begun.load(Ordering::SeqCst), self.left.load(Ordering::SeqCst))
    }
}

/// Counts the end of an answer, however it came.
struct Leaving(Arc<AtomicUsize>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Agent for ScriptedAgent {
    fn handle(&self, admitted: Admitted) -> EventStream {
        self.heard.lock().push(admitted.into_message());
        self.begun.fetch_add(1, Ordering::SeqCst);
        let leaving = Leaving(self.left.clone());
        let steps = self.steps.clone();
        Box::pin(async_stream::stream! {
            // Within the stream: a reply that is dropped before its end counts as left too.
            let _leaving = leaving;
            for step in steps {
                match step {
                    Step::Do(event) => yield event,
                    Step::Wait(time) => tokio::time::sleep(time).await,
                    Step::Hang => std::future::pending::<()>().await,
                    Step::Panic => panic!("as scripted"),
                }
            }
        })
    }
}

/// A card for `@handle@demo.localhost` with plain defaults.
pub fn card(handle: &str) -> AgentCard {
    AgentCard {
        address: Address::parse(&format!("@{handle}@demo.localhost")).expect("a test's handle is valid"),
        name: handle.to_owned(),
        description: format!("The agent {handle}."),
        version: "1.0.0".to_owned(),
        icon: None,
        skills: Vec::new(),
        input_modes: Vec::new(),
        output_modes: Vec::new(),
        homepage: None,
        language: Language::english(),
        streams: true,
        uses_tools: false,
        remembers: false,
        composes: false,
        wants_token: false,
        finds: false,
        cors: false,
        cache_control: None,
        examples: Vec::new(),
        endpoints: Vec::new(),
        via: Vec::new(),
    }
}
