//! One agent asks another: hub card 3.5, pattern C; companions 4.6.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::http::StatusCode;
use axum::response::IntoResponse;
use forecourt_agents::siblings::{Sibling, Siblings};
use forecourt_agents::{BuiltAgent, Context};
use forecourt_backends::tools::limits::SIBLINGS_MAX;
use forecourt_contract::{HostApi, HostHandle};
use forecourt_core::limits::HOPS_MAX;
use forecourt_core::policy::RefusalKind;
use forecourt_core::reply::once;
use forecourt_core::{
    Address, Ending, Error, Event, EventStream, Handle, Language, Message, Part, PolicyPart, Reply, ToolOutcome,
    UsageMeter,
};
use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream;
use serde_json::{Value, json};

use crate::support::provider::{Server, calls, settings, text};
use crate::support::{admitted, ask, build, context, failure, message, try_build};

pub(crate) type Say = Box<dyn Fn() -> Result<EventStream, Error> + Send + Sync>;

/// Carries to agents that say what a test wants, and keeps what they were sent.
#[derive(Default)]
pub(crate) struct Others {
    say: HashMap<&'static str, Say>,
    sent: Mutex<Vec<Message>>,
}

impl Others {
    pub(crate) fn with(
        mut self,
        handle: &'static str,
        say: impl Fn() -> Result<EventStream, Error> + Send + Sync + 'static,
    ) -> Self {
        self.say.insert(handle, Box::new(say));
        self
    }

    pub(crate) fn ending(self, handle: &'static str, ending: Ending) -> Self {
        self.with(handle, move || Ok(once(ending.clone())))
    }

    pub(crate) fn sent(&self) -> Vec<Message> {
        self.sent.lock().unwrap().clone()
    }
}

impl HostApi for Others {
    fn receive(self: Arc<Self>, message: Message) -> BoxFuture<'static, Result<Reply, Error>> {
        let agent = message.recipient.clone();
        let events = self.say[agent.as_str()]();
        self.sent.lock().unwrap().push(message);
        async move {
            Ok(Reply {
                agent,
                thread: None,
                task: None,
                receipt: forecourt_core::PaymentReceipt::default(),
                usage: UsageMeter::default(),
                language: Language::english(),
                events: events?,
            })
        }
        .boxed()
    }
}

fn sibling(handle: &str) -> Sibling {
    let address = Address::parse(&format!("@{handle}@demo.localhost")).unwrap();
    Sibling { address, name: handle.to_uppercase(), description: format!("Knows about {handle}.") }
}

fn beside(handles: &[&str]) -> Context {
    hosted(handles, HostHandle::default())
}

/// The same, with the host that carries what they say to each other.
pub(crate) fn hosted(handles: &[&str], host: HostHandle) -> Context {
    Context { siblings: Siblings::new(handles.iter().map(|handle| sibling(handle)), host), ..context() }
}

/// The way to a host that is there for as long as the tests are.
pub(crate) fn way_to<H: HostApi + 'static>(host: Arc<H>) -> HostHandle {
    let handle = HostHandle::default();
    handle.bind(&host);
    std::mem::forget(host);
    handle
}

/// An agent with `others` beside it.
fn among(others: Arc<Others>, more: &str, server: &Server) -> BuiltAgent {
    build(&settings(&server.url, more), &hosted(&["agent", "pantry", "gate"], way_to(others)))
}

fn outcomes(events: &[Event]) -> Vec<&ToolOutcome> {
    let calls = events.iter().filter_map(|event| match event {
        Event::ToolCall(call) => Some(&call.outcome),
        _ => None,
    });
    calls.filter(|outcome| **outcome != ToolOutcome::Running).collect()
}

/// What comes of asking @pantry, as the model is told.
async fn told(others: Others) -> String {
    let mut server =
        Server::new(vec![calls(&[("ask_agent", r#"{"agent": "pantry", "message": "Eggs?"}"#)]), text("Ok.")]).await;
    let answer = ask(&among(Arc::new(others), "", &server), "hi").await;
    assert_eq!(answer.ending, Ending::Complete);
    server.next().await;
    let second = server.next().await;
    second["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn s3_5_a_model_learns_of_the_agents_beside_it_and_asks_one() {
    let others = Arc::new(Others::default().with("pantry", || {
        let events = [Event::Text("Two ".into()), Event::Text("eggs.".into()), Event::Ending(Ending::Complete)];
        Ok(Box::pin(stream::iter(events)))
    }));
    let mut server =
        Server::new(vec![calls(&[("ask_agent", r#"{"agent": "@pantry", "message": "Eggs?"}"#)]), text("Two.")]).await;
    let built = among(others.clone(), "", &server);
    assert!(built.uses_tools);
    let mut asking = message(vec![Part::text("Ask @pantry for eggs")]);
    asking.sender.address = "@a@b.example".to_owned();
    asking.sender.peer = Some("192.0.2.1".parse().unwrap());
    asking.language = Some(Language::parse("de").unwrap());
    asking.hop = 2;
    let events = crate::support::events(&built, asking).await;
    let wanted = json!({"agent": "pantry", "text": "Two eggs."});
    assert_eq!(outcomes(&events), [&ToolOutcome::Result(wanted)]);

    let sent = others.sent();
    let [sent] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!((sent.recipient.as_str(), sent.text().as_str(), sent.hop), ("pantry", "Eggs?", 3));
    assert_eq!((sent.sender.address.as_str(), sent.received_via), ("@a@b.example", "test"));
    assert!(sent.sender.peer.is_some(), "limits count against the caller");
    assert!(sent.thread.is_none() && sent.history.is_empty() && sent.language.is_some());
    assert_ne!(sent.id.as_str(), "m1");

    let first = server.next().await;
    let system = first["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains("mentioned first has the floor") && system.contains("Knows about pantry."), "{system}");
    assert!(!system.contains("AGENT"), "an agent is not introduced to itself: {system}");
    let function = &first["tools"][0]["function"];
    assert_eq!(function["parameters"]["properties"]["agent"]["enum"], json!(["pantry", "gate"]));
}

#[tokio::test]
async fn a_refusal_a_failure_and_a_fault_are_told_to_the_model() {
    let mut refusal = PolicyPart::new(RefusalKind::Forbidden, "Members only.");
    refusal.url = Some("https://demo.localhost/join".to_owned());
    let refused = told(Others::default().ending("pantry", Ending::Refused(Box::new(refusal)))).await;
    for wanted in ["could not be used", "@pantry declined (forbidden)", "Members only.", "https://demo.localhost/join"]
    {
        assert!(refused.contains(wanted), "{refused}");
    }
    let failed = told(Others::default().ending("pantry", Ending::failed("The shelf is gone."))).await;
    assert!(failed.contains("@pantry could not answer: The shelf is gone."), "{failed}");
    let faulty = told(Others::default().with("pantry", || Err(Error::internal("secret")))).await;
    assert!(faulty.contains("answer without it") && !faulty.contains("secret"), "{faulty}");
    let said = told(Others::default().ending("pantry", Ending::Message("Two.".to_owned()))).await;
    assert!(said.contains("as data") && said.contains("\"text\":\"Two.\""), "{said}");
}

#[tokio::test]
async fn s4_6_the_last_agent_of_a_chain_is_offered_nobody() {
    let others = Arc::new(Others::default());
    let asked = || calls(&[("ask_agent", r#"{"agent": "pantry", "message": "Eggs?"}"#)]);
    let mut server = Server::new(vec![text("a"), asked(), text("b")]).await;
    let built = among(others.clone(), "", &server);
    let at = |hop: u32| Message { hop, ..message(vec![Part::text("hi")]) };
    crate::support::events(&built, at(HOPS_MAX - 2)).await;
    assert_eq!(server.next().await["tools"][0]["function"]["name"], "ask_agent");
    let events = crate::support::events(&built, at(HOPS_MAX - 1)).await;
    let last = server.next().await;
    assert!(last.get("tools").is_none() && !last.to_string().contains("pantry"), "{last}");
    assert!(matches!(outcomes(&events)[..], [ToolOutcome::Error(_)]), "a model that asks anyway is told so");
    assert!(others.sent().is_empty());
}

/// Every agent is the same model, which asks the next one before it answers.
struct Circle {
    agent: Arc<dyn forecourt_core::Agent>,
    hops: Mutex<Vec<u32>>,
}

impl HostApi for Circle {
    fn receive(self: Arc<Self>, message: Message) -> BoxFuture<'static, Result<Reply, Error>> {
        self.hops.lock().unwrap().push(message.hop);
        let agent = self.agent.clone();
        async move {
            let handle = message.recipient.clone();
            let events = agent.handle(admitted(message).await);
            Ok(Reply {
                agent: handle,
                thread: None,
                task: None,
                receipt: forecourt_core::PaymentReceipt::default(),
                usage: UsageMeter::default(),
                language: Language::english(),
                events,
            })
        }
        .boxed()
    }
}

#[tokio::test]
async fn agents_that_ask_each_other_in_a_circle_end_at_the_bound() {
    let asked = || calls(&[("ask_agent", r#"{"agent": "pantry", "message": "You?"}"#)]);
    let times = HOPS_MAX as usize - 1;
    let mut answers: Vec<_> = (0..times).map(|_| asked()).collect();
    answers.extend((0..=times).map(|n| text(&format!("answer {n}"))));
    let server = Server::new(answers).await;
    let handle = HostHandle::default();
    let context = hosted(&["agent", "pantry"], handle.clone());
    let built = build(&settings(&server.url, ""), &context);
    let circle = Arc::new(Circle { agent: built.agent.clone(), hops: Mutex::default() });
    handle.bind(&circle);
    let answer = ask(&built, "hi").await;
    assert_eq!(answer.ending, Ending::Complete);
    assert!(answer.text().ends_with(&format!("answer {times}")), "{answer:?}");
    assert_eq!(*circle.hops.lock().unwrap(), (1..HOPS_MAX).collect::<Vec<_>>());
}

#[tokio::test]
async fn arguments_of_a_model_are_checked() {
    let others = Arc::new(Others::default());
    let list = [
        r#"{"agent": "agent", "message": "me?"}"#,
        r#"{"agent": "nobody", "message": "hm"}"#,
        r#"{"agent": 1, "message": "hm"}"#,
        r#"{"agent": "pantry", "message": " "}"#,
        r#"{"agent": "pantry"}"#,
    ];
    let asked = calls(&list.map(|arguments| ("ask_agent", arguments)));
    let server = Server::new(vec![asked, text("Ok.")]).await;
    let events = crate::support::events(&among(others.clone(), "", &server), message(vec![Part::text("hi")])).await;
    let wanted =
        ["there are: pantry, gate", "there are: pantry, gate", "`agent` must", "`message` must", "`message` must"];
    let said = outcomes(&events);
    assert_eq!(said.len(), wanted.len());
    for (outcome, wanted) in said.iter().zip(wanted) {
        assert!(matches!(outcome, ToolOutcome::Error(message) if message.contains(wanted)), "{outcome:?}");
    }
    assert!(others.sent().is_empty());
}

#[tokio::test]
async fn before_there_is_a_host_nobody_can_be_asked() {
    let server =
        Server::new(vec![calls(&[("ask_agent", r#"{"agent": "pantry", "message": "?"}"#)]), text("Ok.")]).await;
    let built = build(&settings(&server.url, ""), &beside(&["agent", "pantry"]));
    let events = crate::support::events(&built, message(vec![Part::text("hi")])).await;
    assert!(matches!(outcomes(&events)[..], [ToolOutcome::Error(message)] if message.contains("busy")), "{events:?}");
}

#[tokio::test]
async fn the_operator_says_who_may_be_asked() {
    let first = async |more: &str, context: &Context| -> Value {
        let mut server = Server::new(vec![text("a")]).await;
        ask(&build(&settings(&server.url, more), context), "hi").await;
        server.next().await
    };
    let all = beside(&["agent", "pantry", "gate"]);
    let enumerated = |sent: &Value| sent["tools"][0]["function"]["parameters"]["properties"]["agent"]["enum"].clone();
    assert_eq!(enumerated(&first("", &all).await), json!(["pantry", "gate"]));
    assert_eq!(enumerated(&first("siblings = true\n", &all).await), json!(["pantry", "gate"]));
    assert_eq!(enumerated(&first("siblings = [\"@gate\", \"gate\"]\n", &all).await), json!(["gate"]));
    assert!(first("siblings = false\n", &all).await.get("tools").is_none());
    assert!(first("siblings = []\n", &all).await.get("tools").is_none());
    assert!(first("", &beside(&["agent"])).await.get("tools").is_none(), "nobody else is here");

    let many: Vec<String> = (0..=SIBLINGS_MAX).map(|n| format!("a{n}")).collect();
    let many = beside(&many.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(enumerated(&first("", &many).await).as_array().unwrap().len(), SIBLINGS_MAX);
}

#[tokio::test]
async fn a_provider_without_tools_is_asked_again_when_nobody_insists_on_them() {
    let unfit = || (StatusCode::BAD_REQUEST, "tiny does not support tools").into_response();
    let mut server = Server::new(vec![unfit(), text("Fine.")]).await;
    let answer = ask(&among(Arc::default(), "", &server), "hi").await;
    assert_eq!((answer.text().as_str(), answer.ending), ("Fine.", Ending::Complete));
    assert!(server.next().await.get("tools").is_some());
    let again = server.next().await;
    assert!(again.get("tools").is_none() && !again.to_string().contains("ask_agent"), "{again}");

    let server = Server::new(vec![unfit()]).await;
    let insisting = ask(&among(Arc::default(), "siblings = true\n", &server), "hi").await;
    assert_eq!(failure(&insisting), "The model provider did not accept the request.");
    let server = Server::new(vec![unfit(), unfit()]).await;
    let never = ask(&among(Arc::default(), "", &server), "hi").await;
    assert_eq!(failure(&never), "The model provider did not accept the request.");
    let server = Server::new(vec![StatusCode::UNAUTHORIZED.into_response()]).await;
    let locked = ask(&among(Arc::default(), "", &server), "hi").await;
    assert_eq!(failure(&locked), "The model provider refused our key.");
}

#[test]
fn wrong_siblings_are_found_when_settings_are_read() {
    let wrong = |more: &str| {
        try_build(&settings("http://127.0.0.1:1/v1", more), &beside(&["agent", "pantry"])).err().unwrap().to_string()
    };
    assert!(wrong("siblings = [\"nobody\"]\n").contains("there is no agent `nobody` beside this one"));
    assert!(wrong("siblings = [\"agent\"]\n").contains("there is no agent `agent` beside this one"));
    let text = wrong("siblings = 3\n");
    assert!(text.contains("`true`, `false` or a list of handles"), "{text}");
    let names = |count: usize| format!("siblings = [{}]\n", vec!["\"pantry\""; count].join(", "));
    assert!(wrong(&names(SIBLINGS_MAX + 1)).contains("at most 50"));
    build(&settings("http://127.0.0.1:1/v1", &names(SIBLINGS_MAX)), &beside(&["agent", "pantry"]));
}

#[test]
fn only_the_first_carrier_counts() {
    let host = HostHandle::default();
    let (one, other) = (Others::default().ending("pantry", Ending::Complete), Others::default());
    let one = Arc::new(one);
    host.bind(&one);
    host.clone().bind(&Arc::new(other));
    let asked = Message { recipient: Handle::parse("pantry").unwrap(), ..message(Vec::new()) };
    assert!(host.receive(asked).now_or_never().unwrap().is_ok());
    assert_eq!(one.sent().len(), 1);
}
