//! HTTP/1.1 framing over a raw socket: one reading, or a refusal and the end of the connection.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use forecourt_server::HttpLimits;
use serde_json::Value;

use crate::support::{plain, statuses};

/// Short enough for a test, long enough for a loaded machine.
fn limits() -> HttpLimits {
    let short = Duration::from_millis(300);
    HttpLimits {
        head_time: short,
        idle_time: short,
        stall_time: short,
        connections_per_address_max: 1000,
        ..HttpLimits::default()
    }
}

/// Whether what came back is what the case allows.
fn allowed(expect: &str, statuses: &[u16]) -> bool {
    let first = statuses.first().copied();
    let refused = matches!(first, None | Some(400 | 408 | 411..=417 | 421 | 431 | 500..=599));
    match expect {
        "reject" => refused,
        // The 1 MiB of a REST request and its media types are the surface's to refuse.
        "413" => true,
        "ok" | "ok-no-upgrade" => first == Some(200),
        "405-or-501" => matches!(first, Some(405 | 501)),
        "reject-or-404" => refused || first == Some(404),
        "reject-or-415" | "reject-or-417" => refused || first == Some(200),
        // ok-or-reject, reject-or-serve, reject-or-serve-one, reject-or-close, reject-or-ignore
        _ => refused || first == Some(200),
    }
}

#[tokio::test]
async fn s1_vectors_of_raw_requests() {
    let Some(bytes) = forecourt_testkit::vectors("http1-raw/cases.json") else { return };
    let server = plain(limits()).await;
    let host = server.address.to_string();
    let cases: Vec<Value> = serde_json::from_slice(&bytes).unwrap();
    let mut wrong = Vec::new();
    for case in &cases {
        let raw = replace(&STANDARD.decode(case["raw_b64"].as_str().unwrap()).unwrap(), b"HOST", host.as_bytes());
        let answer = server.exchange(raw).await;
        let found = statuses(&answer);
        let most = case["max_responses"].as_u64().unwrap_or(1) as usize;
        let expect = case["expect"].as_str().unwrap();
        if !allowed(expect, &found) || found.len() > most || answer.contains("SMUGGLED") || found.contains(&101) {
            wrong.push(format!("{}: expected {expect}, found {found:?}", case["id"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn replace(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut replaced = Vec::new();
    let mut rest = text;
    while let Some(at) = memchr::memmem::find(rest, from) {
        replaced.extend_from_slice(&rest[..at]);
        replaced.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    replaced.extend_from_slice(rest);
    replaced
}

const SMUGGLED: &str = "GET /smuggled HTTP/1.1\r\nHost: demo.localhost\r\n\r\n";

async fn refused_once(head: &str, body: &str) {
    let server = plain(limits()).await;
    let request = format!("POST /read HTTP/1.1\r\nHost: demo.localhost\r\n{head}\r\n\r\n{body}{SMUGGLED}");
    let answer = server.exchange(&request).await;
    assert_eq!(statuses(&answer), [400], "{request:?} gave {answer}");
}

#[tokio::test]
async fn s1_a_length_beside_a_transfer_coding_is_refused_and_the_connection_ends() {
    refused_once("Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n").await;
    refused_once("Transfer-Encoding: chunked\r\nContent-Length: 5", "0\r\n\r\n").await;
}

#[tokio::test]
async fn s1_other_ambiguities_are_refused_and_the_connection_ends() {
    for head in [
        "Content-Length: 0\r\nContent-Length: 5",
        "Content-Length: 0\r\nContent-Length: 0",
        "Content-Length: 0, 0",
        "Content-Length: +0",
        "Content-Length: -0",
        "Content-Length : 0",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: identity",
        "Transfer-Encoding:\u{b}chunked",
        "X: a\r\n Content-Length: 5",
        "X: a\nContent-Length: 0",
    ] {
        refused_once(head, "").await;
    }
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let server = plain(limits()).await;
    let one = "POST /read HTTP/1.1\r\nHost: demo.localhost\r\nContent-Length: 3\r\n\r\nabc";
    let two = "POST /read HTTP/1.1\r\nHost: demo.localhost\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n";
    let answer = server.exchange(format!("{one}{two}{one}")).await;
    assert_eq!(statuses(&answer), [200, 200, 200]);
    assert!(answer.find("read 3") < answer.find("read 4"), "{answer}");
}

#[tokio::test]
async fn a_refused_request_behind_a_good_one_ends_the_connection_in_its_turn() {
    let server = plain(limits()).await;
    let good = "POST /read HTTP/1.1\r\nHost: demo.localhost\r\nContent-Length: 3\r\n\r\nabc";
    let bad = "POST /read HTTP/1.1\r\nHost: demo.localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    let answer = server.exchange(format!("{good}{bad}{SMUGGLED}")).await;
    assert_eq!(statuses(&answer), [200, 400]);
}
