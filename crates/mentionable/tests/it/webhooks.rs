//! REST 5.5: webhooks on tasks.

use std::time::Duration;

use axum::extract::{Request, State};
use forecourt_core::limits::WEBHOOKS_PER_TASK_MAX;
use forecourt_testkit::{ScriptedAgent, Step, card};
use http::{HeaderMap, Method};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::background::{begun, settled, with_receiver};
use crate::support::{Answer, Place, Setup, bot, done, echo, get, request};

/// Somebody who listens on loopback and accepts everything.
pub struct Receiver {
    pub url: String,
    told: mpsc::UnboundedReceiver<Told>,
}

pub struct Told {
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Receiver {
    pub async fn listening() -> Self {
        let (tell, told) = mpsc::unbounded_channel();
        let take = |State(tell): State<mpsc::UnboundedSender<Told>>, request: Request| async move {
            let (head, body) = request.into_parts();
            let body = axum::body::to_bytes(body, 1024 * 1024).await.unwrap().to_vec();
            tell.send(Told { headers: head.headers, body }).unwrap();
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let router = axum::Router::new().fallback(take).with_state(tell);
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, told }
    }

    pub async fn next(&mut self) -> Told {
        tokio::time::timeout(Duration::from_secs(30), self.told.recv()).await.expect("nobody called").unwrap()
    }
}

async fn register(place: &Place, path: &str, body: Value) -> Answer {
    let request = request(Method::POST, &format!("{path}/webhook")).header("content-type", "application/json");
    place.send_with(request, body.to_string()).await
}

#[tokio::test]
async fn s5_5_a_change_is_told_with_its_signature() {
    let (place, mut receiver) = with_receiver(vec![]).await;
    drop(place);
    let agent = ScriptedAgent::new(vec![Step::Wait(Duration::from_millis(300)), Step::Do(done())]);
    let egress = forecourt_egress::EgressConfig {
        allow: vec!["127.0.0.0/8".parse().unwrap()],
        allow_http: true,
        ..Default::default()
    };
    let place = Setup { egress, ..Setup::default().with(card("bot"), agent) }.start().await;
    let path = begun(&place).await;
    let hook = json!({"url": receiver.url, "secret": "It's a Secret to Everybody"});
    let answer = register(&place, &path, hook).await.is(204);
    assert!(answer.body.is_empty());
    answer.has_required_fields("@bot@demo.localhost");
    let told = receiver.next().await;
    let signature = told.headers["x-hub-signature-256"].to_str().unwrap();
    assert!(forecourt_egress::signature::verify(b"It's a Secret to Everybody", &told.body, signature));
    let told: Value = serde_json::from_slice(&told.body).unwrap();
    assert_eq!(told, place.send(get(&path)).await.is(200).json());
    assert!(!told.to_string().contains("Secret"));
}

async fn working() -> (Place, String) {
    let place = Setup::default().with(card("bot"), ScriptedAgent::new(vec![Step::Hang])).start().await;
    let path = begun(&place).await;
    (place, path)
}

#[tokio::test]
async fn s5_5_urls_that_may_not_be_called_are_400() {
    let (place, path) = working().await;
    for (url, reason) in [
        ("http://a.example/", "its scheme is not https:"),
        ("https://127.0.0.1/", "into a private network"),
        ("https://10.0.0.1/", "into a private network"),
        ("https://169.254.169.254/", "into a private network"),
        ("https://[::1]/", "into a private network"),
        ("https://[fc00::1]/", "into a private network"),
        ("https://[fe80::1]/", "into a private network"),
        ("https://8.8.8.8:22/", "its port is not open"),
        ("https://demo.localhost/x", "on this host itself"),
        ("https://DEMO.localhost:8443/x", "on this host itself"),
        ("https://localhost/", "a private network"),
        ("https://user@8.8.8.8/", "it "),
        ("ftp://8.8.8.8/", "it "),
        ("/relative", "it "),
        ("", "it "),
    ] {
        let answer = register(&place, &path, json!({"url": url})).await.is(400);
        answer.has_required_fields("@echo@demo.localhost");
        let error = answer.json()["error"].as_str().unwrap().to_owned();
        assert!(error.starts_with("`url` can't be a webhook: ") && error.contains(reason), "{url}: {error}");
        assert!(answer.json()["hint"].is_string());
    }
    register(&place, &path, json!({"url": "https://8.8.8.8/"})).await.is(204);
}

#[tokio::test]
async fn s5_5_bodies_are_checked() {
    let (place, path) = working().await;
    for body in [json!([]), json!({}), json!({"url": 1}), json!({"url": "https://8.8.8.8/", "secret": "s".repeat(257)})]
    {
        register(&place, &path, body).await.is(400);
    }
    let post = |mime: &str| request(Method::POST, &format!("{path}/webhook")).header("content-type", mime.to_owned());
    place.send_with(post("text/plain"), "{}").await.is(415);
    place.send_with(post("application/json"), "{oops").await.is(400);
    let padded = |bytes: usize| {
        let hook = json!({"url": "https://8.8.8.8/"}).to_string();
        format!("{hook}{}", " ".repeat(bytes - hook.len()))
    };
    place.send_with(post("application/json"), padded(65_536)).await.is(204);
    place.send_with(post("application/json"), padded(65_537)).await.is(413);
}

#[tokio::test]
async fn hostile_json_is_400_or_read() {
    let Some(bytes) = forecourt_testkit::vectors("json-hostile/cases.json") else { return };
    let cases: Vec<Value> = serde_json::from_slice(&bytes).unwrap();
    let (place, path) = working().await;
    for text in cases.iter().filter_map(|case| case["json"].as_str()) {
        let post = request(Method::POST, &format!("{path}/webhook")).header("content-type", "application/json");
        let answer = place.send_with(post, text.to_owned()).await;
        assert!([400, 413].contains(&answer.status.as_u16()), "{text}");
    }
}

#[tokio::test]
async fn s5_5_a_task_takes_so_many_webhooks() {
    let (place, path) = working().await;
    for _ in 0..WEBHOOKS_PER_TASK_MAX {
        register(&place, &path, json!({"url": "https://8.8.8.8/"})).await.is(204);
    }
    register(&place, &path, json!({"url": "https://8.8.8.8/"})).await.is(400);
}

#[tokio::test]
async fn s5_5_an_unknown_task_is_404() {
    let place = echo().await;
    for id in ["A".repeat(43), "x".into()] {
        register(&place, &format!("/tasks/{id}"), json!({"url": "https://8.8.8.8/"})).await.is(404);
    }
}

#[tokio::test]
async fn a_task_at_its_end_takes_no_webhook() {
    let place = bot(vec![done()]).await;
    let path = begun(&place).await;
    settled(&place, &path).await;
    register(&place, &path, json!({"url": "https://8.8.8.8/"})).await.is(409);
}
