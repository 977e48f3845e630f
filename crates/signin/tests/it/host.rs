//! A host at whose desk people sign in, and a browser of few words.

use std::sync::Arc;

use axum::body::Body;
use forecourt_core::gate::{Rule, RuleVerdict};
use forecourt_core::policy::{ConsentTerms, Demand, Requirement};
use forecourt_core::{
    AgentCard, Clock, ConsentToken, Ending, Event, Handle, Message, MessageId, Part, Sender, Timestamp,
};
use forecourt_egress::EgressConfig;
use forecourt_host::Run;
use forecourt_identity::IdentityConfig;
use forecourt_testhost::openid::{CLIENT, OpenIdProvider};
use forecourt_testhost::{Blueprint, MountedHost, resident};
use forecourt_testkit::{HandClock, ScriptedAgent, card};
use futures::StreamExt;
use futures::future::BoxFuture;
use http::header::{COOKIE, LOCATION, SET_COOKIE};
use http::request::Builder;
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
    pub(crate) head: HeaderMap,
    pub(crate) body: String,
}

/// A rule that wants a consent.
struct WantsConsent;

impl Rule for WantsConsent {
    fn judge<'a>(&'a self, _: &'a AgentCard, _: &'a Message) -> BoxFuture<'a, RuleVerdict> {
        let scope = serde_json::Map::from_iter([("text".to_owned(), "We keep your order.".into())]);
        let requirement = Requirement {
            rule: "terms".to_owned(),
            title: None,
            message: "We keep your order.".to_owned(),
            message_translations: Default::default(),
            demand: Demand::Consent(ConsentTerms { scope, lifetime_seconds: None }),
        };
        Box::pin(std::future::ready(Err(requirement.into())))
    }
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
        let shop = resident(card("shop"), ScriptedAgent::saying(["Sold."]), vec![Arc::new(WantsConsent)]);
        let blueprint =
            Blueprint { residents: vec![echo, shop], egress, identity: Some(identity), ..Blueprint::default() };
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
        self.send(Request::get(path), cookies, String::new()).await
    }

    /// Posts a form as a page of `site` does: `same-origin` is one of this host.
    pub(crate) async fn post(&self, path: &str, cookies: &[&str], site: &str, fields: &[(&str, &str)]) -> Answer {
        let form = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.send(Request::post(path).header("sec-fetch-site", site), cookies, form).await
    }

    /// The cookie of a session of somebody whom the provider calls so.
    pub(crate) async fn signs_in(&self, subject: &str) -> String {
        let left = self.get("/sign-in?return_to=/~echo", &[]).await;
        let away = url::Url::parse(&left.location).unwrap();
        let of = |name: &str| away.query_pairs().find(|(known, _)| known == name).map(|(_, value)| value.into_owned());
        let mut claims = self.provider.claims(self.now(), &of("nonce").unwrap());
        claims["sub"] = subject.into();
        self.provider.says(claims);
        let back = format!("/sign-in/callback?code=c&state={}", of("state").unwrap());
        let came = self.get(&back, &[left.cookie.as_str()]).await;
        let session = came.cookies.iter().find(|cookie| cookie.starts_with("__Host-session="));
        session.and_then(|cookie| cookie.split(';').next()).unwrap_or_else(|| panic!("{}", came.body)).to_owned()
    }

    /// What `sender` says to the shop.
    pub(crate) async fn asks_shop(&self, sender: Sender, consents: Option<&ConsentToken>) -> Ending {
        let (id, shop) = (MessageId::parse("m1").unwrap(), Handle::parse("shop").unwrap());
        let message = Message::new(id, shop, vec![Part::text("Bread?")], "rest", self.now());
        let message = Message { sender, consents: consents.cloned(), ..message };
        let reply = self.host.mount.host.receive(message, Run::without_task()).await.unwrap();
        let last = reply.events.collect::<Vec<_>>().await.pop();
        let Some(Event::Ending(ending)) = last else { panic!("no ending") };
        ending
    }

    /// Has `sender` or a browser agree to what the shop wants.
    pub(crate) async fn agrees(&self, sender: Sender, consents: Option<&ConsentToken>) {
        let Ending::Refused(part) = self.asks_shop(sender, consents).await else { panic!("nothing is wanted") };
        let (state, origin, host) = (part.state().unwrap(), Default::default(), &self.host.mount.host);
        match consents {
            Some(token) => host.accept_consent_with(&state, token, &origin).await.unwrap(),
            None => host.accept_consent(&state, &origin).await.unwrap(),
        };
    }

    async fn send(&self, request: Builder, cookies: &[&str], body: String) -> Answer {
        let request = request.header(COOKIE, cookies.join("; ")).body(Body::from(body)).unwrap();
        let (head, body) = self.router.clone().oneshot(request).await.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let cookies = texts(&head.headers, &SET_COOKIE);
        let first = cookies.first().and_then(|cookie| cookie.split(';').next()).unwrap_or_default().to_owned();
        Answer {
            status: head.status.as_u16(),
            location: texts(&head.headers, &LOCATION).pop().unwrap_or_default(),
            cookie: first,
            cookies,
            head: head.headers,
            body: String::from_utf8_lossy(&body).into_owned(),
        }
    }
}

fn texts(head: &HeaderMap, name: &HeaderName) -> Vec<String> {
    head.get_all(name).iter().map(|value| value.to_str().unwrap().to_owned()).collect()
}
