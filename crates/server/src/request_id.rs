//! This module names requests: one id in the log, in the answer's `x-request-id` and in what errors say.

use std::fmt;

use forecourt_core::Entropy;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::limits::REQUEST_ID_BYTES_MAX;

/// The header that carries an id, on the way in from a trusted proxy and on every way out.
pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Characters of an id that is made here: 64 random bits in hexadecimal.
const MADE_CHARS: usize = 16;

/// Names one request. It opens nothing: whoever reads a log or an error may know it.
#[derive(Clone, PartialEq, Eq)]
pub struct RequestId(Text);

/// Two cases, so that the usual one needs no allocation.
#[derive(Clone, PartialEq, Eq)]
enum Text {
    Made([u8; MADE_CHARS]),
    Given(Box<str>),
}

impl RequestId {
    /// A fresh id from `entropy`.
    pub fn mint(entropy: &dyn Entropy) -> Self {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut bytes = [0; MADE_CHARS / 2];
        entropy.fill(&mut bytes);
        let mut text = [0; MADE_CHARS];
        for (pair, byte) in text.chunks_exact_mut(2).zip(bytes) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 0x0f)];
        }
        Self(Text::Made(text))
    }

    /// Reads an id that a trusted proxy gave: 1 to [`REQUEST_ID_BYTES_MAX`] letters, digits, `-`, `_` and `.`.
    /// `None` for anything else, which could break a line of the log or a page.
    pub fn parse(text: &str) -> Option<Self> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let is_one = (1..=REQUEST_ID_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_plain);
        is_one.then(|| Self(Text::Given(text.into())))
    }

    /// The id that the one `X-Request-Id` of `headers` gives. Two that disagree give none.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let mut all = headers.get_all(X_REQUEST_ID).iter();
        let (first, second) = (all.next()?, all.next());
        second.is_none().then(|| Self::parse(first.to_str().ok()?)).flatten()
    }

    /// The id as it is written.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            // Hexadecimal digits are ASCII, so this never falls back.
            Text::Made(digits) => std::str::from_utf8(digits).unwrap_or_default(),
            Text::Given(text) => text,
        }
    }

    /// The id as a header says it.
    pub fn to_header(&self) -> HeaderValue {
        HeaderValue::from_str(self.as_str()).unwrap_or(HeaderValue::from_static(""))
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use forecourt_testkit::CountedEntropy;
    use proptest::prelude::*;

    use super::*;

    fn given(lines: &[&str]) -> Option<String> {
        let lines = lines.iter().map(|line| (X_REQUEST_ID, HeaderValue::from_str(line).unwrap()));
        let headers: HeaderMap = lines.fold(HeaderMap::new(), |mut headers, (name, value)| {
            headers.append(name, value);
            headers
        });
        RequestId::of(&headers).map(|id| id.to_string())
    }

    #[test]
    fn what_a_proxy_gives_is_taken_when_it_is_plain_and_short() {
        let longest = "x".repeat(REQUEST_ID_BYTES_MAX);
        for plain in ["a", "7f3c-01_x.Y", &longest] {
            assert_eq!(given(&[plain]).as_deref(), Some(plain));
        }
        let long = "x".repeat(REQUEST_ID_BYTES_MAX + 1);
        for odd in ["", " ", "a b", "a,b", "a\"b", "<b>", "é", &long] {
            assert_eq!(given(&[odd]), None, "{odd:?}");
        }
        assert_eq!(given(&["a", "b"]), None);
        assert_eq!(given(&[]), None);
    }

    #[test]
    fn ids_that_are_made_differ_and_can_be_read_again() {
        let entropy = CountedEntropy::default();
        let (first, second) = (RequestId::mint(&entropy), RequestId::mint(&entropy));
        assert_ne!(first, second);
        assert_eq!(first.as_str().len(), MADE_CHARS);
        assert_eq!(RequestId::parse(first.as_str()).map(|id| id.to_string()), Some(first.to_string()));
        assert_eq!(first.to_header(), first.as_str());
    }

    proptest! {
        #[test]
        fn what_is_taken_fits_a_header_and_a_line_of_the_log(text in "\\PC{0,80}") {
            if let Some(id) = RequestId::parse(&text) {
                let header = id.to_header();
                prop_assert_eq!(header.to_str().ok(), Some(text.as_str()));
                prop_assert!(!text.contains(char::is_whitespace));
            }
        }
    }
}
