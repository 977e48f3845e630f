//! What a program prints, up to a line that is too long: a message of this transport is a line, and the SDK
//! waits for its end.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// A stream of lines that fails at a line of more than `bytes_max`.
pub(crate) struct Lines<R> {
    inner: R,
    bytes_max: usize,
    /// Bytes since the last end of a line.
    line: usize,
}

impl<R> Lines<R> {
    pub(crate) fn new(inner: R, bytes_max: usize) -> Self {
        Self { inner, bytes_max, line: 0 }
    }

    fn count(&mut self, bytes: &[u8]) -> io::Result<()> {
        for byte in bytes {
            self.line = if *byte == b'\n' { 0 } else { self.line + 1 };
            if self.line > self.bytes_max {
                return Err(io::Error::other("a line of the program is too long"));
            }
        }
        Ok(())
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Lines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        let counted = self.count(buffer.filled().get(before..).unwrap_or_default());
        if counted.is_err() {
            // By the contract of `poll_read` an error means that nothing was read.
            buffer.set_filled(before);
        }
        Poll::Ready(counted)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn lines_are_bounded_and_texts_are_not() {
        let read = async |text: &str| Lines::new(text.as_bytes(), 3).read_to_string(&mut String::new()).await;
        assert_eq!(read("abc\nabc\n\nabc").await.expect("each line fits"), 12);
        assert!(read("abc\nabcd\n").await.is_err());
    }
}
