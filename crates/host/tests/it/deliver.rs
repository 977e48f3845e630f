//! Telling others: through a real socket, once, and without holding anything up.

use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use std::time::Duration;

use forecourt_core::limits::TASK_TTL;
use forecourt_core::reply::Question;
use forecourt_core::store::{IfTaskEnded, TaskChange, Webhook, WebhookRegistration};
use forecourt_core::{Clock, Ending, Event, Task, TaskState};
use forecourt_egress::EgressConfig;
use forecourt_egress::WebhookPost;
use forecourt_host::{Run, TaskAccess};
use forecourt_testkit::store_suite::{completed, some_task};
use forecourt_testkit::{ScriptedAgent, Step};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::support::{Setup, message};

fn envelope(task: &Task, _: &Webhook) -> WebhookPost {
    let mut headers = HeaderMap::new();
    headers.insert("x-state", task.state.name().parse().unwrap());
    WebhookPost { headers, body: task.id.expose().to_owned().into() }
}

/// A receiver that hands on what it gets and answers `status`.
pub(crate) async fn receiver(status: StatusCode) -> (String, mpsc::Receiver<(HeaderMap, String)>) {
    let (sender, received) = mpsc::channel(16);
    let answer = move |headers: HeaderMap, body: String| async move {
        sender.send((headers, body)).await.unwrap();
        status
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, axum::Router::new().route("/hook", post(answer))).await });
    (url, received)
}

pub(crate) fn open_to_loopback() -> Setup {
    let egress = EgressConfig { allow: vec!["127.0.0.0/8".parse().unwrap()], allow_http: true, ..Default::default() };
    Setup { egress, envelope: Some(envelope), ..Setup::default() }
}

fn webhook(url: &str) -> Webhook {
    let (id, url, details) = ("w".to_owned(), url.to_owned(), Default::default());
    Webhook { id, protocol: "test".into(), url, secret: None, callback: true, retries: 0, details }
}

#[tokio::test]
async fn s5_4_a_settled_task_is_posted_to_its_callback_once() {
    let (url, mut received) = receiver(StatusCode::OK).await;
    let host = open_to_loopback().host(ScriptedAgent::saying(["x"])).await;
    let reply = host.receive(message("work"), Run::in_background(Some(webhook(&url)))).await.unwrap();
    let (headers, body) = received.recv().await.unwrap();
    assert_eq!(body, reply.task.clone().unwrap().expose());
    assert_eq!(headers["x-state"], "completed");
    assert_eq!(headers["mentionable-delivery"].len(), 43);
    assert_eq!(host.task(&reply.task.unwrap(), TaskAccess::ById).await.unwrap().state, TaskState::Completed);
    assert!(received.try_recv().is_err());
}

#[tokio::test]
async fn s5_4_a_receiver_that_fails_is_not_asked_again() {
    let (url, mut received) = receiver(StatusCode::INTERNAL_SERVER_ERROR).await;
    let (good, mut arrived) = receiver(StatusCode::OK).await;
    let host = open_to_loopback().host(ScriptedAgent::saying(["x"])).await;
    host.receive(message("work"), Run::in_background(Some(webhook(&url)))).await.unwrap();
    received.recv().await.unwrap();
    host.receive(message("work"), Run::in_background(Some(webhook(&good)))).await.unwrap();
    arrived.recv().await.unwrap();
    assert!(received.try_recv().is_err());
}

#[tokio::test]
async fn a_delivery_that_was_cut_off_is_made_by_the_next_run() {
    let (url, mut received) = receiver(StatusCode::OK).await;
    let mut setup = open_to_loopback();
    setup.envelope = None;
    let host = setup.host(ScriptedAgent::new(vec![Step::Hang])).await;
    let reply = host.receive(message("work"), Run::in_background(Some(webhook(&url)))).await.unwrap();
    setup.stop.cancel();
    setup.stop = CancellationToken::new();
    setup.envelope = Some(envelope);
    let _next = setup.host(ScriptedAgent::saying([])).await;
    let (headers, body) = received.recv().await.unwrap();
    assert_eq!((body.as_str(), &headers["x-state"]), (reply.task.unwrap().expose(), &"failed".parse().unwrap()));
}

#[tokio::test]
async fn a_post_that_was_begun_is_finished_before_the_host_has_stopped() {
    let (begun, mut beginning) = mpsc::channel::<()>(1);
    let (finish, finished) = tokio::sync::watch::channel(false);
    let answer = move || {
        let (begun, mut finished) = (begun.clone(), finished.clone());
        async move {
            begun.send(()).await.unwrap();
            finished.wait_for(|finished| *finished).await.unwrap();
            StatusCode::OK
        }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, axum::Router::new().route("/hook", post(answer))).await });
    let setup = open_to_loopback();
    let host = setup.host(ScriptedAgent::saying(["x"])).await;
    host.receive(message("work"), Run::in_background(Some(webhook(&url)))).await.unwrap();
    beginning.recv().await.unwrap();
    setup.stop.cancel();
    assert_eq!(futures::FutureExt::now_or_never(host.stopped()), None);
    finish.send(true).unwrap();
    host.stopped().await;
}

#[tokio::test]
async fn a_question_is_posted_and_so_is_the_end() {
    let question = Question { text: "Which?".to_owned(), questions: Vec::new() };
    let agent = ScriptedAgent::new(vec![Step::Do(Event::Ending(Ending::Question(question)))]);
    let (url, mut received) = receiver(StatusCode::OK).await;
    let host = open_to_loopback().host(agent).await;
    let begun = Run { webhook: Some(Box::new(webhook(&url))), ..Run::task_unless_message(Duration::ZERO) };
    let id = host.receive(message("work"), begun).await.unwrap().task.unwrap();
    assert_eq!(received.recv().await.unwrap().0["x-state"], "input_required");
    host.task(&id, TaskAccess::ById).await.unwrap().cancel().await.unwrap();
    assert_eq!(received.recv().await.unwrap().0["x-state"], "canceled");
}

#[tokio::test]
async fn a_post_that_a_crash_cut_short_is_made_again_at_the_next_start() {
    let (url, mut received) = receiver(StatusCode::OK).await;
    let setup = open_to_loopback();
    let task = Task { expires_at: setup.clock.now() + TASK_TTL, ..some_task() };
    setup.store.create_task(task.clone(), Vec::new()).await.unwrap();
    let patient = Webhook { retries: 1, ..webhook(&url) };
    assert_eq!(
        setup.store.add_webhook(&task.id, patient, 1, IfTaskEnded::Refuse).await.unwrap(),
        WebhookRegistration::Yes
    );
    assert!(setup.store.advance_task(&task.id, TaskChange { at: setup.clock.now(), ..completed() }).await.unwrap());
    // Somebody takes it, for a long time, and is gone.
    let far = setup.clock.now() + TASK_TTL;
    assert_eq!(setup.store.claim_deliveries(setup.clock.now(), far, 9).await.unwrap().len(), 1);
    let _next = setup.host(ScriptedAgent::saying([])).await;
    assert_eq!(received.recv().await.unwrap().1, task.id.expose());
}
