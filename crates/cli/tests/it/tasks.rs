//! Work that outlives its connection. Mentionable REST 5.4 to 5.6.

use std::process::{Command, Stdio};

use aws_lc_rs::hmac;
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::receiver::Receiver;
use crate::support::{Deployment, PATIENCE, Served, lines_of, within};
use crate::wire::Answer;

/// Begins what `user` asks of @gate in the background; gives the path of its task.
#[track_caller]
pub(crate) fn begun(served: &Served, user: &str) -> String {
    let answer = asked_with(served, user, "respond-async").with_status(202);
    assert_eq!(answer.body, b"", "{answer:?}");
    assert_eq!(answer.named("x-mentionable-agent"), "@gate@demo.localhost");
    answer.named("content-location")
}

#[track_caller]
fn asked_with(served: &Served, user: &str, preference: &str) -> Answer {
    served.curl("/~gate", &["-F", &format!("user={user}"), "-H", &format!("Prefer: {preference}")])
}

fn state(envelope: &Value) -> &str {
    envelope["status"]["state"].as_str().unwrap_or_default()
}

fn said(envelope: &Value) -> &str {
    envelope["status"]["message"]["parts"][0]["text"].as_str().unwrap_or_default()
}

/// The envelope of a task at its end.
#[track_caller]
pub(crate) fn settled(served: &Served, task: &str) -> Value {
    within("the task settles", || {
        let answer = served.curl(task, &[]);
        (answer.status != 202).then(|| answer.with_status(200).json())
    })
}

#[test]
fn s5_4_1_a_task_is_polled_until_it_is_done() {
    let served = Deployment::gatehouse().serve();
    let task = begun(&served, "slow");
    assert!(task.starts_with("/tasks/") && task.len() >= "/tasks/".len() + 22, "{task}");
    let working = served.curl(&task, &["-H", "Accept: application/json"]).with_status(202);
    assert_eq!(working.named("content-location"), task);
    assert_eq!(state(&working.json()), "working");
    let done = settled(&served, &task);
    assert_eq!((done["id"].as_str(), state(&done)), (task.strip_prefix("/tasks/"), "completed"));
    assert_eq!(said(&done), "This takes a while... Done.");
    assert_eq!(done["status"]["message"]["parts"][0]["kind"], "text");
    assert_eq!(done["status"]["message"]["role"], "agent");
}

#[test]
fn d7_13_failures_and_refusals_in_the_background_are_failed_tasks() {
    let served = Deployment::gatehouse().serve();
    let failed = settled(&served, &begun(&served, "fail"));
    assert_eq!((state(&failed), said(&failed)), ("failed", "Gate was asked to fail, and did."));
    let refused = settled(&served, &begun(&served, "pay"));
    assert_eq!((state(&refused), said(&refused)), ("failed", "Two coins."));
    assert_eq!(refused["status"]["message"]["parts"][1]["kind"], "payment_required");
}

#[test]
fn s5_4_1_an_unknown_task_is_not_found() {
    let served = Deployment::gatehouse().serve();
    let path = format!("/tasks/{}", "A".repeat(43));
    for path in [path.as_str(), "/tasks/x", "/tasks/..", "/tasks/x/artifacts/y"] {
        let answer = served.curl(path, &["--path-as-is"]).with_status(404);
        assert_eq!(answer.json()["error"], "task not found or expired", "{path}");
    }
    served.curl("/tasks/x/webhook", &["-H", "Content-Type: application/json", "-d", "{}"]).with_status(404);
}

#[test]
fn s5_4_a_callback_of_the_same_host_is_told() {
    let served = Deployment::gatehouse().open_to_loopback().serve();
    let receiver = Receiver::start();
    let preference = format!("respond-async; callback=\"{}\"", receiver.callback_url());
    let task = asked_with(&served, "tool", &preference).with_status(202).named("content-location");
    let post = receiver.post();
    assert_eq!((post.target.as_str(), post.field("content-type")), ("/told", Some("application/json")));
    assert_eq!(post.field("x-hub-signature-256"), None);
    assert_eq!(post.json(), settled(&served, &task));
    assert_eq!(state(&post.json()), "completed");
}

#[test]
fn s5_4_a_callback_to_elsewhere_is_passed_over_in_silence() {
    let receiver = Receiver::start();
    let open = Deployment::gatehouse().open_to_loopback().serve();
    let elsewhere = format!("respond-async; callback=\"{}\"", receiver.webhook_url());
    assert!(asked_with(&open, "tool", &elsewhere).with_status(200).text().contains("There are three."));
    let closed = Deployment::gatehouse().serve();
    let private = format!("respond-async; callback=\"{}\"", receiver.callback_url());
    assert!(asked_with(&closed, "tool", &private).with_status(200).text().contains("There are three."));
}

#[test]
fn s5_5_a_webhook_is_told_with_a_signature() {
    let served = Deployment::gatehouse().open_to_loopback().serve();
    let receiver = Receiver::start();
    let task = begun(&served, "slow");
    let wanted = serde_json::json!({"url": receiver.webhook_url(), "secret": "a secret of mine"}).to_string();
    let json = ["-H", "Content-Type: application/json", "-d", &wanted];
    let registered = served.curl(&format!("{task}/webhook"), &json).with_status(204);
    assert_eq!(registered.body, b"");
    let post = receiver.post();
    let key = hmac::Key::new(hmac::HMAC_SHA256, b"a secret of mine");
    let tag: String = hmac::sign(&key, &post.body).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(post.field("x-hub-signature-256"), Some(format!("sha256={tag}").as_str()));
    assert_eq!((post.target.as_str(), state(&post.json())), ("/hook", "completed"));
}

#[test]
fn s5_5_a_webhook_may_not_point_here_or_anywhere_private() {
    let served = Deployment::gatehouse().serve();
    let task = begun(&served, "slow");
    for url in [served.https_url("/~gate"), "https://127.0.0.1/x".into(), "http://example.com/".into(), "x".into()] {
        let wanted = serde_json::json!({"url": url}).to_string();
        let json = ["-H", "Content-Type: application/json", "-d", &wanted];
        served.curl(&format!("{task}/webhook"), &json).with_status(400);
    }
}

#[test]
fn s5_6_an_artifact_is_described_fetched_and_known_again() {
    let served = Deployment::gatehouse().serve();
    let done = settled(&served, &begun(&served, "file"));
    let part = &done["status"]["message"]["parts"][1];
    assert_eq!((&part["kind"], &part["mime"], &part["size"]), (&"file".into(), &"image/png".into(), &70.into()));
    let path = part["url"].as_str().unwrap();
    let about = served.curl(path, &["-H", "Accept: application/json"]).with_status(200);
    let wanted = serde_json::json!({"id": part["id"], "mime": "image/png", "size": 70, "url": path});
    assert_eq!(about.json(), wanted);
    let bytes = served.curl(path, &[]).with_status(200);
    assert_eq!((bytes.named("content-type").as_str(), bytes.body.len()), ("image/png", 70));
    assert!(bytes.body.starts_with(b"\x89PNG\r\n"), "{bytes:?}");
    assert!(bytes.named("cache-control").starts_with("public, max-age="), "{bytes:?}");
    assert_eq!(bytes.named("content-disposition"), "attachment; filename=\"pixel.png\"");
    let known = format!("If-None-Match: {}", bytes.named("etag"));
    let again = served.curl(path, &["-H", &known]).with_status(304);
    assert_eq!(again.body, b"");
}

#[test]
fn a_task_that_was_cut_off_by_kill_9_is_failed_and_its_webhook_told() {
    let served = Deployment::gatehouse().open_to_loopback().serve();
    let receiver = Receiver::start();
    let task = begun(&served, "slow");
    let wanted = serde_json::json!({"url": receiver.webhook_url()}).to_string();
    let json = ["-H", "Content-Type: application/json", "-d", &wanted];
    served.curl(&format!("{task}/webhook"), &json).with_status(204);
    let again = served.killed().serve();
    let failed = settled(&again, &task);
    assert_eq!((state(&failed), said(&failed)), ("failed", "The host stopped while this was running."));
    assert_eq!(receiver.post().json(), failed);
}

#[test]
fn a_task_that_was_done_survives_kill_9() {
    let served = Deployment::gatehouse().serve();
    let task = begun(&served, "file");
    let done = settled(&served, &task);
    let again = served.killed().serve();
    assert_eq!(again.curl(&task, &[]).with_status(200).json(), done);
    let artifact = done["status"]["message"]["parts"][1]["url"].as_str().unwrap();
    assert_eq!(again.curl(artifact, &[]).with_status(200).body.len(), 70);
}

#[test]
fn sigterm_lets_a_running_task_finish_and_its_callback_is_told() {
    let served = Deployment::gatehouse().open_to_loopback().serve();
    let receiver = Receiver::start();
    let preference = format!("respond-async; callback=\"{}\"", receiver.callback_url());
    let task = asked_with(&served, "slow", &preference).with_status(202).named("content-location");
    served.signal(Signal::SIGTERM);
    let (status, log, deployment) = served.ended();
    assert!(status.success() && log.contains("stopping"), "{status}: {log}");
    let again = deployment.serve();
    let done = again.curl(&task, &[]).with_status(200).json();
    assert_eq!((state(&done), said(&done)), ("completed", "This takes a while... Done."));
    assert_eq!(receiver.post().json(), done);
}

#[test]
fn sigterm_lets_a_running_stream_finish() {
    let served = Deployment::gatehouse().serve();
    let mut curl = Command::new("curl");
    curl.args(["-q", "-sSN", "--noproxy", "*", "-H", "Accept: text/event-stream", &served.url("/~gate?user=slow")]);
    let mut curl = curl.stdout(Stdio::piped()).spawn().unwrap();
    let lines = lines_of(curl.stdout.take().unwrap());
    assert_eq!(lines.recv_timeout(PATIENCE).as_deref(), Ok("data: This takes a while"));
    served.signal(Signal::SIGTERM);
    let rest: Vec<String> = lines.iter().collect();
    assert!(curl.wait().unwrap().success());
    assert_eq!(rest[rest.len() - 3..], ["event: end", "data: {}", ""], "{rest:?}");
    assert!(served.ended().0.success());
}
