//! Taking out of text what nobody should see. Security sheet, sections 3 and 14.

use std::borrow::Cow;

use forecourt_core::clean::is_hidden;

use crate::limits::LINE_CHARS_MAX;

/// Text without controls and without bidirectional overrides; tabs and line ends stay.
pub fn text(text: &str) -> Cow<'_, str> {
    match text.chars().any(is_hidden) {
        true => Cow::Owned(text.chars().filter(|c| !is_hidden(*c)).collect()),
        false => Cow::Borrowed(text),
    }
}

/// One line for titles, names and addresses: cleaned, every run of white space one space, at most
/// 300 characters; a longer one ends in an ellipsis.
pub fn line(text: &str) -> String {
    clip(&self::text(text).split_whitespace().collect::<Vec<_>>().join(" "), LINE_CHARS_MAX)
}

/// The first `chars_max` characters, with an ellipsis in place of what was cut.
pub(crate) fn clip(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// A link target, if it is http, https, mailto or relative: any other scheme is `None`.
///
/// Controls and white space are taken out before the scheme is read, as browsers do.
pub fn href(url: &str) -> Option<String> {
    let bare: String = url.chars().filter(|c| !c.is_control() && !is_hidden(*c)).collect();
    let bare = bare.trim();
    let open: String = bare.chars().filter(|c| !c.is_whitespace()).collect();
    // Judged without any white space, and given as it was: browsers drop tabs and line ends inside of a scheme.
    match scheme(&open) {
        None => (!open.is_empty()).then(|| bare.to_owned()),
        Some(scheme) => {
            ["http", "https", "mailto"].iter().any(|s| scheme.eq_ignore_ascii_case(s)).then(|| bare.to_owned())
        }
    }
}

/// What stands before the first colon, unless a path, query or fragment began before it.
fn scheme(url: &str) -> Option<&str> {
    let end = url.find([':', '/', '?', '#'])?;
    url[end..].starts_with(':').then(|| &url[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_schemes_lose_their_link() {
        for url in [
            "javascript:alert(1)",
            " JavaScript:alert(1)",
            "java\nscript:alert(1)",
            "java\0script:alert(1)",
            "j a v a script:alert(1)",
            "\u{202e}javascript:x",
            "vbscript:x",
            "data:text/html,x",
            "file:///etc/passwd",
            "blob:x",
            ":x",
            "",
            " \n",
        ] {
            assert_eq!(href(url), None, "{url:?}");
        }
    }

    #[test]
    fn web_mail_and_relative_links_stay() {
        for url in ["https://a.example/b:c", "HTTP://a", "mailto:a@b.example", "/a:b", "?q=a:b", "#a:b", "a/b", "a"] {
            assert_eq!(href(url).as_deref(), Some(url), "{url:?}");
        }
    }

    #[test]
    fn a_line_has_no_controls_and_a_bound() {
        assert_eq!(line(" a\0\u{202e}\n b\u{7}\t c "), "a b c");
        assert_eq!(line(&"é".repeat(LINE_CHARS_MAX)), "é".repeat(LINE_CHARS_MAX));
        assert_eq!(line(&"é".repeat(LINE_CHARS_MAX + 1)), format!("{}…", "é".repeat(LINE_CHARS_MAX)));
    }

    #[test]
    fn text_keeps_its_lines() {
        assert_eq!(text("a\r\n\tb\u{2066}\u{9b}c"), "a\r\n\tbc");
    }
}
