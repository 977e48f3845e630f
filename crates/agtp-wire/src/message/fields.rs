//! Fields: kept as the lines that they are on the wire, with the places of names and values in them.

use std::fmt;
use std::ops::Range;

use memchr::memchr;

/// A list of fields in order. No name or value in it can end its line.
#[derive(Clone, Default)]
pub struct Fields {
    /// `Name: value` lines, each with its CRLF.
    lines: String,
    spans: Vec<Span>,
}

/// Where a field is in the lines.
#[derive(Debug, Clone, Copy)]
struct Span {
    name: (u32, u32),
    value: (u32, u32),
}

/// The reason why a field can't be on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadField {
    /// The name is empty or has other characters than a token.
    #[error("a field's name must be a token directly before its colon")]
    Name,
    /// The value has control characters, or is not ASCII.
    #[error("a field's value must be printable ASCII")]
    Value,
}

impl Fields {
    /// Adds a field at the end. Space around the value is left out.
    pub fn push(&mut self, name: &str, value: &str) -> Result<(), BadField> {
        let value = value.trim_matches([' ', '\t']);
        check(name, value)?;
        let start = self.lines.len();
        self.lines.push_str(name);
        self.lines.push_str(": ");
        let value_start = self.lines.len();
        self.lines.push_str(value);
        self.spans.push(Span::new(start..start + name.len(), value_start..self.lines.len()));
        self.lines.push_str("\r\n");
        Ok(())
    }

    /// Reads field lines, each with its CRLF; at most `max` of them. Bytes other than ASCII, control
    /// characters, folded lines and names that are no tokens are faults.
    pub(crate) fn parse(lines: &str, max: usize) -> Result<Option<Self>, BadField> {
        // The bytes are kept as they came: records hash a request byte for byte. Base 8.1.
        let mut fields = Self { lines: lines.to_owned(), spans: Vec::with_capacity(16) };
        let mut at = 0;
        // A line feed without its carriage return stays in the line, where it is a fault.
        while let Some(end) = ends(lines, at) {
            if fields.spans.len() == max {
                return Ok(None);
            }
            fields.spans.push(span(at, &lines[at..end])?);
            at = end + 2;
        }
        Ok(Some(fields))
    }

    /// The value of the first field of this name, whatever its case.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.spans.iter().find(|span| self.is_named(span, name)).map(|span| &self.lines[range(span.value)])
    }

    /// Names, whatever their case, that an earlier field has already.
    pub(crate) fn repeated(&self) -> impl Iterator<Item = &str> {
        let is_repeated = |(at, name): &(usize, &str)| self.spans[..*at].iter().any(|span| self.is_named(span, name));
        let names = self.spans.iter().map(|span| &self.lines[range(span.name)]).enumerate();
        names.filter(is_repeated).map(|(_, name)| name)
    }

    /// Asked for a dozen names with every message, so that lengths are compared before anything else.
    fn is_named(&self, span: &Span, name: &str) -> bool {
        let (start, end) = span.name;
        (end - start) as usize == name.len() && self.lines[range(span.name)].eq_ignore_ascii_case(name)
    }

    /// A copy with room for about a dozen more fields, so that a response is made without growing it.
    pub fn to_extend(&self) -> Self {
        let mut lines = String::with_capacity(self.lines.len() + 512);
        lines.push_str(&self.lines);
        let mut spans = Vec::with_capacity(self.spans.len() + 12);
        spans.extend_from_slice(&self.spans);
        Self { lines, spans }
    }

    /// Names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.spans.iter().map(|span| (&self.lines[range(span.name)], &self.lines[range(span.value)]))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The lines, as they are sent.
    pub fn lines(&self) -> &str {
        &self.lines
    }
}

impl PartialEq for Fields {
    /// Names in any case; how a line was spaced does not matter.
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): ((&str, &str), (&str, &str))| a.0.eq_ignore_ascii_case(b.0) && a.1 == b.1;
        self.len() == other.len() && self.iter().zip(other.iter()).all(same)
    }
}

impl Eq for Fields {}

impl fmt::Debug for Fields {
    /// Names only: values may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A token or a session could otherwise end up in a log.
        f.debug_list().entries(self.iter().map(|(name, _)| name)).finish()
    }
}

impl Span {
    fn new(name: Range<usize>, value: Range<usize>) -> Self {
        // Fields are far below 4 GiB together (`FIELDS_BYTES_MAX`).
        let pair = |range: Range<usize>| (range.start as u32, range.end as u32);
        Self { name: pair(name), value: pair(value) }
    }
}

fn range((start, end): (u32, u32)) -> Range<usize> {
    start as usize..end as usize
}

/// Finds name and value in one line, which begins at `at`.
fn span(at: usize, line: &str) -> Result<Span, BadField> {
    // Of the name nothing is trimmed: a space before the colon is read in two ways by two readers.
    let colon = memchr(b':', line.as_bytes()).ok_or(BadField::Name)?;
    let (name, rest) = (&line[..colon], &line[colon + 1..]);
    let begun = rest.trim_start_matches([' ', '\t']);
    let value = begun.trim_end_matches([' ', '\t']);
    check(name, value)?;
    let start = at + line.len() - begun.len();
    Ok(Span::new(at..at + name.len(), start..start + value.len()))
}

/// Where the line that begins at `at` ends, before its CRLF.
fn ends(lines: &str, at: usize) -> Option<usize> {
    let bytes = lines.as_bytes();
    let mut from = at;
    loop {
        let feed = from + memchr(b'\n', &bytes[from..])?;
        if feed > at && bytes[feed - 1] == b'\r' {
            return Some(feed - 1);
        }
        from = feed + 1;
    }
}

fn check(name: &str, value: &str) -> Result<(), BadField> {
    if name.is_empty() || !name.bytes().all(|byte| TOKEN[usize::from(byte)]) {
        return Err(BadField::Name);
    }
    // Without a way out in the middle, so that many bytes are looked at in one step.
    match value.bytes().fold(true, |fits, byte| fits & matches!(byte, b'\t' | b' '..=b'~')) {
        true => Ok(()),
        false => Err(BadField::Value),
    }
}

/// The bytes of tokens. RFC 9110 section 5.6.2.
static TOKEN: [bool; 256] = {
    let (mut table, mut byte) = ([false; 256], 0);
    while byte < table.len() {
        table[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let (others, mut at) = (b"!#$%&'*+-.^_`|~", 0);
    while at < others.len() {
        table[others[at] as usize] = true;
        at += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_case() {
        let mut fields = Fields::default();
        fields.push("Agent-ID", " ab ").unwrap();
        fields.push("Task-ID", "").unwrap();
        assert_eq!((fields.get("agent-id"), fields.get("TASK-ID"), fields.get("X")), (Some("ab"), Some(""), None));
        assert_eq!(fields.lines(), "Agent-ID: ab\r\nTask-ID: \r\n");
        assert_eq!(Fields::parse(fields.lines(), 2), Ok(Some(fields.clone())));
        assert_eq!(Fields::parse("agent-id:ab\r\nTASK-ID:\r\n", 2), Ok(Some(fields.clone())));
        assert_eq!(Fields::parse(fields.lines(), 1), Ok(None));
        assert!(!format!("{fields:?}").contains("ab"));
    }

    #[test]
    fn nothing_can_end_its_line_or_begin_another() {
        let mut fields = Fields::default();
        for (name, value, error) in [
            ("", "a", BadField::Name),
            ("A B", "a", BadField::Name),
            ("A\r\nB", "a", BadField::Name),
            ("A:", "a", BadField::Name),
            ("A", "a\r\nB: b", BadField::Value),
            ("A", "a\0", BadField::Value),
            ("A", "é", BadField::Value),
        ] {
            assert_eq!(fields.push(name, value), Err(error), "{name:?}: {value:?}");
        }
        assert!(fields.is_empty() && fields.lines().is_empty());
        for lines in
            [": a\r\n", "A : a\r\n", "A: a\r\n B: b\r\n", "A\r\n", "\tA: a\r\n", "A: a\nB: b\r\n", "A: a\rb\r\n"]
        {
            assert!(Fields::parse(lines, 9).is_err(), "{lines:?}");
        }
    }
}
