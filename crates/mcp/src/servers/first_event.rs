//! The first event of a stream that says something, found without taking the others apart.

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
pub(super) fn first_event(stream: &[u8]) -> FirstEvent<'_> {
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
        fn any_bytes_are_read(stream in prop::collection::vec(any::<u8>(), 0..200)) {
            first_event(&stream);
        }
    }
}
