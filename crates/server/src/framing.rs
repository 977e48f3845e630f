//! A second pair of eyes on HTTP/1 framing, for what the parser forgives without a trace.
//!
//! hyper serves a request that has both `Content-Length` and `Transfer-Encoding` (it drops the
//! first, as RFC 9112 section 6.3 allows), or the same length twice, and accepts lines that end in
//! a bare LF. A front that reads these differently would disagree with us about where the next
//! request starts, so all are refused. This follows the bytes of a connection closely enough to see them; it never
//! changes a byte, and where it does not understand what it sees hyper refuses the request anyway.

/// Bytes of a line that are kept: enough for the two framing fields and their values.
const LINE_BYTES_KEPT: usize = 48;

/// Where in a message the connection is.
#[derive(Debug)]
pub(crate) struct Framing {
    state: State,
    line: Line,
    length: Option<u64>,
    chunked: bool,
    /// A bare LF or a second length was seen in this head.
    ambiguous: bool,
    heads: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before a request line; empty lines are skipped.
    Start,
    /// In a head.
    Head,
    Sized(u64),
    ChunkSize,
    /// In a chunk's data or the line end after it.
    Chunk(u64),
    Trailers,
    /// Not followed any more: not HTTP/1, or not understood.
    Opaque,
}

/// What a head did wrong: the number of the request on its connection, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ambiguous(pub(crate) u64);

impl Framing {
    /// Follows an HTTP/1 connection from its first byte.
    pub(crate) fn http1() -> Framing {
        Framing { state: State::Start, line: Line::default(), length: None, chunked: false, ambiguous: false, heads: 0 }
    }

    /// Whether a head has begun and not ended.
    pub(crate) fn in_head(&self) -> bool {
        self.state == State::Head || (self.state == State::Start && self.line.len > 0)
    }

    /// Whether more of a body is to come.
    pub(crate) fn in_body(&self) -> bool {
        matches!(self.state, State::Sized(_) | State::ChunkSize | State::Chunk(_) | State::Trailers)
    }

    /// Takes what arrived. Says so when a head ended that must be refused.
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) -> Option<Ambiguous> {
        let mut found = None;
        while !bytes.is_empty() && self.state != State::Opaque {
            bytes = match self.state {
                State::Sized(left) => self.skip(left, bytes, State::Sized, State::Start),
                State::Chunk(left) => self.skip(left, bytes, State::Chunk, State::ChunkSize),
                _ => match memchr::memchr(b'\n', bytes) {
                    Some(at) => {
                        found = found.or(self.line(&bytes[..=at]));
                        &bytes[at + 1..]
                    }
                    None => {
                        self.line.extend(bytes);
                        &[]
                    }
                },
            };
        }
        found
    }

    fn skip<'a>(&mut self, left: u64, bytes: &'a [u8], more: fn(u64) -> State, end: State) -> &'a [u8] {
        let here = left.min(bytes.len() as u64);
        self.state = if here == left { end } else { more(left - here) };
        &bytes[here as usize..]
    }

    /// Takes the end of a line, with its LF. Most lines arrive whole, and are not copied.
    fn line(&mut self, bytes: &[u8]) -> Option<Ambiguous> {
        if self.line.len == 0 {
            let body = &bytes[..bytes.len() - 1];
            let kept = &body[..body.len().min(LINE_BYTES_KEPT)];
            let text = kept.strip_suffix(b"\r").unwrap_or(kept);
            return self.end_of_line(text, matches!(body, b"" | b"\r"), body.ends_with(b"\r"));
        }
        self.line.extend(bytes);
        let line = std::mem::take(&mut self.line);
        self.end_of_line(line.text(), line.is_empty(), line.ends_in_crlf)
    }

    fn end_of_line(&mut self, text: &[u8], is_empty: bool, ends_in_crlf: bool) -> Option<Ambiguous> {
        match self.state {
            State::Start if is_empty => None,
            State::Start => {
                self.heads += 1;
                (self.length, self.chunked, self.ambiguous) = (None, false, !ends_in_crlf);
                self.state = State::Head;
                None
            }
            State::Head => {
                self.ambiguous |= !ends_in_crlf;
                if is_empty { self.end_of_head() } else { self.field(text) }
            }
            State::ChunkSize => {
                self.state = chunk(text);
                None
            }
            State::Trailers if is_empty => {
                self.state = State::Start;
                None
            }
            _ => None,
        }
    }

    fn field(&mut self, line: &[u8]) -> Option<Ambiguous> {
        if let Some(value) = value_of(line, b"content-length:") {
            // Twice is refused even with equal values, which hyper merges without a trace: RFC 9112 6.3 allows both.
            self.ambiguous |= self.length.is_some();
            let length = std::str::from_utf8(value).ok().and_then(|value| value.trim().parse().ok());
            // A length that is no number: hyper refuses the request, and nothing behind it is read as a new head.
            self.length = Some(length.unwrap_or(u64::MAX));
        } else if value_of(line, b"transfer-encoding:").is_some() {
            self.chunked = true;
        }
        None
    }

    fn end_of_head(&mut self) -> Option<Ambiguous> {
        self.state = match (self.chunked, self.length) {
            (true, _) => State::ChunkSize,
            (false, Some(0) | None) => State::Start,
            (false, Some(length)) => State::Sized(length),
        };
        let both = self.chunked && self.length.is_some();
        (both || self.ambiguous).then_some(Ambiguous(self.heads))
    }
}

/// The state after the size line of a chunk. RFC 9112 section 7.1.
fn chunk(line: &[u8]) -> State {
    let digits = line.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    let size = std::str::from_utf8(&line[..digits]).ok().and_then(|digits| u64::from_str_radix(digits, 16).ok());
    match size {
        Some(0) => State::Trailers,
        // The data and the CRLF behind it. A size that overflows is hyper's to refuse.
        Some(size) => size.checked_add(2).map_or(State::Opaque, State::Chunk),
        None => State::Opaque,
    }
}

/// The rest of `line` after `name`, which is in lower case with its colon.
fn value_of<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (start, value) = line.split_at_checked(name.len())?;
    start.eq_ignore_ascii_case(name).then_some(value)
}

/// The beginning of a line that may arrive in pieces.
#[derive(Debug)]
struct Line {
    kept: [u8; LINE_BYTES_KEPT],
    /// Bytes so far without the line end, kept or not; all that matters beyond the kept is how they end.
    len: usize,
    last_is_cr: bool,
    ends_in_crlf: bool,
}

impl Default for Line {
    fn default() -> Line {
        Line { kept: [0; LINE_BYTES_KEPT], len: 0, last_is_cr: false, ends_in_crlf: false }
    }
}

impl Line {
    fn extend(&mut self, bytes: &[u8]) {
        let (body, ended) = match bytes {
            [body @ .., b'\n'] => (body, true),
            body => (body, false),
        };
        let from = self.len.min(LINE_BYTES_KEPT);
        let here = body.len().min(LINE_BYTES_KEPT - from);
        self.kept[from..from + here].copy_from_slice(&body[..here]);
        self.len += body.len();
        self.last_is_cr = body.last().map_or(self.last_is_cr, |last| *last == b'\r');
        self.ends_in_crlf = ended && self.last_is_cr;
    }

    fn is_empty(&self) -> bool {
        self.len == usize::from(self.last_is_cr)
    }

    fn text(&self) -> &[u8] {
        let kept = &self.kept[..self.len.min(LINE_BYTES_KEPT)];
        kept.strip_suffix(b"\r").unwrap_or(kept)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The numbers of the refused requests, and whether the stream ended between two requests.
    fn follow(pieces: &[&[u8]]) -> (Vec<u64>, bool) {
        let mut framing = Framing::http1();
        let refused = pieces.iter().filter_map(|piece| framing.feed(piece)).map(|Ambiguous(number)| number).collect();
        (refused, framing.state == State::Start && !framing.in_head())
    }

    fn all(text: &str) -> (Vec<u64>, bool) {
        follow(&[text.as_bytes()])
    }

    const PLAIN: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    const SIZED: &str = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12\r\n5";
    const CHUNKED: &str =
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nT: v\r\n\r\n";
    const BOTH: &str = "POST / HTTP/1.1\r\ncontent-length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";

    #[test]
    fn s1_length_and_transfer_coding_together_are_refused_in_either_order() {
        assert_eq!(all(BOTH), (vec![1], true));
        assert_eq!(all("POST / HTTP/1.1\r\nTRANSFER-ENCODING:chunked\r\nContent-Length:3\r\n\r\n0\r\n\r\n").0, [1]);
    }

    #[test]
    fn s1_a_second_length_is_refused_even_if_it_is_the_same() {
        assert_eq!(all("POST / HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n"), (vec![1], true));
    }

    #[test]
    fn s1_bare_line_feeds_in_a_head_are_refused() {
        assert_eq!(all("GET / HTTP/1.1\nHost: a\n\n").0, [1]);
        assert_eq!(all("GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n").0, [1]);
        assert_eq!(all("GET / HTTP/1.1\r\nHost: a\r\n\n").0, [1]);
    }

    #[test]
    fn what_is_unambiguous_passes_and_the_next_request_is_found() {
        let pipelined = [PLAIN, SIZED, "\r\n", CHUNKED, PLAIN, BOTH].concat();
        assert_eq!(all(&pipelined), (vec![5], true));
    }

    #[test]
    fn a_body_that_looks_like_a_head_is_a_body() {
        let inner = BOTH.len();
        assert_eq!(all(&format!("POST / HTTP/1.1\r\nContent-Length: {inner}\r\n\r\n{BOTH}")), (vec![], true));
        assert_eq!(
            all(&format!("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{inner:x}\r\n{BOTH}\r\n0\r\n\r\n")),
            (vec![], true)
        );
    }

    #[test]
    fn a_field_of_any_length_is_followed() {
        let long = "x".repeat(LINE_BYTES_KEPT * 3);
        for name_bytes in [1, LINE_BYTES_KEPT - 2, LINE_BYTES_KEPT - 1, LINE_BYTES_KEPT] {
            let name = "n".repeat(name_bytes);
            assert_eq!(all(&format!("GET /{long} HTTP/1.1\r\n{name}: {long}\r\n\r\n")), (vec![], true));
        }
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(cuts in proptest::collection::vec(0_usize..400, 0..8)) {
            let text = [PLAIN, SIZED, CHUNKED, PLAIN, BOTH].concat().into_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
            prop_assert_eq!(follow(&pieces), (vec![5], true));
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            let _ = Framing::http1().feed(&bytes);
        }
    }
}
