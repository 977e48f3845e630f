use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use serde::Deserialize;

use super::*;
use crate::message::{BadField, Request, RequestLine, Response, StatusLine};

fn decode<S: StartLine>(bytes: &[u8]) -> (Result<Vec<Message<S>>, HeadError>, BytesMut) {
    decode_within(bytes, Bounds::default(), bytes.len().max(1))
}

/// Everything that `bytes` hold, arriving in pieces of `piece` bytes.
fn decode_within<S: StartLine>(
    bytes: &[u8],
    bounds: Bounds,
    piece: usize,
) -> (Result<Vec<Message<S>>, HeadError>, BytesMut) {
    let (mut decoder, mut buffer, mut found) = (Decoder::new(bounds), BytesMut::new(), Vec::new());
    for piece in bytes.chunks(piece) {
        buffer.extend_from_slice(piece);
        loop {
            match decoder.decode(&mut buffer) {
                Ok(Some(message)) => found.push(message),
                Ok(None) => break,
                Err(error) => return (Err(error), buffer),
            }
        }
    }
    (Ok(found), buffer)
}

fn encoded<S: StartLine>(message: &Message<S>) -> Vec<u8> {
    let mut out = BytesMut::new();
    encode(message, &mut out);
    out.to_vec()
}

#[test]
fn base_2_3_an_exchange_is_read_as_it_was_captured() {
    let bytes = b"AGTP/1.0 QUERY /\r\nAgent-ID: d8\r\nTask-ID: task-1\r\nContent-Type: application/vnd.agtp+json\r\n\
        Content-Length: 18\r\n\r\n{\"intent\":\"hello\"}";
    let (found, rest) = decode::<RequestLine>(bytes);
    let [request] = &found.unwrap()[..] else { panic!("one request") };
    assert_eq!((request.start.method.as_str(), request.start.path()), ("QUERY", "/"));
    assert_eq!((request.field("task-id"), &request.body[..]), (Some("task-1"), &br#"{"intent":"hello"}"#[..]));
    assert!(rest.is_empty());
    assert_eq!(encoded(request), bytes);
    let answer = b"AGTP/1.0 459 Method Violation\r\nServer-ID: ref.example\r\nContent-Length: 2\r\n\r\n{}";
    let found = decode::<StatusLine>(answer).0.unwrap();
    assert_eq!((found[0].start.code, found[0].start.reason.as_str()), (459, "Method Violation"));
    assert_eq!(encoded(&found[0]), answer);
}

#[test]
fn base_2_1_a_target_may_be_left_out() {
    let found = decode::<RequestLine>(b"AGTP/1.0 DISCOVER\r\n\r\n").0.unwrap();
    assert_eq!((found[0].start.target.as_deref(), found[0].start.path(), found[0].start.query()), (None, "/", None));
}

#[test]
fn s5_5_the_query_begins_at_the_first_question_mark() {
    let line = RequestLine::new("SCHEDULE", "/meeting?date=1&q=a?b");
    assert_eq!((line.path(), line.query()), ("/meeting", Some("date=1&q=a?b")));
    assert_eq!(RequestLine::new("QUERY", "/a?").query(), Some(""));
}

#[test]
fn pipelined_requests_come_out_one_by_one() {
    let bytes = b"AGTP/1.0 QUERY /a\r\nContent-Length: 2\r\n\r\n{}AGTP/1.0 DISCOVER /methods\r\n\r\nAGTP/1.0 QU";
    for piece in 1..bytes.len() {
        let (found, rest) = decode_within::<RequestLine>(bytes, Bounds::default(), piece);
        let paths: Vec<_> = found.unwrap().iter().map(|request| request.start.path().to_owned()).collect();
        assert_eq!(paths, ["/a", "/methods"], "in pieces of {piece}");
        assert_eq!(&rest[..], b"AGTP/1.0 QU");
    }
}

#[test]
fn what_is_waited_for_is_known() {
    let mut decoder = Decoder::<RequestLine>::new(Bounds::default());
    let mut bytes = BytesMut::new();
    assert_eq!(decoder.waits_for(&bytes), AwaitedPart::Message);
    bytes.extend_from_slice(b"AGTP/1.0 QUERY /a\r\nContent-Le");
    assert_eq!(decoder.decode(&mut bytes), Ok(None));
    assert_eq!(decoder.waits_for(&bytes), AwaitedPart::Head);
    bytes.extend_from_slice(b"ngth: 3\r\n\r\n{}");
    assert_eq!(decoder.decode(&mut bytes), Ok(None));
    assert_eq!(decoder.waits_for(&bytes), AwaitedPart::Body);
    bytes.extend_from_slice(b" ");
    assert!(decoder.decode(&mut bytes).unwrap().is_some());
    assert_eq!(decoder.waits_for(&bytes), AwaitedPart::Message);
}

#[test]
fn security_10_what_could_be_read_in_two_ways_is_not_read() {
    for (head, error) in [
        ("AGTP/1.0  QUERY /a\r\n\r\n", HeadError::Line),
        ("AGTP/1.0 QUERY /a \r\n\r\n", HeadError::Line),
        ("AGTP/1.0 QUERY /a b\r\n\r\n", HeadError::Line),
        ("AGTP/1.0 \r\n\r\n", HeadError::Line),
        ("AGTP/1.0\r\n\r\n", HeadError::Version),
        ("AGTP/1.1 QUERY /\r\n\r\n", HeadError::Version),
        ("QUERY / AGTP/1.0\r\n\r\n", HeadError::Version),
        ("\r\nAGTP/1.0 QUERY /\r\n\r\n", HeadError::Version),
        ("AGTP/1.0 QUERY /\nA: b\r\n\r\n", HeadError::LineEnd),
        ("AGTP/1.0 QUERY /a\r\nX: a\n\r\n\r\n", HeadError::LineEnd),
        ("AGTP/1.0 QUERY /a\r\nX: a\rb\r\n\r\n", HeadError::Field(BadField::Value)),
        ("AGTP/1.0 QUERY /a\r\nX: a\r\n b\r\n\r\n", HeadError::Field(BadField::Name)),
        ("AGTP/1.0 QUERY /a\r\nContent-Length: 1\r\ncontent-length: 1\r\n\r\n", HeadError::Repeated("Content-Length")),
        ("AGTP/1.0 QUERY /a\r\nAuthorization: a\r\nauthorization: b\r\n\r\n", HeadError::Repeated("Authorization")),
        ("AGTP/1.0 QUERY /a\r\nContent-Length:\r\n\r\n", HeadError::Length),
        ("AGTP/1.0 QUERY /a\r\nContent-Length: -1\r\n\r\n", HeadError::Length),
        ("AGTP/1.0 QUERY /a\r\nContent-Length: 00000001\r\n\r\n", HeadError::BodyTooLarge),
        ("AGTP/1.0 QUERY /a\r\nTransfer-Encoding: chunked\r\n\r\n", HeadError::TransferCoding),
    ] {
        for piece in [1, head.len()] {
            let found = decode_within::<RequestLine>(head.as_bytes(), Bounds::default(), piece).0;
            assert_eq!(found, Err(error), "{head:?} in pieces of {piece}");
        }
    }
}

#[test]
fn base_2_1_a_line_feed_alone_is_refused_at_once() {
    for head in ["AGTP/1.0 QUERY /a\n", "AGTP/1.0 QUERY /a\n\n", "AGTP/1.0 QUERY /a\r\nX: a\n", "AGTP/1.0\n"] {
        for piece in [1, head.len()] {
            let found = decode_within::<RequestLine>(head.as_bytes(), Bounds::default(), piece).0;
            assert_eq!(found.err(), Some(HeadError::LineEnd), "{head:?} in pieces of {piece}");
        }
    }
}

#[test]
fn security_0_every_bound_holds_at_n_and_one_more() {
    let bounds = Bounds { start_line_bytes: 20, fields_bytes: 2500, body_bytes: 3 };
    let read = |head: &str, body: &str| {
        decode_within::<RequestLine>(format!("{head}\r\n{body}").as_bytes(), bounds, 7).0.map(|found| found.len())
    };
    let line = |n: usize| read(&format!("AGTP/1.0 QUERY /{}\r\n", "a".repeat(n - 16)), "");
    assert_eq!((line(20), line(21)), (Ok(1), Err(HeadError::StartLineTooLong)));
    let fields = |n: usize| read(&format!("AGTP/1.0 QUERY\r\nA: {}\r\n", "b".repeat(n - 5)), "");
    assert_eq!((fields(2500), fields(2501)), (Ok(1), Err(HeadError::FieldsTooLarge)));
    let count = |n: usize| read(&format!("AGTP/1.0 QUERY\r\n{}", "A: b\r\n".repeat(n)), "");
    assert_eq!((count(FIELDS_MAX), count(FIELDS_MAX + 1)), (Ok(1), Err(HeadError::FieldsTooLarge)));
    let body = |n: usize| read(&format!("AGTP/1.0 QUERY\r\nContent-Length: {n}\r\n"), &"x".repeat(n));
    assert_eq!((body(3), body(4)), (Ok(1), Err(HeadError::BodyTooLarge)));
    let endless = decode_within::<RequestLine>(&[b"AGTP/1.0 QUERY /".as_slice(), &[b'a'; 99]].concat(), bounds, 1).0;
    assert_eq!(endless, Err(HeadError::StartLineTooLong), "without its end");
}

#[test]
fn every_fault_has_a_code_of_its_own_kind() {
    assert_eq!(HeadError::BodyTooLarge.code(), "body-too-large");
    assert_eq!(HeadError::FieldsTooLarge.code(), "headers-too-large");
    assert_eq!(HeadError::StartLineTooLong.code(), "request-line-too-long");
    assert_eq!(HeadError::Line.code(), "invalid-request-line");
    assert_eq!(HeadError::Repeated("Agent-ID").code(), "invalid-wire-format");
}

#[derive(Deserialize)]
struct Case {
    id: String,
    raw_b64: String,
    expect_status: Vec<u16>,
    close: bool,
}

/// What closes a connection is a fault or a message that never becomes whole; whatever does not is read.
#[test]
fn vectors_are_cut_where_they_should_be() {
    let Some(file) = forecourt_testkit::vectors("agtp-raw/cases.json") else { return };
    let cases: Vec<Case> = serde_json::from_slice(&file).unwrap();
    for case in cases {
        let raw = STANDARD.decode(&case.raw_b64).unwrap();
        let (found, rest) = decode::<RequestLine>(&raw);
        let is_whole = found.is_ok() && rest.is_empty();
        assert_eq!(is_whole, !case.close, "{}: {found:?}, then {} bytes", case.id, rest.len());
        assert!(found.is_ok() || case.expect_status.contains(&400), "{}", case.id);
    }
}

fn word() -> impl Strategy<Value = String> {
    "[A-Za-z/?=&%._~{}é-]{1,20}"
}

fn fields() -> impl Strategy<Value = Fields> {
    proptest::collection::vec(("X-[A-Za-z-]{1,9}", "[ -~]{0,20}"), 0..6).prop_map(|list| {
        let mut fields = Fields::default();
        list.iter().for_each(|(name, value)| fields.push(name, value).unwrap());
        fields
    })
}

fn request() -> impl Strategy<Value = Request> {
    (word(), proptest::option::of(word()), fields(), proptest::collection::vec(any::<u8>(), 0..40)).prop_map(
        |(method, target, fields, body)| Message { start: RequestLine { method, target }, fields, body: body.into() },
    )
}

/// Without the length, which only messages that were read have.
fn essence<S: Clone>(message: &Message<S>) -> (S, Vec<(String, String)>, Vec<u8>) {
    let fields = message.fields.iter().filter(|(name, _)| *name != "Content-Length");
    let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    (message.start.clone(), fields, message.body.to_vec())
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(requests in proptest::collection::vec(request(), 1..4), piece in 1_usize..60) {
        let bytes: Vec<u8> = requests.iter().flat_map(encoded).collect();
        let (found, rest) = decode_within::<RequestLine>(&bytes, Bounds::default(), piece);
        let found = found.unwrap();
        prop_assert_eq!(found.iter().map(essence).collect::<Vec<_>>(), requests.iter().map(essence).collect::<Vec<_>>());
        prop_assert!(rest.is_empty());
        prop_assert_eq!(found.iter().flat_map(encoded).collect::<Vec<_>>(), bytes);
    }

    #[test]
    fn responses_too(code in 0_u16..1000, reason in "[A-Za-z ]{0,20}", fields in fields()) {
        let response = Response { fields, ..Message::new(StatusLine::new(code, reason)) };
        prop_assert_eq!(decode::<StatusLine>(&encoded(&response)).0.unwrap(), vec![response]);
    }

    #[test]
    fn any_bytes_are_read_alike_in_any_pieces(
        tail in proptest::collection::vec(prop_oneof![any::<u8>(), Just(b'\r'), Just(b'\n'), Just(b':'), Just(b' ')], 0..200),
        piece in 1_usize..50,
    ) {
        let bytes = [b"AGTP/1.0 QUERY /a".as_slice(), &tail].concat();
        let (whole, pieces) = (decode::<RequestLine>(&bytes), decode_within::<RequestLine>(&bytes, Bounds::default(), piece));
        prop_assert_eq!(whole.0, pieces.0);
    }
}
