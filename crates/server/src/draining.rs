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
    /// hyper ends it, after what it has.
    Ending {
        /// When it is looked next whether anything is under way.
        look: Pin<Box<Sleep>>,
        /// Whether anything was at the last look.
        was_busy: bool,
    },
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
            *this.phase = Phase::Ending { look: Box::pin(sleep(FAREWELL_MAX)), was_busy: true };
            this.connection.as_mut().graceful_shutdown();
            if this.connection.poll(cx).is_ready() {
                return Poll::Ready(());
            }
        }
        match this.phase {
            Phase::Ending { look, was_busy } if *this.is_http2 => poll_farewell(cx, look, was_busy, this.traffic),
            _ => Poll::Pending,
        }
    }
}

/// Ready when nothing was under way from one look to the next: over HTTP/2 hyper waits for its client to take notice,
/// and a client that is gone takes none.
fn poll_farewell(cx: &mut Context<'_>, look: &mut Pin<Box<Sleep>>, was_busy: &mut bool, traffic: &Traffic) -> Poll<()> {
    while look.as_mut().poll(cx).is_ready() {
        let is_busy = traffic.is_busy();
        if !is_busy && !*was_busy {
            return Poll::Ready(());
        }
        *was_busy = is_busy;
        look.as_mut().reset(Instant::now() + FAREWELL_MAX);
    }
    Poll::Pending
}
