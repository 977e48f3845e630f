//! Start lines from text and back.

use bytes::BytesMut;

use super::HeadError;
use crate::message::{RequestLine, StatusLine, VERSION};

/// A start line that the codec can read and write: of a request, or of a response.
pub trait StartLine: Sized {
    /// Reads a line without its end, which begins with the version.
    fn parse(line: &str) -> Result<Self, HeadError>;
    /// Writes it without its end.
    fn write(&self, out: &mut BytesMut);
}

impl StartLine for RequestLine {
    /// One or two words behind the version. Anything printable is a word: whether it is a method and a
    /// path is judged where both have answers of their own.
    fn parse(line: &str) -> Result<Self, HeadError> {
        let rest = behind_version(line)?;
        let (method, target) = match rest.split_once(' ') {
            Some((method, target)) => (method, Some(target)),
            None => (rest, None),
        };
        if !is_word(method) || !target.is_none_or(is_word) {
            return Err(HeadError::Line);
        }
        Ok(Self { method: method.to_owned(), target: target.map(str::to_owned) })
    }

    fn write(&self, out: &mut BytesMut) {
        out.extend_from_slice(VERSION.as_bytes());
        out.extend_from_slice(b" ");
        out.extend_from_slice(self.method.as_bytes());
        if let Some(target) = &self.target {
            out.extend_from_slice(b" ");
            out.extend_from_slice(target.as_bytes());
        }
    }
}

impl StartLine for StatusLine {
    fn parse(line: &str) -> Result<Self, HeadError> {
        let (code, reason) = behind_version(line)?.split_once(' ').ok_or(HeadError::Line)?;
        // `parse` alone would take `+20` and `0200`.
        let is_code = code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_digit());
        match code.parse() {
            Ok(code) if is_code && !reason.contains(char::is_control) => Ok(Self::new(code, reason)),
            _ => Err(HeadError::Line),
        }
    }

    fn write(&self, out: &mut BytesMut) {
        let digit = |worth: u16| b'0' + (self.code / worth % 10) as u8;
        out.extend_from_slice(VERSION.as_bytes());
        out.extend_from_slice(&[b' ', digit(100), digit(10), digit(1), b' ']);
        out.extend_from_slice(self.reason.as_bytes());
    }
}

fn behind_version(line: &str) -> Result<&str, HeadError> {
    line.strip_prefix(VERSION).and_then(|rest| rest.strip_prefix(' ')).ok_or(HeadError::Version)
}

/// Whether a text is one word: not empty, with neither spaces nor control characters.
fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control())
}
