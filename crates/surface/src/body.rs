//! What a request body says it is, and reading it within its bounds, the same for every wire.

use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::poll;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http_body::Body;
use http_body_util::BodyExt;
use tokio::time::{Instant, timeout_at};

/// Bytes that are set aside at once for a body that announces its length; more only as it arrives.
const CAPACITY_FIRST_MAX: usize = 64 * 1024;

/// The one `Content-Type`; two are as good as none.
pub fn content_type(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(CONTENT_TYPE).iter();
    let first = all.next()?.to_str().ok();
    first.filter(|_| all.next().is_none())
}

/// Whether a body says that it is JSON of any kind. A form that a page of another site could post does
/// not.
pub fn is_json(headers: &HeaderMap) -> bool {
    let essence = content_type(headers).and_then(|text| text.split(';').next()).unwrap_or_default().trim();
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
pub async fn read_limited<B>(body: B, limits: &BodyLimits) -> Result<Bytes, BodyError>
where
    B: Body<Data = Bytes>,
{
    let too_large = BodyError::TooLarge { bytes_max: limits.bytes_max };
    let announced = body.size_hint().lower();
    if announced > limits.bytes_max as u64 {
        return Err(too_large);
    }
    let start = Instant::now();
    let mut body = pin!(body);
    let mut whole = Joined::new(announced);
    while !body.is_end_stream() {
        let mut next = pin!(body.frame());
        let next = match poll!(next.as_mut()) {
            // Most bodies came with their heads, and need no timer.
            Poll::Ready(next) => next,
            Poll::Pending => {
                let until = start + limits.patience(whole.len());
                timeout_at(until, next).await.map_err(|_| BodyError::TooSlow)?
            }
        };
        let Some(frame) = next else { break };
        let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else { continue };
        if data.len() > limits.bytes_max - whole.len() {
            return Err(too_large);
        }
        whole.push(data);
    }
    Ok(whole.into_bytes())
}

/// Pieces of a body, copied only when there is more than one.
enum Joined {
    Empty { announced: usize },
    One(Bytes, usize),
    Many(BytesMut),
}

impl Joined {
    fn new(announced: u64) -> Joined {
        Joined::Empty { announced: announced.min(CAPACITY_FIRST_MAX as u64) as usize }
    }

    fn len(&self) -> usize {
        match self {
            Joined::Empty { .. } => 0,
            Joined::One(piece, _) => piece.len(),
            Joined::Many(pieces) => pieces.len(),
        }
    }

    fn push(&mut self, piece: Bytes) {
        match self {
            Joined::Empty { announced } => *self = Joined::One(piece, *announced),
            Joined::One(first, announced) => {
                let mut pieces = BytesMut::with_capacity((*announced).max(first.len() + piece.len()));
                pieces.extend_from_slice(first);
                pieces.extend_from_slice(&piece);
                *self = Joined::Many(pieces);
            }
            Joined::Many(pieces) => pieces.extend_from_slice(&piece),
        }
    }

    fn into_bytes(self) -> Bytes {
        match self {
            Joined::Empty { .. } => Bytes::new(),
            Joined::One(piece, _) => piece,
            Joined::Many(pieces) => pieces.freeze(),
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
    fn dripping(count: usize, size: usize, every: Duration) -> impl Body<Data = Bytes, Error = Infallible> {
        StreamBody::new(stream::unfold(0, move |sent| async move {
            if sent == count {
                return None;
            }
            sleep(every).await;
            Some((Ok(Frame::data(Bytes::from(vec![b'x'; size]))), sent + 1))
        }))
    }

    async fn check(body: impl Body<Data = Bytes>, limits: &BodyLimits) -> Result<usize, BodyError> {
        read_limited(body, limits).await.map(|bytes| bytes.len())
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
        let read = read_limited(Full::new(piece.clone()), &SMALL).await;
        assert_eq!(read.map(|bytes| bytes.as_ptr()), Ok(piece.as_ptr()));
        assert_eq!(read_limited(http_body_util::Empty::new(), &SMALL).await, Ok(Bytes::new()));
    }
}
