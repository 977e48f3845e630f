//! A host in memory whose documents are asked for without a socket.

use std::sync::Arc;

use arc_swap::ArcSwap;
use axum::body::{Body, to_bytes};
use forecourt_core::{AgentCard, Endpoint};
use forecourt_host::Host;
use forecourt_identity::{HostKeys, IdentityConfig};
use forecourt_mentionable::discovery;
use forecourt_settings::Problems;
use forecourt_testhost::{Blueprint, MountedHost, resident};
use forecourt_testkit::{HandClock, ScriptedAgent, card};
use http::{HeaderMap, Method, Request, StatusCode};
use serde_json::Value;
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
    _mounted: MountedHost,
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
    AgentCard { endpoints: vec![Endpoint::new("mentionable", url)], ..card(handle) }
}

/// What two agents publish.
pub(crate) async fn published() -> Published {
    Setup::default().publish().await.unwrap()
}

impl Setup {
    pub(crate) async fn publish(self) -> Result<Published, Problems> {
        let agent = |card| resident(card, ScriptedAgent::saying(["hello"]), Vec::new());
        let blueprint = Blueprint {
            residents: self.cards.into_iter().map(agent).collect(),
            identity: Some(self.identity),
            origin: ORIGIN.to_owned(),
            ..Blueprint::default()
        };
        let mounted = blueprint.start(None).await;
        let router = discovery::routes(&mounted.mount, &mounted.section)?.router;
        let (host, keys, clock) = (mounted.mount.host.clone(), mounted.mount.keys.clone(), mounted.clock.clone());
        Ok(Published { host, router, keys, clock, _mounted: mounted })
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
