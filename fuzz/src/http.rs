//! HTTP as a client reads that takes nothing on trust: what does not hold is a find.

/// Fields of a head.
const FIELDS_MAX: usize = 200;
/// Bytes of a frame of HTTP/2 behind its head, unless its receiver takes more. RFC 9113 4.2.
const FRAME_BYTES_MAX: usize = 16_384;

/// An answer of HTTP/1.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The fields: names in lower case.
    pub fields: Vec<(String, String)>,
    /// The body, without its framing.
    pub body: Vec<u8>,
}

impl Answer {
    fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }
}

/// The answers on a connection. The last one may lack its end unless the connection `is_whole`; where a HEAD was asked,
/// any may lack its body.
pub fn answers(mut rest: &[u8], is_whole: bool, has_head: bool) -> Vec<Answer> {
    let mut all = Vec::new();
    while !rest.is_empty() {
        let Some((answer, behind)) = answer(rest, has_head) else {
            assert!(!is_whole, "an answer is cut off: {}", String::from_utf8_lossy(rest));
            break;
        };
        all.push(answer);
        rest = behind;
    }
    all
}

fn answer(bytes: &[u8], has_head: bool) -> Option<(Answer, &[u8])> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut head = httparse::Response::new(&mut fields);
    let wrong = |error| panic!("no answer of HTTP: {error}: {}", String::from_utf8_lossy(bytes));
    let httparse::Status::Complete(end) = head.parse(bytes).unwrap_or_else(wrong) else { return None };
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let fields = head.headers.iter().map(|field| (field.name.to_ascii_lowercase(), text(field.value))).collect();
    let mut answer = Answer { status: head.code.expect("a status"), fields, body: Vec::new() };
    let rest = &bytes[end..];
    let is_empty = matches!(answer.status, 100..200 | 204 | 304);
    // Which request an answer is for is not known here.
    let may_be_heads = has_head && (rest.is_empty() || rest.starts_with(b"HTTP/1."));
    if is_empty || may_be_heads {
        return Some((answer, rest));
    }
    let length = answer.field("content-length").map(|length| length.parse::<usize>().expect("a length"));
    let is_chunked = answer.field("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked"));
    assert!(!(is_chunked && length.is_some()), "an answer has two lengths: {}", text(bytes));
    let behind = match length {
        Some(length) if length > rest.len() => return None,
        Some(length) => {
            answer.body.extend_from_slice(&rest[..length]);
            &rest[length..]
        }
        None if is_chunked => chunks(rest, &mut answer.body)?,
        None => {
            answer.body.extend_from_slice(rest);
            &[]
        }
    };
    Some((answer, behind))
}

/// Reads a body in chunks. `None`: it is cut off.
fn chunks<'a>(mut rest: &'a [u8], body: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        let size = httparse::parse_chunk_size(rest).expect("the size of a chunk");
        let httparse::Status::Complete((begin, size)) = size else { return None };
        let size = usize::try_from(size).expect("a size");
        let chunk = rest.get(begin..begin + size)?;
        let end = rest.get(begin + size..begin + size + 2)?;
        assert_eq!(end, b"\r\n", "a chunk does not end where it says");
        body.extend_from_slice(chunk);
        rest = &rest[begin + size + 2..];
        if size == 0 {
            return Some(rest);
        }
    }
}

/// Checks what comes on a connection of HTTP/2: frame after frame, each as long as it says.
pub fn frames(mut rest: &[u8], is_whole: bool) {
    while !rest.is_empty() {
        let end = rest
            .get(..9)
            .map(|head| 9 + (usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2])));
        assert!(end.is_none_or(|end| end <= 9 + FRAME_BYTES_MAX), "a frame is too long");
        match end.and_then(|end| rest.get(end..)) {
            Some(behind) => rest = behind,
            None => return assert!(!is_whole, "a frame is cut off"),
        }
    }
}
