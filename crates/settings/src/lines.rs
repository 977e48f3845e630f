//! Which key a line of a file belongs to, where a value goes over several lines: a list, a table, a long string.

/// What a value that goes on has open.
#[derive(Clone, Copy)]
enum Open {
    /// So many brackets.
    Brackets(usize),
    /// A string between three quotes of this kind, within so many brackets.
    String(&'static str, usize),
}

/// The key whose value goes on in the line that begins at `at`; `None` where the line begins something of its own.
pub(crate) fn key_of_value(text: &str, at: usize) -> Option<&str> {
    let mut open: Option<(&str, Open)> = None;
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        if begin >= at {
            break;
        }
        begin += line.len();
        open = match open {
            Some((key, rest)) => still_open(line, rest).map(|rest| (key, rest)),
            None => match line.split_once('=') {
                Some((key, value)) if !key.trim_start().starts_with('#') => {
                    still_open(value, Open::Brackets(0)).map(|rest| (key, rest))
                }
                _ => None,
            },
        };
    }
    open.map(|(key, _)| key)
}

/// What is open behind `text`, where `open` is before it.
fn still_open(text: &str, open: Open) -> Option<Open> {
    let (mut rest, mut depth) = match open {
        Open::Brackets(depth) => (text, depth),
        Open::String(quotes, depth) => match text.split_once(quotes) {
            Some((_, after)) => (after, depth),
            None => return Some(open),
        },
    };
    while let Some(first) = rest.chars().next() {
        if let Some(quotes) = ["\"\"\"", "'''"].into_iter().find(|quotes| rest.starts_with(quotes)) {
            match rest[quotes.len()..].split_once(quotes) {
                Some((_, after)) => rest = after,
                None => return Some(Open::String(quotes, depth)),
            }
            continue;
        }
        rest = &rest[first.len_utf8()..];
        match first {
            '#' => break,
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            '"' | '\'' => rest = rest.split_once(first).map_or("", |(_, after)| after),
            _ => {}
        }
    }
    (depth > 0).then_some(Open::Brackets(depth))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_several_lines_is_its_keys() {
        let text =
            "a = 1\ntokens = [\n  \"x]\", # ]\n  [\"y\"],\n]\nb = 2\nkey = \"\"\"\nAA==\n\"\"\"\n# c = [\nd = 3\n";
        let keys = text.lines().scan(0, |at, line| {
            let key = key_of_value(text, *at).map(str::trim);
            *at += line.len() + 1;
            Some(key)
        });
        let tokens = Some("tokens");
        let expected = [None, None, tokens, tokens, tokens, None, None, Some("key"), Some("key"), None, None];
        assert_eq!(keys.collect::<Vec<_>>(), expected);
    }
}
