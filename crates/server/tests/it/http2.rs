//! HTTP/2, by prior knowledge on a plain connection: the same rules, and what only it can abuse.

use bytes::Bytes;
use forecourt_server::HttpLimits;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Empty, Full};
use hyper::client::conn::http2::SendRequest;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinHandle;

use crate::support::{TestServer, plain};

type Client = (SendRequest<Full<Bytes>>, JoinHandle<hyper::Result<()>>);

async fn connect(server: &TestServer) -> Client {
    let io = TokioIo::new(server.connect().await);
    let (sender, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await.unwrap();
    (sender, tokio::spawn(connection))
}

fn get(path: &str) -> http::request::Builder {
    Request::get(format!("http://demo.localhost{path}"))
}

async fn send(client: &mut Client, request: http::request::Builder) -> hyper::Result<(StatusCode, String)> {
    let response = client.0.send_request(request.body(Full::default()).unwrap()).await?;
    let status = response.status();
    let body = response.into_body().collect().await?.to_bytes();
    Ok((status, String::from_utf8_lossy(&body).into_owned()))
}

#[tokio::test]
async fn requests_are_answered_and_kept_out_of_indexes() {
    let server = plain(HttpLimits::default()).await;
    let mut client = connect(&server).await;
    assert_eq!(send(&mut client, get("/e")).await.unwrap(), (StatusCode::OK, "served".into()));
    let response = client.0.send_request(get("/nothing").body(Full::default()).unwrap()).await.unwrap();
    assert_eq!(response.status(), 404);
    assert_eq!(response.headers()["x-robots-tag"], "noindex, nofollow, noarchive");
    let body = Request::post("http://demo.localhost/read").body(Full::from("12345")).unwrap();
    let read = client.0.send_request(body).await.unwrap().into_body().collect().await.unwrap();
    assert_eq!(read.to_bytes(), "read 5");
}

#[tokio::test]
async fn s1_host_and_authority_agree_and_are_served() {
    let server = plain(HttpLimits::default()).await;
    let mut client = connect(&server).await;
    let status = async |client: &mut Client, request| send(client, request).await.unwrap().0.as_u16();
    assert_eq!(status(&mut client, get("/e").header("host", "demo.localhost")).await, 200);
    assert_eq!(status(&mut client, get("/e").header("host", "evil.example")).await, 400);
    assert_eq!(status(&mut client, Request::get("http://evil.example/e")).await, 421);
    assert_eq!(status(&mut client, get("/e").method("TRACE")).await, 405);
    assert_eq!(status(&mut client, get("/e")).await, 200, "the connection goes on");
}

#[tokio::test]
async fn s0_fields_are_counted_and_measured() {
    let server = plain(HttpLimits::default()).await;
    let mut client = connect(&server).await;
    let fields = |count: usize| (0..count).fold(get("/e"), |request, n| request.header(format!("x-{n}"), "a"));
    assert_eq!(send(&mut client, fields(100)).await.unwrap().0, 200);
    assert_eq!(send(&mut client, fields(101)).await.unwrap().0, 431);
    let long = get("/e").header("x", "a".repeat(40 * 1024));
    assert!(send(&mut client, long).await.map_or(true, |(status, _)| status == 431));
}

/// What gRPC lives on: metadata in the head, messages as they come, the status in the trailers.
#[tokio::test]
async fn trailers_reach_the_client_after_the_body() {
    let server = plain(HttpLimits::default()).await;
    let mut client = connect(&server).await;
    let call = Request::post("http://demo.localhost/trailers").header("te", "trailers");
    let call = call.header("content-type", "application/grpc").header("grpc-timeout", "1S");
    let response = client.0.send_request(call.body(Full::from("\0\0\0\0\0")).unwrap()).await.unwrap();
    let body = response.into_body().collect().await.unwrap();
    assert_eq!(body.trailers().unwrap()["grpc-status"], "0");
    assert_eq!(body.to_bytes(), "one");
}

const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const CONTINUATION: u8 = 9;
const END_HEADERS: u8 = 4;

/// One frame, RFC 9113 section 4.1.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// GET http://demo.localhost/ from the static table. RFC 7541, appendix A.
fn request_block() -> Vec<u8> {
    [&[0x82, 0x84, 0x86, 0x41, 14], b"demo.localhost".as_slice()].concat()
}

/// The error code of the GOAWAY frame, once the server has closed.
async fn goaway(server: &TestServer, frames: impl Iterator<Item = Vec<u8>>) -> Option<u32> {
    let (mut read, mut write) = server.connect().await.into_split();
    let mut bytes = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".as_slice(), &frame(SETTINGS, 0, 0, &[])].concat();
    bytes.extend(frames.flatten());
    tokio::spawn(async move {
        // The server may close before all of it is written.
        let _ = write.write_all(&bytes).await;
        std::future::pending::<()>().await;
    });
    loop {
        let mut head = [0; 9];
        read.read_exact(&mut head).await.ok()?;
        let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
        read.read_exact(&mut payload).await.ok()?;
        if head[3] == GOAWAY {
            return Some(u32::from_be_bytes(payload[4..8].try_into().unwrap()));
        }
    }
}

const ENHANCE_YOUR_CALM: u32 = 11;

#[tokio::test]
async fn s1_rapid_resets_end_the_connection() {
    let server = plain(HttpLimits::default()).await;
    let resets = (0..1000).map(|n| {
        let stream = 2 * n + 1;
        [frame(HEADERS, END_HEADERS, stream, &request_block()), frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes())]
            .concat()
    });
    assert_eq!(goaway(&server, resets).await, Some(ENHANCE_YOUR_CALM));
}

const PRIORITY: u8 = 2;
const PING: u8 = 6;
const UNKNOWN: u8 = 0xbb;

/// Whether the server closes a connection on which so many frames come.
async fn is_cut_off(server: &TestServer, frame: &[u8], times: usize) -> bool {
    let (mut read, mut write) = server.connect().await.into_split();
    let start = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".as_slice(), &self::frame(SETTINGS, 0, 0, &[])].concat();
    write.write_all(&start).await.unwrap();
    let many = frame.repeat(times);
    let written = tokio::spawn(async move {
        let _ = write.write_all(&many).await;
        // A request at the end shows that the connection still works.
        let _ = write.write_all(&self::frame(HEADERS, END_HEADERS | 1, 1, &request_block())).await;
        write
    });
    let mut head = [0; 9];
    let closed = loop {
        if read.read_exact(&mut head).await.is_err() {
            break true;
        }
        let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
        if read.read_exact(&mut payload).await.is_err() || head[3] == GOAWAY {
            break true;
        }
        if head[3] == HEADERS {
            break false;
        }
    };
    drop(written);
    closed
}

#[tokio::test]
async fn s1_floods_of_frames_that_ask_for_nothing_end_the_connection() {
    let server = plain(HttpLimits::default()).await;
    let kinds = [
        ("ping", frame(PING, 0, 0, &[0; 8])),
        ("ping acknowledged", frame(PING, 1, 0, &[0; 8])),
        ("settings", frame(SETTINGS, 0, 0, &[])),
        ("priority", frame(PRIORITY, 0, 3, &[0, 0, 0, 1, 0])),
        ("unknown", frame(UNKNOWN, 0, 0, &[0; 8])),
    ];
    for (name, one) in kinds {
        assert!(!is_cut_off(&server, &one, 100).await, "a hundred of {name} are nothing");
        assert!(is_cut_off(&server, &one, 20_000).await, "{name}");
    }
    let mut client = connect(&server).await;
    assert_eq!(send(&mut client, get("/e")).await.unwrap().0, 200, "others are served");
}

#[tokio::test]
async fn s1_a_head_without_end_ends_the_connection() {
    let server = plain(HttpLimits::default()).await;
    let field = [&[0, 1, b'x', 0x7f, 0x81, 0x7e], vec![b'a'; 16_000].as_slice()].concat();
    let first = std::iter::once(frame(HEADERS, 0, 1, &request_block()));
    let more = (0..1000).map(|_| frame(CONTINUATION, 0, 1, &field));
    assert!(goaway(&server, first.chain(more)).await.is_some());
}

#[tokio::test]
async fn a_stream_in_flight_is_finished_when_the_server_stops() {
    let server = plain(HttpLimits::default()).await;
    let mut client = connect(&server).await;
    let answer = client.0.send_request(get("/wait").body(Full::default()).unwrap());
    server.waiting.notified().await;
    server.stop.cancel();
    server.release.notify_one();
    let body = answer.await.unwrap().into_body().collect().await.unwrap();
    assert_eq!(body.to_bytes(), "waited");
    server.done.await.unwrap();
}

#[tokio::test]
async fn s1_there_is_no_upgrade_from_http_1() {
    let server = plain(HttpLimits::default()).await;
    let io = TokioIo::new(server.connect().await);
    let (mut sender, connection) = hyper::client::conn::http1::handshake(io).await.unwrap();
    tokio::spawn(connection.with_upgrades());
    let request = Request::get("/e")
        .header("host", "demo.localhost")
        .header("connection", "Upgrade, HTTP2-Settings")
        .header("upgrade", "h2c")
        .header("http2-settings", "AAMAAABkAAQAAP__")
        .body(Empty::<Bytes>::new());
    assert_eq!(sender.send_request(request.unwrap()).await.unwrap().status(), 200);
}

#[tokio::test]
async fn an_idle_connection_is_told_to_go_away_at_once_and_one_at_work_after_its_answer() {
    let server = plain(HttpLimits::default()).await;
    let (mut idle, mut working) = (connect(&server).await, connect(&server).await);
    assert_eq!(send(&mut idle, get("/e")).await.unwrap().0, 200);
    let waiting = tokio::spawn(async move {
        let answer = send(&mut working, get("/wait")).await;
        (answer, working)
    });
    server.waiting.notified().await;
    server.stop.cancel();
    idle.1.await.unwrap().unwrap();
    server.release.notify_one();
    let (answer, working) = waiting.await.unwrap();
    assert_eq!(answer.unwrap(), (StatusCode::OK, "waited".into()));
    working.1.await.unwrap().unwrap();
    server.done.await.unwrap();
}

/// A client that is gone, for one, answers no ping: it must not hold up the end of the process.
#[tokio::test]
async fn a_connection_whose_client_takes_no_notice_is_told_to_go_away_and_closed() {
    let server = plain(HttpLimits::default()).await;
    let mut stream = server.connect().await;
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
    stream.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
    // Its settings: the connection is there.
    let mut head = [0; 9];
    stream.read_exact(&mut head).await.unwrap();
    server.stop.cancel();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
    let goaway = [0, 0, 8, GOAWAY];
    assert!(rest.windows(4).any(|bytes| bytes == goaway), "{rest:?}");
    server.done.await.unwrap();
}
