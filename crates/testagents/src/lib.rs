//! This crate holds what the tests of all backends share: a context, a message, an agent built from TOML, and a
//! scripted provider of a chat completions API.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "it is for tests")]

pub mod notebook;
pub mod provider;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use forecourt_agents::budget::BudgetSettings;
use forecourt_agents::siblings::Siblings;
use forecourt_agents::usage::NoUsage;
use forecourt_agents::{Backend, BuiltAgent, Context};
use forecourt_core::reply::collect;
use forecourt_core::{
    Admitted, CollectedReply, Ending, Event, EventStream, Handle, Language, Message, MessageId, Part, Policy, Turn,
};
use forecourt_egress::{Egress, EgressConfig};
use forecourt_settings::{Problems, Section};
use forecourt_testkit::{CountedEntropy, HandClock, card};
use futures::StreamExt;

pub const HOST: &str = "demo.localhost";

pub fn context() -> Context {
    in_folder(Path::new("."))
}

pub fn in_folder(folder: &Path) -> Context {
    Context {
        handle: Handle::parse("agent").unwrap(),
        host: HOST.to_owned(),
        language: Language::english(),
        folder: folder.to_owned(),
        data_dir: folder.join(".forecourt"),
        clock: Arc::new(HandClock::new()),
        entropy: Arc::new(CountedEntropy::default()),
        egress: Egress::builder(EgressConfig::default()).build().unwrap(),
        path_variable: std::env::var("PATH").ok(),
        variable: |name| (name == "GROQ_API_KEY").then(|| "sesame".to_owned()),
        budget: BudgetSettings::default(),
        usage: Arc::new(NoUsage),
        endpoints: Vec::new(),
        siblings: Siblings::default(),
        goes_on: false,
        builtin: Vec::new(),
    }
}

/// The section as an agent's file holds it.
pub fn section(toml: &str) -> Section {
    let environment = |name: &str| (name == "KEY").then(|| "sesame".to_owned());
    let file = PathBuf::from("agents/agent.toml");
    let mut root = Section::parse(&file, toml, &environment).unwrap_or_else(|problems| panic!("{problems}"));
    root.take("backend").expect("a [backend] section")
}

/// The agent that one of `backends` makes of a section.
pub fn try_build_with(backends: &[Backend], toml: &str, context: &Context) -> Result<BuiltAgent, Problems> {
    let section = section(toml);
    let kind = section.text("kind").unwrap().to_owned();
    let backend = backends.iter().find(|backend| backend.kind == kind).unwrap();
    (backend.build)(section, context)
}

pub fn message(parts: Vec<Part>) -> Message {
    let recipient = Handle::parse("agent").unwrap();
    Message::new(MessageId::parse("m1").unwrap(), recipient, parts, "test", "2026-01-01T00:00:00Z".parse().unwrap())
}

pub async fn admitted(message: Message) -> Admitted {
    let mut card = card("agent");
    card.name = "Agent".to_owned();
    Policy::new(Vec::new()).admit(Arc::new(card), message, &[]).await.expect("a gate without rules")
}

pub async fn stream(built: &BuiltAgent, message: Message) -> EventStream {
    built.agent.handle(admitted(message).await)
}

pub async fn events(built: &BuiltAgent, message: Message) -> Vec<Event> {
    stream(built, message).await.collect().await
}

/// The whole answer to a text.
pub async fn ask(built: &BuiltAgent, text: &str) -> CollectedReply {
    collect(stream(built, message(vec![Part::text(text)])).await).await
}

/// The whole answer to a text after earlier turns.
pub async fn ask_after(built: &BuiltAgent, history: Vec<Turn>, text: &str) -> CollectedReply {
    let message = Message { history: history.into(), ..message(vec![Part::text(text)]) };
    collect(stream(built, message).await).await
}

/// The reason of a failure.
pub fn failure(answer: &CollectedReply) -> &str {
    match &answer.ending {
        Ending::Declined { reason } | Ending::Failed { reason, .. } => reason,
        other => panic!("not a failure: {other:?}"),
    }
}
