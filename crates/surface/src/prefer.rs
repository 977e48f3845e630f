//! This module reads the `Prefer` header. RFC 7240. It knows no preference.

use std::borrow::Cow;

use http::HeaderMap;

/// Bytes of one `Prefer` field that are looked at.
pub(crate) const HEADER_BYTES_MAX: usize = 4 * 1024;
/// Preferences and parameters of a request that are looked at.
pub const ITEMS_MAX: usize = 32;

/// One preference of a request, with its parameters. A server that does not know it ignores it (RFC 7240 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preference<'a> {
    parameters: &'a str,
}

/// The preference `name`, in any case. Of several of one name the first counts (RFC 7240 2).
pub fn preference<'a>(headers: &'a HeaderMap, name: &str) -> Option<Preference<'a>> {
    let fields = headers.get_all("prefer").iter().filter_map(|field| field.to_str().ok());
    // A field that is too long is left out whole: cut, its last preference could mean another one.
    let fields = fields.filter(|field| field.len() <= HEADER_BYTES_MAX);
    let items = fields.flat_map(|field| split(field, ',')).take(ITEMS_MAX);
    items.map(Preference::read).find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, preference)| preference)
}

impl<'a> Preference<'a> {
    fn read(item: &'a str) -> (&'a str, Self) {
        let first = split(item, ';').next().unwrap_or_default();
        let name = first.split('=').next().unwrap_or_default().trim();
        (name, Self { parameters: item.get(first.len()..).unwrap_or_default() })
    }

    /// The parameter `name`, in any case and unquoted; the first of several. Values that are neither
    /// a token nor quoted are taken as they stand.
    pub fn parameter(&self, name: &str) -> Option<Cow<'a, str>> {
        let pieces = split(self.parameters, ';').take(ITEMS_MAX);
        let mut pairs = pieces.filter_map(|piece| piece.split_once('='));
        pairs.find(|(found, _)| found.trim().eq_ignore_ascii_case(name)).map(|(_, value)| unquoted(value.trim()))
    }
}

/// The pieces between separators, those inside quotes not counted. Each is trimmed at its start.
fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    let ends = move |c: char| {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => return !quoted && c == separator,
        }
        false
    };
    text.split(ends).map(str::trim_start)
}

/// The content of a quoted string, or the text itself. RFC 9110 5.6.4.
fn unquoted(text: &str) -> Cow<'_, str> {
    let Some(inner) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return text.into() };
    if !inner.contains('\\') {
        return inner.into();
    }
    let mut escaped = false;
    let kept = inner.chars().filter(|c| {
        // Drops the backslash of each pair and keeps what follows, a second backslash too.
        escaped = !escaped && *c == '\\';
        !escaped
    });
    kept.collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn callback(fields: &[&str]) -> Option<Option<String>> {
        let mut headers = HeaderMap::new();
        for field in fields {
            headers.append("prefer", HeaderValue::from_str(field).expect("a field value"));
        }
        preference(&headers, "respond-async").map(|p| p.parameter("callback").map(Cow::into_owned))
    }

    #[test]
    fn a_preference_is_found_wherever_it_stands() {
        let url = Some(Some("https://a.example/x?y=1,2;3".to_owned()));
        assert_eq!(callback(&[r#"respond-async; callback="https://a.example/x?y=1,2;3""#]), url);
        assert_eq!(callback(&[r#"wait=5, Respond-Async ;other ; CALLBACK = "https://a.example/x?y=1,2;3""#]), url);
        assert_eq!(callback(&["wait=5", r#"respond-async;callback="https://a.example/x?y=1\,2\;3""#]), url);
        assert_eq!(callback(&["respond-async;callback=https://a.example/"]), Some(Some("https://a.example/".into())));
    }

    #[test]
    fn the_first_of_a_name_counts() {
        assert_eq!(callback(&["respond-async, respond-async;callback=x"]), Some(None));
        assert_eq!(callback(&["respond-async;callback=x;callback=y"]), Some(Some("x".into())));
    }

    #[test]
    fn what_is_not_asked_for_is_not_found() {
        for field in ["", ",", "wait=10", "respond-asynchronously", r#"x="respond-async""#, "x;respond-async"] {
            assert_eq!(callback(&[field]), None, "{field}");
        }
        assert_eq!(
            callback(&["respond-async", "callback=x"]),
            Some(None),
            "a callback is a parameter, not a preference"
        );
        assert_eq!(callback(&[&format!("respond-async;x={}", "y".repeat(HEADER_BYTES_MAX))]), None);
    }

    #[test]
    fn items_beyond_the_limit_are_not_read() {
        let after = |count: usize| callback(&[&format!("{}respond-async", "x,".repeat(count))]);
        assert_eq!(after(ITEMS_MAX - 1), Some(None));
        assert_eq!(after(ITEMS_MAX), None);
    }

    proptest! {
        #[test]
        fn nothing_panics(field in "[ -~]{0,80}") {
            callback(&[&field]);
        }
    }
}
