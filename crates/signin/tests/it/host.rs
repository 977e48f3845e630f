//! A host at whose desk people sign in, and a browser of few words.

use std::sync::Arc;

use axum::body::Body;
use forecourt_core::{Clock, Timestamp};
use forecourt_egress::EgressConfig;
use forecourt_identity::IdentityConfig;
use forecourt_testhost::openid::{CLIENT, OpenIdProvider};
use forecourt_testhost::{Blueprint, MountedHost, resident};
use forecourt_testkit::{HandClock, ScriptedAgent, card};
use http::header::{COOKIE, LOCATION, SET_COOKIE};
use http::{HeaderMap, HeaderName, Request};
use http_body_util::BodyExt;
use tower::ServiceExt;

pub(crate) struct Desk {
    pub(crate) provider: OpenIdProvider,
    host: MountedHost,
    router: axum::Router,
}

/// What a browser makes of an answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) location: String,
    /// `name=value` of the first cookie that is set.
    pub(crate) cookie: String,
    pub(crate) cookies: Vec<String>,
    pub(crate) body: String,
}

impl Desk {
    pub(crate) async fn open() -> Self {
        let provider = OpenIdProvider::start().await;
        let table =
            format!("[oidc]\nissuer = \"{}\"\nclient_id = \"{CLIENT}\"\nclient_secret = \"hush\"", provider.issuer);
        Self::over(provider, toml::from_str(&table).unwrap()).await
    }

    pub(crate) async fn without_provider() -> Self {
        Self::over(OpenIdProvider::start().await, IdentityConfig::default()).await
    }

    async fn over(provider: OpenIdProvider, identity: IdentityConfig) -> Self {
        let egress =
            EgressConfig { allow: vec!["127.0.0.0/8".parse().unwrap()], allow_http: true, ..EgressConfig::default() };
        let echo = resident(card("echo"), ScriptedAgent::saying(["Hello."]), Vec::new());
        let blueprint = Blueprint { residents: vec![echo], egress, identity: Some(identity), ..Blueprint::default() };
        let host = blueprint.start(None).await;
        let router = forecourt_signin::routes(&host.mount).router;
        Self { provider, host, router }
    }

    pub(crate) fn clock(&self) -> &Arc<HandClock> {
        &self.host.clock
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.host.clock.now()
    }

    pub(crate) async fn get(&self, path: &str, cookies: &[&str]) -> Answer {
        let request = Request::get(path).header(COOKIE, cookies.join("; ")).body(Body::empty()).unwrap();
        let (head, body) = self.router.clone().oneshot(request).await.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let cookies = texts(&head.headers, &SET_COOKIE);
        let first = cookies.first().and_then(|cookie| cookie.split(';').next()).unwrap_or_default().to_owned();
        Answer {
            status: head.status.as_u16(),
            location: texts(&head.headers, &LOCATION).pop().unwrap_or_default(),
            cookie: first,
            cookies,
            body: String::from_utf8_lossy(&body).into_owned(),
        }
    }
}

fn texts(head: &HeaderMap, name: &HeaderName) -> Vec<String> {
    head.get_all(name).iter().map(|value| value.to_str().unwrap().to_owned()).collect()
}
