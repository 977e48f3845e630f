//! What is read off the wire, whatever it is. Base 2.1.

use forecourt_conform::agtp::{ReadError, Response, read};
use forecourt_conform::limits::{BODY_BYTES_MAX, FIELDS_MAX, HEAD_BYTES_MAX};
use proptest::prelude::*;

fn whole(bytes: &[u8]) -> Response {
    read(bytes).unwrap().unwrap().0
}

#[test]
fn base_2_1_an_answer_has_a_status_fields_and_a_body() {
    let answer = whole(b"AGTP/1.0 200 OK\r\nServer-ID:  x \r\nContent-Length: 2\r\n\r\n{}more");
    assert_eq!((answer.status, answer.field("server-id"), answer.body.as_slice()), (200, Some("x"), b"{}".as_slice()));
    assert_eq!(whole(b"AGTP/1.0 204 \r\n\r\n").body, b"");
}

#[test]
fn base_2_1_what_is_no_answer_is_told() {
    for wrong in [
        &b"HTTP/1.1 200 OK\r\n\r\n"[..],
        b"AGTP/1.1",
        b"AGTP/1.0 20 OK\r\n\r\n",
        b"AGTP/1.0 200\r\n\r\n",
        b"AGTP/1.0 200 O\x07K\r\n\r\n",
        b"AGTP/1.0 200 OK\r\nno colon\r\n\r\n",
        b"AGTP/1.0 200 OK\r\n: nameless\r\n\r\n",
        b"AGTP/1.0 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"AGTP/1.0 200 OK\r\nContent-Length: +1\r\n\r\n",
        b"AGTP/1.0 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
        b"AGTP/1.0 200 \xff\r\n\r\n",
    ] {
        assert!(matches!(read(wrong), Err(ReadError::Malformed(_))), "{}", String::from_utf8_lossy(wrong));
    }
}

#[test]
fn heads_fields_and_bodies_have_bounds() {
    let head = |bytes: usize| {
        let fixed = "AGTP/1.0 200 OK\r\nA: \r\n\r\n".len();
        format!("AGTP/1.0 200 OK\r\nA: {}\r\n\r\n", "a".repeat(bytes - fixed))
    };
    assert!(read(head(HEAD_BYTES_MAX).as_bytes()).unwrap().is_some());
    assert_eq!(read(head(HEAD_BYTES_MAX + 1).as_bytes()), Err(ReadError::HeadTooLarge));
    let fields = |count: usize| format!("AGTP/1.0 200 OK\r\n{}\r\n", "A: b\r\n".repeat(count));
    assert!(read(fields(FIELDS_MAX).as_bytes()).unwrap().is_some());
    assert!(read(fields(FIELDS_MAX + 1).as_bytes()).is_err());
    let body = |bytes: usize| format!("AGTP/1.0 200 OK\r\nContent-Length: {bytes}\r\n\r\n");
    assert_eq!(read(body(BODY_BYTES_MAX).as_bytes()), Ok(None));
    assert_eq!(read(body(BODY_BYTES_MAX + 1).as_bytes()), Err(ReadError::BodyTooLarge));
}

proptest! {
    #[test]
    fn no_bytes_are_too_strange(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&bytes);
        let _ = read(&[b"AGTP/1.0 200 OK\r\n", bytes.as_slice()].concat());
    }

    #[test]
    fn an_answer_is_the_same_in_whatever_pieces_it_comes(
        status in 100u16..999,
        fields in prop::collection::vec(("[A-Za-z-]{1,12}", "[ -~]{0,20}"), 0..5),
        body in prop::collection::vec(any::<u8>(), 0..60),
        rest in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let fields: Vec<_> = fields.into_iter().filter(|(name, _)| !name.eq_ignore_ascii_case("content-length")).collect();
        let mut bytes = format!("AGTP/1.0 {status} Said\r\n").into_bytes();
        for (name, value) in &fields {
            bytes.extend(format!("{name}: {value}\r\n").bytes());
        }
        bytes.extend(format!("Content-Length: {}\r\n\r\n", body.len()).bytes());
        bytes.extend(&body);
        let length = bytes.len();
        for cut in 0..length {
            prop_assert_eq!(read(&bytes[..cut]), Ok(None));
        }
        bytes.extend(&rest);
        let (answer, taken) = read(&bytes).unwrap().unwrap();
        prop_assert_eq!((answer.status, taken, &answer.body), (status, length, &body));
        prop_assert_eq!(answer.fields.len(), fields.len() + 1);
    }
}
