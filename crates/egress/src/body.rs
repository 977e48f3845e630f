//! The body of an answer, cut at its size and at its deadline.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use futures::{FutureExt, Stream, StreamExt};
use hyper::body::{Body, Incoming};
use tokio::time::{Instant, Sleep, timeout};

use crate::dial::ConnectionGuard;
use crate::error::{EgressError, error_chain};
use crate::limits::{RECEIPT_BYTES_MAX, RECEIPT_TIME_MAX};
use crate::recordings::Tape;
use crate::slots::Slot;

/// The bytes of an answer as they come. Ends with an error at its bound or its deadline; holds its
/// turn ([`crate::limits::AT_ONCE_MAX`]) until it is dropped.
pub struct BodyStream {
    /// What was read and put back.
    again: VecDeque<Result<Bytes, EgressError>>,
    body: Option<Incoming>,
    left: usize,
    bytes_max: usize,
    deadline: Pin<Box<Sleep>>,
    _turn: Option<Turn>,
    /// The connection, when it is this exchange's alone.
    _connection: Option<ConnectionGuard>,
    /// What it is recorded on.
    tape: Option<Box<Tape>>,
}

/// The permit that a running exchange holds; dropping it lets the next one begin.
pub(crate) enum Turn {
    /// A slot of [`Slots`](crate::slots::Slots), counted for the host too.
    Guarded { _slot: Slot },
    /// A permit of the one semaphore for operators' backends.
    Upstream { _permit: tokio::sync::OwnedSemaphorePermit },
}

impl BodyStream {
    pub(crate) fn new(
        body: Incoming,
        bytes_max: usize,
        deadline: Instant,
        turn: Turn,
        connection: Option<ConnectionGuard>,
    ) -> Self {
        Self {
            again: VecDeque::new(),
            body: Some(body),
            left: bytes_max,
            bytes_max,
            deadline: Box::pin(tokio::time::sleep_until(deadline)),
            _turn: Some(turn),
            _connection: connection,
            tape: None,
        }
    }

    /// The bytes of a recorded answer, as they came then.
    pub(crate) fn replayed(chunks: Vec<Bytes>) -> Self {
        Self {
            again: chunks.into_iter().map(Ok).collect(),
            body: None,
            left: 0,
            bytes_max: 0,
            deadline: Box::pin(tokio::time::sleep_until(Instant::now())),
            _turn: None,
            _connection: None,
            tape: None,
        }
    }

    /// The same, recorded while it is read.
    pub(crate) fn on_tape(self, tape: Tape) -> Self {
        Self { tape: Some(Box::new(tape)), ..self }
    }

    /// All of the body. Fails when it is too large, too slow or breaks off.
    pub fn collect(self) -> CollectBody {
        CollectBody { body: self, first: None, bytes: BytesMut::new() }
    }

    /// Puts back what was read from it, to be read again before anything else, in this order.
    pub fn put_back(&mut self, read: Result<Bytes, EgressError>) {
        self.again.push_back(read);
    }

    /// Lets the server end an answer whose rest nobody reads, so that its connection can serve another request. It has
    /// [`RECEIPT_TIME_MAX`] and [`RECEIPT_BYTES_MAX`].
    pub fn finish(mut self) {
        // What is recorded is what was read.
        self.tape.take().into_iter().for_each(|tape| tape.ended());
        // Most answers end with what was read.
        if matches!(self.next().now_or_never(), Some(None)) {
            return;
        }
        tokio::spawn(self.drained());
    }

    /// [`BodyStream::finish`], waited for.
    pub(crate) async fn drained(mut self) {
        let drained = async {
            let mut left = RECEIPT_BYTES_MAX;
            while let Some(Ok(chunk)) = self.next().await {
                match left.checked_sub(chunk.len()) {
                    Some(rest) => left = rest,
                    None => return,
                }
            }
        };
        let _ = timeout(RECEIPT_TIME_MAX, drained).await;
    }

    /// The next bytes of the body; trailers are passed over.
    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<hyper::Result<Bytes>>> {
        let Some(body) = self.body.as_mut() else { return Poll::Ready(None) };
        loop {
            match ready!(Pin::new(&mut *body).poll_frame(cx)) {
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        return Poll::Ready(Some(Ok(data)));
                    }
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
    }

    fn judge(&mut self, chunk: Option<hyper::Result<Bytes>>) -> Option<Result<Bytes, EgressError>> {
        match chunk? {
            Err(error) => Some(Err(EgressError::Failed(error_chain(&error)))),
            Ok(bytes) => match self.left.checked_sub(bytes.len()) {
                None => Some(Err(EgressError::TooLarge { bytes_max: self.bytes_max })),
                Some(left) => {
                    self.left = left;
                    Some(Ok(bytes))
                }
            },
        }
    }
}

impl Stream for BodyStream {
    type Item = Result<Bytes, EgressError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(read) = self.again.pop_front() {
            return Poll::Ready(Some(read));
        }
        if self.body.is_none() {
            return Poll::Ready(None);
        }
        let polled = self.poll_data(cx);
        // The deadline counts even for a server that always has one more byte.
        let late = self.deadline.as_mut().poll(cx).is_ready();
        // Past the deadline even a chunk that is there is an error: a body that trickles must not look whole.
        let item = match polled {
            _ if late => Some(Err(EgressError::timed_out("the answer"))),
            Poll::Pending => {
                self.tape.iter_mut().for_each(|tape| tape.awaited());
                return Poll::Pending;
            }
            Poll::Ready(chunk) => self.judge(chunk),
        };
        match (&item, self.tape.as_mut()) {
            (Some(Ok(bytes)), Some(tape)) => tape.take(bytes),
            (Some(Err(_)), Some(tape)) => tape.broke_off(),
            // Kept as soon as it is whole: whoever read it may hold on to the empty stream.
            (None, _) => self.tape.take().into_iter().for_each(|tape| tape.ended()),
            _ => {}
        }
        if !matches!(item, Some(Ok(_))) {
            // Closes the connection and gives the turn back at once.
            self.body = None;
            self._connection = None;
            self._turn = None;
        }
        Poll::Ready(item)
    }
}

/// [`BodyStream::collect`], under way.
pub struct CollectBody {
    body: BodyStream,
    /// All that came so far, as long as it came in one piece.
    first: Option<Bytes>,
    bytes: BytesMut,
}

impl Future for CollectBody {
    type Output = Result<Bytes, EgressError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        while let Some(chunk) = ready!(self.body.poll_next_unpin(cx)) {
            let chunk = chunk?;
            if self.first.is_none() && self.bytes.is_empty() {
                self.first = Some(chunk);
                continue;
            }
            if let Some(first) = self.first.take() {
                self.bytes.extend_from_slice(&first);
            }
            self.bytes.extend_from_slice(&chunk);
        }
        Poll::Ready(Ok(self.first.take().unwrap_or_else(|| std::mem::take(&mut self.bytes).freeze())))
    }
}

impl std::fmt::Debug for BodyStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BodyStream").field("left", &self.left).finish_non_exhaustive()
    }
}
