//! The body of an answer, cut at its size and at its deadline.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use futures::stream::BoxStream;
use futures::{Stream, StreamExt};
use tokio::time::{Instant, Sleep};

use crate::error::EgressError;
use crate::slots::Slot;

/// The bytes of an answer as they come. Ends with an error at its bound or its deadline; holds its
/// turn ([`crate::limits::AT_ONCE_MAX`]) until it is dropped.
pub struct BodyStream {
    chunks: Option<BoxStream<'static, reqwest::Result<Bytes>>>,
    left: usize,
    bytes_max: usize,
    deadline: Pin<Box<Sleep>>,
    _turn: Option<Turn>,
}

/// What a running exchange holds.
pub(crate) enum Turn {
    /// Of the guarded ones.
    Guarded { _slot: Slot },
    /// Of those to backends.
    Upstream { _permit: tokio::sync::OwnedSemaphorePermit },
}

impl BodyStream {
    pub(crate) fn new(response: reqwest::Response, bytes_max: usize, deadline: Instant, turn: Turn) -> Self {
        Self {
            chunks: Some(response.bytes_stream().boxed()),
            left: bytes_max,
            bytes_max,
            deadline: Box::pin(tokio::time::sleep_until(deadline)),
            _turn: Some(turn),
        }
    }

    /// All of the body. Fails when it is too large, too slow or breaks off.
    pub async fn collect(mut self) -> Result<Bytes, EgressError> {
        let mut bytes = BytesMut::new();
        while let Some(chunk) = self.next().await {
            bytes.extend_from_slice(&chunk?);
        }
        Ok(bytes.freeze())
    }

    fn judge(&mut self, chunk: Option<reqwest::Result<Bytes>>) -> Option<Result<Bytes, EgressError>> {
        match chunk? {
            Err(error) => Some(Err(EgressError::from_client(error))),
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
        let Some(chunks) = self.chunks.as_mut() else { return Poll::Ready(None) };
        let polled = chunks.poll_next_unpin(cx);
        // The deadline counts even for a server that always has one more byte.
        let late = self.deadline.as_mut().poll(cx).is_ready();
        let item = match polled {
            _ if late => Some(Err(EgressError::timed_out("the answer"))),
            Poll::Pending => return Poll::Pending,
            Poll::Ready(chunk) => self.judge(chunk),
        };
        if !matches!(item, Some(Ok(_))) {
            // Closes the connection and gives the turn back at once.
            self.chunks = None;
            self._turn = None;
        }
        Poll::Ready(item)
    }
}

impl std::fmt::Debug for BodyStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BodyStream").field("left", &self.left).finish_non_exhaustive()
    }
}
