//! Text as part of a page, or of a report in XML. Mentionable REST 8.2. Templates escape by themselves; these are for
//! the few places that write without one.

/// Text for element content and for quoted attribute values alike: `&`, `<`, `>`, `"` and `'`.
pub fn text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    push(&mut escaped, text, usize::MAX);
    escaped
}

/// Text for the content of an element of XML 1.0, with its lines: characters that a document can't hold (XML 2.2), and
/// controls that it should not, are left out.
pub fn xml_text(text: &str) -> String {
    let is_allowed = |c: &char| {
        matches!(c, '\n' | '\t') || (*c >= ' ' && !matches!(c, '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}'))
    };
    self::text(&text.chars().filter(is_allowed).collect::<String>())
}

/// Text for the value of an attribute of XML 1.0, which is one line.
pub fn xml_attribute(text: &str) -> String {
    xml_text(&text.replace(['\n', '\t'], " "))
}

/// Appends escaped text until `into` holds `bytes_max`; `false` when something was left out.
pub(crate) fn push(into: &mut String, text: &str, bytes_max: usize) -> bool {
    for c in text.chars() {
        // Six bytes are the longest escape, `&quot;`.
        if into.len() > bytes_max.saturating_sub(6) {
            return false;
        }
        match c {
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '"' => into.push_str("&quot;"),
            '\'' => into.push_str("&#39;"),
            other => into.push(other),
        }
    }
    true
}

/// JSON for a data block in a page: nothing in it can end the element, start a comment or hide.
pub fn json(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        // `</script>` and `<!--` end or change a data block whatever is around them; the separators end a line of
        // script.
        match matches!(c, '<' | '>' | '\u{2028}' | '\u{2029}') || forecourt_core::clean::is_hidden(c) {
            true => escaped.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => escaped.push(c),
        }
    }
    escaped
}

/// Text as a value in a query string: everything but unreserved characters as `%XX` (RFC 3986 2.3).
pub fn query(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            true => escaped.push(char::from(byte)),
            false => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

/// Words for a line of markdown: nothing in it starts markup, a link or another line.
pub fn markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in crate::clean::line(text).chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '&' | '!') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s8_2_the_five_characters_are_escaped() {
        assert_eq!(text(r#"<a href="x">'&'</a>"#), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
    }

    #[test]
    fn xml_holds_no_character_that_it_has_not() {
        let strange = "a<b>&\"\u{0}\u{8}\r\u{7f}\u{85}\u{fffe}\u{ffff}\nc\té";
        assert_eq!(xml_text(strange), "a&lt;b&gt;&amp;&quot;\nc\té");
        assert_eq!(xml_attribute(strange), "a&lt;b&gt;&amp;&quot; c é");
    }

    #[test]
    fn escaping_stops_at_its_bound() {
        let mut into = String::new();
        assert!(push(&mut into, "abcd", 10));
        assert!(!push(&mut into, &"<".repeat(10), 10));
        assert!(into.len() <= 10);
    }

    #[test]
    fn json_cannot_leave_its_element() {
        assert_eq!(
            json("{\"a\":\"</script><!--\u{2028}\u{202e}\"}"),
            r#"{"a":"\u003c/script\u003e\u003c!--\u2028\u202e"}"#
        );
    }

    #[test]
    fn a_query_value_has_unreserved_characters_only() {
        assert_eq!(query("a b&c='é'"), "a%20b%26c%3D%27%C3%A9%27");
    }

    #[test]
    fn markdown_words_stay_words() {
        assert_eq!(markdown("a*b\n# [c](d)"), r"a\*b \# \[c\](d)");
    }
}
