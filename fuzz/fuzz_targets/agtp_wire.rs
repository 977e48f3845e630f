//! Messages of AGTP: what is read is the same however it arrives in pieces, and survives being written.

#![no_main]

use bytes::BytesMut;
use forecourt_agtp::codec::{Bounds, Decoder, Fault, StartLine, encode};
use forecourt_agtp::wire::{Message, RequestLine, StatusLine};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (cut, bytes) = input;
    one_kind::<RequestLine>(cut, bytes);
    one_kind::<StatusLine>(cut, bytes);
});

fn one_kind<S: StartLine + PartialEq + std::fmt::Debug>(cut: u8, bytes: &[u8]) {
    let whole = read::<S>([bytes]);
    let (one, other) = bytes.split_at(usize::from(cut).min(bytes.len()));
    assert_eq!(whole, read::<S>([one, other]));
    for message in whole.0 {
        let mut written = BytesMut::new();
        encode(&message, &mut written);
        let (again, fault) = read::<S>([&written]);
        assert_eq!(fault, None);
        assert_eq!(again.len(), 1);
        assert_eq!((&again[0].start, &again[0].body), (&message.start, &message.body));
    }
}

/// All messages up to the first fault.
fn read<'a, S: StartLine>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Message<S>>, Option<Fault>) {
    let (mut decoder, mut buffer) = (Decoder::<S>::new(Bounds::default()), BytesMut::new());
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
