//! One connection: requests in, answers out in the same order, and a deadline for every wait.
//!
//! Base 1: connections are kept, requests may be sent before the answers to earlier ones have come,
//! and a connection on which the boundary between requests is lost is closed.

use std::future::Future;
use std::io::ErrorKind;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use bytes::BytesMut;
use forecourt_agtp_wire::codec::{AwaitedPart, Bounds, Decoder, HeadError, encode};
use forecourt_agtp_wire::limits::READ_BYTES;
use forecourt_agtp_wire::message::{Request, RequestLine, Response};
use futures::poll;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, Sleep, sleep_until, timeout, timeout_at};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::limits::{LINGER_BYTES_MAX, LINGER_TIME, WRITE_BATCH_BYTES};

/// The part that answers requests; a connection knows nothing of how.
pub(crate) trait Answer: Sync {
    /// Answers a request. The next one of the connection waits for it.
    fn answer(&self, request: Request) -> impl Future<Output = Response> + Send;

    /// Answers bytes that are no request, before the connection is closed.
    fn refuse(&self, refused: ConnectionError) -> impl Future<Output = Response> + Send;
}

/// The reason why a connection is closed before its client ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionError {
    /// The bytes are no request.
    Malformed(HeadError),
    /// The rest of a request did not come in time.
    Late,
    /// The client closed the connection in the middle of a request.
    Cut,
}

/// How long a client may take for each part.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// From the first byte of a head to its last, and until the first byte of all.
    pub head: Duration,
    /// From the end of a head to the end of its body.
    pub body: Duration,
    /// Between an answer and the next request. Base 1: 60 seconds at least.
    pub idle: Duration,
    /// For taking what is written.
    pub write: Duration,
}

/// Speaks on a connection until the client leaves, or is too slow, or says what is no request, or
/// `stop` comes between two requests.
pub(crate) async fn speak<S, A>(stream: S, answer: &A, bounds: Bounds, patience: Patience, stop: CancellationToken)
where
    S: AsyncRead + AsyncWrite + Unpin,
    A: Answer,
{
    let mut line = Line {
        stream,
        decoder: Decoder::new(bounds),
        read: BytesMut::new(),
        written: BytesMut::new(),
        patience,
        deadline: Box::pin(sleep_until(Instant::now() + patience.head)),
        stop: Box::pin(stop.cancelled_owned()),
    };
    // How it ended is the client's business.
    let _ended = line.run(answer).await;
}

struct Line<S> {
    stream: S,
    decoder: Decoder<RequestLine>,
    read: BytesMut,
    written: BytesMut,
    patience: Patience,
    /// Both are kept from one wait to the next: to put a deadline off costs much less than to make one.
    deadline: Pin<Box<Sleep>>,
    stop: Pin<Box<WaitForCancellationFutureOwned>>,
}

/// The connection has ended: closed by either side, or too slow to write to.
struct Over;

impl From<std::io::Error> for Over {
    fn from(_: std::io::Error) -> Self {
        Self
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Line<S> {
    async fn run<A: Answer>(&mut self, answer: &A) -> Result<(), Over> {
        let mut until = Instant::now() + self.patience.head;
        loop {
            match self.next(until).await? {
                Ok(request) => {
                    let response = self.answered(answer.answer(request)).await?;
                    encode(&response, &mut self.written);
                }
                Err(refused) => {
                    encode(&answer.refuse(refused).await, &mut self.written);
                    self.flush().await?;
                    return self.linger().await;
                }
            }
            // Answers to requests that are here already go out together.
            if self.read.is_empty() || self.written.len() >= WRITE_BATCH_BYTES {
                self.flush().await?;
            }
            until = Instant::now() + self.patience.idle;
        }
    }

    /// An answer. Those before it don't wait while it is made.
    async fn answered(&mut self, answering: impl Future<Output = Response>) -> Result<Response, Over> {
        tokio::pin!(answering);
        if self.written.is_empty() {
            return Ok(answering.await);
        }
        if let Poll::Ready(response) = poll!(&mut answering) {
            return Ok(response);
        }
        let (flushed, response) = tokio::join!(self.flush(), answering);
        flushed.map(|()| response)
    }

    /// The next request, if its first byte is there by `until`.
    async fn next(&mut self, until: Instant) -> Result<Result<Request, ConnectionError>, Over> {
        let (mut until, mut waited_for) = (until, AwaitedPart::Message);
        loop {
            match self.decoder.decode(&mut self.read) {
                Ok(Some(request)) => return Ok(Ok(request)),
                Ok(None) => {}
                Err(error) => return Ok(Err(ConnectionError::Malformed(error))),
            }
            let waiting = self.decoder.waits_for(&self.read);
            if waiting != waited_for {
                let patience = if waiting == AwaitedPart::Body { self.patience.body } else { self.patience.head };
                (until, waited_for) = (Instant::now() + patience, waiting);
            }
            if let Err(refused) = self.fill(until, waiting).await? {
                return Ok(Err(refused));
            }
        }
    }

    /// Reads some bytes, or says why there are none in the middle of a request.
    async fn fill(&mut self, until: Instant, waiting: AwaitedPart) -> Result<Result<(), ConnectionError>, Over> {
        self.flush().await?;
        self.read.reserve(READ_BYTES);
        let is_between = waiting == AwaitedPart::Message;
        loop {
            // Moved only where it would come too late, not with every request: when it comes too early, it is looked
            // again.
            if until < self.deadline.deadline() || self.deadline.is_elapsed() {
                self.deadline.as_mut().reset(until);
            }
            tokio::select! {
                // Bytes that are here are read before the deadline and the stop are looked at: what came in time is
                // answered.
                biased;
                read = self.stream.read_buf(&mut self.read) => return match read {
                    Ok(0) if !is_between => Ok(Err(ConnectionError::Cut)),
                    // TLS that ends without a word, which the client may still listen behind.
                    Err(error) if !is_between && error.kind() == ErrorKind::UnexpectedEof => {
                        Ok(Err(ConnectionError::Cut))
                    }
                    Ok(0) | Err(_) => Err(Over),
                    Ok(_) => Ok(Ok(())),
                },
                () = &mut self.deadline => match (Instant::now() < until, is_between) {
                    (true, _) => {}
                    (false, true) => return self.close().await,
                    (false, false) => return Ok(Err(ConnectionError::Late)),
                },
                // A request that has begun to arrive is still read and answered.
                () = &mut self.stop, if is_between => return self.close().await,
            }
        }
    }

    async fn flush(&mut self) -> Result<(), Over> {
        if self.written.is_empty() {
            return Ok(());
        }
        let write = async {
            self.stream.write_all_buf(&mut self.written).await?;
            self.stream.flush().await
        };
        tokio::pin!(write);
        // Most are over at once, and need no deadline.
        match poll!(&mut write) {
            Poll::Ready(written) => written?,
            Poll::Pending => timeout(self.patience.write, write).await.map_err(|_| Over)??,
        }
        // Neither buffer keeps the size of the largest message.
        self.written = BytesMut::new();
        Ok(())
    }

    async fn close<T>(&mut self) -> Result<T, Over> {
        timeout(self.patience.write, self.stream.shutdown()).await.map_err(|_| Over)??;
        Err(Over)
    }

    /// Reads a little of what the client still sends, since closing before would take the answer away
    /// from it again.
    async fn linger(&mut self) -> Result<(), Over> {
        let until = Instant::now() + LINGER_TIME;
        timeout_at(until, self.stream.shutdown()).await.map_err(|_| Over)??;
        let mut left = LINGER_BYTES_MAX;
        while left > 0 {
            self.read.clear();
            self.read.reserve(READ_BYTES);
            match timeout_at(until, self.stream.read_buf(&mut self.read)).await {
                Ok(Ok(read)) if read > 0 => left = left.saturating_sub(read),
                _ => return Ok(()),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
