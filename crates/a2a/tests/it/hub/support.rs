//! A host in memory that is asked over A2A, without a socket.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::body::Body;
use forecourt_a2a::PROTOCOL;
use forecourt_core::policy::PaymentScheme;
use forecourt_core::{
    Admitted, Agent, AgentCard, ClientAddr, ContentMode, Ending, Event, EventStream, Handle, Message, MessageId, Part,
    PolicyPart, Question, Reply, Rule,
};
use forecourt_egress::EgressConfig;
use forecourt_host::{Host, HostedAgent, LimitSettings, Run};
use forecourt_settings::Problems;
use forecourt_surface::tool::Tool;
pub(crate) use forecourt_testhost::unlimited;
use forecourt_testhost::{Blueprint, MountedHost, resident};
use forecourt_testkit::{HandClock, ScriptedAgent, Step, card};
use http::Request;
use http::request::Builder;
use parking_lot::Mutex;
use tower::ServiceExt;

use crate::hub::answer::Answer;

/// A host in the making. Its first agent is the default one.
#[derive(Default)]
pub(crate) struct Setup {
    pub(crate) residents: Vec<HostedAgent>,
    pub(crate) egress: EgressConfig,
    pub(crate) limits: Option<LimitSettings>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) schemes: Vec<Arc<dyn PaymentScheme>>,
    pub(crate) section: &'static str,
}

/// A host, and what a test may turn under it.
pub(crate) struct Place {
    pub(crate) host: Arc<Host>,
    pub(crate) clock: Arc<HandClock>,
    router: axum::Router,
    mounted: MountedHost,
}

impl Setup {
    /// The same with one more agent.
    pub(crate) fn with(self, card: AgentCard, agent: Arc<dyn Agent>) -> Self {
        self.guarded(card, agent, Vec::new())
    }

    /// The same with an agent behind rules.
    pub(crate) fn guarded(mut self, card: AgentCard, agent: Arc<dyn Agent>, rules: Vec<Arc<dyn Rule>>) -> Self {
        self.residents.push(resident(card, agent, rules));
        self
    }

    /// The same with an agent that plays `steps`.
    pub(crate) fn playing(self, handle: &str, steps: Vec<Step>) -> (Self, Arc<ScriptedAgent>) {
        let agent = ScriptedAgent::new(steps);
        (self.with(card(handle), agent.clone()), agent)
    }

    pub(crate) async fn start(self) -> Place {
        self.try_start().await.unwrap_or_else(|problems| panic!("{problems:?}"))
    }

    /// Starts it, or says what is wrong with it.
    pub(crate) async fn try_start(self) -> Result<Place, Problems> {
        let blueprint = Blueprint {
            residents: self.residents,
            egress: self.egress,
            limits: self.limits.unwrap_or_else(unlimited),
            tools: self.tools,
            schemes: self.schemes,
            section: self.section.to_owned(),
            ..Blueprint::default()
        };
        let mounted = blueprint.start(Some(&PROTOCOL)).await;
        let router = mounted.router(&PROTOCOL)?;
        let (host, clock) = (mounted.mount.host.clone(), mounted.clock.clone());
        Ok(Place { host, clock, router, mounted })
    }
}

impl Place {
    /// A token that proves to this host who `name` is.
    pub(crate) fn token(&self, name: &str) -> String {
        self.mounted.token(name)
    }

    /// How posts that tell of settled tasks are written.
    pub(crate) fn envelope(&self) -> forecourt_host::Envelope {
        self.mounted.open(&PROTOCOL).unwrap().envelope().unwrap()
    }

    /// Says something to an agent over a wire of no particular kind.
    pub(crate) async fn receive(&self, handle: &str, run: Run) -> Reply {
        let (id, recipient) = (MessageId::mint(&**self.host.entropy()), Handle::parse(handle).unwrap());
        let message = Message::new(id, recipient, vec![Part::text("hi")], "elsewhere", self.host.clock().now());
        self.host.receive(message, run).await.unwrap()
    }

    /// Begins a conversation with an agent over another wire. Gives what names it there.
    pub(crate) async fn begins_elsewhere(&self, handle: &str) -> String {
        let reply = self.receive(handle, Run::without_task()).await;
        let session = reply.thread.clone().unwrap().expose().to_owned();
        reply.collect().await;
        session
    }

    /// An answer, read whole.
    pub(crate) async fn send(&self, request: Builder, body: impl Into<Body>) -> Answer {
        Answer::read(self.open(request, body).await).await
    }

    /// An answer whose content was not read yet.
    pub(crate) async fn open(&self, request: Builder, body: impl Into<Body>) -> axum::response::Response {
        let mut request = request.body(body.into()).unwrap();
        let usual = ClientAddr("192.0.2.1".parse().unwrap());
        request.extensions_mut().get_or_insert(usual);
        self.router.clone().oneshot(request).await.unwrap()
    }
}

/// A request to build on; `Host` is the domain's.
pub(crate) fn request(method: &str, path: &str) -> Builder {
    Request::builder().method(method).uri(path).header("host", "demo.localhost")
}

/// `agent`, alone.
pub(crate) async fn alone(agent: Arc<dyn Agent>) -> Place {
    Setup::default().with(card("bot"), agent).start().await
}

/// An agent that plays `events`, alone.
pub(crate) async fn bot(events: Vec<Event>) -> Place {
    alone(ScriptedAgent::new(events.into_iter().map(Step::Do).collect())).await
}

/// `chef`, the default, and `gate`; each says its name and keeps conversations.
pub(crate) async fn two() -> (Place, Arc<ScriptedAgent>, Arc<ScriptedAgent>) {
    let (chef, gate) = (ScriptedAgent::saying(["chef"]), ScriptedAgent::saying(["gate"]));
    let place =
        Setup::default().with(remembering("chef"), chef.clone()).with(remembering("gate"), gate.clone()).start().await;
    (place, chef, gate)
}

/// A card of an agent that keeps conversations.
pub(crate) fn remembering(handle: &str) -> AgentCard {
    AgentCard { remembers: true, ..card(handle) }
}

/// A card of an agent that takes pictures.
pub(crate) fn taking_pictures(handle: &str) -> AgentCard {
    let input_modes =
        vec![ContentMode::Text { mime: "text/plain".to_owned() }, ContentMode::File { mime: "image/*".to_owned() }];
    AgentCard { input_modes, ..card(handle) }
}

pub(crate) fn text(text: &str) -> Event {
    Event::Text(text.to_owned())
}

pub(crate) fn done() -> Event {
    Event::Ending(Ending::Complete)
}

pub(crate) fn ask(text: &str) -> Event {
    Event::Ending(Ending::Question(Question { text: text.to_owned(), questions: Vec::new() }))
}

pub(crate) fn refuse(part: PolicyPart) -> Event {
    Event::Ending(Ending::Refused(Box::new(part)))
}

/// An agent that never ends.
pub(crate) fn hanging() -> Arc<ScriptedAgent> {
    ScriptedAgent::new(vec![Step::Do(text("Well. ")), Step::Hang])
}

/// An agent that plays one script after the other, a message each; the last again and again.
pub(crate) struct InTurn {
    left: Mutex<VecDeque<Arc<ScriptedAgent>>>,
}

impl InTurn {
    pub(crate) fn of(scripts: impl IntoIterator<Item = Vec<Event>>) -> Arc<Self> {
        Self::scripts(scripts.into_iter().map(|events| ScriptedAgent::new(events.into_iter().map(Step::Do).collect())))
    }

    pub(crate) fn scripts(scripts: impl IntoIterator<Item = Arc<ScriptedAgent>>) -> Arc<Self> {
        Arc::new(Self { left: Mutex::new(scripts.into_iter().collect()) })
    }
}

impl Agent for InTurn {
    fn handle(&self, admitted: Admitted) -> EventStream {
        let mut left = self.left.lock();
        let next = if left.len() > 1 { left.pop_front() } else { left.front().cloned() };
        next.expect("there is a script").handle(admitted)
    }
}

/// A rule that refuses who has not proved who it is, or everybody.
pub(crate) struct Refusing {
    pub(crate) part: PolicyPart,
    /// How many messages are refused before the rest passes.
    pub(crate) left: Mutex<usize>,
}

impl Refusing {
    pub(crate) fn always(part: PolicyPart) -> Arc<dyn Rule> {
        Arc::new(Self { part, left: Mutex::new(usize::MAX) })
    }

    pub(crate) fn once(part: PolicyPart) -> Arc<dyn Rule> {
        Arc::new(Self { part, left: Mutex::new(1) })
    }
}

impl Rule for Refusing {
    fn judge<'a>(
        &'a self,
        _: &'a AgentCard,
        _: &'a Message,
    ) -> futures::future::BoxFuture<'a, forecourt_core::gate::RuleVerdict> {
        let mut left = self.left.lock();
        let refuses = *left > 0;
        *left = left.saturating_sub(1);
        let verdict = if refuses { Err(self.part.clone().into()) } else { Ok(()) };
        Box::pin(std::future::ready(verdict))
    }
}
