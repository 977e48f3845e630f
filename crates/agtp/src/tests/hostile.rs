//! Whatever is sent, each request has one answer, and nobody panics.

use forecourt_agtp_wire::message::Response;
use forecourt_testkit::dear;
use proptest::prelude::*;
use tokio::runtime::Builder;

use super::support::{Server, server};

/// The answers to bytes, until the server closes or has nothing more to say.
async fn answers(server: &Server, bytes: &[u8]) -> Vec<Response> {
    let mut client = server.connect();
    client.send(bytes).await;
    client.send(b"AGTP/1.0 QEURY /the-last\r\n\r\n").await;
    let mut all = Vec::new();
    while let Some(answer) = client.hear().await {
        let is_last = answer.start.code == 459 && String::from_utf8_lossy(&answer.body).contains("QEURY");
        all.push(answer);
        if is_last {
            break;
        }
    }
    all
}

/// Words that mean something to the server, and some that don't.
fn word() -> impl Strategy<Value = String> {
    let known =
        ["QUERY", "FETCH", "BOOK", "GET", "DISCOVER", "PROPOSE", "/", "/rooms/7", "/agents/chef", "/methods", "a:b"];
    prop_oneof![proptest::sample::select(known.to_vec()).prop_map(str::to_owned), "[!-~]{0,30}", "[ -~\\t]{0,10}"]
}

fn field() -> impl Strategy<Value = String> {
    let names = [
        "Agent-ID",
        "Authority-Scope",
        "Task-ID",
        "Idempotency-Key",
        "Authorization",
        "Content-Type",
        "Accept",
        "Owner-ID",
        "Target-Agent",
        "If-None-Match",
        "Delegation-Chain",
        "X",
    ];
    (proptest::sample::select(names.to_vec()), word()).prop_map(|(name, value)| format!("{name}: {value}\r\n"))
}

fn request() -> impl Strategy<Value = String> {
    let body = prop_oneof![
        Just(String::new()),
        Just("{}".to_owned()),
        "[ -~]{0,40}",
        "\\{\"(parameters|n|x)\": [ -~]{0,9}\\}"
    ];
    (word(), word(), "(\\?[!-~]{0,20})?", proptest::collection::vec(field(), 0..5), body).prop_map(
        |(method, target, query, fields, body)| {
            format!(
                "AGTP/1.0 {method} {target}{query}\r\n{}Content-Length: {}\r\n\r\n{body}",
                fields.concat(),
                body.len()
            )
        },
    )
}

proptest! {
    #![proptest_config(dear(48))]

    #[test]
    fn base_2_1_each_request_has_one_answer(requests in proptest::collection::vec(request(), 1..6)) {
        let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let answers = runtime.block_on(async {
            let server = server("[endpoints]\nscope_required = false").await;
            answers(&server, requests.concat().as_bytes()).await
        });
        prop_assert!(answers.len() <= requests.len() + 1, "{requests:?}");
        prop_assert!(answers.iter().all(|answer| answer.field("Server-ID").is_some()));
        // A fault of ours would be a 500.
        prop_assert!(answers.iter().all(|answer| answer.start.code != 500), "{requests:?}");
    }

    #[test]
    fn noise_is_answered_once_at_most(noise in proptest::collection::vec(any::<u8>(), 1..300)) {
        let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let answers = runtime.block_on(async { answers(&server("").await, &noise).await });
        prop_assert!(answers.len() <= 1);
        prop_assert!(answers.iter().all(|answer| matches!(answer.start.code, 400 | 408)));
    }
}
