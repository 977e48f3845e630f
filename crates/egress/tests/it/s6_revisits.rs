//! Documents that are asked for again, and what their servers say to that.

use std::sync::Arc;

use forecourt_egress::limits::PAGE_BYTES_MAX;
use forecourt_egress::{EgressError, Purpose, RevisitOutcome, Validators};
use url::Url;

use crate::support::{Act, Prepared, Server};

fn says(status: &str, head: &str, body: &str) -> Vec<Act> {
    vec![Act::text(format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{head}\r\n{body}", body.len()))]
}

async fn revisit(server: &Server, known: &Validators, bytes_max: usize) -> Result<RevisitOutcome, EgressError> {
    let url = Url::parse(&format!("http://{}/page", server.address)).unwrap();
    server.client(Arc::new(Prepared::default())).revisit(Purpose::Crawl, &url, known, bytes_max).await
}

async fn first(status: &str, head: &str) -> RevisitOutcome {
    let server = Server::plain(vec![says(status, head, "")]).await;
    revisit(&server, &Validators::default(), PAGE_BYTES_MAX).await.unwrap()
}

#[tokio::test]
async fn every_status_says_what_became_of_a_document() {
    for status in ["200 OK", "206 Partial Content", "204 No Content"] {
        assert!(matches!(first(status, "").await, RevisitOutcome::Found(_)), "{status}");
    }
    for status in ["401 Unauthorized", "403 Forbidden", "404 Not Found", "410 Gone", "451 Withheld"] {
        let RevisitOutcome::Gone(why) = first(status, "").await else { panic!("{status}") };
        assert!(why.starts_with(&status[..3]), "{why}");
    }
    for status in ["408 Slow", "429 Slow", "500 Oh", "503 Oh", "999 What"] {
        let RevisitOutcome::Later(why, _) = first(status, "").await else { panic!("{status}") };
        assert!(why.starts_with(&status[..3]), "{why}");
    }
    assert!(matches!(first("304 Not Modified", "").await, RevisitOutcome::Unchanged));
}

#[tokio::test]
async fn where_it_moved_is_told_and_not_asked() {
    let server = Server::plain(vec![says("302 Found", "Location: ../other?x\r\n", "")]).await;
    let RevisitOutcome::Moved(to) = revisit(&server, &Validators::default(), PAGE_BYTES_MAX).await.unwrap() else {
        panic!("it moved")
    };
    assert_eq!((to.as_str(), server.seen().len()), (format!("http://{}/other?x", server.address).as_str(), 1));
    for head in ["", "Location: http://[\r\n", "Location: \u{e4}\r\n"] {
        assert!(matches!(first("301 Moved", head).await, RevisitOutcome::Gone(_)), "{head}");
    }
}

#[tokio::test]
async fn rfc9110_13_1_what_was_said_of_it_is_said_again() {
    let head = "ETag: W/\"a\"\r\nLast-Modified: Sun, 22 Nov 2026 05:00:00 GMT\r\nContent-Type: text/html\r\n";
    let server = Server::plain(vec![says("200 OK", head, "<p>"), says("304 Not Modified", "", "")]).await;
    let Ok(RevisitOutcome::Found(found)) = revisit(&server, &Validators::default(), PAGE_BYTES_MAX).await else {
        panic!("it is there")
    };
    assert_eq!((found.mime.as_str(), found.bytes.as_ref()), ("text/html", b"<p>".as_slice()));
    assert!(matches!(revisit(&server, &found.validators, PAGE_BYTES_MAX).await, Ok(RevisitOutcome::Unchanged)));
    let asked = server.seen().iter().map(|request| request.to_ascii_lowercase()).collect::<Vec<_>>();
    assert!(!asked[0].contains("if-"), "{}", asked[0]);
    assert!(asked[1].contains("if-none-match: w/\"a\"\r\n"), "{}", asked[1]);
    assert!(asked[1].contains("if-modified-since: sun, 22 nov 2026 05:00:00 gmt\r\n"), "{}", asked[1]);
    let hostile = Validators { etag: Some("\"a\"\r\nX: y".to_owned()), modified: None };
    let _ = revisit(&server, &hostile, PAGE_BYTES_MAX).await;
    assert!(!server.seen()[2].to_ascii_lowercase().contains("if-none-match"));
}

#[tokio::test]
async fn a_document_ends_at_the_bound_that_was_asked_for() {
    for (bytes, fits) in [(10, true), (11, false)] {
        let server = Server::plain(vec![says("200 OK", "", &"x".repeat(bytes))]).await;
        let found = revisit(&server, &Validators::default(), 10).await;
        let is_whole = matches!(&found, Ok(RevisitOutcome::Found(document)) if document.bytes.len() == bytes);
        assert_eq!(is_whole, fits, "{found:?}");
        assert!(fits || matches!(found, Err(EgressError::TooLarge { bytes_max: 10 })));
    }
}
