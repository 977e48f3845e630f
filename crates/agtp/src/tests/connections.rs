//! Many requests on one connection, and many connections. Base 1.

use futures::future::join_all;

use super::support::{body, code, server};

#[tokio::test(start_paused = true)]
async fn base_1_pipelined_requests_are_answered_in_order() {
    let server = server("").await;
    let mut client = server.connect();
    let mut all = String::new();
    for n in 0..200 {
        all.push_str(&format!("AGTP/1.0 FETCH /nowhere/{n}\r\nTask-ID: {n}\r\n\r\n"));
    }
    client.send(all.as_bytes()).await;
    for n in 0..200 {
        let answer = client.hear().await.unwrap();
        assert_eq!((answer.start.code, answer.field("Task-ID")), (404, Some(n.to_string().as_str())));
        assert_eq!(body(&answer)["error"]["path"], format!("/nowhere/{n}"));
    }
}

#[tokio::test(start_paused = true)]
async fn base_2_5_the_first_answer_of_a_connection_names_the_methods() {
    let server = server("[endpoints.methods]\ndisallow = [\"PURCHASE\"]").await;
    let mut client = server.connect();
    for is_first in [true, false, false] {
        client.say("FETCH /nowhere", "").await;
        let answer = client.hear().await.unwrap();
        let methods = answer.field("Supported-Methods").map(str::to_owned);
        assert_eq!(methods.is_some(), is_first);
        if let Some(methods) = methods {
            assert!(
                methods.contains("QUERY, ") && methods.contains("BOOK") && methods.contains("PROPOSE"),
                "{methods}"
            );
            assert!(!methods.contains("PURCHASE"), "the policy keeps it out: {methods}");
        }
    }
    let mut other = server.connect();
    other.send(b"nonsense\r\n\r\n").await;
    assert!(other.hear().await.unwrap().field("Supported-Methods").is_some());
}

#[tokio::test(start_paused = true)]
async fn security_0_a_stalled_client_keeps_nobody_waiting() {
    let server = server("").await;
    let mut stalled: Vec<_> = (0..20).map(|_| server.connect()).collect();
    for client in &mut stalled {
        client.send(b"AGTP/1.0 QUERY /\r\nContent-Length: 10\r\n\r\n{").await;
    }
    let asked = (0..50).map(|_| server.ask("FETCH /nowhere", ""));
    assert!(join_all(asked).await.iter().all(|answer| answer.start.code == 404));
    for client in &mut stalled {
        let late = client.hear().await.unwrap();
        assert_eq!(code(&late), (408, "request-timeout".to_owned()));
        assert!(client.hear().await.is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_closes_connections_between_requests() {
    let server = server("").await;
    let mut client = server.connect();
    client.say("FETCH /nowhere", "").await;
    assert_eq!(client.hear().await.unwrap().start.code, 404);
    server.stop.cancel();
    assert!(client.hear().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn base_2_1_limits_are_settings() {
    let server =
        server("[limits]\nstart_line_bytes_max = 64\nfields_bytes_max = 200\nbody_bytes_max = 10\nidle_seconds = 5")
            .await;
    let long = format!("FETCH /{}", "a".repeat(100));
    let fields = format!("FETCH /x\r\nX: {}", "a".repeat(300));
    for (head, sent, wanted) in [
        (long.as_str(), "", "request-line-too-long"),
        (fields.as_str(), "", "headers-too-large"),
        ("FETCH /x", "{\"a\": 1234567}", "body-too-large"),
    ] {
        let answer = server.ask(head, sent).await;
        assert_eq!(code(&answer), (400, wanted.to_owned()), "{head}");
    }
    let begun = tokio::time::Instant::now();
    let mut client = server.connect();
    client.say("FETCH /nowhere", "").await;
    client.hear().await.unwrap();
    assert!(client.hear().await.is_none());
    assert_eq!(begun.elapsed().as_secs(), 5);
}

#[tokio::test]
async fn an_idle_connection_is_small() {
    let server = server("").await;
    let (stream, _other) = tokio::io::duplex(16);
    let line = crate::service::ConnectionInfo::new(super::support::LOCAL, None);
    let serving = crate::answer::serve(
        std::sync::Arc::clone(&server.service),
        stream,
        line,
        server.requests(),
        server.stop.clone(),
    );
    let bytes = std::mem::size_of_val(&serving);
    assert!(bytes <= 4 * 1024, "{bytes} bytes wait for a request");
}
