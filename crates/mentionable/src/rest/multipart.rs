//! The POST form, first step: a `multipart/form-data` body into fields in their order. RFC 7578.
//!
//! One strict reader over the complete body. It borrows nothing from lenient ones: a boundary is a
//! line of its own, header lines end in CRLF, a field has exactly one name, and nothing after the
//! closing boundary counts. Bodies without any part are read; what to make of them is not decided
//! here. `Content-Transfer-Encoding` is deprecated (RFC 7578 4.7), but mail programs still send
//! base64, which is decoded; other codings are refused.

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use memchr::memmem;

use super::limits::{BOUNDARY_BYTES_MAX, ENTRIES_MAX, PART_HEAD_BYTES_MAX};
use super::wire::DecodeError;

#[cfg(test)]
mod tests;

/// One part of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    /// Its name, unescaped.
    pub(crate) name: String,
    /// The file name, if it has one. Caller's text.
    pub(crate) file_name: Option<String>,
    /// The declared media type. `text/plain` is meant when there is none (RFC 7578 4.4).
    pub(crate) mime: Option<String>,
    /// The content.
    pub(crate) bytes: Bytes,
}

/// The boundary that a `Content-Type` announces. [`DecodeError::NotMultipart`] for every other type.
pub(crate) fn boundary(content_type: Option<&str>) -> Result<String, DecodeError> {
    let text = content_type.ok_or(DecodeError::NotMultipart)?;
    let essence = text.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("multipart/form-data") {
        return Err(DecodeError::NotMultipart);
    }
    let mut boundaries = parameters(&text[text.find(';').unwrap_or(text.len())..])
        .ok_or(DecodeError::Multipart("the parameters of its content type"))?
        .into_iter()
        .filter(|(name, _)| name == "boundary");
    match (boundaries.next(), boundaries.next()) {
        (Some((_, boundary)), None) if is_boundary(&boundary) => Ok(boundary),
        (Some(_), None) => Err(DecodeError::Multipart("a boundary has 1 to 70 characters of RFC 2046")),
        (None, _) => Err(DecodeError::Multipart("the content type names no boundary")),
        (Some(_), Some(_)) => Err(DecodeError::Multipart("the content type names two boundaries")),
    }
}

/// RFC 2046 5.1.1: `bchars`, not ending in a space.
fn is_boundary(text: &str) -> bool {
    let known = |b: u8| b.is_ascii_alphanumeric() || b"'()+_,-./:=? ".contains(&b);
    (1..=BOUNDARY_BYTES_MAX).contains(&text.len()) && text.bytes().all(known) && !text.ends_with(' ')
}

/// The fields of a body, in order. Their content is a view into `body`.
pub(crate) fn decode(body: &Bytes, boundary: &str) -> Result<Vec<Field>, DecodeError> {
    let mut reader = Reader { body, at: 0, delimiter: format!("\r\n--{boundary}").into_bytes() };
    let mut fields = Vec::new();
    let mut more = reader.opening()?;
    while more {
        if fields.len() == ENTRIES_MAX {
            return Err(DecodeError::TooManyEntries);
        }
        let head = reader.head()?;
        let (bytes, follows) = reader.content()?;
        fields.push(field(head, bytes)?);
        more = follows;
    }
    Ok(fields)
}

/// A place in a body.
struct Reader<'a> {
    body: &'a Bytes,
    at: usize,
    /// CRLF, two hyphens and the boundary.
    delimiter: Vec<u8>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.body[self.at..]
    }

    /// Passes the first boundary, which begins the body. Of a preamble only an empty line is accepted.
    fn opening(&mut self) -> Result<bool, DecodeError> {
        self.at = if self.body.starts_with(b"\r\n") { 2 } else { 0 };
        // Without its CRLF, which the first boundary need not have before it.
        let first = &self.delimiter[2..];
        if !self.rest().starts_with(first) {
            return Err(DecodeError::Multipart("it must begin with its boundary"));
        }
        self.at += first.len();
        self.boundary_end().ok_or(DecodeError::Multipart("its first boundary does not end its line"))
    }

    /// Passes what follows a boundary. `true`: a part comes; `false`: that was the last one; `None`:
    /// the line goes on, so it was none.
    fn boundary_end(&mut self) -> Option<bool> {
        let rest = self.rest();
        let tail = rest.strip_prefix(b"--");
        let line = tail.unwrap_or(rest);
        let padding = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let line_ends = line[padding..].starts_with(b"\r\n");
        if tail.is_some() {
            let body_ends = line.len() == padding || &line[padding..] == b"\r";
            return (line_ends || body_ends).then_some(false);
        }
        self.at += padding + 2;
        line_ends.then_some(true)
    }

    /// The header block of a part, without the empty line after it.
    fn head(&mut self) -> Result<&'a [u8], DecodeError> {
        // Within the bound only: the end of a head is not looked for in all that follows.
        let window = &self.rest()[..self.rest().len().min(PART_HEAD_BYTES_MAX + 4)];
        if window.starts_with(b"\r\n") {
            return Err(DecodeError::Multipart("a part has no Content-Disposition"));
        }
        let end = memmem::find(window, b"\r\n\r\n").ok_or(match window.len() > PART_HEAD_BYTES_MAX {
            true => DecodeError::Multipart("the header fields of a part are longer than 8 KiB"),
            false => DecodeError::Multipart("a part has no end"),
        })?;
        self.at += end + 4;
        Ok(&window[..end])
    }

    /// The content of a part up to the next boundary, and whether another part follows.
    fn content(&mut self) -> Result<(Bytes, bool), DecodeError> {
        let start = self.at;
        // An empty part may be followed by its boundary at once, which shares the CRLF of its head.
        let mut search = start.saturating_sub(2);
        loop {
            let found = memmem::find(&self.body[search..], &self.delimiter);
            let end = search + found.ok_or(DecodeError::Multipart("its last boundary is missing"))?;
            self.at = end + self.delimiter.len();
            if let Some(follows) = self.boundary_end() {
                return Ok((self.body.slice(start.min(end)..end), follows));
            }
            // It only looked like a boundary, so that it is content; the next one may begin behind its CRLF.
            search = end + 2;
        }
    }
}

fn field(head: &[u8], bytes: Bytes) -> Result<Field, DecodeError> {
    let head =
        std::str::from_utf8(head).map_err(|_| DecodeError::Multipart("the header fields of a part are not UTF-8"))?;
    let (mut disposition, mut mime, mut coding) = (None, None, None);
    for line in head.split("\r\n") {
        let (name, value) = header(line)?;
        let slot = match name {
            name if name.eq_ignore_ascii_case("content-disposition") => &mut disposition,
            name if name.eq_ignore_ascii_case("content-type") => &mut mime,
            name if name.eq_ignore_ascii_case("content-transfer-encoding") => &mut coding,
            _ => continue,
        };
        // Of two, other readers of the same body may take the other one.
        if slot.replace(value).is_some() {
            return Err(DecodeError::Multipart("a header field of a part occurs twice"));
        }
    }
    let (name, file_name) = named(disposition.ok_or(DecodeError::Multipart("a part has no Content-Disposition"))?)?;
    let bytes = uncoded(coding.unwrap_or("binary"), bytes)?;
    Ok(Field { name, file_name, mime: mime.map(str::to_owned).filter(|mime| !mime.is_empty()), bytes })
}

/// A header line: a token, a colon, and a value of visible characters. Folding is not accepted.
fn header(line: &str) -> Result<(&str, &str), DecodeError> {
    let wrong = DecodeError::Multipart("a header line of a part");
    let (name, value) = line.split_once(':').ok_or(wrong.clone())?;
    let clean = value.chars().all(|c| c == '\t' || !c.is_control());
    match is_token(name) && clean {
        true => Ok((name, value.trim())),
        false => Err(wrong),
    }
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// Name and file name of a `Content-Disposition`.
fn named(disposition: &str) -> Result<(String, Option<String>), DecodeError> {
    let wrong = DecodeError::Multipart("a Content-Disposition must be form-data with one name");
    let (kind, rest) = disposition.split_at(disposition.find(';').unwrap_or(disposition.len()));
    let found = parameters(rest).filter(|_| kind.trim().eq_ignore_ascii_case("form-data")).ok_or(wrong.clone())?;
    let only = |wanted: &str| {
        let mut values = found.iter().filter(|(name, _)| name == wanted).map(|(_, value)| value.clone());
        match (values.next(), values.next()) {
            (first, None) => Ok(first),
            (_, Some(_)) => Err(wrong.clone()),
        }
    };
    let name = only("name")?.filter(|name| !name.is_empty()).ok_or(wrong.clone())?;
    Ok((name, only("filename")?))
}

/// `; name=value` pairs, names in lower case. Values are tokens or quoted; `None` for anything else.
/// The loose values that browsers and other clients send (`name=a b`) are not accepted.
fn parameters(text: &str) -> Option<Vec<(String, String)>> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(after) = rest.strip_prefix(';') {
        let after = after.trim_start();
        if after.is_empty() || after.starts_with(';') {
            rest = after;
            continue;
        }
        let (name, after) = after.split_once('=')?;
        let (value, after) = value(after.trim_start())?;
        if !is_token(name.trim_end()) {
            return None;
        }
        found.push((name.trim_end().to_ascii_lowercase(), value));
        rest = after.trim_start();
    }
    rest.is_empty().then_some(found)
}

/// One value, and what follows it. In quotes, `\"` and `\\` are unescaped and every other backslash
/// stands for itself, since browsers write Windows paths.
fn value(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([';', ' ', '\t']).unwrap_or(text.len());
        let (token, after) = text.split_at(end);
        let plain = !token.is_empty() && !token.contains('"');
        return plain.then(|| (token.to_owned(), after));
    };
    let mut value = String::new();
    let mut chars = quoted.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, &quoted[at + 1..])),
            '\\' => match chars.next_if(|(_, next)| matches!(next, '"' | '\\')) {
                Some((_, escaped)) => value.push(escaped),
                None => value.push('\\'),
            },
            other => value.push(other),
        }
    }
    None
}

/// The content behind a `Content-Transfer-Encoding`: only base64 is a coding that clients still send.
fn uncoded(coding: &str, bytes: Bytes) -> Result<Bytes, DecodeError> {
    match coding.to_ascii_lowercase().as_str() {
        "7bit" | "8bit" | "binary" => Ok(bytes),
        "base64" => {
            let packed: Vec<u8> = bytes.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
            let decoded = STANDARD.decode(packed).map_err(|_| DecodeError::Multipart("a part is not base64"))?;
            Ok(decoded.into())
        }
        _ => Err(DecodeError::Multipart("a transfer encoding that is not accepted")),
    }
}
