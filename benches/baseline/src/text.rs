//! A text server: reads a head and as many bytes as that says, and answers the same bytes every time.

use bytes::BytesMut;
use memchr::memmem;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Answers on a connection until it closes.
///
/// # Errors
/// When the connection breaks or a head is no text.
pub async fn answers(mut stream: impl AsyncRead + AsyncWrite + Unpin, answer: &[u8]) -> anyhow::Result<()> {
    let mut read = BytesMut::with_capacity(4 * 1024);
    loop {
        while let Some(head) = memmem::find(&read, b"\r\n\r\n").map(|at| at + 4) {
            let text = std::str::from_utf8(&read[..head])?;
            let length = text.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok());
            let whole = head + length.unwrap_or(0);
            if read.len() < whole {
                break;
            }
            let _request = read.split_to(whole);
            stream.write_all(answer).await?;
            stream.flush().await?;
        }
        if stream.read_buf(&mut read).await? == 0 {
            return Ok(());
        }
    }
}
