//! A host in memory that is asked over NLWeb, without a socket.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use forecourt_core::findings::ItemFindings;
use forecourt_core::{
    Agent, AgentCard, ClientAddr, Ending, Event, Findings, Part, PolicyPart, Progress, Question, Rule,
};
use forecourt_host::{Host, HostedAgent, LimitSettings};
use forecourt_nlweb::PROTOCOL;
use forecourt_settings::Problems;
use forecourt_surface::tool::Tool;
pub(crate) use forecourt_testhost::ORIGIN;
use forecourt_testhost::{Blueprint, MountedHost, resident, unlimited};
use forecourt_testkit::{HandClock, ScriptedAgent, Step, card};
use http::Request;
use http::request::Builder;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::answer::Answer;

/// A host in the making. Its first agent is the default one.
#[derive(Default)]
pub(crate) struct Setup {
    pub(crate) residents: Vec<HostedAgent>,
    pub(crate) limits: Option<LimitSettings>,
    pub(crate) section: String,
    pub(crate) pages: String,
    pub(crate) time_max: Option<Duration>,
}

/// A host, and what a test may turn under it.
pub(crate) struct Place {
    pub(crate) host: Arc<Host>,
    pub(crate) clock: Arc<HandClock>,
    pub(crate) tools: Vec<Tool>,
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
        let mut resident = resident(card, agent, rules);
        resident.time_max = self.time_max.unwrap_or(resident.time_max);
        self.residents.push(resident);
        self
    }

    /// The same with a `[nlweb]` section.
    pub(crate) fn section(self, section: &str) -> Self {
        Self { section: section.to_owned(), ..self }
    }

    /// The same with a `[pages]` section, without its heading.
    pub(crate) fn pages(self, pages: &str) -> Self {
        Self { pages: pages.to_owned(), ..self }
    }

    pub(crate) async fn start(self) -> Place {
        self.try_start().await.unwrap_or_else(|problems| panic!("{problems:?}"))
    }

    /// Starts it, or says what is wrong with it.
    pub(crate) async fn try_start(self) -> Result<Place, Problems> {
        let limits = self.limits.unwrap_or_else(unlimited);
        let (residents, section, pages) = (self.residents, self.section, self.pages);
        let blueprint = Blueprint { residents, limits, section, pages, ..Blueprint::default() };
        let mounted = blueprint.start(Some(&PROTOCOL)).await;
        let router = mounted.router(&PROTOCOL)?;
        let tools = mounted.open(&PROTOCOL)?.tools(&mounted.mount);
        let (host, clock) = (mounted.mount.host.clone(), mounted.clock.clone());
        Ok(Place { host, clock, tools, router, mounted })
    }
}

impl Place {
    /// A token that proves to this host who `name` is.
    pub(crate) fn token(&self, name: &str) -> String {
        self.mounted.token(name)
    }

    /// Asks at `/ask`.
    pub(crate) async fn ask(&self, body: Value) -> Answer {
        self.send(post("/ask"), body.to_string()).await
    }

    /// Asks for `text` and nothing else.
    pub(crate) async fn say(&self, text: &str) -> Answer {
        self.ask(json!({"query": {"text": text}})).await
    }

    /// Asks at `/ask` for a stream.
    pub(crate) async fn stream(&self, body: Value) -> Answer {
        self.send(post("/ask").header("accept", "text/event-stream"), body.to_string()).await
    }

    /// Does something about a promise.
    pub(crate) async fn awaits(&self, token: &str, action: &str) -> Answer {
        self.send(post("/await"), json!({"promise_token": token, "action": action}).to_string()).await
    }

    /// An answer, read whole.
    pub(crate) async fn send(&self, request: Builder, body: impl Into<Body>) -> Answer {
        Answer::read(self.open(request, body).await).await
    }

    /// An answer whose content was not read yet.
    pub(crate) async fn open(&self, request: Builder, body: impl Into<Body>) -> axum::response::Response {
        let mut request = request.body(body.into()).unwrap();
        request.extensions_mut().insert(ClientAddr("192.0.2.1".parse().unwrap()));
        self.router.clone().oneshot(request).await.unwrap()
    }
}

/// A request to build on; `Host` is the domain's.
pub(crate) fn request(method: &str, path: &str) -> Builder {
    Request::builder().method(method).uri(path).header("host", "demo.localhost")
}

/// A POST of JSON.
pub(crate) fn post(path: &str) -> Builder {
    request("POST", path).header("content-type", "application/json")
}

/// `bot`, which plays `events`, alone.
pub(crate) async fn bot(events: Vec<Event>) -> Place {
    scripted(events.into_iter().map(Step::Do).collect()).await.0
}

/// `bot`, which plays `steps`, alone.
pub(crate) async fn scripted(steps: Vec<Step>) -> (Place, Arc<ScriptedAgent>) {
    let agent = ScriptedAgent::new(steps);
    (Setup::default().with(card("bot"), agent.clone()).start().await, agent)
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

/// What a search says that found `names`.
pub(crate) fn found(names: &[&str]) -> Vec<Event> {
    let items = (0..names.len()).map(|index| ItemFindings::scored(9.5 - index as f32)).collect();
    let summary = format!("{} soups match.", names.len());
    let findings = Findings {
        summary,
        count: names.len(),
        more: false,
        ignored: vec!["price".to_owned()],
        items,
        ..Findings::default()
    };
    let items = names.iter().map(|name| {
        let url = format!("https://soups.example/{name}");
        Event::Part(Part::data(json!({"@type": "Recipe", "name": name, "url": url})))
    });
    std::iter::once(Event::Findings(Box::new(findings)))
        .chain([text("1. A list of them")])
        .chain(items)
        .chain([done()])
        .collect()
}

/// What a search says that found nothing.
pub(crate) fn nothing() -> Vec<Event> {
    let summary = "I found no soups for this; try other words.".to_owned();
    let findings = Findings { summary: summary.clone(), ..Findings::default() };
    vec![Event::Findings(Box::new(findings)), text(&summary), done()]
}

pub(crate) fn item(name: &str) -> Event {
    Event::Part(Part::data(json!({"@type": "Recipe", "name": name})))
}

pub(crate) fn text(text: &str) -> Event {
    Event::Text(text.to_owned())
}

pub(crate) fn done() -> Event {
    Event::Ending(Ending::Complete)
}

pub(crate) fn progress(fraction: f64, note: &str) -> Event {
    Event::Progress(Progress { fraction: Some(fraction), note: Some(note.to_owned()) })
}

pub(crate) fn refuse(part: PolicyPart) -> Event {
    Event::Ending(Ending::Refused(Box::new(part)))
}

/// A question of each type that NLWeb has.
pub(crate) fn question() -> Question {
    let question = |id: &str, kind: &str| json!({"id": id, "text": format!("Which {id}?"), "type": kind});
    let mut single = question("sauce", "single_select");
    single["options"] = json!(["tomato", "cream"]);
    let mut multi = question("diet", "multi_select");
    multi["options"] = json!(["vegan", "none"]);
    multi["default"] = json!(["none"]);
    let plain =
        [("wish", "free_text"), ("people", "number"), ("spicy", "boolean")].map(|(id, kind)| question(id, kind));
    Question { text: "Tell me more.".to_owned(), questions: [single, multi].into_iter().chain(plain).collect() }
}
