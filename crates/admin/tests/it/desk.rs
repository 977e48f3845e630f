//! A console over a host in memory, and a browser of few words.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use forecourt_admin::editor::DeploymentEditor;
use forecourt_admin::{
    CertificateInUse, ConsoleUrl, DaemonControl, Desk, Entrance, EntranceSettings, OidcLoginSettings, OperatedHouse,
    ReloadAnswer, TelemetryState,
};
use forecourt_core::{Clock, Timestamp};
use forecourt_egress::EgressConfig;
use forecourt_server::AdminToken;
use forecourt_store::Memory;
use forecourt_testhost::openid::{CLIENT, OpenIdProvider};
use forecourt_testhost::{Blueprint, MountedHost, Node, resident};
use forecourt_testkit::{ScriptedAgent, card};
use futures::future::BoxFuture;
use http::header::{COOKIE, HOST, LOCATION, ORIGIN, SET_COOKIE};
use http::{HeaderMap, HeaderName, Method, Request};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::editor::MemoryEditor;

pub(crate) const TOKEN: &str = "a-token-of-the-operator";
/// Where browsers find it.
pub(crate) const ORIGIN_OF_CONSOLE: &str = "http://127.0.0.1:9080";
pub(crate) const SECOND: Duration = Duration::from_secs(1);

pub(crate) struct Console {
    pub(crate) provider: OpenIdProvider,
    pub(crate) host: MountedHost,
    pub(crate) store: Arc<Memory>,
    desk: Arc<Desk>,
    router: Router,
}

/// What a browser makes of an answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) location: String,
    pub(crate) cookies: Vec<String>,
    pub(crate) body: String,
}

/// A login that was begun.
pub(crate) struct Away {
    /// Where the browser is sent.
    pub(crate) url: url::Url,
    /// `name=value` of the cookie that marks it.
    pub(crate) cookie: String,
}

struct Around(OperatedHouse, Option<Arc<MemoryEditor>>);

impl DaemonControl for Around {
    fn now(&self) -> Option<OperatedHouse> {
        Some(self.0.clone())
    }

    fn readiness(&self) -> BoxFuture<'static, Result<Vec<String>, String>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn bus_fault(&self) -> Option<Option<String>> {
        None
    }

    fn telemetry(&self) -> TelemetryState {
        TelemetryState::Off
    }

    fn reload_status(&self) -> Option<Value> {
        None
    }

    fn reload(&self, _: String) -> BoxFuture<'static, Option<ReloadAnswer>> {
        Box::pin(async { Some(ReloadAnswer { is_applied: true, report: json!({}) }) })
    }

    fn editor(&self) -> Option<Arc<dyn DeploymentEditor>> {
        self.1.clone().map(|editor| editor as Arc<dyn DeploymentEditor>)
    }

    fn certificates(&self) -> Vec<CertificateInUse> {
        Vec::new()
    }
}

impl Console {
    /// Opened by the token, and by the provider: `chiefs` are operators and `staff` are viewers.
    pub(crate) async fn open() -> Self {
        Self::open_with(Some(Arc::default())).await
    }

    /// The same, where files are changed by this.
    pub(crate) async fn open_with(editor: Option<Arc<MemoryEditor>>) -> Self {
        let provider = OpenIdProvider::start().await;
        let egress =
            EgressConfig { allow: vec!["127.0.0.0/8".parse().unwrap()], allow_http: true, ..EgressConfig::default() };
        let echo = resident(card("echo"), ScriptedAgent::saying(["Hello."]), Vec::new());
        let [node] = Node::many::<1>();
        let store = node.store.clone();
        let blueprint = Blueprint { residents: vec![echo], egress, node: Some(node), ..Blueprint::default() };
        let host = blueprint.start(None).await;
        let (of, services) = (host.mount.host.clone(), host.mount.services.clone());
        let around = Arc::new(Around(OperatedHouse { host: of, services, contents: Vec::new() }, editor));
        let entrance = entrance(&provider, &host, |_| {});
        let desk = Desk::new(around, store.clone(), host.mount.data.clone(), entrance);
        let router = forecourt_admin::router(&desk);
        Self { provider, host, store, desk, router }
    }

    /// Has it opened by other settings from here on.
    pub(crate) fn opens_by(&self, change: impl FnOnce(&mut Settings)) {
        self.desk.opens_by(entrance(&self.provider, &self.host, change));
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.host.clock.now()
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.host.clock.advance(by);
    }

    pub(crate) async fn get(&self, path: &str, cookies: &[&str]) -> Answer {
        self.send(Method::GET, path, &[(COOKIE, &cookies.join("; "))], "").await
    }

    /// Sends a form of the console's own pages.
    pub(crate) async fn form(&self, path: &str, cookies: &[&str], form: &str) -> Answer {
        let cookies = cookies.join("; ");
        let form_type = "application/x-www-form-urlencoded";
        let fields = [(COOKIE, cookies.as_str()), (ORIGIN, ORIGIN_OF_CONSOLE), (http::header::CONTENT_TYPE, form_type)];
        self.send(Method::POST, path, &fields, form).await
    }

    pub(crate) async fn send(&self, method: Method, path: &str, fields: &[(HeaderName, &str)], body: &str) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        if !fields.iter().any(|(name, _)| name == HOST) {
            request = request.header(HOST, ORIGIN_OF_CONSOLE.trim_start_matches("http://"));
        }
        for (name, value) in fields {
            request = request.header(name, *value);
        }
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let (head, body) = self.router.clone().oneshot(request).await.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer {
            status: head.status.as_u16(),
            location: texts(&head.headers, &LOCATION).pop().unwrap_or_default(),
            cookies: texts(&head.headers, &SET_COOKIE),
            body: String::from_utf8_lossy(&body).into_owned(),
        }
    }

    /// Asks for events, and gives the answer as it comes.
    pub(crate) async fn follow(&self, path: &str, cookie: &str) -> Body {
        let request = Request::get(path).header(HOST, "127.0.0.1:9080").header(COOKIE, cookie);
        let request = request.header(http::header::ACCEPT, "text/event-stream").body(Body::empty()).unwrap();
        self.router.clone().oneshot(request).await.unwrap().into_body()
    }

    /// Says something in the playground, and reads nothing of the answer: its place is taken until that is dropped.
    pub(crate) async fn tries_out(&self) -> Body {
        let request = Request::post("/api/v1/playground/agents/echo").header(HOST, "127.0.0.1:9080");
        let request = request.header(http::header::AUTHORIZATION, format!("Bearer {TOKEN}"));
        let request = request.header(http::header::CONTENT_TYPE, "application/json");
        let request = request.header(http::header::ACCEPT, "text/event-stream").body(json!({"text": "hi"}).to_string());
        let answer = self.router.clone().oneshot(request.unwrap().map(Body::from)).await.unwrap();
        assert_eq!(answer.status(), 200);
        answer.into_body()
    }

    /// Logs in with the token; gives the cookie.
    pub(crate) async fn with_token(&self) -> String {
        let answer = self.form("/console/login", &[], &format!("token={TOKEN}")).await;
        assert_eq!(answer.status, 303, "{answer:?}");
        answer.session().expect("a session")
    }

    /// What the API answers to whoever carries the token: the status and the value.
    pub(crate) async fn asks(&self, path: &str) -> (u16, Value) {
        let bearer = format!("Bearer {TOKEN}");
        let answer = self.send(Method::GET, path, &[(http::header::AUTHORIZATION, &bearer)], "").await;
        (answer.status, serde_json::from_str(&answer.body).unwrap_or_default())
    }

    /// Has the API do something, by whoever carries the token.
    pub(crate) async fn orders(&self, path: &str, body: &Value) -> (u16, Value) {
        let bearer = format!("Bearer {TOKEN}");
        let fields = [(http::header::AUTHORIZATION, bearer.as_str()), (http::header::CONTENT_TYPE, "application/json")];
        let answer = self.send(Method::POST, path, &fields, &body.to_string()).await;
        (answer.status, serde_json::from_str(&answer.body).unwrap_or_default())
    }

    /// Goes away to the provider.
    pub(crate) async fn leave(&self, next: &str) -> Away {
        let answer = self.form("/console/login/provider", &[], &format!("next={next}")).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        Away { url: answer.leads_to().parse().unwrap(), cookie: pair(&answer.cookies[0]) }
    }

    /// What the provider is to say of somebody with these groups, changed.
    pub(crate) fn says(&self, away: &Away, groups: &[&str], change: impl FnOnce(&mut Value)) {
        let mut claims = self.provider.claims(self.now(), &away.parameter("nonce"));
        claims["groups"] = json!(groups);
        change(&mut claims);
        self.provider.says(claims);
    }

    /// Comes back with a code.
    pub(crate) async fn come_back(&self, away: &Away, cookies: &[&str]) -> Answer {
        let path = format!("/console/login/callback?code=c&state={}", away.parameter("state"));
        self.get(&path, cookies).await
    }

    /// Logs in at the provider as somebody of these groups, after `change` was done to the claims.
    pub(crate) async fn try_login(&self, groups: &[&str], change: impl FnOnce(&mut Value)) -> Answer {
        let away = self.leave("/console/tasks").await;
        self.says(&away, groups, change);
        self.come_back(&away, &[&away.cookie]).await
    }

    /// The same; gives the cookie.
    pub(crate) async fn log_in(&self, groups: &[&str]) -> String {
        let answer = self.try_login(groups, |_| {}).await;
        assert_eq!((answer.status, answer.leads_to().as_str()), (200, "/console/tasks"), "{answer:?}");
        answer.session().expect("a session")
    }

    /// Whether a cookie opens the console.
    pub(crate) async fn is_in(&self, cookie: &str) -> bool {
        match self.get("/console", &[cookie]).await {
            Answer { status: 200, .. } => true,
            Answer { status: 303, location, .. } if location.starts_with("/console/login") => false,
            other => panic!("{other:?}"),
        }
    }

    /// What forms of a session carry.
    pub(crate) async fn csrf(&self, cookie: &str) -> String {
        let page = self.get("/console", &[cookie]).await.body;
        page.split("name=\"csrf\" content=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
    }

    /// Has an agent suspended by a form.
    pub(crate) async fn suspends(&self, cookie: &str, csrf: &str) -> Answer {
        self.form("/console/do/agents/echo/suspend", &[cookie], &format!("csrf={csrf}")).await
    }
}

impl Away {
    pub(crate) fn parameter(&self, name: &str) -> String {
        let found = self.url.query_pairs().find(|(known, _)| known == name);
        found.unwrap_or_else(|| panic!("{name} is in {}", self.url)).1.into_owned()
    }
}

impl Answer {
    /// Where the page goes on to by itself.
    #[track_caller]
    pub(crate) fn leads_to(&self) -> String {
        let refresh = self.body.split("content=\"0;url=").nth(1).expect("a page that goes on");
        refresh.split('"').next().unwrap().replace("&#38;", "&").replace("&amp;", "&")
    }

    /// `name=value` of the session that is given.
    pub(crate) fn session(&self) -> Option<String> {
        let is_one = |cookie: &&String| cookie.contains("forecourt-console=") && !cookie.contains("Max-Age=0");
        self.cookies.iter().find(is_one).map(|cookie| pair(cookie))
    }
}

/// What opens the console, to be changed.
pub(crate) struct Settings {
    pub(crate) token: Option<&'static str>,
    pub(crate) oidc: Option<OidcLoginSettings>,
    pub(crate) url: Option<&'static str>,
}

fn entrance(provider: &OpenIdProvider, host: &MountedHost, change: impl FnOnce(&mut Settings)) -> Arc<Entrance> {
    let oidc = OidcLoginSettings {
        issuer: provider.issuer.clone(),
        client_id: CLIENT.to_owned(),
        client_secret: Some("hush".to_owned()),
        scopes: vec!["openid".to_owned()],
        claim: "groups".to_owned(),
        viewers_claim: None,
        operators: vec!["chiefs".to_owned()],
        viewers: vec!["staff".to_owned()],
        name: Some("Acme".to_owned()),
    };
    let mut settings = Settings { token: Some(TOKEN), oidc: Some(oidc), url: None };
    change(&mut settings);
    let settings = EntranceSettings {
        token: settings.token.and_then(AdminToken::new),
        login: settings.oidc.map(|oidc| oidc.check().unwrap()),
        url: settings.url.map(|url| ConsoleUrl::parse(url).unwrap()),
    };
    Arc::new(Entrance::new(&settings, &host.mount.egress, "127.0.0.1:9080".parse().unwrap()))
}

fn texts(head: &HeaderMap, name: &HeaderName) -> Vec<String> {
    head.get_all(name).iter().map(|value| value.to_str().unwrap().to_owned()).collect()
}

fn pair(cookie: &str) -> String {
    cookie.split(';').next().unwrap_or_default().to_owned()
}
