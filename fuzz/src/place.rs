//! A host in memory on which one protocol is mounted: its real decoders, router and host, without a socket. Its time
//! passes when nothing else happens, so that a wait of an hour is over at once.

use std::cell::{Cell, RefCell};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Request, header};
use forecourt_contract::ScopeSet;
use forecourt_core::{AgentCard, ClientAddr, ContentMode, Rule};
use forecourt_identity::agents::AgentIdentitySettings;
use forecourt_surface::Protocol;
use forecourt_testhost::{Blueprint, MountedHost, consent_first, resident};
use forecourt_testkit::card;
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tower::ServiceExt;

use crate::hotel;
use crate::player::Player;
use crate::rpc;

/// Inputs after which another host begins, so that what it keeps has a bound and what is found depends on little that
/// came before.
const INPUTS_MAX: u32 = 200;
/// How long an agent may take for a reply.
const AGENT_TIME_MAX: Duration = Duration::from_secs(90);
/// How long an answer may take: longer than an agent may, and any wait of a protocol.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(600);
/// Bytes of an answer. None of the requests has more than a few thousand.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;
/// A comment that keeps a quiet stream open.
const PING: &[u8] = b":\n\n";
/// How long it is quiet until the next one is read.
const PING_PAUSE: Duration = Duration::from_secs(15);
/// What the agents of the host may do.
const SCOPES: &str = "room:read, room:book, rcns:negotiate, inspect:all";

/// A host at work.
pub struct Place {
    /// The host.
    pub mounted: MountedHost,
    runtime: Runtime,
    router: Router,
    inputs: Cell<u32>,
}

/// What is mounted on a host.
#[derive(Clone, Copy)]
pub struct Plan {
    /// The protocol.
    pub protocol: &'static Protocol,
    /// Its section.
    pub section: &'static str,
    /// The routes that are asked.
    pub routes: fn(&MountedHost, &Protocol) -> Router,
}

/// An answer, read whole.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The fields.
    pub head: HeaderMap,
    /// The body, as far as it came.
    pub body: Vec<u8>,
    /// Whether the body came to its end.
    pub is_whole: bool,
}

thread_local! {
    static PLACE: RefCell<Option<Place>> = const { RefCell::new(None) };
}

/// The routes of a protocol on the shared listeners.
pub fn shared(mounted: &MountedHost, protocol: &Protocol) -> Router {
    mounted.router(protocol).unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// Does something with a host of this plan, which is the only plan of a program.
pub fn at_place(plan: &Plan, work: impl FnOnce(&Place)) {
    PLACE.with_borrow_mut(|place| {
        if let Some(tired) = place.take_if(|place| place.inputs.get() >= INPUTS_MAX) {
            tired.close();
        }
        let place = place.get_or_insert_with(|| Place::open(plan));
        place.inputs.set(place.inputs.get() + 1);
        work(place);
    });
}

/// The host of all targets: `echo` keeps conversations, `chef` finds things, and `club` wants a consent first.
pub fn blueprint(section: &str) -> Blueprint {
    let agent = |card: AgentCard, rules: Vec<Arc<dyn Rule>>| {
        let mut hosted = resident(card, Arc::new(Player), rules);
        hosted.time_max = AGENT_TIME_MAX;
        hosted
    };
    let modes = [ContentMode::Text { mime: "text/*".to_owned() }, ContentMode::File { mime: "*/*".to_owned() }];
    let echo = AgentCard { remembers: true, uses_tools: true, input_modes: modes.to_vec(), ..card("echo") };
    let chef = AgentCard { remembers: true, finds: true, ..card("chef") };
    Blueprint {
        residents: vec![agent(echo, Vec::new()), agent(chef, Vec::new()), agent(card("club"), vec![consent_first()])],
        contract: hotel::endpoints(),
        identities: AgentIdentitySettings {
            scopes: Some(ScopeSet::parse_list(SCOPES).expect("scopes")),
            ..AgentIdentitySettings::default()
        },
        section: section.to_owned(),
        ..Blueprint::default()
    }
}

impl Place {
    fn open(plan: &Plan) -> Self {
        let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().expect("a runtime");
        let (mounted, router) = runtime.block_on(async {
            let mut mounted = blueprint(plan.section).start(Some(plan.protocol)).await;
            mounted.mount.tools = forecourt_surface::endpoint::tools(&mounted.mount.host).into_iter().collect();
            let router = (plan.routes)(&mounted, plan.protocol);
            (mounted, router)
        });
        Self { mounted, runtime, router, inputs: Cell::new(0) }
    }

    fn close(self) {
        let Self { mounted, runtime, router, .. } = self;
        runtime.block_on(async { drop((router, mounted)) });
        runtime.shutdown_background();
    }

    /// The answer to a request, which has to come in time and within its bound.
    pub fn ask(&self, mut request: Request<Body>) -> Answer {
        request.extensions_mut().get_or_insert(ClientAddr(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        request.headers_mut().entry(header::HOST).or_insert(HeaderValue::from_static("demo.localhost"));
        self.runtime.block_on(async {
            let until = Instant::now() + ANSWER_TIME_MAX;
            let answer = timeout(ANSWER_TIME_MAX, self.router.clone().oneshot(request)).await;
            let (head, mut body) = answer.expect("an answer in time").expect("a router never fails").into_parts();
            let (mut bytes, mut is_whole) = (Vec::new(), false);
            while let Ok(frame) = timeout_at(until, body.frame()).await {
                let Some(frame) = frame else {
                    is_whole = true;
                    break;
                };
                let Ok(frame) = frame else { break };
                let data = frame.data_ref().map(|data| data.as_ref()).unwrap_or_default();
                // The SDK of MCP reckons the pings of a quiet stream by the clock of the machine: without a pause they
                // would come one upon another, and no time would pass.
                if data == PING {
                    sleep(PING_PAUSE).await;
                    continue;
                }
                bytes.extend_from_slice(data);
                assert!(bytes.len() <= ANSWER_BYTES_MAX, "an answer is over its bound: {}", tail(&bytes));
            }
            let answer = Answer { status: head.status.as_u16(), head: head.headers, body: bytes, is_whole };
            answer.check();
            answer
        })
    }
}

impl Answer {
    /// The value of a field.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.head.get(name).and_then(|value| value.to_str().ok())
    }

    /// The media type of the body.
    pub fn kind(&self) -> Option<&str> {
        self.field("content-type").and_then(|kind| kind.split(';').next()).map(str::trim)
    }

    /// The body as JSON, where it says that it is.
    pub fn json(&self) -> Option<Value> {
        let is_json = self.kind().is_some_and(|kind| kind == "application/json" || kind.ends_with("+json"));
        (is_json && !self.body.is_empty()).then(|| {
            serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("no JSON: {error}: {}", self.shown()))
        })
    }

    /// What holds of every answer. What fails behind the host is never the host's own failure.
    fn check(&self) {
        assert!(!matches!(self.status, 500 | 505..), "something broke: {}", self.shown());
        assert!(self.body.is_empty() || self.kind().is_some(), "nobody can tell what this is: {}", self.shown());
        if self.status == 503 {
            assert!(self.field("retry-after").is_some(), "nobody can tell when to come again: {}", self.shown());
        }
        let json = self.json();
        if let Some(problem) = json.filter(|_| self.kind() == Some("application/problem+json")) {
            assert_eq!(problem["status"], self.status, "{}", self.shown());
        }
        if self.kind() == Some("text/event-stream") {
            drop(rpc::events(&self.body));
        }
    }

    /// All of it, for people.
    pub fn shown(&self) -> String {
        format!("{} {:?} {}", self.status, self.head, String::from_utf8_lossy(&self.body))
    }
}

/// The end of what is too long to be shown.
fn tail(bytes: &[u8]) -> String {
    bytes[bytes.len().saturating_sub(1_000)..].escape_ascii().to_string()
}
