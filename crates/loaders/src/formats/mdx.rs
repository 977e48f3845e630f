//! MDX: markdown in which tags of components, imports and expressions stand. What is left is markdown, with
//! every line where it was.

use crate::limits::JSX_BYTES_MAX;

/// The text without components' tags, imports, exports and expressions. Code stays as it is.
pub(super) fn without_jsx(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut fence: Option<&str> = None;
    let mut is_import = false;
    while !rest.is_empty() {
        let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
        let line = &rest[..end];
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        if mark.is_some() || fence.is_some() {
            fence = match (fence, mark) {
                (None, mark) => mark,
                (Some(open), Some(mark)) if open == mark => None,
                (open, _) => open,
            };
            out.push_str(line);
            rest = &rest[end..];
            continue;
        }
        // A statement goes on to the next empty line.
        is_import =
            (is_import || line.starts_with("import ") || line.starts_with("export ")) && !line.trim().is_empty();
        if is_import {
            out.push('\n');
            rest = &rest[end..];
            continue;
        }
        rest = pass_line(rest, &mut out);
    }
    out
}

/// Passes over one line of markdown, and over what begins in it. Returns what follows.
fn pass_line<'t>(text: &'t str, out: &mut String) -> &'t str {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let taken = match c {
            '`' => code(rest),
            '\\' => rest.len().min(1 + rest[1..].chars().next().map_or(0, char::len_utf8)),
            // A tag in lower case is HTML, which markdown reads itself; components begin with a capital.
            '<' if is_component(rest) => return_lines(rest, tag_end(rest), out),
            '{' => return_lines(rest, braces_end(rest), out),
            _ => c.len_utf8(),
        };
        if !(c == '{' || c == '<' && is_component(rest)) {
            out.push_str(&rest[..taken]);
        }
        rest = &rest[taken..];
        if c == '\n' {
            break;
        }
    }
    rest
}

/// Keeps the line breaks of what is left out.
fn return_lines(text: &str, end: usize, out: &mut String) -> usize {
    text[..end].bytes().filter(|byte| *byte == b'\n').for_each(|_| out.push('\n'));
    end
}

/// The length of code within a line; of the mark alone when it is not closed there.
fn code(text: &str) -> usize {
    let marks = text.bytes().take_while(|byte| *byte == b'`').count();
    // A bound, since every mark that is not closed looks for its end: of many, the work would grow with the square.
    let line = &text.as_bytes()[..text.len().min(JSX_BYTES_MAX)];
    let line = &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())];
    let Some((open, rest)) = line.split_at_checked(marks) else { return marks };
    memchr::memmem::find(rest, open).map_or(marks, |at| marks + at + marks)
}

fn is_component(text: &str) -> bool {
    let name = text[1..].trim_start_matches('/');
    name.starts_with(|c: char| c.is_ascii_uppercase() || c == '>')
}

/// Where a tag ends: at its `>`, outside of quotes and braces. At the end of the line when it has none.
fn tag_end(text: &str) -> usize {
    let (mut quote, mut braces) = (None, 0_usize);
    for (at, byte) in text.bytes().take(JSX_BYTES_MAX).enumerate() {
        match (quote, byte) {
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'{') => braces += 1,
            (None, b'}') => braces = braces.saturating_sub(1),
            (None, b'>') if braces == 0 => return at + 1,
            _ => {}
        }
    }
    text.find('\n').unwrap_or(text.len())
}

fn braces_end(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().take(JSX_BYTES_MAX).enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return at + 1,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    text.find('\n').unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::tests::{load_bytes, names};
    use super::*;
    use crate::item::SECTION;
    use proptest::prelude::*;

    #[test]
    fn components_go_and_what_they_hold_stays() {
        let mdx = "import X from './x'\nimport {\n  Y } from 'y'\n\n# Install {#anchor}\n\n<Tabs items={['a', \"b>\"]}>\n  <Tab>Run `a <B> {c}`.</Tab>\n</Tabs>\n\n{/* no\ncomment */}\nPlain <b>html</b> stays.\n\n```jsx\nimport <X/> {y}\n```\n\n## Use\n";
        let text = without_jsx(mdx);
        assert_eq!(text.lines().count(), mdx.lines().count());
        let heap = load_bytes(Format::Mdx, mdx.as_bytes());
        assert_eq!(names(&heap), ["Install", "Install › Use"]);
        let written = heap.items[0][SECTION]["markdown"].as_str().unwrap();
        assert!(written.contains("Run `a <B> {c}`.") && written.contains("import <X/> {y}"), "{written}");
        assert!(!written.contains("Tab") && !written.contains("comment"), "{written}");
        assert_eq!(heap.lines, [5, 19]);
    }

    #[test]
    fn what_is_never_closed_costs_its_line() {
        assert_eq!(without_jsx("a <B c=\n{x\nd"), "a \n\nd");
    }

    proptest! {
        #[test]
        fn lines_stay_where_they_are(text in "([<>{}/`'\"~A-Zé\\\\ \n]|import |export |```|x){0,80}") {
            let out = without_jsx(&text);
            prop_assert_eq!(out.matches('\n').count() >= text.matches('\n').count(), true);
        }
    }
}
