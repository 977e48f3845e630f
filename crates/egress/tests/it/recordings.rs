//! Recorded exchanges: kept without secrets, and given again without a network.

use std::sync::Arc;

use forecourt_egress::recordings::{RecordingMode, Recordings};
use forecourt_egress::{Egress, EgressConfig, Purpose, UpstreamRequest};
use futures::StreamExt;
use http::{HeaderName, HeaderValue};
use tempfile::TempDir;

use crate::support::{Act, Prepared, Server};

const STREAM: &str = "data: {\"n\":1}\n\ndata: {\"key\":\"sk-0123456789\"}\n\ndata: [DONE]\n\n";

fn answer(media_type: &str, body: &str) -> Vec<Act> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nSet-Cookie: id=1\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    vec![Act::text(head + body)]
}

fn client(folder: &TempDir, mode: RecordingMode) -> (Egress, Arc<Recordings>) {
    let recordings = Arc::new(Recordings::open(folder.path(), mode).unwrap());
    (Egress::builder(EgressConfig::default()).recordings(recordings.clone()).build().unwrap(), recordings)
}

fn asked(port: u16, body: &str) -> UpstreamRequest {
    let request = UpstreamRequest::post(format!("http://127.0.0.2:{port}/v1/chat?key=sk-in-the-url"), body.to_owned());
    let key = HeaderValue::from_static("Bearer sk-0123456789");
    request
        .header(http::header::AUTHORIZATION, key)
        .header(HeaderName::from_static("x-api-key"), HeaderValue::from_static("other-secret"))
}

async fn chunks(egress: &Egress, request: UpstreamRequest) -> Option<Vec<String>> {
    let answer = egress.send_upstream(request).await.ok()?;
    let all = answer.body.map(|chunk| String::from_utf8(chunk.unwrap().to_vec()).unwrap());
    Some(all.collect().await)
}

fn files(folder: &TempDir) -> Vec<String> {
    let paths = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

#[tokio::test]
async fn what_was_recorded_is_given_again_with_nobody_there_and_holds_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::plain(vec![answer("text/event-stream", STREAM)]).await;
    let (recording, kept) = client(&folder, RecordingMode::Record);
    let said = r#"{"messages": [{"content": "hi"}], "api_key": "in-the-body", "echo": "sk-0123456789"}"#;
    let live = chunks(&recording, asked(server.port(), said)).await.unwrap().concat();
    assert_eq!((live.as_str(), kept.recorded(), kept.problems()), (STREAM, 1, Vec::new()));
    // The second test of a run asks nobody.
    kept.begin();
    chunks(&recording, asked(server.port(), said)).await.unwrap();
    assert_eq!(server.seen().len(), 1);
    let text = files(&folder).concat();
    for secret in ["sk-0123456789", "sk-in-the-url", "other-secret", "in-the-body", "id=1", "Bearer"] {
        assert!(!text.contains(secret), "{secret} is in {text}");
    }

    let (replaying, kept) = client(&folder, RecordingMode::Replay);
    let replayed = chunks(&replaying, asked(server.port(), said)).await.unwrap();
    assert_eq!(replayed.len(), 3, "it streams: {replayed:?}");
    assert_eq!(replayed.concat(), STREAM.replace("sk-0123456789", "left out"));
    assert!(kept.missing().is_empty());
    assert!(chunks(&replaying, asked(server.port(), r#"{"messages": []}"#)).await.is_none());
    assert_eq!(kept.missing().len(), 1);
    assert!(
        kept.missing()[0].starts_with("POST http://127.0.0.2") && !kept.missing()[0].contains("sk-in"),
        "{:?}",
        kept.missing()
    );
    assert_eq!(server.seen().len(), 1, "nothing was sent");
}

#[tokio::test]
async fn two_files_with_answers_to_one_request_are_told_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::plain(vec![answer("application/json", "{}")]).await;
    let (recording, _) = client(&folder, RecordingMode::Record);
    chunks(&recording, asked(server.port(), "{}")).await.unwrap();
    let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let copy = folder.path().join(format!("copy-of-{}", file.file_name().unwrap().to_str().unwrap()));
    std::fs::copy(&file, &copy).unwrap();
    let why = Recordings::open(folder.path(), RecordingMode::Replay).unwrap_err();
    assert!(why.contains(&file.display().to_string()) && why.contains(&copy.display().to_string()), "{why}");
    // One that was moved is found by what it says.
    std::fs::remove_file(&file).unwrap();
    let (replaying, _) = client(&folder, RecordingMode::Replay);
    assert!(chunks(&replaying, asked(server.port(), "{}")).await.is_some());
}

#[tokio::test]
async fn the_answers_to_one_question_come_in_their_order_and_what_nobody_asks_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::plain(["1", "2", "3"].map(|text| answer("text/plain", text)).into()).await;
    let (recording, kept) = client(&folder, RecordingMode::Record);
    for (body, wanted) in [("a", "1"), ("a", "2"), ("b", "3")] {
        assert_eq!(chunks(&recording, asked(server.port(), body)).await.unwrap().concat(), wanted);
    }
    assert_eq!((files(&folder).len(), kept.recorded(), kept.prune()), (2, 2, 0));
    let (replaying, kept) = client(&folder, RecordingMode::Replay);
    for wanted in ["1", "2", "2"] {
        assert_eq!(chunks(&replaying, asked(server.port(), "a")).await.unwrap().concat(), wanted);
    }
    kept.begin();
    assert_eq!(chunks(&replaying, asked(server.port(), "a")).await.unwrap().concat(), "1");
    assert_eq!((kept.prune(), files(&folder).len()), (1, 1));
}

/// Whoever is told of something, or orders something, is left alone in each mode.
#[tokio::test]
async fn nobody_is_told_of_a_test() {
    for mode in [RecordingMode::Record, RecordingMode::Replay] {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::plain(vec![answer("text/plain", "")]).await;
        let recordings = Arc::new(Recordings::open(folder.path(), mode).unwrap());
        let resolver = Arc::new(Prepared::default().with_opened("hook.example"));
        let egress = server.builder(resolver).recordings(recordings.clone()).build().unwrap();
        for purpose in [Purpose::Webhook, Purpose::Callback, Purpose::Telemetry, Purpose::CertificateAuthority] {
            let url = format!("http://hook.example:{}/", server.port());
            assert!(egress.send(purpose, UpstreamRequest::post(url, "x")).await.is_err(), "{mode:?} {purpose:?}");
        }
        assert!(server.seen().is_empty() && recordings.missing().is_empty());
        assert_eq!(
            egress.connect(Purpose::Upstream, "127.0.0.2", server.port()).await.is_ok(),
            mode == RecordingMode::Record
        );
    }
}
