//! This module reads answers off the wire, strictly. Base 2.1.

use crate::limits::{BODY_BYTES_MAX, FIELDS_MAX, HEAD_BYTES_MAX};

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The fields of its head, as they came.
    pub fields: Vec<(String, String)>,
    /// Its body, whole.
    pub body: Vec<u8>,
    /// The head as it came, for reports.
    pub head: String,
}

/// Why bytes are no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadError {
    /// They break a rule, said in a sentence.
    Malformed(String),
    /// The head has more than [`HEAD_BYTES_MAX`].
    HeadTooLarge,
    /// The body has more than [`BODY_BYTES_MAX`].
    BodyTooLarge,
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Malformed(what) => write!(f, "what came is no AGTP/1.0 answer: {what}"),
            Self::HeadTooLarge => write!(f, "the head of the answer has more than {HEAD_BYTES_MAX} bytes"),
            Self::BodyTooLarge => write!(f, "the body of the answer has more than {BODY_BYTES_MAX} bytes"),
        }
    }
}

impl Response {
    /// The value of a field, whatever the case of its name.
    pub fn field(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// Reads the first answer in `bytes`, and how many of them it is. `None`: more must come.
///
/// # Errors
/// They are no beginning of an answer, or one beyond the bounds.
pub fn read(bytes: &[u8]) -> Result<Option<(Response, usize)>, ReadError> {
    let window = bytes.get(..HEAD_BYTES_MAX).unwrap_or(bytes);
    let Some(end) = window.windows(4).position(|four| four == b"\r\n\r\n") else {
        // A server of HTTP would otherwise be waited for to the end of patience.
        check_beginning(bytes)?;
        return if bytes.len() > HEAD_BYTES_MAX { Err(ReadError::HeadTooLarge) } else { Ok(None) };
    };
    let head = std::str::from_utf8(&bytes[..end]).map_err(|_| malformed("its head is not UTF-8"))?;
    let mut lines = head.split("\r\n");
    let status = status_of(lines.next().unwrap_or_default())?;
    let mut fields = Vec::new();
    for line in lines {
        if fields.len() == FIELDS_MAX {
            return Err(malformed("its head has too many fields"));
        }
        fields.push(field_of(line)?);
    }
    let length = length_of(&fields)?;
    let from = end + 4;
    match bytes.get(from..from + length) {
        None => Ok(None),
        Some(body) => {
            let response = Response { status, fields, body: body.to_vec(), head: head.to_owned() };
            Ok(Some((response, from + length)))
        }
    }
}

fn malformed(what: &str) -> ReadError {
    ReadError::Malformed(what.to_owned())
}

/// What can never become an answer is told before its head is whole.
fn check_beginning(bytes: &[u8]) -> Result<(), ReadError> {
    let version = b"AGTP/1.0 ";
    let common = bytes.len().min(version.len());
    match bytes[..common] == version[..common] {
        true => Ok(()),
        false => Err(malformed("it does not begin with `AGTP/1.0 `")),
    }
}

/// `AGTP/1.0 SP 3DIGIT SP reason`.
fn status_of(line: &str) -> Result<u16, ReadError> {
    let rest = line.strip_prefix("AGTP/1.0 ").ok_or_else(|| malformed("it does not begin with `AGTP/1.0 `"))?;
    let (code, reason) = rest.split_once(' ').ok_or_else(|| malformed("its status has no reason behind it"))?;
    let is_code = code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_digit());
    if !is_code || reason.bytes().any(|byte| byte.is_ascii_control()) {
        return Err(malformed("its first line is not `AGTP/1.0 CODE REASON`"));
    }
    code.parse().map_err(|_| malformed("its status is no number"))
}

fn field_of(line: &str) -> Result<(String, String), ReadError> {
    let (name, value) = line.split_once(':').ok_or_else(|| malformed("a field has no colon"))?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic());
    let value = value.trim_matches([' ', '\t']);
    let is_value = !value.chars().any(|c| c.is_control() && c != '\t');
    match is_name && is_value {
        true => Ok((name.to_owned(), value.to_owned())),
        false => Err(malformed("a field has a character that none may have")),
    }
}

/// Without a length there is no body.
fn length_of(fields: &[(String, String)]) -> Result<usize, ReadError> {
    let mut lengths = fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case("Content-Length"));
    let Some((_, text)) = lengths.next() else { return Ok(0) };
    // Two readers could take different ends of the answer for its end.
    if lengths.next().is_some() {
        return Err(malformed("it has several Content-Length"));
    }
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return Err(malformed("its Content-Length is no number"));
    }
    match text.parse() {
        Ok(length) if length <= BODY_BYTES_MAX => Ok(length),
        _ => Err(ReadError::BodyTooLarge),
    }
}
