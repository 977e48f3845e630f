//! What an HTTP/2 client may send that asks for nothing: pings, settings, priorities, resets.
//!
//! hyper answers each of them at once and counts few; a client that sends nothing else keeps a core
//! busy. This follows the frames of a connection (RFC 9113 section 4.1) by their heads alone and
//! counts those of such kinds against an allowance that refills with time.

use std::time::Duration;

use tokio::time::Instant;

use crate::framing::Ambiguous;
use crate::limits::{IDLE_FRAMES_MAX, IDLE_FRAMES_PER_SECOND};

/// Bytes before the first frame. RFC 9113 section 3.4.
const PREFACE_BYTES: u64 = 24;
/// Bytes of a frame's head.
const HEAD_BYTES: usize = 9;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
/// On DATA and HEADERS: nothing follows on this stream.
const END_STREAM: u8 = 1;

/// The frames of one connection.
#[derive(Debug)]
pub(crate) struct Frames {
    /// Bytes to pass over before the next head.
    skip: u64,
    head: [u8; HEAD_BYTES],
    have: usize,
    allowance: Allowance,
}

/// The client sent more of nothing than it may.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Flood;

impl Frames {
    /// Follows a connection from its first byte.
    pub(crate) fn new(now: Instant) -> Self {
        Self { skip: PREFACE_BYTES, head: [0; HEAD_BYTES], have: 0, allowance: Allowance::new(now) }
    }

    /// Takes what arrived at `now`.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], now: Instant) -> Result<(), Flood> {
        while !bytes.is_empty() {
            if self.skip > 0 {
                // Payloads are skipped unread; the nine bytes of a head may come in several reads.
                let here = self.skip.min(bytes.len() as u64);
                self.skip -= here;
                bytes = &bytes[here as usize..];
                continue;
            }
            let here = (HEAD_BYTES - self.have).min(bytes.len());
            self.head[self.have..self.have + here].copy_from_slice(&bytes[..here]);
            self.have += here;
            bytes = &bytes[here..];
            if self.have == HEAD_BYTES {
                self.have = 0;
                let [a, b, c, kind, flags, ..] = self.head;
                let length = u32::from_be_bytes([0, a, b, c]);
                self.skip = length.into();
                if asks_for_nothing(kind, flags, length) && !self.allowance.take(now) {
                    return Err(Flood);
                }
            }
        }
        Ok(())
    }
}

/// Whether a frame brings a request no further: all but HEADERS, DATA that holds something or ends its
/// stream, a CONTINUATION (hyper bounds the head that it belongs to), and room for answers, of which a
/// client that reads a lot gives much.
fn asks_for_nothing(kind: u8, flags: u8, length: u32) -> bool {
    match kind {
        HEADERS | CONTINUATION | WINDOW_UPDATE => false,
        // An empty DATA frame that ends nothing costs its sender nine bytes and hyper a wake-up (CVE-2019-9518).
        DATA => length == 0 && flags & END_STREAM == 0,
        _ => true,
    }
}

/// So many at once, and then so many a second.
#[derive(Debug)]
struct Allowance {
    left: f64,
    at: Instant,
}

impl Allowance {
    fn new(now: Instant) -> Self {
        Self { left: f64::from(IDLE_FRAMES_MAX), at: now }
    }

    fn take(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.at).max(Duration::ZERO).as_secs_f64();
        self.left = (self.left + passed * f64::from(IDLE_FRAMES_PER_SECOND)).min(f64::from(IDLE_FRAMES_MAX));
        self.at = now;
        self.left -= 1.0;
        self.left >= 0.0
    }
}

/// How the bytes of a connection are followed.
#[derive(Debug)]
pub(crate) enum Follow {
    /// HTTP/1: where requests begin and end.
    Http1(crate::framing::Framing),
    /// HTTP/2: what asks for nothing.
    Http2(Frames),
}

impl Follow {
    /// Takes what arrived. `Err`: the connection is cut off; `Some`: a request is refused.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<Option<Ambiguous>, Flood> {
        match self {
            Self::Http1(framing) => Ok(framing.feed(bytes)),
            Self::Http2(frames) => frames.feed(bytes, Instant::now()).map(|()| None),
        }
    }

    pub(crate) fn in_head(&self) -> bool {
        matches!(self, Self::Http1(framing) if framing.in_head())
    }

    pub(crate) fn in_body(&self) -> bool {
        matches!(self, Self::Http1(framing) if framing.in_body())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PING: u8 = 6;

    fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap_or_default().to_be_bytes();
        [&length[1..], &[kind, flags, 0, 0, 0, 0], payload].concat()
    }

    fn opened(now: Instant) -> Frames {
        let mut frames = Frames::new(now);
        assert_eq!(frames.feed(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", now), Ok(()));
        frames
    }

    #[test]
    fn as_many_as_are_allowed_and_one_more() {
        let now = Instant::now();
        for kind in [2, 3, 4, 5, PING, 7, 0xbb] {
            let mut frames = opened(now);
            let one = frame(kind, 0, &[0; 8]);
            for n in 0..IDLE_FRAMES_MAX {
                assert_eq!(frames.feed(&one, now), Ok(()), "{kind} {n}");
            }
            assert_eq!(frames.feed(&one, now), Err(Flood), "{kind}");
        }
    }

    #[test]
    fn the_allowance_comes_back_with_time() {
        let now = Instant::now();
        let mut frames = opened(now);
        let many = frame(PING, 0, &[0; 8]).repeat(IDLE_FRAMES_MAX as usize);
        assert_eq!(frames.feed(&many, now), Ok(()));
        let later = now + Duration::from_secs(1);
        let second = frame(PING, 0, &[0; 8]).repeat(IDLE_FRAMES_PER_SECOND as usize);
        assert_eq!(frames.feed(&second, later), Ok(()));
        assert_eq!(frames.feed(&second, later), Err(Flood));
    }

    #[test]
    fn requests_and_what_belongs_to_them_are_free() {
        let now = Instant::now();
        let mut frames = opened(now);
        for _ in 0..10 * IDLE_FRAMES_MAX {
            let all =
                [frame(HEADERS, 4, b"x"), frame(DATA, 0, b"xy"), frame(DATA, 1, b""), frame(WINDOW_UPDATE, 0, &[0; 4])];
            assert_eq!(frames.feed(&all.concat(), now), Ok(()));
        }
        let empty = frame(DATA, 0, b"").repeat(IDLE_FRAMES_MAX as usize + 1);
        assert_eq!(frames.feed(&empty, now), Err(Flood));
    }

    proptest! {
        /// However the bytes are cut up on the way, the same is seen.
        #[test]
        fn pieces_make_no_difference(bytes in proptest::collection::vec(any::<u8>(), 0..4_000), at in 1..64_usize) {
            let now = Instant::now();
            let (mut whole, mut pieces) = (opened(now), opened(now));
            let once = whole.feed(&bytes, now);
            let cut = bytes.chunks(at).try_for_each(|piece| pieces.feed(piece, now));
            prop_assert_eq!(once, cut);
        }
    }
}
