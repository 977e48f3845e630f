//! Messages as they go over the wire, and the subjects under which they do.

use bytes::{BufMut, Bytes, BytesMut};

use crate::local::fits;

/// What begins every message of ours.
const MARK: &[u8] = b"forecourt/1 ";

/// The subject of a topic, under that of the deployment: its own, unless it has characters that mean something in a
/// subject.
pub(super) fn subject_of(deployment: &str, topic: &str) -> String {
    // `*`, `>` and blanks mean something in a subject. Two topics may come to one subject: each message has its whole
    // topic.
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let mut subject = deployment.to_owned();
    for token in topic.split('.') {
        subject.push('.');
        subject.extend(token.chars().map(plain));
        // A subject with an empty token is refused by the server.
        if token.is_empty() {
            subject.push('_');
        }
    }
    subject
}

/// What a topic is about: its first word, which is one of ours.
pub(super) fn kind_of(topic: &str) -> &str {
    let end = topic.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(topic.len());
    if end == 0 { "other" } else { &topic[..end] }
}

/// Whether a topic is that of one thing among many, `KIND.NAME`, such as a task: of those there may be any number.
pub(super) fn is_of_one_thing(topic: &str) -> bool {
    topic.contains('.')
}

/// A message as it is sent: who says it, about what, and what.
pub(super) fn sealed(sender: &str, topic: &str, message: &Bytes) -> Bytes {
    let mut out = BytesMut::with_capacity(MARK.len() + sender.len() + topic.len() + message.len() + 2);
    for part in [MARK, sender.as_bytes(), b" ", topic.as_bytes(), b"\n", message] {
        out.put_slice(part);
    }
    out.freeze()
}

/// Reads what [`sealed`] wrote; `None` for anything else.
pub(super) fn opened(payload: &Bytes) -> Option<(&str, &str, Bytes)> {
    // Bounded: whoever may publish on the server can send megabytes without the end of a line.
    let head = payload.iter().take(4_096).position(|byte| *byte == b'\n')?;
    let line = std::str::from_utf8(payload.get(MARK.len()..head)?).ok()?;
    let (sender, topic) = line.split_once(' ').filter(|_| payload.starts_with(MARK))?;
    let message = payload.slice(head + 1..);
    fits(topic, &message).then_some((sender, topic, message))
}

#[cfg(test)]
mod tests {
    use forecourt_core::bus::BUS_MESSAGE_BYTES_MAX;

    use super::*;

    #[test]
    fn a_topic_has_a_subject_of_its_own_and_can_not_widen_it() {
        for (topic, subject) in [
            ("task.3f", "forecourt.d.task.3f"),
            ("operator-queue", "forecourt.d.operator-queue"),
            ("task.*", "forecourt.d.task._"),
            (">", "forecourt.d._"),
            ("a b\r\n.", "forecourt.d.a_b__._"),
            ("", "forecourt.d._"),
        ] {
            assert_eq!(subject_of("forecourt.d", topic), subject, "{topic:?}");
        }
    }

    #[test]
    fn what_was_sent_is_what_is_heard_and_anything_else_is_foreign() {
        let message = Bytes::from_static(b"a\nb");
        let payload = sealed("me", "task.3f", &message);
        assert_eq!(opened(&payload), Some(("me", "task.3f", message)));
        for foreign in ["", "\n", "hello\nworld", "forecourt/1 \n", "forecourt/1 me\n", "forecourt/2 me task\nx"] {
            assert_eq!(opened(&Bytes::from_static(foreign.as_bytes())), None, "{foreign:?}");
        }
        assert_eq!(opened(&Bytes::from_static(b"forecourt/1 \xff \n")), None);
        for (bytes, is_taken) in [(BUS_MESSAGE_BYTES_MAX, true), (BUS_MESSAGE_BYTES_MAX + 1, false)] {
            let payload = sealed("me", "t", &vec![0; bytes].into());
            assert_eq!(opened(&payload).is_some(), is_taken, "{bytes} bytes");
        }
    }
}
