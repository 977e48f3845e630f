//! A connection of HTTP that is told to end: at once when it is idle, else after what it has begun.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use futures::task::{ArcWake, AtomicWaker, waker_ref};
use hyper_util::server::graceful::GracefulConnection;
use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep, sleep};
use tokio_util::sync::WaitForCancellationFutureOwned;

use crate::limits::{ARRIVING_MAX, FAREWELL_MAX, FIRST_BYTE_MAX};
use crate::wire::Traffic;

pin_project! {
    /// A connection that is told to finish once `stop` comes.
    pub(crate) struct Draining<C> {
        #[pin]
        connection: C,
        #[pin]
        stop: WaitForCancellationFutureOwned,
        signal: Arc<StopSignal>,
        traffic: Arc<Traffic>,
        is_http2: bool,
        phase: Phase,
    }
}

/// How far a connection is on its way out.
enum Phase {
    /// Nobody told it to end.
    Open,
    /// It was, and a request may be on its way: until that is here, or the time for it is over.
    Expecting(Pin<Box<Sleep>>),
    /// hyper ends it, after what it has: until then it is looked again and again whether anything goes on.
    Ending(Pin<Box<Sleep>>),
}

/// Says that `stop` is to be looked at: to look takes a lock that all connections share.
struct StopSignal {
    is_due: AtomicBool,
    connection: AtomicWaker,
}

impl ArcWake for StopSignal {
    fn wake_by_ref(signal: &Arc<Self>) {
        signal.is_due.store(true, Ordering::Release);
        signal.connection.wake();
    }
}

impl<C> Draining<C> {
    pub(crate) fn new(
        connection: C,
        stop: WaitForCancellationFutureOwned,
        traffic: Arc<Traffic>,
        is_http2: bool,
    ) -> Self {
        let signal = Arc::new(StopSignal { is_due: AtomicBool::new(true), connection: AtomicWaker::new() });
        Self { connection, stop, signal, traffic, is_http2, phase: Phase::Open }
    }
}

impl<C: GracefulConnection> Future for Draining<C> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        if matches!(this.phase, Phase::Open) && this.signal.is_due.load(Ordering::Acquire) {
            this.signal.is_due.store(false, Ordering::Release);
            // The task of a connection is the same at every poll.
            this.signal.connection.register(cx.waker());
            if this.stop.poll(&mut Context::from_waker(&waker_ref(this.signal))).is_ready() {
                this.traffic.close();
                let patience = if this.traffic.is_unheard() { FIRST_BYTE_MAX } else { ARRIVING_MAX };
                *this.phase = Phase::Expecting(Box::pin(sleep(patience)));
            }
        }
        // How a connection ended is its client's business. Before it is told to end: what has come is read first.
        if this.connection.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        if let Phase::Expecting(late) = this.phase {
            // hyper takes an idle connection for one that nothing is coming on, also in the middle of a head.
            if this.traffic.is_expecting() && late.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            *this.phase = Phase::Ending(Box::pin(sleep(FAREWELL_MAX)));
            this.traffic.say_farewell();
            this.connection.as_mut().graceful_shutdown();
            if this.connection.poll(cx).is_ready() {
                return Poll::Ready(());
            }
        }
        match this.phase {
            Phase::Ending(look) if *this.is_http2 => poll_farewell(cx, look, this.traffic),
            _ => Poll::Pending,
        }
    }
}

/// Ready when nothing went on from one look to the next: over HTTP/2 hyper waits for its client to take notice, and a
/// client that is gone takes none. One that did may have room for its answers later: hyper has what is left of them, and
/// ends the connection after it.
fn poll_farewell(cx: &mut Context<'_>, look: &mut Pin<Box<Sleep>>, traffic: &Traffic) -> Poll<()> {
    while look.as_mut().poll(cx).is_ready() {
        if !traffic.goes_on() {
            return Poll::Ready(());
        }
        look.as_mut().reset(Instant::now() + FAREWELL_MAX);
    }
    Poll::Pending
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::time::Duration;

    use bytes::Bytes;
    use http::{Request, Response};
    use http_body_util::{BodyExt, Full};
    use hyper::client::conn::http2::SendRequest;
    use hyper::service::service_fn;
    use hyper_util::rt::{TokioExecutor, TokioIo};
    use tokio::io::duplex;
    use tokio::task::JoinHandle;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::flood::{Follow, Frames};
    use crate::wire::{Patience, Wire};

    const LONG: Duration = Duration::from_secs(60);
    const ANSWER: &str = "an answer that is longer than the window of its client";

    /// A connection on which [`ANSWER`] is answered, with a client that takes so many bytes of it before it reads.
    async fn connection(window: u32, stop: &CancellationToken) -> (SendRequest<Full<Bytes>>, JoinHandle<()>) {
        let (client, server) = duplex(64 * 1024);
        let traffic = Arc::<Traffic>::default();
        let framing = Follow::Http2(Frames::new(Instant::now()));
        let patience = Patience { head: LONG, idle: LONG, stall: LONG };
        let wire = TokioIo::new(Wire::new(server, framing, Arc::clone(&traffic), patience, Arc::default()));
        let service =
            service_fn(async |_| Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(ANSWER.as_bytes())))));
        let http2 = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        let connection = http2.serve_connection(wire, service);
        let ended = tokio::spawn(Draining::new(connection, stop.clone().cancelled_owned(), traffic, true));
        let mut http2 = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
        http2.initial_stream_window_size(window);
        let (sender, connection) = http2.handshake(TokioIo::new(client)).await.expect("a connection");
        tokio::spawn(connection);
        (sender, ended)
    }

    async fn answer(sender: &mut SendRequest<Full<Bytes>>) -> hyper::body::Incoming {
        let request = Request::get("http://a.example/").body(Full::default()).expect("a request");
        sender.send_request(request).await.expect("an answer").into_body()
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_waits_for_room_is_whole_whenever_its_client_makes_it() {
        let stop = CancellationToken::new();
        let (mut sender, ended) = connection(16, &stop).await;
        let body = answer(&mut sender).await;
        stop.cancel();
        sleep(FAREWELL_MAX * 8).await;
        let body = body.collect().await.map(|body| body.to_bytes());
        assert_eq!(body.ok().as_deref(), Some(ANSWER.as_bytes()));
        let since = Instant::now();
        ended.await.expect("its end");
        assert_eq!(since.elapsed(), Duration::ZERO, "nothing is left");
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_whose_client_took_notice_ends_at_once_with_its_last_answer() {
        let stop = CancellationToken::new();
        let (mut sender, ended) = connection(1024, &stop).await;
        let body = answer(&mut sender).await;
        assert!(body.collect().await.is_ok());
        stop.cancel();
        let since = Instant::now();
        ended.await.expect("its end");
        assert_eq!(since.elapsed(), Duration::ZERO);
    }
}
