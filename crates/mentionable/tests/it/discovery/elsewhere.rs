//! Another host, over TLS on loopback, that answers what a test says.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use forecourt_core::Timestamp;
use forecourt_egress::{Egress, EgressConfig, Resolve, Resolving};
use forecourt_identity::HostKeys;
use forecourt_mentionable::discovery::{Acct, ResolveError, ResolvedAgent, Resolver};
use forecourt_server::{
    AllowedHosts, Certificates, FrontSettings, HttpLimits, Listener, ListenerContext, RouteClasses, TrustedProxies,
    local_ca,
};
use forecourt_testkit::{CountedEntropy, HandClock};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio_util::sync::{CancellationToken, DropGuard};

/// Its domain; `*.far.localhost` is served too.
pub(crate) const DOMAIN: &str = "far.localhost";
pub(crate) const REST: &str = "https://mentionable.dev/ns/transport-rest/v0.1";
pub(crate) const WEBFINGER: &str = "/.well-known/webfinger";
pub(crate) const CARD: &str = "/.well-known/agent-card/lean";

/// What is answered at a path.
#[derive(Clone)]
pub(crate) enum Reply {
    Json(Value),
    Cached(Value, &'static str),
    Raw(u16, Vec<u8>),
    Redirect(String),
    Silence,
}

pub(crate) struct Elsewhere {
    pub(crate) port: u16,
    pub(crate) clock: Arc<HandClock>,
    pub(crate) keys: HostKeys,
    pub(crate) resolver: Resolver,
    replies: Arc<Mutex<HashMap<String, Reply>>>,
    asked: Arc<Mutex<Vec<String>>>,
    authority: Vec<u8>,
    _stop: DropGuard,
}

impl Elsewhere {
    /// A host with one proper agent, `@lean@far.localhost`.
    pub(crate) async fn start() -> Self {
        let (replies, asked) = (Arc::new(Mutex::new(HashMap::new())), Arc::new(Mutex::new(Vec::new())));
        let stop = CancellationToken::new();
        let (port, authority) = listen(router(replies.clone(), asked.clone()), stop.clone()).await;
        let clock = Arc::new(HandClock::new());
        let resolver = Resolver::new(egress(&authority, true), clock.clone());
        let keys = HostKeys::in_memory(&CountedEntropy::default());
        let this = Self { port, clock, keys, resolver, replies, asked, authority, _stop: stop.drop_guard() };
        this.say(WEBFINGER, Reply::Json(this.record()));
        this.say(CARD, Reply::Json(this.card()));
        this
    }

    pub(crate) fn say(&self, path: &str, reply: Reply) {
        self.replies.lock().insert(path.to_owned(), reply);
    }

    /// The paths and queries that were asked for, in order.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().clone()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://{DOMAIN}:{}{path}", self.port)
    }

    pub(crate) fn record(&self) -> Value {
        let href = self.url(CARD);
        json!({
            "subject": "acct:lean@far.localhost",
            "links": [
                {"rel": "http://webfinger.net/rel/profile-page", "href": self.url("/")},
                {"rel": "https://mentionable.dev/ns/rel/agent-card", "type": "application/json", "href": href},
            ],
        })
    }

    pub(crate) fn card(&self) -> Value {
        json!({
            "address": "@lean@far.localhost",
            "name": "Lean",
            "description": "Early retirement.",
            "version": "1.0.0",
            "protocol_version": "0.1",
            "a2a": {
                "endpoint": self.url("/a2a/lean"),
                "transport": "https+sse",
                "capabilities": {"extensions": [{"uri": REST, "endpoint": self.url("/~lean")}]},
                "skills": [{"id": "fire", "name": "FIRE", "description": "Withdrawal rates."}],
                "input_modes": [],
                "output_modes": [],
                "auth": {"scheme": "none"},
            },
            "mentionable": {
                "supported_inbound": ["rest", "a2a"],
                "signing_key": self.keys.current().public().to_card(),
            },
        })
    }

    pub(crate) async fn resolve(&self) -> Result<Arc<ResolvedAgent>, ResolveError> {
        self.resolver.resolve_at(&lean(), self.port).await
    }

    /// A resolver for which no name has an address.
    pub(crate) fn nameless(&self) -> Resolver {
        let egress = Egress::builder(EgressConfig::default()).resolver(Arc::new(Nameless)).build().unwrap();
        Resolver::new(Arc::new(egress), self.clock.clone())
    }

    /// A resolver like those of hosts: closed to this machine.
    pub(crate) fn guarded(&self) -> Resolver {
        Resolver::new(egress(&self.authority, false), self.clock.clone())
    }
}

struct Nameless;

impl Resolve for Nameless {
    fn resolve<'a>(&'a self, _: &'a str) -> Resolving<'a> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

pub(crate) fn lean() -> Acct {
    Acct::parse("@lean@far.localhost").unwrap()
}

fn egress(authority: &[u8], open: bool) -> Arc<Egress> {
    let allow = if open { vec!["127.0.0.0/8".parse().unwrap(), "::1/128".parse().unwrap()] } else { Vec::new() };
    let config = EgressConfig { allow, ..EgressConfig::default() };
    Arc::new(Egress::builder(config).trust_pem(authority).build().unwrap())
}

fn router(replies: Arc<Mutex<HashMap<String, Reply>>>, asked: Arc<Mutex<Vec<String>>>) -> axum::Router {
    axum::Router::new().fallback(async move |request: Request| {
        let uri = request.uri().clone();
        asked.lock().push(uri.path_and_query().unwrap().to_string());
        let reply = replies.lock().get(uri.path()).cloned();
        answer(reply).await
    })
}

async fn answer(reply: Option<Reply>) -> Response {
    let response = Response::builder();
    let built = match reply {
        None => response.status(404).body(Body::empty()),
        Some(Reply::Json(value)) => response.body(value.to_string().into()),
        Some(Reply::Cached(value, cache)) => response.header("cache-control", cache).body(value.to_string().into()),
        Some(Reply::Raw(status, bytes)) => response.status(status).body(bytes.into()),
        Some(Reply::Redirect(to)) => response.status(302).header("location", to).body(Body::empty()),
        Some(Reply::Silence) => std::future::pending().await,
    };
    built.unwrap()
}

async fn listen(router: axum::Router, stop: CancellationToken) -> (u16, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let files = local_ca::ensure(folder.path(), DOMAIN, Timestamp::now()).unwrap();
    let authority = std::fs::read(local_ca::ca_certificate(folder.path())).unwrap();
    let hosts = AllowedHosts::new([DOMAIN, "cards.far.localhost"], true);
    let config = Certificates::load(files, hosts.clone()).unwrap().http_config().unwrap();
    let listener = Listener::tls("127.0.0.1:0".parse().unwrap(), config).await.unwrap();
    let port = listener.address().port();
    let front = ListenerContext::new(FrontSettings {
        hosts,
        proxies: TrustedProxies::default(),
        limits: HttpLimits::default(),
        metrics: Default::default(),
        classes: RouteClasses::new([]),
        entropy: Arc::new(CountedEntropy::default()),
        hsts: None,
        leaving: Default::default(),
    });
    tokio::spawn(listener.serve(front, router, stop));
    (port, authority)
}
