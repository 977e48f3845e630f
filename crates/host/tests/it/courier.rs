//! Deliveries that are not posted: the same queue, retries and leases, carried by a protocol's own courier.

use std::sync::Arc;
use std::time::Duration;

use forecourt_core::Clock;
use forecourt_core::store::{Account, Delivery, Notification, Webhook};
use forecourt_host::{CarryOutcome, Courier, Host, Run};
use forecourt_testkit::ScriptedAgent;
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::{Mutex, mpsc};

use crate::support::{Setup, message};

/// Gives these outcomes in turn, and tells of each attempt: how many there were before, and whether of a task.
struct Scripted {
    outcomes: Mutex<Vec<CarryOutcome>>,
    told: mpsc::Sender<(u32, bool)>,
}

impl Courier for Scripted {
    fn carry<'a>(&'a self, delivery: &'a Delivery) -> BoxFuture<'a, CarryOutcome> {
        async move {
            self.told.send((delivery.attempts, delivery.task.is_some())).await.unwrap();
            self.outcomes.lock().await.pop().unwrap_or(CarryOutcome::Delivered)
        }
        .boxed()
    }
}

fn setup(mut outcomes: Vec<CarryOutcome>) -> (Setup, mpsc::Receiver<(u32, bool)>) {
    let (told, attempts) = mpsc::channel(16);
    outcomes.reverse();
    let courier: Arc<dyn Courier> = Arc::new(Scripted { outcomes: Mutex::new(outcomes), told });
    (Setup { courier: Some(courier), ..Setup::default() }, attempts)
}

fn webhook(retries: u32) -> Webhook {
    let (id, url) = ("w".to_owned(), "mailto:ann@example.com".to_owned());
    Webhook { id, protocol: "test".into(), url, secret: None, callback: false, retries, details: Default::default() }
}

#[tokio::test]
async fn a_settled_task_and_a_notice_are_carried_and_not_posted() {
    let (setup, mut attempts) = setup(Vec::new());
    let host = setup.host(ScriptedAgent::saying(["x"])).await;
    host.receive(message("work"), Run::in_background(Some(webhook(0)))).await.unwrap();
    assert_eq!(attempts.recv().await, Some((0, true)));
    let now = host.clock().now();
    let expires_at = now + Duration::from_secs(60);
    let notice = Notification { webhook: webhook(0), account: Account::HOST, due_at: now, expires_at };
    host.notify(notice).await.unwrap();
    assert_eq!(attempts.recv().await, Some((0, false)));
    assert!(attempts.try_recv().is_err());
}

#[tokio::test]
async fn what_is_never_taken_is_not_tried_again_and_what_waits_is_not_given_up() {
    let (setup, mut attempts) = setup(vec![CarryOutcome::Never, CarryOutcome::Wait(Duration::from_secs(30))]);
    let host = setup.host(ScriptedAgent::saying(["x"])).await;
    for _ in 0..2 {
        let now = host.clock().now();
        let expires_at = now + Duration::from_secs(600);
        let notice = Notification { webhook: webhook(9), account: Account::HOST, due_at: now, expires_at };
        host.notify(notice).await.unwrap();
        assert_eq!(attempts.recv().await, Some((0, false)));
    }
    // The first one is gone, and the second one is looked at again in its time.
    let at = |seconds| setup.clock.now() + Duration::from_secs(seconds);
    let claimed = |seconds| setup.store.claim_deliveries(at(seconds), at(seconds + 60), 9);
    tokio::task::yield_now().await;
    assert!(claimed(29).await.unwrap().is_empty());
    let due = claimed(31).await.unwrap();
    assert_eq!(due.len(), 1, "{due:?}");
}

#[tokio::test(start_paused = true)]
async fn waiting_is_no_attempt_however_often_and_ends_with_what_waits() {
    let wait = Duration::from_secs(30);
    let mut outcomes = vec![CarryOutcome::Wait(wait); 5];
    outcomes.push(CarryOutcome::Later);
    let (setup, mut attempts) = setup(outcomes);
    let host = setup.host(ScriptedAgent::saying(["x"])).await;
    let now = host.clock().now();
    // One further attempt, after the one that fails.
    let expires_at = now + Duration::from_secs(600);
    host.notify(Notification { webhook: webhook(1), account: Account::HOST, due_at: now, expires_at }).await.unwrap();
    for _ in 0..5 {
        assert_eq!(attempts.recv().await, Some((0, false)));
        waits().await;
        setup.clock.advance(wait);
    }
    assert_eq!(attempts.recv().await, Some((0, false)), "it failed");
    waits().await;
    setup.clock.advance(wait);
    assert_eq!(attempts.recv().await, Some((1, false)), "the other attempt");
}

/// Until what was carried waits again: nothing in it takes time.
async fn waits() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

/// Takes for ever where it is dead, and tells of each other attempt.
struct Divided(mpsc::Sender<String>);

impl Courier for Divided {
    fn carry<'a>(&'a self, delivery: &'a Delivery) -> BoxFuture<'a, CarryOutcome> {
        async move {
            if delivery.webhook.url.contains("dead") {
                return std::future::pending().await;
            }
            self.0.send(delivery.webhook.url.clone()).await.unwrap();
            CarryOutcome::Delivered
        }
        .boxed()
    }
}

/// Queues a post to this address, due now.
async fn notify(host: &Host, url: String) {
    let (webhook, now) = (Webhook { url, ..webhook(9) }, host.clock().now());
    let expires_at = now + Duration::from_secs(600);
    host.notify(Notification { webhook, account: Account::HOST, due_at: now, expires_at }).await.unwrap();
}

#[tokio::test]
async fn a_recipient_that_never_answers_keeps_nobody_else_waiting() {
    let (told, mut attempts) = mpsc::channel(16);
    let setup = Setup { courier: Some(Arc::new(Divided(told))), ..Setup::default() };
    let host = setup.host(ScriptedAgent::saying(["x"])).await;
    // More than may be under way at once, and due before the others.
    for number in 0..20 {
        notify(&host, format!("https://dead.example/{number}")).await;
    }
    for number in 0..3 {
        notify(&host, format!("https://live.example/{number}")).await;
        assert_eq!(attempts.recv().await, Some(format!("https://live.example/{number}")));
    }
}

#[tokio::test(start_paused = true)]
async fn a_recipient_with_more_than_may_wait_keeps_nobody_else_waiting_for_long() {
    let (told, mut attempts) = mpsc::channel(16);
    let setup = Setup { courier: Some(Arc::new(Divided(told))), ..Setup::default() };
    let host = setup.host(ScriptedAgent::saying(["x"])).await;
    for number in 0..200 {
        notify(&host, format!("https://dead.example/{number}")).await;
    }
    notify(&host, "https://live.example/".to_owned()).await;
    let since = tokio::time::Instant::now();
    assert_eq!(attempts.recv().await.as_deref(), Some("https://live.example/"));
    assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
}
