//! A program's output, in lines and in pieces of text, within bounds.

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::ChildStdout;

use super::{line_failure, read_failure};
use forecourt_agents::limits::{ANSWER_BYTES_MAX, FRAME_BYTES_MAX};
use forecourt_agents::upstream::UpstreamFailure;

/// Reads the standard output of one process.
pub(super) struct Output {
    reader: BufReader<ChildStdout>,
    /// Bytes that this answer may still have.
    left: usize,
    /// The beginning of a character whose other bytes have not come yet.
    cut: Vec<u8>,
    /// What was read ahead, to be read again.
    ahead: Option<ReadLine>,
}

/// A line without its end. `None` at the end of the output.
pub(super) type ReadLine = Result<Option<Vec<u8>>, UpstreamFailure>;

impl Output {
    pub(super) fn new(stdout: ChildStdout) -> Self {
        Self { reader: BufReader::new(stdout), left: ANSWER_BYTES_MAX, cut: Vec::new(), ahead: None }
    }

    /// Begins another answer.
    pub(super) fn begin(&mut self) {
        self.left = ANSWER_BYTES_MAX;
    }

    /// Has a line be read again, which was read to see who speaks.
    pub(super) fn push_back(&mut self, line: ReadLine) {
        self.ahead = Some(line);
    }

    /// Whether nothing was written beyond what was read. An end is something too.
    pub(super) fn is_silent(&self) -> bool {
        self.reader.buffer().is_empty() && !forecourt_process::is_readable(self.reader.get_ref())
    }

    /// The next line without its end; the last one needs none. `None` at the end of the output.
    pub(super) async fn line(&mut self) -> ReadLine {
        if let Some(line) = self.ahead.take() {
            return line;
        }
        let line = forecourt_process::line(&mut self.reader, FRAME_BYTES_MAX.min(self.left)).await;
        let line = line.map_err(line_failure)?;
        // An end of a line costs a byte, so that empty lines have a bound too.
        let used = line.as_ref().map_or(0, |line| line.len() + 1);
        self.left = self.left.checked_sub(used).ok_or(UpstreamFailure::TooLarge)?;
        Ok(line)
    }

    /// The next piece of text, cut at a character's border. `None` at the end of the output.
    pub(super) async fn text(&mut self) -> Result<Option<Vec<u8>>, UpstreamFailure> {
        loop {
            let held = self.reader.fill_buf().await.map_err(|error| read_failure(&error))?;
            if held.is_empty() {
                let rest = std::mem::take(&mut self.cut);
                return Ok((!rest.is_empty()).then_some(rest));
            }
            let mut text = std::mem::take(&mut self.cut);
            text.extend_from_slice(held);
            let used = held.len();
            self.reader.consume(used);
            self.left = self.left.checked_sub(used).ok_or(UpstreamFailure::TooLarge)?;
            self.cut = text.split_off(whole_characters(&text));
            if !text.is_empty() {
                return Ok(Some(text));
            }
        }
    }
}

/// How many bytes to pass on, so that no character is cut in two.
fn whole_characters(text: &[u8]) -> usize {
    match std::str::from_utf8(text) {
        Ok(_) => text.len(),
        // Bytes that are no UTF-8 at all are passed on, and replaced later.
        Err(error) if error.error_len().is_some() => text.len(),
        Err(error) => error.valid_up_to(),
    }
}

#[cfg(test)]
mod tests {
    use super::whole_characters;

    #[test]
    fn a_cut_character_waits_for_its_rest() {
        for (text, whole) in [("aé".as_bytes(), 3), (b"a\xc3", 1), (b"\xf0\x9f\x98", 0), (b"a\xff", 2), (b"", 0)] {
            assert_eq!(whole_characters(text), whole, "{text:?}");
        }
    }
}
