//! `multipart/form-data`. RFC 7578.

use bytes::Bytes;
use forecourt_contract::endpoint::Style;
use serde_json::Value;

use super::file::file;
use super::pairs::{bracketed, items, text};
use crate::limits::FORM_BYTES_MAX;

/// What begins a boundary. A number follows that makes it occur nowhere in the content.
const BOUNDARY: &str = "forecourt-part";

/// The parts while they are written.
#[derive(Debug, Default)]
pub(super) struct Multipart {
    parts: Vec<Part>,
    bytes: usize,
}

#[derive(Debug)]
struct Part {
    head: String,
    content: Bytes,
}

impl Multipart {
    /// Adds a field, a part for each item of a list.
    ///
    /// # Errors
    /// There is more than fits.
    pub(super) fn add(&mut self, name: &str, value: &Value, style: Style) -> Result<(), &'static str> {
        match (style, value) {
            (_, Value::Null) => {}
            (Style::Deep, value) => bracketed(name, value, &mut |name, word| self.text(name, &text(word), None)),
            (Style::Json, value) => self.text(name, &value.to_string(), Some("application/json")),
            (Style::Comma, value) => self.text(name, &items(value).join(","), None),
            (Style::Space, value) => self.text(name, &items(value).join(" "), None),
            (Style::Pipe, value) => self.text(name, &items(value).join("|"), None),
            (Style::Fields, Value::Object(members)) => {
                members.iter().try_for_each(|(name, value)| self.add(name, value, Style::Repeat))?;
            }
            (_, Value::Array(list)) => list.iter().for_each(|item| self.one(name, item)),
            (_, value) => self.one(name, value),
        }
        self.checked()
    }

    /// Adds a file, or each of a list of them. `media` is what it is where it does not say so itself.
    ///
    /// # Errors
    /// A text that is no file, or more than fits.
    pub(super) fn files(&mut self, name: &str, value: &Value, media: &str) -> Result<(), &'static str> {
        let list = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        for item in list {
            let Some(file) = file(item)? else { continue };
            let media = file.media.as_deref().unwrap_or(media);
            let name = quoted(name);
            self.push(format!("; name=\"{name}\"; filename=\"{name}\"\r\nContent-Type: {media}"), file.bytes);
        }
        self.checked()
    }

    fn one(&mut self, name: &str, value: &Value) {
        match value {
            Value::Null => {}
            Value::Object(_) | Value::Array(_) => self.text(name, &value.to_string(), Some("application/json")),
            word => self.text(name, &text(word), None),
        }
    }

    fn text(&mut self, name: &str, content: &str, media: Option<&str>) {
        // Over the bound nothing more is kept, though the walk goes on: the error comes when the field is done.
        if self.bytes <= FORM_BYTES_MAX {
            let media = media.map(|media| format!("\r\nContent-Type: {media}")).unwrap_or_default();
            self.push(format!("; name=\"{}\"{media}", quoted(name)), content.to_owned().into());
        }
    }

    fn push(&mut self, head: String, content: Bytes) {
        self.bytes += head.len() + content.len();
        self.parts.push(Part { head, content });
    }

    fn checked(&self) -> Result<(), &'static str> {
        (self.bytes <= FORM_BYTES_MAX).then_some(()).ok_or("this is more than a form for the service may have")
    }

    /// The media type with its boundary, and the body.
    pub(super) fn finish(self) -> (String, Bytes) {
        let boundary = self.boundary();
        let mut body = Vec::with_capacity(self.bytes + self.parts.len() * 96);
        for part in &self.parts {
            body.extend_from_slice(
                format!("--{boundary}\r\nContent-Disposition: form-data{}\r\n\r\n", part.head).as_bytes(),
            );
            body.extend_from_slice(&part.content);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
        (format!("multipart/form-data; boundary={boundary}"), body.into())
    }

    /// A boundary that no part contains: behind its beginning stands a number that is not behind any of those
    /// in the content. RFC 2046 5.1.1.
    fn boundary(&self) -> String {
        let start = BOUNDARY.as_bytes();
        let taken = self.parts.iter().flat_map(|part| part.content.windows(start.len())).filter(|w| *w == start);
        // As many digits as have room for one more than there are beginnings.
        let digits = taken.count().to_string().len() + 1;
        let is_free = |boundary: &String| {
            self.parts.iter().all(|part| !part.content.windows(boundary.len()).any(|w| w == boundary.as_bytes()))
        };
        let numbered = (0..10_usize.saturating_pow(digits as u32)).map(|n| format!("{BOUNDARY}-{n:0digits$}"));
        numbered.into_iter().find(is_free).unwrap_or_else(|| BOUNDARY.to_owned())
    }
}

/// A name between quotation marks. HTML, 4.10.21.8.
fn quoted(name: &str) -> String {
    // A quotation mark or a line end in a name could begin another header field of the part.
    let plain = name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A");
    plain.chars().filter(|c| !c.is_control()).collect()
}
