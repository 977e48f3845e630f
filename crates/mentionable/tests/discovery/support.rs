//! A host in memory whose documents are asked for without a socket.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use axum::body::{Body, to_bytes};
use forecourt_core::{AgentCard, Domain, Endpoint, Policy};
use forecourt_egress::{Egress, EgressConfig};
use forecourt_host::{Directory, Host, HostBuilder, Resident, Site};
use forecourt_identity::{HostKeys, IdentityConfig, Verifier};
use forecourt_mentionable::discovery;
use forecourt_settings::{Problems, Section};
use forecourt_store::Memory;
use forecourt_surface::Mount;
use forecourt_testkit::{CountedEntropy, HandClock, Scripted, card};
use http::{HeaderMap, Method, Request, StatusCode};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

pub(crate) const ORIGIN: &str = "https://demo.localhost:8443";

/// A host in the making.
pub(crate) struct Setup {
    pub(crate) cards: Vec<AgentCard>,
    pub(crate) identity: IdentityConfig,
}

/// Its documents, and what changes under them.
pub(crate) struct Published {
    pub(crate) host: Arc<Host>,
    pub(crate) router: axum::Router,
    pub(crate) keys: Arc<ArcSwap<HostKeys>>,
    pub(crate) clock: Arc<HandClock>,
}

/// An answer, read whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Default for Setup {
    fn default() -> Self {
        Self { cards: vec![reachable("chef"), reachable("gate")], identity: IdentityConfig::default() }
    }
}

/// An agent at its usual place.
pub(crate) fn reachable(handle: &str) -> AgentCard {
    let url = format!("{ORIGIN}/~{handle}");
    AgentCard { endpoints: vec![Endpoint { protocol: "mentionable", url }], ..card(handle) }
}

/// What two agents publish.
pub(crate) async fn published() -> Published {
    Setup::default().publish().await.unwrap()
}

impl Setup {
    pub(crate) async fn publish(self) -> Result<Published, Problems> {
        let clock = Arc::new(HandClock::new());
        let entropy = Arc::new(CountedEntropy::default());
        let egress = Arc::new(Egress::builder(EgressConfig::default()).build().unwrap());
        let site = Site {
            domain: Domain::parse("demo.localhost").unwrap(),
            name: "Demo".to_owned(),
            origin: ORIGIN.to_owned(),
        };
        let default = self.cards[0].handle().clone();
        let residents = self.cards.into_iter().map(resident).collect();
        let directory = Directory::new(residents, &default).unwrap();
        let host = HostBuilder::new(site, directory, Arc::new(Memory::new()), egress.clone())
            .with_ambient(clock.clone(), entropy.clone())
            .start(CancellationToken::new())
            .await
            .unwrap();
        let keys = Arc::new(ArcSwap::from_pointee(HostKeys::in_memory(entropy.as_ref())));
        let mount = Mount {
            host: host.clone(),
            verifier: Arc::new(Verifier::new(&self.identity, Path::new("."), egress.clone()).unwrap()),
            keys: keys.clone(),
            egress,
            tools: Arc::new([]),
            section: Section::empty(Path::new("forecourt.toml"), "mentionable"),
        };
        Ok(Published { host, router: discovery::routes(&mount)?.router, keys, clock })
    }
}

fn resident(card: AgentCard) -> Resident {
    Resident {
        card: Arc::new(card),
        agent: Scripted::saying(["hello"]),
        policy: Policy::new(Vec::new()),
        time_max: Duration::from_secs(120),
    }
}

impl Published {
    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[]).await
    }

    pub(crate) async fn json(&self, path: &str) -> Value {
        let answer = self.get(path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        answer.json()
    }

    pub(crate) async fn send(&self, method: Method, path: &str, fields: &[(&str, &str)]) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        let response = self.router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let (head, body) = response.into_parts();
        let body = to_bytes(body, 1024 * 1024).await.unwrap().to_vec();
        Answer { status: head.status, headers: head.headers, body }
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The error text of an answer that every page may read.
    pub(crate) fn error(&self) -> String {
        assert_eq!(self.field("access-control-allow-origin"), Some("*"));
        assert_eq!(self.field("content-type"), Some("application/json"));
        self.json()["error"].as_str().unwrap().to_owned()
    }
}
