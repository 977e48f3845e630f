//! This module reads request bodies within bounds of size, time and rate, for every protocol. It parses none of them.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http_body::Body as _;
use tokio::time::{Instant, Sleep, sleep_until};

/// Bytes that are allocated at once for a body that announces its length; more only as it arrives, so that announcing a
/// length costs a client as much as it costs us.
const CAPACITY_FIRST_MAX: usize = 64 * 1024;

/// The value of `Content-Type`; `None` where there are two, of which another reader could take the other one.
pub fn content_type(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(CONTENT_TYPE).iter();
    let first = all.next()?.to_str().ok();
    first.filter(|_| all.next().is_none())
}

/// Whether a body says that it is JSON of any kind. A form that a page of another site could post does
/// not.
pub fn is_json(headers: &HeaderMap) -> bool {
    // The essence alone: `text/plain; application/json` is a type that a form of another site may post without a
    // preflight.
    let essence = content_type(headers).and_then(|text| text.split(';').next()).unwrap_or_default().trim();
    // `get`: the field may hold any UTF-8, and an index inside a character would panic.
    let suffix = essence.len().checked_sub("+json".len()).and_then(|at| essence.get(at..));
    essence.eq_ignore_ascii_case("application/json")
        || suffix.is_some_and(|suffix| suffix.eq_ignore_ascii_case("+json"))
}

/// How much of a body is read, and how long the client may take to send it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyLimits {
    /// Bytes as they come over the wire, before any decoding. Mentionable REST 3.4.
    pub bytes_max: usize,
    /// From the first read to the last byte.
    pub time_max: Duration,
    /// Bytes a second, on average since the first read, once `rate_after` has passed.
    pub rate_min: u32,
    /// How long a client may be slower than `rate_min`.
    pub rate_after: Duration,
}

impl BodyLimits {
    /// The default limits with another size.
    pub const fn with_bytes_max(bytes_max: usize) -> BodyLimits {
        BodyLimits { bytes_max, time_max: Duration::from_secs(30), rate_min: 1024, rate_after: Duration::from_secs(5) }
    }

    /// When a client that has sent `received` bytes has become too slow, counted from the start:
    /// its average falls below `rate_min`, or the whole time is over.
    fn patience(&self, received: usize) -> Duration {
        // An average since the start: a burst buys time, and single bytes that trickle in hardly do.
        let at_rate_min = Duration::from_secs_f64(received as f64 / f64::from(self.rate_min.max(1)));
        at_rate_min.max(self.rate_after).min(self.time_max)
    }
}

impl Default for BodyLimits {
    fn default() -> BodyLimits {
        BodyLimits::with_bytes_max(1024 * 1024)
    }
}

/// Why a body was not read to its end. The connection is of no use afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// Longer than the limit, which is known from the head or by counting.
    #[error("the body is longer than {bytes_max} bytes")]
    TooLarge {
        /// The limit.
        bytes_max: usize,
    },
    /// It came too slowly or not at all.
    #[error("the body came too slowly")]
    TooSlow,
    /// The connection broke, or the chunks of the body were malformed.
    #[error("the body ended before its end")]
    Broken,
}

/// The whole body. Trailers are dropped. A body of exactly `bytes_max` bytes is read.
///
/// # Errors
/// [`BodyError::TooLarge`] before anything is read when the head announces it.
pub fn read_limited(body: Body, limits: &BodyLimits) -> ReadBody {
    // The lower bound is the `Content-Length`, or 0 for chunks, which are counted as they come.
    let announced = body.size_hint().lower();
    ReadBody {
        body,
        limits: *limits,
        announced,
        begun: Instant::now(),
        whole: JoinedBody::new(announced),
        deadline: None,
    }
}

/// The future of [`read_limited`].
#[derive(Debug)]
pub struct ReadBody {
    body: Body,
    limits: BodyLimits,
    announced: u64,
    begun: Instant,
    whole: JoinedBody,
    /// The moment at which the client is too slow. Made on the first wait: most bodies arrive with their heads.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl Future for ReadBody {
    type Output = Result<Bytes, BodyError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let bytes_max = this.limits.bytes_max;
        if this.announced > bytes_max as u64 {
            return Poll::Ready(Err(BodyError::TooLarge { bytes_max }));
        }
        loop {
            let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) else { return this.wait(cx) };
            let Some(frame) = frame else { return Poll::Ready(Ok(this.whole.take())) };
            // A frame that is not data holds trailers, which are dropped: nothing after the body may add fields to the
            // request.
            let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else { continue };
            // Subtracted, not added: the sum of two lengths could overflow. The difference can't, as `whole` never
            // exceeds the bound.
            if data.len() > bytes_max - this.whole.len() {
                return Poll::Ready(Err(BodyError::TooLarge { bytes_max }));
            }
            this.whole.push(data);
        }
    }
}

impl ReadBody {
    /// Waits for more, until the client has become too slow.
    fn wait(&mut self, cx: &mut Context<'_>) -> Poll<Result<Bytes, BodyError>> {
        let until = self.begun + self.limits.patience(self.whole.len());
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep_until(until)));
        if deadline.deadline() != until {
            deadline.as_mut().reset(until);
        }
        deadline.as_mut().poll(cx).map(|()| Err(BodyError::TooSlow))
    }
}

/// The pieces of a body. A single piece, which most bodies are, is handed on without a copy.
#[derive(Debug)]
enum JoinedBody {
    Empty { announced: usize },
    One(Bytes, usize),
    Many(BytesMut),
}

impl JoinedBody {
    fn new(announced: u64) -> JoinedBody {
        JoinedBody::Empty { announced: announced.min(CAPACITY_FIRST_MAX as u64) as usize }
    }

    fn len(&self) -> usize {
        match self {
            JoinedBody::Empty { .. } => 0,
            JoinedBody::One(piece, _) => piece.len(),
            JoinedBody::Many(pieces) => pieces.len(),
        }
    }

    fn push(&mut self, piece: Bytes) {
        match self {
            JoinedBody::Empty { announced } => *self = JoinedBody::One(piece, *announced),
            JoinedBody::One(first, announced) => {
                let mut pieces = BytesMut::with_capacity((*announced).max(first.len() + piece.len()));
                pieces.extend_from_slice(first);
                pieces.extend_from_slice(&piece);
                *self = JoinedBody::Many(pieces);
            }
            JoinedBody::Many(pieces) => pieces.extend_from_slice(&piece),
        }
    }

    fn take(&mut self) -> Bytes {
        match std::mem::replace(self, JoinedBody::Empty { announced: 0 }) {
            JoinedBody::Empty { .. } => Bytes::new(),
            JoinedBody::One(piece, _) => piece,
            JoinedBody::Many(pieces) => pieces.freeze(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures::stream;
    use http_body::Frame;
    use http_body_util::{Full, StreamBody};
    use tokio::time::sleep;

    use super::*;

    #[test]
    fn json_is_what_says_so_once() {
        let says = |values: &[&'static str]| {
            let pairs = values.iter().map(|value| (CONTENT_TYPE, http::HeaderValue::from_static(value)));
            is_json(&HeaderMap::from_iter(pairs))
        };
        for good in ["application/json", "Application/JSON; charset=utf-8", "application/a2a+json"] {
            assert!(says(&[good]), "{good}");
        }
        for bad in ["", "text/plain", "application/x-www-form-urlencoded", "text/plain; application/json", "json"] {
            assert!(!says(&[bad]), "{bad}");
        }
        assert!(!says(&[]) && !says(&["application/json", "application/json"]));
    }

    const SMALL: BodyLimits = BodyLimits::with_bytes_max(8);

    /// A body of `count` pieces of `size` bytes, one every `every`, with no announced length.
    fn dripping(
        count: usize,
        size: usize,
        every: Duration,
    ) -> impl http_body::Body<Data = Bytes, Error = Infallible> + Send + 'static {
        StreamBody::new(stream::unfold(0, move |sent| async move {
            if sent == count {
                return None;
            }
            sleep(every).await;
            Some((Ok(Frame::data(Bytes::from(vec![b'x'; size]))), sent + 1))
        }))
    }

    async fn check<B>(body: B, limits: &BodyLimits) -> Result<usize, BodyError>
    where
        B: http_body::Body<Data = Bytes, Error: Into<axum::BoxError>> + Send + 'static,
    {
        read_limited(Body::new(body), limits).await.map(|bytes| bytes.len())
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_of_the_limit_is_read_and_one_byte_more_is_not() {
        let too_large = Err(BodyError::TooLarge { bytes_max: 8 });
        assert_eq!(check(Full::new(Bytes::from_static(b"12345678")), &SMALL).await, Ok(8));
        assert_eq!(check(Full::new(Bytes::from_static(b"123456789")), &SMALL).await, too_large);
        assert_eq!(check(dripping(8, 1, Duration::ZERO), &SMALL).await, Ok(8));
        assert_eq!(check(dripping(9, 1, Duration::ZERO), &SMALL).await, too_large);
    }

    #[tokio::test(start_paused = true)]
    async fn an_announced_length_over_the_limit_is_refused_before_reading() {
        let before = Instant::now();
        let body = http_body_util::Limited::new(Full::new(Bytes::from_static(b"123456789")), 9);
        assert_eq!(check(body, &SMALL).await, Err(BodyError::TooLarge { bytes_max: 8 }));
        assert_eq!(before.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_never_comes_is_cut_at_the_first_check() {
        let before = Instant::now();
        assert_eq!(check(dripping(1, 1, Duration::from_secs(3600)), &SMALL).await, Err(BodyError::TooSlow));
        assert_eq!(before.elapsed().as_secs(), 5);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_body_is_cut_and_one_at_the_least_rate_is_read() {
        let limits = BodyLimits::default();
        assert_eq!(check(dripping(20, 1300, Duration::from_secs(1)), &limits).await, Ok(20 * 1300));
        assert_eq!(check(dripping(20, 1000, Duration::from_secs(1)), &limits).await, Err(BodyError::TooSlow));
    }

    #[tokio::test(start_paused = true)]
    async fn the_whole_time_is_bounded_at_any_rate() {
        let limits = BodyLimits::default();
        let before = Instant::now();
        assert_eq!(check(dripping(60, 10_000, Duration::from_secs(1)), &limits).await, Err(BodyError::TooSlow));
        assert_eq!(before.elapsed().as_secs(), 30);
    }

    #[tokio::test(start_paused = true)]
    async fn an_error_of_the_connection_is_a_broken_body() {
        let frames = [Ok(Frame::data(Bytes::from_static(b"1"))), Err(std::io::Error::other("reset"))];
        assert_eq!(check(StreamBody::new(stream::iter(frames)), &SMALL).await, Err(BodyError::Broken));
    }

    #[tokio::test(start_paused = true)]
    async fn one_piece_is_not_copied_and_an_empty_body_is_empty() {
        let piece = Bytes::from_static(b"1234");
        let read = read_limited(Body::new(Full::new(piece.clone())), &SMALL).await;
        assert_eq!(read.map(|bytes| bytes.as_ptr()), Ok(piece.as_ptr()));
        assert_eq!(read_limited(Body::empty(), &SMALL).await, Ok(Bytes::new()));
    }
}
