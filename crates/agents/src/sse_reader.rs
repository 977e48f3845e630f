//! Server-sent events, decoded as their bytes arrive (WHATWG HTML 9.2.6). The bytes may be cut
//! anywhere: inside a character, between CR and LF, inside the byte order mark.

use std::collections::VecDeque;

/// One event as it was dispatched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// Its name, `message` when it has none.
    pub name: String,
    /// Its data lines, joined by LF.
    pub data: String,
    /// The last `id` that the stream has set so far.
    pub last_id: Option<String>,
}

/// One event has more bytes than the reader takes. The stream is of no use any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event has more than {bytes_max} bytes")]
pub struct EventTooLong {
    /// The bound.
    pub bytes_max: usize,
}

/// Turns bytes into events. Holds at most one unfinished event of `event_bytes_max` bytes; what is
/// unfinished at the end of the stream is not an event.
#[derive(Debug)]
pub struct SseReader {
    event_bytes_max: usize,
    /// The line that has no end yet.
    line: Vec<u8>,
    /// Whether the last byte was a CR, whose LF may still come.
    after_cr: bool,
    /// Whether no line has ended yet, so that a byte order mark may stand before this one.
    at_start: bool,
    name: String,
    data: Option<String>,
    last_id: Option<String>,
    ready: VecDeque<SseEvent>,
    /// Comments that wait, where somebody wants them.
    comments: Option<VecDeque<String>>,
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl SseReader {
    /// A reader at the beginning of a stream.
    pub fn new(event_bytes_max: usize) -> Self {
        Self {
            event_bytes_max,
            line: Vec::new(),
            after_cr: false,
            at_start: true,
            name: String::new(),
            data: None,
            last_id: None,
            ready: VecDeque::new(),
            comments: None,
        }
    }

    /// The same, keeping comments that say something for [`SseReader::next_comment`]: who asks for them takes them
    /// after each push.
    #[must_use]
    pub fn with_comments(self) -> Self {
        Self { comments: Some(VecDeque::new()), ..self }
    }

    /// The next comment, in the order of the stream but apart from its events.
    pub fn next_comment(&mut self) -> Option<String> {
        self.comments.as_mut()?.pop_front()
    }

    /// Takes the next bytes. The events that they complete wait in [`SseReader::next_event`].
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<(), EventTooLong> {
        if self.after_cr && !bytes.is_empty() {
            // CR, LF and CRLF all end a line. One that ended with a CR was closed at once; its LF, at the start of the
            // next chunk, must not count as an empty line, which would dispatch an event too early.
            self.after_cr = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(at) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.extend_line(&bytes[..at])?;
            self.end_line();
            let is_cr = bytes[at] == b'\r';
            bytes = &bytes[at + 1..];
            if is_cr {
                self.after_cr = bytes.is_empty();
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            }
        }
        self.extend_line(bytes)
    }

    /// The next complete event.
    pub fn next_event(&mut self) -> Option<SseEvent> {
        self.ready.pop_front()
    }

    fn extend_line(&mut self, bytes: &[u8]) -> Result<(), EventTooLong> {
        // The data lines so far count too, or an event of many short lines would have no bound.
        let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if held + bytes.len() > self.event_bytes_max {
            return Err(EventTooLong { bytes_max: self.event_bytes_max });
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        let skip = if self.at_start && line.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        self.at_start = false;
        match line.len() - skip {
            0 => self.dispatch(),
            _ => self.field(&String::from_utf8_lossy(&line[skip..])),
        }
        line.clear();
        self.line = line;
    }

    fn field(&mut self, line: &str) {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        // WHATWG 9.2.6: one space behind the colon belongs to the format, further ones to the value.
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "event" => value.clone_into(&mut self.name),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "" if !value.trim().is_empty() => {
                if let Some(comments) = &mut self.comments {
                    comments.push_back(value.to_owned());
                }
            }
            // WHATWG 9.2.6: an `id` with a NUL is ignored; an id without an event still counts for the events behind
            // it.
            "id" if !value.contains('\0') => self.last_id = Some(value.to_owned()),
            // Signs of life, `retry`, and fields of later versions.
            _ => {}
        }
    }

    fn dispatch(&mut self) {
        let name = std::mem::take(&mut self.name);
        // WHATWG 9.2.6: without `data` there is no event, and its name does not carry over to the next one.
        if let Some(data) = self.data.take() {
            let name = if name.is_empty() { "message".to_owned() } else { name };
            self.ready.push_back(SseEvent { name, data, last_id: self.last_id.clone() });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(chunks: &[&[u8]]) -> Vec<(String, String)> {
        let mut reader = SseReader::new(1 << 20);
        let mut events = Vec::new();
        for chunk in chunks {
            reader.push(chunk).unwrap();
            events.extend(std::iter::from_fn(|| reader.next_event()).map(|event| (event.name, event.data)));
        }
        events
    }

    #[derive(serde::Deserialize)]
    struct Cases {
        decode: Vec<Case>,
    }

    #[derive(serde::Deserialize)]
    struct Case {
        id: String,
        stream: String,
        events: Vec<(String, String)>,
    }

    #[test]
    fn vectors_decode_alike_at_every_split() {
        let Some(bytes) = forecourt_testkit::vectors("sse/cases.json") else { return };
        let cases: Cases = serde_json::from_slice(&bytes).unwrap();
        for Case { id, stream, events } in cases.decode {
            let stream = stream.as_bytes();
            for at in 0..=stream.len() {
                let (left, right) = stream.split_at(at);
                assert_eq!(read(&[left, right]), events, "{id} split at {at}");
            }
            let single: Vec<&[u8]> = stream.chunks(1).collect();
            assert_eq!(read(&single), events, "{id} byte by byte");
        }
    }

    #[test]
    fn an_event_has_at_most_so_many_bytes() {
        let event = |bytes: usize| format!("data:{}\n\n", "x".repeat(bytes - 5));
        let mut reader = SseReader::new(20);
        assert_eq!(reader.push(event(20).as_bytes()), Ok(()));
        assert_eq!(reader.push(event(21).as_bytes()), Err(EventTooLong { bytes_max: 20 }));
        let mut reader = SseReader::new(20);
        let many_lines = "data:x\n".repeat(20);
        assert!(reader.push(many_lines.as_bytes()).is_err(), "data over many lines counts too");
    }

    #[test]
    fn comments_are_kept_for_whoever_wants_them() {
        let stream = b": \n\n: error no\ndata: a\n\n:part {}\r\n: \n\n";
        let mut reader = SseReader::new(1024).with_comments();
        reader.push(stream).unwrap();
        assert_eq!(std::iter::from_fn(|| reader.next_comment()).collect::<Vec<_>>(), ["error no", "part {}"]);
        assert_eq!(reader.next_event().map(|event| event.data).as_deref(), Some("a"));
        let mut reader = SseReader::new(1024);
        reader.push(stream).unwrap();
        assert_eq!(reader.next_comment(), None);
    }

    #[test]
    fn the_last_id_stays_until_another_is_set() {
        let mut reader = SseReader::new(1024);
        reader.push(b"id: 7\ndata: a\n\ndata: b\n\nid: x\0y\ndata: c\n\nid\ndata: d\n\n").unwrap();
        let ids: Vec<_> = std::iter::from_fn(|| reader.next_event()).map(|event| event.last_id).collect();
        let seven = Some("7".to_owned());
        assert_eq!(ids, [seven.clone(), seven.clone(), seven, Some(String::new())]);
    }

    proptest! {
        #[test]
        fn any_bytes_decode_alike_however_they_are_cut(bytes in proptest::collection::vec(
            prop_oneof![Just(b'\n'), Just(b'\r'), Just(b':'), Just(b' '), Just(b'd'), any::<u8>()], 0..200),
            at in 0usize..200,
        ) {
            let (left, right) = bytes.split_at(at.min(bytes.len()));
            prop_assert_eq!(read(&[left, right]), read(&[&bytes]));
        }

        #[test]
        fn what_was_written_is_read(data in "[^\r]{0,60}", name in "[a-z]{1,8}", end in prop_oneof![Just("\n"), Just("\r"), Just("\r\n")]) {
            let lines: String = data.split('\n').map(|line| format!("data: {line}{end}")).collect();
            let stream = format!("event: {name}{end}{lines}{end}");
            prop_assert_eq!(read(&[stream.as_bytes()]), vec![(name, data)]);
        }
    }
}
