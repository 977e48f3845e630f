//! Bytes into lines and messages.

use bytes::BytesMut;
use forecourt_email::limits::LINE_BYTES_MAX;
use forecourt_email::lmtp::{Decoder, Frame, LineError};
use proptest::collection::vec;
use proptest::prelude::*;

/// What comes of a message that arrives in these pieces.
fn message(pieces: &[&[u8]], bytes_max: usize) -> (Option<Frame>, Vec<u8>) {
    let mut decoder = Decoder::new(bytes_max);
    decoder.expect_message();
    let mut read = BytesMut::new();
    let mut frame = None;
    for piece in pieces {
        read.extend_from_slice(piece);
        if frame.is_none() {
            frame = decoder.decode(&mut read).unwrap();
        }
    }
    (frame, read.to_vec())
}

#[test]
fn rfc5321_4_5_2_dots_are_taken_back_and_only_a_dot_alone_ends() {
    let (frame, rest) = message(&[b"a\r\n..b\r\n.c\r\n\r\n.\r\nQUIT\r\n"], 100);
    assert_eq!(frame, Some(Frame::Message(b"a\r\n.b\r\nc\r\n\r\n".to_vec())));
    assert_eq!(rest, b"QUIT\r\n");
    assert_eq!(message(&[b".\r\n"], 100).0, Some(Frame::Message(Vec::new())));
}

#[test]
fn rfc5321_2_3_8_nothing_but_crlf_dot_crlf_ends_a_message() {
    for hidden in [&b"\n.\n"[..], b"\n.\r\n", b"\r.\r\n", b"\r\n.\n", b"\r\n.\r", b".\r\r\n", b"\r\n.\r\r\n", b"\r.\r"]
    {
        let text = [b"x", hidden, b"MAIL FROM:<eve@evil.example>"].concat();
        assert_eq!(message(&[&text], 1000).0, None, "{hidden:?}");
        let whole = [&text[..], b"\r\n.\r\n"].concat();
        let Some(Frame::Message(bytes)) = message(&[&whole], 1000).0 else { panic!("{hidden:?}") };
        assert!(bytes.ends_with(b"MAIL FROM:<eve@evil.example>\r\n"), "{hidden:?}");
    }
}

#[test]
fn a_message_may_have_as_many_bytes_as_allowed_and_one_more_is_too_many() {
    let of = |bytes: usize| [vec![b'x'; bytes - 2], b"\r\n.\r\n".to_vec()].concat();
    assert_eq!(message(&[&of(50)], 50).0, Some(Frame::Message([vec![b'x'; 48], b"\r\n".to_vec()].concat())));
    assert_eq!(message(&[&of(51)], 50).0, Some(Frame::TooLarge));
}

#[test]
fn a_line_may_have_as_many_bytes_as_allowed_and_one_more_is_too_many() {
    let line = |bytes: usize| {
        let mut read = BytesMut::from(&[vec![b'x'; bytes - 2], b"\r\n".to_vec()].concat()[..]);
        Decoder::new(10).decode(&mut read)
    };
    assert_eq!(line(LINE_BYTES_MAX), Ok(Some(Frame::Line(vec![b'x'; LINE_BYTES_MAX - 2]))));
    assert_eq!(line(LINE_BYTES_MAX + 1), Err(LineError::TooLong));
    for malformed in [&b"a\n"[..], b"a\rb\r\n", b"a\0b\r\n", b"\n"] {
        assert_eq!(Decoder::new(10).decode(&mut BytesMut::from(malformed)), Err(LineError::Malformed), "{malformed:?}");
    }
}

/// Bytes in which ends of lines and dots are frequent.
fn text() -> impl Strategy<Value = Vec<u8>> {
    vec(prop_oneof![Just(b'\r'), Just(b'\n'), Just(b'.'), any::<u8>()], 0..200)
}

proptest! {
    #[test]
    fn what_was_stuffed_comes_back_at_every_split(lines in vec("[a-z.\r\n]{0,12}", 0..12), split in 0..200usize) {
        // A sender sends lines that end with CRLF; within them may be anything else.
        let lines: Vec<String> = lines.iter().map(|line| line.replace("\r\n", "")).filter(|line| !line.ends_with('\r')).collect();
        let meant: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
        prop_assume!(!meant.contains("\r\r\n"));
        let sent: String = meant.split_inclusive("\r\n").map(|line| match line.starts_with('.') {
            true => format!(".{line}"),
            false => line.to_owned(),
        }).collect();
        let sent = format!("{sent}.\r\n").into_bytes();
        let (first, second) = sent.split_at(split.min(sent.len()));
        let (frame, rest) = message(&[first, second], 10_000);
        prop_assert_eq!(frame, Some(Frame::Message(meant.into_bytes())));
        prop_assert!(rest.is_empty());
    }

    #[test]
    fn any_bytes_are_the_same_at_every_split_and_within_the_bound(bytes in text(), split in 0..200usize, bytes_max in 0..100usize) {
        let (first, second) = bytes.split_at(split.min(bytes.len()));
        let whole = message(&[&bytes], bytes_max);
        prop_assert_eq!(&message(&[first, second], bytes_max), &whole);
        if let Some(Frame::Message(message)) = whole.0 {
            prop_assert!(message.len() <= bytes_max);
        }
        let mut read = BytesMut::from(&bytes[..]);
        let mut decoder = Decoder::new(bytes_max);
        while let Ok(Some(Frame::Line(line))) = decoder.decode(&mut read) {
            prop_assert!(!line.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)));
        }
    }
}
