//! A program's output in lines, within bounds.

use std::os::fd::AsFd;

use futures::future::BoxFuture;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};

/// A line, where there is one.
type ReadLine = Result<Option<Vec<u8>>, LineError>;

/// Why there is no next line.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// It is longer than it may be.
    #[error("a line is too long")]
    TooLong,
    /// The stream broke.
    #[error(transparent)]
    Broken(#[from] std::io::Error),
}

/// Whether a stream has something to be read right now, its end included. Asks the system, and not the
/// runtime, which learns of it later.
pub fn is_readable(stream: &impl AsFd) -> bool {
    let mut ends = [PollFd::new(stream.as_fd(), PollFlags::POLLIN)];
    // What can't be looked at is not taken for silent.
    poll(&mut ends, PollTimeout::ZERO).map_or(true, |ready| ready > 0)
}

/// The next line without its end, of at most `bytes_max` bytes; the last one needs no end. `None` at
/// the end of the output.
///
/// # Errors
/// The line is longer, or the stream broke. What was read of the line is lost.
pub fn line<'a>(reader: &'a mut (dyn AsyncBufRead + Send + Unpin), bytes_max: usize) -> BoxFuture<'a, ReadLine> {
    Box::pin(read_line(reader, bytes_max))
}

async fn read_line(reader: &mut (dyn AsyncBufRead + Send + Unpin), bytes_max: usize) -> ReadLine {
    let mut line = Vec::new();
    loop {
        let held = reader.fill_buf().await?;
        if held.is_empty() {
            return Ok((!line.is_empty()).then_some(line));
        }
        let (taken, is_whole) = match held.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at, true),
            None => (held.len(), false),
        };
        if line.len() + taken > bytes_max {
            return Err(LineError::TooLong);
        }
        line.extend_from_slice(&held[..taken]);
        reader.consume(taken + usize::from(is_whole));
        if is_whole {
            return Ok(Some(line));
        }
    }
}

/// Hands on each line without its end, until the output ends or breaks. A longer one comes in pieces of
/// `bytes_max` bytes, so that whoever writes is never held up.
pub fn each_line<'a>(
    reader: impl AsyncRead + Send + Unpin + 'a,
    bytes_max: usize,
    take: impl FnMut(&[u8]) + Send + 'a,
) -> BoxFuture<'a, ()> {
    Box::pin(read_lines(Box::new(reader), bytes_max, Box::new(take)))
}

/// What takes a line.
type TakeLine<'a> = Box<dyn FnMut(&[u8]) + Send + 'a>;

async fn read_lines<'a>(reader: Box<dyn AsyncRead + Send + Unpin + 'a>, bytes_max: usize, mut take: TakeLine<'a>) {
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut reader).take(bytes_max as u64).read_until(b'\n', &mut line).await {
            Ok(1..) => take(line.strip_suffix(b"\n").unwrap_or(&line)),
            Ok(0) | Err(_) => return,
        }
    }
}

/// A line of output as it may stand in a log: without characters that could forge another line, or
/// move a terminal's cursor.
pub fn printable(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    text.trim_end().chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    async fn lines(mut bytes: &[u8], bytes_max: usize) -> Result<Vec<Vec<u8>>, LineError> {
        let mut found = Vec::new();
        while let Some(line) = line(&mut bytes, bytes_max).await? {
            found.push(line);
        }
        Ok(found)
    }

    #[tokio::test]
    async fn a_line_has_a_bound_and_the_last_one_needs_no_end() {
        assert_eq!(lines(b"one\n\ntwo!", 4).await.unwrap(), [b"one".to_vec(), b"".to_vec(), b"two!".to_vec()]);
        assert!(matches!(lines(b"one\ntwo!?\n", 4).await, Err(LineError::TooLong)));
        assert_eq!(lines(b"", 4).await.unwrap(), Vec::<Vec<u8>>::new());
    }

    #[test]
    fn what_was_written_is_seen_at_once_and_so_is_the_end() {
        use std::io::Write;
        let (mut near, far) = std::os::unix::net::UnixStream::pair().unwrap();
        assert!(!is_readable(&far));
        near.write_all(b"x").unwrap();
        assert!(is_readable(&far));
        let (near, far) = std::os::unix::net::UnixStream::pair().unwrap();
        drop(near);
        assert!(is_readable(&far));
    }

    #[tokio::test]
    async fn a_long_line_is_handed_on_in_pieces() {
        let mut found = Vec::new();
        each_line(&b"12345678\n9\n\nlast"[..], 4, |line| found.push(printable(line))).await;
        assert_eq!(found, ["1234", "5678", "", "9", "", "last"]);
    }

    #[test]
    fn a_line_of_a_log_stays_one() {
        assert_eq!(printable(b"a\r\x1b[2Jb\tc \xff\r"), "a\u{fffd}\u{fffd}[2Jb\u{fffd}c \u{fffd}");
    }

    proptest! {
        #[test]
        fn lines_are_what_was_written(written in proptest::collection::vec("[^\n]{1,20}", 0..8)) {
            let bytes = written.join("\n");
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let read = runtime.block_on(lines(bytes.as_bytes(), 200)).unwrap();
            prop_assert_eq!(read, written.iter().map(|line| line.as_bytes().to_vec()).collect::<Vec<_>>());
        }

        #[test]
        fn nothing_of_a_control_is_printed(line in proptest::collection::vec(any::<u8>(), 0..64)) {
            prop_assert!(!printable(&line).contains(char::is_control));
        }
    }
}
