//! Streams of events from elsewhere: the same events however the bytes arrive, and none beyond its bound.

#![no_main]

use forecourt_agents::sse_reader::{EventTooLong, SseEvent, SseReader};
use libfuzzer_sys::fuzz_target;

/// Small enough that a fuzzer reaches it.
const EVENT_BYTES_MAX: usize = 64;

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (cut, piece, bytes) = input;
    for bytes_max in [EVENT_BYTES_MAX, usize::MAX / 2] {
        let whole = read(bytes_max, [bytes]);
        let (one, other) = bytes.split_at(usize::from(cut).min(bytes.len()));
        assert_eq!(whole, read(bytes_max, [one, other]));
        assert_eq!(whole, read(bytes_max, bytes.chunks(usize::from(piece).max(1))));
        assert!(whole.0.iter().all(|event| event.data.chars().count() <= bytes_max));
    }
});

/// All events up to one that is too long.
fn read<'a>(bytes_max: usize, pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<SseEvent>, Option<EventTooLong>) {
    let (mut reader, mut events) = (SseReader::new(bytes_max), Vec::new());
    for piece in pieces {
        let pushed = reader.push(piece);
        events.extend(std::iter::from_fn(|| reader.next_event()));
        if let Err(error) = pushed {
            return (events, Some(error));
        }
    }
    (events, None)
}
