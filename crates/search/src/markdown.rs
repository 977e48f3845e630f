//! Text from content as markdown that means just that text.

use forecourt_core::clean::is_hidden;
use url::Url;

/// Characters of one line of somebody else's text.
const LINE_CHARS_MAX: usize = 300;

/// The text on one line, with everything escaped that could be markup, at most
/// [`LINE_CHARS_MAX`] characters of it.
pub(super) fn plain(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LINE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", escaped(&line[..end])),
        None => escaped(&line),
    }
}

/// Markdown of somebody else as it is written, without what nobody should see.
pub(super) fn strip_hidden(markdown: &str) -> String {
    markdown.chars().filter(|c| matches!(c, '\n' | '\t') || !(c.is_control() || is_hidden(*c))).collect()
}

/// A text of several lines with everything escaped that could be markup.
pub(super) fn escaped_text(text: &str) -> String {
    let paragraphs =
        text.split("\n\n").map(|paragraph| escaped(&paragraph.split_whitespace().collect::<Vec<_>>().join(" ")));
    paragraphs.filter(|paragraph| !paragraph.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// One line without what nobody should see, and with everything escaped that could be markup.
pub(super) fn escaped(line: &str) -> String {
    let mut out = String::with_capacity(line.len() + 8);
    let mut before = ' ';
    // Unseen characters go first: a zero width between `[` and `]` must not part markup when it is looked for.
    let seen = line.chars().filter(|c| !(c.is_control() || is_hidden(*c)));
    let mut rest = seen.enumerate().peekable();
    while let Some((at, c)) = rest.next() {
        let next = rest.peek().map_or(' ', |(_, next)| *next);
        let is_block = at == 0 && matches!(c, '#' | '+' | '-' | '=' | '>');
        match c {
            // `&lt;` in content is those four characters, and no tag.
            '&' if next == '#' || next.is_ascii_alphabetic() => out.push_str("&amp;"),
            _ if is_block || is_markup(before, c, next) => out.extend(['\\', c]),
            _ => out.push(c),
        }
        before = c;
    }
    out
}

/// Whether a character between these could be markup. An underscore inside a word is none.
fn is_markup(before: char, c: char, next: char) -> bool {
    match c {
        '\\' | '`' | '*' | '[' | ']' | '<' => true,
        '_' => !(before.is_alphanumeric() && next.is_alphanumeric()),
        '~' => before == '~' || next == '~',
        _ => false,
    }
}

/// A link in bold, or just the name when the address is none that a browser opens.
pub(super) fn link(name: &str, url: Option<&str>) -> String {
    match url.and_then(address) {
        Some(url) => format!("**[{}]({url})**", plain(name)),
        None => format!("**{}**", plain(name)),
    }
}

/// An http or https URL, written so that it can't end the link.
pub(super) fn address(text: &str) -> Option<String> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    // A bracket in the address would end the link, and what follows it would be the content's own markdown.
    let written = url.as_str().replace('(', "%28").replace(')', "%29");
    (!written.contains(['<', '>', ' ', '\\'])).then_some(written)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn markup_is_escaped_and_lines_are_joined() {
        for (text, wanted) in [
            ("Salt & pepper", "Salt & pepper"),
            ("*a* [b](c) <d> `e`", r"\*a\* \[b\](c) \<d> \`e\`"),
            ("_a_ b_c_d ~e~ ~~f~~", r"\_a\_ b_c_d ~e~ \~\~f\~\~"),
            ("# head\n- item", r"\# head - item"),
            ("AT&amp;T &#60;", "AT&amp;amp;T &amp;#60;"),
            ("a\u{0}b\r\n\r\nc", "ab c"),
            ("\0# a\u{202e}b", r"\# ab"),
            ("~\0~a~\u{feff}~ &\0#60;", r"\~\~a\~\~ &amp;#60;"),
            ("1 ½ lemons, juiced", "1 ½ lemons, juiced"),
        ] {
            assert_eq!(plain(text), wanted);
        }
    }

    #[test]
    fn a_line_has_a_bound() {
        assert_eq!(plain(&"x".repeat(LINE_CHARS_MAX)), "x".repeat(LINE_CHARS_MAX));
        assert_eq!(plain(&"x".repeat(LINE_CHARS_MAX + 1)), format!("{}…", "x".repeat(LINE_CHARS_MAX)));
    }

    #[test]
    fn only_web_addresses_are_links() {
        let wiki = "https://en.wikibooks.org/wiki/Cookbook:Fool_(Dessert)";
        assert_eq!(link("Fool", Some(wiki)), "**[Fool](https://en.wikibooks.org/wiki/Cookbook:Fool_%28Dessert%29)**");
        for url in ["javascript:alert(1)", "data:text/html,x", "/relative", "", "ftp://a.example"] {
            assert_eq!(link("x", Some(url)), "**x**", "{url}");
        }
        assert_eq!(link("x", None), "**x**");
        assert_eq!(link("x](javascript:alert(1))", None), r"**x\](javascript:alert(1))**");
    }

    proptest! {
        #[test]
        fn no_text_breaks_out_of_its_line(text in any::<String>()) {
            let line = plain(&text);
            prop_assert!(!line.contains(['\n', '\r']));
            prop_assert!(line.chars().count() <= 5 * LINE_CHARS_MAX + 1);
        }
    }
}
