//! Messages of AGTP: what is read is the same however it arrives in pieces, and survives being written.

#![no_main]

use bytes::BytesMut;
use forecourt_agtp_wire::codec::{Bounds, Decoder, HeadError, StartLine, encode};
use forecourt_agtp_wire::message::{Message, RequestLine, StatusLine};
use libfuzzer_sys::fuzz_target;

/// Small enough that a fuzzer reaches every bound.
const BOUNDS: Bounds = Bounds { start_line_bytes: 64, fields_bytes: 256, body_bytes: 128 };

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (cut, piece, bytes) = input;
    for bounds in [BOUNDS, Bounds::default()] {
        one_kind::<RequestLine>(bounds, usize::from(cut), usize::from(piece), bytes);
        one_kind::<StatusLine>(bounds, usize::from(cut), usize::from(piece), bytes);
    }
});

fn one_kind<S: StartLine + PartialEq + std::fmt::Debug>(bounds: Bounds, cut: usize, piece: usize, bytes: &[u8]) {
    let whole = read::<S>(bounds, [bytes]);
    let (one, other) = bytes.split_at(cut.min(bytes.len()));
    assert_eq!(whole, read::<S>(bounds, [one, other]));
    assert_eq!(whole, read::<S>(bounds, bytes.chunks(piece.max(1))));
    for message in whole.0 {
        assert!(message.body.len() <= bounds.body_bytes);
        let mut written = BytesMut::new();
        encode(&message, &mut written);
        let (again, fault) = read::<S>(bounds, [&written[..]]);
        assert_eq!(fault, None);
        assert_eq!(again, [message]);
    }
}

/// All messages up to the first fault.
fn read<'a, S: StartLine>(
    bounds: Bounds,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<Message<S>>, Option<HeadError>) {
    let (mut decoder, mut buffer) = (Decoder::<S>::new(bounds), BytesMut::new());
    let mut messages = Vec::new();
    for piece in pieces {
        buffer.extend_from_slice(piece);
        loop {
            match decoder.decode(&mut buffer) {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => break,
                Err(fault) => return (messages, Some(fault)),
            }
        }
    }
    (messages, None)
}
