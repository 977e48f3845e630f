//! The second place for the heads of the log, as the operator names it.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use forecourt_attribution::FileCopy;
use forecourt_attribution::copies::{HeadCopy, lines};
use forecourt_egress::{Egress, Purpose};
use futures::future::BoxFuture;
use http::{HeaderMap, HeaderValue, header};

use crate::settings::{AuditSettings, HeadCopyPlace};

/// What a head is, to whoever takes it: a compact JWS. RFC 7515 9.2.1.
const JOSE: &str = "application/jose";

/// An address that takes heads.
struct PostCopy {
    url: String,
    egress: Arc<Egress>,
}

/// The second place; `None`: the operator names none.
pub(super) fn copy(settings: &AuditSettings, egress: &Arc<Egress>) -> Option<Arc<dyn HeadCopy>> {
    Some(match settings.head_copy()? {
        HeadCopyPlace::File(path) => Arc::new(FileCopy::new(&path)),
        HeadCopyPlace::Url(url) => Arc::new(PostCopy { url, egress: Arc::clone(egress) }),
    })
}

impl HeadCopy for PostCopy {
    fn take(&self, heads: Vec<String>) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async move {
            let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(JOSE))]);
            let posted = self.egress.post(Purpose::Upstream, &self.url, headers, Bytes::from(lines(&heads))).await;
            let answer = posted.map_err(|error| error.to_string())?;
            match answer.is_success() {
                true => Ok(()),
                false => Err(format!("it answered {}", answer.status)),
            }
        })
    }

    /// What was posted is not read back: whoever took it holds the records against it.
    fn last(&self, _node: Option<&str>) -> io::Result<Option<String>> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use forecourt_attribution::{AttributionLog, LogOptions, RecordDraft, RecordSigner};
    use forecourt_core::SystemClock;
    use forecourt_egress::EgressConfig;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio::time::Instant;

    use super::*;

    fn post_to(listener: &TcpListener) -> PostCopy {
        let url = format!("http://{}/heads", listener.local_addr().unwrap());
        let egress = Egress::builder(EgressConfig::default()).build().expect("a way out");
        PostCopy { url, egress: Arc::new(egress) }
    }

    /// What came of two heads at an address that answers so, and what it was sent.
    async fn posted(answer: &str) -> (Result<(), String>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let copy = post_to(&listener);
        let serve = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let (mut sent, mut buffer) = (Vec::new(), [0; 1024]);
            while !sent.ends_with(b"two\n") {
                let count = stream.read(&mut buffer).await.unwrap();
                sent.extend_from_slice(&buffer[..count]);
            }
            stream.write_all(answer.as_bytes()).await.unwrap();
            String::from_utf8(sent).unwrap()
        };
        tokio::join!(copy.take(vec!["one".to_owned(), "two".to_owned()]), serve)
    }

    #[tokio::test]
    async fn heads_are_posted_a_line_each_and_taken_only_with_a_success() {
        let closing = "Content-Length: 0\r\nConnection: close\r\n\r\n";
        let (taken, sent) = posted(&format!("HTTP/1.1 204 No Content\r\n{closing}")).await;
        assert_eq!(taken, Ok(()));
        assert!(sent.starts_with("POST /heads ") && sent.ends_with("\r\n\r\none\ntwo\n"), "{sent}");
        assert!(sent.to_ascii_lowercase().contains("content-type: application/jose"), "{sent}");
        // Nobody is at the other address: to follow would fail in another way.
        for (status, more) in
            [("500 Internal Server Error", ""), ("307 Temporary Redirect", "Location: /elsewhere\r\n")]
        {
            let (taken, _) = posted(&format!("HTTP/1.1 {status}\r\n{more}{closing}")).await;
            assert!(taken.as_ref().is_err_and(|error| error.contains(&status[..3])), "{taken:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_that_never_answers_holds_no_stop_up() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let signer = Arc::new(RecordSigner::unsigned());
        let log = AttributionLog::open(folder.path(), LogOptions::default(), Arc::new(signer), Arc::new(SystemClock));
        let log = log.unwrap();
        log.copy_heads(Some(Arc::new(post_to(&listener))));
        log.record(RecordDraft::default()).await.unwrap();
        let begun = Instant::now();
        log.close().await.unwrap();
        assert!(begun.elapsed() < Duration::from_secs(12), "{:?}", begun.elapsed());
    }
}
