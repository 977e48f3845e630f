//! Messages as they come, whole and broken.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::limits::{ATTACHMENTS_MAX, MIME_PARTS_MAX};

fn read(raw: &[u8]) -> Result<InboundMail, DecodeError> {
    let head = AuthenticatedMessage::parse(raw).ok_or(DecodeError::Unreadable)?;
    InboundMail::read(raw, &head)
}

fn mail(head: &str, body: &str) -> InboundMail {
    let head = head.replace('\n', "\r\n");
    read(format!("From: Ann <ann@x.example>\r\n{head}\r\n{body}").as_bytes()).unwrap()
}

/// A message with so many attachments beside its text.
fn with_attachments(count: usize) -> Result<InboundMail, DecodeError> {
    let part = "--b\r\nContent-Type: image/png; name=a.png\r\nContent-Disposition: attachment\r\n\r\nx\r\n";
    let text = "--b\r\nContent-Type: text/plain\r\n\r\nhi\r\n";
    let head = "From: ann@x.example\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n";
    read(format!("{head}{text}{}--b--\r\n", part.repeat(count)).as_bytes())
}

#[test]
fn one_plain_author_is_needed() {
    for head in [
        "To: a@x.example",
        "From: ",
        "From: Ann",
        "From: a@x.example, b@x.example",
        "From: a@x.example\r\nFrom: b@x.example",
        "From: \"a b\"@x.example",
        "From: group: a@x.example;",
        "From: a@localhost",
    ] {
        assert!(read(format!("{head}\r\n\r\nhi\r\n").as_bytes()).is_err(), "{head}");
    }
}

#[test]
fn rfc5322_3_6_fields_that_may_be_there_once_are_refused_when_they_are_there_twice() {
    for name in ["Subject", "Content-Type", "To", "Message-ID", "References", "X-Mentionable-Policy"] {
        let raw = format!("From: a@x.example\r\n{name}: text/plain\r\n{name}: text/html\r\n\r\nhi\r\n");
        let refused = read(raw.as_bytes()).map(|mail| mail.subject);
        // Of readers there may be several fields of one name in the wild, and none of them is proven then.
        assert_eq!(refused, Err(DecodeError::Repeated), "{name}");
    }
}

#[test]
fn ids_are_taken_only_where_they_can_be_written_again() {
    let mail = mail(
        "Message-ID: <own@x>\nIn-Reply-To: <b@x>\nReferences: <a@x> <b@x> <bad\u{e9}@x>\nSubject: =?utf-8?b?SGkNCkJjYzogeA==?=\n",
        "hi",
    );
    assert_eq!(mail.id.as_deref(), Some("own@x"));
    assert_eq!(mail.references, ["b@x", "a@x"]);
    assert_eq!(mail.subject, "Hi Bcc: x");
    for text in ["", "<>", "a b@x", "a@x\r\nBcc: y", "a<b@x", &"x".repeat(MESSAGE_ID_BYTES_MAX + 1)] {
        assert_eq!(message_id(text), None, "{text}");
    }
    assert!(message_id(&"x".repeat(MESSAGE_ID_BYTES_MAX)).is_some());
}

#[test]
fn the_subject_is_the_question_where_nothing_else_is_said() {
    let words = |mail: &InboundMail| forecourt_core::message::text_of(&mail.parts);
    assert_eq!(words(&mail("Subject: What is open now?\n", "\r\n-- \r\nAnn")), "What is open now?");
    assert_eq!(words(&mail("Subject: Hello\n", "What is open?\r\n")), "What is open?");
    assert_eq!(read(b"From: a@x.example\r\n\r\n> quoted\r\n").map(|_| ()), Err(DecodeError::Empty));
}

#[test]
fn attachments_and_parts_have_bounds() {
    let files = |count| with_attachments(count).map(|mail| mail.parts.len() - 1);
    assert_eq!(files(ATTACHMENTS_MAX), Ok(ATTACHMENTS_MAX));
    assert_eq!(files(ATTACHMENTS_MAX + 1), Ok(ATTACHMENTS_MAX));
    // The whole and the text are parts as well.
    assert!(files(MIME_PARTS_MAX - 2).is_ok());
    assert_eq!(files(MIME_PARTS_MAX - 1), Err(DecodeError::Parts));
}

#[test]
fn text_is_cut_at_its_bound_between_characters() {
    let long = "é".repeat(TEXT_BYTES_MAX);
    let mail = mail("Content-Type: text/plain; charset=utf-8\n", &long);
    let Part::Text(text) = &mail.parts[0] else { panic!() };
    assert_eq!(text.content.len(), TEXT_BYTES_MAX);
}

#[test]
fn rfc3834_2_what_programs_wrote_is_told_apart() {
    for head in [
        "Auto-Submitted: auto-generated\n",
        "Precedence: bulk\n",
        "List-Unsubscribe: <https://x.example>\n",
        "X-Forecourt-Loop: x.example\n",
        "X-Auto-Response-Suppress: OOF\n",
        "Content-Type: multipart/report; boundary=x\n",
    ] {
        assert!(mail(head, "hi").automatic.is_some(), "{head}");
    }
    assert_eq!(mail("Auto-Submitted: no\nPrecedence: first-class\n", "hi").automatic, None);
    let robot = read(b"From: MAILER-DAEMON@x.example\r\n\r\nhi").unwrap();
    assert!(robot.automatic.is_some());
}

/// Pieces that messages are made of, in any order.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let known: &[&[u8]] = &[
        b"From: a@x.example\r\n",
        b"Content-Type: multipart/mixed; boundary=b\r\n",
        b"Content-Type: multipart/alternative; boundary=\"b\"\r\n",
        b"Content-Type: text/html; charset=utf-16\r\n",
        b"Content-Type: message/rfc822\r\n",
        b"Content-Transfer-Encoding: base64\r\n",
        b"Content-Transfer-Encoding: quoted-printable\r\n",
        b"Subject: =?iso-2022-jp?q?=1B=24?=\r\n",
        b"\r\n--b\r\n",
        b"\r\n--b--\r\n",
        b"\r\n\r\n",
        b"<b>&#x110000;&amp;<blockquote><!-- ",
    ];
    let piece = prop_oneof![12 => select(known).prop_map(<[u8]>::to_vec), 1 => vec(any::<u8>(), 0..40)];
    vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_bytes_break_the_reader_and_what_it_gives_can_be_written(raw in pieces()) {
        if let Ok(mail) = read(&raw) {
            prop_assert!(!mail.subject.contains(['\r', '\n', '\0']));
            prop_assert!(mail.references.iter().chain(&mail.id).all(|id| id.bytes().all(|byte| byte.is_ascii_graphic())));
            prop_assert!(!mail.from.to_string().contains(['\r', '\n', ' ', '<', '>']));
        }
    }
}
