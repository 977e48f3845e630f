//! The protocol before a server on this machine that has actors and signs as others do. Most answers go nowhere here:
//! they are tried through the whole program.

mod answers;
mod edits;
mod files;
mod flood;
mod inbox;
mod two_hosts;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use forecourt_core::{Agent, Rule};
use forecourt_egress::EgressConfig;
use forecourt_identity::RequestSigner;
use forecourt_jose::RsaSigningKey;
use forecourt_testhost::{Blueprint, MountedHost, resident};
use forecourt_testkit::{ScriptedAgent, card};
use http::header::{CONTENT_TYPE, HOST, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tower::ServiceExt;
use url::Url;

use crate::names::MEDIA_TYPE;
use crate::{PROTOCOL, signature};

const ORIGIN: &str = "https://demo.localhost";
const SHARED_INBOX: &str = "/activitypub/inbox";
const CHEF: &str = "https://demo.localhost/activitypub/users/chef";

/// A server with actors, which counts what is fetched of it.
struct Elsewhere {
    origin: String,
    key: RsaSigningKey,
    documents: Arc<Mutex<HashMap<String, Value>>>,
    fetched: Arc<AtomicUsize>,
    /// What was posted, wherever.
    posted: Arc<Mutex<Vec<Value>>>,
    /// The seconds for which it takes nothing, as it says.
    full_for: Arc<AtomicUsize>,
}

impl Elsewhere {
    async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let documents: Arc<Mutex<HashMap<String, Value>>> = Arc::default();
        let fetched: Arc<AtomicUsize> = Arc::default();
        let posted: Arc<Mutex<Vec<Value>>> = Arc::default();
        let full_for: Arc<AtomicUsize> = Arc::default();
        let (held, count, taken, full) = (documents.clone(), fetched.clone(), posted.clone(), full_for.clone());
        let router = Router::new().fallback(move |request: Request| {
            let (is_post, found) = (request.method() == Method::POST, held.lock().get(request.uri().path()).cloned());
            count.fetch_add(usize::from(!is_post), Ordering::SeqCst);
            let (taken, full) = (taken.clone(), full.load(Ordering::SeqCst));
            async move {
                if is_post && full > 0 {
                    return (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, full.to_string())]).into_response();
                }
                if is_post {
                    let body = axum::body::to_bytes(request.into_body(), usize::MAX).await.unwrap();
                    taken.lock().push(serde_json::from_slice(&body).unwrap());
                    return StatusCode::ACCEPTED.into_response();
                }
                match found {
                    Some(document) => ([(CONTENT_TYPE, MEDIA_TYPE)], document.to_string()).into_response(),
                    None => StatusCode::GONE.into_response(),
                }
            }
        });
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { origin, key: RsaSigningKey::generate().unwrap(), documents, fetched, posted, full_for }
    }

    fn actor(&self, name: &str) -> String {
        format!("{}/users/{name}", self.origin)
    }

    fn fetched(&self) -> usize {
        self.fetched.load(Ordering::SeqCst)
    }

    /// Has an actor, whose key is the one of this server or another one.
    fn has(&self, name: &str, kind: &str, key: &RsaSigningKey) {
        let id = self.actor(name);
        let actor = json!({
            "id": id, "type": kind, "preferredUsername": name, "name": "Ann Other", "inbox": format!("{id}/inbox"),
            "publicKey": {"id": format!("{id}#main-key"), "owner": id, "publicKeyPem": key.public_pem()},
        });
        self.documents.lock().insert(format!("/users/{name}"), actor);
    }

    /// A note of an actor that mentions @chef, in what makes it.
    fn note(&self, name: &str, number: usize, words: &str) -> Value {
        let (actor, id) = (self.actor(name), format!("{}/notes/{number}", self.origin));
        json!({
            "id": format!("{id}/activity"), "type": "Create", "actor": actor,
            "object": {
                "id": id, "type": "Note", "attributedTo": actor, "to": [CHEF], "content": format!("<p>@chef {words}</p>"),
                "tag": [{"type": "Mention", "href": CHEF, "name": "@chef@demo.localhost"}],
            },
        })
    }

    fn activity(&self, name: &str, kind: &str, number: usize, object: &Value) -> Value {
        let id = format!("{}/activities/{number}", self.origin);
        json!({"id": id, "type": kind, "actor": self.actor(name), "object": object})
    }
}

/// The form of signatures, and whose key makes them.
#[derive(Clone, Copy)]
struct Signed<'a> {
    by_draft: bool,
    key: &'a RsaSigningKey,
    key_id: &'a str,
}

/// A host with @chef.
struct Here {
    router: Router,
    agent: Arc<ScriptedAgent>,
    mounted: MountedHost,
}

impl Here {
    async fn start(section: &str, rules: Vec<Arc<dyn Rule>>) -> Self {
        Self::with(section, rules, ScriptedAgent::saying(["Soup."]), false).await
    }

    /// One whose answers are sent.
    async fn answering(section: &str, agent: Arc<ScriptedAgent>) -> Self {
        Self::with(section, Vec::new(), agent, true).await
    }

    async fn with(section: &str, rules: Vec<Arc<dyn Rule>>, agent: Arc<ScriptedAgent>, answers: bool) -> Self {
        let asked: Arc<dyn Agent> = agent.clone();
        let blueprint = Blueprint {
            residents: vec![resident(card("chef"), asked, rules)],
            egress: EgressConfig {
                allow: vec!["127.0.0.0/8".parse().unwrap()],
                allow_http: true,
                ..Default::default()
            },
            section: format!("enabled = true\n{section}"),
            ..Blueprint::default()
        };
        let mounted = blueprint.start(Some(&PROTOCOL)).await;
        let router = match answers {
            true => mounted.answering_router().unwrap(),
            false => mounted.router(&PROTOCOL).unwrap(),
        };
        Self { router, agent, mounted }
    }

    /// Reads something as `name` of another server.
    async fn get_as(&self, from: &Elsewhere, name: &str, path: &str) -> (StatusCode, Value) {
        read(self.signed_get(from, name, path).await).await
    }

    async fn signed_get(&self, from: &Elsewhere, name: &str, path: &str) -> Response {
        let (mut headers, now) = (HeaderMap::new(), self.mounted.mount.host.clock().now());
        let (url, key_id) = (Url::parse(&format!("{ORIGIN}{path}")).unwrap(), format!("{}#main-key", from.actor(name)));
        signature::sign(&from.key, &key_id, &Method::GET, &url, &mut headers, b"", now).unwrap();
        let mut request = Request::get(path).body(Body::empty()).unwrap();
        *request.headers_mut() = headers;
        self.router.clone().oneshot(request).await.unwrap()
    }

    async fn get(&self, path: &str) -> (StatusCode, Value) {
        read(self.router.clone().oneshot(Request::get(path).body(Body::empty()).unwrap()).await.unwrap()).await
    }

    /// Posts an activity of `name`, signed as its server does.
    async fn post(&self, from: &Elsewhere, name: &str, activity: &Value) -> StatusCode {
        let key_id = format!("{}#main-key", from.actor(name));
        self.post_as(Signed { by_draft: true, key: &from.key, key_id: &key_id }, activity).await
    }

    async fn post_as(&self, signed: Signed<'_>, activity: &Value) -> StatusCode {
        let body = activity.to_string();
        let headers = self.headers(signed, body.as_bytes());
        self.send(headers, body).await.0
    }

    fn headers(&self, Signed { by_draft, key, key_id }: Signed<'_>, body: &[u8]) -> HeaderMap {
        let url = Url::parse(&format!("{ORIGIN}{SHARED_INBOX}")).unwrap();
        let (mut headers, now) = (HeaderMap::new(), self.mounted.mount.host.clock().now());
        match by_draft {
            true => signature::sign(key, key_id, &Method::POST, &url, &mut headers, body, now).unwrap(),
            false => {
                let signer = RequestSigner { key: key.clone(), keyid: key_id.to_owned() };
                signer.sign(&Method::POST, &url, &mut headers, body, now, &*self.mounted.entropy).unwrap();
            }
        }
        headers
    }

    async fn send(&self, headers: HeaderMap, body: String) -> (StatusCode, Value) {
        let mut request = Request::post(SHARED_INBOX).body(Body::from(body)).unwrap();
        *request.headers_mut() = headers;
        request.headers_mut().insert(HOST, HeaderValue::from_static("demo.localhost"));
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        read(self.router.clone().oneshot(request).await.unwrap()).await
    }

    /// What @chef was asked, once as much has come to it as is expected.
    async fn heard(&self, count: usize) -> Vec<String> {
        for _ in 0..1_000 {
            if self.agent.heard().len() >= count {
                break;
            }
            tokio::task::yield_now().await;
        }
        self.agent.heard().iter().map(|message| message.text()).collect()
    }
}

async fn read(response: Response) -> (StatusCode, Value) {
    let status = response.status();
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, serde_json::from_slice(&bytes).unwrap_or_default())
}
