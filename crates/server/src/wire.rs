//! One connection's bytes, with the deadlines that hyper does not keep.
//!
//! hyper's only timer covers a head and the idle time before it alike, and nothing bounds how long
//! an answer stays unread. Here a connection has a phase, and each phase has a time.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::flood::{Flood, Follow};
use crate::framing::Ambiguous;
use crate::limits::{ARRIVING_MAX, FIRST_BYTE_MAX};
use crate::metrics::{Arriving, Metrics};

/// What the bytes of a connection and its requests know of each other.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    in_flight: AtomicUsize,
    requests: AtomicU64,
    /// The number of the first request whose framing is refused; 0 while there is none.
    refused_from: AtomicU64,
    /// Whether a byte has come; since the farewell, once that is said.
    is_heard: AtomicBool,
    /// Whether bytes were written, or an answer handed over to be, since it was last asked.
    has_moved: AtomicBool,
    /// Whether the client does not take what is to be written.
    is_stalled: AtomicBool,
    /// Whether a head has begun and not ended.
    in_head: AtomicBool,
    /// Since when the connection is to end.
    closing: OnceLock<Instant>,
}

impl Traffic {
    /// A request begins: whether its framing is refused.
    pub(crate) fn begin(&self) -> bool {
        self.in_flight.fetch_add(1, Ordering::AcqRel);
        // The bytes are read ahead of the requests made from them, so a refusal names the request by its number.
        let number = self.requests.fetch_add(1, Ordering::AcqRel) + 1;
        let refused_from = self.refused_from.load(Ordering::Acquire);
        refused_from != 0 && number >= refused_from
    }

    /// A request's answer is handed over or dropped.
    pub(crate) fn end(&self) {
        self.has_moved.store(true, Ordering::Release);
        self.in_flight.fetch_sub(1, Ordering::AcqRel);
    }

    fn refuse(&self, Ambiguous(number): Ambiguous) {
        // The first one stands; those behind it are refused with it.
        let _ = self.refused_from.compare_exchange(0, number, Ordering::AcqRel, Ordering::Acquire);
    }

    /// The connection is to end, from now on: what is half sent has [`ARRIVING_MAX`] left.
    pub(crate) fn close(&self) {
        self.closing.get_or_init(Instant::now);
    }

    /// Whether nothing has come so far.
    pub(crate) fn is_unheard(&self) -> bool {
        !self.is_heard.load(Ordering::Acquire)
    }

    /// Whether a request may be on its way that nobody has been given.
    pub(crate) fn is_expecting(&self) -> bool {
        self.is_unheard() || self.in_head.load(Ordering::Acquire)
    }

    /// The client is told to go, now.
    pub(crate) fn say_farewell(&self) {
        self.is_heard.store(false, Ordering::Release);
    }

    /// Whether anything went on since this was last asked, or the client has heard the farewell.
    pub(crate) fn goes_on(&self) -> bool {
        let has_moved = self.has_moved.swap(false, Ordering::AcqRel);
        has_moved || self.is_busy() || self.is_stalled.load(Ordering::Acquire) || !self.is_unheard()
    }

    /// Whether a request is being answered.
    pub(crate) fn is_busy(&self) -> bool {
        self.in_flight.load(Ordering::Acquire) > 0
    }
}

/// How long each phase may last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub(crate) head: Duration,
    pub(crate) idle: Duration,
    pub(crate) stall: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing has arrived yet.
    Opening,
    /// A head has begun.
    Head,
    /// A body is being read. Lasts since the last byte of it.
    Body,
    /// A request is being answered.
    Busy,
    /// Between two requests.
    Idle,
}

/// A stream that ends with [`io::ErrorKind::TimedOut`] when a phase lasts too long.
#[derive(Debug)]
pub(crate) struct Wire<T> {
    stream: T,
    framing: Follow,
    metrics: Arc<Metrics>,
    /// While a request is half sent.
    arriving: Option<Arriving>,
    traffic: Arc<Traffic>,
    patience: Patience,
    phase: Phase,
    since: Instant,
    /// Since when the client has not taken what is to be written.
    stalled: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl<T> Wire<T> {
    pub(crate) fn new(
        stream: T,
        framing: Follow,
        traffic: Arc<Traffic>,
        patience: Patience,
        metrics: Arc<Metrics>,
    ) -> Wire<T> {
        let (phase, since) = (Phase::Opening, Instant::now());
        let (arriving, stalled, timer) = (None, None, None);
        Wire { stream, framing, metrics, arriving, traffic, patience, phase, since, stalled, timer }
    }

    fn phase_now(&self) -> Phase {
        if self.framing.in_head() {
            Phase::Head
        } else if self.framing.in_body() {
            Phase::Body
        } else if self.traffic.is_busy() {
            Phase::Busy
        } else if self.phase == Phase::Opening {
            Phase::Opening
        } else {
            Phase::Idle
        }
    }

    /// When the client has waited too long, as things are now.
    fn deadline(&mut self) -> Option<Instant> {
        let phase = self.phase_now();
        // A phase is noticed at the next poll, not when it begins; a late start only ever favours the client.
        if phase != self.phase {
            (self.phase, self.since) = (phase, Instant::now());
        }
        let phase_end = match phase {
            Phase::Opening | Phase::Head => Some(self.since + self.patience.head),
            Phase::Idle => Some(self.since + self.patience.idle),
            Phase::Body => Some(self.since + self.patience.stall),
            // An agent may take minutes; its own deadline bounds it, and the client is not to blame.
            Phase::Busy => None,
        };
        let closing = self.traffic.closing.get().and_then(|since| match phase {
            // Later than `Draining`, which ends a connection of HTTP/1 with a word.
            Phase::Opening => Some(*since + FIRST_BYTE_MAX * 2),
            Phase::Head | Phase::Body => Some(*since + ARRIVING_MAX),
            Phase::Busy | Phase::Idle => None,
        });
        let write_end = self.stalled.map(|since| since + self.patience.stall);
        phase_end.into_iter().chain(closing).chain(write_end).min()
    }

    /// Ready with [`io::ErrorKind::TimedOut`] when time is up. Else the task is woken at the deadline, or earlier to
    /// look again: the timer is only moved when it would fire too late, not on every request.
    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        loop {
            let now = Instant::now();
            let deadline = self.deadline();
            if deadline.is_some_and(|deadline| deadline <= now) {
                return Poll::Ready(io::ErrorKind::TimedOut.into());
            }
            // A busy connection may turn idle with nobody to wake it: look again later.
            let look_again = deadline.unwrap_or(now + self.patience.idle);
            let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(look_again)));
            if timer.is_elapsed() || look_again < timer.deadline() {
                timer.as_mut().reset(look_again);
            }
            ready!(timer.as_mut().poll(cx));
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Wire<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        match Pin::new(&mut self.stream).poll_read(cx, buffer) {
            Poll::Ready(Ok(())) => {
                match self.framing.feed(&buffer.filled()[before..]) {
                    Ok(None) => {}
                    Ok(Some(ambiguous)) => self.traffic.refuse(ambiguous),
                    Err(Flood) => {
                        self.metrics.connection_refused("flood");
                        return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
                    }
                }
                if buffer.filled().len() > before {
                    self.traffic.is_heard.store(true, Ordering::Release);
                }
                self.traffic.in_head.store(self.framing.in_head(), Ordering::Release);
                let half_sent = self.framing.in_head() || self.framing.in_body();
                if half_sent != self.arriving.is_some() {
                    self.arriving = half_sent.then(|| Arriving::new(&self.metrics));
                }
                match self.phase {
                    Phase::Opening => (self.phase, self.since) = (Phase::Idle, Instant::now()),
                    // Every byte starts the time anew, unlike in a head: an upload may be long, if it goes on.
                    Phase::Body => self.since = Instant::now(),
                    Phase::Head | Phase::Busy | Phase::Idle => {}
                }
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => self.poll_deadline(cx).map(Err),
        }
    }
}

impl<T: AsyncWrite + Unpin> Wire<T> {
    fn note_write<R>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<R>>) -> Poll<io::Result<R>> {
        if written.is_ready() {
            if self.stalled.take().is_some() {
                self.traffic.is_stalled.store(false, Ordering::Release);
            }
            return written;
        }
        if self.stalled.is_none() {
            self.stalled = Some(Instant::now());
            self.traffic.is_stalled.store(true, Ordering::Release);
        }
        self.poll_deadline(cx).map(Err)
    }

    /// As [`Wire::note_write`], of bytes: a flush is ready also where nothing was written.
    fn note_bytes(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if matches!(written, Poll::Ready(Ok(1..))) {
            self.traffic.has_moved.store(true, Ordering::Release);
        }
        self.note_write(cx, written)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Wire<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.note_bytes(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.note_bytes(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.note_write(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.note_write(cx, shut)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::*;
    use crate::framing::Framing;

    const PATIENCE: Patience =
        Patience { head: Duration::from_secs(10), idle: Duration::from_secs(60), stall: Duration::from_secs(30) };

    fn pair() -> (DuplexStream, Wire<DuplexStream>, Arc<Traffic>) {
        let (client, server) = duplex(64);
        let traffic = Arc::<Traffic>::default();
        let framing = Follow::Http1(Framing::http1());
        (client, Wire::new(server, framing, Arc::clone(&traffic), PATIENCE, Arc::default()), traffic)
    }

    /// Reads until the wire gives up, and how many seconds that took.
    async fn seconds_to_timeout(wire: &mut Wire<DuplexStream>) -> u64 {
        let start = Instant::now();
        let mut bytes = [0; 64];
        loop {
            match wire.read(&mut bytes).await {
                Ok(0) => panic!("ended"),
                Ok(_) => {}
                Err(error) => {
                    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
                    return start.elapsed().as_secs();
                }
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn s0_a_connection_that_says_nothing_is_closed_after_the_head_time() {
        let (_client, mut wire, _) = pair();
        assert_eq!(seconds_to_timeout(&mut wire).await, 10);
    }

    #[tokio::test(start_paused = true)]
    async fn s0_a_head_that_drips_is_closed_after_the_head_time() {
        let (mut client, mut wire, _) = pair();
        let drip = tokio::spawn(async move {
            let mut sent = 0_u32;
            while client.write_all(b"x").await.is_ok() {
                sent += 1;
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            sent
        });
        assert_eq!(seconds_to_timeout(&mut wire).await, 10);
        drop(wire);
        assert!(drip.await.is_ok_and(|sent| sent >= 10));
    }

    #[tokio::test(start_paused = true)]
    async fn s0_between_requests_the_idle_time_counts() {
        let (mut client, mut wire, _) = pair();
        client.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.expect("written");
        assert_eq!(seconds_to_timeout(&mut wire).await, 60);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_stops_coming_is_given_up_and_one_that_comes_is_not() {
        let (mut client, mut wire, _) = pair();
        tokio::spawn(async move {
            client.write_all(b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n").await.expect("written");
            for _ in 0..3 {
                tokio::time::sleep(Duration::from_secs(29)).await;
                client.write_all(b"x").await.expect("written");
            }
            std::future::pending::<()>().await;
        });
        assert_eq!(seconds_to_timeout(&mut wire).await, 3 * 29 + 30);
    }

    #[tokio::test(start_paused = true)]
    async fn a_busy_connection_is_not_idle_until_its_answer_ends() {
        let (mut client, mut wire, traffic) = pair();
        client.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.expect("written");
        assert!(!traffic.begin());
        let answer = Arc::clone(&traffic);
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(600)).await;
            answer.end();
        });
        let seconds = seconds_to_timeout(&mut wire).await;
        assert!((660..=720).contains(&seconds), "{seconds}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_read_is_cut_off() {
        let (_client, mut wire, traffic) = pair();
        traffic.begin();
        let start = Instant::now();
        let written = wire.write_all(&[b'x'; 100]).await;
        assert_eq!(written.map_err(|error| error.kind()), Err(io::ErrorKind::TimedOut));
        assert_eq!(start.elapsed().as_secs(), 30);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_slowly_is_served() {
        let (mut client, mut wire, traffic) = pair();
        traffic.begin();
        tokio::spawn(async move {
            let mut byte = [0; 64];
            loop {
                tokio::time::sleep(Duration::from_secs(20)).await;
                let _ = client.read(&mut byte).await;
            }
        });
        assert!(wire.write_all(&[b'x'; 1000]).await.is_ok());
    }

    #[test]
    fn the_refused_request_and_those_behind_it_are_refused() {
        let traffic = Traffic::default();
        traffic.refuse(Ambiguous(2));
        traffic.refuse(Ambiguous(3));
        assert_eq!([traffic.begin(), traffic.begin(), traffic.begin()], [false, true, true]);
    }
}
