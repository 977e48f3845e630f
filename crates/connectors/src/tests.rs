//! Connectors before a platform that does what a test wants, on a host in memory.

mod addressing;
mod bounds;
mod changes;
mod files;
mod pause;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use forecourt_core::message::Profile;
use forecourt_core::{Agent, File, Handle, Timestamp};
use forecourt_egress::Egress;
use forecourt_host::EventOutcome;
use forecourt_pages::markdown::Marks;
use forecourt_settings::{Problems, Section};
use forecourt_surface::{ConnectorDefinition, FileDefinitions, Surface};
use forecourt_testhost::{Blueprint, MountedHost, resident};
use forecourt_testkit::{ScriptedAgent, card};
use futures::future::BoxFuture;
use http::{Request, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tower::ServiceExt;

use crate::wire::ConnectorWire;
use crate::{
    ChatFile, ChatMessage, ConnectorSettings, EventError, EventRequest, Incoming, Outcome, Place, Platform,
    PlatformError, Post,
};

/// A platform whose events are JSON as it stands here, and which is held up while nobody lets it speak.
struct Parrot(Cage);

/// What a test and its platform share.
#[derive(Clone)]
struct Cage {
    /// That of the test, which stands in the file of the connector.
    name: String,
    /// Lets the platform speak: a place for each that may.
    gate: Arc<Semaphore>,
    /// Lookups of profiles that have begun.
    looked_up: Arc<AtomicUsize>,
    downloaded: Arc<AtomicUsize>,
    posted: Arc<AtomicUsize>,
    /// What was posted, or put in the place of something.
    said: Arc<parking_lot::Mutex<Vec<String>>>,
    /// Names of files that were sent.
    uploaded: Arc<parking_lot::Mutex<Vec<String>>>,
    /// Names of files that it does not take.
    refused: Arc<parking_lot::Mutex<Vec<String>>>,
    /// Whether somebody took down what it said.
    is_taken_down: Arc<AtomicBool>,
    /// How long it wants to be left alone.
    later: Arc<parking_lot::Mutex<Option<Duration>>>,
}

/// Those of all tests: a platform is made of text alone.
static CAGES: parking_lot::Mutex<Vec<Cage>> = parking_lot::Mutex::new(Vec::new());

/// An event.
#[derive(Deserialize)]
struct ParrotEvent {
    #[serde(default)]
    kind: String,
    message: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    files: Vec<u64>,
    #[serde(default)]
    replies_to: Option<String>,
    #[serde(default)]
    group: Option<GroupPlace>,
}

/// A place among many, instead of a conversation of two.
#[derive(Deserialize)]
struct GroupPlace {
    #[serde(default)]
    thread: Option<String>,
    #[serde(default)]
    is_reply: bool,
}

/// Text as it is.
pub(crate) struct NoMarks;

impl Marks for NoMarks {
    fn text(&self, text: &str) -> String {
        text.to_owned()
    }

    fn strong(&self, inner: &str) -> String {
        inner.to_owned()
    }

    fn emphasis(&self, inner: &str) -> String {
        inner.to_owned()
    }

    fn struck(&self, inner: &str) -> String {
        inner.to_owned()
    }

    fn code(&self, literal: &str) -> String {
        literal.to_owned()
    }

    fn code_block(&self, literal: &str) -> String {
        literal.to_owned()
    }

    fn link(&self, inner: &str, url: &str) -> String {
        if inner == url { inner.to_owned() } else { format!("{inner} <{url}>") }
    }
}

impl Platform for Parrot {
    const KIND: &'static str = "parrot";
    const ISSUER: &'static str = "parrot.example";
    const METHOD: &'static str = "parrot-member";
    const PATH: &'static str = "/connectors/parrot/{name}";
    const FILES_PATH: &'static str = "/connectors/parrot/{name}/files/{token}";
    const MESSAGE_CHARS_MAX: usize = 1_000;
    const EDIT_EVERY: Duration = Duration::from_secs(1);
    const THREADS_ARE_TOPICS: bool = true;

    fn open(section: &Section) -> Result<(Self, ConnectorSettings), Problems> {
        let name = section.text("cage").unwrap_or_default();
        let cage = CAGES.lock().iter().find(|cage| cage.name == name).cloned().unwrap();
        let per_hour = section.text("per_hour").and_then(|text| text.parse().ok()).unwrap();
        let mut settings = ConnectorSettings::default();
        (settings.messages_per_sender_per_hour, settings.live) = (per_hour, false);
        Ok((Self(cage), settings))
    }

    fn read(&self, request: &EventRequest<'_>, _now: Timestamp) -> Result<Incoming, EventError> {
        if request.headers.contains_key("forged") {
            return Err(EventError::Unproven("it is not signed"));
        }
        let event: ParrotEvent =
            serde_json::from_slice(request.body).map_err(|_| EventError::Malformed("it is no event"))?;
        let direct = Place { channel: "C1".to_owned(), is_direct: true, ..Place::default() };
        let place = match event.group {
            Some(GroupPlace { thread, is_reply }) => Place { thread, is_reply, is_direct: false, ..direct },
            None => direct,
        };
        if event.kind == "deleted" {
            return Ok(Incoming::Deleted { place, message: event.message });
        }
        let file = |(number, size_bytes): (usize, u64)| ChatFile {
            url: String::new(),
            name: format!("file{number}"),
            mime: "text/plain".to_owned(),
            size_bytes,
        };
        let message = Box::new(ChatMessage {
            place,
            message: event.message,
            group: String::new(),
            user: "U1".to_owned(),
            profile: None,
            text: event.text,
            mentions_connector: true,
            is_for_others: false,
            replies_to: event.replies_to,
            files: event.files.into_iter().enumerate().map(file).collect(),
        });
        Ok(if event.kind == "edited" { Incoming::Edited(message) } else { Incoming::Message(message) })
    }

    fn profile<'a>(&'a self, _egress: &'a Egress, _user: &'a str) -> BoxFuture<'a, Option<Profile>> {
        Box::pin(async {
            self.0.looked_up.fetch_add(1, Ordering::SeqCst);
            drop(self.0.gate.acquire().await);
            None
        })
    }

    fn download<'a>(&'a self, _egress: &'a Egress, _file: &'a ChatFile) -> BoxFuture<'a, Outcome<Bytes>> {
        self.0.downloaded.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(Ok(Bytes::from_static(b"bytes"))))
    }

    fn post<'a>(&'a self, _: &'a Egress, _: &'a Place, post: &'a Post) -> BoxFuture<'a, Outcome<Option<String>>> {
        let number = self.0.posted.fetch_add(1, Ordering::SeqCst);
        let later = self.0.later.lock().map(PlatformError::Later);
        self.0.said.lock().push(post.text.clone());
        Box::pin(std::future::ready(later.map_or(Ok(Some(number.to_string())), Err)))
    }

    fn edit<'a>(&'a self, _: &'a Egress, _: &'a Place, _: &'a str, post: &'a Post) -> BoxFuture<'a, Outcome<()>> {
        if self.0.is_taken_down.load(Ordering::SeqCst) {
            return Box::pin(std::future::ready(Err(PlatformError::TakenDown)));
        }
        self.0.said.lock().push(post.text.clone());
        Box::pin(std::future::ready(Ok(())))
    }

    fn delete<'a>(&'a self, _: &'a Egress, _: &'a Place, _: &'a str) -> BoxFuture<'a, Outcome<()>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn upload<'a>(&'a self, _: &'a Egress, _: &'a Place, file: &'a File, _: Bytes) -> BoxFuture<'a, Outcome<()>> {
        let name = file.name.clone().unwrap_or_default();
        if self.0.refused.lock().contains(&name) {
            return Box::pin(std::future::ready(Err(PlatformError::Refused("it is too large".to_owned()))));
        }
        self.0.uploaded.lock().push(name);
        Box::pin(std::future::ready(Ok(())))
    }

    fn marks(&self) -> &'static (dyn Marks + Sync) {
        &NoMarks
    }

    fn try_credentials<'a>(&'a self, _egress: &'a Egress) -> BoxFuture<'a, Outcome<String>> {
        Box::pin(std::future::ready(Ok(self.0.name.clone())))
    }

    fn steps(name: &Handle, url: &str) -> String {
        format!("{name} {url}")
    }
}

/// A host with @chef and @baker, and a connector called `door`.
struct Here {
    router: Router,
    agent: Arc<ScriptedAgent>,
    baker: Arc<ScriptedAgent>,
    mounted: MountedHost,
    cage: Cage,
}

impl Here {
    /// `name` is that of its test.
    async fn start(name: &str, per_hour: u32) -> Self {
        Self::with(name, per_hour, ScriptedAgent::saying(["Soup."])).await
    }

    /// The same, with what @chef says.
    async fn with(name: &str, per_hour: u32, agent: Arc<ScriptedAgent>) -> Self {
        let gate = Arc::new(Semaphore::new(1));
        let cage = Cage {
            name: name.to_owned(),
            gate,
            looked_up: Arc::default(),
            downloaded: Arc::default(),
            posted: Arc::default(),
            said: Arc::default(),
            uploaded: Arc::default(),
            refused: Arc::default(),
            is_taken_down: Arc::default(),
            later: Arc::default(),
        };
        CAGES.lock().push(cage.clone());
        let baker = ScriptedAgent::saying(["Bread."]);
        let (asked, also): (Arc<dyn Agent>, Arc<dyn Agent>) = (agent.clone(), baker.clone());
        let residents = vec![resident(card("chef"), asked, Vec::new()), resident(card("baker"), also, Vec::new())];
        let mounted = Blueprint { residents, ..Blueprint::default() }.start(None).await;
        let file = std::path::Path::new("connectors/door.toml");
        let text = format!("cage = \"{name}\"\nper_hour = \"{per_hour}\"\n");
        let section = Section::parse(file, &text, &|_: &str| None).unwrap();
        let empty = Section::parse(file, "", &|_: &str| None).unwrap();
        let mut wire = ConnectorWire::<Parrot>::open(&empty).unwrap();
        let definition = ConnectorDefinition { name: Handle::parse("door").unwrap(), section };
        wire.set_definitions(FileDefinitions::Connectors(vec![definition])).unwrap();
        let Some(Surface::Http(routes)) = wire.surfaces(&mounted.mount).unwrap().into_iter().next() else {
            panic!("no routes")
        };
        Self { router: routes.router, agent, baker, mounted, cage }
    }

    async fn send(&self, body: impl Into<Body>) -> (StatusCode, String) {
        let request = Request::post("/connectors/parrot/door").body(body.into()).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status();
        let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, String::from_utf8_lossy(&bytes).into_owned())
    }

    async fn tell(&self, event: &Value) -> StatusCode {
        self.send(event.to_string()).await.0
    }

    async fn ask(&self, message: &str, text: &str) -> StatusCode {
        self.tell(&json!({"message": message, "text": text})).await
    }

    /// What @chef was asked, once as much has come to it as is expected.
    async fn heard(&self, count: usize) -> Vec<forecourt_core::Message> {
        for _ in 0..100_000 {
            if self.agent.heard().len() >= count {
                break;
            }
            tokio::task::yield_now().await;
        }
        self.agent.heard()
    }

    /// How many events came to this end.
    fn counted(&self, outcome: EventOutcome) -> u64 {
        let mut registry = prometheus_client::registry::Registry::default();
        self.mounted.mount.host.metrics().register(&mut registry);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        let label = format!("platform=\"parrot\",outcome=\"{}\"}} ", outcome.name());
        let line = text.lines().find(|line| line.starts_with("platform_events") && line.contains(&label));
        line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or_default()
    }
}
