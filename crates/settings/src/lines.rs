//! Which key a line of a file belongs to, where a value goes over several lines: a list, a table, a long string.

use toml_parser::Source;
use toml_parser::lexer::TokenKind;

/// The key whose value goes on in the line that begins at `at`; `None` where the line begins something of its own.
pub(crate) fn key_of_value(text: &str, at: usize) -> Option<&str> {
    let (mut begin, mut key, mut depth) = (0, None, 0_usize);
    for token in Source::new(text).lex() {
        let span = token.span();
        // A string of several lines is one token, which may reach beyond the beginning of the line.
        if span.end() > at {
            break;
        }
        match token.kind() {
            TokenKind::Newline if depth == 0 => (begin, key) = (span.end(), None),
            TokenKind::Equals if key.is_none() => key = text.get(begin..span.start()),
            // Those before the first `=` of a line are the name of a table.
            TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket if key.is_some() => depth += 1,
            TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// For each line, the key whose value goes on there.
    fn keys(text: &str) -> Vec<Option<&str>> {
        let begins = text.split_inclusive('\n').scan(0, |at, line| Some(std::mem::replace(at, *at + line.len())));
        begins.map(|at| key_of_value(text, at).map(str::trim)).collect()
    }

    #[test]
    fn a_value_of_several_lines_is_its_keys() {
        let text =
            "a = 1\ntokens = [\n  \"x]\", # ]\n  [\"y\"],\n]\nb = 2\nkey = \"\"\"\nAA==\n\"\"\"\n# c = [\nd = 3\n";
        let tokens = Some("tokens");
        let expected = [None, None, tokens, tokens, tokens, None, None, Some("key"), Some("key"), None, None];
        assert_eq!(keys(text), expected);
    }

    #[test]
    fn quotes_that_are_escaped_or_left_open_end_where_the_format_says() {
        let text = "welcome = \"say \\\"[hello\"\ntoken = [\n  \"x\",\n]\n";
        assert_eq!(keys(text), [None, None, Some("token"), Some("token")]);
        let text = "key = \"\"\"\na \\\"\"\" b\nc\"\"\"\"\nnext = 1\n";
        assert_eq!(keys(text), [None, Some("key"), Some("key"), None]);
        let text = "path = 'C:\\'\n\"a=[\" = 1\nopen = \"[\ntoken = [\n\"x\"\n";
        assert_eq!(keys(text), [None, None, None, None, Some("token")]);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[a-c =,\\[\\]{}\"'\\\\\r\n#é]{0,60}") {
            keys(&text);
        }
    }
}
