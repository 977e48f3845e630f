//! This module sends a request of HTTP/1.1 by hand, for what a careful client would not send.

use std::time::Duration;

use forecourt_egress::{Egress, EgressError, Purpose};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use url::Url;

use crate::limits::HEAD_BYTES_MAX;

/// Bytes that are read at once.
const READ_BYTES: usize = 4096;
/// The port of https.
const HTTPS_PORT: u16 = 443;

/// Sends a GET of a path and query, and gives the status of the answer and what was read of it.
///
/// # Errors
/// There is no connection, or no answer of HTTP/1.1 on it; why, in a sentence.
pub(super) async fn get(
    egress: &Egress,
    base: &Url,
    target: &str,
    patience: Duration,
) -> Result<(u16, Vec<u8>), String> {
    let exchange = tokio::time::timeout(patience, exchange(egress, base, target));
    let bytes = exchange.await.map_err(|_| "no answer in time".to_owned())??;
    let status = status_of(&bytes).ok_or("what came is no answer of HTTP/1.1")?;
    Ok((status, bytes))
}

async fn exchange(egress: &Egress, base: &Url, target: &str) -> Result<Vec<u8>, String> {
    let host = base.host_str().unwrap_or_default();
    let port = base.port_or_known_default().unwrap_or(HTTPS_PORT);
    let reason = |error: EgressError| error.log_reason();
    let mut connection = match base.scheme() {
        "https" => {
            let tls = egress.tls(b"http/1.1", HTTPS_PORT, None).map_err(|error| error.to_string())?;
            egress.connect_tls(Purpose::Upstream, host, port, &tls).await.map_err(reason)?
        }
        _ => egress.connect(Purpose::Upstream, host, port).await.map_err(reason)?,
    };
    // Without the caller's token: a host that wants it first answers 401, which leaves the rule untold.
    let head = format!("GET {target} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n");
    connection.write_all(head.as_bytes()).await.map_err(|error| error.to_string())?;
    connection.flush().await.map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    while bytes.len() < HEAD_BYTES_MAX && !bytes.windows(4).any(|four| four == b"\r\n\r\n") {
        let from = bytes.len();
        bytes.resize(from + READ_BYTES, 0);
        // A server that refuses may close hard, and what it said before counts.
        let count = connection.read(&mut bytes[from..]).await.unwrap_or(0);
        bytes.truncate(from + count);
        if count == 0 {
            break;
        }
    }
    Ok(bytes)
}

/// The status in the first line of an answer.
fn status_of(bytes: &[u8]) -> Option<u16> {
    let rest = bytes.strip_prefix(b"HTTP/1.")?;
    let code = rest.get(2..5).filter(|code| code.iter().all(u8::is_ascii_digit))?;
    std::str::from_utf8(code).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_status_is_in_the_first_line() {
        assert_eq!(status_of(b"HTTP/1.1 413 Payload Too Large\r\n"), Some(413));
        assert_eq!(status_of(b"HTTP/1.0 200"), Some(200));
        assert_eq!(status_of(b"HTTP/1.1 4x3 "), None);
        assert_eq!(status_of(b"HTTP/1.1 41"), None);
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_strange(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = status_of(&[b"HTTP/1.".as_slice(), &bytes].concat());
        }
    }
}
