//! Backends that the operator named: their connections are kept, up to a bound.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use forecourt_egress::limits::UPSTREAM_IDLE_MAX;
use forecourt_egress::{Egress, EgressConfig, Purpose, UpstreamRequest};
use futures::StreamExt;
use futures::future::join_all;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Barrier, Semaphore};

/// Answers when so many requests are there at once.
struct Backend {
    answer: &'static str,
    all_are_here: Barrier,
    accepted: AtomicUsize,
    closed: Semaphore,
}

impl Backend {
    async fn start(at_once: usize, answer: &'static str) -> (Arc<Self>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let (all_are_here, closed) = (Barrier::new(at_once), Semaphore::new(0));
        let backend = Arc::new(Self { answer, all_are_here, accepted: AtomicUsize::new(0), closed });
        let shared = backend.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                shared.accepted.fetch_add(1, Ordering::SeqCst);
                let shared = shared.clone();
                tokio::spawn(async move { shared.serve(stream).await });
            }
        });
        (backend, url)
    }

    async fn serve(&self, mut stream: TcpStream) {
        let mut request = [0; 4096];
        // A request of these tests comes in one piece.
        while stream.read(&mut request).await.is_ok_and(|read| read > 0) {
            self.all_are_here.wait().await;
            stream.write_all(self.answer.as_bytes()).await.unwrap();
        }
        self.closed.add_permits(1);
    }
}

#[tokio::test]
async fn connections_to_a_backend_are_kept_up_to_the_bound() {
    let at_once = UPSTREAM_IDLE_MAX + 1;
    let (backend, url) = Backend::start(at_once, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi").await;
    let egress = Egress::builder(EgressConfig::default()).build().unwrap();
    let ask = || async { egress.fetch(Purpose::Upstream, UpstreamRequest::get(&url)).await.unwrap() };
    join_all((0..at_once).map(|_| ask())).await;
    // The one too many is closed when it comes back last; all others are kept by then.
    backend.closed.acquire().await.unwrap().forget();
    join_all((0..at_once).map(|_| ask())).await;
    assert_eq!(backend.accepted.load(Ordering::SeqCst), at_once + 1);
}

/// In two chunks, and its end.
const STREAMED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n4\r\n all\r\n0\r\n\r\n";

#[tokio::test]
async fn what_was_read_and_put_back_is_read_again_and_in_its_order() {
    let (_backend, url) = Backend::start(1, STREAMED).await;
    let egress = Egress::builder(EgressConfig::default()).build().unwrap();
    let mut answer = egress.send_upstream(UpstreamRequest::get(&url)).await.unwrap();
    let first = answer.body.next().await.unwrap().unwrap();
    answer.body.put_back(Ok(first.slice(..1)));
    answer.body.put_back(Ok(first.slice(1..)));
    assert_eq!(answer.body.collect().await.unwrap(), "hi all");
}

#[tokio::test]
async fn an_answer_that_is_let_end_leaves_its_connection_to_the_next() {
    let (backend, url) = Backend::start(1, STREAMED).await;
    let egress = Egress::builder(EgressConfig::default()).build().unwrap();
    for _ in 0..3 {
        let mut answer = egress.send_upstream(UpstreamRequest::get(&url)).await.unwrap();
        assert_eq!(answer.body.next().await.unwrap().unwrap(), "hi");
        answer.body.finish();
        // The rest is there already: the task that reads it needs a turn or two.
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(backend.accepted.load(Ordering::SeqCst), 1);
}
