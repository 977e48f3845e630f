//! A host in memory whose routes are asked without a socket.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use forecourt_core::policy::PaymentScheme;
use forecourt_core::{Admitted, Agent, AgentCard, ClientAddr, Ending, Event, EventStream, Part, Rule};
use forecourt_egress::EgressConfig;
use forecourt_host::{Host, HostedAgent, LimitSettings};
use forecourt_identity::IdentityConfig;
use forecourt_mentionable::PROTOCOL;
use forecourt_testhost::{Blueprint, MountedHost, ORIGIN, resident, unlimited};
use forecourt_testkit::{HandClock, ScriptedAgent, Step, card};
use futures::stream;
use http::request::Builder;
use http::{HeaderMap, Method, Request, StatusCode};
use serde_json::Value;
use tower::ServiceExt;

/// A host in the making. Its first agent is the default one; `echo` is always there.
pub struct Setup {
    pub residents: Vec<HostedAgent>,
    pub egress: EgressConfig,
    /// `None` trusts the tokens of [`Place::token`].
    pub identity: Option<IdentityConfig>,
    pub limits: LimitSettings,
    pub schemes: Vec<Arc<dyn PaymentScheme>>,
    pub section: &'static str,
    pub origin: &'static str,
}

/// A host, and what a test may turn under it.
pub struct Place {
    pub host: Arc<Host>,
    pub clock: Arc<HandClock>,
    router: axum::Router,
    mounted: MountedHost,
}

/// An answer, read whole.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Default for Setup {
    fn default() -> Self {
        let setup = Self {
            residents: Vec::new(),
            egress: EgressConfig::default(),
            identity: Some(IdentityConfig::default()),
            limits: unlimited(),
            schemes: Vec::new(),
            section: "",
            origin: ORIGIN,
        };
        setup.with(card("echo"), Arc::new(Echo))
    }
}

impl Setup {
    /// The same with one more agent.
    pub fn with(self, card: AgentCard, agent: Arc<dyn Agent>) -> Self {
        self.guarded(card, agent, Vec::new())
    }

    /// The same with an agent behind rules.
    pub fn guarded(mut self, card: AgentCard, agent: Arc<dyn Agent>, rules: Vec<Arc<dyn Rule>>) -> Self {
        let mut resident = resident(card, agent, rules);
        resident.time_max = Duration::from_secs(120);
        self.residents.push(resident);
        self
    }

    /// The same with the agent `bot`, which plays `events`.
    pub fn bot(self, events: Vec<Event>) -> Self {
        self.with(card("bot"), ScriptedAgent::new(events.into_iter().map(Step::Do).collect()))
    }

    pub async fn start(self) -> Place {
        let blueprint = Blueprint {
            residents: self.residents,
            egress: self.egress,
            identity: self.identity,
            limits: self.limits,
            schemes: self.schemes,
            section: self.section.to_owned(),
            origin: self.origin.to_owned(),
            ..Blueprint::default()
        };
        let mounted = blueprint.start(Some(&PROTOCOL)).await;
        let router = mounted.router(&PROTOCOL).unwrap();
        Place { host: mounted.mount.host.clone(), clock: mounted.clock.clone(), router, mounted }
    }
}

/// `echo` alone, as it comes.
pub async fn echo() -> Place {
    Setup::default().start().await
}

/// `bot`, which plays `events`, beside `echo`.
pub async fn bot(events: Vec<Event>) -> Place {
    Setup::default().bot(events).start().await
}

pub fn text(text: &str) -> Event {
    Event::Text(text.to_owned())
}

pub fn done() -> Event {
    Event::Ending(Ending::Complete)
}

/// What every page of an agent has. REST 8.5.
const ROBOTS: &str = r#"<meta name="robots" content="noindex, nofollow, noarchive">"#;

/// A request to build on; `Host` is the domain's.
pub fn request(method: Method, path: &str) -> Builder {
    Request::builder().method(method).uri(path).header("host", "demo.localhost")
}

pub fn get(path: &str) -> Builder {
    request(Method::GET, path)
}

pub const BOUNDARY: &str = "X";
pub const MULTIPART: &str = "multipart/form-data; boundary=X";

/// A multipart body of plain text fields.
pub fn form(fields: &[(&str, &str)]) -> String {
    let part = |(name, value): &(&str, &str)| {
        format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    format!("{}--{BOUNDARY}--\r\n", fields.iter().map(part).collect::<String>())
}

impl Place {
    /// The value of `Authorization` that proves who `name` is, where tokens are trusted.
    pub fn token(&self, name: &str) -> String {
        self.mounted.token(name)
    }

    pub async fn send(&self, request: Builder) -> Answer {
        self.send_with(request, Body::empty()).await
    }

    pub async fn send_with(&self, request: Builder, body: impl Into<Body>) -> Answer {
        let (head, body) = self.open(request, body).await.into_parts();
        let body = to_bytes(body, 64 * 1024 * 1024).await.unwrap().to_vec();
        Answer { status: head.status, headers: head.headers, body }
    }

    /// An answer whose content was not read yet.
    pub async fn open(&self, request: Builder, body: impl Into<Body>) -> axum::response::Response {
        let mut request = request.body(body.into()).unwrap();
        request.extensions_mut().insert(ClientAddr("192.0.2.1".parse().unwrap()));
        self.router.clone().oneshot(request).await.unwrap()
    }

    /// Asks by GET for an answer in `accept`.
    pub async fn ask(&self, path: &str, accept: &str) -> Answer {
        self.send(get(path).header("accept", accept)).await
    }

    /// Posts text fields to an agent and wants JSON back.
    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.send_with(post_to(path), form(fields)).await
    }
}

/// A multipart POST that wants JSON back.
pub fn post_to(path: &str) -> Builder {
    request(Method::POST, path).header("content-type", MULTIPART).header("accept", "application/json")
}

impl Answer {
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.text()))
    }

    pub fn field(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Checks the status, showing the answer when it is another.
    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{:?} {:?}", self.headers, String::from_utf8_lossy(&self.body));
        self
    }

    /// Checks what every answer must have. REST 5.2, 8.5, design 7, item 2.
    #[track_caller]
    pub fn has_required_fields(&self, agent: &str) {
        for name in ["content-type", "content-language", "cache-control"] {
            assert!(self.field(name).is_some_and(|value| !value.is_empty()), "{name}: {:?}", self.headers);
        }
        assert_eq!(self.field("x-mentionable-agent"), Some(agent));
        assert_eq!(self.field("x-robots-tag"), Some("noindex, nofollow, noarchive"));
        assert_eq!(self.field("vary"), Some("Accept, Accept-Language"));
        assert_eq!(self.field("x-content-type-options"), Some("nosniff"));
        if self.field("content-type").is_some_and(|mime| mime.starts_with("text/html")) && !self.body.is_empty() {
            assert!(self.text().contains(ROBOTS), "{}", self.text());
        }
    }
}

/// Repeats the current turn: words unchanged, files as parts. Design 7, item 10.
struct Echo;

impl Agent for Echo {
    fn handle(&self, admitted: Admitted) -> EventStream {
        let message = admitted.into_message();
        let words = [Event::Text(message.text())];
        let files = message.parts.into_iter().filter(|part| !matches!(part, Part::Text(_))).map(Event::Part);
        Box::pin(stream::iter(words.into_iter().chain(files).chain([done()]).collect::<Vec<_>>()))
    }
}
