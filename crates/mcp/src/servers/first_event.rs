//! The first event of a stream that says something, found without taking the others apart.

use crate::limits::{FIRST_EVENT_BYTES_MAX, FIRST_EVENT_CHUNKS_MAX};

/// The beginning of a stream, as it comes.
#[derive(Default)]
pub(super) struct StreamBeginning {
    read: Vec<u8>,
    chunks: usize,
}

impl StreamBeginning {
    /// Takes the next chunk; gives what the stream begins with, as far as that is known by now. What has not ended
    /// within [`FIRST_EVENT_BYTES_MAX`] and [`FIRST_EVENT_CHUNKS_MAX`] is not read here.
    pub(super) fn add(&mut self, chunk: &[u8]) -> FirstEvent<'_> {
        self.read.extend_from_slice(chunk);
        self.chunks += 1;
        // All is looked through from its start, so that is done where a line has ended, and not often.
        let found = if chunk.contains(&b'\n') { first_event(&self.read) } else { FirstEvent::Unfinished };
        let is_over = self.read.len() > FIRST_EVENT_BYTES_MAX || self.chunks >= FIRST_EVENT_CHUNKS_MAX;
        if found == FirstEvent::Unfinished && is_over { FirstEvent::Other } else { found }
    }

    /// All that came.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.read
    }
}

/// What a stream begins with.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FirstEvent<'a> {
    /// An event of one line of data.
    Data(&'a [u8]),
    /// Nothing that has ended yet.
    Unfinished,
    /// Something that is not read here.
    Other,
}

/// The first event with data in the beginning of a stream. Events without any, which only name themselves, are passed
/// over.
fn first_event(stream: &[u8]) -> FirstEvent<'_> {
    let mut event = EventFields::default();
    let mut rest = stream;
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let (line, after) = (&rest[..end], &rest[end + 1..]);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        rest = after;
        if line.is_empty() {
            match std::mem::take(&mut event).data {
                Some(data) if !data.is_empty() => return FirstEvent::Data(data),
                _ => continue,
            }
        }
        let (field, value) = field_of(line);
        let is_second = match field {
            b"data" => event.data.replace(value).is_some(),
            b"event" if value == b"message" => event.kind.replace(value).is_some(),
            b"id" => event.id.replace(value).is_some(),
            b"retry" => event.retry.replace(value).is_some(),
            // A comment.
            b"" => false,
            _ => return FirstEvent::Other,
        };
        // A line may also end with a carriage return alone.
        if is_second || line.contains(&b'\r') {
            return FirstEvent::Other;
        }
    }
    FirstEvent::Unfinished
}

/// What an event says of itself, each once.
#[derive(Default)]
struct EventFields<'a> {
    data: Option<&'a [u8]>,
    kind: Option<&'a [u8]>,
    id: Option<&'a [u8]>,
    retry: Option<&'a [u8]>,
}

/// The field of a line, and its value. HTML, server-sent events, 9.2.6: one space after the colon is none of it.
fn field_of(line: &[u8]) -> (&[u8], &[u8]) {
    let end = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
    let value = line.get(end + 1..).unwrap_or_default();
    (&line[..end], value.strip_prefix(b" ").unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use futures::StreamExt;
    use proptest::prelude::*;
    use sse_stream::SseStream;

    use super::*;

    #[test]
    fn the_first_event_with_data_is_found() {
        for stream in ["data: {}\n\n", "id: 7\ndata:\n\ndata:{}\r\n\r\nmore", ": hello\nevent: message\ndata: {}\n\n"] {
            assert_eq!(first_event(stream.as_bytes()), FirstEvent::Data(b"{}"), "{stream}");
        }
        for stream in ["", "data: {}\n", "data: {}", "id: 7\ndata:\n\n"] {
            assert_eq!(first_event(stream.as_bytes()), FirstEvent::Unfinished, "{stream}");
        }
        for stream in ["data: {\ndata: }\n\n", "event: ping\ndata: {}\n\n", "retry: 1\rdata: {}\n\n", "x\n"] {
            assert_eq!(first_event(stream.as_bytes()), FirstEvent::Other, "{stream}");
        }
    }

    #[test]
    fn an_event_is_looked_for_in_so_many_chunks_and_bytes_and_no_more() {
        // The last of so many chunks ends the event.
        let found_after = |chunks: usize| {
            let mut beginning = StreamBeginning::default();
            let is_open = (1..chunks).all(|_| beginning.add(b": ") == FirstEvent::Unfinished);
            is_open && beginning.add(b"\ndata: {}\n\n") == FirstEvent::Data(b"{}")
        };
        assert!(found_after(FIRST_EVENT_CHUNKS_MAX) && !found_after(FIRST_EVENT_CHUNKS_MAX + 1));
        let of = |bytes: usize| StreamBeginning::default().add(&vec![b'x'; bytes]) == FirstEvent::Unfinished;
        assert!(of(FIRST_EVENT_BYTES_MAX) && !of(FIRST_EVENT_BYTES_MAX + 1));
    }

    #[test]
    fn an_event_that_comes_in_pieces_is_whole_at_its_end() {
        let mut beginning = StreamBeginning::default();
        assert_eq!(beginning.add(b"data: {"), FirstEvent::Unfinished);
        assert_eq!(beginning.add(b"}\n"), FirstEvent::Unfinished);
        assert_eq!(beginning.add(b"\n"), FirstEvent::Data(b"{}"));
        assert_eq!(beginning.into_bytes(), b"data: {}\n\n");
    }

    /// The first event with data as the SDK reads it.
    fn as_the_sdk_reads(stream: &[u8]) -> Option<String> {
        let chunks = futures::stream::iter([Ok::<_, std::io::Error>(bytes::Bytes::copy_from_slice(stream))]);
        let events = SseStream::from_bytes_stream(chunks).filter_map(|event| async { event.ok()?.data });
        let mut events = std::pin::pin!(events.filter(|data| std::future::ready(!data.is_empty())));
        futures::executor::block_on(events.next())
    }

    proptest! {
        #[test]
        fn what_is_found_is_what_the_sdk_finds(
            lines in prop::collection::vec(
                prop::sample::select(vec!["data: a", "data:b", "data:", "id: 1", "event: message", "event: x", ":", "", "", "x"]),
                0..12,
            ),
            ends in prop::sample::select(vec!["\n", "\r\n"]),
        ) {
            let stream: String = lines.iter().flat_map(|line| [*line, ends]).collect();
            if let FirstEvent::Data(data) = first_event(stream.as_bytes()) {
                let found = as_the_sdk_reads(stream.as_bytes());
                prop_assert_eq!(found.as_deref(), std::str::from_utf8(data).ok());
            }
        }

        #[test]
        fn pieces_of_a_stream_say_what_it_says(
            stream in "(data: [a-c]|id: 1|:|x|event: message|\r?\n){0,12}", at in 0_usize..40,
        ) {
            let stream = stream.as_bytes();
            let (first, second) = stream.split_at(at.min(stream.len()));
            let mut beginning = StreamBeginning::default();
            let found = match beginning.add(first) {
                FirstEvent::Unfinished => None,
                FirstEvent::Data(data) => Some(FirstEvent::Data(data)),
                FirstEvent::Other => Some(FirstEvent::Other),
            };
            if let Some(found) = found {
                prop_assert_eq!(found, first_event(stream));
            } else {
                prop_assert_eq!(beginning.add(second), first_event(stream));
            }
        }

        #[test]
        fn any_bytes_are_read(stream in prop::collection::vec(any::<u8>(), 0..200)) {
            first_event(&stream);
        }
    }
}
