//! This module begins a handshake of TLS 1.1 by hand: no library offers it any more. RFC 4346 7.4.1.

use std::net::IpAddr;

use forecourt_egress::{Egress, Purpose};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// What a server says to a ClientHello of an old version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HelloAnswer {
    /// It goes on with the handshake in that version: the beginning of its answer, in hexadecimal.
    Taken(String),
    /// An alert, the end of the connection, or something else.
    Refused,
}

/// TLS 1.1, as it stands in a handshake.
const VERSION: [u8; 2] = [3, 2];
/// Suites of that time, strong ones first.
const SUITES: [[u8; 2]; 7] =
    [[0xc0, 0x0a], [0xc0, 0x14], [0xc0, 0x09], [0xc0, 0x13], [0x00, 0x35], [0x00, 0x2f], [0x00, 0x0a]];
/// Bytes of an answer that tell what it is: two headers and a version.
const ANSWER_BYTES: usize = 11;

/// Says hello, and reads what comes.
///
/// # Errors
/// There is no connection; why, in a sentence.
pub(super) async fn ask(egress: &Egress, host: &str, port: u16) -> Result<HelloAnswer, String> {
    let connection = egress.connect(Purpose::Upstream, host, port).await;
    let mut connection = connection.map_err(|error| error.log_reason())?;
    connection.write_all(&hello(host)).await.map_err(|error| error.to_string())?;
    connection.flush().await.map_err(|error| error.to_string())?;
    let mut bytes = [0; ANSWER_BYTES];
    let mut count = 0;
    while count < ANSWER_BYTES {
        // A server that refuses may close hard.
        match connection.read(&mut bytes[count..]).await {
            Ok(read @ 1..) => count += read,
            _ => break,
        }
    }
    Ok(read(&bytes[..count]))
}

/// Whether an answer is a ServerHello of the version that was offered.
fn read(bytes: &[u8]) -> HelloAnswer {
    match bytes {
        // A record of handshake, its version and length; a ServerHello, its length and version.
        [0x16, 3, _, _, _, 2, _, _, _, major, minor, ..] if [*major, *minor] == VERSION => {
            HelloAnswer::Taken(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" "))
        }
        _ => HelloAnswer::Refused,
    }
}

/// Bytes with their length before them, in two bytes.
fn counted(bytes: &[u8]) -> Vec<u8> {
    // All that is counted here has a bound far below: the longest part is a name of 255 bytes.
    let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
    [&length.to_be_bytes()[..], bytes].concat()
}

fn extension(kind: u16, bytes: &[u8]) -> Vec<u8> {
    [&kind.to_be_bytes()[..], &counted(bytes)].concat()
}

/// A ClientHello of TLS 1.1 in its record.
fn hello(host: &str) -> Vec<u8> {
    let mut extensions = Vec::new();
    // An address is no name, and may not be sent as one. RFC 6066 3.
    if host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_err() {
        let name = [&[0][..], &counted(host.as_bytes())].concat();
        extensions.extend(extension(0, &counted(&name)));
    }
    // Curves: x25519, P-256; points: uncompressed.
    extensions.extend(extension(10, &counted(&[0, 29, 0, 23])));
    extensions.extend(extension(11, &[1, 0]));
    // Nothing is encrypted under it: it need not be random.
    let random = *b"conform: is TLS 1.1 spoken here?";
    let suites = counted(&SUITES.concat());
    let body = [&VERSION[..], &random, &[0], &suites, &[1, 0], &counted(&extensions)].concat();
    let message = [&[1, 0][..], &counted(&body)].concat();
    [&[0x16, 3, 1][..], &counted(&message)].concat()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_hello_has_its_lengths() {
        let bytes = hello("demo.localhost");
        assert_eq!(bytes[..3], [0x16, 3, 1]);
        assert_eq!(usize::from(u16::from_be_bytes([bytes[3], bytes[4]])), bytes.len() - 5);
        assert_eq!(usize::from(u16::from_be_bytes([bytes[7], bytes[8]])), bytes.len() - 9);
        assert_eq!(bytes[9..11], VERSION);
        assert!(bytes.windows(14).any(|part| part == b"demo.localhost"));
        assert!(!hello("127.0.0.1").windows(9).any(|part| part == b"127.0.0.1"));
    }

    #[test]
    fn only_a_server_hello_of_that_version_is_taken() {
        let hello = [0x16, 3, 2, 0, 50, 2, 0, 0, 46, 3, 2];
        assert!(matches!(read(&hello), HelloAnswer::Taken(_)));
        for refused in [&[][..], &[0x15, 3, 2, 0, 2, 2, 70], &[0x16, 3, 3, 0, 50, 2, 0, 0, 46, 3, 3], &hello[..10]] {
            assert_eq!(read(refused), HelloAnswer::Refused, "{refused:?}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_strange(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            let _ = read(&bytes);
        }
    }
}
